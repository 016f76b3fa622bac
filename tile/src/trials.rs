//! When cores go ahead on trial, and what can still be taken back.

use sim_core::{CoreSet, Cycle};

/// Cycles of the first trial, and of one after a failure.
const FIRST: u64 = 64;
/// Most cycles of a trial.
const MOST: u64 = 4096;
/// Cycles without a trial after one that failed; doubled up to eight times.
const FIRST_REST: u64 = 64;

/// When to try, and what can still be taken back.
#[derive(Clone, Debug)]
pub(crate) struct Trials {
    /// Cycles of the next trial.
    pub(crate) length: u64,
    /// Trials that failed since one succeeded.
    pub(crate) failures: u32,
    /// None before this cycle.
    pub(crate) rest_until: Cycle,
    /// Where the last one began, and who took part.
    pub(crate) from: Cycle,
    pub(crate) cores: CoreSet,
    /// How often a message came in between.
    pub(crate) recalls: u64,
    /// Trials for which the cores are taken to be in each other's way.
    pub(crate) entangled: u32,
    /// What a trial by epochs overwrote in L1: words by address, and what they held.
    pub(crate) overwritten: Vec<(u32, u32)>,
}

impl Trials {
    pub(crate) fn new() -> Self {
        Self {
            length: FIRST,
            failures: 0,
            rest_until: Cycle::ZERO,
            from: Cycle::ZERO,
            cores: CoreSet::EMPTY,
            recalls: 0,
            entangled: 0,
            overwritten: Vec::new(),
        }
    }

    pub(crate) fn succeeded(&mut self) {
        self.length = (self.length * 2).min(MOST);
        self.failures = 0;
    }

    pub(crate) fn failed(&mut self, now: Cycle) {
        self.length = FIRST;
        self.rest_until = now + (FIRST_REST << self.failures.min(8));
        self.failures += 1;
    }
}
