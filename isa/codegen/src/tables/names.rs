//! Tables of numbers with names: wait conditions, semaphores, mutexes, data formats.

use serde::Deserialize;

use crate::error::{Problems, TableError};
use crate::source;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    list: Vec<List>,
}

/// One list of named numbers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Name of the list, lower case.
    pub name: String,
    /// What the list is about.
    #[serde(default)]
    pub doc: String,
    /// True when the numbers run from 0 without a gap.
    #[serde(default)]
    pub dense: bool,
    /// Source keys of all rows.
    #[serde(default)]
    pub source: Vec<String>,
    /// The rows.
    pub rows: Vec<Named>,
}

/// One named number.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Bit, index or code.
    pub number: u32,
    /// Name.
    pub name: String,
    /// Storage bits per datum, for data formats.
    #[serde(default)]
    pub bits: u32,
    /// One line of explanation.
    #[serde(default)]
    pub doc: String,
}

/// Reads and checks the table.
///
/// # Errors
/// [`TableError`] with every broken rule.
pub fn parse(table: &str, toml: &str) -> Result<Vec<List>, TableError> {
    let file: File = super::read(table, toml)?;
    let mut problems = Problems::default();
    for list in &file.list {
        source::check(&list.name, &list.source, &mut problems);
        for (i, row) in list.rows.iter().enumerate() {
            if list.rows[..i].iter().any(|other| other.name == row.name) {
                problems.add(format!("{}.{}: name is used twice", list.name, row.name));
            }
            if list.rows[..i].iter().any(|other| other.number == row.number) {
                problems.add(format!("{}.{}: number is used twice", list.name, row.name));
            }
            if list.dense && u32::try_from(i).ok() != Some(row.number) {
                problems.add(format!("{}: gap at {i}, a dense list was declared", list.name));
            }
        }
    }
    problems.finish(table)?;
    Ok(file.list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(dense: bool, rows: &str) -> String {
        let toml = format!(
            "[[list]]\nname = \"l\"\ndense = {dense}\nsource = [\"inferred:test\"]\nrows = [{rows}]"
        );
        parse("t.toml", &toml).expect_err("the rows are wrong").to_string()
    }

    #[test]
    fn names_gap_in_dense_list_is_refused() {
        let text = refusal(true, "{number=0,name=\"a\"},{number=2,name=\"b\"}");
        assert!(text.contains("l: gap at 1, a dense list was declared"), "{text}");
    }

    #[test]
    fn names_and_numbers_twice_are_refused() {
        let text = refusal(false, "{number=3,name=\"a\"},{number=3,name=\"a\"}");
        assert!(text.contains("l.a: name is used twice"), "{text}");
        assert!(text.contains("l.a: number is used twice"), "{text}");
    }
}
