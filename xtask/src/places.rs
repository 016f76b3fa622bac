//! Places that `ARCHITECTURE.md` names: its files exist, and have the functions named beside them.

use crate::Findings;
use crate::files::Tree;

const FILE: &str = "ARCHITECTURE.md";

pub(crate) fn check(tree: &Tree) -> Findings {
    let mut findings = Vec::new();
    for (path, functions) in places(tree.text(FILE)?) {
        let here = tree.files.iter().filter(|file| ends_with(&file.path, path));
        let texts: Vec<&str> = here.map(|file| file.text.as_str()).collect();
        if texts.is_empty() {
            findings.push(format!("{FILE}: {path} does not exist"));
            continue;
        }
        for function in functions {
            let is_there = |text: &&str| {
                ["(", "<"].iter().any(|open| text.contains(&format!("fn {function}{open}")))
            };
            if !texts.iter().any(is_there) {
                findings.push(format!("{FILE}: {path} has no function {function}"));
            }
        }
    }
    Ok(findings)
}

/// Whether `tail` is the path or its last parts.
fn ends_with(path: &str, tail: &str) -> bool {
    path.strip_suffix(tail).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Files in backticks, each with the functions in backticks in the parenthesis behind it.
fn places(text: &str) -> Vec<(&str, Vec<&str>)> {
    let parts: Vec<&str> = text.split('`').collect();
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for at in (1..parts.len()).step_by(2) {
        let (before, name) = (parts[at - 1], parts[at]);
        let is_file = [".rs", ".toml"].iter().any(|kind| name.ends_with(kind));
        if is_file && !name.contains(['*', '<', ' ']) {
            found.push((name, Vec::new()));
        } else if before == " (" && name.chars().all(|c| c == '_' || c.is_ascii_lowercase()) {
            let last = at.checked_sub(2).map(|last| parts[last]);
            if let Some((_, functions)) = found.last_mut().filter(|place| Some(place.0) == last) {
                functions.push(name);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{ends_with, places};

    #[test]
    fn functions_stand_behind_their_file() {
        let text = "x `a/b.rs` (`go`), `c.toml`, (`no`) `units/*.rs` and `Type` (`that`)";
        assert_eq!(places(text), [("a/b.rs", vec!["go"]), ("c.toml", vec![])]);
        assert!(ends_with("x/a/b.rs", "a/b.rs") && !ends_with("x/aa/b.rs", "a/b.rs"));
    }
}
