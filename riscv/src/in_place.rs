//! Registers that a core uses in the middle of a slice because nobody else is concerned.
//!
//! A load from a device waits for the end of its epoch, and a store takes effect in its commit. Where
//! nobody else can tell, a core that is alone does either at once and goes on without leaving its slice:
//! software that reads the wall clock over and over, or sets up a device, word after word. What it finds
//! and when is the same.

use sim_core::{Cycle, Shared, Store, Width};

use crate::core::Core;
use crate::slice::{OwnRegisters, Slice};

impl Core {
    /// [`sim_core::Agent::run_alone`] for a core that may use `registers` itself.
    pub fn run_in_place(
        &mut self,
        shared: &Shared,
        until: Cycle,
        registers: &mut dyn OwnRegisters,
    ) {
        if self.is_running() {
            let registers = Some(registers as &mut _);
            self.run_slice(Slice { direct: true, registers, ..Slice::new(shared, until.0) });
        }
    }

    /// Whether what it does to a register now comes behind all that it has done before: what it posted
    /// takes effect in a commit, and a debugger sees every step.
    fn is_up_to_date(&self, slice: &Slice<'_>) -> bool {
        slice.direct && self.batch.stores.is_empty() && !self.is_debugged()
    }

    /// A load that is answered on the spot; the load then completes at the end of its epoch. `None`:
    /// that is for the commit phase.
    pub(crate) fn load_in_place(
        &mut self,
        slice: &mut Slice<'_>,
        addr: u32,
        width: Width,
    ) -> Option<u32> {
        let end = self.hart.config.epoch.end_of_epoch(Cycle(self.hart.cycle));
        if width != Width::Word || end.0 > slice.until || !self.is_up_to_date(slice) {
            return None;
        }
        let value = slice.registers.as_mut()?.load(addr, Cycle(self.hart.cycle), end)?;
        self.note_clock(addr, self.hart.cycle);
        self.prober.side_effect(end.0);
        self.hart.cycle = end.0 - 1;
        Some(value)
    }

    /// A store that takes effect on the spot. `false`: it is for the commit phase.
    pub(crate) fn store_in_place(
        &mut self,
        slice: &mut Slice<'_>,
        addr: u32,
        value: u32,
        width: Width,
    ) -> bool {
        if width != Width::Word || !self.is_up_to_date(slice) {
            return false;
        }
        let Some(registers) = &mut slice.registers else { return false };
        registers.store(&Store {
            cycle: Cycle(self.hart.cycle),
            addr,
            value,
            pc: self.hart.pc,
            width,
        })
    }
}
