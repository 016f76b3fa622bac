//! Time: one epoch after the other until there is a reason to stop.

use devices::NocPacket;
use sim_core::engine::Engine;
use sim_core::{CoreId, Cycle, GuestError, Observer, Shortcut, Shortcuts};

use crate::ahead::Ahead;
use crate::alone::Alone;
use crate::commit::Commit;
use crate::cores::Cores;
use crate::fabric::{Deliveries, Unanswered};
use crate::host_wait::HostWait;
use crate::late::Mail;
use crate::quiesce::Quiescence;
use crate::schedule::{Schedule, goes_on};
use crate::tile::Tile;
use crate::unattended::{Standing, Unattended};
use crate::watchers::{DeviceSet, Watchers};

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

impl<O: Observer> Tile<O> {
    /// What the tile does next without the host, as its surroundings may see it: a message that nobody in the tile
    /// notices is nothing to visit it for.
    #[inline]
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        if self.moves_by_itself() || self.bus.fabric.has_own_due() {
            return Outlook { moves: true, alarm: None, mail: false };
        }
        self.rest()
    }
}

/// What a tile does next without the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outlook {
    /// Something happens there now. If not, the tile may be left alone until `alarm`, or until something is done to it;
    /// [`Tile::catch_up`] makes up for it.
    pub moves: bool,
    /// If nothing does: when the first core goes on that waits by the wall clock.
    pub alarm: Option<Cycle>,
    /// If nothing does: messages lie there.
    pub mail: bool,
}

impl<O: Observer + ?Sized> Tile<O> {
    /// [`Tile::run`]
    pub(crate) fn run_here(&mut self, limit: Cycle, wait: Option<HostWait>) -> Stop {
        let limit = self.bus.config.epoch.round_up(limit);
        self.bus.cores.set_host_watch(wait.map(|wait| wait.addr));
        self.bus.refresh_watches();
        loop {
            if let Some(fault) = self.bus.stops.next_fault() {
                return Stop::Fault(fault);
            }
            if wait.is_some_and(|wait| wait.is_met(self.bus.cores.l1())) {
                return Stop::Met;
            }
            if let Some(core) = self.bus.stops.halted.take() {
                return Stop::Halted(core);
            }
            if self.bus.now >= limit {
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
        while self.bus.now < limit && !(until_departure && self.bus.fabric.has_departures()) {
            if !self.advance(limit) {
                self.bus.now = limit;
            }
            self.bus.stops.halted = None;
            if let Some(fault) = self.bus.stops.next_fault() {
                return Err(fault);
            }
        }
        Ok(())
    }

    /// Whether anything can happen here by itself, now or later. What is not active
    /// may be left alone; [`Tile::pass_time`] makes up for it.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.is_moving() || self.alarm().is_some()
    }

    /// Whether anything can happen here now. What does not move may be left alone until
    /// [`Tile::alarm`].
    #[must_use]
    pub fn is_moving(&self) -> bool {
        self.moves_by_itself() || self.bus.fabric.next_due().is_some()
    }

    /// Whether anything but a packet happens here now.
    pub(crate) fn moves_by_itself(&self) -> bool {
        self.coprocessor_moves()
            || self.bus.changes.retry
            || !self.bus.stops.no_faults()
            || self.bus.cores.iter().any(|(_, core)| core.is_running())
    }

    /// Whether the coprocessor is at work: an instruction moves, or is carried out, or what one waited for is
    /// there since this cycle.
    #[must_use]
    pub fn coprocessor_moves(&self) -> bool {
        !self.bus.tensix.unit.is_asleep()
    }

    /// Whether the coprocessor or more than one core is at work.
    #[must_use]
    pub fn is_computing(&self) -> bool {
        self.coprocessor_moves()
            || self.bus.cores.iter().filter(|(_, core)| goes_on(core)).count() > 1
    }

    /// Whether requests to other endpoints are unanswered.
    fn awaits_answers(&self) -> bool {
        self.bus.fabric.unanswered().next().is_some()
    }

    /// The oldest request over a NoC that another endpoint has not answered.
    #[must_use]
    pub fn unanswered(&self, noc: u8) -> Option<Unanswered> {
        let mut packets = self.bus.fabric.unanswered().map(|entry| &entry.packet);
        packets.find(|packet| packet.noc & 1 == noc).map(Unanswered::new)
    }

    /// Whether a packet is under way that will change something here: an own request in any of its
    /// stages, its acknowledgement, or what others have sent. Whether an endpoint is where a request
    /// has gone, and so will answer, `exists` says of the request, given whether its coordinate is a
    /// translated one.
    #[must_use]
    pub fn has_packets(&self, exists: impl Fn(&NocPacket, bool) -> bool) -> bool {
        let translates =
            |packet: &NocPacket| self.bus.devices.nius[usize::from(packet.noc & 1)].translates();
        let mut unanswered = self.bus.fabric.unanswered().map(|entry| &entry.packet);
        self.bus.fabric.next_due().is_some()
            || unanswered.any(|packet| exists(packet, translates(packet)))
    }

    /// Lets time pass up to `limit` although nothing moves.
    pub fn pass_time(&mut self, limit: Cycle) {
        if !self.is_active() {
            self.quiescent_since.get_or_insert(self.bus.now);
        }
        self.bus.now = self.bus.now.max(self.bus.config.epoch.round_up(limit));
    }

    /// [`Tile::rest`]
    pub(crate) fn rest_here(&self) -> Outlook {
        let moves = !Mail { bus: &self.bus }.all_lie();
        let alarm = if moves { None } else { self.alarm() };
        Outlook { moves, alarm, mail: !moves && self.bus.fabric.has_mail() }
    }

    /// [`Tile::catch_up`]
    pub(crate) fn catch_up_here(&mut self, now: Cycle) {
        if self.bus.now >= now {
            return;
        }
        let (mut last, epoch) = (None, self.bus.config.epoch);
        while let Some(due) = self.bus.fabric.next_due()
            && due < now
        {
            let end = epoch.end_of_epoch(due);
            Deliveries { bus: &mut self.bus, end }.up_to(due);
            last = Some(end);
        }
        if let Some(end) = last {
            self.bus.packets_passed(end);
            self.quiescent_since = None;
        }
        self.pass_time(now);
    }

    /// The epoch boundary, `limit` at the latest, up to which nothing reaches the tile that is on its
    /// way already.
    pub(crate) fn undisturbed_until(&self, limit: Cycle) -> Cycle {
        let due = self.bus.fabric.next_due();
        due.map_or(limit, |due| self.bus.config.epoch.round_down(due).min(limit))
    }

    /// One epoch, or as many as a lone core needs, or as nothing else notices. `false`: nothing can
    /// move.
    pub(crate) fn advance(&mut self, limit: Cycle) -> bool {
        if self.bus.cores.observer.wants_look() {
            let Cores { observer, shared, .. } = &mut self.bus.cores;
            observer.look(&shared.l1);
        }
        self.bus.grant_pushes();
        let Schedule { running, alarm } = self.schedule_now();
        let limit = alarm.map_or(limit, |alarm| alarm.min(limit));
        if self.bus.tensix.unit.is_asleep() && !self.bus.changes.retry {
            let until = self.undisturbed_until(limit);
            if running.is_empty() && alarm.is_none() && self.bus.fabric.next_due().is_none() {
                self.quiescent_since.get_or_insert(self.bus.now);
                return false;
            }
            self.quiescent_since = None;
            if until > self.bus.now {
                if running.is_empty() && self.bus.takes(Shortcut::IdleEpochs) {
                    self.bus.now = until;
                    // What comes then passes at once where no core looks at registers, or else with the next call.
                    if until < limit
                        && !self.bus.cores.observer.wants_look()
                        && Watchers::of(&self.bus).watched_devices() == DeviceSet::NONE
                    {
                        self.pass_packets();
                    }
                    return true;
                }
                if let Some(core) = running.single()
                    && self.bus.takes(Shortcut::Alone)
                {
                    Alone { bus: &mut self.bus, id: core }.run(until);
                    return true;
                }
                if !running.is_empty() && self.ahead().run(running, until, false) {
                    return true;
                }
            } else if running.is_empty() && self.pass_packets() {
                return true;
            }
        }
        self.quiescent_since = None;
        if !self.bus.tensix.unit.is_asleep()
            && self.bus.takes(Shortcut::Unattended)
            && let Some(standing) = Standing::of(&self.bus)
        {
            let until = self.undisturbed_until(limit);
            if until > self.bus.now {
                Unattended { bus: &mut self.bus, limit: until }.run(standing);
                return true;
            }
        }
        // Time stands at an epoch boundary between epochs: no division needed.
        let (start, end) = (self.bus.now, self.bus.now + self.bus.config.epoch.cycles());
        debug_assert_eq!(end, self.bus.config.epoch.end_of_epoch(start));
        let Cores { slots, shared, .. } = &mut self.bus.cores;
        self.engine.run_phase(slots, running, shared, end);
        Commit::new(&mut self.bus, start, end).apply();
        true
    }

    /// Cores that go ahead on trial.
    fn ahead(&mut self) -> Ahead<'_, O> {
        let is_inline = matches!(self.engine, Engine::Inline);
        Ahead { bus: &mut self.bus, trials: &mut self.trials, is_inline }
    }

    /// An epoch in which no core runs, and packets do what nothing notices before its end. `false`: it is to
    /// be committed.
    fn pass_packets(&mut self) -> bool {
        let bus = &mut self.bus;
        let end = bus.now + bus.config.epoch.cycles();
        if !bus.takes(Shortcut::QuietPackets)
            || bus.cores.anybody_waits()
            || bus.tensix.unit.watched_l1().is_some()
            || Watchers::of(bus).packets_show(end)
        {
            return false;
        }
        bus.refresh_watches();
        while let Some(due) = bus.fabric.next_due()
            && due < end
        {
            Deliveries { bus, end }.up_to(due);
        }
        bus.packets_passed(end);
        true
    }

    /// When the first core goes on that waits by the wall clock.
    #[must_use]
    pub fn alarm(&self) -> Option<Cycle> {
        self.schedule().alarm
    }

    pub(crate) fn schedule(&self) -> Schedule {
        Schedule::of(&self.bus.cores.slots, self.bus.config.epoch)
    }

    /// Who executes, after cores have been woken whose alarm is due.
    pub(crate) fn schedule_now(&mut self) -> Schedule {
        let schedule = self.schedule();
        if schedule.alarm.is_none_or(|alarm| alarm > self.bus.now) {
            return schedule;
        }
        let next = self.bus.now + self.bus.config.epoch.cycles();
        for id in CoreId::ALL {
            let leaves = self.bus.cores[id].spin().and_then(riscv::Spin::leaves_at);
            if leaves.is_some_and(|leaves| leaves < next) {
                self.bus.cores.wake(id, self.bus.now);
            }
        }
        self.schedule()
    }

    /// [`Tile::venture`]
    pub(crate) fn venture_here(&mut self, limit: Cycle) {
        if self.is_undisturbed() && !self.awaits_answers() && !self.bus.fabric.has_departures() {
            let Schedule { running, alarm } = self.schedule();
            let limit = self.undisturbed_until(alarm.map_or(limit, |alarm| alarm.min(limit)));
            if !running.is_empty() && limit > self.bus.now {
                self.ahead().run(running, limit, true);
            }
        }
    }

    /// [`Tile::come_back`]
    pub(crate) fn come_back_here(&mut self, now: Cycle) {
        if self.bus.now <= now {
            return;
        }
        debug_assert!(self.trials.from <= now, "{} < {now}", self.trials.from);
        self.ahead().take_back();
        self.trials.failed(now);
        self.trials.recalls += 1;
        // It went this way before: no mistake, no message.
        while self.bus.now < now {
            if !self.advance(now) {
                self.bus.now = now;
            }
        }
    }

    /// How often the tile was ahead of the others and had to come back.
    #[must_use]
    pub fn recalls(&self) -> u64 {
        self.trials.recalls
    }

    /// Whether nothing but cores can do anything at present.
    fn is_undisturbed(&self) -> bool {
        self.bus.tensix.unit.is_asleep() && !self.bus.changes.retry && self.bus.stops.no_faults()
    }

    /// [`Tile::begin_epoch`]
    pub(crate) fn begin_epoch_here(&mut self) -> bool {
        self.bus.grant_pushes();
        let schedule = self.schedule_now();
        let is_quiescent = self.bus.tensix.unit.is_asleep()
            && !self.bus.changes.retry
            && schedule.running.is_empty()
            && schedule.alarm.is_none()
            && self.bus.fabric.next_due().is_none();
        if is_quiescent {
            self.quiescent_since.get_or_insert(self.bus.now);
        } else {
            self.quiescent_since = None;
        }
        !is_quiescent
    }

    /// The first cycle behind the epoch that begins now.
    #[must_use]
    pub fn epoch_end(&self) -> Cycle {
        self.bus.now + self.bus.config.epoch.cycles()
    }

    /// Has a core execute what it begins before `until` in the epoch that has begun. What it does to
    /// others takes effect with [`Tile::end_epoch`].
    pub fn run_core(&mut self, id: CoreId, until: Cycle) {
        let until = until.min(self.epoch_end());
        self.bus.cores.run(id, until);
    }

    /// [`Tile::end_epoch`]
    pub(crate) fn end_epoch_here(&mut self) {
        let (start, end) = (self.bus.now, self.epoch_end());
        for id in CoreId::ALL {
            self.bus.cores.run(id, end);
        }
        Commit::new(&mut self.bus, start, end).apply();
    }

    /// [`Tile::show_cycle`]
    pub(crate) fn show_cycle_here(&mut self, cycle: Cycle, gates_next: bool) {
        let (start, end) = (self.bus.now, self.epoch_end());
        for id in CoreId::ALL {
            self.bus.cores.run(id, end);
        }
        Commit::new(&mut self.bus, start, end).apply_before(cycle, gates_next);
    }

    /// The oldest mistake that has not been told, if there is one.
    pub fn take_mistake(&mut self) -> Option<Box<GuestError>> {
        self.bus.stops.next_fault()
    }

    /// [`Tile::set_shortcuts`]
    pub(crate) fn set_shortcuts_here(&mut self, shortcuts: Shortcuts) {
        self.bus.config.shortcuts = shortcuts;
        self.bus.cores.wake_all(self.bus.now);
        self.bus.hand_on_shortcuts();
    }
}
