//! A core that runs while nothing else does: it goes on over many epochs, with stores straight to L1.
//!
//! It may look at the wall clock and set up devices in the middle of a slice, and is answered without a commit, as
//! long as nothing but itself can tell.

use std::sync::Arc;

use memory_map::reg::tile_control;
use riscv::{Core, OwnRegisters};
use sim_core::engine::Slots;
use sim_core::{CoreId, CoreSet, Cycle, Observer, RequestKind, Shortcut, Store};

use crate::bus::Bus;
use crate::commit::Commit;
use crate::waiting::Served;
use crate::watchers::{DeviceSet, Watchers, is_pure_load};

/// Where the tile's own control registers begin.
const TILE_CONTROL: u32 = tile_control::WALL_CLOCK_L - tile_control::WALL_CLOCK_L_OFFSET;

/// Longest slice of a lone core whose jumps are recorded.
const LOGGED_CYCLES: u64 = 4096;

/// The only running core of a tile.
pub(crate) struct Alone<'a, O: Observer + ?Sized> {
    pub(crate) bus: &'a mut Bus<O>,
    pub(crate) id: CoreId,
}

impl<O: Observer + ?Sized> Alone<'_, O> {
    /// The only running core goes on until it does something others can see.
    pub(crate) fn run(&mut self, limit: Cycle) {
        let id = self.id;
        let epoch = self.bus.config.epoch;
        // Others may have parked since the last store.
        self.bus.refresh_watches();
        if self.bus.cores.observer.wants_retires(id) {
            // Keep the instruction log of a long slice bounded.
            self.bus.cores.run(id, epoch.end_of_epoch(self.bus.now));
        } else {
            let limit = self.logged_limit(limit);
            self.go(limit);
            while self.answer(limit) {
                self.go(limit);
            }
        }
        let core = &self.bus.cores[id];
        let cycle = core.cycle().max(self.bus.now);
        let end = if core.is_running() || core.spin().is_some() {
            epoch.round_up(cycle).max(self.bus.now)
        } else {
            epoch.end_of_epoch(cycle)
        };
        let start = Cycle(end.0.saturating_sub(epoch.cycles())).max(self.bus.now);
        Commit::new(self.bus, start, end).apply();
    }

    /// Keeps the jump log of a long slice bounded.
    fn logged_limit(&self, limit: Cycle) -> Cycle {
        if self.bus.cores.observer.wants_jumps(self.id) {
            limit.min(self.bus.config.epoch.end_of_epoch(self.bus.now + LOGGED_CYCLES))
        } else {
            limit
        }
    }

    /// A slice of the only running core, which looks at the wall clock and sets up devices itself if nothing
    /// else can tell: software that waits by the clock does nothing else for a long time.
    fn go(&mut self, limit: Cycle) {
        let id = self.id;
        let in_place =
            self.bus.takes(Shortcut::ClockInPlace) || self.bus.takes(Shortcut::StoresInPlace);
        if !in_place || !self.is_unasked() {
            self.bus.cores.run_alone(id, limit, self.bus.config.epoch);
            return;
        }
        let watched = Watchers::of(self.bus).watched_devices();
        let renews = watched != DeviceSet::NONE && self.watch_of_others() == Some(true);
        let shared = Arc::clone(&self.bus.cores.shared);
        Slots::lend(
            &mut *self.bus,
            |bus| &mut bus.cores.slots,
            id,
            |core, bus| {
                core.run_in_place(&shared, limit, &mut OwnDevices { bus, id, watched, renews });
            },
        );
    }

    /// Whether another core is parked on what devices show, and if so whether all of them are on what they have shown
    /// since the last change of one.
    fn watch_of_others(&self) -> Option<bool> {
        let others = self.bus.cores.iter().filter(|&(other, _)| other != self.id);
        let spins =
            others.filter_map(|(_, core)| core.spin()).filter(|spin| spin.watches_devices());
        let fresh = spins.map(|spin| spin.seen() >= self.bus.changes.steady_since);
        fresh.reduce(|all, one| all && one)
    }

    /// Whether no other core waits for a device.
    fn is_unasked(&self) -> bool {
        let asks = |core: &Core| core.batch.request.is_some();
        !self.bus.changes.retry
            && self.bus.waits.requests[self.id.index()].is_none()
            && self.bus.cores.iter().all(|(other, core)| other == self.id || !asks(core))
    }

    /// A lone core that reads a register gets its answer at the end of the epoch, as it would
    /// from a commit, if nothing else can tell. Gives whether it can go on.
    fn answer(&mut self, limit: Cycle) -> bool {
        let id = self.id;
        let batch = &self.bus.cores[id].batch;
        let Some(request) = batch.request else { return false };
        let is_alone = self.bus.takes(Shortcut::LoneAnswers)
            && request.kind == RequestKind::Load
            && batch.stores.is_empty()
            && batch.fault.is_none()
            && self.is_unasked();
        let end = self.bus.config.epoch.end_of_epoch(request.cycle);
        if !is_alone || end > limit || request.cycle < self.bus.now {
            return false;
        }
        // A look changes nothing for others who look. What they have to be told otherwise is for the commit.
        let others = self.watch_of_others();
        if others == Some(false) || others.is_some() && !is_pure_load(id, &request) {
            return false;
        }
        // What blocks or is a mistake changes nothing and is for the commit.
        let served = self.bus.serve(id, &request, request.cycle, end);
        let Ok(Served::Done(answer)) = served else { return false };
        if !answer.steady {
            self.bus.changes.steady_since = end;
        }
        if others.is_some() {
            self.bus.cores.allow_parking();
        }
        self.bus.cores.complete(id, answer, end);
        self.bus.now = end;
        self.bus.tensix.unit.is_asleep()
    }
}

/// The devices of a tile as the only core that runs uses them.
struct OwnDevices<'a, O: Observer + ?Sized> {
    bus: &'a mut Bus<O>,
    id: CoreId,
    /// Of which devices others look at registers.
    watched: DeviceSet,
    /// They are parked on what those have shown since the last change of one.
    renews: bool,
}

impl<O: Observer + ?Sized> OwnRegisters for OwnDevices<'_, O> {
    fn load(&mut self, addr: u32, cycle: Cycle, end: Cycle) -> Option<u32> {
        let Self { bus, id: _, watched, renews: _ } = self;
        if !bus.takes(Shortcut::ClockInPlace) || *watched != DeviceSet::NONE {
            return None;
        }
        let value = bus.devices.control.read_clock(addr.wrapping_sub(TILE_CONTROL), cycle)?;
        (bus.now, bus.changes.steady_since) = (end, end);
        Some(value)
    }

    fn store(&mut self, store: &Store) -> bool {
        let Self { bus, id, watched, renews } = self;
        let is_silent = bus.takes(Shortcut::StoresInPlace)
            && !Watchers::of(bus).store_shows(*id, store, *watched)
            && Watchers::of(bus).is_certain(*id, store);
        if !is_silent {
            return false;
        }
        let end = bus.config.epoch.end_of_epoch(store.cycle);
        bus.apply_store(*id, store, end);
        // No core waits for one.
        bus.changes.this_cycle = false;
        bus.changes.steady_since = bus.changes.steady_since.max(end);
        if *renews {
            // What they look at has not changed.
            bus.cores.renew_but(CoreSet::only(*id), end);
        }
        true
    }
}
