//! Writes `docs/generated/*.md` from the tables; with `--check`, fails when they are stale.
//!
//! Run it from the root of the repository, or give the root as an argument.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use isa_codegen::{TableError, docs, files};

fn main() -> ExitCode {
    let mut root = PathBuf::from(".");
    let mut check = false;
    for argument in std::env::args().skip(1) {
        if argument == "--check" {
            check = true;
        } else {
            root = PathBuf::from(argument);
        }
    }
    match run(&root, check) {
        Ok(stale) if stale.is_empty() => ExitCode::SUCCESS,
        Ok(stale) => {
            eprintln!("stale: {}; run `cargo run -p isa-codegen --bin gen-docs`", stale.join(", "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Names of stale documents; without `check` they are written instead.
fn run(root: &Path, check: bool) -> Result<Vec<String>, TableError> {
    let mut stale = Vec::new();
    for (name, text) in docs::all(root)? {
        let path = root.join("docs/generated").join(name);
        if !check {
            files::write(&path, &text)?;
        } else if files::read(&path).ok().as_deref() != Some(&text) {
            stale.push(name.to_owned());
        }
    }
    Ok(stale)
}
