//! Every variable of the environment that anything here reads, tests included, is in one table.

use std::collections::BTreeSet;

use crate::Findings;
use crate::files::{TextFile, Tree};

/// The table.
const PAGE: &str = "docs/manual/src/reference/environment.md";
const PREFIX: &str = "\"TILESCOPE_";

/// Sources that read variables; those of this program and tests of the module only talk of some.
fn reads(file: &TextFile) -> bool {
    let (rust, python) = (file.is_rust(), file.path.ends_with(".py"));
    (rust && !file.path.starts_with("xtask/"))
        || (python && !file.path.starts_with("python/tests/"))
}

pub(crate) fn check(tree: &Tree) -> Findings {
    let page = tree.files.iter().find(|file| file.path == PAGE);
    let page = page.ok_or_else(|| format!("{PAGE} is not there"))?;
    let mut findings = BTreeSet::new();
    for file in tree.files.iter().filter(|file| reads(file)) {
        for name in names(&file.text).filter(|name| !mentions(&page.text, name)) {
            findings.insert(format!("{}: {name} is not in {PAGE}", file.path));
        }
    }
    Ok(findings.into_iter().collect())
}

/// Names that stand in quotes, whole.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(PREFIX).filter_map(|(at, _)| {
        let (name, _) = text[at + 1..].split_once('"')?;
        let whole = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        // A prefix is no name.
        (whole && !name.ends_with('_')).then_some(name)
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
