//! RISC-V instructions of the baby cores: rows and decoder.
//!
//! A word whose low two bits are not `0b11` is no RISC-V instruction here but a `.ttinsn`
//! ([`ttinsn`]); these cores have no compressed instructions
//! [isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md].
//!
//! Not here: operand values (see the `riscv` crate) and text ([`crate::disasm`]).

/// Operand layout, for disassembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// No operands.
    None,
    /// rd, upper immediate.
    U,
    /// rd, target.
    Jal,
    /// rd, offset(rs1).
    Jalr,
    /// rs1, rs2, target.
    Branch,
    /// rd, offset(rs1).
    Load,
    /// rs2, offset(rs1).
    Store,
    /// rd, rs1, immediate.
    Imm,
    /// rd, rs1, shift amount.
    Shamt,
    /// rd, rs1, rs2.
    R,
    /// rd, rs1.
    Unary,
    /// predecessor, successor.
    Fence,
    /// rd, csr, rs1.
    Csr,
    /// rd, csr, 5-bit immediate.
    Csri,
    /// rd, rs2, (rs1), with aq and rl bits.
    Amo,
    /// frd, offset(rs1).
    Fload,
    /// frs2, offset(rs1).
    Fstore,
    /// frd, frs1, frs2.
    Fr,
    /// frd, frs1, frs2, rounding mode.
    FrRm,
    /// frd, frs1, frs2, frs3, rounding mode.
    Fr4,
    /// rd, frs1, frs2.
    Fcmp,
    /// rd, frs1.
    FToX,
    /// rd, frs1, rounding mode.
    FToXRm,
    /// frd, rs1.
    XToF,
    /// frd, rs1, rounding mode.
    XToFRm,
    /// frd, frs1, rounding mode.
    FToFRm,
}

/// How well it is known that the cores have an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// The ISA pages name it.
    Documented,
    /// The reference simulator has it; the pages name only the extension.
    Reference,
    /// The pages say that part of the extension exists and give no list.
    Unknown,
    /// Accepted without effect.
    Nop,
}

/// One instruction.
#[derive(Debug)]
pub struct Row {
    /// The instruction.
    pub instr: Instr,
    /// Mnemonic.
    pub name: &'static str,
    /// Bits that identify it.
    pub mask: u32,
    /// Their values.
    pub value: u32,
    /// Operand layout.
    pub format: Format,
    /// Extension it belongs to.
    pub extension: &'static str,
    /// How well it is known.
    pub status: Status,
    /// Source keys.
    pub sources: &'static [&'static str],
    /// Where sources disagree.
    pub note: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/rv32.rs"));

impl Instr {
    /// The row of this instruction.
    #[inline]
    #[must_use]
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Mnemonic.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }
}

/// The Tensix word of a `.ttinsn` code word, or `None` for a RISC-V word.
///
/// The code word is the Tensix word rotated left by two
/// [isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md].
#[inline]
#[must_use]
pub const fn ttinsn(code: u32) -> Option<u32> {
    if code & 3 == 3 { None } else { Some(code.rotate_right(2)) }
}

/// The code word that pushes a Tensix word, or `None` when its top two bits are both set.
#[inline]
#[must_use]
pub const fn ttinsn_code(word: u32) -> Option<u32> {
    let code = word.rotate_left(2);
    if code & 3 == 3 { None } else { Some(code) }
}
