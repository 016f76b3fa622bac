//! What is between cores, devices, NoC and coprocessor: each access of one to another comes through here.
//!
//! The bus has no time of its own. It is told in which cycle something is asked for and where the epoch ends, and
//! answers. Stores are in `route`, loads in `loads`, what a debugger asks for in `debug`.

use devices::{DebugAccess, DeviceFault};
use memory_map::View;
use riscv::Status;
use sim_core::{
    AgentId, Context, CoreId, Cycle, Event, GuestError, L1, L1Image, Observer, Request, Shortcut,
    Stamp, StateHasher, ThreadId, WaitReason, Width,
};
use tensix::{Attention, Coprocessor, DoorError, Origin};

use crate::asker::{Asker, pushed_thread};
use crate::config::TileConfig;
use crate::cores::{Cores, CoresState};
use crate::devices::Devices;
use crate::env::{Deferred, TensixEnv};
use crate::fabric::Fabric;
use crate::faults::Stops;
use crate::tensix_env::{Pushes, Tensix};
use crate::waiting::{Changes, CoreWait, PushWait, Served, Waits};

/// Everything of a tile that has state of its own, as the parts of it reach each other.
#[derive(Debug)]
pub(crate) struct Bus<O: ?Sized> {
    pub(crate) config: TileConfig,
    /// Where the cores stand: an epoch boundary.
    pub(crate) now: Cycle,
    pub(crate) devices: Devices,
    pub(crate) tensix: Tensix,
    pub(crate) fabric: Fabric,
    pub(crate) waits: Waits,
    pub(crate) changes: Changes,
    pub(crate) stops: Stops,
    /// Accesses to the cores' debug registers in this epoch.
    pub(crate) debug_queue: Vec<(Asker, DebugAccess)>,
    /// Last, as the observer is in it.
    pub(crate) cores: Cores<O>,
}

/// The state of a tile between two epochs.
#[derive(Clone, Debug)]
pub(crate) struct BusState {
    pub(crate) now: Cycle,
    devices: Devices,
    tensix: Tensix,
    fabric: Fabric,
    waits: Waits,
    changes: Changes,
    stops: Stops,
    debug_queue: Vec<(Asker, DebugAccess)>,
    pub(crate) cores: CoresState,
}

impl<O: Observer> Bus<O> {
    /// As after power-on, over L1 as it is.
    pub(crate) fn new(config: TileConfig, observer: O, l1: L1) -> Self {
        Self {
            now: Cycle::ZERO,
            devices: Devices::new(&config),
            tensix: Tensix::new(&config),
            fabric: Fabric::new(config.networked),
            waits: Waits::default(),
            changes: Changes::new(),
            stops: Stops::new(),
            debug_queue: Vec::new(),
            cores: Cores::new(&config, observer, l1),
            config,
        }
    }
}

impl<O: Observer + ?Sized> Bus<O> {
    /// Adds the state, or with `whole` not set that of the devices only.
    pub(crate) fn hash_state(&self, hasher: &mut StateHasher, whole: bool) {
        let Self {
            now,
            devices,
            tensix,
            fabric,
            cores,
            // It defines the machine.
            config: _,
            // What was found, told or is to be: it follows from the rest, or decides about nothing.
            waits: _,
            changes: _,
            stops: _,
            // Empty between epochs.
            debug_queue: _,
        } = self;
        if whole {
            hasher.u64(now.0);
            cores.hash_state(hasher);
        }
        devices.hash_state(hasher);
        tensix.hash_state(hasher);
        fabric.hash_state(hasher);
    }

    /// The state as it is between two epochs. Pages of L1 that have not changed since `like` are shared with it.
    pub(crate) fn snapshot(&self, like: &L1Image) -> BusState {
        let Self {
            config: _,
            now,
            devices,
            tensix,
            fabric,
            waits,
            changes,
            stops,
            debug_queue,
            cores,
        } = self;
        BusState {
            now: *now,
            devices: devices.clone(),
            tensix: tensix.clone(),
            fabric: fabric.clone(),
            waits: waits.clone(),
            changes: changes.clone(),
            stops: stops.clone(),
            debug_queue: debug_queue.clone(),
            cores: cores.snapshot(like),
        }
    }

    /// Goes back to a snapshot. What was chosen of shortcuts stays chosen.
    pub(crate) fn restore(&mut self, state: &BusState) {
        let BusState { now, devices, tensix, fabric, waits, changes, stops, debug_queue, cores } =
            state;
        self.now = *now;
        self.devices.clone_from(devices);
        self.tensix.clone_from(tensix);
        self.fabric.clone_from(fabric);
        self.waits.clone_from(waits);
        self.changes.clone_from(changes);
        self.stops.clone_from(stops);
        self.debug_queue.clone_from(debug_queue);
        self.cores.restore(cores);
        self.hand_on_shortcuts();
    }

    /// Has cores and coprocessor take the shortcuts that are configured.
    pub(crate) fn hand_on_shortcuts(&mut self) {
        let shortcuts = self.config.shortcuts;
        self.tensix.unit.set_shortcuts(shortcuts);
        for id in CoreId::ALL {
            self.cores[id].set_shortcuts(shortcuts);
        }
    }

    /// Whether a way to the same result may be taken.
    #[inline]
    pub(crate) fn takes(&self, shortcut: Shortcut) -> bool {
        self.config.shortcuts.has(shortcut)
    }

    /// Emits an event; the closure is not even called when nobody listens.
    #[inline]
    pub(crate) fn emit(
        &mut self,
        cycle: Cycle,
        agent: AgentId,
        pc: u32,
        event: impl FnOnce() -> Event,
    ) {
        self.cores.emit(cycle, agent, pc, event);
    }

    /// Tells the lone runner which words are watched.
    pub(crate) fn refresh_watches(&mut self) {
        self.cores.refresh_watches(self.tensix.unit.watched_l1());
    }

    /// Nothing but packets has happened up to `now`, and no device that anybody looks at has changed but by them.
    pub(crate) fn packets_passed(&mut self, now: Cycle) {
        self.changes.this_cycle = false;
        self.changes.steady_since = now;
        self.cores.wake_by_stores(now);
        self.now = now;
    }

    /// Notes a mistake and stops what made it.
    #[cold]
    pub(crate) fn report(&mut self, fault: Box<GuestError>) {
        let first = match fault.at.agent {
            AgentId::Core(id) => {
                if !matches!(self.cores[id].status(), Status::Reset) {
                    // It went on to the end of the epoch, perhaps into a loop it was parked in.
                    self.cores.wake(id, self.config.epoch.end_of_epoch(fault.at.cycle));
                    self.cores[id].stop_faulted();
                }
                self.stops.has_failed(id, &fault)
            }
            AgentId::Thread(thread) => {
                let is_first = self.tensix.unit.stop_thread(thread);
                if is_first {
                    self.stops.has_stopped(thread, &fault);
                }
                is_first
            }
            AgentId::Unit(_) | AgentId::Noc(_) | AgentId::Host => true,
        };
        if first {
            self.stops.keep(fault);
        }
    }

    /// What the coprocessor's front door gave; if it refused and that check is lowered, nothing.
    pub(crate) fn through_door<T: Default>(
        &mut self,
        asker: Asker,
        passed: Result<T, DoorError>,
    ) -> Result<T, DeviceFault> {
        passed.or_else(|error| match self.tensix.unit.door_refused(error, asker.stamp()) {
            Ok(()) => Ok(T::default()),
            Err(error) => {
                let row = error.check().row();
                Err(DeviceFault::new(row.category, row.id, error.to_string()))
            }
        })
    }

    /// Registers or words may have changed between two epochs, under parked pollers and unanswered
    /// requests.
    pub(crate) fn recheck_waits(&mut self) {
        self.tensix.credits_stale = true;
        self.changes.retry = true;
        self.changes.settled = None;
        self.changes.steady_since = self.now;
        self.cores.watch_hit = false;
        self.cores.wake_changed(self.now, true);
    }

    /// Tells the cores how much room the instruction FIFOs have.
    #[inline]
    pub(crate) fn grant_pushes(&mut self) {
        self.tensix.grant_pushes(&mut self.cores, self.now);
    }

    /// Runs `act` on the coprocessor with its view of the rest.
    #[inline]
    pub(crate) fn with_tensix<R>(
        &mut self,
        act: impl FnOnce(&mut Coprocessor, &mut TensixEnv<'_, O>) -> R,
    ) -> R {
        self.tensix.with(&mut self.cores, &self.devices.overlay, act)
    }

    /// Pushes an instruction into a thread's frontend.
    pub(crate) fn push(
        &mut self,
        to: (ThreadId, bool),
        word: u32,
        origin: Origin,
        cycle: Cycle,
    ) -> Result<(), Box<GuestError>> {
        self.tensix.push(&mut self.cores, &self.devices.overlay, to, word, (origin, cycle))
    }

    /// Shows the coprocessor's cells behind an access to it.
    #[inline]
    pub(crate) fn show_cells(&mut self, at: Stamp) {
        self.tensix.show_cells(&mut self.cores, at);
    }

    pub(crate) fn act_on_icache(&mut self, end: Cycle) {
        self.tensix.act_on_icache(&mut self.cores, end);
    }

    /// The coprocessor from `cycle` on until `until`, or until others have to act on what it did, or
    /// to the end of the epoch in which it fell asleep. Returns the first cycle that still has to be
    /// looked at, and whether others had to act.
    #[inline(never)]
    pub(crate) fn run_tensix(&mut self, cycle: Cycle, until: Cycle) -> (Cycle, bool) {
        self.run_tensix_for(cycle, until, Attention::NONE)
    }

    /// As [`Bus::run_tensix`], also up to the cycle before one in which somebody has to look.
    #[inline(always)]
    pub(crate) fn run_tensix_for(
        &mut self,
        cycle: Cycle,
        until: Cycle,
        attention: Attention,
    ) -> (Cycle, bool) {
        let Self { tensix, cores, devices, .. } = self;
        let ran = tensix.run(cores, &devices.overlay, (cycle, until), attention);
        self.tensix_reached(until, ran)
    }

    /// As [`Bus::run_tensix_for`], with what TRISCs push.
    pub(crate) fn run_tensix_fed(
        &mut self,
        (cycle, until): (Cycle, Cycle),
        attention: Attention,
        pushes: &mut Pushes,
    ) -> (Cycle, bool) {
        let Self { tensix, cores, devices, .. } = self;
        let ran = tensix.run_fed(cores, &devices.overlay, (cycle, until), attention, pushes);
        self.tensix_reached(until, ran)
    }

    /// What follows from the coprocessor's having come somewhere on its way to `until`.
    #[inline(always)]
    fn tensix_reached(
        &mut self,
        until: Cycle,
        (next, fault): (Cycle, Option<GuestError>),
    ) -> (Cycle, bool) {
        let noticed = fault.is_some() || !self.tensix.deferred.is_empty();
        if let Some(fault) = fault {
            self.report(Box::new(fault));
        }
        self.changes.this_cycle = true;
        if noticed {
            let last = Cycle(next.0 - 1);
            let end = self.config.epoch.end_of_epoch(last);
            if !self.tensix.deferred.keeps_registers() {
                self.wake_dozers(next, end);
            }
            self.act_on_icache(end);
            if !self.tensix.deferred.has_no_access() {
                self.act_on_deferred(last, end);
            }
        }
        if next < until && self.tensix.unit.is_asleep() {
            // Nothing happens in the rest of the epoch, its last cycle included.
            self.changes.this_cycle = false;
            let end = self.config.epoch.end_of_epoch(Cycle(next.0 - 1));
            return (until.min(end), noticed);
        }
        (next, noticed)
    }

    /// Cores that doze go on from `now` in the epoch that ends with `end`: the coprocessor is about to access
    /// registers.
    fn wake_dozers(&mut self, now: Cycle, end: Cycle) {
        let woken = self.cores.wake_dozers(now, end);
        woken.iter().for_each(|id| self.cores.run(id, end));
        self.changes.woken = self.changes.woken.union(woken);
    }

    /// Register accesses of the coprocessor, and what its L1 writes mean to others.
    fn act_on_deferred(&mut self, cycle: Cycle, end: Cycle) {
        let mut deferred = std::mem::take(&mut self.tensix.deferred);
        let Deferred { touched, stores, loads, icache: _ } = &mut deferred;
        for addr in touched.drain(..) {
            // The word is there already; this wakes cores that watch it or decoded it.
            let value = self.cores.l1().word(addr);
            self.cores.write_l1(addr & !3, value, Width::Word, end);
        }
        let asker = |at: Stamp| Asker {
            view: View::Noc,
            agent: at.agent,
            core: None,
            pc: at.pc,
            cycle,
            end,
        };
        for (addr, value, at) in stores.drain(..) {
            if let Err(fault) = self.store_as(asker(at), addr, value, Width::Word) {
                self.report_access(fault, at);
            }
        }
        for (thread, gpr, addr, at) in loads.drain(..) {
            match self.load_as(asker(at), addr, Width::Word) {
                Ok(answer) => {
                    self.tensix.unit.deliver_register(thread, gpr, answer.value);
                    self.show_cells(at);
                }
                Err(fault) => self.report_access(fault, at),
            }
        }
        // The lists serve again.
        if self.tensix.deferred.is_empty() {
            self.tensix.deferred = deferred;
        }
    }

    fn report_access(&mut self, fault: DeviceFault, at: Stamp) {
        let pc = Some(at.pc);
        let context = Context { cycle: at.cycle, agent: at.agent, pc, word: None };
        self.report(Box::new(fault.at(context)));
    }

    /// Tries to answer the outstanding request of a core. Gives whether that may have changed a
    /// device.
    pub(crate) fn try_request(&mut self, id: CoreId, cycle: Cycle, end: Cycle) -> bool {
        let Some(request) = self.cores[id].batch.request else { return false };
        if request.cycle > cycle || self.waits.answers[id.index()].is_some() {
            return false;
        }
        match self.serve(id, &request, cycle, end) {
            Ok(Served::Done(answer)) => {
                // A steady answer is a look at something that stays as it is.
                self.changes.this_cycle |= !answer.steady;
                self.waits.answers[id.index()] = Some(answer);
                if let Some(wait) = self.waits.requests[id.index()].take() {
                    let (agent, CoreWait { told: reason, since, .. }) = (AgentId::Core(id), wait);
                    self.emit(cycle, agent, request.pc, || Event::WaitEnd { reason, since });
                }
                return !answer.steady;
            }
            Ok(Served::Wait(reason)) => self.note_wait(id, &request, reason, cycle),
            Err(fault) => {
                let at = Context {
                    cycle: request.cycle,
                    agent: AgentId::Core(id),
                    pc: Some(request.pc),
                    word: None,
                };
                self.report(Box::new(fault.at(at)));
                self.cores[id].refuse_request();
            }
        }
        false
    }

    /// Remembers why the request of a core is unanswered, and tells observers the first time.
    pub(crate) fn note_wait(
        &mut self,
        id: CoreId,
        request: &Request,
        reason: WaitReason,
        cycle: Cycle,
    ) {
        let syncs = Self::syncs(id, request, reason);
        if let Some(wait) = &mut self.waits.requests[id.index()] {
            (wait.reason, wait.syncs) = (reason, syncs);
        } else {
            let wait = CoreWait { told: reason, reason, since: cycle, syncs };
            self.waits.requests[id.index()] = Some(wait);
            self.emit(cycle, AgentId::Core(id), request.pc, || Event::WaitBegin { reason });
        }
    }

    /// For what the coprocessor has to stop on behalf of a core whose request it was refused, if nothing but the
    /// coprocessor can end that wait, or nobody in an epoch in which cores only push. `None`: it is to be tried again.
    pub(crate) fn keeps_waiting(&self, id: CoreId) -> Option<Attention> {
        let wait = self.waits.requests[id.index()].as_ref()?;
        if self.waits.answers[id.index()].is_some() {
            return None;
        }
        match wait.syncs {
            Some(thread) => self.waits_in_ttsync(thread).then(|| Attention::idle(thread)),
            None => wait.is_for_cores().then_some(Attention::NONE),
        }
    }

    /// Notes that a core waits for room in an instruction FIFO, or no longer does: such waits begin and end between
    /// epochs.
    pub(crate) fn track_push_block(&mut self, id: CoreId, end: Cycle) {
        let blocked = match self.cores[id].status() {
            Status::PushBlocked(window) => Some(pushed_thread(id, *window)),
            _ => None,
        };
        let (pc, slot) = (self.cores[id].pc(), id.index());
        match (blocked, self.waits.pushes[slot]) {
            (Some(reason), None) => {
                self.waits.pushes[slot] = Some(PushWait { reason, since: end, pc });
                self.emit(end, AgentId::Core(id), pc, || Event::WaitBegin { reason });
            }
            (None, Some(PushWait { reason, since, pc })) => {
                self.waits.pushes[slot] = None;
                self.emit(end, AgentId::Core(id), pc, || Event::WaitEnd { reason, since });
            }
            _ => {}
        }
    }

    /// The answer to a memory read of the debugger goes into the debug registers.
    pub(crate) fn collect_debug_result(&mut self, id: CoreId) {
        if let Some(value) = self.cores[id].take_debug_result() {
            self.devices.control.debug.set_result(id, value);
        }
    }
}
