//! The commit phase: everything the cores did takes effect, in `(cycle, agent)` order,
//! interleaved with the coprocessor and the NoC.

use riscv::{Status, WatchedLoad};
use sim_core::l1::L1_BYTES;
use sim_core::{
    AgentId, CoreId, CoreSet, Cycle, Event, Observer, Request, RequestKind, Shortcut, Store,
    WaitReason,
};

use crate::bus::Bus;
use crate::debug::Debugger;
use crate::fabric::Deliveries;
use crate::plan;
use crate::waiting::Served;
use crate::watchers::{Watchers, is_pure_load};

/// The commit of the epoch `[start, end)`.
pub(crate) struct Commit<'a, O: Observer + ?Sized> {
    bus: &'a mut Bus<O>,
    start: Cycle,
    end: Cycle,
}

/// The next deed of somebody but the coprocessor.
struct Deed {
    cycle: Cycle,
    /// The coprocessor has to stop before then when a thread that stood still may go on.
    awaits_thread: bool,
}

/// What the cores have done in an epoch, and how they stand behind it.
#[derive(Default)]
struct Census {
    /// A core has posted a store.
    posted: bool,
    /// A core has stored to a device, asked one, or made a mistake.
    asked: bool,
    /// A core halted, or waits for room in an instruction FIFO.
    stopped: bool,
    /// A core is parked.
    parked: bool,
    /// A core is parked on registers,
    watching: bool,
    /// and on values from before the last change of a device.
    stale: bool,
}

impl<'a, O: Observer + ?Sized> Commit<'a, O> {
    pub(crate) fn new(bus: &'a mut Bus<O>, start: Cycle, end: Cycle) -> Self {
        Self { bus, start, end }
    }

    /// Applies the epoch. Behind it the tile stands at its end.
    pub(crate) fn apply(&mut self) {
        let (end, census) = (self.end, self.census());
        let is_busy = self.bus.changes.retry || !self.bus.tensix.unit.is_asleep();
        let is_due = self.bus.fabric.is_due_before(end);
        // An atomic of the coprocessor may wait for one of these stores.
        let is_awaited = census.posted && self.bus.tensix.unit.watched_l1().is_some();
        // Whether anything may change in this epoch that a parked core looks at.
        let shows = census.watching
            && (is_busy
                || is_awaited
                || is_due && Watchers::of(self.bus).packets_show(end)
                || Watchers::of(self.bus).cores_show(self.start));
        let reruns = shows || census.stale && !self.renew_device_watchers();
        if reruns {
            self.run_device_watchers();
        }
        let in_cycles = census.asked
            || is_busy
            || is_due
            || is_awaited
            || reruns
            || !self.bus.takes(Shortcut::QuietCommits);
        if in_cycles {
            self.commit_cycles();
            if self.bus.tensix.unit.is_asleep() {
                for id in CoreId::ALL {
                    self.bus.cores[id].allow_parking();
                }
            }
        } else if census.posted {
            // The words of cores that parked in this very epoch must be known; without such
            // cores there is only what the host watches.
            if census.parked || !self.bus.cores.only_host_watches() {
                self.bus.refresh_watches();
            }
            self.bus.cores.apply_posted(self.start, end, self.bus.config.shortcuts);
        }
        self.bus.cores.wake_by_stores(end);
        self.bus.now = end;
        let no_ends =
            plan::may_skip_ends::<O>() && !census.stopped && self.bus.waits.no_push_waits();
        if in_cycles || !no_ends {
            self.finish_cores();
            self.bus.changes.retry &= self.bus.cores.anybody_waits();
            if !self.bus.debug_queue.is_empty() {
                Debugger { bus: self.bus }.run_queue();
            }
        } else if census.posted {
            // No core got an answer, failed, halted or began to wait.
            self.bus.cores.clear_posted();
        }
    }

    #[inline]
    fn census(&self) -> Census {
        let mut census = Census::default();
        for (_, core) in self.bus.cores.iter() {
            let batch = &core.batch;
            census.posted |= !batch.stores.is_empty();
            if core.is_plain() {
                continue;
            }
            census.asked |= batch.device_stores != 0
                || batch.fault.is_some()
                || batch.request.is_some_and(|request| request.cycle >= self.start);
            match core.status() {
                Status::Parked(spin) => {
                    census.parked = true;
                    if spin.watches_devices() {
                        census.watching = true;
                        census.stale |= spin.seen() < self.bus.changes.steady_since;
                    }
                }
                Status::Halted | Status::PushBlocked(_) => census.stopped = true,
                _ => {}
            }
        }
        census
    }

    /// Cores parked on device registers run this epoch like all others: something that may
    /// change those registers happens in it, or happened between their read and their parking.
    fn run_device_watchers(&mut self) {
        for id in CoreId::ALL {
            if self.bus.cores[id].spin().is_some_and(riscv::Spin::watches_devices) {
                self.bus.cores.wake(id, self.start);
                self.bus.cores.run(id, self.end);
            }
        }
    }

    /// In an epoch in which no device changes: whether all cores parked on devices would read again
    /// what they have read. If so, they are parked on values of this epoch from now on.
    fn renew_device_watchers(&mut self) -> bool {
        if !self.bus.takes(Shortcut::DeviceWatchers) {
            return false;
        }
        for id in CoreId::ALL {
            let Some(spin) = self.bus.cores[id].spin().filter(|spin| spin.watches_devices()) else {
                continue;
            };
            let loads: Vec<_> = spin.loads.iter().filter(|load| load.device).copied().collect();
            if !loads.iter().all(|load| self.still_shows(id, load)) {
                return false;
            }
            self.bus.cores[id].renew_spin(self.start);
        }
        true
    }

    /// Whether a register shows that value, and can be looked at without changing anything.
    fn still_shows(&mut self, id: CoreId, load: &WatchedLoad) -> bool {
        let WatchedLoad { addr, value, width, pc, .. } = *load;
        let request = Request { cycle: self.start, addr, pc, width, kind: RequestKind::Load };
        if !is_pure_load(id, &request) {
            return false;
        }
        match self.bus.serve(id, &request, self.start, self.end) {
            Ok(Served::Done(answer)) => answer.steady && answer.value & width.mask() == value,
            _ => false,
        }
    }

    /// A store that a core has posted, by its number.
    #[inline]
    fn posted(&self, id: CoreId, index: usize) -> Option<&Store> {
        self.bus.cores[id].batch.stores.get(index)
    }

    /// What packets and cores do in a cycle, before the coprocessor's turn; `next` is the first store of each core
    /// that has not been applied. Whether a device may have changed.
    #[inline]
    fn begin_cycle(
        &mut self,
        cycle: Cycle,
        acting: CoreSet,
        next: &mut [usize; CoreId::COUNT],
    ) -> bool {
        let end = self.end;
        self.bus.changes.this_cycle = false;
        Deliveries { bus: self.bus, end }.up_to(cycle);
        let mut changed = self.bus.changes.this_cycle;
        for id in acting.iter() {
            while let Some(&store) = self.posted(id, next[id.index()])
                && store.cycle <= cycle
            {
                next[id.index()] += 1;
                // A core that was put into reset meanwhile has not done the rest.
                if !matches!(self.bus.cores[id].status(), Status::Reset) {
                    self.bus.apply_store(id, &store, end);
                }
                changed |= store.addr >= L1_BYTES;
            }
            changed |= self.bus.try_request(id, cycle, end);
        }
        changed |= !self.bus.tensix.unit.is_asleep();
        if self.bus.tensix.unit.watched_l1().is_some() {
            self.bus.tensix.unit.wake();
        }
        changed
    }

    /// Applies the cycles of the epoch before `until`, to be looked at: nothing goes on from there. With
    /// `gates_next` also what comes before the coprocessor's turn in that cycle.
    pub(crate) fn apply_before(&mut self, until: Cycle, gates_next: bool) {
        self.bus.refresh_watches();
        let (acting, mut next, mut cycle) = (self.acting(), [0; CoreId::COUNT], self.start);
        while cycle < until.min(self.end) {
            self.begin_cycle(cycle, acting, &mut next);
            if !self.bus.tensix.unit.is_asleep() {
                self.bus.run_tensix(cycle, cycle + 1);
            }
            cycle += 1;
        }
        if gates_next && cycle < self.end {
            self.begin_cycle(cycle, acting, &mut next);
        }
    }

    /// Goes through the epoch cycle by cycle.
    fn commit_cycles(&mut self) {
        let Self { start, end, .. } = *self;
        self.bus.refresh_watches();
        let acting = self.acting();
        let mut next = [0; CoreId::COUNT];
        let mut cycle = start;
        while cycle < end {
            let mut changed = self.begin_cycle(cycle, acting, &mut next);
            let Deed { cycle: until, awaits_thread } = self.next_deed(acting, &next, cycle + 1);
            let mut done = cycle + 1;
            if !self.bus.tensix.unit.is_asleep() {
                changed = true;
                (done, _) = self.bus.run_tensix_for(cycle, until, awaits_thread);
            }
            if changed {
                self.bus.changes.steady_since = done;
            }
            cycle = done;
            if self.bus.tensix.unit.is_asleep() && until > done {
                // Nothing happens in the cycles between.
                self.bus.changes.this_cycle = false;
                cycle = until;
            }
        }
        self.bus.changes.retry = self.bus.changes.this_cycle;
        self.bus.tensix.credits_stale = true;
        if self.bus.tensix.unit.watched_l1().is_some() {
            // The lone runner has to know before the next epoch begins.
            self.bus.refresh_watches();
        }
    }

    /// The cores that stored something or ask for something.
    fn acting(&self) -> CoreSet {
        let mut acting = CoreSet::EMPTY;
        for (id, core) in self.bus.cores.iter() {
            if !core.batch.stores.is_empty() || core.batch.request.is_some() {
                acting.insert(id);
            }
        }
        acting
    }

    /// The first cycle, `soonest` or later, in which a core or a packet does something.
    fn next_deed(
        &mut self,
        acting: CoreSet,
        next: &[usize; CoreId::COUNT],
        soonest: Cycle,
    ) -> Deed {
        let end = self.end;
        if !self.bus.takes(Shortcut::BusySpans) {
            return Deed { cycle: soonest, awaits_thread: false };
        }
        let mut deed = self.bus.fabric.next_due().map_or(end, |due| due.min(end));
        let mut awaits_thread = false;
        for id in acting.iter() {
            if let Some(store) = self.posted(id, next[id.index()]) {
                deed = deed.min(store.cycle);
            }
            if let Some(request) = &self.bus.cores[id].batch.request
                && self.bus.waits.answers[id.index()].is_none()
            {
                let cycle = request.cycle;
                if self.awaits_still_thread(id) {
                    awaits_thread = true;
                } else {
                    // What could not be answered is tried again in every cycle.
                    deed = deed.min(cycle);
                }
            }
        }
        Deed { cycle: deed.max(soonest), awaits_thread }
    }

    /// Whether a core waits for a thread of the coprocessor to finish that waits itself, for others.
    fn awaits_still_thread(&mut self, id: CoreId) -> bool {
        let reason = self.bus.waits.requests[id.index()].map(|wait| wait.reason);
        match reason {
            Some(WaitReason::CoprocessorBusy { thread } | WaitReason::MopBusy { thread }) => {
                self.bus.tensix.unit.stands_still(thread)
            }
            _ => false,
        }
    }

    /// Gives the cores their answers, and observers and host what the cores have done, after all took effect.
    fn finish_cores(&mut self) {
        let end = self.end;
        for id in CoreId::ALL {
            if let Some(answer) = self.bus.waits.answers[id.index()].take() {
                self.bus.cores.complete(id, answer, end);
                self.bus.collect_debug_result(id);
            }
            let core = &mut self.bus.cores[id];
            if let Some(fault) = core.batch.fault.take() {
                self.bus.report(fault);
            }
            let core = &mut self.bus.cores[id];
            if matches!(core.status(), Status::Halted) && self.bus.stops.has_halted(id) {
                let pc = core.pc();
                // What halts by itself is news for what drives the chip.
                if core.pause_reasons() & riscv::debug::reason::EBREAK != 0 {
                    self.bus.stops.note_ebreak(id, pc, end);
                }
                self.bus.stops.halted.get_or_insert(id);
                self.bus.emit(end, AgentId::Core(id), pc, || Event::Halt { core: id });
            }
            self.bus.track_push_block(id, end);
            self.bus.cores.hand_over_logs(id);
            self.bus.cores[id].clear_posted();
        }
    }
}
