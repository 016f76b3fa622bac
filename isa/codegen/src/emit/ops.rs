//! Opcode enum, row table and encoders.

use std::fmt::Write as _;

use crate::tables::ops::{Arg, Cost, LREGS, Op, SYNC_CLASSES, Table};
use crate::text::{GENERATED, camel, low_mask, snake, str_array};

/// The enum `Opcode`, the tables `ROWS` and `COSTS` and the list macro.
#[must_use]
pub fn opcodes(table: &Table) -> String {
    let Table { ops, costs } = table;
    let mut out = String::from(GENERATED);
    out += "/// A Tensix instruction, by its opcode byte.\n\
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[repr(u8)]\n\
            pub enum Opcode {\n";
    for op in ops {
        let _ =
            writeln!(out, "    /// `{}`\n    {} = {:#04x},", op.name, camel(&op.name), op.opcode);
    }
    out += "}\n";
    let _ = writeln!(out, "/// Number of instructions.\npub const COUNT: usize = {};", ops.len());
    out += "/// One row per instruction, by opcode.\npub static ROWS: [OpRow; COUNT] = [\n";
    for op in ops {
        out += &row(op, costs);
    }
    let _ = writeln!(
        out,
        "];\n/// What instructions cost.\npub static COSTS: [Cost; {}] = [\n{}];",
        costs.len(),
        costs.iter().map(cost).collect::<String>()
    );
    out += "/// Position in `ROWS` by opcode byte; 255 where no instruction exists.\n\
            const INDEX: [u8; 256] = [\n";
    for byte in 0..=255_u32 {
        let index = ops.iter().position(|op| op.opcode == byte).unwrap_or(255);
        let _ = write!(out, "{index}, ");
    }
    out += "\n];\n";
    out + &list_macro(ops)
}

fn row(op: &Op, costs: &[Cost]) -> String {
    let class = SYNC_CLASSES.iter().position(|class| *class == op.sync_class);
    // The last of them is for those that have no class.
    let class = class.filter(|class| class + 1 < SYNC_CLASSES.len());
    let variant = |name: &str| camel(if name.is_empty() { "none" } else { name });
    format!(
        "    OpRow {{ name: {:?}, opcode: Opcode::{}, unit: Unit::{}, resource: Resource::{}, \
         gate: GateRule::{}, needs: {:#x}, cost: &COSTS[{}], sync_class: {class:?}, stirs: {}, \
         in_stretches: {}, dst: DstUse::{}, sub_unit: SubUnit::{}, lregs: Lregs {{ {} }}, \
         args: &[{}], parts: &[{}], blocked_by: {:#05x}, sources: {}, note: {:?} }},\n",
        op.name,
        camel(&op.name),
        camel(&op.unit),
        camel(&op.resource),
        variant(&op.gate),
        op.needs_mask(),
        costs.iter().position(|cost| cost.name == op.cost).unwrap_or(0),
        op.stirs,
        op.in_stretches,
        variant(&op.dst),
        variant(&op.sub_unit),
        LREGS.iter().map(|operand| lreg(op, operand)).collect::<String>(),
        op.args.iter().map(arg).collect::<String>(),
        op.parts.iter().map(arg).collect::<String>(),
        op.block_mask(),
        str_array(&op.source),
        op.note
    )
}

fn lreg(op: &Op, operand: &str) -> String {
    let bits = op.lreg(operand).map_or("None".to_owned(), |arg| format!("Some({})", bits(arg)));
    format!("{}: {bits}, ", snake(operand))
}

/// Where a field lies, as a constant.
pub(super) fn bits(arg: &Arg) -> String {
    format!("Bits::new({}, {})", arg.lo, arg.width)
}

fn cost(cost: &Cost) -> String {
    let Cost { name, unit, thread, latency, note, source } = cost;
    format!(
        "    Cost {{ name: {name:?}, unit: {unit}, thread: {thread}, latency: {latency}, \
         note: {note:?}, sources: {} }},\n",
        str_array(source)
    )
}

fn arg(arg: &Arg) -> String {
    format!(
        "Arg {{ name: {:?}, lo: {}, width: {}, macro_width: {}, doc: {:?} }}, ",
        arg.name,
        arg.lo,
        arg.width,
        arg.macro_width.unwrap_or(arg.width),
        arg.doc
    )
}

fn list_macro(ops: &[Op]) -> String {
    let mut out = String::from(
        "/// Calls `$callback!` with one entry per instruction:\n\
         /// `(Variant, function_name, \"MNEMONIC\", opcode, Unit)`.\n\
         #[macro_export]\nmacro_rules! for_each_tensix_op {\n    ($callback:ident) => {\n        \
         $callback! {\n",
    );
    for op in ops {
        let _ = writeln!(
            out,
            "            ({}, {}, {:?}, {:#04x}, {})",
            camel(&op.name),
            snake(&op.name),
            op.name,
            op.opcode,
            camel(&op.unit)
        );
    }
    out + "        }\n    };\n}\n"
}

/// One encoder per instruction, arguments lowest field first.
#[must_use]
pub fn encoders(ops: &[Op]) -> String {
    let mut out = String::from(GENERATED);
    for op in ops {
        let params: Vec<String> = op.args.iter().map(|a| format!("{}: u32", a.name)).collect();
        let _ = writeln!(
            out,
            "/// Encodes `{}`; values are cut to their fields.\n#[inline]\n#[must_use]\n\
             pub const fn {}({}) -> u32 {{",
            op.name,
            snake(&op.name),
            params.join(", ")
        );
        let mut word = format!("{:#010x}", op.opcode << 24);
        for arg in &op.args {
            let mask = low_mask(arg.width);
            let _ = writeln!(
                out,
                "    debug_assert!({} <= {mask:#x}, \"{}.{} is wider than its field\");",
                arg.name, op.name, arg.name
            );
            let _ = write!(word, " | ({} & {mask:#x})", arg.name);
            if arg.lo != 0 {
                let _ = write!(word, " << {}", arg.lo);
            }
        }
        let _ = writeln!(out, "    {word}\n}}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::ops::parse;

    fn table() -> Table {
        let toml = "[[op]]\nname = \"SEMWAIT\"\nopcode = 0xA6\nunit = \"sync\"\n\
                    resource = \"unit\"\ncost = \"one\"\nsync_class = \"wrcfg\"\nstirs = true\n\
                    args = [{name=\"cond\",lo=0,width=2},{name=\"sem_sel\",lo=2,width=8}]\n\
                    blocked_by = [\"B0\", \"B8\"]\nsource = [\"inferred:test\"]\n\
                    [[cost]]\nname = \"one\"\nunit = 1\nthread = 1\nlatency = 1\n\
                    source = [\"inferred:test\"]\n";
        parse("t.toml", toml).expect("the row is right")
    }

    #[test]
    fn emitted_enum_has_opcode_value_and_block_mask() {
        let text = opcodes(&table());
        assert!(text.contains("Semwait = 0xa6,"), "{text}");
        assert!(text.contains("blocked_by: 0x101"), "{text}");
        assert!(text.contains("resource: Resource::Unit, gate: GateRule::None"), "{text}");
        assert!(text.contains("cost: &COSTS[0], sync_class: Some(8), stirs: true"), "{text}");
    }

    #[test]
    fn emitted_encoder_places_fields() {
        assert!(
            encoders(&table().ops).contains("0xa6000000 | (cond & 0x3) | (sem_sel & 0xff) << 2")
        );
    }
}
