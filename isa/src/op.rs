//! Tensix opcodes: the enum, the rows, and O(1) lookup by opcode byte.
//!
//! Not here: the types of the columns ([`crate::columns`]), readers and encoders of fields
//! ([`crate::operands`], [`crate::encode`]) and text ([`crate::disasm`]). Table:
//! `tables/tensix_ops.toml`.

use std::fmt;

pub use crate::columns::{Bits, Cost, DstUse, GateRule, Lregs, Resource, SubUnit, Unit};

/// One operand field of an instruction.
#[derive(Debug)]
pub struct Arg {
    /// Name.
    pub name: &'static str,
    /// Lowest bit.
    pub lo: u8,
    /// Bits the hardware is documented to use.
    pub width: u8,
    /// Bits the vendor's macro lets through; at least `width`.
    pub macro_width: u8,
    /// What it means; may be empty.
    pub doc: &'static str,
}

impl Arg {
    /// The field's value in `word`.
    #[inline]
    #[must_use]
    pub const fn get(&self, word: u32) -> u32 {
        (word >> self.lo) & ((1 << self.width) - 1)
    }
}

/// One instruction.
#[derive(Debug)]
pub struct OpRow {
    /// Mnemonic, upper case.
    pub name: &'static str,
    /// Opcode.
    pub opcode: Opcode,
    /// Executing unit.
    pub unit: Unit,
    /// What it competes for at the wait gate.
    pub resource: Resource,
    /// Its own rule at the wait gate.
    pub gate: GateRule,
    /// Source operands that must belong to the matrix unit: bit 0 SrcA, bit 1 SrcB.
    pub needs: u8,
    /// What it costs by the documents, apart from what depends on the amount of data.
    pub cost: &'static Cost,
    /// Class under which RESOURCEDECL declares it, 0 to 15; `None` if it uses nothing.
    pub sync_class: Option<u8>,
    /// Whether it may leave something behind that acts in later cycles or outside the coprocessor:
    /// a latched wait, something scheduled or in progress, an access to L1 or a register.
    pub stirs: bool,
    /// Whether several that follow each other may execute in one go.
    pub in_stretches: bool,
    /// What a matrix instruction does with the rows of Dst that it names.
    pub dst: DstUse,
    /// The part of the vector unit that executes it.
    pub sub_unit: SubUnit,
    /// Fields that name vector registers.
    pub lregs: Lregs,
    /// Operand fields, lowest first.
    pub args: &'static [Arg],
    /// Further readings of the same bits: one bit of a field, or the fields of a second form.
    pub parts: &'static [Arg],
    /// Wait-gate block bits that hold it back, bit 0 for B0. See [`OpRow::is_blocked`].
    pub blocked_by: u16,
    /// Source keys.
    pub sources: &'static [&'static str],
    /// Where sources disagree, and which is followed.
    pub note: &'static str,
}

/// Where the opcode lies in a word.
pub const OPCODE: Bits = Bits::new(24, 8);

/// All nine block bits of a wait instruction.
pub const ALL_BLOCK_BITS: u16 = 0x1FF;

impl OpRow {
    /// True when a latched block mask holds this instruction at the wait gate.
    ///
    /// Any selected bit of `blocked_by` suffices, except for NOP, which is held only when all nine
    /// bits are set [isa-bh: TensixCoprocessor/STALLWAIT.md].
    #[inline]
    #[must_use]
    pub fn is_blocked(&self, block_mask: u16) -> bool {
        if self.opcode == Opcode::Nop {
            block_mask & ALL_BLOCK_BITS == ALL_BLOCK_BITS
        } else {
            self.blocked_by & block_mask != 0
        }
    }

    /// The operand field of that name.
    #[must_use]
    pub fn arg(&self, name: &str) -> Option<&'static Arg> {
        self.args.iter().find(|arg| arg.name == name)
    }

    /// Bits of the word that no field uses (the opcode byte counts as used).
    #[must_use]
    pub fn unused_bits(&self) -> u32 {
        !self.args.iter().fold(0xFF00_0000, |used, a| used | ((1 << a.width) - 1) << a.lo)
    }
}

include!(concat!(env!("OUT_DIR"), "/ops.rs"));

impl Opcode {
    /// The instruction with this opcode byte.
    #[inline]
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        ROWS.get(usize::from(INDEX[usize::from(byte)])).map(|row| row.opcode)
    }

    /// The instruction of a Tensix word: its top byte.
    #[inline]
    #[must_use]
    pub fn from_word(word: u32) -> Option<Self> {
        Self::from_byte((word >> 24) as u8)
    }

    /// The row of this instruction.
    #[inline]
    #[must_use]
    pub fn row(self) -> &'static OpRow {
        &ROWS[usize::from(INDEX[self as usize])]
    }

    /// Executing unit.
    #[inline]
    #[must_use]
    pub fn unit(self) -> Unit {
        self.row().unit
    }

    /// Mnemonic, upper case.
    #[must_use]
    pub fn mnemonic(self) -> &'static str {
        self.row().name
    }

    /// The instruction with this mnemonic, in any case.
    #[must_use]
    pub fn from_mnemonic(name: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.name.eq_ignore_ascii_case(name)).map(|row| row.opcode)
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mnemonic())
    }
}
