//! The coprocessor among the others: it is run, and what it did is acted upon.

use devices::DeviceFault;
use memory_map::View;
use sim_core::observer::{Doing, Glimpse};
use sim_core::{Context, Cycle, GuestError, Observer, Stamp, ThreadId, Width};
use tensix::Origin;

use crate::asker::Asker;
use crate::env::{Deferred, TensixEnv};
use crate::tile::Tile;

impl<O: Observer + ?Sized> Tile<O> {
    /// Runs `act` on the coprocessor with its view of the rest.
    pub(crate) fn with_tensix<R>(
        &mut self,
        act: impl FnOnce(&mut tensix::Coprocessor, &mut TensixEnv<'_, O>) -> R,
    ) -> R {
        let mut env = TensixEnv {
            observer: &mut self.observer,
            overlay: &self.overlay,
            shared: &self.shared,
            deferred: &mut self.deferred,
            icache_invalidations: &mut self.icache_invalidations,
        };
        act(&mut self.tensix, &mut env)
    }

    /// The coprocessor from `cycle` on until `until`, or until others have to act on what it did, or
    /// to the end of the epoch in which it fell asleep. Returns the first cycle that still has to be
    /// looked at, and whether others had to act.
    pub(crate) fn run_tensix(&mut self, cycle: Cycle, until: Cycle) -> (Cycle, bool) {
        let (next, fault) = match self.with_tensix(|tensix, env| tensix.run(cycle, until, env)) {
            Ok(next) => (next, None),
            Err((next, fault)) => (next, Some(fault)),
        };
        let noticed =
            fault.is_some() || self.icache_invalidations != 0 || !self.deferred.is_empty();
        if let Some(fault) = fault {
            self.report(Box::new(fault));
        }
        self.device_change = true;
        if self.tensix.config_generation() != self.tracked_config {
            self.track_threads();
        }
        if noticed {
            let last = Cycle(next.0 - 1);
            let end = self.config.epoch.end_of_epoch(last);
            self.act_on_icache(end);
            if !self.deferred.is_empty() {
                self.act_on_deferred(last, end);
            }
        }
        if next < until && self.tensix.is_asleep() {
            // Nothing happens in the rest of the epoch, its last cycle included.
            self.device_change = false;
            let end = self.config.epoch.end_of_epoch(Cycle(next.0 - 1));
            return (until.min(end), noticed);
        }
        (next, noticed)
    }

    /// Auto TTSync may have been switched on or off for a thread.
    #[cold]
    fn track_threads(&mut self) {
        self.tracked_config = self.tensix.config_generation();
        let tracked = self.tensix.tracked_threads();
        if tracked == self.tracked {
            return;
        }
        self.tracked = tracked;
        for thread in ThreadId::ALL {
            let ordered = self.tracked >> thread as u8 & 1 != 0;
            self.cores[thread.core()].order_stores(ordered);
        }
    }

    /// Register accesses of the coprocessor, and what its L1 writes mean to others.
    fn act_on_deferred(&mut self, cycle: Cycle, end: Cycle) {
        let Deferred { touched, stores, loads } = std::mem::take(&mut self.deferred);
        for addr in touched {
            // The word is there already; this wakes whoever watches it or decoded it.
            let value = self.shared.l1.word(addr);
            self.write_l1(addr & !3, value, Width::Word, end);
        }
        let asker = |at: Stamp| Asker {
            view: View::Noc,
            agent: at.agent,
            core: None,
            pc: at.pc,
            cycle,
            end,
        };
        for (addr, value, at) in stores {
            if let Err(fault) = self.store_as(asker(at), addr, value, Width::Word) {
                self.report_access(fault, at);
            }
        }
        for (thread, gpr, addr, at) in loads {
            match self.load_as(asker(at), addr, Width::Word) {
                Ok(answer) => {
                    self.tensix.deliver_register(thread, gpr, answer.value);
                    self.show_cells(at);
                }
                Err(fault) => self.report_access(fault, at),
            }
        }
    }

    /// Shows the coprocessor's cells behind an access to it, if somebody wants to see them.
    #[inline]
    pub(crate) fn show_cells(&mut self, at: Stamp) {
        if self.observer.wants_cells() {
            self.observer.cells(Glimpse { at, doing: Doing::Access }, &self.tensix);
        }
    }

    fn report_access(&mut self, fault: DeviceFault, at: Stamp) {
        let pc = Some(at.pc);
        let context = Context { cycle: at.cycle, agent: at.agent, pc, word: None };
        self.report(Box::new(fault.at(context)));
    }

    /// Pushes an instruction into a thread's frontend.
    pub(crate) fn push(
        &mut self,
        thread: ThreadId,
        after_mop: bool,
        word: u32,
        origin: Origin,
        cycle: Cycle,
    ) -> Result<(), Box<GuestError>> {
        self.with_tensix(|tensix, env| tensix.push(thread, after_mop, word, origin, cycle, env))
            .map_err(Box::new)
    }

    /// Carries out instruction cache invalidations that were asked for.
    pub(crate) fn act_on_icache(&mut self, end: Cycle) {
        let mask = std::mem::take(&mut self.icache_invalidations);
        if mask == 0 {
            return;
        }
        // Bit order of RISCV_IC_INVALIDATE: B, T0, T1, T2, NC
        // [isa-bh: TensixCoprocessor/BackendConfiguration.md], which is CoreId::ALL.
        for id in sim_core::CoreId::ALL {
            if mask >> id as u8 & 1 == 1 {
                self.wake_core(id, end);
                self.cores[id].invalidate_icache();
            }
        }
    }
}
