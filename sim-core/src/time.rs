//! Simulated time.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in simulated time: AI-clock cycles since the tile was powered on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cycle(pub u64);

impl Cycle {
    /// The first cycle.
    pub const ZERO: Self = Self(0);
    /// Later than anything that will be simulated.
    pub const NEVER: Self = Self(u64::MAX);
}

impl Add<u64> for Cycle {
    type Output = Self;
    fn add(self, cycles: u64) -> Self {
        Self(self.0.saturating_add(cycles))
    }
}

impl AddAssign<u64> for Cycle {
    fn add_assign(&mut self, cycles: u64) {
        *self = *self + cycles;
    }
}

impl Sub for Cycle {
    type Output = u64;
    fn sub(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Cycles per epoch, 1 to 64. One is exact lock-step.
///
/// The default, 8, is the latency of an L1 load that misses the L0 data cache: no core can learn
/// of another's L1 store sooner `[isa-bh: TensixTile/BabyRISCV/README.md]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EpochLength(u32);

impl EpochLength {
    /// Longest epoch that keeps its meaning.
    pub const MAX: u32 = 64;

    /// An epoch of that many cycles; `None` unless it is within `1..=MAX`.
    #[must_use]
    pub const fn new(cycles: u32) -> Option<Self> {
        if cycles >= 1 && cycles <= Self::MAX { Some(Self(cycles)) } else { None }
    }

    /// Cycles per epoch.
    #[must_use]
    pub const fn cycles(self) -> u64 {
        self.0 as u64
    }

    /// The first epoch boundary later than `cycle`.
    #[must_use]
    pub const fn end_of_epoch(self, cycle: Cycle) -> Cycle {
        let length = self.0 as u64;
        Cycle((cycle.0 / length + 1).saturating_mul(length))
    }

    /// The last epoch boundary not later than `cycle`.
    #[must_use]
    pub const fn round_down(self, cycle: Cycle) -> Cycle {
        let length = self.0 as u64;
        Cycle(cycle.0 / length * length)
    }

    /// The first epoch boundary not earlier than `cycle`.
    #[must_use]
    pub const fn round_up(self, cycle: Cycle) -> Cycle {
        let length = self.0 as u64;
        Cycle(cycle.0.div_ceil(length).saturating_mul(length))
    }
}

impl Default for EpochLength {
    fn default() -> Self {
        Self(8)
    }
}
