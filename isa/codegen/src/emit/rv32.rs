//! RISC-V instruction enum, rows and decoder.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::tables::rv32::Instr;
use crate::text::{GENERATED, camel, str_array};

/// The enum `Instr`, the table `ROWS` and the function `decode`.
#[must_use]
pub fn emit(rows: &[Instr]) -> String {
    let mut out = String::from(GENERATED);
    out += "/// A RISC-V instruction of the baby cores.\n\
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[repr(u8)]\n\
            pub enum Instr {\n";
    for row in rows {
        let _ = writeln!(out, "    /// `{}`\n    {},", row.name, camel(&row.name));
    }
    let _ = writeln!(
        out,
        "}}\n/// Number of instructions.\npub const COUNT: usize = {};\n\
         /// One row per instruction, in the order of the enum.\npub static ROWS: [Row; COUNT] = [",
        rows.len()
    );
    for row in rows {
        let _ = writeln!(
            out,
            "    Row {{ instr: Instr::{}, name: {:?}, mask: {:#010x}, value: {:#010x}, \
             format: Format::{}, extension: {:?}, status: Status::{}, sources: {}, note: {:?} }},",
            camel(&row.name),
            row.name,
            row.mask,
            row.value,
            camel(&row.format),
            row.extension,
            camel(&row.status),
            str_array(&row.source),
            row.note
        );
    }
    out += "];\n/// The instruction of a 32-bit word; `None` when these cores have none.\n\
            #[inline]\n#[must_use]\npub const fn decode(word: u32) -> Option<Instr> {\n";
    let all: Vec<&Instr> = rows.iter().collect();
    tree(&all, 0, 1, &mut out);
    out + "}\n"
}

/// Emits a decision over the bits that all `rows` test and that are not decided yet.
fn tree(rows: &[&Instr], decided: u32, depth: usize, out: &mut String) {
    let pad = "    ".repeat(depth);
    let common = rows.iter().fold(u32::MAX, |mask, row| mask & row.mask) & !decided;
    let mut groups: BTreeMap<u32, Vec<&Instr>> = BTreeMap::new();
    for row in rows {
        groups.entry(row.value & common).or_default().push(row);
    }
    if groups.len() > 1 {
        let _ = writeln!(out, "{pad}match word & {common:#010x} {{");
        for (value, group) in &groups {
            let _ = writeln!(out, "{pad}    {value:#010x} => {{");
            tree(group, decided | common, depth + 2, out);
            let _ = writeln!(out, "{pad}    }}");
        }
        let _ = writeln!(out, "{pad}    _ => None,\n{pad}}}");
    } else {
        chain(rows, decided, &pad, out);
    }
}

/// Emits one test after another, the row with the most fixed bits first.
fn chain(rows: &[&Instr], decided: u32, pad: &str, out: &mut String) {
    let mut sorted = rows.to_vec();
    sorted.sort_by_key(|row| std::cmp::Reverse(row.mask.count_ones()));
    for (i, row) in sorted.iter().enumerate() {
        let rest = row.mask & !decided;
        let word = if i == 0 { "if" } else { "} else if" };
        if rest == 0 {
            if i > 0 {
                let _ = writeln!(out, "{pad}}} else {{");
            }
            let _ = writeln!(out, "{pad}    Some(Instr::{})", camel(&row.name));
            if i > 0 {
                let _ = writeln!(out, "{pad}}}");
            }
            return;
        }
        let _ = writeln!(
            out,
            "{pad}{word} word & {rest:#010x} == {:#010x} {{\n{pad}    Some(Instr::{})",
            row.value & rest,
            camel(&row.name)
        );
    }
    let _ = writeln!(out, "{pad}}} else {{\n{pad}    None\n{pad}}}");
}
