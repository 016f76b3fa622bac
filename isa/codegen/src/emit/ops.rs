//! Opcode enum, row table, field readers and encoders.

use std::fmt::Write as _;

use crate::tables::ops::{Arg, Op};
use crate::text::{GENERATED, camel, doc, low_mask, snake, str_array};

/// The enum `Opcode`, the table `ROWS` and the list macro.
#[must_use]
pub fn opcodes(ops: &[Op]) -> String {
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
        let _ = writeln!(
            out,
            "    OpRow {{ name: {:?}, opcode: Opcode::{}, unit: Unit::{}, args: &[{}], \
             blocked_by: {:#05x}, sources: {}, note: {:?} }},",
            op.name,
            camel(&op.name),
            camel(&op.unit),
            op.args.iter().map(arg).collect::<String>(),
            op.block_mask(),
            str_array(&op.source),
            op.note
        );
    }
    out += "];\n";
    out += "/// Position in `ROWS` by opcode byte; 255 where no instruction exists.\n\
            const INDEX: [u8; 256] = [\n";
    for byte in 0..=255_u32 {
        let index = ops.iter().position(|op| op.opcode == byte).unwrap_or(255);
        let _ = write!(out, "{index}, ");
    }
    out += "\n];\n";
    out + &list_macro(ops)
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

/// One module of field readers per instruction.
#[must_use]
pub fn fields(ops: &[Op]) -> String {
    let mut out = String::from(GENERATED);
    for op in ops.iter().filter(|op| !op.args.is_empty()) {
        let _ = writeln!(out, "/// Fields of `{}`.\npub mod {} {{", op.name, snake(&op.name));
        for arg in &op.args {
            let _ = writeln!(
                out,
                "    /// {}bits {}..={}.\n    #[inline]\n    #[must_use]\n    \
                 pub const fn {}(word: u32) -> u32 {{\n        {} & {:#x}\n    }}",
                doc_prefix(arg),
                arg.lo,
                arg.lo + arg.width - 1,
                arg.name,
                if arg.lo == 0 { "word".to_owned() } else { format!("(word >> {})", arg.lo) },
                low_mask(arg.width)
            );
        }
        out += "}\n";
    }
    out
}

fn doc_prefix(arg: &Arg) -> String {
    if arg.doc.is_empty() { String::new() } else { format!("{}: ", doc(&arg.doc)) }
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

    fn row() -> Vec<Op> {
        let toml = "[[op]]\nname = \"SEMWAIT\"\nopcode = 0xA6\nunit = \"sync\"\n\
                    args = [{name=\"cond\",lo=0,width=2},{name=\"sem_sel\",lo=2,width=8}]\n\
                    blocked_by = [\"B0\", \"B8\"]\nsource = [\"inferred:test\"]\n";
        parse("t.toml", toml).expect("the row is right")
    }

    #[test]
    fn emitted_enum_has_opcode_value_and_block_mask() {
        let text = opcodes(&row());
        assert!(text.contains("Semwait = 0xa6,"), "{text}");
        assert!(text.contains("blocked_by: 0x101"), "{text}");
    }

    #[test]
    fn emitted_reader_shifts_and_masks() {
        assert!(fields(&row()).contains("(word >> 2) & 0xff"));
    }

    #[test]
    fn emitted_encoder_places_fields() {
        assert!(encoders(&row()).contains("0xa6000000 | (cond & 0x3) | (sem_sel & 0xff) << 2"));
    }
}
