//! Who there is in a tile. Order matters: effects of one cycle are applied in this order.

use std::fmt;

/// One of the five baby RISC-V cores, in the order in which effects of one cycle are applied.
///
/// The first four indices are also the mailbox numbers
/// `[isa-wh: TensixTile/BabyRISCV/Mailboxes.md]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum CoreId {
    /// RISCV B, data movement 0, the core that starts the others.
    Brisc = 0,
    /// RISCV T0, feeds Tensix thread 0 (unpack).
    Trisc0 = 1,
    /// RISCV T1, feeds Tensix thread 1 (math).
    Trisc1 = 2,
    /// RISCV T2, feeds Tensix thread 2 (pack).
    Trisc2 = 3,
    /// RISCV NC, data movement 1.
    Ncrisc = 4,
}

impl CoreId {
    /// How many cores a tile has.
    pub const COUNT: usize = 5;
    /// All cores in effect order.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Brisc, Self::Trisc0, Self::Trisc1, Self::Trisc2, Self::Ncrisc];

    /// Position in [`CoreId::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The core with that position in [`CoreId::ALL`], if there is one.
    #[must_use]
    pub const fn from_index(index: usize) -> Option<Self> {
        match index {
            0 => Some(Self::Brisc),
            1 => Some(Self::Trisc0),
            2 => Some(Self::Trisc1),
            3 => Some(Self::Trisc2),
            4 => Some(Self::Ncrisc),
            _ => None,
        }
    }

    /// The name firmware writers use: `BRISC`, `NCRISC`, `TRISC0`...
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Brisc => "BRISC",
            Self::Trisc0 => "TRISC0",
            Self::Trisc1 => "TRISC1",
            Self::Trisc2 => "TRISC2",
            Self::Ncrisc => "NCRISC",
        }
    }

    /// The core with that name, in any case; `b`, `t0`..`t2`, `nc` are accepted too.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "brisc" | "b" | "br" => Some(Self::Brisc),
            "ncrisc" | "nc" => Some(Self::Ncrisc),
            "trisc0" | "t0" | "tr0" => Some(Self::Trisc0),
            "trisc1" | "t1" | "tr1" => Some(Self::Trisc1),
            "trisc2" | "t2" | "tr2" => Some(Self::Trisc2),
            _ => None,
        }
    }

    /// The Tensix thread this core feeds, for the three TRISCs.
    #[must_use]
    pub const fn thread(self) -> Option<ThreadId> {
        match self {
            Self::Trisc0 => Some(ThreadId::T0),
            Self::Trisc1 => Some(ThreadId::T1),
            Self::Trisc2 => Some(ThreadId::T2),
            Self::Brisc | Self::Ncrisc => None,
        }
    }

    /// Bytes of local data RAM: 8 KiB for BRISC and NCRISC, 4 KiB for the TRISCs
    /// `[isa-bh: TensixTile/BabyRISCV/README.md]`.
    #[must_use]
    pub const fn local_ram_bytes(self) -> u32 {
        match self {
            Self::Brisc | Self::Ncrisc => 8 * 1024,
            Self::Trisc0 | Self::Trisc1 | Self::Trisc2 => 4 * 1024,
        }
    }
}

impl fmt::Display for CoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One of the three Tensix threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum ThreadId {
    /// Thread of TRISC0.
    T0 = 0,
    /// Thread of TRISC1.
    T1 = 1,
    /// Thread of TRISC2.
    T2 = 2,
}

impl ThreadId {
    /// How many threads the coprocessor has.
    pub const COUNT: usize = 3;
    /// All threads in order.
    pub const ALL: [Self; Self::COUNT] = [Self::T0, Self::T1, Self::T2];

    /// Position in [`ThreadId::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The thread with that number, if there is one.
    #[must_use]
    pub const fn from_index(index: usize) -> Option<Self> {
        match index {
            0 => Some(Self::T0),
            1 => Some(Self::T1),
            2 => Some(Self::T2),
            _ => None,
        }
    }

    /// The TRISC that feeds this thread.
    #[must_use]
    pub const fn core(self) -> CoreId {
        match self {
            Self::T0 => CoreId::Trisc0,
            Self::T1 => CoreId::Trisc1,
            Self::T2 => CoreId::Trisc2,
        }
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::T0 => "T0",
            Self::T1 => "T1",
            Self::T2 => "T2",
        })
    }
}

/// One of the nine backend units of the coprocessor
/// `[isa-wh: TensixTile/TensixCoprocessor/README.md]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the documentation's own")]
pub enum UnitId {
    Sync,
    Unpacker,
    Matrix,
    Packer,
    Vector,
    Scalar,
    Config,
    Mover,
    Misc,
}

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sync => "Sync",
            Self::Unpacker => "Unpacker",
            Self::Matrix => "Matrix (FPU)",
            Self::Packer => "Packer",
            Self::Vector => "Vector (SFPU)",
            Self::Scalar => "Scalar (ThCon)",
            Self::Config => "Config",
            Self::Mover => "Mover",
            Self::Misc => "Misc",
        })
    }
}

/// Anything that can act, wait, or be blamed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AgentId {
    /// A baby RISC-V core.
    Core(CoreId),
    /// A Tensix thread's frontend (FIFOs, expanders, wait gate).
    Thread(ThreadId),
    /// A backend unit.
    Unit(UnitId),
    /// The tile's interface to NoC 0 or 1.
    Noc(u8),
    /// What drives the simulation from outside.
    Host,
}

impl AgentId {
    /// A small number, unique per agent, stable across releases; used in hashes and traces.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Core(core) => core as u8,
            Self::Thread(thread) => 8 + thread as u8,
            Self::Unit(unit) => 16 + unit as u8,
            Self::Noc(noc) => 32 + noc,
            Self::Host => 40,
        }
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(core) => core.fmt(f),
            Self::Thread(thread) => f.pad(match thread {
                ThreadId::T0 => "Tensix T0",
                ThreadId::T1 => "Tensix T1",
                ThreadId::T2 => "Tensix T2",
            }),
            Self::Unit(unit) => unit.fmt(f),
            Self::Noc(0) => f.pad("NoC 0"),
            Self::Noc(_) => f.pad("NoC 1"),
            Self::Host => f.pad("host"),
        }
    }
}

/// A set of cores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct CoreSet(pub u8);

impl CoreSet {
    /// No core.
    pub const EMPTY: Self = Self(0);
    /// All five cores.
    pub const ALL: Self = Self(0x1F);

    /// The set with one member.
    #[must_use]
    pub const fn only(core: CoreId) -> Self {
        Self(1 << core as u8)
    }

    /// Adds a core.
    pub const fn insert(&mut self, core: CoreId) {
        self.0 |= 1 << core as u8;
    }

    /// The members of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Removes a core.
    pub const fn remove(&mut self, core: CoreId) {
        self.0 &= !(1 << core as u8);
    }

    /// Whether the core is a member.
    #[must_use]
    pub const fn contains(self, core: CoreId) -> bool {
        self.0 >> core as u8 & 1 == 1
    }

    /// How many members there are.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether there is no member.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The member, if there is exactly one.
    #[must_use]
    pub const fn single(self) -> Option<CoreId> {
        if self.len() == 1 { CoreId::from_index(self.0.trailing_zeros() as usize) } else { None }
    }

    /// Members in effect order.
    pub fn iter(self) -> impl Iterator<Item = CoreId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            // Beyond the last core if there are none left.
            let next = CoreId::ALL.get(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(*next)
        })
    }
}
