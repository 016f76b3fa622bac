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
