//! Who executes, and when the next core goes on by itself.
//!
//! A core that waits by the wall clock is parked like one that polls, but it has an alarm: the epoch
//! in which its wait may end ([`riscv::Spin::leaves_at`]). No stretch of epochs goes beyond it.

use riscv::{Core, Status};
use sim_core::engine::Slots;
use sim_core::{CoreSet, Cycle, EpochLength};

/// What the cores do from here on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// Those that execute.
    pub(crate) running: CoreSet,
    /// The epoch boundary at which the first of those goes on that wait by the clock.
    pub(crate) alarm: Option<Cycle>,
}

impl Schedule {
    pub(crate) fn of(cores: &Slots<Core>, epoch: EpochLength) -> Self {
        let (mut running, mut alarm) = (CoreSet::EMPTY, None);
        for (id, core) in cores.iter() {
            match core.status() {
                Status::Running => running.insert(id),
                Status::Parked(spin) => {
                    if let Some(leaves) = spin.leaves_at() {
                        let leaves = epoch.round_down(leaves);
                        alarm = Some(alarm.map_or(leaves, |alarm: Cycle| alarm.min(leaves)));
                    }
                }
                _ => {}
            }
        }
        Self { running, alarm }
    }
}

/// Whether a core executes, now, or at some time by itself.
pub(crate) fn goes_on(core: &Core) -> bool {
    core.is_running() || core.spin().is_some_and(|spin| spin.leaves_at().is_some())
}
