//! Comparison of our rows with the vendor's own files, by reading their text.
//!
//! Each function returns one sentence per disagreement. Nothing is imported: a row is changed by hand,
//! with a note, after looking at both sides. The result of the last run is in `docs/comparison.md`.

use std::collections::BTreeMap;

use crate::tables::config::Section;
use crate::tables::ops::Op;
use crate::tables::registers::Block;
use crate::text::bare;

/// Reads `0x1f` or `31`.
fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The text between the first `open` and the next `close`.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let start = text.find(open)? + open.len();
    let end = text[start..].find(close)? + start;
    Some(&text[start..end])
}

/// Compares opcodes, field positions and widths with the macros of `ckernel_ops.h`.
#[must_use]
pub fn ops_macros(header: &str, ops: &[Op]) -> Vec<String> {
    let header = header.replace("\\\n", " ");
    let mut out = Vec::new();
    let mut seen = 0;
    for line in header.lines().filter_map(|l| l.trim().strip_prefix("#define TT_OP_")) {
        seen += 1;
        let name: String =
            line.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let Some(op) = ops.iter().find(|op| op.name == name) else {
            out.push(format!("{name}: in the header, not in the table"));
            continue;
        };
        let Some(body) = line.split_once("TT_OP(").map(|(_, body)| body) else { continue };
        if number(body.split(',').next().unwrap_or_default()) != Some(op.opcode) {
            out.push(format!("{name}: opcode differs"));
        }
        let valid = header
            .lines()
            .find_map(|l| l.trim().strip_prefix(&format!("#define TT_{name}_VALID(")))
            .unwrap_or_default();
        macro_fields(op, body, valid, &mut out);
    }
    if seen != ops.len() {
        out.push(format!("{seen} macros in the header, {} rows in the table", ops.len()));
    }
    out
}

fn macro_fields(op: &Op, body: &str, valid: &str, out: &mut Vec<String>) {
    let mut fields = 0;
    for part in body.split("((").skip(1) {
        let Some((parameter, rest)) = part.trim_start_matches('(').split_once(')') else {
            continue;
        };
        let digits: String =
            rest.trim_start_matches([' ', '<']).chars().take_while(char::is_ascii_digit).collect();
        let Some(lo) = number(&digits) else { continue };
        fields += 1;
        let Some(arg) = op.args.iter().find(|a| a.lo == lo) else {
            out.push(format!("{}: no field at bit {lo} ({parameter})", op.name));
            continue;
        };
        let width = between(valid, &format!("is_valid({parameter}, "), ")").and_then(number);
        let ours = arg.macro_width.unwrap_or(arg.width);
        if width.is_some_and(|w| w != ours) {
            out.push(format!("{}.{}: macro width {width:?}, ours {ours}", op.name, arg.name));
        }
        if bare(parameter) != bare(&arg.name) {
            out.push(format!("{}.{}: the header calls it {parameter}", op.name, arg.name));
        }
    }
    if fields != op.args.len() {
        out.push(format!("{}: {fields} fields in the header, {} rows", op.name, op.args.len()));
    }
}

/// Compares opcodes and field positions with `assembly.yaml`.
#[must_use]
pub fn assembly_list(yaml: &str, ops: &[Op]) -> Vec<String> {
    let mut out = Vec::new();
    let mut seen = BTreeMap::new();
    let mut op: Option<&Op> = None;
    for line in yaml.lines() {
        let line = line.split(" #").next().unwrap_or_default().trim_end();
        if let Some(name) =
            line.strip_suffix(':').filter(|n| n.starts_with(|c: char| c.is_ascii_uppercase()))
        {
            op = ops.iter().find(|op| op.name == name);
            seen.insert(name.to_owned(), ());
            if op.is_none() {
                out.push(format!("{name}: in the list, not in the table"));
            }
            continue;
        }
        let Some(op) = op else { continue };
        let Some((key, value)) = line.trim().split_once(':') else { continue };
        if key == "op_binary" && number(value) != Some(op.opcode) {
            out.push(format!("{}: opcode{value}, ours {:#x}", op.name, op.opcode));
        }
        if key == "start_bit" && !op.args.iter().any(|a| number(value) == Some(a.lo)) {
            out.push(format!("{}: no field at bit{value}", op.name));
        }
    }
    for op in ops.iter().filter(|op| !seen.contains_key(&op.name)) {
        out.push(format!("{}: in the table, not in the list", op.name));
    }
    out
}

/// Compares words, positions and widths with `cfg_defines.h`.
#[must_use]
pub fn config_header(header: &str, sections: &[Section]) -> Vec<String> {
    let mut constants = BTreeMap::new();
    for line in header.lines() {
        let mut words = line.split_whitespace();
        if words.next() == Some("#define")
            && let (Some(name), Some(value)) = (words.next(), words.next().and_then(number))
        {
            constants.insert(name.to_owned(), value);
        }
    }
    let mut out = Vec::new();
    let mut fields = 0;
    for field in sections.iter().flat_map(|s| &s.fields) {
        fields += 1;
        let get = |suffix: &str| constants.get(&format!("{}_{suffix}", field.name)).copied();
        // A field of several words has an all-ones mask of one word, or no mask that fits.
        let mask = crate::text::low_mask(field.width) << field.lo;
        let theirs = (get("ADDR32"), get("SHAMT"), get("MASK"));
        let same = theirs.0 == Some(field.addr32)
            && theirs.1 == Some(field.lo)
            && (theirs.2 == Some(mask) || (field.width > 32 && theirs.2.is_none()));
        if !same {
            out.push(format!("{}: header says {theirs:x?}", field.name));
        }
    }
    let theirs = constants.keys().filter(|name| name.ends_with("_SHAMT")).count();
    if theirs != fields {
        out.push(format!("{theirs} fields in the header, {fields} rows in the table"));
    }
    out
}

/// Compares offsets of the debug registers with `tensix.h`; the header has several names for some.
#[must_use]
pub fn debug_registers(header: &str, block: &Block) -> Vec<String> {
    let mut out = Vec::new();
    for line in header.lines().filter_map(|l| l.strip_prefix("#define RISCV_DEBUG_REG_")) {
        let Some((name, rest)) = line.split_once(' ') else { continue };
        let Some(offset) = between(rest, "(RISCV_DEBUG_REGS_START_ADDR | ", ")").and_then(number)
        else {
            continue;
        };
        match block.registers.iter().find(|r| r.name == name) {
            Some(r) if r.offset == offset => {}
            Some(r) => out.push(format!("{name}: offset {offset:#x}, ours {:#x}", r.offset)),
            None if block.registers.iter().any(|r| r.offset == offset) => {}
            None => out.push(format!("{name}: offset {offset:#x} has no row")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op() -> Vec<Op> {
        let toml = "[[op]]\nname = \"X\"\nopcode = 0xA6\nunit = \"sync\"\nresource = \"unit\"\n\
                    cost = \"one\"\nsync_class = \"other\"\nstirs = true\n\
                    args = [{name=\"a_b\",lo=0,width=2},{name=\"c\",lo=2,width=8,macro_width=9}]\n\
                    source = [\"inferred:test\"]\n[[cost]]\nname = \"one\"\nunit = 1\n\
                    thread = 1\nlatency = 1\nsource = [\"inferred:test\"]\n";
        crate::tables::ops::parse("t.toml", toml).expect("the row is right").ops
    }

    #[test]
    fn macro_equal_to_row_gives_no_difference() {
        let header = "#define TT_OP_X(c, AB) TT_OP(0xa6, (((c) << 2) + ((AB) << 0)))\n\
                      #define TT_X_VALID(c, AB) \\\n (is_valid(c, 9) && is_valid(AB, 2))\n";
        assert!(ops_macros(header, &op()).is_empty());
    }

    #[test]
    fn macro_of_other_width_or_place_is_reported() {
        let header = "#define TT_OP_X(c, AB) TT_OP(0xa7, (((c) << 3) + ((AB) << 0)))\n\
                      #define TT_X_VALID(c, AB) (is_valid(c, 9) && is_valid(AB, 3))\n";
        let found = ops_macros(header, &op());
        assert_eq!(
            found,
            ["X: opcode differs", "X: no field at bit 3 (c)", "X.a_b: macro width Some(3), ours 2"]
        );
    }

    #[test]
    fn assembly_list_entry_missing_is_reported() {
        assert_eq!(
            assembly_list("Y:\n    op_binary: 0xa6\n", &op())[0],
            "Y: in the list, not in the table"
        );
    }

    #[test]
    fn config_header_difference_is_reported() {
        let toml = "[[section]]\nname = \"S\"\nbase = 0\nscope = \"thread\"\n\
                    source = [\"inferred:test\"]\nfields = [{name=\"A\",addr32=2,lo=1,width=2}]\n";
        let rows = crate::tables::config::parse("t.toml", toml).expect("the row is right");
        let header = "#define A_ADDR32 2\n#define A_SHAMT 1\n#define A_MASK 0x6\n";
        assert!(config_header(header, &rows).is_empty());
        assert_eq!(config_header(&header.replace("0x6", "0x2"), &rows).len(), 1);
    }
}
