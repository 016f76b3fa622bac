//! `regions.toml`: who sees what at which address.

use serde::Deserialize;

use crate::error::{Problems, TableError};
use crate::{source, text};

/// The six points of view, in the order of the columns.
pub const VIEWS: &[&str] = &["B", "T0", "T1", "T2", "NC", "NOC"];

/// Spelling of "nothing answers here".
pub const UNMAPPED: &str = "unmapped";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    source: Vec<String>,
    target: Vec<Target>,
    region: Vec<Region>,
}

/// Something that can answer at an address.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name, `CamelCase`.
    pub name: String,
    /// One line of explanation.
    pub doc: String,
}

/// One address range.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Name, `CamelCase`.
    pub name: String,
    /// First address.
    pub base: u32,
    /// Last address, inclusive.
    pub limit: u32,
    /// What each of [`VIEWS`] sees: a target or [`UNMAPPED`].
    pub views: Vec<String>,
    /// One line of explanation.
    #[serde(default)]
    pub doc: String,
    /// Source keys; the table's when empty.
    #[serde(default)]
    pub source: Vec<String>,
    /// Where sources disagree.
    #[serde(default)]
    pub note: String,
}

/// The checked table.
#[derive(Debug, Clone)]
pub struct AddressMap {
    /// All targets, in table order.
    pub targets: Vec<Target>,
    /// All regions, sorted by address.
    pub regions: Vec<Region>,
}

/// Reads and checks the table.
///
/// # Errors
/// [`TableError`] with every broken rule.
pub fn parse(table: &str, toml: &str) -> Result<AddressMap, TableError> {
    let mut file: File = super::read(table, toml)?;
    let mut problems = Problems::default();
    for region in &mut file.region {
        region.source = source::or_default(&region.source, &file.source);
    }
    file.region.sort_by_key(|r| r.base);
    for (i, region) in file.region.iter().enumerate() {
        source::check(&region.name, &region.source, &mut problems);
        check_region(region, &file.target, &mut problems);
        if file.region[..i].iter().any(|other| other.name == region.name) {
            problems.add(format!("{}: name is used twice", region.name));
        }
        if let Some(before) = i.checked_sub(1).map(|j| &file.region[j])
            && before.limit >= region.base
        {
            problems.add(format!("{}: overlaps {}", region.name, before.name));
        }
    }
    for target in &file.target {
        if !file.region.iter().any(|r| r.views.contains(&target.name)) {
            problems.add(format!("{}: target is not used", target.name));
        }
    }
    problems.finish(table)?;
    Ok(AddressMap { targets: file.target, regions: file.region })
}

fn check_region(region: &Region, targets: &[Target], problems: &mut Problems) {
    let name = &region.name;
    if region.base > region.limit {
        problems.add(format!("{name}: base is above limit"));
    }
    if !region.base.is_multiple_of(4) || region.limit % 4 != 3 {
        problems.add(format!("{name}: not made of whole words"));
    }
    if text::snake(name) == *name {
        problems.add(format!("{name}: name is not CamelCase"));
    }
    if region.views.len() != VIEWS.len() {
        problems.add(format!("{name}: {} views, {} expected", region.views.len(), VIEWS.len()));
    }
    for view in &region.views {
        if view != UNMAPPED && !targets.iter().any(|t| t.name == *view) {
            problems.add(format!("{name}: unknown target `{view}`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(regions: &str) -> String {
        let toml = format!(
            "source = [\"inferred:test\"]\n[[target]]\nname = \"A\"\ndoc = \"\"\n{regions}"
        );
        parse("t.toml", &toml).expect_err("the rows are wrong").to_string()
    }

    fn region(name: &str, base: u32, limit: u32, first: &str) -> String {
        format!(
            "[[region]]\nname = \"{name}\"\nbase = {base}\nlimit = {limit}\n\
             views = [\"{first}\", \"A\", \"A\", \"A\", \"A\", \"unmapped\"]\n"
        )
    }

    #[test]
    fn region_overlap_is_refused() {
        let text = refusal(&(region("Low", 0, 7, "A") + &region("High", 4, 11, "A")));
        assert!(text.contains("High: overlaps Low"), "{text}");
    }

    #[test]
    fn region_with_unknown_target_is_refused() {
        let text = refusal(&region("Low", 0, 7, "Moon"));
        assert!(text.contains("Low: unknown target `Moon`"), "{text}");
    }

    #[test]
    fn region_upside_down_or_ragged_is_refused() {
        let text = refusal(&region("Low", 8, 6, "A"));
        assert!(text.contains("Low: base is above limit"), "{text}");
        assert!(text.contains("Low: not made of whole words"), "{text}");
    }

    #[test]
    fn region_without_source_is_refused() {
        let text = refusal(
            &region("Low", 0, 7, "A")
                .replace("name = \"Low\"", "name = \"Low\"\nsource = [\"nowhere\"]"),
        );
        assert!(text.contains("Low: source `nowhere` is not `kind:place`"), "{text}");
    }
}
