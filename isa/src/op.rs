//! Tensix opcodes: the enum, the rows, and O(1) lookup by opcode byte.
//!
//! Not here: readers and encoders of fields ([`crate::fields`], [`crate::encode`]) and text
//! ([`crate::disasm`]). Table: `tables/tensix_ops.toml`.

use std::fmt;

/// The unit that executes an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Sync unit.
    Sync,
    /// Unpackers.
    Unpacker,
    /// Matrix unit (FPU).
    Matrix,
    /// Packer.
    Packer,
    /// Vector unit (SFPU).
    Vector,
    /// Scalar unit (ThCon).
    Scalar,
    /// Configuration unit.
    Config,
    /// Mover.
    Mover,
    /// Miscellaneous unit.
    Misc,
    /// Not a backend unit: consumed before the wait gate (MOP expander, Replay expander, Auto TTSync).
    Frontend,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 10] = [
        Self::Sync,
        Self::Unpacker,
        Self::Matrix,
        Self::Packer,
        Self::Vector,
        Self::Scalar,
        Self::Config,
        Self::Mover,
        Self::Misc,
        Self::Frontend,
    ];

    /// Name as in the tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Unpacker => "unpacker",
            Self::Matrix => "matrix",
            Self::Packer => "packer",
            Self::Vector => "vector",
            Self::Scalar => "scalar",
            Self::Config => "config",
            Self::Mover => "mover",
            Self::Misc => "misc",
            Self::Frontend => "frontend",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
    /// Operand fields, lowest first.
    pub args: &'static [Arg],
    /// Wait-gate block bits that hold it back, bit 0 for B0. See [`OpRow::is_blocked`].
    pub blocked_by: u16,
    /// Source keys.
    pub sources: &'static [&'static str],
    /// Where sources disagree, and which is followed.
    pub note: &'static str,
}

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
