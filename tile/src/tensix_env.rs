//! The coprocessor's view of the tile.

use devices::Overlay;
use sim_core::{Cycle, Event, GuestError, Observer, Stamp, ThreadId};
use tensix::{Env, Origin};

use crate::tile::Tile;

/// The parts of the tile the coprocessor may look at while it is stepped.
pub(crate) struct TensixEnv<'a, O> {
    pub(crate) observer: &'a mut O,
    pub(crate) overlay: &'a Overlay,
    /// Collected; the tile acts on it after the step.
    pub(crate) icache_invalidations: &'a mut u8,
}

impl<O: Observer> Env for TensixEnv<'_, O> {
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

    fn mover_busy(&self) -> bool {
        false
    }
}

impl<O: Observer> Tile<O> {
    /// Runs `act` on the coprocessor with its view of the rest.
    pub(crate) fn with_tensix<R>(
        &mut self,
        act: impl FnOnce(&mut tensix::Coprocessor, &mut TensixEnv<'_, O>) -> R,
    ) -> R {
        let mut env = TensixEnv {
            observer: &mut self.observer,
            overlay: &self.overlay,
            icache_invalidations: &mut self.icache_invalidations,
        };
        act(&mut self.tensix, &mut env)
    }

    /// One cycle of the coprocessor.
    pub(crate) fn step_tensix(&mut self, cycle: Cycle, end: Cycle) {
        self.device_change = true;
        if let Err(fault) = self.with_tensix(|tensix, env| tensix.step(cycle, env)) {
            self.report(Box::new(fault));
        }
        self.act_on_icache(end);
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
                self.cores[id].wake(&self.shared, end);
                self.cores[id].invalidate_icache();
            }
        }
    }
}
