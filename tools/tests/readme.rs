//! What the README shows of a report is what the program prints.

use std::process::Command;

fn printed(args: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_tilescope")).args(args).output().expect("it runs");
    String::from_utf8(output.stdout).expect("text")
}

/// The lines of the fenced block that contains a text.
fn block<'a>(page: &'a str, contains: &str) -> Vec<&'a str> {
    let blocks: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
    let found = blocks.iter().find(|block| block.contains(contains)).expect("a block with it");
    found.lines().skip(1).filter(|line| !line.trim().is_empty()).collect()
}

#[test]
fn readme_shows_the_report_of_the_hang_demo() {
    let report = printed(&["demo", "hang"]);
    let mut lines = report.lines();
    for line in block(include_str!("../../README.md"), "DEADLOCK[A4]") {
        assert!(
            lines.any(|printed| printed == line),
            "not printed, or not there: {line}\n{report}"
        );
    }
}

/// `docs/demos.md` shows what every example prints.
#[test]
fn demos_page_shows_what_the_examples_print() {
    let mut page = String::from(include_str!("demos_preface.md"));
    for example in firmware_tests::demo::EXAMPLES {
        let printed = printed(&["demo", example.name]);
        page += &format!("\n## {}\n\n{}\n\n```text\n{printed}```\n", example.name, example.about);
    }
    let written = include_str!("../../docs/demos.md");
    if page != written {
        let path = std::env::temp_dir().join("tilescope-demos.md");
        std::fs::write(&path, &page).expect("written");
        panic!("docs/demos.md is stale; {} is what it should be", path.display());
    }
}
