//! Running ahead: many cycles at a stretch, on trial.
//!
//! Cores of a tile see each other's stores at the end of an epoch of a few cycles, and tiles of a
//! chip each other's messages some cycles after they were sent, so neither may be simulated far
//! beyond the others. Nearly always nothing comes of it: for thousands of cycles nobody loads what
//! another has just stored, and nobody sends anything. So a core may go ahead as if it were alone,
//! with stores straight to L1, as long as it only computes, loads and stores (`crate::fast`).
//! Everything it overwrites is kept, and the words it loaded and stored are noted, so that whoever
//! sent it can find out whether the others were in its way and, if so, have all of it taken back.

use sim_core::{Cycle, L1, Shared};

use crate::core::Core;
use crate::fast;

/// A set of L1 words, kept as two summaries: by the words' numbers and by their blocks of 1 KiB.
#[derive(Clone, Copy, Default, Debug)]
pub struct Footprint {
    words: u64,
    blocks: u64,
}

impl Footprint {
    /// Adds the word that holds `addr`.
    #[inline]
    pub(crate) fn add(&mut self, addr: u32) {
        self.words |= Shared::watch_bit(addr);
        self.blocks |= block_bit(addr);
    }

    /// Whether the word that holds `addr` may be one of them.
    fn may_hold(self, addr: u32) -> bool {
        self.words & Shared::watch_bit(addr) != 0 && self.blocks & block_bit(addr) != 0
    }

    /// Whether there may be a word in both.
    fn may_meet(self, other: Self) -> bool {
        self.words & other.words != 0 && self.blocks & other.blocks != 0
    }
}

/// One of 64 bits for the block of 1 KiB that holds `addr`, by Fibonacci hashing: buffers at
/// equal offsets in regions of a power of two should not meet.
#[inline]
pub(crate) const fn block_bit(addr: u32) -> u64 {
    1 << ((addr >> 10).wrapping_mul(0x9E37_79B1) >> 26)
}

/// How to take back what a core did on trial.
#[derive(Default, Debug)]
pub(crate) struct Undo {
    x: [u32; 32],
    pc: u32,
    cycle: u64,
    instructions: u64,
    /// Words of L1 that were overwritten, by address, and what they held; the oldest first.
    pub(crate) l1: Vec<(u32, u32)>,
    /// The same for local RAM, by the words' numbers.
    pub(crate) local: Vec<(u32, u32)>,
    pub(crate) loaded: Footprint,
    pub(crate) stored: Footprint,
}

/// Of a core between two epochs nothing is taken back: a copy has nothing to take back.
impl Clone for Undo {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Core {
    /// The cycle to which the core may go ahead from `now`, as far as it knows; `now` if it must not
    /// at all.
    #[must_use]
    pub fn free_until(&self, now: Cycle) -> Cycle {
        let is_free = self.is_running()
            && self.cycle == now.0
            && !self.always_careful
            && self.batch.stores.is_empty();
        if is_free { Cycle(self.prober.gate()).max(now) } else { now }
    }

    /// Begins a trial. [`Core::free_until`] must allow it; what an earlier trial kept is forgotten.
    pub fn begin_trial(&mut self) {
        let undo = &mut *self.undo;
        undo.x.copy_from_slice(&self.x[..32]);
        (undo.pc, undo.cycle, undo.instructions) = (self.pc, self.cycle, self.instructions);
        undo.l1.clear();
        undo.local.clear();
        (undo.loaded, undo.stored) = (Footprint::default(), Footprint::default());
    }

    /// Goes ahead to `until` as if alone, or to the first instruction that does more than compute,
    /// load and store. Gives how far it came.
    pub fn run_ahead(&mut self, shared: &Shared, until: Cycle) -> Cycle {
        // Why it returned does not matter: whatever it was, it is not for a trial. Nor is code that was
        // not decoded: that could not be taken back.
        self.fast::<fast::Ahead>(shared, until.0);
        Cycle(self.cycle)
    }

    /// Goes ahead to `until`, the end of an epoch, with stores posted as ever. `false`: there is an
    /// instruction that does more than compute, load and store.
    #[must_use]
    pub fn run_epoch_ahead(&mut self, shared: &Shared, until: Cycle) -> bool {
        self.fast::<fast::PostedAhead>(shared, until.0) == fast::Exit::Done
    }

    /// Takes the last trial back. Those of other cores since then must have been taken back before.
    pub fn rewind(&mut self, l1: &L1) {
        let undo = &mut *self.undo;
        for (addr, old) in undo.l1.drain(..).rev() {
            l1.set_word(addr, old);
        }
        for (index, old) in undo.local.drain(..).rev() {
            self.local[index as usize] = old;
        }
        self.clear_posted();
        let undo = &*self.undo;
        self.x[..32].copy_from_slice(&undo.x);
        (self.pc, self.cycle, self.instructions) = (undo.pc, undo.cycle, undo.instructions);
    }

    /// Whether this core may have loaded or stored, in its last trial, a word that `other` stored in
    /// its own.
    #[must_use]
    pub fn was_disturbed_by(&self, other: &Self) -> bool {
        let (mine, theirs) = (&self.undo, &other.undo);
        let may_meet = |own: Footprint| {
            own.may_meet(theirs.stored) && theirs.l1.iter().any(|&(addr, _)| own.may_hold(addr))
        };
        may_meet(mine.loaded) || may_meet(mine.stored)
    }
}
