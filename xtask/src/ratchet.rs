//! What is more today than its rule allows is listed in `docs/ratchet.toml`, and may only shrink.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::files::Tree;

pub(crate) const FILE: &str = "docs/ratchet.toml";

/// What is counted, and how much of it there is.
pub(crate) type Row = (String, usize);

/// The whole of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ratchet {
    pub(crate) structs: BTreeMap<String, usize>,
    pub(crate) circles: BTreeMap<String, usize>,
    pub(crate) observed: BTreeMap<String, usize>,
    pub(crate) functions: BTreeMap<String, usize>,
    pub(crate) fields: BTreeMap<String, usize>,
    pub(crate) matches: BTreeMap<String, usize>,
    /// Files that name threads although they are not `sim-core::sync`, and why.
    pub(crate) threads: BTreeMap<String, String>,
}

impl Ratchet {
    pub(crate) fn read(tree: &Tree) -> Result<Self, String> {
        toml::from_str(tree.text(FILE)?).map_err(|error| format!("{FILE}: {error}"))
    }
}

/// What is wrong with counts of which `most` is allowed and more is listed.
pub(crate) fn compare(
    found: &[Row],
    listed: &BTreeMap<String, usize>,
    most: usize,
    what: &str,
) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, count) in found {
        match listed.get(name) {
            None => findings.push(format!("{name}: {count} {what}, the most is {most}")),
            Some(listed) if count > listed => {
                findings.push(format!("{name}: {count} {what}, and {listed} may only shrink"));
            }
            Some(listed) if count < listed => {
                let lower = "run `cargo xtask ratchet`";
                findings.push(format!("{name}: only {count} {what} now; {lower}"));
            }
            Some(_) => {}
        }
    }
    let gone = listed.keys().filter(|name| found.iter().all(|(other, _)| other != *name));
    findings.extend(gone.map(|name| format!("{FILE} lists {name} ({what}), which is fine now")));
    findings
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn count_may_shrink_but_not_grow() {
        let listed = [("a".to_owned(), 5)].into();
        let found = |count| compare(&[("a".to_owned(), count)], &listed, 3, "things").len();
        assert_eq!([4, 5, 6].map(found), [1, 0, 1]);
        assert_eq!(compare(&[], &listed, 3, "things").len(), 1, "listed for nothing");
        assert_eq!(compare(&[("b".to_owned(), 4)], &[].into(), 3, "things").len(), 1, "new");
    }
}
