//! Types of the columns of the opcode table, and where a field lies in a word.
//!
//! What each column means is said at the head of `tables/tensix_ops.toml`.

use std::fmt;

/// Where a field lies in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    lo: u8,
    width: u8,
}

impl Bits {
    /// Field of `width` bits from bit `lo` on.
    pub(crate) const fn new(lo: u8, width: u8) -> Self {
        Self { lo, width }
    }

    /// The field's value in `word`.
    #[inline(always)]
    #[must_use]
    pub const fn get(self, word: u32) -> u32 {
        word >> self.lo & (u32::MAX >> (32 - self.width))
    }

    /// The bits of a word that the field covers.
    #[inline(always)]
    #[must_use]
    pub const fn mask(self) -> u32 {
        u32::MAX >> (32 - self.width) << self.lo
    }

    /// `word` with another value in the field, cut to its width.
    #[must_use]
    pub const fn set(self, word: u32, value: u32) -> u32 {
        word & !self.mask() | value << self.lo & self.mask()
    }
}

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

/// What an instruction competes for at the wait gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Resource {
    /// Nothing: any number per cycle.
    Free,
    /// A unit that takes one instruction per cycle over all threads.
    Unit,
    /// The mutex that the instruction names.
    Mutex,
}

/// A rule of the wait gate that only some instructions have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum GateRule {
    /// None.
    None,
    /// The mutex it names has to be free or its own.
    Mutex,
    /// The unpacker's bank has to belong to the unpacker.
    Unpacker,
    /// The mover has to be idle.
    Mover,
}

/// What a matrix instruction does with the rows of Dst that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum DstUse {
    /// Nothing, or not by naming rows.
    None,
    /// Reads them.
    Reads,
    /// Writes them.
    Writes,
    /// Reads and writes them.
    Accumulates,
    /// Writes them, and reads them if `dest_accum_en` is set.
    MayAccumulate,
}

/// Parts of the vector unit that can work at the same time; the first four in the order of the bytes
/// of a sequence of SFPLOADMACRO.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum SubUnit {
    /// Simple.
    Simple,
    /// Multiplication and addition.
    Mad,
    /// Rounding and shifts between lanes.
    Round,
    /// Stores to Dst.
    Store,
    /// Loads from Dst and immediates.
    Load,
    /// Not in the vector unit.
    None,
}

/// Fields that name vector registers, four bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lregs {
    /// Destination.
    pub vd: Option<Bits>,
    /// First source of a MAD instruction.
    pub va: Option<Bits>,
    /// Second source.
    pub vb: Option<Bits>,
    /// Third source, the only one of most instructions.
    pub vc: Option<Bits>,
}

/// What some instructions cost, in cycles, all at least 1.
#[derive(Debug)]
pub struct Cost {
    /// Name in the table.
    pub name: &'static str,
    /// Cycles until the unit can take its next instruction from any thread.
    pub unit: u16,
    /// Cycles until the issuing thread can issue its next instruction.
    pub thread: u16,
    /// Cycles until the instruction has left the unit's pipeline.
    pub latency: u32,
    /// What else there is to know; may be empty.
    pub note: &'static str,
    /// Source keys.
    pub sources: &'static [&'static str],
}
