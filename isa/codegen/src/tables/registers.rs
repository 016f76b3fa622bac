//! `registers/*.toml`: the registers of one block each.

use serde::Deserialize;

use crate::error::{Problems, TableError};
use crate::tables::fields::{self, Field};
use crate::{source, text};

/// One block of registers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Name, lower case: also the name of the generated module.
    pub block: String,
    /// What the block is.
    pub doc: String,
    /// Targets of the address map that show this block, with the prefix printed for each.
    pub targets: Vec<Instance>,
    /// Number of bytes the block decodes.
    pub bytes: u32,
    /// Source keys of rows that name none.
    #[serde(default)]
    pub source: Vec<String>,
    /// The registers.
    #[serde(rename = "register")]
    pub registers: Vec<Register>,
}

/// One place where a block appears.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// Target of the address map.
    pub target: String,
    /// Prefix of printed names.
    pub prefix: String,
    /// Address of offset 0.
    pub base: u32,
}

/// One register or array of registers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    /// Byte offset in the block.
    pub offset: u32,
    /// Name, upper case.
    pub name: String,
    /// Bits that hold a value.
    #[serde(default = "word")]
    pub width: u32,
    /// `r`, `w` or `rw`.
    pub access: String,
    /// Value after reset, when known.
    pub reset: Option<u32>,
    /// Number of elements.
    #[serde(default = "one")]
    pub count: u32,
    /// Bytes from one element to the next.
    #[serde(default)]
    pub stride: u32,
    /// One line of explanation.
    #[serde(default)]
    pub doc: String,
    /// Source keys; the block's when empty.
    #[serde(default)]
    pub source: Vec<String>,
    /// A register that shares its address for a stated reason (write side of a read register).
    #[serde(default)]
    pub shares: String,
    /// Named bits, lowest first.
    #[serde(default)]
    pub fields: Vec<Field>,
}

fn word() -> u32 {
    32
}

fn one() -> u32 {
    1
}

impl Register {
    /// Offset of every element.
    pub fn offsets(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.count).map(|i| self.offset + i * self.stride)
    }
}

/// Reads and checks one block; registers come back sorted by offset.
///
/// # Errors
/// [`TableError`] with every broken rule.
pub fn parse(table: &str, toml: &str) -> Result<Block, TableError> {
    let mut block: Block = super::read(table, toml)?;
    let mut problems = Problems::default();
    if !text::is_snake(&block.block) {
        problems.add(format!("{}: block name is not lower case", block.block));
    }
    for register in &mut block.registers {
        register.source = source::or_default(&register.source, &block.source);
    }
    block.registers.sort_by_key(|r| r.offset);
    let mut taken = std::collections::BTreeMap::new();
    for (i, register) in block.registers.iter().enumerate() {
        check_register(register, block.bytes, &mut problems);
        if block.registers[..i].iter().any(|other| other.name == register.name) {
            problems.add(format!("{}: name is used twice", register.name));
        }
        for offset in register.offsets() {
            if let Some(other) = taken.insert(offset, &register.name)
                && register.shares.is_empty()
            {
                problems.add(format!("{}: offset {offset:#x} is {other}", register.name));
            }
        }
    }
    problems.finish(table)?;
    Ok(block)
}

fn check_register(register: &Register, bytes: u32, problems: &mut Problems) {
    let name = &register.name;
    source::check(name, &register.source, problems);
    if !["r", "w", "rw"].contains(&register.access.as_str()) {
        problems.add(format!("{name}: access `{}` is none of r, w, rw", register.access));
    }
    if register.width == 0 || register.width > 32 {
        problems.add(format!("{name}: width {} is not in 1..=32", register.width));
    }
    if register.reset.is_some_and(|v| v & !text::low_mask(register.width) != 0) {
        problems.add(format!("{name}: reset value is wider than the register"));
    }
    if !register.offset.is_multiple_of(4) || !register.stride.is_multiple_of(4) {
        problems.add(format!("{name}: not aligned to a word"));
    }
    if register.count == 0 || (register.count > 1 && register.stride == 0) {
        problems.add(format!("{name}: array without elements or stride"));
    }
    if register.offsets().last().unwrap_or(0).saturating_add(4) > bytes {
        problems.add(format!("{name}: leaves the block of {bytes:#x} bytes"));
    }
    fields::check(name, &register.fields, register.width, problems);
    for field in &register.fields {
        if !text::is_snake(&field.name.to_ascii_lowercase())
            || field.name.contains(char::is_lowercase)
        {
            problems.add(format!("{name}.{}: name is not upper case", field.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(rows: &str) -> String {
        let toml = format!(
            "block = \"b\"\ndoc = \"\"\nbytes = 16\nsource = [\"inferred:test\"]\n\
             targets = []\n{rows}"
        );
        parse("t.toml", &toml).expect_err("the rows are wrong").to_string()
    }

    fn row(name: &str, offset: u32, extra: &str) -> String {
        format!("[[register]]\nname = \"{name}\"\noffset = {offset}\naccess = \"rw\"\n{extra}\n")
    }

    #[test]
    fn register_offset_taken_is_refused() {
        let text = refusal(&(row("A", 4, "") + &row("B", 4, "")));
        assert!(text.contains("B: offset 0x4 is A"), "{text}");
    }

    #[test]
    fn register_array_leaving_block_is_refused() {
        let text = refusal(&row("A", 8, "count = 3\nstride = 4"));
        assert!(text.contains("A: leaves the block of 0x10 bytes"), "{text}");
    }

    #[test]
    fn register_reset_value_too_wide_is_refused() {
        let text = refusal(&row("A", 0, "width = 4\nreset = 16"));
        assert!(text.contains("A: reset value is wider than the register"), "{text}");
    }

    #[test]
    fn register_access_unknown_is_refused() {
        let text = refusal(&row("A", 0, "").replace("\"rw\"", "\"x\""));
        assert!(text.contains("A: access `x` is none of r, w, rw"), "{text}");
    }

    #[test]
    fn register_field_overlap_or_beyond_the_register_is_refused() {
        let overlap = "fields = [{name=\"X\",lo=0,width=2},{name=\"Y\",lo=1,width=1}]";
        let text = refusal(&row("A", 0, overlap));
        assert!(text.contains("A.Y: overlaps or leaves the register"), "{text}");
        let beyond = "width = 4\nfields = [{name=\"X\",lo=4,width=1}]";
        let text = refusal(&row("A", 0, beyond));
        assert!(text.contains("A.X: overlaps or leaves the register"), "{text}");
        let lower = "fields = [{name=\"x\",lo=0,width=2}]";
        assert!(refusal(&row("A", 0, lower)).contains("A.x: name is not upper case"));
    }

    #[test]
    fn register_unaligned_or_too_wide_is_refused() {
        let text = refusal(&row("A", 2, "width = 33"));
        assert!(text.contains("A: not aligned to a word"), "{text}");
        assert!(text.contains("A: width 33 is not in 1..=32"), "{text}");
    }
}
