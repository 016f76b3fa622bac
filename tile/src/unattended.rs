//! Epochs in which nobody but the coprocessor moves: all cores wait for room in an instruction
//! FIFO, are parked on L1, or are in reset.
//!
//! A kernel that pushes `REPLAY` or `MOP` is in such an epoch most of the time. What an epoch does
//! then is one call of the coprocessor; everything else that [`Tile::advance`] and
//! [`Tile::commit`] look at stays as it is until the coprocessor writes what others see, makes room
//! for a core that waits for it, or falls asleep. The result is the same: the epochs end where they
//! would, and the first one with anything else in it is left to them.

use riscv::Status;
use sim_core::{CoreId, Cycle, Observer, ThreadId};

use crate::tile::Tile;

/// Pushes into full FIFOs that cores are waiting to do, as pairs of thread and side of the mux:
/// bit *i* is thread *i* before its MOP expander, bit *4 + i* behind it.
type Blocked = u8;

impl<O: Observer> Tile<O> {
    /// Whether no core can do anything until the coprocessor has done something; if so, the pushes
    /// they wait for. No core is running.
    pub(crate) fn blocked_on_coprocessor(&self) -> Option<Blocked> {
        let mut blocked = 0;
        for (id, core) in self.cores.iter() {
            if core.batch.request.is_some() || core.batch.fault.is_some() {
                return None;
            }
            match core.status() {
                Status::Reset => {}
                Status::Parked(spin) if !spin.watches_devices() => {}
                Status::PushBlocked(window) => {
                    blocked |= match id.thread() {
                        Some(thread) => 1 << thread as u8,
                        None => 0x10 << *window,
                    };
                }
                _ => return None,
            }
        }
        (self.tensix.watched_l1().is_none() && self.debug_queue.is_empty()).then_some(blocked)
    }

    /// Advances the coprocessor epoch by epoch, to `limit` or until others have to look at what it
    /// did. At least one epoch.
    pub(crate) fn run_coprocessor(&mut self, blocked: Blocked, limit: Cycle) {
        self.refresh_watches();
        self.credits_stale = true;
        while self.now < limit {
            let end = self.now + self.config.epoch.cycles();
            let (next, noticed) = self.run_tensix(self.now, end, end);
            self.devices_steady_since = next;
            self.retry_requests = self.device_change;
            let asleep = next == end && self.tensix.is_asleep();
            if asleep {
                CoreId::ALL.into_iter().for_each(|id| self.cores[id].calm());
            }
            if noticed || self.tensix.watched_l1().is_some() {
                // The rest of this epoch, and what has to be done at its end.
                self.commit(next, end);
                return;
            }
            self.now = end;
            if asleep || self.has_room_for(blocked) {
                return;
            }
        }
    }

    /// Whether any of the FIFOs that cores wait for takes an instruction.
    fn has_room_for(&self, blocked: Blocked) -> bool {
        ThreadId::ALL.into_iter().any(|thread| {
            let wants = |bit: u8| blocked >> bit & 1 != 0;
            wants(thread as u8) && self.tensix.push_credit(thread, false) > 0
                || wants(thread as u8 + 4) && self.tensix.push_credit(thread, true) > 0
        })
    }
}
