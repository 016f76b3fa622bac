//! `rv32.toml`: RISC-V instructions of the baby cores.

use serde::Deserialize;

use crate::error::{Problems, TableError};
use crate::{source, text};

/// Operand layouts that the disassembler knows.
pub const FORMATS: &[&str] = &[
    "none", "u", "jal", "jalr", "branch", "load", "store", "imm", "shamt", "r", "unary", "fence",
    "csr", "csri", "amo", "fload", "fstore", "fr", "fr_rm", "fr4", "fcmp", "f_to_x", "f_to_x_rm",
    "x_to_f", "x_to_f_rm", "f_to_f_rm",
];

/// How well a row is known.
pub const STATUSES: &[&str] = &["documented", "reference", "unknown", "nop"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    instr: Vec<Instr>,
}

/// One instruction.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instr {
    /// Mnemonic, lower case.
    pub name: String,
    /// Bits that identify it.
    pub mask: u32,
    /// Their values.
    #[serde(rename = "match")]
    pub value: u32,
    /// One of [`FORMATS`].
    pub format: String,
    /// Extension it belongs to.
    pub extension: String,
    /// One of [`STATUSES`].
    pub status: String,
    /// A wider row that this one is carved out of.
    #[serde(default)]
    pub special_case_of: String,
    /// Source keys.
    #[serde(default)]
    pub source: Vec<String>,
    /// Where sources disagree.
    #[serde(default)]
    pub note: String,
}

impl Instr {
    /// True when some word matches both rows.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        (self.value ^ other.value) & self.mask & other.mask == 0
    }
}

/// Reads and checks the table.
///
/// # Errors
/// [`TableError`] with every broken rule.
pub fn parse(table: &str, toml: &str) -> Result<Vec<Instr>, TableError> {
    let file: File = super::read(table, toml)?;
    let mut problems = Problems::default();
    for (i, row) in file.instr.iter().enumerate() {
        check(row, &mut problems);
        for other in &file.instr[..i] {
            if text::camel(&other.name) == text::camel(&row.name) {
                problems.add(format!("{}: name is used twice", row.name));
            }
            let stated = row.special_case_of == other.name || other.special_case_of == row.name;
            if row.overlaps(other) && !stated {
                problems.add(format!("{}: words overlap those of {}", row.name, other.name));
            }
        }
        if !row.special_case_of.is_empty()
            && !file.instr.iter().any(|o| {
                o.name == row.special_case_of
                    && o.mask & !row.mask == 0
                    && row.value & o.mask == o.value
            })
        {
            problems.add(format!("{}: is no special case of {}", row.name, row.special_case_of));
        }
    }
    problems.finish(table)?;
    Ok(file.instr)
}

fn check(row: &Instr, problems: &mut Problems) {
    let name = &row.name;
    source::check(name, &row.source, problems);
    if row.value & !row.mask != 0 {
        problems.add(format!("{name}: match has bits outside mask"));
    }
    if row.mask & 0x7F != 0x7F || row.value & 3 != 3 {
        problems.add(format!("{name}: is not a 32-bit instruction with a fixed major opcode"));
    }
    if !FORMATS.contains(&row.format.as_str()) {
        problems.add(format!("{name}: unknown format `{}`", row.format));
    }
    if !STATUSES.contains(&row.status.as_str()) {
        problems.add(format!("{name}: unknown status `{}`", row.status));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, mask: u32, value: u32, extra: &str) -> String {
        format!(
            "[[instr]]\nname = \"{name}\"\nmask = {mask}\nmatch = {value}\nformat = \"r\"\n\
             extension = \"X\"\nstatus = \"documented\"\nsource = [\"inferred:test\"]\n{extra}\n"
        )
    }

    fn refusal(toml: &str) -> String {
        parse("t.toml", toml).expect_err("the rows are wrong").to_string()
    }

    #[test]
    fn rv32_overlap_unstated_is_refused() {
        let rows = row("a", 0x707F, 0x33, "") + &row("b", 0xFE00_707F, 0x33, "");
        assert!(refusal(&rows).contains("b: words overlap those of a"));
    }

    #[test]
    fn rv32_overlap_stated_passes() {
        let rows = row("a", 0x707F, 0x33, "")
            + &row("b", 0xFE00_707F, 0x33, "special_case_of = \"a\"");
        assert_eq!(parse("t.toml", &rows).map(|r| r.len()), Ok(2));
    }

    #[test]
    fn rv32_special_case_of_disjoint_row_is_refused() {
        let rows = row("a", 0x707F, 0x1033, "")
            + &row("b", 0xFE00_707F, 0x33, "special_case_of = \"a\"");
        assert!(refusal(&rows).contains("b: is no special case of a"));
    }

    #[test]
    fn rv32_match_outside_mask_is_refused() {
        assert!(refusal(&row("a", 0x7F, 0x1033, "")).contains("a: match has bits outside mask"));
    }

    #[test]
    fn rv32_format_unknown_is_refused() {
        let rows = row("a", 0x7F, 0x33, "").replace("\"r\"", "\"q\"");
        assert!(refusal(&rows).contains("a: unknown format `q`"));
    }
}
