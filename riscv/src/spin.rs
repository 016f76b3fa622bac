//! The loop that a core is parked in: how long a round takes, and what it loads.

use memory_map::{View, lookup};
use sim_core::observer::Look;
use sim_core::{Cycle, EpochLength, L1, Shared, Width};

/// Cycles from a core's waking to its next probe at first.
pub(crate) const FIRST_INTERVAL: u64 = 32;

/// One load of a parked loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WatchedLoad {
    /// Byte address as the core sees it.
    pub addr: u32,
    /// The value read, zero-extended.
    pub value: u32,
    /// How many bytes.
    pub width: Width,
    /// The instruction.
    pub pc: u32,
    /// Whether it went to a device (else to L1).
    pub device: bool,
}

/// A loop that a core is parked in.
#[derive(Clone, Debug, Default)]
pub struct Spin {
    /// Address of the first instruction of a round.
    pub head: u32,
    /// Cycle at which the core was last at `head`.
    pub(crate) parked_at: u64,
    /// When the first of the rounds began that are known to be the same.
    pub(crate) began: u64,
    /// No value in `loads` is older.
    pub(crate) seen: u64,
    /// Cycles per round.
    pub period_cycles: u64,
    /// Instructions per round.
    pub period_instructions: u64,
    /// Everything a round loads from L1 and devices but the wall clock, in program order.
    pub(crate) loads: Vec<WatchedLoad>,
    /// Of them the words of L1, as [`Shared::watch_bit`] has them.
    pub(crate) words: u64,
    /// Of them the targets that are devices, as [`memory_map::Target::bit`] has them.
    pub(crate) targets: u64,
    /// Of a loop that looks at the wall clock: where the first round begins that may not be like the
    /// others.
    pub(crate) leaves_at: Option<u64>,
    /// Its closing jump is marked, and it was parked when it took it.
    pub(crate) foreseen: bool,
    /// Since when it is left in its loop although the coprocessor works.
    pub(crate) dozes: Option<u64>,
    /// The wait by the wall clock that each round has within, if there is one.
    pub(crate) nest: Option<Nest>,
}

/// A wait by the wall clock within the rounds of a loop that a core is parked in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Nest {
    /// Cycles from the head of a round to the end of the first round of the wait.
    pub(crate) begins: u64,
    /// Cycles and instructions per round of the wait.
    pub(crate) period_cycles: u64,
    pub(crate) period_instructions: u64,
    /// Rounds from there on that need not be carried out: one that is follows.
    pub(crate) rounds: u64,
}

impl Nest {
    /// How many of the rounds are over within so many cycles, but for the last of them: registers are as they will be
    /// when another round has been carried out.
    pub(crate) fn rounds_within(&self, cycles: u64) -> u64 {
        self.rounds.min((cycles / self.period_cycles).saturating_sub(1))
    }
}

impl Spin {
    /// When the core was taken out of the schedule.
    #[must_use]
    pub fn parked_at(&self) -> Cycle {
        Cycle(self.parked_at)
    }

    /// When the first round began that is known to be like the others. It may have been polling for
    /// some rounds before, if the loop is not one that is recognised in its first round.
    #[must_use]
    pub fn began(&self) -> Cycle {
        Cycle(self.began)
    }

    /// Everything a round loads from L1 and devices but the wall clock, in program order.
    #[inline]
    #[must_use]
    pub fn loads(&self) -> &[WatchedLoad] {
        &self.loads
    }

    /// The words of L1 that a round loads from, as [`Shared::watch_bit`] has them.
    #[inline]
    #[must_use]
    pub fn words(&self) -> u64 {
        self.words
    }

    /// The devices that a round loads from, as [`memory_map::Target::bit`] has them, but for the wall clock.
    #[inline]
    #[must_use]
    pub fn targets(&self) -> u64 {
        self.targets
    }

    /// The cycle of the oldest of the values it is parked on.
    #[inline]
    #[must_use]
    pub fn seen(&self) -> Cycle {
        Cycle(self.seen)
    }

    /// Of a loop that waits by the wall clock: until when it certainly goes on as it does.
    #[inline]
    #[must_use]
    pub fn leaves_at(&self) -> Option<Cycle> {
        self.leaves_at.map(Cycle)
    }

    /// Of a loop with a wait by the wall clock in each of its rounds: whether it polls something besides.
    #[must_use]
    pub fn polls_by_clock(&self) -> bool {
        self.nest.is_some() && !self.loads.is_empty()
    }

    /// The first register or word of L1 that a round reads, if it reads any.
    #[must_use]
    pub fn first_read(&self) -> Option<u32> {
        let clock = self.leaves_at.map(|_| memory_map::reg::tile_control::WALL_CLOCK_L);
        self.loads.first().map(|load| load.addr).or(clock)
    }

    /// The first loads of a round.
    #[must_use]
    pub fn looks(&self) -> [Option<Look>; Look::KEPT] {
        std::array::from_fn(|at| {
            let WatchedLoad { addr, value, pc, .. } = *self.loads.get(at)?;
            Some(Look { pc, addr, value })
        })
    }

    /// Whether every L1 word that a round reads still has the value it had.
    pub(crate) fn holds(&self, l1: &L1) -> bool {
        let mut loads = self.loads.iter();
        self.words == 0
            || loads.all(|load| load.device || l1.read(load.addr, load.width) == load.value)
    }

    /// Whether it may be left in its loop while the coprocessor works: it reads nothing but devices, and how often it
    /// would be parked and woken meanwhile is known.
    #[must_use]
    pub fn may_doze(&self) -> bool {
        self.foreseen && self.leaves_at.is_none() && self.words == 0
    }

    /// Whether it is left in its loop although the coprocessor works.
    #[inline]
    #[must_use]
    pub fn is_dozing(&self) -> bool {
        self.dozes.is_some()
    }

    /// When the core would have been woken last before `now` had it not dozed: each time it is parked it is woken in
    /// the same epoch, and its poll is not looked at again for [`FIRST_INTERVAL`] cycles.
    pub(crate) fn last_woken(&self, dozes: u64, now: u64, epoch: EpochLength) -> u64 {
        let mut woken = dozes;
        loop {
            // It jumps back to the head at the end of each round, one cycle before it is there.
            let least = (woken + FIRST_INTERVAL + 1).saturating_sub(self.parked_at);
            let head = self.parked_at + least.div_ceil(self.period_cycles) * self.period_cycles;
            if head > now {
                return woken;
            }
            woken = epoch.round_down(Cycle(head - 1)).0;
        }
    }

    /// Whether a round reads any of so many bytes of L1 from `addr` on.
    #[must_use]
    pub fn reads_any(&self, addr: u32, bytes: u32) -> bool {
        let mut loads = self.loads.iter().filter(|load| !load.device);
        loads.any(|load| load.addr < addr + bytes && addr < load.addr + load.width.bytes())
    }

    /// Whether a round reads a device register other than the wall clock.
    #[inline]
    #[must_use]
    pub fn watches_devices(&self) -> bool {
        self.targets != 0
    }

    /// Sums up what it loads from.
    pub(crate) fn sum_up(&mut self, view: View) {
        (self.words, self.targets) = (0, 0);
        for load in &self.loads {
            if load.device {
                // What is nowhere might be anything.
                let target = lookup(view, load.addr).map(|hit| hit.target);
                self.targets |= target.map_or(u64::MAX, memory_map::Target::bit);
            } else {
                self.words |= Shared::watch_bit(load.addr);
            }
        }
    }
}
