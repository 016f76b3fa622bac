//! Epochs in which nobody needs the tile's attention: the coprocessor works, and of the cores at
//! most one executes, which does nothing to others but push instructions.
//!
//! A kernel that pushes `REPLAY` or `MOP` is in such epochs nearly always. It waits for room in an
//! instruction FIFO most of the time, and every now and then pushes the next one. The invariants:
//!
//! * all other cores wait for room in an instruction FIFO, are parked on L1, or are in reset;
//! * no core waits for an answer, nothing arrives over the NoC, and no debugger asks for anything;
//! * so everything that [`Tile::advance`] and [`Tile::commit`] look at stays as it is, but for the
//!   coprocessor, the pushing core, and how much room the FIFOs have.
//!
//! What an epoch does then is one call of the core and one or a few of the coprocessor. The epochs end
//! where they would; the first one with anything else in it is committed like any other. That the
//! result is the same is tested against a tile somebody observes, where cores only wait here
//! (`tile/tests/unattended.rs`).

use riscv::Status;
use sim_core::{CoreId, CoreSet, Cycle, Observer, ThreadId};

use crate::tile::Tile;

/// Pushes into full FIFOs that cores are waiting to do, as pairs of thread and side of the mux:
/// bit *i* is thread *i* before its MOP expander, bit *4 + i* behind it.
pub(crate) type Blocked = u8;

impl<O: Observer> Tile<O> {
    /// Whether the next epoch may be one of these, where `running` are the cores that execute: then
    /// the pushes that others wait for.
    pub(crate) fn unattended(&self, running: CoreSet) -> Option<Blocked> {
        // A push of a core is an event, and it comes between those of the coprocessor.
        if running.len() > 1 || O::ENABLED && !running.is_empty() {
            return None;
        }
        let mut blocked = 0;
        for (id, core) in self.cores.iter() {
            if core.batch.request.is_some() || core.batch.fault.is_some() {
                return None;
            }
            match core.status() {
                Status::Reset | Status::Running => {}
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

    /// Advances epoch by epoch, to `limit` or until others have to look at what happened. At least
    /// one epoch, for which [`Tile::unattended`] must have given something.
    pub(crate) fn run_unattended(&mut self, limit: Cycle) {
        self.refresh_watches();
        while self.now < limit {
            self.grant_pushes();
            let running = self.running();
            let Some(blocked) = self.unattended(running) else { return };
            let goes_on = match running.single() {
                Some(core) => self.feed(core),
                None => self.wait_for_room(blocked, limit),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Epochs in which no core executes, until one has room to push. `false`: others have to look.
    fn wait_for_room(&mut self, blocked: Blocked, limit: Cycle) -> bool {
        while self.now < limit && !self.has_room_for(blocked) {
            let epoch = self.config.epoch.cycles();
            // Epochs at whose ends there will certainly be no room yet are one.
            let epochs = (self.tensix.cycles_without_room() / epoch).max(1);
            let until = limit.min(self.now + epochs * epoch);
            let (next, noticed) = self.run_tensix(self.now, until);
            self.note_reached(next);
            if noticed || self.tensix.watched_l1().is_some() {
                // The rest of the epoch, and what has to be done at its end.
                self.commit(next, self.config.epoch.round_up(next));
                return false;
            }
            self.now = next;
            if self.tensix.is_asleep() {
                CoreId::ALL.into_iter().for_each(|id| self.cores[id].calm());
                return false;
            }
        }
        true
    }

    /// An epoch in which `id` executes. `false`: others have to look.
    fn feed(&mut self, id: CoreId) -> bool {
        let (start, end) = (self.now, self.now + self.config.epoch.cycles());
        let mut running = CoreSet::EMPTY;
        running.insert(id);
        self.engine.run_phase(&mut self.cores, running, &self.shared, end);
        if !self.cores[id].only_pushed() {
            self.commit(start, end);
            return false;
        }
        let mut pushes = std::mem::take(&mut self.cores[id].batch.stores);
        let (mut cycle, mut pushed) = (start, 0);
        while cycle < end {
            if let Some(push) = pushes.get(pushed)
                && push.cycle <= cycle
            {
                self.apply_store(id, push, end);
                pushed += 1;
                continue;
            }
            let until = pushes.get(pushed).map_or(end, |push| push.cycle);
            let (next, noticed) = self.run_tensix(cycle, until);
            self.note_reached(next);
            if noticed || next < until || self.tensix.watched_l1().is_some() {
                // The rest is more than pushes.
                pushes.drain(..pushed);
                let batch = &mut self.cores[id].batch;
                batch.device_stores = pushes.len() as u32;
                batch.stores = pushes;
                self.commit(next, end);
                return false;
            }
            cycle = next;
        }
        self.cores[id].batch.stores = pushes;
        self.finish_pushes(id, end);
        self.now = end;
        let asleep = self.tensix.is_asleep();
        if asleep {
            CoreId::ALL.into_iter().for_each(|id| self.cores[id].calm());
        }
        self.faults.is_empty() && !asleep
    }

    /// Notes that the coprocessor has come to `next`.
    #[inline]
    fn note_reached(&mut self, next: Cycle) {
        self.devices_steady_since = next;
        self.retry_requests = self.device_change;
        self.credits_stale = true;
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
