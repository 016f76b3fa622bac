//! Files have a longest length. Those that are longer today are listed, and may only shrink.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde::Deserialize;

use crate::Findings;
use crate::files::Tree;

const FILE: &str = "docs/ratchet.toml";

/// The whole of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ratchet {
    limit_lines: usize,
    longer: BTreeMap<String, usize>,
    /// Files that name threads although they are not `sim-core::sync`, and why.
    pub(crate) threads: BTreeMap<String, String>,
}

impl Ratchet {
    pub(crate) fn read(tree: &Tree) -> Result<Self, String> {
        toml::from_str(tree.text(FILE)?).map_err(|error| format!("{FILE}: {error}"))
    }

    /// What is wrong with a file of that many lines, in the words for the report.
    fn judge(&self, path: &str, lines: usize) -> Option<String> {
        let limit = self.limit_lines;
        match self.longer.get(path) {
            None if lines > limit => Some(format!("{path}: {lines} lines, the limit is {limit}")),
            Some(&listed) if lines > listed => {
                Some(format!("{path}: {lines} lines, and {listed} may only shrink"))
            }
            Some(&listed) if lines < listed => {
                Some(format!("{path}: only {lines} lines now; run `cargo xtask ratchet`"))
            }
            _ => None,
        }
    }
}

fn lengths(tree: &Tree) -> impl Iterator<Item = (&str, usize)> {
    tree.rust().map(|file| (file.path.as_str(), file.text.lines().count()))
}

pub(crate) fn check(tree: &Tree) -> Findings {
    let ratchet = Ratchet::read(tree)?;
    let mut findings: Vec<String> =
        lengths(tree).filter_map(|(path, lines)| ratchet.judge(path, lines)).collect();
    for path in ratchet.longer.keys().chain(ratchet.threads.keys()) {
        if !tree.files.iter().any(|file| file.path == *path) {
            findings.push(format!("{FILE} lists {path}, which does not exist"));
        }
    }
    Ok(findings)
}

/// Writes smaller numbers where files shrank. A file that grew keeps its number.
pub(crate) fn lower(tree: &Tree) -> Result<(), String> {
    let ratchet = Ratchet::read(tree)?;
    let text = tree.text(FILE)?;
    let mut out = String::new();
    for line in text.lines() {
        let path = line.strip_prefix('"').and_then(|rest| rest.split_once("\" = "));
        let listed =
            path.and_then(|(path, _)| ratchet.longer.get(path).map(|&lines| (path, lines)));
        match listed {
            None => out.extend([line, "\n"]),
            Some((path, listed)) => {
                let now = lengths(tree).find(|(other, _)| *other == path).map_or(0, |(_, now)| now);
                if now > ratchet.limit_lines {
                    // Writing to a string cannot fail.
                    let _ = writeln!(out, "\"{path}\" = {}", now.min(listed));
                }
            }
        }
    }
    fs::write(tree.root.join(FILE), out).map_err(|error| format!("{FILE}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::Ratchet;

    #[test]
    fn file_may_shrink_but_not_grow() {
        let text = "limit_lines = 10\n[longer]\n\"a.rs\" = 20\n[threads]\n";
        let ratchet: Ratchet = toml::from_str(text).expect("the test's own text");
        assert!(ratchet.judge("a.rs", 20).is_none());
        assert!(ratchet.judge("a.rs", 21).is_some());
        assert!(ratchet.judge("a.rs", 19).is_some());
        assert!(ratchet.judge("b.rs", 10).is_none());
        assert!(ratchet.judge("b.rs", 11).is_some());
    }
}
