//! Where one can stand in a session.
//!
//! A machine that advances in epochs has a state of its own only between epochs. But a run phase may
//! be cut anywhere without a trace, so all cores can be put in one line: what core *k* begins in cycle
//! *c* comes behind everything begun in an earlier cycle, and in the same cycle behind the cores
//! before it in [`CoreId::ALL`]. That is the order in which the commit phase applies what they do.
//! Behind the cores of a cycle come the wait gates of the Tensix threads, T0 to T2.
//! Record: `docs/decisions/0012-time-travel.md`.

use std::fmt;

use sim_core::{CoreId, Cycle, ThreadId};

/// Whose turn it is in a cycle, in the order in which it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Turn {
    /// A core begins an instruction.
    Core(CoreId),
    /// The wait gate of a Tensix thread lets an instruction through.
    Gate(ThreadId),
}

impl Turn {
    /// How many there are in a cycle.
    pub const COUNT: usize = CoreId::COUNT + ThreadId::COUNT;
    /// The first of a cycle.
    pub const FIRST: Self = Self::Core(CoreId::ALL[0]);

    /// All of a cycle, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        let cores = CoreId::ALL.into_iter().map(Self::Core);
        cores.chain(ThreadId::ALL.into_iter().map(Self::Gate))
    }

    /// Its place in a cycle, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Core(core) => core.index(),
            Self::Gate(thread) => CoreId::COUNT + thread.index(),
        }
    }

    /// That with a place in a cycle, if there is one.
    #[must_use]
    pub fn from_index(index: usize) -> Option<Self> {
        match CoreId::from_index(index) {
            Some(core) => Some(Self::Core(core)),
            None => ThreadId::from_index(index.checked_sub(CoreId::COUNT)?).map(Self::Gate),
        }
    }

    /// The core, or the TRISC that feeds the thread.
    #[must_use]
    pub const fn core(self) -> CoreId {
        match self {
            Self::Core(core) => core,
            Self::Gate(thread) => thread.core(),
        }
    }

    /// Whether it is a wait gate's.
    #[must_use]
    pub const fn is_gate(self) -> bool {
        matches!(self, Self::Gate(_))
    }
}

impl From<CoreId> for Turn {
    fn from(core: CoreId) -> Self {
        Self::Core(core)
    }
}

impl From<ThreadId> for Turn {
    fn from(thread: ThreadId) -> Self {
        Self::Gate(thread)
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(core) => core.fmt(f),
            Self::Gate(thread) => thread.fmt(f),
        }
    }
}

/// A point in the line of all instructions of all cores and Tensix threads: just before somebody does what
/// it does in `cycle`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Moment {
    /// Cycle since power-on.
    pub cycle: Cycle,
    /// Whose turn it is.
    pub turn: Turn,
}

impl Moment {
    /// The first of a cycle.
    #[must_use]
    pub const fn at(cycle: Cycle) -> Self {
        Self { cycle, turn: Turn::FIRST }
    }

    /// Just behind what is done then.
    #[must_use]
    pub fn next(self) -> Self {
        match Turn::from_index(self.turn.index() + 1) {
            Some(turn) => Self { turn, ..self },
            None => Self::at(self.cycle + 1),
        }
    }

    /// The next at which it is a core's turn.
    #[must_use]
    pub fn next_core(self) -> Self {
        match CoreId::from_index(self.turn.index() + 1) {
            Some(core) => Self { turn: Turn::Core(core), ..self },
            None => Self::at(self.cycle + 1),
        }
    }

    /// The first cycle that a core has not begun yet.
    #[must_use]
    pub fn limit_of(self, core: CoreId) -> Cycle {
        self.cycle + u64::from(Turn::Core(core) < self.turn)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {}, {}", self.cycle, self.turn)
    }
}
