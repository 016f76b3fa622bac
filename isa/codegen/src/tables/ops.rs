//! `tensix_ops.toml`: Tensix instructions.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{Problems, TableError};
use crate::{source, text};

/// Units that execute instructions, as spelt in the table; the last is not a backend unit.
pub const UNITS: &[&str] = &[
    "sync", "unpacker", "matrix", "packer", "vector", "scalar", "config", "mover", "misc",
    "frontend",
];

/// Number of bits below the opcode byte.
const FIELD_BITS: u32 = 24;
/// Number of wait-gate block bits.
const BLOCK_BITS: u32 = 9;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    op: Vec<Op>,
}

/// One instruction.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Op {
    /// Mnemonic, upper case.
    pub name: String,
    /// Top byte of the word.
    pub opcode: u32,
    /// One of [`UNITS`].
    pub unit: String,
    /// Operand fields, lowest first.
    #[serde(default)]
    pub args: Vec<Arg>,
    /// Wait-gate block bits that hold the instruction back, `B0` to `B8`.
    #[serde(default)]
    pub blocked_by: Vec<String>,
    /// Source keys.
    #[serde(default)]
    pub source: Vec<String>,
    /// Where sources disagree, and which one is followed.
    #[serde(default)]
    pub note: String,
}

/// One operand field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arg {
    /// Name, lower case with underscores.
    pub name: String,
    /// Lowest bit.
    pub lo: u32,
    /// Bits the hardware is documented to use.
    pub width: u32,
    /// Bits the vendor's macro lets through, where different.
    pub macro_width: Option<u32>,
    /// What it means.
    #[serde(default)]
    pub doc: String,
}

impl Op {
    /// Block bits as a mask, bit 0 for `B0`.
    #[must_use]
    pub fn block_mask(&self) -> u32 {
        self.blocked_by.iter().filter_map(|b| block_bit(b)).fold(0, |mask, bit| mask | 1 << bit)
    }
}

fn block_bit(name: &str) -> Option<u32> {
    name.strip_prefix('B')?.parse().ok().filter(|bit| *bit < BLOCK_BITS)
}

/// Reads and checks the table; rows come back sorted by opcode.
///
/// # Errors
/// [`TableError`] with every broken rule.
pub fn parse(table: &str, toml: &str) -> Result<Vec<Op>, TableError> {
    let file: File = super::read(table, toml)?;
    let mut problems = Problems::default();
    let mut opcodes = BTreeMap::new();
    let mut names = BTreeMap::new();
    for op in &file.op {
        check_op(op, &mut problems);
        if let Some(other) = opcodes.insert(op.opcode, &op.name) {
            problems.add(format!("{}: opcode {:#04x} is also that of {other}", op.name, op.opcode));
        }
        if names.insert(text::camel(&op.name), ()).is_some() {
            problems.add(format!("{}: name is used twice", op.name));
        }
    }
    problems.finish(table)?;
    let mut rows = file.op;
    rows.sort_by_key(|op| op.opcode);
    Ok(rows)
}

fn check_op(op: &Op, problems: &mut Problems) {
    let row = &op.name;
    source::check(row, &op.source, problems);
    if op.opcode > 0xFF {
        problems.add(format!("{row}: opcode {:#x} does not fit 8 bits", op.opcode));
    }
    if !UNITS.contains(&op.unit.as_str()) {
        problems.add(format!("{row}: unknown unit `{}`", op.unit));
    }
    for bit in &op.blocked_by {
        if block_bit(bit).is_none() {
            problems.add(format!("{row}: unknown block bit `{bit}`"));
        }
    }
    check_args(op, problems);
}

fn check_args(op: &Op, problems: &mut Problems) {
    let row = &op.name;
    let mut end = 0;
    let mut previous = "";
    for arg in &op.args {
        if !text::is_snake(&arg.name) {
            problems.add(format!("{row}.{}: field name is not lower case", arg.name));
        }
        if op.args.iter().filter(|other| other.name == arg.name).count() > 1 {
            problems.add(format!("{row}.{}: field name is used twice", arg.name));
        }
        let span = arg.macro_width.unwrap_or(arg.width);
        if arg.width == 0 || arg.width > span {
            problems.add(format!("{row}.{}: width {} is not in 1..={span}", arg.name, arg.width));
        }
        if arg.lo < end {
            problems.add(format!("{row}.{}: overlaps or precedes {previous}", arg.name));
        }
        if arg.lo + span > FIELD_BITS {
            problems.add(format!("{row}.{}: ends above bit 23", arg.name));
        }
        end = arg.lo + span;
        previous = &arg.name;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(toml: &str) -> String {
        parse("t.toml", toml).expect_err("the rows are wrong").to_string()
    }

    fn op(opcode: u32, extra: &str) -> String {
        format!(
            "[[op]]\nname = \"A{opcode}\"\nopcode = {opcode}\nunit = \"sync\"\n\
             source = [\"inferred:test\"]\n{extra}\n"
        )
    }

    #[test]
    fn op_rows_correct_come_back_sorted() {
        let rows = parse("t.toml", &(op(9, "") + &op(3, ""))).expect("the rows are right");
        assert_eq!(rows.iter().map(|r| r.opcode).collect::<Vec<_>>(), [3, 9]);
    }

    #[test]
    fn op_without_source_is_refused() {
        let text = refusal("[[op]]\nname = \"X\"\nopcode = 1\nunit = \"sync\"\n");
        assert!(text.contains("X: missing source"), "{text}");
    }

    #[test]
    fn op_with_taken_opcode_is_refused() {
        let text = refusal(&(op(7, "") + &op(7, "")));
        assert!(text.contains("A7: opcode 0x07 is also that of A7"), "{text}");
        assert!(text.contains("A7: name is used twice"), "{text}");
    }

    #[test]
    fn op_with_unknown_unit_is_refused() {
        let text = refusal(&op(1, "").replace("sync", "gearbox"));
        assert!(text.contains("A1: unknown unit `gearbox`"), "{text}");
    }

    #[test]
    fn op_field_overlap_is_refused() {
        let args = "args = [{name=\"a\",lo=0,width=4},{name=\"b\",lo=3,width=1}]";
        assert!(refusal(&op(1, args)).contains("A1.b: overlaps or precedes a"));
    }

    #[test]
    fn op_field_beyond_24_bits_is_refused() {
        let args = "args = [{name=\"a\",lo=20,width=5}]";
        assert!(refusal(&op(1, args)).contains("A1.a: ends above bit 23"));
    }

    #[test]
    fn op_field_wider_than_macro_is_refused() {
        let args = "args = [{name=\"a\",lo=0,width=5,macro_width=4}]";
        assert!(refusal(&op(1, args)).contains("A1.a: width 5 is not in 1..=4"));
    }

    #[test]
    fn op_block_bit_unknown_is_refused() {
        assert!(refusal(&op(1, "blocked_by = [\"B9\"]")).contains("unknown block bit `B9`"));
    }
}
