//! How a parked core is taken out of its loop: it is put where spinning would have brought it.

use sim_core::{Cycle, L1, Shared, Shortcuts};

use crate::core::{Core, Status};
use crate::park::{Prober, Spin};
use crate::run::Slice;

impl Core {
    /// Takes a parked core out of its loop as of `now`, an epoch boundary: it will be exactly
    /// where it would be had it spun. Nothing happens if it is not parked.
    pub fn wake(&mut self, shared: &Shared, now: Cycle) {
        let status = std::mem::replace(&mut self.status, Status::Running);
        let Status::Parked(spin) = status else {
            self.status = status;
            return;
        };
        if now.0 > spin.parked_at {
            let elapsed = now.0 - spin.parked_at;
            // What the clock showed in the last whole round is still in registers.
            let again = u64::from(spin.leaves_at.is_some());
            let rounds = (elapsed / spin.period_cycles).saturating_sub(again);
            self.instructions += rounds * spin.period_instructions;
            self.cycle = spin.parked_at + rounds * spin.period_cycles;
            self.replay(shared, &spin, now.0);
        }
        if spin.leaves_at.is_some() {
            self.prober.resume(now.0);
        } else {
            self.prober.restart(now.0, spin.watches_devices());
        }
    }

    /// Executes rounds of `spin` from its head up to `until` with the loads they had.
    fn replay(&mut self, shared: &Shared, spin: &Spin, until: u64) {
        self.pc = spin.head;
        let mut slice = Slice::new(shared, until);
        slice.replay = Some(spin.loads.iter().cycle());
        while self.cycle < until && self.step(&mut slice) {}
    }

    /// Has other ways to the same result taken from now on, between two epochs. A core that is parked
    /// stays so until it is woken.
    pub fn set_shortcuts(&mut self, shortcuts: Shortcuts) {
        if self.config.shortcuts != shortcuts {
            self.config.shortcuts = shortcuts;
            self.prober = Prober::new(shortcuts);
            self.update_care();
        }
    }

    /// Whether every L1 word the parked loop reads still has the value it had.
    #[must_use]
    pub fn spin_holds(&self, l1: &L1) -> bool {
        self.spin().is_none_or(|spin| {
            spin.loads
                .iter()
                .all(|load| load.device || l1.read(load.addr, load.width) == load.value)
        })
    }
}
