//! Address map, registers and L1 layout.

use std::fmt::Write as _;

use crate::tables::fields::Field;
use crate::tables::l1::Layout;
use crate::tables::regions::{AddressMap, UNMAPPED, VIEWS};
use crate::tables::registers::{Block, Register};
use crate::text::{GENERATED, doc, low_mask, snake, str_array};

/// Enums of regions and targets, region rows, and one sorted table per view.
#[must_use]
pub fn regions(map: &AddressMap) -> String {
    let mut out = String::from(GENERATED);
    out += "/// What can answer at an address.\n\
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\npub enum Target {\n";
    for target in &map.targets {
        let _ = writeln!(out, "    /// {}\n    {},", doc(&target.doc), target.name);
    }
    out += "}\nimpl Target {\n    /// All targets.\n    pub const ALL: &'static [Self] = &[";
    for target in &map.targets {
        let _ = write!(out, "Self::{}, ", target.name);
    }
    out += "];\n}\n/// A row of the address map.\n\
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\npub enum RegionId {\n";
    for region in &map.regions {
        let doc = doc(if region.doc.is_empty() { &region.name } else { &region.doc });
        let _ = writeln!(out, "    /// {doc}\n    {},", region.name);
    }
    out += "}\n/// All rows, by address.\npub static REGIONS: &[RegionRow] = &[\n";
    for region in &map.regions {
        let views: Vec<String> = region.views.iter().map(|v| option(v)).collect();
        let _ = writeln!(
            out,
            "    RegionRow {{ id: RegionId::{0}, name: {0:?}, base: {1:#x}, limit: {2:#x}, \
             views: [{3}], doc: {4:?}, sources: {5}, note: {6:?} }},",
            region.name,
            region.base,
            region.limit,
            views.join(", "),
            region.doc,
            str_array(&region.source),
            region.note
        );
    }
    out += "];\n";
    out + &view_tables(map)
}

fn option(view: &str) -> String {
    if view == UNMAPPED { "None".to_owned() } else { format!("Some(Target::{view})") }
}

fn view_tables(map: &AddressMap) -> String {
    let mut out = String::from(
        "/// Per view: mapped ranges above L1, sorted by address.\n\
         pub(crate) static RANGES: [&[Range]; 6] = [\n",
    );
    for (i, _) in VIEWS.iter().enumerate() {
        out += "    &[\n";
        for region in map.regions.iter().filter(|r| r.views[i] != UNMAPPED && r.base != 0) {
            let _ = writeln!(
                out,
                "        Range {{ base: {:#x}, limit: {:#x}, region: RegionId::{}, \
                 target: Target::{} }},",
                region.base, region.limit, region.name, region.views[i]
            );
        }
        out += "    ],\n";
    }
    out + "];\n"
}

/// One module of absolute addresses per instance of a block, and the static block tables.
#[must_use]
pub fn registers(blocks: &[Block]) -> String {
    let mut out = String::from(GENERATED);
    out +=
        "/// Absolute addresses and offsets of registers, one module per block.\npub mod reg {\n";
    for block in blocks {
        out += &constants(block);
    }
    out += "}\n/// All blocks of registers.\npub static BLOCKS: &[Block] = &[\n";
    for block in blocks {
        let instances: String = block
            .targets
            .iter()
            .map(|t| {
                format!(
                    "Instance {{ target: Target::{}, prefix: {:?}, base: {:#x} }}, ",
                    t.target, t.prefix, t.base
                )
            })
            .collect();
        let _ = writeln!(
            out,
            "    Block {{ name: {:?}, doc: {:?}, bytes: {:#x}, instances: &[{instances}], \
             registers: &[",
            block.block, block.doc, block.bytes
        );
        for register in &block.registers {
            let _ = writeln!(out, "        {},", register_literal(register));
        }
        out += "    ] },\n";
    }
    out + "];\n"
}

fn constants(block: &Block) -> String {
    let mut out = format!("    /// {}\n    pub mod {} {{\n", block.doc, block.block);
    let base = block.targets.first().map_or(0, |t| t.base);
    let _ = writeln!(
        out,
        "        /// Address of the (first) block.\n        pub const BASE: u32 = {base:#x};"
    );
    for r in &block.registers {
        let name = r.name.replace('.', "_");
        let doc = doc(if r.doc.is_empty() { &r.name } else { &r.doc });
        let _ = writeln!(
            out,
            "        /// {doc} ({} at offset {:#x}).\n        pub const {name}: u32 = {:#x};",
            r.access,
            r.offset,
            base.wrapping_add(r.offset)
        );
        let _ = writeln!(
            out,
            "        /// Byte offset of [`{name}`] in its block.\n        pub const {name}_OFFSET: u32 = {:#x};",
            r.offset
        );
        if r.count > 1 {
            let _ = writeln!(
                out,
                "        /// Elements of [`{name}`].\n        pub const {name}_COUNT: u32 = {};\n        \
                 /// Bytes between elements of [`{name}`].\n        pub const {name}_STRIDE: u32 = {:#x};",
                r.count, r.stride
            );
        }
        if let Some(reset) = r.reset {
            let _ = writeln!(
                out,
                "        /// Reset value of [`{name}`].\n        pub const {name}_RESET: u32 = {reset:#x};"
            );
        }
        if !r.fields.is_empty() {
            out += &field_constants(&name, &r.fields);
        }
    }
    out + "    }\n"
}

fn field_constants(register: &str, fields: &[Field]) -> String {
    let mut out = format!(
        "        /// Named bits of [`{register}`].\n        pub mod {} {{\n            \
         use crate::registers::RegisterField;\n",
        snake(register)
    );
    let named = fields.iter().fold(0, |all, field| all | low_mask(field.width) << field.lo);
    let _ = writeln!(
        out,
        "            /// All of them.\n            pub const NAMED_BITS: u32 = {named:#010x};"
    );
    for field in fields {
        let prose = if field.doc.is_empty() { &field.name } else { &field.doc };
        let _ = writeln!(
            out,
            "            /// {}.\n            pub const {}: RegisterField = {};",
            doc(prose),
            field.name,
            field_literal(field)
        );
    }
    out + "        }\n"
}

fn field_literal(field: &Field) -> String {
    format!(
        "RegisterField {{ name: {:?}, lo: {}, width: {}, doc: {:?} }}",
        field.name, field.lo, field.width, field.doc
    )
}

fn register_literal(r: &Register) -> String {
    let access = match r.access.as_str() {
        "r" => "Read",
        "w" => "Write",
        _ => "ReadWrite",
    };
    let fields: Vec<String> = r.fields.iter().map(field_literal).collect();
    format!(
        "Register {{ offset: {:#x}, name: {:?}, width: {}, access: Access::{access}, reset: {:?}, \
         count: {}, stride: {:#x}, doc: {:?}, fields: &[{}], sources: {} }}",
        r.offset,
        r.name,
        r.width,
        r.reset,
        r.count,
        r.stride,
        r.doc,
        fields.join(", "),
        str_array(&r.source)
    )
}

/// Areas of L1 and fields of the mailbox structure.
#[must_use]
pub fn l1(layout: &Layout) -> String {
    let mut out = String::from(GENERATED);
    let _ = writeln!(
        out,
        "/// First byte of the firmware mailbox structure in L1.\npub const MAILBOX_BASE: u32 = {:#x};\n\
         /// Size of the firmware mailbox structure in bytes.\npub const MAILBOX_BYTES: u32 = {:#x};",
        layout.mailbox_base, layout.mailbox_bytes
    );
    out += "/// Areas of L1 as the vendor firmware uses it, by address.\npub static AREAS: &[Area] = &[\n";
    for a in &layout.area {
        let _ = writeln!(
            out,
            "    Area {{ name: {:?}, base: {:#x}, bytes: {:#x}, doc: {:?} }},",
            a.name, a.base, a.bytes, a.doc
        );
    }
    out += "];\n/// Fields of the mailbox structure.\npub static FIELDS: &[Field] = &[\n";
    for f in &layout.field {
        let dims: Vec<String> = f
            .dims
            .iter()
            .map(|[count, stride]| format!("Dim {{ count: {count}, stride: {stride:#x} }}"))
            .collect();
        let _ = writeln!(
            out,
            "    Field {{ name: Cow::Borrowed({:?}), offset: {:#x}, bytes: {}, dims: Cow::Borrowed(&[{}]), doc: {:?} }},",
            f.name,
            f.offset,
            f.bytes,
            dims.join(", "),
            f.doc
        );
    }
    out + "];\n"
}
