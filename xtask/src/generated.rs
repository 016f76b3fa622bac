//! Committed documents that are written by a program are what that program writes today.

use std::process::Command;

use crate::Findings;
use crate::files::Tree;

pub(crate) fn check(tree: &Tree) -> Findings {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "run",
            "--quiet",
            "--locked",
            "-p",
            "isa-codegen",
            "--bin",
            "gen-docs",
            "--",
            "--check",
        ])
        .current_dir(&tree.root)
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if output.status.success() {
        return Ok(Vec::new());
    }
    Ok(String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect())
}
