//! Files that name checks and say why: `[[allow]]` for what is not to be reported, `[[warn]]` for
//! what is not to end the run. One file may hold both.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use tensix::{Check, Warned};

/// One check and why it is treated in a way of its own.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    reason: String,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    allow: Vec<Entry>,
    #[serde(default)]
    warn: Vec<Entry>,
}

impl File {
    fn read(path: &Path) -> Result<Self> {
        let name = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        let file: Self = toml::from_str(&text).with_context(|| format!("{name}"))?;
        for entry in file.allow.iter().chain(&file.warn) {
            if entry.reason.trim().is_empty() {
                bail!("{name}: {} needs a reason", entry.id);
            }
        }
        Ok(file)
    }
}

/// The hazards that a file says are not to be reported.
///
/// # Errors
/// The file cannot be read, names a hazard that does not exist, or gives no reason.
pub fn hazards(path: &Path) -> Result<Vec<String>> {
    let file = File::read(path)?;
    for entry in &file.allow {
        if observe::why::hazards::by_id(&entry.id).is_none() {
            bail!("{}: no check has the id {:?}", path.display(), entry.id);
        }
    }
    Ok(file.allow.into_iter().map(|entry| entry.id).collect())
}

/// The checks of the coprocessor that a file lowers to warnings.
///
/// # Errors
/// The file cannot be read, names a check that cannot be lowered, or gives no reason.
pub fn warned(path: &Path) -> Result<Warned> {
    let file = File::read(path)?;
    let add = |set: Warned, entry: &Entry| Ok(set.with(Check::by_id(&entry.id)?));
    file.warn
        .iter()
        .try_fold(Warned::NONE, add)
        .map_err(|unknown: tensix::UnknownCheck| anyhow::anyhow!("{}: {unknown}", path.display()))
}
