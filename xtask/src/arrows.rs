//! Which crate of the workspace may know which: `docs/arrows.toml` against cargo's own view.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::Findings;
use crate::files::Tree;
use crate::metadata::{Metadata, Package};

const FILE: &str = "docs/arrows.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arrows {
    /// Lowest first.
    layers: Vec<String>,
    /// The layers whose crates may know each other.
    mixed: BTreeSet<String>,
    #[serde(rename = "crate")]
    crates: BTreeMap<String, Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    layer: String,
    #[serde(default)]
    uses: BTreeSet<String>,
    #[serde(default)]
    build: BTreeSet<String>,
    #[serde(default)]
    dev: BTreeSet<String>,
    /// Not in the workspace yet.
    #[serde(default)]
    planned: bool,
}

pub(crate) fn check(tree: &Tree) -> Findings {
    let arrows: Arrows =
        toml::from_str(tree.text(FILE)?).map_err(|error| format!("{FILE}: {error}"))?;
    let metadata = Metadata::read(tree)?;
    let members: Vec<&Package> = metadata.members().collect();
    let mut findings = arrows.contradictions();
    for (name, row) in &arrows.crates {
        if !row.planned && !members.iter().any(|member| member.name == *name) {
            findings.push(format!("{FILE} lists {name}, which is no member of the workspace"));
        }
    }
    for member in &members {
        findings.extend(arrows.strangers(member));
    }
    Ok(findings)
}

impl Arrows {
    fn level(&self, layer: &str) -> Option<usize> {
        self.layers.iter().position(|other| other == layer)
    }

    /// Rows that allow an arrow that goes up, or sideways where that is not meant to be.
    fn contradictions(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for (name, row) in &self.crates {
            let Some(from) = self.level(&row.layer) else {
                findings.push(format!("{name}: there is no layer {}", row.layer));
                continue;
            };
            for used in row.uses.iter().chain(&row.build) {
                let to = self.crates.get(used).and_then(|other| self.level(&other.layer));
                let fits = match to {
                    Some(to) => to < from || to == from && self.mixed.contains(&row.layer),
                    None => false,
                };
                if !fits {
                    findings.push(format!("{FILE} lets {name} use {used}, which is not below it"));
                }
            }
        }
        findings
    }

    /// Arrows of a crate that its row does not allow.
    fn strangers(&self, member: &Package) -> Vec<String> {
        let Some(row) = self.crates.get(&member.name) else {
            return vec![format!("{} has no row in {FILE}", member.name)];
        };
        let mut findings = Vec::new();
        for used in member.dependencies.iter().filter(|used| used.path.is_some()) {
            let (allowed, kind) = match used.kind.as_deref() {
                Some("build") => (&row.build, "as a build dependency "),
                Some("dev") => (&row.dev, "in tests "),
                _ => (&row.uses, ""),
            };
            if !allowed.contains(&used.name) {
                findings.push(format!(
                    "{} uses {} {kind}and {FILE} does not allow it",
                    member.name, used.name
                ));
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::Arrows;
    use crate::metadata::{Dependency, Package};

    fn arrows(rows: &str) -> Arrows {
        let head = "layers = ['low', 'high', 'people']\nmixed = ['people']\n";
        toml::from_str(&format!("{head}{rows}")).expect("the test's own text")
    }

    fn package(name: &str, uses: &str, kind: Option<&str>) -> Package {
        Package {
            id: name.to_owned(),
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            license: None,
            source: None,
            dependencies: vec![Dependency {
                name: uses.to_owned(),
                kind: kind.map(str::to_owned),
                source: None,
                path: Some(uses.to_owned()),
            }],
        }
    }

    #[test]
    fn arrow_up_or_sideways_is_found() {
        let rows = "[crate.a]\nlayer = 'low'\nuses = ['b']\n[crate.b]\nlayer = 'high'\n\
                    uses = ['c', 'a']\n[crate.c]\nlayer = 'high'\n";
        assert_eq!(arrows(rows).contradictions().len(), 2);
    }

    #[test]
    fn arrow_between_people_is_fine() {
        let rows = "[crate.a]\nlayer = 'people'\nuses = ['b']\n[crate.b]\nlayer = 'people'\n";
        assert!(arrows(rows).contradictions().is_empty());
    }

    #[test]
    fn arrow_that_is_not_listed_is_found() {
        let rows = "[crate.a]\nlayer = 'high'\ndev = ['b']\n[crate.b]\nlayer = 'low'\n";
        let arrows = arrows(rows);
        assert_eq!(arrows.strangers(&package("a", "b", None)).len(), 1);
        assert_eq!(arrows.strangers(&package("a", "b", Some("build"))).len(), 1);
        assert!(arrows.strangers(&package("a", "b", Some("dev"))).is_empty());
        assert_eq!(arrows.strangers(&package("x", "b", None)).len(), 1);
    }
}
