//! `tensix_ops.toml`: Tensix instructions and what they cost.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{Problems, TableError};
use crate::{source, text};

/// Units that execute instructions, as spelt in the table; the last is not a backend unit.
pub const UNITS: &[&str] = &[
    "sync", "unpacker", "matrix", "packer", "vector", "scalar", "config", "mover", "misc",
    "frontend",
];
/// What instructions compete for at the wait gate.
pub const RESOURCES: &[&str] = &["free", "unit", "mutex"];
/// Rules of the wait gate that only some instructions have; the first is none.
pub const GATES: &[&str] = &["", "mutex", "unpacker", "mover"];
/// Source operands.
pub const OPERANDS: &[&str] = &["SrcA", "SrcB"];
/// What matrix instructions do with the rows of Dst that they name; the first is nothing.
pub const DST_USES: &[&str] = &["", "reads", "writes", "accumulates", "may_accumulate"];
/// Parts of the vector unit; the first is for instructions of other units.
pub const SUB_UNITS: &[&str] = &["", "simple", "mad", "round", "store", "load"];
/// Operands that are vector registers.
pub const LREGS: &[&str] = &["VD", "VA", "VB", "VC"];
/// Classes of RESOURCEDECL, by number; behind them those that use nothing.
pub const SYNC_CLASSES: &[&str] = &[
    "arithmetic",
    "atomic",
    "reg2flop",
    "indirect",
    "config_shift",
    "storereg",
    "loadreg",
    "flushdma",
    "wrcfg",
    "rdcfg",
    "xmov",
    "unpack",
    "pack",
    "mop",
    "replay",
    "other",
    "none",
];

/// Number of bits below the opcode byte.
const FIELD_BITS: u32 = 24;
/// Number of wait-gate block bits.
const BLOCK_BITS: u32 = 9;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    op: Vec<Op>,
    #[serde(default)]
    cost: Vec<Cost>,
}

/// The rows of the file.
#[derive(Debug, Clone)]
pub struct Table {
    /// Instructions by opcode.
    pub ops: Vec<Op>,
    /// Costs in the order of the file.
    pub costs: Vec<Cost>,
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
    /// One of [`RESOURCES`].
    pub resource: String,
    /// One of [`GATES`].
    #[serde(default)]
    pub gate: String,
    /// Those of [`OPERANDS`] that have to belong to the matrix unit.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Name of a [`Cost`].
    pub cost: String,
    /// One of [`SYNC_CLASSES`].
    pub sync_class: String,
    /// Whether it may leave something behind that acts later or elsewhere.
    pub stirs: bool,
    /// Whether several that follow each other may execute in one go.
    #[serde(default)]
    pub in_stretches: bool,
    /// One of [`DST_USES`].
    #[serde(default)]
    pub dst: String,
    /// One of [`SUB_UNITS`].
    #[serde(default)]
    pub sub_unit: String,
    /// Name of the struct of operands, if rows share it.
    #[serde(default)]
    pub form: String,
    /// Operand fields, lowest first.
    #[serde(default)]
    pub args: Vec<Arg>,
    /// Further readings of the same bits.
    #[serde(default)]
    pub parts: Vec<Arg>,
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
    /// One of [`LREGS`], if it names a vector register.
    #[serde(default)]
    pub lreg: String,
    /// What it means.
    #[serde(default)]
    pub doc: String,
}

/// What some instructions cost, in cycles.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Name, lower case with underscores.
    pub name: String,
    /// Until the unit takes its next instruction.
    pub unit: u32,
    /// Until the thread issues its next instruction.
    pub thread: u32,
    /// Until the instruction has left the unit.
    pub latency: u32,
    /// What else there is to know.
    #[serde(default)]
    pub note: String,
    /// Source keys.
    #[serde(default)]
    pub source: Vec<String>,
}

impl Op {
    /// Block bits as a mask, bit 0 for `B0`.
    #[must_use]
    pub fn block_mask(&self) -> u32 {
        self.blocked_by.iter().filter_map(|b| block_bit(b)).fold(0, |mask, bit| mask | 1 << bit)
    }

    /// Arguments and parts.
    pub fn readings(&self) -> impl Iterator<Item = &Arg> {
        self.args.iter().chain(&self.parts)
    }

    /// Needed operands as a mask, bit 0 for SrcA.
    #[must_use]
    pub fn needs_mask(&self) -> u32 {
        (0..).zip(OPERANDS).fold(0, |mask, (bit, name)| {
            mask | u32::from(self.needs.iter().any(|need| need == name)) << bit
        })
    }

    /// The struct of its operands, `None` if it has none.
    #[must_use]
    pub fn operands(&self) -> Option<String> {
        let name = if self.form.is_empty() { &self.name } else { &self.form };
        (!self.args.is_empty()).then(|| text::camel(name))
    }

    /// The field that names an operand of [`LREGS`].
    #[must_use]
    pub fn lreg(&self, operand: &str) -> Option<&Arg> {
        self.readings().find(|arg| arg.lreg == operand)
    }
}

fn block_bit(name: &str) -> Option<u32> {
    name.strip_prefix('B')?.parse().ok().filter(|bit| *bit < BLOCK_BITS)
}

/// Reads and checks the table; instructions come back sorted by opcode.
///
/// # Errors
/// [`TableError`] with every broken rule.
pub fn parse(table: &str, toml: &str) -> Result<Table, TableError> {
    let file: File = super::read(table, toml)?;
    let mut problems = Problems::default();
    let mut opcodes = BTreeMap::new();
    let mut names = BTreeMap::new();
    for op in &file.op {
        check_op(op, &mut problems);
        check_columns(op, &file.cost, &mut problems);
        if let Some(other) = opcodes.insert(op.opcode, &op.name) {
            problems.add(format!("{}: opcode {:#04x} is also that of {other}", op.name, op.opcode));
        }
        if names.insert(text::camel(&op.name), ()).is_some() {
            problems.add(format!("{}: name is used twice", op.name));
        }
    }
    check_forms(&file.op, &mut problems);
    check_costs(&file, &mut problems);
    problems.finish(table)?;
    let File { op: mut ops, cost: costs } = file;
    ops.sort_by_key(|op| op.opcode);
    Ok(Table { ops, costs })
}

fn check_op(op: &Op, problems: &mut Problems) {
    let row = &op.name;
    source::check(row, &op.source, problems);
    if op.opcode > 0xFF {
        problems.add(format!("{row}: opcode {:#x} does not fit 8 bits", op.opcode));
    }
    for bit in &op.blocked_by {
        if block_bit(bit).is_none() {
            problems.add(format!("{row}: unknown block bit `{bit}`"));
        }
    }
    check_args(op, problems);
    check_parts(op, problems);
}

fn check_columns(op: &Op, costs: &[Cost], problems: &mut Problems) {
    let row = &op.name;
    for (column, value, known) in [
        ("unit", &op.unit, UNITS),
        ("resource", &op.resource, RESOURCES),
        ("gate", &op.gate, GATES),
        ("sync_class", &op.sync_class, SYNC_CLASSES),
        ("dst", &op.dst, DST_USES),
        ("sub_unit", &op.sub_unit, SUB_UNITS),
    ] {
        if !known.contains(&value.as_str()) {
            problems.add(format!("{row}: unknown {column} `{value}`"));
        }
    }
    for need in op.needs.iter().filter(|need| !OPERANDS.contains(&need.as_str())) {
        problems.add(format!("{row}: unknown operand `{need}`"));
    }
    if !costs.iter().any(|cost| cost.name == op.cost) {
        problems.add(format!("{row}: unknown cost `{}`", op.cost));
    }
    if (op.unit == "vector") == op.sub_unit.is_empty() {
        problems
            .add(format!("{row}: `sub_unit` is for instructions of the vector unit, all of them"));
    }
    if op.unit != "matrix" && !(op.needs.is_empty() && op.dst.is_empty()) {
        problems.add(format!("{row}: `needs` and `dst` are for instructions of the matrix unit"));
    }
}

fn check_args(op: &Op, problems: &mut Problems) {
    let row = &op.name;
    let mut end = 0;
    let mut previous = "";
    for arg in &op.args {
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
    for arg in op.readings() {
        if !text::is_snake(&arg.name) {
            problems.add(format!("{row}.{}: field name is not lower case", arg.name));
        }
        if op.readings().filter(|other| other.name == arg.name).count() > 1 {
            problems.add(format!("{row}.{}: field name is used twice", arg.name));
        }
        if !arg.lreg.is_empty() && (!LREGS.contains(&arg.lreg.as_str()) || arg.width != 4) {
            problems.add(format!("{row}.{}: names no register by `{}`", arg.name, arg.lreg));
        }
    }
}

fn check_parts(op: &Op, problems: &mut Problems) {
    let row = &op.name;
    if op.args.is_empty() && !op.parts.is_empty() {
        problems.add(format!("{row}: parts of no arguments"));
    }
    for part in &op.parts {
        if part.width == 0 || part.lo + part.width > FIELD_BITS {
            problems.add(format!("{row}.{}: is not in bits 0 to 23", part.name));
        }
        if op.args.iter().any(|arg| (arg.lo, arg.width) == (part.lo, part.width)) {
            problems.add(format!("{row}.{}: is an argument already", part.name));
        }
    }
}

/// Rows of one form have the same fields.
fn check_forms(ops: &[Op], problems: &mut Problems) {
    let layout = |op: &Op| -> Vec<(String, u32, u32)> {
        op.readings().map(|arg| (arg.name.clone(), arg.lo, arg.width)).collect()
    };
    let mut forms: BTreeMap<&str, &Op> = BTreeMap::new();
    for op in ops.iter().filter(|op| !op.form.is_empty()) {
        let first = forms.entry(&op.form).or_insert(op);
        if layout(first) != layout(op) {
            problems.add(format!("{}: its fields are not those of {}", op.name, first.name));
        }
        if op.args.is_empty() || ops.iter().any(|other| text::snake(&other.name) == op.form) {
            problems.add(format!("{}: `{}` cannot be its form", op.name, op.form));
        }
    }
}

fn check_costs(file: &File, problems: &mut Problems) {
    for cost in &file.cost {
        let row = &cost.name;
        source::check(row, &cost.source, problems);
        let cycles = [cost.unit, cost.thread, cost.latency];
        if !cycles.iter().all(|cycles| (1..=0xFFFF).contains(cycles)) {
            problems.add(format!("cost {row}: cycles are 1 to 65535"));
        }
        if file.cost.iter().filter(|other| other.name == *row).count() > 1 {
            problems.add(format!("cost {row}: name is used twice"));
        }
        if !file.op.iter().any(|op| op.cost == *row) {
            problems.add(format!("cost {row}: no instruction has it"));
        }
    }
}

#[cfg(test)]
mod tests;
