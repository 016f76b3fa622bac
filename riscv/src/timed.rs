//! Loads whose value follows from the cycle alone, answered in the middle of a slice.
//!
//! Software reads the wall clock to take times, and waits by reading it over and over. (While it
//! does nothing else it is parked, see [`crate::poll`].) Such a load waits for the end of its
//! epoch like any other load from a device, but nobody else has to be asked; so a core that is alone
//! goes on from there without leaving its slice. What it finds and when is the same.

use sim_core::{Cycle, Shared, Width};

use crate::core::Core;
use crate::slice::{Slice, TimedRegisters};

impl Core {
    /// [`sim_core::Agent::run_alone`] for a core that may ask `registers` itself.
    pub fn run_timed(&mut self, shared: &Shared, until: Cycle, registers: &mut TimedRegisters<'_>) {
        if self.is_running() {
            let timed = Some(registers as &mut _);
            self.run_slice(Slice { direct: true, timed, ..Slice::new(shared, until.0) });
        }
    }

    /// A load that is answered on the spot; the load then completes at the end of its epoch. `None`:
    /// that is for the commit phase.
    pub(crate) fn timed_load(
        &mut self,
        slice: &mut Slice<'_>,
        addr: u32,
        width: Width,
    ) -> Option<u32> {
        let registers = slice.timed.as_mut()?;
        let end = self.hart.config.epoch.end_of_epoch(Cycle(self.hart.cycle));
        // What it posted takes effect in a commit, and a debugger sees every step.
        let is_free = slice.direct && self.batch.stores.is_empty() && !self.is_debugged();
        if !is_free || width != Width::Word || end.0 > slice.until {
            return None;
        }
        let value = registers(addr, Cycle(self.hart.cycle), end)?;
        self.note_clock(addr, self.hart.cycle);
        self.prober.side_effect(end.0);
        self.hart.cycle = end.0 - 1;
        Some(value)
    }
}
