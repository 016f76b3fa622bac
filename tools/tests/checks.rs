//! Checks of the coprocessor on the command line: named in the report, lowered by id or by file.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const ID: &str = "tensix-unassigned-opcode";

/// Launches a kernel that pushes an opcode that names no instruction.
fn launch(options: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests/hazards");
    let plan = root.join("C11-undefined-instruction/case.toml");
    Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .arg("launch")
        .arg(plan)
        .args(["--embedded"])
        .args(options)
        .env("TILESCOPE_CACHE", "no-such-cache")
        .stdin(Stdio::null())
        .output()
        .expect("it runs")
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

#[test]
fn refused_instruction_names_its_check_and_how_to_lower_it() {
    let output = launch(&[]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for part in [&format!("error[{ID}]"), "UndefinedBehavior", &format!("--warn {ID} ")] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn lowered_check_is_a_warning_and_the_run_ends_well() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("warn.toml");
    fs::write(&file, format!("[[warn]]\nid = '{ID}'\nreason = 'a test'\n")).expect("written");
    let file = file.display().to_string();
    for options in [["--warn", ID], ["--warn-file", &file]] {
        let output = launch(&options);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains(&format!("warning[{ID}]")) && text.contains("lowered:"), "{text}");
    }
}

#[test]
fn check_that_does_not_exist_is_a_host_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("warn.toml");
    let file = path.display().to_string();
    let unknown = "no check that could be lowered";
    for (option, content, wanted) in [
        ("--warn", "A14", unknown),
        ("--warn-file", "[[warn]]\nid = 'A14'\nreason = 'x'\n", unknown),
        ("--warn-file", "[[warn]]\nid = 'tensix-pack-row'\nreason = ' '\n", "needs a reason"),
    ] {
        fs::write(&path, content).expect("written");
        let output = launch(&[option, if option == "--warn" { content } else { &file }]);
        let error = String::from_utf8(output.stderr.clone()).expect("text");
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(wanted), "{error}");
    }
}
