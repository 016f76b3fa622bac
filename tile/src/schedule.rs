//! Who executes, and when the next core goes on by itself.
//!
//! A core that waits by the wall clock is parked like one that polls, but it has an alarm: the epoch
//! in which its wait may end ([`riscv::Spin::leaves_at`]). No stretch of epochs goes beyond it.

use riscv::{Core, Status};
use sim_core::{CoreId, CoreSet, Cycle, Observer};

use crate::tile::Tile;

/// What the cores do from here on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// Those that execute.
    pub(crate) running: CoreSet,
    /// The epoch boundary at which the first of those goes on that wait by the clock.
    pub(crate) alarm: Option<Cycle>,
}

/// Whether a core executes, now or at some time without anybody else's doing.
pub(crate) fn goes_on(core: &Core) -> bool {
    core.is_running() || core.spin().is_some_and(|spin| spin.leaves_at().is_some())
}

impl<O: Observer + ?Sized> Tile<O> {
    /// When the first core goes on that waits by the wall clock.
    #[must_use]
    pub fn alarm(&self) -> Option<Cycle> {
        self.schedule().alarm
    }

    pub(crate) fn schedule(&self) -> Schedule {
        let (mut running, mut alarm) = (CoreSet::EMPTY, None);
        for (id, core) in self.cores.iter() {
            match core.status() {
                Status::Running => running.insert(id),
                Status::Parked(spin) => {
                    if let Some(leaves) = spin.leaves_at() {
                        let leaves = self.config.epoch.round_down(leaves);
                        alarm = Some(alarm.map_or(leaves, |alarm: Cycle| alarm.min(leaves)));
                    }
                }
                _ => {}
            }
        }
        Schedule { running, alarm }
    }

    /// The same after everybody has been woken whose alarm is due.
    pub(crate) fn schedule_now(&mut self) -> Schedule {
        let schedule = self.schedule();
        if schedule.alarm.is_none_or(|alarm| alarm > self.now) {
            return schedule;
        }
        let next = self.now + self.config.epoch.cycles();
        for id in CoreId::ALL {
            let leaves = self.cores[id].spin().and_then(riscv::Spin::leaves_at);
            if leaves.is_some_and(|leaves| leaves < next) {
                self.wake_core(id, self.now);
            }
        }
        self.schedule()
    }
}
