//! `csrs.toml`: control and status registers.

use serde::Deserialize;

use crate::error::{Problems, TableError};
use crate::tables::fields::{self, Field};
use crate::{source, text};

/// The table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Csrs {
    /// Source keys of all rows.
    pub source: Vec<String>,
    /// Instruction classes of the status masks, bit 0 first.
    pub status_classes: Vec<String>,
    /// The registers, by address.
    pub csr: Vec<Csr>,
}

/// One CSR.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Csr {
    /// 12-bit address.
    pub address: u32,
    /// Name, lower case.
    pub name: String,
    /// `r` or `rw`.
    pub access: String,
    /// Specification that defines it, or `custom`.
    pub specification: String,
    /// Value after reset, when known.
    pub reset: Option<u32>,
    /// One line of explanation.
    #[serde(default)]
    pub doc: String,
    /// Named bits.
    #[serde(default)]
    pub fields: Vec<Field>,
}

/// Reads and checks the table.
///
/// # Errors
/// [`TableError`] with every broken rule.
pub fn parse(table: &str, toml: &str) -> Result<Csrs, TableError> {
    let mut file: Csrs = super::read(table, toml)?;
    let mut problems = Problems::default();
    source::check(table, &file.source, &mut problems);
    file.csr.sort_by_key(|c| c.address);
    for (i, csr) in file.csr.iter().enumerate() {
        let name = &csr.name;
        if csr.address > 0xFFF {
            problems.add(format!("{name}: address does not fit 12 bits"));
        }
        if !text::is_snake(name) {
            problems.add(format!("{name}: name is not lower case"));
        }
        if !["r", "rw"].contains(&csr.access.as_str()) {
            problems.add(format!("{name}: access `{}` is none of r, rw", csr.access));
        }
        for other in &file.csr[..i] {
            if other.address == csr.address || other.name == csr.name {
                problems.add(format!("{name}: address or name is used twice"));
            }
        }
        fields::check(name, &csr.fields, 32, &mut problems);
    }
    problems.finish(table)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(rows: &str) -> String {
        let toml = format!("source = [\"inferred:test\"]\nstatus_classes = []\n{rows}");
        parse("t.toml", &toml).expect_err("the rows are wrong").to_string()
    }

    fn row(name: &str, address: u32, extra: &str) -> String {
        format!(
            "[[csr]]\nname = \"{name}\"\naddress = {address}\naccess = \"rw\"\n\
             specification = \"custom\"\n{extra}\n"
        )
    }

    #[test]
    fn csr_address_twice_or_too_large_is_refused() {
        let text = refusal(&(row("a", 0x1000, "") + &row("b", 0x1000, "")));
        assert!(text.contains("a: address does not fit 12 bits"), "{text}");
        assert!(text.contains("b: address or name is used twice"), "{text}");
    }

    #[test]
    fn csr_field_overlap_is_refused() {
        let fields = "fields = [{name=\"x\",lo=0,width=2},{name=\"y\",lo=1,width=1}]";
        assert!(refusal(&row("a", 1, fields)).contains("a.y: overlaps or leaves the register"));
    }
}
