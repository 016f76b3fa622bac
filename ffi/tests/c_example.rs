//! The C example compiles without a warning and does what it says.

mod common;

use std::path::Path;
use std::process::Command;

#[test]
fn c_example_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("example");
    let library = common::library();
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(root.join("include"))
        .arg(root.join("examples/write_and_read.c"))
        .arg(&library)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran =
        Command::new(&program).env("LD_LIBRARY_PATH", library.parent().unwrap()).output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{text}{errors}");
    assert!(text.contains("chip 1: vendor 1e52 device b140"), "{text}");
    assert!(text.contains("tile (1,2) has \"hello, tile\""), "{text}");
    assert!(text.contains("hashes equal"), "{text}");
    assert!(text.contains("there is no setting TILESCOPE_COLOUR"), "{text}");
    assert_eq!(errors, "", "this interface does not write to standard error");
}
