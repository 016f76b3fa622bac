//! Documents of crate `memory-map`.

use std::fmt::Write as _;

use super::{cell, sources};
use crate::tables::l1::Layout;
use crate::tables::regions::AddressMap;
use crate::tables::registers::Block;

/// The address map and the firmware's use of L1.
pub(super) fn address_map(map: &AddressMap, layout: &Layout) -> String {
    let mut out = String::from(
        "# Address map of a Tensix tile\n\nWhat each asker sees at an address. The last column is the \
         NoC, and the Tensix coprocessor.\n\n| from | to | region | BRISC | TRISC0 | TRISC1 | TRISC2 | \
         NCRISC | NoC | note |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for r in &map.regions {
        let _ = writeln!(
            out,
            "| {:#010x} | {:#010x} | {}: {} | {} | {} |",
            r.base,
            r.limit,
            r.name,
            cell(&r.doc),
            r.views.join(" | "),
            cell(&r.note)
        );
    }
    if let Some(first) = map.regions.first() {
        let _ = write!(out, "\nSources: {}\n", sources(&first.source));
    }
    out += "\n## Targets\n\n| target | meaning |\n|---|---|\n";
    for t in &map.targets {
        let _ = writeln!(out, "| {} | {} |", t.name, cell(&t.doc));
    }
    let _ = write!(
        out,
        "\n## L1 as the vendor firmware uses it\n\nSources: {}\n\n| from | bytes | area | meaning |\n\
         |---|---|---|---|\n",
        sources(&layout.source)
    );
    for a in &layout.area {
        let _ =
            writeln!(out, "| {:#07x} | {:#x} | {} | {} |", a.base, a.bytes, a.name, cell(&a.doc));
    }
    let _ = write!(
        out,
        "\n## Mailbox structure\n\nBase {:#x}, {} bytes. Addresses are those of the first element.\n\n\
         | address | offset | bytes | field | elements | meaning |\n|---|---|---|---|---|---|\n",
        layout.mailbox_base, layout.mailbox_bytes
    );
    for f in &layout.field {
        let dims: Vec<String> =
            f.dims.iter().map(|[count, stride]| format!("{count} x {stride:#x}")).collect();
        let _ = writeln!(
            out,
            "| {:#05x} | {:#05x} | {} | {} | {} | {} |",
            layout.mailbox_base + f.offset,
            f.offset,
            f.bytes,
            f.name,
            dims.join(", "),
            cell(&f.doc)
        );
    }
    out
}

/// All registers, block by block.
pub(super) fn registers(blocks: &[Block]) -> String {
    let mut out = String::from("# Registers\n");
    for block in blocks {
        let places: Vec<String> =
            block.targets.iter().map(|t| format!("`{}` at {:#010x}", t.prefix, t.base)).collect();
        let _ = write!(
            out,
            "\n## {}\n\n{} {}.\n\n| offset | register | access | bits | reset | elements | meaning | \
             sources |\n|---|---|---|---|---|---|---|---|\n",
            block.block,
            block.doc,
            places.join(", ")
        );
        for r in &block.registers {
            let reset = r.reset.map_or_else(String::new, |v| format!("{v:#x}"));
            let elements =
                if r.count > 1 { format!("{} x {:#x}", r.count, r.stride) } else { String::new() };
            let shares = if r.shares.is_empty() {
                String::new()
            } else {
                format!(" (shared: {})", r.shares)
            };
            let _ = writeln!(
                out,
                "| {:#05x} | {} | {} | {} | {reset} | {elements} | {}{} | {} |",
                r.offset,
                r.name,
                r.access,
                r.width,
                cell(&r.doc),
                cell(&shares),
                sources(&r.source)
            );
        }
        for r in block.registers.iter().filter(|r| !r.fields.is_empty()) {
            out += &super::fields(&format!("### {}", r.name), &r.fields);
        }
    }
    out
}
