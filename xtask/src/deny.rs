//! What the workspace may depend on: licences, places, and one version of each crate.
//!
//! It reads the keys it needs from `deny.toml`, which cargo-deny understands too; building that
//! tool takes longer than the rest of a CI run, and these checks need nothing but cargo.
//! Not here: security advisories, which need a database from the network.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::Findings;
use crate::files::Tree;
use crate::metadata::Metadata;

const FILE: &str = "deny.toml";

#[derive(Deserialize)]
struct Deny {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Bans {
    #[serde(default)]
    skip: Vec<Skip>,
}

/// `crate = "name@version"`: the version that would go if it could.
#[derive(Deserialize)]
struct Skip {
    #[serde(rename = "crate")]
    spec: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: BTreeSet<String>,
}

pub(crate) fn check(tree: &Tree) -> Findings {
    let deny: Deny =
        toml::from_str(tree.text(FILE)?).map_err(|error| format!("{FILE}: {error}"))?;
    let metadata = Metadata::read(tree)?;
    let mut findings = deny.wrong_licences(&metadata);
    findings.extend(deny.wrong_places(&metadata));
    findings.extend(deny.versions(&metadata));
    Ok(findings)
}

impl Deny {
    fn wrong_licences(&self, metadata: &Metadata) -> Vec<String> {
        let mut findings = Vec::new();
        for package in metadata.outsiders() {
            let own = self.licenses.exceptions.iter().find(|own| own.name == package.name);
            let allowed = |name: &str| {
                self.licenses.allow.contains(name)
                    || own.is_some_and(|own| own.allow.contains(name))
            };
            match &package.license {
                Some(text) if licence_fits(text, &allowed) => {}
                Some(text) => {
                    findings.push(format!("{} {}: licence {text}", package.name, package.version));
                }
                None => findings.push(format!("{} states no licence", package.name)),
            }
        }
        findings
    }

    /// Git repositories, other registries, paths that leave the workspace.
    fn wrong_places(&self, metadata: &Metadata) -> Vec<String> {
        let allowed = |source: &str| {
            source
                .strip_prefix("registry+")
                .is_some_and(|registry| self.sources.allow_registry.contains(registry))
        };
        let mut findings = Vec::new();
        for package in metadata.outsiders() {
            if !package.source.as_deref().is_some_and(allowed) {
                let place = package.source.as_deref().unwrap_or("a path outside the workspace");
                findings.push(format!("{} comes from {place}", package.name));
            }
        }
        for member in metadata.members() {
            let wild = member
                .dependencies
                .iter()
                .filter(|used| used.path.is_none() && !used.source.as_deref().is_some_and(allowed));
            findings.extend(
                wild.map(|used| format!("{} takes {} from elsewhere", member.name, used.name)),
            );
        }
        findings
    }

    fn versions(&self, metadata: &Metadata) -> Vec<String> {
        let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for package in metadata.outsiders() {
            let spec = format!("{}@{}", package.name, package.version);
            if !self.bans.skip.iter().any(|skip| skip.spec == spec) {
                versions.entry(&package.name).or_default().insert(&package.version);
            }
        }
        let mut findings = Vec::new();
        for (name, versions) in versions {
            if versions.len() > 1 {
                let list: Vec<&str> = versions.into_iter().collect();
                findings.push(format!("{name} in several versions: {}", list.join(", ")));
            }
        }
        for skip in &self.bans.skip {
            let here = |name: &str, version: &str| skip.spec == format!("{name}@{version}");
            if !metadata.outsiders().any(|package| here(&package.name, &package.version)) {
                findings.push(format!("{FILE} skips {}, which is not used any more", skip.spec));
            }
        }
        findings
    }
}

/// Whether an SPDX expression can be met: one way through its ORs has only allowed licences.
/// `/` is the old spelling of OR.
fn licence_fits(text: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = text.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let fits = any_of(&tokens, &mut at, allowed);
    fits && at == tokens.len()
}

fn any_of(tokens: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut fits = all_of(tokens, at, allowed);
    while tokens.get(*at) == Some(&"OR") {
        *at += 1;
        fits |= all_of(tokens, at, allowed);
    }
    fits
}

fn all_of(tokens: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut fits = one(tokens, at, allowed);
    while tokens.get(*at) == Some(&"AND") {
        *at += 1;
        fits &= one(tokens, at, allowed);
    }
    fits
}

fn one(tokens: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> bool {
    let Some(token) = tokens.get(*at) else { return false };
    *at += 1;
    if *token == "(" {
        let fits = any_of(tokens, at, allowed);
        *at += 1;
        return fits;
    }
    if tokens.get(*at) == Some(&"WITH") {
        let exception = tokens.get(*at + 1).copied().unwrap_or_default();
        *at += 2;
        return allowed(&format!("{token} WITH {exception}"));
    }
    allowed(token)
}

#[cfg(test)]
mod tests {
    use super::licence_fits;

    fn fits(text: &str) -> bool {
        licence_fits(text, &|name| ["MIT", "Zlib"].contains(&name))
    }

    #[test]
    fn either_licence_of_an_or_suffices() {
        assert!(fits("MIT OR Apache-2.0"));
        assert!(fits("Unlicense/MIT"));
        assert!(!fits("GPL-3.0 OR Apache-2.0"));
    }

    #[test]
    fn both_licences_of_an_and_are_needed() {
        assert!(fits("(GPL-3.0 OR MIT) AND Zlib"));
        assert!(!fits("(MIT OR Apache-2.0) AND Unicode-3.0"));
    }

    #[test]
    fn licence_with_an_exception_is_one_of_its_own() {
        assert!(!fits("MIT WITH LLVM-exception"));
    }
}
