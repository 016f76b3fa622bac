//! The commit phase: everything the cores did takes effect, in `(cycle, agent)` order,
//! interleaved with the coprocessor and the NoC.

use riscv::{Glance, Status, WatchedLoad};
use sim_core::l1::L1_BYTES;
use sim_core::{
    AgentId, CoreId, CoreSet, Cycle, Event, Observer, Request, RequestKind, Shortcut, Store,
    WaitReason,
};
use tensix::Attention;

use crate::bus::Bus;
use crate::debug::Debugger;
use crate::fabric::Deliveries;
use crate::plan;
use crate::tensix_env::Pushes;
use crate::waiting::Served;
use crate::watchers::{Watchers, is_pure_load};

/// The commit of the epoch `[start, end)`.
pub(crate) struct Commit<'a, O: Observer + ?Sized> {
    bus: &'a mut Bus<O>,
    start: Cycle,
    end: Cycle,
}

/// A cycle that does not come.
const NEVER: Cycle = Cycle(u64::MAX);

/// What a core still has to do in the epoch.
#[derive(Clone, Copy)]
struct Entry {
    core: CoreId,
    /// Its first store that has not been applied, by number,
    next: usize,
    /// and the cycle of that store.
    stores: Cycle,
    /// Its first store, of those, that is no push of a TRISC into its own thread, by number.
    others: usize,
    /// The cycle of its request, as long as that is not answered.
    asks: Cycle,
}

/// What the cores still have to do in the epoch.
struct Agenda {
    /// Of the cores that stored something or ask for something, in effect order; the first `acting` are valid.
    entries: [Entry; CoreId::COUNT],
    acting: usize,
    /// When a packet does something next.
    packets: Cycle,
}

impl Agenda {
    #[inline(always)]
    fn entries(&mut self) -> &mut [Entry] {
        &mut self.entries[..self.acting.min(CoreId::COUNT)]
    }

    /// Puts down what a core has to do, in place of what was there of it.
    fn put(&mut self, entry: Entry) {
        let at = self.entries().partition_point(|other| other.core < entry.core);
        if self.entries().get(at).is_none_or(|other| other.core != entry.core) {
            self.entries.copy_within(at..CoreId::COUNT - 1, at + 1);
            self.acting += 1;
        }
        self.entries[at] = entry;
    }
}

/// The next deed of somebody but the coprocessor.
struct Deed {
    cycle: Cycle,
    /// For what the coprocessor has to stop before then.
    attention: Attention,
    /// Before then TRISCs push.
    fed: bool,
}

/// When a request that was refused is to be tried again.
enum Patience {
    /// In every cycle.
    None,
    /// When the coprocessor has done something for a thread.
    Thread(Attention),
    /// When others than the coprocessor have done something.
    Others,
}

/// What the cores have done in an epoch, and how they stand behind it.
struct Census {
    /// The cores that stored something or ask for something.
    acting: CoreSet,
    /// The cores for which there is something to do behind the epoch.
    concerned: CoreSet,
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
        let reran = if census.watching {
            self.run_device_watchers(&census, (is_busy, is_due, is_awaited))
        } else {
            CoreSet::EMPTY
        };
        let is_apart = self.bus.tensix.unit.watched_l1().is_none();
        let in_cycles = census.asked
            || is_busy
            || is_due
            || is_awaited
            || !reran.is_empty()
            || !self.bus.takes(Shortcut::QuietCommits);
        if in_cycles {
            self.commit_cycles(census.acting.union(reran));
            if self.bus.tensix.unit.is_asleep() {
                self.bus.cores.wake_dozers(end, end);
                self.bus.cores.allow_parking();
                if census.watching && is_apart && !is_busy {
                    // Who was left parked on registers would read at the end what it has read.
                    self.bus.cores.renew_but(reran, end);
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
            || plan::may_skip_ends::<O>() && !census.stopped && self.bus.waits.no_push_waits();
        if in_cycles || !no_ends() {
            self.finish_cores(census.concerned.union(reran));
            self.bus.changes.retry = self.bus.changes.retry && self.bus.cores.anybody_waits();
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
        let (mut all, mut acting, mut concerned) =
            (Glance::default(), CoreSet::EMPTY, CoreSet::EMPTY);
        let (mut watching, mut stale) = (false, false);
        for (id, core) in self.bus.cores.iter() {
            let glance = core.glance();
            if let Some(spin) = core.spin()
                && spin.watches_devices()
            {
                watching = true;
                stale |= spin.seen() < self.bus.changes.steady_since;
            }
            all = all.or(glance);
            if glance.has(Glance::STORED.or(Glance::ASKS)) {
                acting.insert(id);
            }
            if glance.has(Glance::ERRED.or(Glance::STOPPED)) {
                concerned.insert(id);
            }
        }
        let mut census = Census {
            acting,
            concerned: concerned.union(acting),
            posted: all.has(Glance::STORED),
            asked: all.has(Glance::TO_DEVICE.or(Glance::ERRED)),
            stopped: all.has(Glance::STOPPED),
            parked: all.has(Glance::PARKED),
            watching,
            stale,
        };
        let may_skip_ends = plan::may_skip_ends::<O>();
        let pushing = if may_skip_ends { self.bus.waits.pushing() } else { CoreSet::ALL };
        census.concerned = census.concerned.union(pushing);
        if all.has(Glance::ASKS) && !census.asked {
            let mut requests = self.bus.cores.iter().filter_map(|(_, core)| core.batch.request);
            census.asked = requests.any(|request| request.cycle >= self.start);
        }
        census
    }

    /// Cores parked on device registers run this epoch like all others if something may
    /// change those registers in it, or changed them between their read and their parking. If that is only what
    /// the coprocessor does, cores doze of whose registers it changes none. Gives who ran, or may have.
    fn run_device_watchers(
        &mut self,
        census: &Census,
        (is_busy, is_due, is_awaited): (bool, bool, bool),
    ) -> CoreSet {
        if is_busy || is_awaited || !self.bus.takes(Shortcut::DeviceWatchers) {
            self.run_all_device_watchers(is_busy && !is_awaited);
            return CoreSet::ALL;
        }
        let mut shown = CoreSet::EMPTY;
        if is_due {
            shown = Watchers::of(self.bus).shown_by_packets(self.end);
        }
        if census.asked {
            shown = shown.union(Watchers::of(self.bus).shown_by_cores(self.start));
        }
        let mut reran = CoreSet::EMPTY;
        if shown.is_empty() && !census.stale {
            return reran;
        }
        for id in CoreId::ALL {
            let Some(spin) = self.bus.cores[id].spin().filter(|spin| spin.watches_devices()) else {
                continue;
            };
            if !shown.contains(id) {
                if spin.seen() >= self.bus.changes.steady_since {
                    continue;
                }
                // No device changes in this epoch that it looks at: if it would read again what it has read, it is parked
                // on values of this epoch from now on.
                if self.shows_the_same(id) {
                    self.bus.cores[id].renew_spin(self.start);
                    continue;
                }
            }
            self.rerun(id);
            reran.insert(id);
        }
        reran
    }

    /// All cores parked on device registers run this epoch like all others, or doze if they may.
    fn run_all_device_watchers(&mut self, may_doze: bool) {
        let may_doze = may_doze
            && plan::may_doze::<O>()
            && self.bus.takes(Shortcut::Dozing)
            && self.bus.debug_queue.is_empty();
        let mut dozers = CoreSet::EMPTY;
        for id in CoreId::ALL {
            let Some(spin) = self.bus.cores[id].spin().filter(|spin| spin.watches_devices()) else {
                continue;
            };
            if may_doze && spin.may_doze() && Watchers::of(self.bus).looks_at_plain(id) {
                dozers.insert(id);
            } else {
                self.rerun(id);
            }
        }
        if dozers.is_empty() {
            return;
        }
        let shows = self.bus.fabric.is_due_before(self.end)
            && Watchers::of(self.bus).packets_show(self.end)
            || Watchers::of(self.bus).cores_touch(self.start);
        for id in dozers.iter() {
            if !shows && (self.bus.cores.is_dozing(id) || self.shows_the_same(id)) {
                self.bus.cores.doze(id, self.start);
            } else {
                self.rerun(id);
            }
        }
    }

    /// A core parked on device registers runs this epoch like all others.
    fn rerun(&mut self, id: CoreId) {
        self.bus.cores.wake_for_epoch(id, self.start, self.end);
        self.bus.cores.run(id, self.end);
    }

    /// Whether a core parked on devices would read again what it has read.
    fn shows_the_same(&mut self, id: CoreId) -> bool {
        let mut at = 0;
        while let Some(load) = self.bus.cores[id].spin().and_then(|spin| spin.loads().get(at)) {
            let load = *load;
            if load.device && !self.still_shows(id, &load) {
                return false;
            }
            at += 1;
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

    /// What packets and cores do in a cycle, before the coprocessor's turn. Whether a device may have changed.
    #[inline(always)]
    fn begin_cycle(&mut self, cycle: Cycle, agenda: &mut Agenda) -> bool {
        let end = self.end;
        self.bus.changes.this_cycle = false;
        if agenda.packets <= cycle {
            Deliveries { bus: self.bus, end }.up_to(cycle);
        }
        let mut changed = self.bus.changes.this_cycle;
        for entry in agenda.entries() {
            if entry.stores <= cycle {
                changed |= self.apply_stores(entry, cycle);
            }
            let id = entry.core;
            if entry.asks <= cycle && !self.still_waits(id) {
                changed |= self.bus.try_request(id, cycle, end);
                let is_open = self.bus.cores[id].batch.request.is_some()
                    && self.bus.waits.answers[id.index()].is_none();
                if !is_open {
                    entry.asks = NEVER;
                }
            }
        }
        changed
    }

    /// Applies what a core has stored up to a cycle. Whether a device may have changed.
    #[inline(always)]
    fn apply_stores(&mut self, entry: &mut Entry, cycle: Cycle) -> bool {
        let (mut changed, id) = (false, entry.core);
        loop {
            let Some(&store) = self.posted(id, entry.next) else {
                entry.stores = NEVER;
                break;
            };
            if store.cycle > cycle {
                entry.stores = store.cycle;
                break;
            }
            entry.next += 1;
            if self.is_on(id) {
                self.bus.apply_store(id, &store, self.end);
            }
            // What is pushed changes nothing that others wait for.
            changed |= store.addr >= L1_BYTES && entry.next > entry.others;
            if entry.next > entry.others {
                entry.others = self.pushed(id, entry.next);
            }
        }
        changed
    }

    /// Whether a core was not put into reset meanwhile: then it has not done the rest.
    #[inline]
    fn is_on(&self, id: CoreId) -> bool {
        !matches!(self.bus.cores[id].status(), Status::Reset)
    }

    /// The first store of a core from a number on that does not push into the core's own thread.
    #[inline]
    fn pushed(&self, id: CoreId, from: usize) -> usize {
        let core = &self.bus.cores[id];
        if core.batch.device_stores == 0
            || id.thread().is_none()
            || !self.bus.takes(Shortcut::FedPushes)
        {
            return from;
        }
        from + core.leading_pushes(from)
    }

    /// The coprocessor's part in a cycle that has begun: whether it has one.
    #[inline]
    fn calls_coprocessor(&mut self) -> bool {
        let unit = &mut self.bus.tensix.unit;
        let is_awake = !unit.is_asleep();
        if unit.watched_l1().is_some() {
            unit.wake();
        }
        is_awake
    }

    /// Applies the cycles of the epoch before `until`, to be looked at: nothing goes on from there. With
    /// `gates_next` also what comes before the coprocessor's turn in that cycle.
    pub(crate) fn apply_before(&mut self, until: Cycle, gates_next: bool) {
        self.bus.refresh_watches();
        let (mut agenda, mut cycle) = (self.agenda(CoreSet::ALL), self.start);
        while cycle < until.min(self.end) {
            self.begin_cycle(cycle, &mut agenda);
            self.calls_coprocessor();
            if !self.bus.tensix.unit.is_asleep() {
                self.bus.run_tensix(cycle, cycle + 1);
            }
            agenda.packets = self.packets();
            cycle += 1;
        }
        if gates_next && cycle < self.end {
            self.begin_cycle(cycle, &mut agenda);
            self.calls_coprocessor();
        }
    }

    /// Goes through the epoch cycle by cycle.
    fn commit_cycles(&mut self, cores: CoreSet) {
        let Self { start, end, .. } = *self;
        self.bus.refresh_watches();
        self.bus.changes.woken = CoreSet::EMPTY;
        let mut agenda = self.agenda(cores);
        let mut cycle = self.first_deed(&agenda);
        let mut settled = cycle > start;
        self.bus.changes.this_cycle = false;
        while cycle < end {
            let others_changed = self.begin_cycle(cycle, &mut agenda);
            if let Some(until) = self.plain_deed(&mut agenda, cycle) {
                settled = !others_changed;
                if others_changed {
                    self.bus.changes.steady_since = cycle + 1;
                }
                // Nothing happens in the cycles between.
                self.bus.changes.this_cycle &= until == cycle + 1;
                cycle = until;
                continue;
            }
            let mut changed = others_changed | self.calls_coprocessor();
            let Deed { cycle: until, attention, fed } =
                self.next_deed(&mut agenda, cycle + 1, others_changed);
            let mut done = cycle + 1;
            settled = !others_changed;
            if fed || !self.bus.tensix.unit.is_asleep() {
                changed = true;
                let noticed;
                (done, noticed) = if fed {
                    self.feed((cycle, until), attention, &mut agenda)
                } else {
                    self.bus.run_tensix_for(cycle, until, attention)
                };
                if noticed {
                    settled = false;
                    // It may have sent one.
                    agenda.packets = self.packets();
                    self.join(&mut agenda);
                }
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
        self.bus.changes.settled = settled.then_some(end);
        self.bus.tensix.credits_stale = true;
        if self.bus.tensix.unit.watched_l1().is_some() {
            // The lone runner has to know before the next epoch begins.
            self.bus.refresh_watches();
        }
    }

    /// The coprocessor up to the next deed of others, with what TRISCs push until then. Gives what
    /// [`Bus::run_tensix_for`] does.
    fn feed(
        &mut self,
        span: (Cycle, Cycle),
        attention: Attention,
        agenda: &mut Agenda,
    ) -> (Cycle, bool) {
        let mut pushes = Pushes::default();
        for entry in agenda.entries() {
            if let Some(thread) = entry.core.thread()
                && self.is_on(entry.core)
            {
                pushes[thread.index()] = entry.next..entry.others;
            }
        }
        let ran = self.bus.run_tensix_fed(span, attention, &mut pushes);
        for entry in agenda.entries() {
            if let Some(thread) = entry.core.thread()
                && pushes[thread.index()].end != 0
            {
                entry.next = pushes[thread.index()].start;
                entry.stores = self.posted(entry.core, entry.next).map_or(NEVER, |s| s.cycle);
            }
        }
        ran
    }

    /// What some cores have to do in the epoch.
    #[inline]
    fn agenda(&self, cores: CoreSet) -> Agenda {
        let none = Entry { core: CoreId::Brisc, next: 0, stores: NEVER, others: 0, asks: NEVER };
        let mut agenda =
            Agenda { entries: [none; CoreId::COUNT], acting: 0, packets: self.packets() };
        for id in CoreId::ALL {
            if cores.contains(id)
                && let Some(entry) = self.entry(id)
            {
                agenda.entries[agenda.acting] = entry;
                agenda.acting += 1;
            }
        }
        agenda
    }

    /// What a core has to do in the epoch, if it has.
    #[inline(always)]
    fn entry(&self, core: CoreId) -> Option<Entry> {
        let batch = &self.bus.cores[core].batch;
        let stores = batch.stores.first().map_or(NEVER, |store| store.cycle);
        let asks = batch.request.map_or(NEVER, |request| request.cycle);
        if stores.min(asks) == NEVER {
            return None;
        }
        Some(Entry { core, next: 0, stores, others: self.pushed(core, 0), asks })
    }

    /// Cores that the coprocessor's register stores have woken take part in the rest of the epoch.
    fn join(&mut self, agenda: &mut Agenda) {
        let woken = std::mem::take(&mut self.bus.changes.woken);
        for core in woken.iter() {
            let nothing = Entry { core, next: 0, stores: NEVER, others: 0, asks: NEVER };
            agenda.put(self.entry(core).unwrap_or(nothing));
        }
    }

    /// When a packet does something next.
    #[inline]
    fn packets(&self) -> Cycle {
        self.bus.fabric.next_due().unwrap_or(NEVER)
    }

    /// Whether cycles in which neither a core nor a packet does anything are nothing to the coprocessor.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        let unit = &self.bus.tensix.unit;
        unit.is_asleep() && unit.watched_l1().is_none() && self.bus.takes(Shortcut::BusySpans)
    }

    /// When after `cycle` a core or a packet does something next, if the coprocessor sleeps, nobody pushes or waits for
    /// an answer, and so nothing else can happen before then.
    #[inline(always)]
    fn plain_deed(&mut self, agenda: &mut Agenda, cycle: Cycle) -> Option<Cycle> {
        if !self.is_plain() {
            return None;
        }
        agenda.packets = self.packets();
        let mut deed = agenda.packets.min(self.end);
        for &mut Entry { next, stores, others, asks, .. } in agenda.entries() {
            if next < others || asks <= cycle {
                return None;
            }
            deed = deed.min(stores).min(asks);
        }
        Some(deed.max(cycle + 1))
    }

    /// The cycle of the epoch before which nothing happens; its end if nothing does at all.
    #[inline(always)]
    fn first_deed(&self, agenda: &Agenda) -> Cycle {
        if !self.is_plain() {
            return self.start;
        }
        let entries = &agenda.entries[..agenda.acting.min(CoreId::COUNT)];
        let cores = entries.iter().fold(NEVER, |first, own| first.min(own.stores).min(own.asks));
        cores.min(agenda.packets).max(self.start).min(self.end)
    }

    /// The first cycle, `soonest` or later, in which a core or a packet does something. `others_changed`: in the
    /// cycle before, something may have changed that the coprocessor did not.
    fn next_deed(&mut self, agenda: &mut Agenda, soonest: Cycle, others_changed: bool) -> Deed {
        let (mut attention, mut pushes) = (Attention::NONE, NEVER);
        agenda.packets = self.packets();
        if !self.bus.takes(Shortcut::BusySpans) {
            return Deed { cycle: soonest, attention, fed: false };
        }
        let mut deed = agenda.packets.min(self.end);
        for &mut Entry { core: id, next, stores, others, asks } in agenda.entries() {
            if next < others && self.is_on(id) {
                pushes = pushes.min(stores);
                deed = deed.min(self.posted(id, others).map_or(NEVER, |store| store.cycle));
            } else {
                deed = deed.min(stores);
            }
            if asks >= soonest {
                deed = deed.min(asks);
            } else if others_changed && !self.still_waits(id) {
                deed = soonest;
            } else {
                match self.patience(id) {
                    Patience::None => deed = soonest,
                    Patience::Thread(thread) => attention |= thread,
                    Patience::Others => {}
                }
            }
        }
        let cycle = deed.max(soonest);
        Deed { cycle, attention, fed: pushes < cycle }
    }

    /// Whether a core waits in TTSync for a thread that has something in flight: its request would be refused as it
    /// was the last time.
    #[inline]
    fn still_waits(&self, id: CoreId) -> bool {
        let syncs = self.bus.waits.requests[id.index()].as_ref().and_then(|wait| wait.syncs);
        syncs.is_some_and(|thread| self.bus.waits_in_ttsync(thread))
            && self.bus.takes(Shortcut::PatientRequests)
    }

    /// When the request of a core is to be tried again, which was refused in the cycle before.
    fn patience(&mut self, id: CoreId) -> Patience {
        if !self.bus.takes(Shortcut::PatientRequests) {
            return Patience::None;
        }
        let Some(wait) = self.bus.waits.requests[id.index()] else { return Patience::None };
        match wait.reason {
            _ if wait.is_for_cores() => Patience::Others,
            WaitReason::CoprocessorBusy { thread } | WaitReason::MopBusy { thread }
                if self.bus.tensix.unit.stands_still(thread) =>
            {
                Patience::Thread(Attention::STIRRING)
            }
            // Auto TTSync does not wait for all instructions of the thread.
            WaitReason::CoprocessorBusy { thread } if self.bus.tensix.tracked == 0 => {
                Patience::Thread(Attention::idle(thread))
            }
            _ => Patience::None,
        }
    }

    /// Gives the cores that are concerned their answers, and observers and host what they have done, after all took effect.
    fn finish_cores(&mut self, concerned: CoreSet) {
        let end = self.end;
        for id in concerned.iter() {
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
