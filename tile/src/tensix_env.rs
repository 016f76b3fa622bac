//! The coprocessor with its environment: what it may look at while it runs, what of it others have been told, and
//! what it did that they have yet to act on.

use std::ops::Range;

use devices::Overlay;
use sim_core::observer::{Doing, Glimpse};
use sim_core::{CoreId, Cycle, GuestError, Observer, Stamp, StateHasher, ThreadId};
use tensix::{Attention, Coprocessor, Feed, Origin};

use crate::config::TileConfig;
use crate::cores::Cores;
use crate::env::{Deferred, TensixEnv};

/// Of each thread the numbers of stores of its TRISC that push.
pub(crate) type Pushes = [Range<usize>; 3];

/// The coprocessor among the others.
#[derive(Clone, Debug)]
pub(crate) struct Tensix {
    pub(crate) unit: Coprocessor,
    /// What it did that concerns others. Empty between epochs.
    pub(crate) deferred: Deferred,
    /// Threads whose TRISC's accesses Auto TTSync may hold back, bit *i* is thread *i*.
    pub(crate) tracked: u8,
    /// The configuration, by its generation, that says so.
    tracked_config: u64,
    /// FIFO occupancy may differ from what the cores were told.
    pub(crate) credits_stale: bool,
}

impl Tensix {
    pub(crate) fn new(config: &TileConfig) -> Self {
        Self {
            unit: config.coprocessor(),
            deferred: Deferred::default(),
            tracked: 0,
            tracked_config: 0,
            credits_stale: true,
        }
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        // What others were told follows from the coprocessor.
        let Self { unit, deferred: _, tracked: _, tracked_config: _, credits_stale: _ } = self;
        unit.hash_state(hasher);
    }

    /// Runs `act` on the coprocessor with its view of the rest.
    #[inline]
    pub(crate) fn with<O: Observer + ?Sized, R>(
        &mut self,
        cores: &mut Cores<O>,
        overlay: &Overlay,
        act: impl FnOnce(&mut Coprocessor, &mut TensixEnv<'_, O>) -> R,
    ) -> R {
        let Cores { observer, shared, .. } = cores;
        let mut env = TensixEnv { observer, overlay, shared, deferred: &mut self.deferred };
        act(&mut self.unit, &mut env)
    }

    /// Lets the coprocessor go from `cycle` to `until`, or until others have to act on what it did, or have to be
    /// told what they wait for. Gives the first cycle that still has to be looked at, and a mistake.
    #[inline(always)]
    pub(crate) fn run<O: Observer + ?Sized>(
        &mut self,
        cores: &mut Cores<O>,
        overlay: &Overlay,
        (cycle, until): (Cycle, Cycle),
        attention: Attention,
    ) -> (Cycle, Option<GuestError>) {
        let ran = self.with(cores, overlay, |unit, env| {
            unit.run_fed((cycle, until), attention, &mut Feed::none(), env)
        });
        self.reached(cores, ran)
    }

    /// As [`Tensix::run`], with what TRISCs push: of each thread the stores of those numbers, of which those that were
    /// taken in are gone afterwards.
    pub(crate) fn run_fed<O: Observer + ?Sized>(
        &mut self,
        cores: &mut Cores<O>,
        overlay: &Overlay,
        span: (Cycle, Cycle),
        attention: Attention,
        pushes: &mut Pushes,
    ) -> (Cycle, Option<GuestError>) {
        let Cores { observer, shared, slots, .. } = cores;
        let stores = ThreadId::ALL.map(|thread| {
            let posted = &slots[thread.core()].batch.stores;
            posted.get(pushes[thread.index()].clone()).unwrap_or_default()
        });
        let mut feed = Feed::new(stores);
        let mut env = TensixEnv { observer, overlay, shared, deferred: &mut self.deferred };
        let ran = self.unit.run_fed(span, attention, &mut feed, &mut env);
        for thread in ThreadId::ALL {
            let pushes = &mut pushes[thread.index()];
            pushes.start = pushes.end.saturating_sub(feed.left(thread));
        }
        self.reached(cores, ran)
    }

    /// What follows from having got somewhere.
    #[inline(always)]
    fn reached<O: Observer + ?Sized>(
        &mut self,
        cores: &mut Cores<O>,
        ran: Result<Cycle, (Cycle, GuestError)>,
    ) -> (Cycle, Option<GuestError>) {
        if self.unit.config_generation() != self.tracked_config {
            self.track_threads(cores);
        }
        match ran {
            Ok(next) => (next, None),
            Err((next, fault)) => (next, Some(fault)),
        }
    }

    /// Pushes an instruction into a thread's frontend.
    #[inline]
    pub(crate) fn push<O: Observer + ?Sized>(
        &mut self,
        cores: &mut Cores<O>,
        overlay: &Overlay,
        (thread, after_mop): (ThreadId, bool),
        word: u32,
        (origin, cycle): (Origin, Cycle),
    ) -> Result<(), Box<GuestError>> {
        let push = |unit: &mut Coprocessor, env: &mut TensixEnv<'_, O>| {
            unit.push(thread, after_mop, word, origin, cycle, env)
        };
        self.with(cores, overlay, push).map_err(Box::new)
    }

    /// Tells cores whether their accesses are ordered: Auto TTSync may have been switched on or off for a thread.
    #[cold]
    fn track_threads<O: Observer + ?Sized>(&mut self, cores: &mut Cores<O>) {
        self.tracked_config = self.unit.config_generation();
        let tracked = self.unit.tracked_threads();
        if tracked == self.tracked {
            return;
        }
        self.tracked = tracked;
        for thread in ThreadId::ALL {
            cores[thread.core()].order_stores(tracked >> thread as u8 & 1 != 0);
        }
    }

    /// Carries out instruction cache invalidations that were asked for.
    pub(crate) fn act_on_icache<O: Observer + ?Sized>(&mut self, cores: &mut Cores<O>, end: Cycle) {
        let mask = std::mem::take(&mut self.deferred.icache);
        if mask == 0 {
            return;
        }
        // Bit order of RISCV_IC_INVALIDATE: B, T0, T1, T2, NC
        // [isa-bh: TensixCoprocessor/BackendConfiguration.md], which is CoreId::ALL.
        for id in CoreId::ALL {
            if mask >> id as u8 & 1 == 1 {
                cores.wake(id, end);
                cores[id].invalidate_icache();
            }
        }
    }

    /// Shows the coprocessor's cells behind an access to it, if the observer wants to see them.
    #[inline]
    pub(crate) fn show_cells<O: Observer + ?Sized>(&self, cores: &mut Cores<O>, at: Stamp) {
        if cores.observer.wants_cells() {
            cores.observer.cells(Glimpse { at, doing: Doing::Access }, &self.unit);
        }
    }

    /// Tells a core how much room there is in the FIFOs that it can push into.
    #[inline]
    pub(crate) fn grant_push<O: ?Sized>(&self, cores: &mut Cores<O>, id: CoreId, now: Cycle) {
        match id.thread() {
            Some(thread) => cores[id].grant_push(0, self.unit.push_credit(thread, false), now),
            None if id == CoreId::Brisc => {
                for thread in ThreadId::ALL {
                    let room = self.unit.push_credit(thread, true);
                    cores[id].grant_push(thread as u8, room, now);
                }
            }
            None => {}
        }
    }

    /// Tells the cores how much room the instruction FIFOs have, if that may have changed.
    #[inline]
    pub(crate) fn grant_pushes<O: ?Sized>(&mut self, cores: &mut Cores<O>, now: Cycle) {
        if std::mem::take(&mut self.credits_stale) {
            CoreId::ALL.into_iter().for_each(|id| self.grant_push(cores, id, now));
        }
    }
}
