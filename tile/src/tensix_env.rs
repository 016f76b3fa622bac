//! The coprocessor's view of the tile.

use devices::{DeviceFault, Overlay};
use memory_map::View;
use sim_core::agent::PAGE_OBSERVED;
use sim_core::observer::{Doing, Glimpse, ShowsCells};
use sim_core::{Context, Cycle, Event, GuestError, Observer, Shared, Stamp, ThreadId, Width};
use tensix::{Env, Origin};

use crate::route::Asker;
use crate::tile::Tile;

/// The parts of the tile the coprocessor may look at while it is stepped.
pub(crate) struct TensixEnv<'a, O: ?Sized> {
    pub(crate) observer: &'a mut O,
    pub(crate) overlay: &'a Overlay,
    pub(crate) shared: &'a Shared,
    /// Collected; the tile acts on it after the step.
    pub(crate) icache_invalidations: &'a mut u8,
    pub(crate) deferred: &'a mut Deferred,
}

/// What the coprocessor did in a step that concerns others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deferred {
    /// L1 words written that somebody holds decoded or watches.
    touched: Vec<u32>,
    stores: Vec<(u32, u32, Stamp)>,
    loads: Vec<(ThreadId, u8, u32, Stamp)>,
}

impl Deferred {
    fn is_empty(&self) -> bool {
        self.touched.is_empty() && self.stores.is_empty() && self.loads.is_empty()
    }
}

impl<O: Observer + ?Sized> Env for TensixEnv<'_, O> {
    const OBSERVED: bool = O::ENABLED;

    fn event(&mut self, stamp: Stamp, event: Event) {
        self.observer.event(stamp, &event);
    }

    fn stream_register(&self, stream: u8, register: u16) -> u32 {
        // Registers without a value read as zero here; a wait on one never ends.
        self.overlay.read(stream, register).unwrap_or(0)
    }

    fn invalidate_icache(&mut self, mask: u8, _at: Stamp) {
        *self.icache_invalidations |= mask;
    }

    fn wants_control(&self) -> bool {
        *self.icache_invalidations != 0 || !self.deferred.is_empty()
    }

    #[inline]
    fn l1_word(&self, addr: u32) -> u32 {
        self.shared.l1.word(addr)
    }

    #[inline]
    fn l1_visit<const N: usize>(&self, addr: u32, visit: impl FnMut(usize, u32)) {
        self.shared.l1.visit_words::<N>(addr, visit);
    }

    fn l1_write(&mut self, addr: u32, value: u32, width: Width, at: Stamp) {
        self.shared.l1.write(addr, value, width);
        let flags = self.shared.page_flags(addr);
        if flags != 0 || self.shared.maybe_watched(addr) {
            self.deferred.touched.push(addr);
            if O::ENABLED && flags & PAGE_OBSERVED != 0 {
                self.observer.event(at, &Event::L1Store { addr, value, width });
            }
        }
    }

    #[inline]
    fn l1_write_words<const N: usize>(&mut self, addr: u32, words: &[u32; N], at: Stamp) {
        // A few words lie in two pages at most.
        let last = addr + 4 * (N as u32 - 1);
        if self.shared.page_flags(addr) | self.shared.page_flags(last) == 0
            && !self.shared.watches_any(addr, 4 * N)
        {
            self.shared.l1.write_words(addr, words);
            return;
        }
        for (word, &value) in (0..).zip(words) {
            self.l1_write(addr + 4 * word, value, Width::Word, at);
        }
    }

    #[inline]
    fn wants_l1_reads(&self) -> bool {
        O::ENABLED && self.observer.wants_l1_reads()
    }

    fn l1_read(&mut self, addr: u32, bytes: u32, at: Stamp) {
        self.observer.l1_read(at, addr, bytes);
    }

    #[inline]
    fn wants_cells(&self) -> bool {
        O::ENABLED && self.observer.wants_cells()
    }

    fn cells(&mut self, glimpse: Glimpse, shown: &dyn ShowsCells) {
        self.observer.cells(glimpse, shown);
    }

    fn dst_read(&mut self, at: Stamp, rows: &[u16]) {
        self.observer.dst_read(at, rows);
    }

    fn store_register(&mut self, addr: u32, value: u32, at: Stamp) {
        self.deferred.stores.push((addr, value, at));
    }

    fn request_register(&mut self, thread: ThreadId, gpr: u8, addr: u32, at: Stamp) {
        self.deferred.loads.push((thread, gpr, addr, at));
    }
}

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
        if O::ENABLED && self.observer.wants_cells() {
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
