//! Operands of RV32 words, without aliases.

use crate::csr;
use crate::rv32::{Format, Instr};
use crate::word::{branch_target, imm_i, imm_s, jump_target, rd, rs1, rs2};

const X: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];
const F: [&str; 32] = [
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2",
    "fa3", "fa4", "fa5", "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9",
    "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
];

/// ABI name of integer register `index` (taken modulo 32).
#[must_use]
pub fn xreg(index: u32) -> &'static str {
    X[(index & 31) as usize]
}

/// ABI name of floating-point register `index` (taken modulo 32).
#[must_use]
pub fn freg(index: u32) -> &'static str {
    F[(index & 31) as usize]
}

/// Name of a CSR, or its address in hexadecimal.
#[must_use]
pub fn csr_name(address: u32) -> String {
    let row = u16::try_from(address).ok().and_then(csr::find);
    row.map_or_else(|| format!("{address:#x}"), |c| c.name.to_owned())
}

/// `,rne` and so on; nothing for the dynamic mode.
fn rounding(word: u32) -> &'static str {
    match word >> 12 & 7 {
        0 => ",rne",
        1 => ",rtz",
        2 => ",rdn",
        3 => ",rup",
        4 => ",rmm",
        7 => "",
        _ => ",unknown",
    }
}

fn fence_set(bits: u32) -> String {
    let set: String = "iorw"
        .chars()
        .enumerate()
        .filter(|(i, _)| bits >> (3 - i) & 1 == 1)
        .map(|(_, c)| c)
        .collect();
    if set.is_empty() { "unknown".to_owned() } else { set }
}

/// Mnemonic and operands.
pub(super) fn text(instr: Instr, word: u32, pc: u32) -> String {
    let row = instr.row();
    let suffix = match (row.format, word >> 25 & 3) {
        (Format::Amo, 1) => ".rl",
        (Format::Amo, 2) => ".aq",
        (Format::Amo, 3) => ".aqrl",
        _ => "",
    };
    let operands = operands(row.format, word, pc);
    if operands.is_empty() {
        format!("{}{suffix}", row.name)
    } else {
        format!("{}{suffix} {operands}", row.name)
    }
}

fn operands(format: Format, word: u32, pc: u32) -> String {
    let (d, a, b) = (xreg(rd(word)), xreg(rs1(word)), xreg(rs2(word)));
    let (fd, fa, fb) = (freg(rd(word)), freg(rs1(word)), freg(rs2(word)));
    let rm = rounding(word);
    match format {
        Format::None => String::new(),
        Format::U => format!("{d},{:#x}", word >> 12),
        Format::Jal => format!("{d},{:#x}", jump_target(word, pc)),
        Format::Jalr | Format::Load => format!("{d},{}({a})", imm_i(word)),
        Format::Branch => format!("{a},{b},{:#x}", branch_target(word, pc)),
        Format::Store => format!("{b},{}({a})", imm_s(word)),
        Format::Imm => format!("{d},{a},{}", imm_i(word)),
        Format::Shamt => format!("{d},{a},{:#x}", rs2(word)),
        Format::R => format!("{d},{a},{b}"),
        Format::Unary => format!("{d},{a}"),
        Format::Fence => format!("{},{}", fence_set(word >> 24 & 15), fence_set(word >> 20 & 15)),
        Format::Csr => format!("{d},{},{a}", csr_name(word >> 20)),
        Format::Csri => format!("{d},{},{}", csr_name(word >> 20), rs1(word)),
        Format::Amo => format!("{d},{b},({a})"),
        Format::Fload => format!("{fd},{}({a})", imm_i(word)),
        Format::Fstore => format!("{fb},{}({a})", imm_s(word)),
        Format::Fr => format!("{fd},{fa},{fb}"),
        Format::FrRm => format!("{fd},{fa},{fb}{rm}"),
        Format::Fr4 => format!("{fd},{fa},{fb},{}{rm}", freg(word >> 27)),
        Format::Fcmp => format!("{d},{fa},{fb}"),
        Format::FToX => format!("{d},{fa}"),
        Format::FToXRm => format!("{d},{fa}{rm}"),
        Format::XToF => format!("{fd},{a}"),
        Format::XToFRm => format!("{fd},{a}{rm}"),
        Format::FToF => format!("{fd},{fa}"),
        Format::FToFRm => format!("{fd},{fa}{rm}"),
    }
}
