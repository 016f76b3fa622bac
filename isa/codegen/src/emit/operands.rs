//! Structs of operands, and a trait per unit with one method per instruction.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::ops::bits;
use crate::tables::ops::{Arg, Op, UNITS};
use crate::text::{GENERATED, camel, doc, low_mask, snake};

/// One struct per set of fields, with its reader.
#[must_use]
pub fn structs(ops: &[Op]) -> String {
    let mut out = String::from(GENERATED);
    let mut known = BTreeSet::new();
    for op in ops {
        let Some(name) = op.operands() else { continue };
        if known.insert(name.clone()) {
            out += &one(op, &name, ops);
        }
        if !op.form.is_empty() {
            let _ = writeln!(
                out,
                "/// Operands of `{}`.\npub type {} = {name};\n",
                op.name,
                camel(&op.name)
            );
        }
    }
    out
}

fn one(op: &Op, name: &str, ops: &[Op]) -> String {
    let same = |other: &&Op| other.operands().as_deref() == Some(name);
    let users: Vec<String> =
        ops.iter().filter(same).map(|other| format!("`{}`", other.name)).collect();
    let mut fields = String::new();
    let mut values = String::new();
    let mut places = String::new();
    for arg in op.readings() {
        let kind = if arg.width == 1 { "bool" } else { "u32" };
        let _ = writeln!(fields, "    /// {}\n    pub {}: {kind},", about(arg), arg.name);
        let _ = writeln!(values, "            {}: {},", arg.name, value(arg));
        let _ = writeln!(
            places,
            "    /// Place of `{}` in the word.\n    pub const {}: Bits = {};",
            arg.name,
            arg.name.trim_end_matches('_').to_ascii_uppercase(),
            bits(arg)
        );
    }
    format!(
        "/// Operands of {}.\n#[allow(clippy::struct_excessive_bools, reason = \"one per bit\")]\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub struct {name} {{\n{fields}}}\n\n\
         impl {name} {{\n{places}\n    /// Takes a word apart.\n    #[inline(always)]\n    \
         #[must_use]\n    pub const fn of(word: u32) -> Self {{\n        \
         Self {{\n{values}        }}\n    }}\n}}\n\n",
        users.join(", ")
    )
}

fn about(arg: &Arg) -> String {
    let place = match arg.width {
        1 => format!("bit {}", arg.lo),
        _ => format!("bits {}..={}", arg.lo, arg.lo + arg.width - 1),
    };
    if arg.doc.is_empty() { format!("{place}.") } else { format!("{}: {place}.", doc(&arg.doc)) }
}

fn value(arg: &Arg) -> String {
    let shifted = if arg.lo == 0 { "word".to_owned() } else { format!("word >> {}", arg.lo) };
    let field = format!("{shifted} & {:#x}", low_mask(arg.width));
    if arg.width == 1 { format!("{field} != 0") } else { field }
}

/// One trait per unit, with the function that finds the method of an opcode.
#[must_use]
pub fn executors(ops: &[Op]) -> String {
    let mut out = String::from(GENERATED);
    for unit in UNITS {
        let name = camel(unit);
        let mut methods = String::new();
        let mut arms = String::new();
        for op in ops.iter().filter(|op| op.unit == *unit) {
            let (variant, method) = (camel(&op.name), snake(&op.name));
            let (parameter, argument) = match op.operands() {
                Some(_) => (
                    format!("operands: operands::{variant}, "),
                    format!("operands::{variant}::of(word), "),
                ),
                None => (String::new(), String::new()),
            };
            let _ = writeln!(
                methods,
                "    /// `{}`.\n    fn {method}(&mut self, {parameter}at: At) -> Self::Outcome;",
                op.name
            );
            let _ = writeln!(arms, "        Opcode::{variant} => unit.{method}({argument}at),");
        }
        let _ = writeln!(
            out,
            "/// What the instructions with unit `{unit}` do, a method for each. `At` is what \
             executing takes\n/// besides operands.\npub trait {name}Ops<At> {{\n    \
             /// What comes of it.\n    type Outcome;\n\n{methods}}}\n\n\
             /// Executes a word of unit `{unit}`; `None` if `opcode` is of another unit.\n\
             #[inline(always)]\npub fn {unit}<At, U: {name}Ops<At>>(\n    unit: &mut U,\n    \
             opcode: Opcode,\n    word: u32,\n    at: At,\n) -> Option<U::Outcome> {{\n    \
             Some(match opcode {{\n{arms}        _ => return None,\n    }})\n}}\n"
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::ops::parse;

    fn rows() -> Vec<Op> {
        let row = |name: &str, opcode: u32, extra: &str| {
            format!(
                "[[op]]\nname = \"{name}\"\nopcode = {opcode}\nunit = \"sync\"\nresource = \"unit\"\n\
                 cost = \"one\"\nsync_class = \"other\"\nstirs = true\n\
                 source = [\"inferred:test\"]\n{extra}\n"
            )
        };
        let fields = "form = \"semaphores\"\nargs = [{name=\"sem_sel\",lo=2,width=8}]\n\
                      parts = [{name=\"second\",lo=3,width=1,doc=\"semaphore 1\"}]\n";
        let toml = row("SEMPOST", 1, fields)
            + &row("SEMGET", 2, fields)
            + &row("SEMALL", 3, "")
            + "[[cost]]\nname = \"one\"\nunit = 1\nthread = 1\nlatency = 1\n\
               source = [\"inferred:test\"]\n";
        parse("t.toml", &toml).expect("the rows are right").ops
    }

    #[test]
    fn emitted_struct_is_shared_and_reads_fields_and_parts() {
        let text = structs(&rows());
        assert!(text.contains("Operands of `SEMPOST`, `SEMGET`."), "{text}");
        assert_eq!(text.matches("pub struct").count(), 1, "{text}");
        assert!(text.contains("pub type Semget = Semaphores;"), "{text}");
        assert!(text.contains("sem_sel: word >> 2 & 0xff,"), "{text}");
        assert!(text.contains("second: word >> 3 & 0x1 != 0,"), "{text}");
        assert!(text.contains("pub const SECOND: Bits = Bits::new(3, 1);"), "{text}");
    }

    #[test]
    fn emitted_trait_has_a_method_per_instruction_of_the_unit() {
        let text = executors(&rows());
        assert!(
            text.contains("fn semget(&mut self, operands: operands::Semget, at: At)"),
            "{text}"
        );
        assert!(text.contains("fn semall(&mut self, at: At) -> Self::Outcome;"), "{text}");
        assert!(text.contains("Opcode::Semall => unit.semall(at),"), "{text}");
        assert_eq!(text.matches("pub trait").count(), UNITS.len(), "{text}");
    }
}
