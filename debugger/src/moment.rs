//! Where one can stand in a session.
//!
//! A machine that advances in epochs has a state of its own only between epochs. But a run phase may
//! be cut anywhere without a trace, so all cores can be put in one line: what core *k* begins in cycle
//! *c* comes behind everything begun in an earlier cycle, and in the same cycle behind the cores
//! before it in [`CoreId::ALL`]. That is the order in which the commit phase applies what they do.
//! Record: `docs/decisions/0012-time-travel.md`.

use std::fmt;

use sim_core::{CoreId, Cycle};

/// A point in the line of all instructions of all cores: just before `core` does what it does in
/// `cycle`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Moment {
    /// Cycle since power-on.
    pub cycle: Cycle,
    /// The core whose turn it is.
    pub core: CoreId,
}

impl Moment {
    /// The first of a cycle.
    #[must_use]
    pub const fn at(cycle: Cycle) -> Self {
        Self { cycle, core: CoreId::ALL[0] }
    }

    /// Just behind what its core does.
    #[must_use]
    pub fn next(self) -> Self {
        match CoreId::from_index(self.core.index() + 1) {
            Some(core) => Self { core, ..self },
            None => Self::at(self.cycle + 1),
        }
    }

    /// The first cycle that a core has not begun yet.
    #[must_use]
    pub fn limit_of(self, core: CoreId) -> Cycle {
        self.cycle + u64::from(core < self.core)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {}, {}", self.cycle, self.core)
    }
}
