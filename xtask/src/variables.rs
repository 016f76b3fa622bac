//! Every variable that a program or library of ours reads from the environment is in a document.

use std::collections::BTreeSet;

use crate::Findings;
use crate::files::Tree;

/// Where users look: the table in the README, the pages, or the help of a command.
const HELP: &str = "tools/src/commands/";
const PREFIX: &str = "\"TILESCOPE_";

pub(crate) fn check(tree: &Tree) -> Findings {
    let documents: Vec<&str> = tree
        .files
        .iter()
        .filter(|file| file.path.ends_with(".md") && file.path != "CHANGELOG.md")
        .map(|file| file.text.as_str())
        .collect();
    let help: Vec<&str> = tree
        .rust()
        .filter(|file| file.path.starts_with(HELP))
        .map(|file| file.text.as_str())
        .collect();
    let mut findings = BTreeSet::new();
    for file in tree.rust().filter(|file| !file.shipped_code().is_empty()) {
        let shipped = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        for name in names(shipped) {
            let known = |text: &&str| mentions(text, name);
            if !documents.iter().any(known) && !help.iter().any(known) {
                findings.insert(format!("{}: {name} is in no document", file.path));
            }
        }
    }
    Ok(findings.into_iter().collect())
}

/// Names that stand in quotes, whole.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(PREFIX).filter_map(|(at, _)| {
        let (name, _) = text[at + 1..].split_once('"')?;
        name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_').then_some(name)
    })
}

/// Whether the name stands there by itself and not as a string of the program.
fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        before != Some('"') && !after.is_some_and(|c| c.is_ascii_uppercase() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::{mentions, names};

    #[test]
    fn names_are_whole_strings() {
        let text = r#"var("TILESCOPE_A_B"), format!("TILESCOPE_C={x}"), ["TILESCOPE_D"]"#;
        assert_eq!(names(text).collect::<Vec<_>>(), ["TILESCOPE_A_B", "TILESCOPE_D"]);
    }

    #[test]
    fn longer_name_is_no_mention_of_the_shorter() {
        assert!(mentions("| `TILESCOPE_A` |", "TILESCOPE_A"));
        assert!(!mentions("| `TILESCOPE_A_B` |", "TILESCOPE_A"));
        assert!(!mentions("var(\"TILESCOPE_A\")", "TILESCOPE_A"));
    }
}
