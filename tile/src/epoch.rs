//! Time: one epoch after the other until there is a reason to stop.

use std::sync::Arc;

use memory_map::reg::tile_control;
use riscv::{Core, OwnRegisters};
use sim_core::engine::Slots;
use sim_core::{
    Agent as _, CoreId, Cycle, GuestError, Observer, RequestKind, Shortcut, Store, ThreadId,
};

use crate::host_wait::HostWait;
use crate::quiesce::Quiescence;
use crate::schedule::{Schedule, goes_on};
use crate::tile::Tile;
use crate::waiting::Served;
use crate::watchers::Devices;

/// Where the tile's own control registers begin.
const TILE_CONTROL: u32 = tile_control::WALL_CLOCK_L - tile_control::WALL_CLOCK_L_OFFSET;

/// Longest slice of a lone core whose jumps are recorded.
const LOGGED_CYCLES: u64 = 4096;

/// Why a run ended. Time always stops at an epoch boundary.
#[derive(Debug)]
pub enum Stop {
    /// What the host waited for is there.
    Met,
    /// The cycle limit was reached.
    Limit,
    /// Nothing can move any more without the host.
    Quiescent(Quiescence),
    /// A guest mistake.
    Fault(Box<GuestError>),
    /// A core halted for the debugger.
    Halted(CoreId),
}

impl<O: Observer + ?Sized> Tile<O> {
    /// [`Tile::run`]
    pub(crate) fn run_here(&mut self, limit: Cycle, wait: Option<HostWait>) -> Stop {
        let limit = self.config.epoch.round_up(limit);
        self.set_host_watch(wait);
        loop {
            if let Some(fault) = self.next_fault() {
                return Stop::Fault(fault);
            }
            if wait.is_some_and(|wait| wait.is_met(&self.shared.l1)) {
                return Stop::Met;
            }
            if let Some(core) = self.halted.take() {
                return Stop::Halted(core);
            }
            if self.now >= limit {
                return Stop::Limit;
            }
            if !self.advance(limit) {
                return Stop::Quiescent(self.quiescence(wait));
            }
        }
    }

    /// [`Tile::advance_to`]
    pub(crate) fn advance_to_here(
        &mut self,
        limit: Cycle,
        until_departure: bool,
    ) -> Result<(), Box<GuestError>> {
        while self.now < limit && !(until_departure && self.fabric.has_departures()) {
            if !self.advance(limit) {
                self.now = limit;
            }
            self.halted = None;
            if let Some(fault) = self.next_fault() {
                return Err(fault);
            }
        }
        Ok(())
    }

    /// Whether anything can happen here without anybody else's doing, now or later. What is not active
    /// may be left alone; [`Tile::pass_time`] makes up for it.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.is_moving() || self.alarm().is_some()
    }

    /// Whether anything can happen here now. What does not move may be left alone until
    /// [`Tile::alarm`].
    #[must_use]
    pub fn is_moving(&self) -> bool {
        !self.tensix.is_asleep()
            || self.retry_requests
            || !self.faults.is_empty()
            || self.fabric.next_due().is_some()
            || self.cores.iter().any(|(_, core)| core.is_running())
    }

    /// Whether the coprocessor or more than one core is at work.
    #[must_use]
    pub fn is_computing(&self) -> bool {
        !self.tensix.is_asleep() || self.cores.iter().filter(|(_, core)| goes_on(core)).count() > 1
    }

    /// Whether requests to other endpoints are unanswered.
    #[must_use]
    pub fn awaits_answers(&self) -> bool {
        self.fabric.unanswered().next().is_some()
    }

    /// Whether a packet is under way that will change something here: an own request in any of its
    /// stages, its acknowledgement, or what others have sent.
    #[must_use]
    pub fn has_packets(&self) -> bool {
        self.fabric.next_due().is_some() || self.awaits_answers()
    }

    /// Lets time pass up to `limit` although nothing moves.
    pub fn pass_time(&mut self, limit: Cycle) {
        if !self.is_active() {
            self.quiet_since.get_or_insert(self.now);
        }
        self.now = self.now.max(self.config.epoch.round_up(limit));
    }

    /// The epoch boundary, `limit` at the latest, up to which nothing reaches the tile that is on its
    /// way already.
    pub(crate) fn calm_until(&self, limit: Cycle) -> Cycle {
        let due = self.fabric.next_due();
        due.map_or(limit, |due| self.config.epoch.round_down(due).min(limit))
    }

    /// One epoch, or as many as a lone core needs, or as nobody else notices. `false`: nothing can
    /// move.
    pub(crate) fn advance(&mut self, limit: Cycle) -> bool {
        if self.observer.wants_look() {
            self.observer.look(&self.shared.l1);
        }
        self.grant_pushes();
        let Schedule { running, alarm } = self.schedule_now();
        let limit = alarm.map_or(limit, |alarm| alarm.min(limit));
        if self.tensix.is_asleep() && !self.retry_requests {
            let calm = self.calm_until(limit);
            if running.is_empty() && alarm.is_none() && self.fabric.next_due().is_none() {
                self.quiet_since.get_or_insert(self.now);
                return false;
            }
            self.quiet_since = None;
            if calm > self.now {
                if running.is_empty() && self.takes(Shortcut::IdleEpochs) {
                    self.now = calm;
                    return true;
                }
                if let Some(core) = running.single()
                    && self.takes(Shortcut::Alone)
                {
                    self.run_alone(core, calm);
                    return true;
                }
                if !running.is_empty() && self.run_ahead(running, calm, false) {
                    return true;
                }
            } else if running.is_empty() && self.pass_packets() {
                return true;
            }
        }
        self.quiet_since = None;
        if !self.tensix.is_asleep()
            && self.takes(Shortcut::Unattended)
            && let Some(standing) = self.unattended()
        {
            let calm = self.calm_until(limit);
            if calm > self.now {
                self.run_unattended(standing, calm);
                return true;
            }
        }
        // Time stands at an epoch boundary between epochs: no division needed.
        let (start, end) = (self.now, self.now + self.config.epoch.cycles());
        debug_assert_eq!(end, self.config.epoch.end_of_epoch(start));
        self.engine.run_phase(&mut self.cores, running, &self.shared, end);
        self.commit(start, end);
        true
    }

    /// The only running core goes on until it does something others can see.
    fn run_alone(&mut self, id: CoreId, limit: Cycle) {
        let epoch = self.config.epoch;
        // Others may have parked since the last store.
        self.refresh_watches();
        if self.observer.wants_retires(id) {
            // Keep the instruction log of a long slice bounded.
            self.cores[id].run(&self.shared, epoch.end_of_epoch(self.now));
        } else {
            let limit = self.logged_limit(id, limit);
            self.go_alone(id, limit);
            while self.answer_alone(id, limit) {
                self.go_alone(id, limit);
            }
        }
        let core = &self.cores[id];
        let cycle = core.cycle().max(self.now);
        let end = if core.is_running() || core.spin().is_some() {
            epoch.round_up(cycle).max(self.now)
        } else {
            epoch.end_of_epoch(cycle)
        };
        let start = Cycle(end.0.saturating_sub(epoch.cycles())).max(self.now);
        self.commit(start, end);
    }

    /// Keeps the jump log of a long slice bounded.
    fn logged_limit(&self, id: CoreId, limit: Cycle) -> Cycle {
        if self.observer.wants_jumps(id) {
            limit.min(self.config.epoch.end_of_epoch(self.now + LOGGED_CYCLES))
        } else {
            limit
        }
    }

    /// A slice of the only running core, which looks at the wall clock and sets up devices itself if nobody
    /// else can tell: software that waits by the clock does nothing else for a long time.
    fn go_alone(&mut self, id: CoreId, limit: Cycle) {
        let in_place = self.takes(Shortcut::ClockInPlace) || self.takes(Shortcut::StoresInPlace);
        if !in_place || !self.is_unasked(id) {
            self.cores[id].run_alone(&self.shared, limit, self.config.epoch);
            return;
        }
        let watched = self.watched_devices();
        let shared = Arc::clone(&self.shared);
        Slots::lend(
            self,
            |tile| &mut tile.cores,
            id,
            |core, tile| {
                core.run_in_place(&shared, limit, &mut OwnDevices { tile, id, watched });
            },
        );
    }

    /// Whether nobody else is concerned by what a core does to devices: nobody waits for one.
    fn is_unheard(&self, id: CoreId) -> bool {
        let watches = |core: &Core| core.spin().is_some_and(riscv::Spin::watches_devices);
        self.is_unasked(id) && self.cores.iter().all(|(other, core)| other == id || !watches(core))
    }

    /// Whether nobody else waits for a device.
    fn is_unasked(&self, id: CoreId) -> bool {
        let asks = |core: &Core| core.batch.request.is_some();
        !self.retry_requests
            && self.core_waits[id.index()].is_none()
            && self.cores.iter().all(|(other, core)| other == id || !asks(core))
    }

    /// A lone core that reads a register gets its answer at the end of the epoch, as it would
    /// from a commit, if nobody else can tell. Gives whether it can go on.
    fn answer_alone(&mut self, id: CoreId, limit: Cycle) -> bool {
        let batch = &self.cores[id].batch;
        let Some(request) = batch.request else { return false };
        let is_alone = self.takes(Shortcut::LoneAnswers)
            && request.kind == RequestKind::Load
            && batch.stores.is_empty()
            && batch.fault.is_none()
            && self.is_unheard(id);
        let end = self.config.epoch.end_of_epoch(request.cycle);
        if !is_alone || end >= limit || request.cycle < self.now {
            return false;
        }
        // What blocks or is a mistake changes nothing and is for the commit.
        let served = self.serve(id, &request, request.cycle, end);
        let Ok(Served::Done(answer)) = served else { return false };
        if !answer.steady {
            self.devices_steady_since = end;
        }
        self.cores[id].complete(&self.shared, answer.value, answer.steady, end);
        self.now = end;
        self.tensix.is_asleep()
    }

    /// Tells the cores how much room the instruction FIFOs have.
    pub(crate) fn grant_pushes(&mut self) {
        if !self.credits_stale {
            return;
        }
        self.credits_stale = false;
        CoreId::ALL.into_iter().for_each(|id| self.grant_push(id));
    }

    /// Tells a core how much room there is in the FIFOs that it can push into.
    #[inline]
    pub(crate) fn grant_push(&mut self, id: CoreId) {
        let Self { cores, tensix, now, .. } = self;
        match id.thread() {
            Some(thread) => cores[id].grant_push(0, tensix.push_credit(thread, false), *now),
            None if id == CoreId::Brisc => {
                for thread in ThreadId::ALL {
                    let room = tensix.push_credit(thread, true);
                    cores[id].grant_push(thread as u8, room, *now);
                }
            }
            None => {}
        }
    }

    /// When the first core goes on that waits by the wall clock.
    #[must_use]
    pub fn alarm(&self) -> Option<Cycle> {
        self.schedule().alarm
    }

    pub(crate) fn schedule(&self) -> Schedule {
        Schedule::of(&self.cores, self.config.epoch)
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

    /// [`Tile::begin_epoch`]
    pub(crate) fn begin_epoch_here(&mut self) -> bool {
        self.grant_pushes();
        let schedule = self.schedule_now();
        let is_quiet = self.tensix.is_asleep()
            && !self.retry_requests
            && schedule.running.is_empty()
            && schedule.alarm.is_none()
            && self.fabric.next_due().is_none();
        if is_quiet {
            self.quiet_since.get_or_insert(self.now);
        } else {
            self.quiet_since = None;
        }
        !is_quiet
    }

    /// The first cycle behind the epoch that begins now.
    #[must_use]
    pub fn epoch_end(&self) -> Cycle {
        self.now + self.config.epoch.cycles()
    }

    /// Has a core execute what it begins before `until` in the epoch that has begun. What it does to
    /// others takes effect with [`Tile::end_epoch`].
    pub fn run_core(&mut self, id: CoreId, until: Cycle) {
        let until = until.min(self.epoch_end());
        self.cores[id].run(&self.shared, until);
    }

    /// [`Tile::end_epoch`]
    pub(crate) fn end_epoch_here(&mut self) {
        let (start, end) = (self.now, self.epoch_end());
        for id in CoreId::ALL {
            self.cores[id].run(&self.shared, end);
        }
        self.commit(start, end);
    }

    /// The oldest mistake that nobody has been told of, if there is one.
    pub fn take_mistake(&mut self) -> Option<Box<GuestError>> {
        self.next_fault()
    }

    /// [`Tile::set_shortcuts`]
    pub(crate) fn set_shortcuts_here(&mut self, shortcuts: sim_core::Shortcuts) {
        self.config.shortcuts = shortcuts;
        self.tensix.set_shortcuts(shortcuts);
        self.wake_all();
        for id in CoreId::ALL {
            self.cores[id].set_shortcuts(shortcuts);
        }
    }

    /// The next mistake to be returned.
    #[inline]
    pub(crate) fn next_fault(&mut self) -> Option<Box<GuestError>> {
        if self.faults.is_empty() { None } else { self.take_fault() }
    }

    #[cold]
    fn take_fault(&mut self) -> Option<Box<GuestError>> {
        Some(Box::new(self.faults.remove(0)))
    }
}

/// The devices of a tile as the only core that runs uses them.
struct OwnDevices<'a, O: Observer + ?Sized> {
    tile: &'a mut Tile<O>,
    id: CoreId,
    /// Of which devices others look at registers.
    watched: Devices,
}

impl<O: Observer + ?Sized> OwnRegisters for OwnDevices<'_, O> {
    fn load(&mut self, addr: u32, cycle: Cycle, end: Cycle) -> Option<u32> {
        let Self { tile, id: _, watched } = self;
        if !tile.takes(Shortcut::ClockInPlace) || *watched != Devices::NONE {
            return None;
        }
        let value = tile.control.read_clock(addr.wrapping_sub(TILE_CONTROL), cycle)?;
        (tile.now, tile.devices_steady_since) = (end, end);
        Some(value)
    }

    fn store(&mut self, store: &Store) -> bool {
        let Self { tile, id, watched } = self;
        let is_silent = tile.takes(Shortcut::StoresInPlace)
            && !tile.store_shows(*id, store, *watched)
            && tile.is_certain(*id, store);
        if !is_silent {
            return false;
        }
        let end = tile.config.epoch.end_of_epoch(store.cycle);
        tile.apply_store(*id, store, end);
        // Nobody waits for one.
        tile.device_change = false;
        tile.devices_steady_since = tile.devices_steady_since.max(end);
        true
    }
}
