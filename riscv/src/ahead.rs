//! Running ahead: many cycles at a stretch, on trial.
//!
//! Cores of a tile see each other's stores at the end of an epoch of a few cycles, and tiles of a
//! chip each other's messages some cycles after they were sent, so neither may be simulated far
//! beyond the others. Nearly always nothing comes of it: for thousands of cycles no core loads what
//! another has just stored, and no tile sends anything. So a core may go ahead as if it were alone,
//! with stores straight to L1, as long as it only computes, loads and stores (`crate::fast`).
//! Everything it overwrites is kept, and the words it loaded and stored are noted, so that what
//! sent it can find out whether the others were in its way and, if so, have all of it taken back.

use sim_core::{L1, Shared, Width};

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

/// Most cycles of an epoch that can be gone on trial.
pub const TRIAL_CYCLES: usize = 8;

/// A store to L1 on trial.
#[derive(Clone, Copy, Debug)]
pub struct TrialStore {
    /// Address, aligned to the width.
    pub addr: u32,
    /// What is stored, in the low bits.
    pub value: u32,
    /// Bytes stored.
    pub width: Width,
}

/// What a core stores in an epoch on trial, by cycles, of which each has at most one store. So those of several cores
/// are put in order by their bits alone.
#[derive(Debug)]
pub struct TrialStores {
    bits: u64,
    stores: [TrialStore; TRIAL_CYCLES],
}

impl Default for TrialStores {
    fn default() -> Self {
        Self::NONE
    }
}

impl TrialStores {
    /// No stores.
    pub const NONE: Self = {
        let nothing = TrialStore { addr: 0, value: 0, width: Width::Word };
        Self { bits: 0, stores: [nothing; TRIAL_CYCLES] }
    };

    /// Bit *8 c* says that there is a store in place *c*; the last cycle of the epoch has place 7.
    #[inline]
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// The store in a place whose bit is set.
    #[inline]
    #[must_use]
    pub fn at(&self, place: usize) -> &TrialStore {
        &self.stores[place % TRIAL_CYCLES]
    }

    /// Adds the store of the cycle with which that many are `left` of the epoch.
    #[inline]
    pub(crate) fn add(&mut self, left: usize, store: TrialStore) {
        let place = left.wrapping_neg() % TRIAL_CYCLES;
        self.stores[place] = store;
        self.bits |= 1 << (8 * place);
    }

    /// Forgets them.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.bits = 0;
    }

    /// What a word of L1 holds that held `word` before, for the core that stored.
    pub(crate) fn forward(&self, word_addr: u32, mut word: u32) -> u32 {
        let mut left = self.bits;
        while left != 0 {
            let TrialStore { addr, value, width } = *self.at(left.trailing_zeros() as usize / 8);
            left &= left - 1;
            if addr & !3 == word_addr {
                word = width.put(word, addr, value);
            }
        }
        word
    }
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
    /// Words of local RAM that were overwritten, by number, and what they held.
    pub(crate) local: Vec<(u32, u32)>,
    pub(crate) loaded: Footprint,
    pub(crate) stored: Footprint,
    /// What it has stored in this epoch, if it goes by epochs.
    pub(crate) posted: TrialStores,
}

/// Of a core between two epochs nothing is taken back: a copy has nothing to take back.
impl Clone for Undo {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Undo {
    /// Forgets what an earlier trial kept and keeps the registers.
    pub(crate) fn begin(&mut self, x: &[u32], pc: u32, cycle: u64, instructions: u64) {
        self.x.copy_from_slice(&x[..32]);
        (self.pc, self.cycle, self.instructions) = (pc, cycle, instructions);
        self.l1.clear();
        self.local.clear();
        (self.loaded, self.stored) = (Footprint::default(), Footprint::default());
    }

    /// Puts memory back. Gives pc, cycle and count of instructions, and fills in the registers.
    pub(crate) fn rewind(&mut self, l1: &L1, local: &mut [u32], x: &mut [u32]) -> (u32, u64, u64) {
        for (addr, old) in self.l1.drain(..).rev() {
            l1.set_word(addr, old);
        }
        for (index, old) in self.local.drain(..).rev() {
            local[index as usize] = old;
        }
        x[..32].copy_from_slice(&self.x);
        (self.pc, self.cycle, self.instructions)
    }

    /// Whether a word that was loaded or stored here may have been stored there.
    pub(crate) fn was_disturbed_by(&self, other: &Self) -> bool {
        let may_meet = |own: Footprint| {
            own.may_meet(other.stored) && other.l1.iter().any(|&(addr, _)| own.may_hold(addr))
        };
        may_meet(self.loaded) || may_meet(self.stored)
    }
}
