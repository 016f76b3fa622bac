//! What a core hands over at the end of its run phase.

use crate::time::Cycle;

/// Bytes moved by an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Width {
    /// One byte.
    Byte = 1,
    /// Two bytes, two-byte aligned.
    Half = 2,
    /// Four bytes, four-byte aligned.
    Word = 4,
}

impl Width {
    /// Number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self as u32
    }

    /// A mask of the value bits, right-aligned.
    #[must_use]
    pub const fn mask(self) -> u32 {
        match self {
            Self::Byte => 0xFF,
            Self::Half => 0xFFFF,
            Self::Word => 0xFFFF_FFFF,
        }
    }

    /// The word that holds `addr` with so many bytes of it from there on replaced, which are the low ones of `value`.
    /// Addresses are aligned down.
    #[inline]
    #[must_use]
    pub const fn put(self, word: u32, addr: u32, value: u32) -> u32 {
        let shift = (addr & 3 & !(self.bytes() - 1)) * 8;
        let mask = self.mask() << shift;
        word & !mask | value << shift & mask
    }
}

/// A posted store, to L1 or to a device. The core does not wait for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Store {
    /// When it was executed.
    pub cycle: Cycle,
    /// Byte address as the core sees it.
    pub addr: u32,
    /// Value in the low bits, the rest zero.
    pub value: u32,
    /// The instruction.
    pub pc: u32,
    /// How many bytes.
    pub width: Width,
}

/// Read-modify-write operations of the Zaamo extension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the extension's own")]
pub enum AmoOp {
    Swap,
    Add,
    Xor,
    And,
    Or,
    Min,
    Max,
    Minu,
    Maxu,
}

impl AmoOp {
    /// The value written back for the old value `old` and the register operand `operand`.
    #[must_use]
    pub fn apply(self, old: u32, operand: u32) -> u32 {
        match self {
            Self::Swap => operand,
            Self::Add => old.wrapping_add(operand),
            Self::Xor => old ^ operand,
            Self::And => old & operand,
            Self::Or => old | operand,
            Self::Min => (old.cast_signed()).min(operand.cast_signed()).cast_unsigned(),
            Self::Max => (old.cast_signed()).max(operand.cast_signed()).cast_unsigned(),
            Self::Minu => old.min(operand),
            Self::Maxu => old.max(operand),
        }
    }
}

/// What a core asks for when only the commit phase can answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestKind {
    /// Load from a device.
    Load,
    /// Store that may have to wait: a flow-controlled FIFO.
    Store {
        /// Value in the low bits.
        value: u32,
    },
    /// Atomic on L1.
    Amo {
        /// The operation.
        op: AmoOp,
        /// The register operand.
        operand: u32,
    },
    /// Read of a CSR that shows the coprocessor's state; the CSR number is in `addr`.
    StatusCsr,
}

/// An access that ended a core's epoch early. At most one per core is outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// When it was executed.
    pub cycle: Cycle,
    /// Byte address as the core sees it.
    pub addr: u32,
    /// The instruction.
    pub pc: u32,
    /// How many bytes.
    pub width: Width,
    /// What is asked.
    pub kind: RequestKind,
}

/// One executed instruction, recorded only while instructions are observed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retire {
    /// When.
    pub cycle: Cycle,
    /// Where.
    pub pc: u32,
    /// The instruction word.
    pub word: u32,
    /// Destination register number, 0 for none.
    pub rd: u8,
    /// Value of the destination register afterwards.
    pub value: u32,
}

/// What a jump is for, by the registers that the calling convention has for return addresses
/// (`ra`, `t0`) `[riscv: RV32I, return-address stack hints]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JumpKind {
    /// It links.
    Call,
    /// It goes where a link leads to.
    Return,
    /// Anything else.
    Plain,
}

impl JumpKind {
    /// The kind of a `jal` or `jalr` that links in `rd` and, if it is the latter, goes to `rs1`.
    #[must_use]
    pub const fn of(rd: u8, rs1: Option<u8>) -> Self {
        match (rd, rs1) {
            (1 | 5, _) => Self::Call,
            (_, Some(1 | 5)) => Self::Return,
            _ => Self::Plain,
        }
    }
}

/// An executed `jal` or `jalr`, recorded only while jumps are observed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Jump {
    /// When.
    pub cycle: Cycle,
    /// Where.
    pub pc: u32,
    /// Where it leads.
    pub to: u32,
    /// What for.
    pub kind: JumpKind,
}

/// Everything one core did to the outside in one run phase, in program order.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Posted stores in program order.
    pub stores: Vec<Store>,
    /// How many of `stores` are not to L1.
    pub device_stores: u32,
    /// The access the core now waits for. Stays until it is answered.
    pub request: Option<Request>,
    /// Instruction log, if it is switched on.
    pub retired: Vec<Retire>,
    /// Jumps, if they are asked for.
    pub jumps: Vec<Jump>,
    /// A mistake that ended the run phase.
    pub fault: Option<Box<crate::error::GuestError>>,
}

impl Batch {
    /// Whether a commit has to look at anything but plain L1 stores.
    #[must_use]
    pub fn touches_devices(&self) -> bool {
        self.device_stores != 0 || self.request.is_some() || self.fault.is_some()
    }

    /// Forgets the posted effects after they were applied; keeps the capacity and the request.
    pub fn clear_posted(&mut self) {
        self.stores.clear();
        self.device_stores = 0;
        self.retired.clear();
        self.jumps.clear();
    }
}
