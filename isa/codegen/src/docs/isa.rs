//! Documents of crate `isa`.

use std::fmt::Write as _;

use super::{cell, sources};
use crate::tables::config::{READERS, Section};
use crate::tables::csrs::Csrs;
use crate::tables::names::List;
use crate::tables::ops::{Op, UNITS};
use crate::tables::rv32::Instr;

/// Tensix instructions by unit, then the named numbers.
pub(super) fn tensix(ops: &[Op], lists: &[List]) -> String {
    let mut out = format!(
        "# Tensix instructions\n\n{} instructions, by executing unit. A field is `name[high:low]`; \
         where the vendor's macro lets more bits through than the hardware is documented to use, \
         `+n` gives their number.\n",
        ops.len()
    );
    for unit in UNITS {
        let _ = write!(
            out,
            "\n## {unit}\n\n| opcode | instruction | fields | blocked by | sources | note |\n\
             |---|---|---|---|---|---|\n"
        );
        for op in ops.iter().filter(|op| op.unit == *unit) {
            let fields: Vec<String> = op
                .args
                .iter()
                .rev()
                .map(|a| {
                    let extra = a.macro_width.map_or(0, |m| m - a.width);
                    let extra = if extra == 0 { String::new() } else { format!(" +{extra}") };
                    format!("{}[{}:{}]{extra}", a.name, a.lo + a.width - 1, a.lo)
                })
                .collect();
            let _ = writeln!(
                out,
                "| {:#04x} | {} | {} | {} | {} | {} |",
                op.opcode,
                op.name,
                fields.join(" "),
                op.blocked_by.join(" "),
                sources(&op.source),
                cell(&op.note)
            );
        }
    }
    for list in lists {
        let _ = write!(
            out,
            "\n## {}\n\n{}\n\nSources: {}\n\n| number | name | bits | meaning |\n|---|---|---|---|\n",
            list.name,
            list.doc,
            sources(&list.source)
        );
        for row in &list.rows {
            let bits = if row.bits == 0 { String::new() } else { row.bits.to_string() };
            let _ =
                writeln!(out, "| {} | {} | {bits} | {} |", row.number, row.name, cell(&row.doc));
        }
    }
    out
}

/// Backend configuration fields by section.
pub(super) fn config(sections: &[Section]) -> String {
    let count: usize = sections.iter().map(|s| s.fields.len()).sum();
    let mut out = format!(
        "# Backend configuration\n\n{count} fields. The word is an index into ThreadConfig (scope \
         thread) or Config (scope config). `read by` names the units whose instructions go by a field of Config when \
         they begin, as far as that is known.\n"
    );
    for section in sections {
        let _ = write!(
            out,
            "\n## {}\n\nScope {}, from word {}. Sources: {}\n\n| word | bits | field | read by | note |\n\
             |---|---|---|---|---|\n",
            section.name,
            section.scope,
            section.base,
            sources(&section.source)
        );
        for field in &section.fields {
            let _ = writeln!(
                out,
                "| {} | {}:{} | {} | {} | {} |",
                field.addr32,
                field.lo + field.width - 1,
                field.lo,
                field.name,
                users(field.users),
                cell(&field.note)
            );
        }
    }
    out
}

/// The units of a set, in the order of their bits.
fn users(bits: u8) -> String {
    let own = READERS.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
    own.map(|(_, unit)| *unit).collect::<Vec<_>>().join(", ")
}

/// RISC-V instructions by extension.
pub(super) fn rv32(rows: &[Instr]) -> String {
    let mut out = format!(
        "# RISC-V instructions of the baby cores\n\n{} instructions. Status: `documented` by the ISA \
         pages, `reference` as the reference simulator has it, `unknown` where the pages say \"some \
         but not all\" without a list, `nop` accepted without effect.\n",
        rows.len()
    );
    let mut extensions: Vec<&str> = Vec::new();
    for row in rows {
        if !extensions.contains(&row.extension.as_str()) {
            extensions.push(&row.extension);
        }
    }
    for extension in extensions {
        let _ = write!(
            out,
            "\n## {extension}\n\n| instruction | match | mask | operands | status | sources | note |\n\
             |---|---|---|---|---|---|---|\n"
        );
        for row in rows.iter().filter(|r| r.extension == extension) {
            let _ = writeln!(
                out,
                "| {} | {:#010x} | {:#010x} | {} | {} | {} | {} |",
                row.name,
                row.value,
                row.mask,
                row.format,
                row.status,
                sources(&row.source),
                cell(&row.note)
            );
        }
    }
    out
}

/// CSRs and their fields.
pub(super) fn csrs(csrs: &Csrs) -> String {
    let mut out = format!(
        "# CSRs of the baby cores\n\nSources: {}\n\n| address | name | access | reset | \
         specification | meaning |\n|---|---|---|---|---|---|\n",
        sources(&csrs.source)
    );
    for csr in &csrs.csr {
        let reset = csr.reset.map_or_else(String::new, |v| format!("{v:#x}"));
        let _ = writeln!(
            out,
            "| {:#05x} | {} | {} | {reset} | {} | {} |",
            csr.address,
            csr.name,
            csr.access,
            csr.specification,
            cell(&csr.doc)
        );
    }
    for csr in csrs.csr.iter().filter(|c| !c.fields.is_empty()) {
        out += &super::fields(&format!("## {}", csr.name), &csr.fields);
    }
    let _ =
        write!(out, "\n## Instruction classes of the status masks\n\n| bit | class |\n|---|---|\n");
    for (bit, class) in csrs.status_classes.iter().enumerate() {
        let _ = writeln!(out, "| {bit} | {class} |");
    }
    out
}
