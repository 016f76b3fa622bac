//! One core: its state and what the tile may do to it between run phases.

use memory_map::reg::tile_control;
use sim_core::{
    Agent, Batch, Category, Context, CoreId, Cycle, EpochLength, GuestError, L1, Request,
    RequestKind, Retire, Shared, Shortcut, Shortcuts, StateHasher, Store, Width,
};

use crate::ahead::{TRIAL_CYCLES, TrialStores};
pub use crate::config::{CoreConfig, LOCAL_BASE};
use crate::debug::Debug as Debugger;
use crate::doors::{self, Doors, OwnDoors, PUSH_WINDOWS};
use crate::fast::{self, Exit, Outside, Posted, Probed, Reach, Want};
use crate::hart::{Hart, Pending, forward};
use crate::look::{self, MemoryAccess};
use crate::op::SINK;
use crate::park::Prober;
use crate::poll::era;
use crate::slice::{Flow, Memory, OwnRegisters, Slice};
use crate::spin::{Nest, Spin, WatchedLoad};

/// What a core is doing.
#[derive(Clone, Debug)]
pub enum Status {
    /// Held in soft reset.
    Reset,
    /// Executing.
    Running,
    /// Its [`Batch::request`] is not answered yet.
    Waiting,
    /// The next instruction pushes into a full FIFO, reached through that window (0 to 2).
    PushBlocked(u8),
    /// Spinning on words that do not change.
    Parked(Box<Spin>),
    /// Stopped by `ebreak` or a debugger.
    Halted,
    /// Made a mistake; see the diagnosis the tile reported.
    Faulted,
}

/// How a core stands behind a run phase: a set of what can be said of it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Glance(u8);

impl Glance {
    /// It has posted a store.
    pub const STORED: Self = Self(1);
    /// It waits for the answer to a request.
    pub const ASKS: Self = Self(2);
    /// It has posted a store to a device.
    pub const TO_DEVICE: Self = Self(4);
    /// It has made a mistake that is not reported yet.
    pub const ERRED: Self = Self(8);
    /// It is parked.
    pub const PARKED: Self = Self(16);
    /// It is halted, or waits for room behind a push window.
    pub const STOPPED: Self = Self(32);

    /// What holds in either.
    #[inline]
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any of these holds.
    #[inline]
    #[must_use]
    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }
}

/// One baby RISC-V core.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Core {
    /// First, and the layout fixed: see [`Hart`].
    pub(crate) hart: Hart,
    pub(crate) status: Status,
    pub(crate) pending: Pending,
    /// How many instructions may still be pushed through each of the three windows.
    pub(crate) push_credit: [u32; PUSH_WINDOWS as usize],
    /// Stores to GPRs and configuration may have to wait, see [`Core::order_stores`].
    pub(crate) orders_stores: bool,
    pub(crate) prober: Prober,
    /// The high half of the wall clock when the core last read the low one.
    pub(crate) clock_era: Option<u32>,
    pub(crate) trace: bool,
    /// Instructions are logged or checked one by one.
    pub(crate) always_careful: bool,
    pub(crate) debug: Debugger,
    /// What the core hands over at the end of its run phase.
    pub batch: Batch,
}

impl Core {
    /// A core in reset at cycle 0.
    #[must_use]
    pub fn new(id: CoreId, config: CoreConfig) -> Self {
        Self {
            hart: Hart::new(id, config),
            status: Status::Reset,
            pending: Pending::Discard,
            push_credit: [0; PUSH_WINDOWS as usize],
            orders_stores: false,
            prober: Prober::new(id, config.shortcuts),
            clock_era: None,
            trace: false,
            always_careful: config.is_careful(),
            debug: Debugger::default(),
            batch: Batch::default(),
        }
    }

    /// Which core this is.
    #[must_use]
    pub fn id(&self) -> CoreId {
        self.hart.id
    }

    /// What it is doing.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Whether it can use a run phase.
    #[inline]
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self.status, Status::Running)
    }

    /// Address of the next instruction; of the head of the loop while parked.
    #[must_use]
    pub fn pc(&self) -> u32 {
        self.hart.pc
    }

    /// The cycle up to which it has executed. Lags behind while it is not running.
    #[must_use]
    pub fn cycle(&self) -> Cycle {
        Cycle(self.hart.cycle)
    }

    /// Instructions retired since power-on. Rounds skipped while parked are counted when it is
    /// woken.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.hart.instructions
    }

    /// Integer register `x0`..`x31`.
    #[must_use]
    pub fn register(&self, index: u8) -> u32 {
        self.hart.x[usize::from(index & 31)]
    }

    /// Replaces an integer register; `x0` stays zero.
    pub fn set_register(&mut self, index: u8, value: u32) {
        self.prober.disturbed();
        if index & 31 != 0 {
            self.hart.x[usize::from(index & 31)] = value;
        }
    }

    /// Floating-point register `f0`..`f31`.
    #[must_use]
    pub fn float_register(&self, index: u8) -> u32 {
        self.hart.f[usize::from(index & 31)]
    }

    /// The loop it is parked in.
    #[must_use]
    pub fn spin(&self) -> Option<&Spin> {
        match &self.status {
            Status::Parked(spin) => Some(spin),
            _ => None,
        }
    }

    /// Leaves soft reset: registers, CSRs and local RAM are cleared, execution starts at `pc`.
    ///
    /// `keep_local_ram` is the DISABLE_RESET bit of this core
    /// `[isa-bh: TensixTile/SoftReset.md]`. The up to 2,048 cycles during which the hardware
    /// clears the RAM are not modelled.
    pub fn release(&mut self, pc: u32, now: Cycle, keep_local_ram: bool) {
        self.hart.release(pc, now.0, keep_local_ram);
        self.status = Status::Running;
        self.batch.request = None;
        self.prober.restart(now.0, false);
    }

    /// Enters soft reset at once. Posted effects that are still in the batch are dropped.
    pub fn hold(&mut self) {
        self.status = Status::Reset;
        self.batch.request = None;
        self.forget_debugger();
        self.clear_posted();
    }

    /// Whether the core waits for an answer to its stores to GPRs and backend configuration: with
    /// Auto TTSync they may have to wait for instructions that it pushed before.
    pub fn order_stores(&mut self, ordered: bool) {
        self.orders_stores = ordered;
    }

    /// Sets how many instructions may be pushed through `window` (0 = own or T0, 1, 2) and lets a
    /// push that found the FIFO full be tried again.
    #[inline]
    pub fn grant_push(&mut self, window: u8, credit: u32, now: Cycle) {
        self.push_credit[usize::from(window % 3)] = credit;
        if let Status::PushBlocked(blocked) = self.status
            && blocked == window
            && credit > 0
        {
            self.status = Status::Running;
            self.hart.cycle = now.0;
        }
    }

    /// Answers the outstanding request. `steady` says that the value is a pure function of device
    /// state, so that a loop around it may be parked.
    pub fn complete(&mut self, shared: &Shared, value: u32, steady: bool, now: Cycle) {
        let Some(request) = self.batch.request.take() else { return };
        let value = value & request.width.mask();
        if self.pending == Pending::Debugger {
            self.answer_debugger(request.kind, value);
            return;
        }
        self.hart.deliver(self.pending, value, request.width);
        self.prober.answered();
        self.note_clock(request.addr, request.cycle.0);
        if steady {
            let load = WatchedLoad {
                addr: request.addr,
                value,
                width: request.width,
                pc: request.pc,
                device: true,
            };
            self.prober.showed(load, request.cycle.0);
            self.prober.load(load, now.0);
        } else {
            self.prober.side_effect(now.0);
        }
        if self.trace {
            let rd = match self.pending {
                Pending::Integer { rd, .. } | Pending::Csr { rd } if rd < SINK => rd,
                _ => 0,
            };
            self.batch.retired.push(Retire {
                cycle: request.cycle,
                pc: request.pc,
                word: shared.l1.word(request.pc),
                rd,
                value,
            });
        }
        self.hart.instructions += 1;
        self.hart.cycle = now.0;
        self.status = Status::Running;
        self.pause_if_due();
    }

    /// Hands an access to the commit phase.
    pub(crate) fn request(&mut self, addr: u32, width: Width, kind: RequestKind) -> Flow {
        let cycle = Cycle(self.hart.cycle);
        self.batch.request = Some(Request { cycle, addr, pc: self.hart.pc, width, kind });
        self.status = Status::Waiting;
        Flow::Wait
    }

    /// The core reads a device register at `cycle`.
    #[inline]
    pub(crate) fn note_clock(&mut self, addr: u32, cycle: u64) {
        if addr == tile_control::WALL_CLOCK_L {
            self.clock_era = Some(era(cycle));
        }
    }

    /// [`Agent::run_alone`] for a core that may use `registers` itself.
    pub fn run_in_place(
        &mut self,
        shared: &Shared,
        until: Cycle,
        registers: &mut dyn OwnRegisters,
    ) {
        if self.is_running() {
            let memory = Memory::Direct(Some(registers as &mut _));
            self.run_slice(Slice { memory, ..Slice::new(shared, until.0) });
        }
    }

    /// Whether it executes or waits for room, and all that it did to others since the last commit was
    /// to push instructions.
    #[must_use]
    pub fn only_pushed(&self) -> bool {
        let Batch { stores, device_stores, request, fault, .. } = &self.batch;
        matches!(self.status, Status::Running | Status::PushBlocked(_))
            && request.is_none()
            && fault.is_none()
            && stores.len() == *device_stores as usize
            && self.leading_pushes(0) == stores.len()
    }

    /// How many of its stores since the last commit, from a number on, push instructions before the first that does
    /// not.
    #[must_use]
    #[inline]
    pub fn leading_pushes(&self, from: usize) -> usize {
        let windows = doors::push_windows(self.hart.id);
        let is_push =
            |store: &Store| store.width == Width::Word && doors::window_of(store.addr) < windows;
        let stores = self.batch.stores.get(from..).unwrap_or_default();
        stores.iter().position(|store| !is_push(store)).unwrap_or(stores.len())
    }

    /// The window through which a store to `addr` pushes an instruction: of a TRISC its own, 0; of
    /// BRISC that of the thread.
    #[inline]
    #[must_use]
    pub fn push_window(&self, addr: u32) -> Option<u32> {
        doors::push_window(self.hart.id, addr)
    }

    /// What decides about its stores beyond L1 and its own RAM.
    #[inline]
    pub(crate) fn doors(&mut self) -> Doors<'_> {
        Doors::new(&self.hart, &mut self.push_credit, self.orders_stores)
    }

    /// A stretch of the fast loop in which stores are posted, those to devices too, up to an access that waits.
    #[inline]
    pub(crate) fn fast_posted(&mut self, shared: &Shared, until: u64) -> Exit {
        let Self { hart, batch, push_credit, orders_stores, prober, .. } = self;
        let doors = Doors::new(hart, push_credit, *orders_stores);
        let takes = hart.config.shortcuts.has(Shortcut::FastDoors);
        let (doors, polls_from) = (takes.then_some(doors), prober.polls_from());
        let outside = Outside { doors, polls_from, ..Outside::new(batch) };
        hart.fast_slice::<Posted>(outside, shared, until)
    }

    /// Begins to wait for what the instruction at the pc wants, with which the fast loop has ended.
    pub(crate) fn wait_for(&mut self, want: Want) {
        let (addr, width, kind, pending) = match want {
            Want::Room(window) => {
                self.status = Status::PushBlocked(window);
                return;
            }
            Want::Value(addr, width, rd, signed) => {
                (addr, width, RequestKind::Load, Pending::Integer { rd, signed })
            }
            Want::Taken(addr, width, value) => {
                (addr, width, RequestKind::Store { value }, Pending::Discard)
            }
        };
        self.pending = pending;
        self.request(addr, width, kind);
        self.hart.pc = self.hart.pc.wrapping_add(4);
    }

    /// A stretch of the fast loop of a core that is alone and has posted nothing. It sets up `own` devices itself.
    #[inline]
    pub(crate) fn fast_alone(
        &mut self,
        own: Option<&mut (dyn OwnRegisters + '_)>,
        shared: &Shared,
        until: u64,
    ) -> Exit {
        let Self { hart, batch, push_credit, orders_stores, prober, .. } = self;
        let takes = hart.config.shortcuts.has(Shortcut::FastDoors);
        let own = own.filter(|_| takes).map(|registers| {
            let doors = Doors::new(hart, push_credit, *orders_stores);
            OwnDoors { doors, registers }
        });
        let outside = Outside { own, polls_from: prober.polls_from(), ..Outside::new(batch) };
        hart.fast_slice::<fast::Alone>(outside, shared, until)
    }

    /// A stretch of the fast loop while a probe is under way, up to what that decides about.
    #[inline]
    pub(crate) fn fast_probed<R: Reach>(&mut self, shared: &Shared, until: u64) -> Exit {
        let (watch, end) = self.prober.watch();
        let outside = Outside { watch, ..Outside::new(&mut self.batch) };
        // Behind that each jump may end the probe.
        if self.hart.cycle >= end {
            return Exit::Careful;
        }
        self.hart.fast_slice::<Probed<R>>(outside, shared, until.min(end))
    }

    /// Reads local RAM through the slow path, by byte offset; `None` outside.
    #[must_use]
    pub fn read_local(&self, offset: u32, width: Width) -> Option<u32> {
        self.hart.read_local(offset, width)
    }

    /// Writes local RAM through the slow path; `false` outside. The core must not be parked.
    pub fn write_local(&mut self, offset: u32, value: u32, width: Width) -> bool {
        self.prober.disturbed();
        let written = self.hart.write_local(offset, value, width);
        if written {
            self.prober.side_effect(self.hart.cycle);
        }
        written
    }

    /// Whether the core has decoded one of the words that hold `bytes` bytes from `addr` on, since it
    /// last changed.
    #[inline]
    #[must_use]
    pub fn holds_code(&self, addr: u32, bytes: u32) -> bool {
        self.hart.icache.holds(addr, bytes)
    }

    /// Those words change.
    pub fn invalidate_code(&mut self, addr: u32, bytes: u32) {
        self.prober.disturbed();
        let remembers = self.hart.config.shortcuts.has(Shortcut::Stretches);
        self.hart.icache.invalidate(addr, bytes, remembers);
    }

    /// The instruction-cache-invalidate register was written for this core.
    pub fn invalidate_icache(&mut self) {
        self.prober.disturbed();
        self.hart.icache.invalidate_all();
    }

    /// Switches the instruction log on or off. Rounds of a polling loop that are skipped while
    /// parked are not in the log: whether a core parks must not depend on who watches.
    pub fn set_trace(&mut self, on: bool) {
        self.trace = on;
        self.update_care();
    }

    /// Has jumps recorded, or no longer. As with [`Core::set_trace`], not those of rounds that are
    /// skipped while parked.
    pub fn set_jump_log(&mut self, on: bool) {
        self.hart.logs_jumps = on;
    }

    /// A mistake of this core was found elsewhere: it never executes again.
    pub fn stop_faulted(&mut self) {
        if !matches!(self.status, Status::Reset) {
            self.status = Status::Faulted;
            self.batch.request = None;
        }
    }

    /// How it stands.
    #[inline]
    #[must_use]
    pub fn glance(&self) -> Glance {
        let only = |holds: bool, what: Glance| if holds { what } else { Glance::default() };
        let batch = &self.batch;
        let status = match self.status {
            Status::Parked(_) => Glance::PARKED,
            Status::Halted | Status::PushBlocked(_) => Glance::STOPPED,
            Status::Reset | Status::Running | Status::Waiting | Status::Faulted => {
                Glance::default()
            }
        };
        status
            .or(only(!batch.stores.is_empty(), Glance::STORED))
            .or(only(batch.request.is_some(), Glance::ASKS))
            .or(only(batch.device_stores != 0, Glance::TO_DEVICE))
            .or(only(batch.fault.is_some(), Glance::ERRED))
    }

    /// Two summaries of the L1 words stored to in this epoch, by their number and by their block of
    /// 1 KiB: cores without a common bit in either of them have stored to different words.
    #[inline]
    #[must_use]
    pub fn stored_summary(&self) -> (u64, u64) {
        (self.hart.stored_words, self.hart.stored_blocks)
    }

    /// Forgets the posted effects after the commit phase applied them.
    pub fn clear_posted(&mut self) {
        self.batch.clear_posted();
        self.hart.forget_stored();
    }

    /// Ends the run phase with a diagnosis of the instruction at `pc`.
    #[cold]
    pub(crate) fn fault(
        &mut self,
        category: Category,
        id: &'static str,
        message: String,
        pc: u32,
        word: Option<u32>,
    ) {
        let at = Context {
            cycle: Cycle(self.hart.cycle),
            agent: sim_core::AgentId::Core(self.hart.id),
            pc: Some(pc),
            word,
        };
        self.batch.fault = Some(Box::new(GuestError::new(category, id, message, at)));
        self.hart.pc = pc;
        self.status = Status::Faulted;
    }

    /// The cycle to which the core may go ahead from `now`, as far as it knows; `now` if it must not
    /// at all.
    #[must_use]
    pub fn free_until(&self, now: Cycle) -> Cycle {
        let is_free = self.is_running()
            && self.hart.cycle == now.0
            && !self.always_careful
            && self.batch.stores.is_empty();
        if is_free { Cycle(self.prober.gate()).max(now) } else { now }
    }

    /// Begins a trial. [`Core::free_until`] must allow it; what an earlier trial kept is forgotten.
    pub fn begin_trial(&mut self) {
        let Hart { undo, x, pc, cycle, instructions, .. } = &mut self.hart;
        undo.begin(&*x, *pc, *cycle, *instructions);
    }

    /// Goes ahead to `until` as if alone, or to the first instruction that does more than compute,
    /// load and store. Gives how far it came.
    pub fn run_ahead(&mut self, shared: &Shared, until: Cycle) -> Cycle {
        // Why it returned does not matter: whatever it was, it is not for a trial. Nor is code that was
        // not decoded: that could not be taken back.
        self.hart.fast::<fast::Ahead>(Outside::new(&mut self.batch), shared, until.0);
        Cycle(self.hart.cycle)
    }

    /// Goes ahead to `until`, the end of an epoch, with its stores kept in [`Core::trial_stores`]. `false`: there is an
    /// instruction that does more than compute, load and store, or there are more cycles than those can tell.
    #[must_use]
    pub fn run_epoch_ahead(&mut self, shared: &Shared, until: Cycle) -> bool {
        if until.0 - self.hart.cycle > TRIAL_CYCLES as u64 {
            return false;
        }
        let outside = Outside::new(&mut self.batch);
        self.hart.fast::<fast::PostedAhead>(outside, shared, until.0) == Exit::Done
    }

    /// What it stored in this epoch on trial.
    #[inline]
    #[must_use]
    pub fn trial_stores(&self) -> &TrialStores {
        &self.hart.undo.posted
    }

    /// Forgets what it stored in this epoch on trial.
    #[inline]
    pub fn clear_trial_stores(&mut self) {
        self.hart.undo.posted.clear();
        self.hart.stored_words = 0;
    }

    /// Takes the last trial back. Those of other cores since then must have been taken back before.
    pub fn rewind(&mut self, l1: &L1) {
        self.clear_posted();
        self.clear_trial_stores();
        let Hart { undo, x, local, pc, cycle, instructions, .. } = &mut self.hart;
        (*pc, *cycle, *instructions) = undo.rewind(l1, local, x);
    }

    /// Whether this core may have loaded or stored, in its last trial, a word that `other` stored in
    /// its own.
    #[must_use]
    pub fn was_disturbed_by(&self, other: &Self) -> bool {
        self.hart.undo.was_disturbed_by(&other.hart.undo)
    }

    /// A control and status register, as a read would give it now; `None` for one that is not there
    /// or shows the coprocessor.
    #[must_use]
    pub fn csr(&self, number: u16) -> Option<u32> {
        look::csr(&self.hart, number)
    }

    /// Address of the instruction the core is at: the next one, or the one that waits for an answer.
    #[must_use]
    pub fn at(&self) -> u32 {
        self.batch.request.map_or(self.hart.pc, |request| request.pc)
    }

    /// The word that the core would execute next. Of words that were decoded before the core itself
    /// changed them in this epoch it is the new one.
    #[must_use]
    pub fn next_word(&self, shared: &Shared) -> Option<u32> {
        let pc = self.hart.pc;
        L1::holds_aligned(pc, Width::Word).then(|| self.read_l1(shared, pc, Width::Word))
    }

    /// What the instruction with that word does to memory if the core executes it now. Pushing
    /// (`.ttinsn`) is no access in this sense.
    #[must_use]
    pub fn access_of(&self, word: u32) -> Option<MemoryAccess> {
        look::access_of(&self.hart, word)
    }

    /// How many words from the pc on are executed as one: a TRISC pushes up to four adjacent
    /// `.ttinsn` in a cycle.
    #[must_use]
    pub fn bundle_words(&self, shared: &Shared) -> u32 {
        look::bundle_words(&self.hart, &self.batch.stores, shared)
    }

    /// Has other ways to the same result taken from now on, between two epochs. A core that is parked
    /// stays so until it is woken.
    pub fn set_shortcuts(&mut self, shortcuts: Shortcuts) {
        if self.hart.config.shortcuts != shortcuts {
            self.hart.config.shortcuts = shortcuts;
            self.prober = Prober::new(self.hart.id, shortcuts);
            self.update_care();
        }
    }

    /// Whether every L1 word the parked loop reads still has the value it had.
    #[must_use]
    pub fn spin_holds(&self, l1: &L1) -> bool {
        self.spin().is_none_or(|spin| spin.holds(l1))
    }

    /// Notes that the values it is parked on are those of that cycle, too.
    #[inline]
    pub fn renew_spin(&mut self, now: Cycle) {
        if let Status::Parked(spin) = &mut self.status {
            spin.seen = spin.seen.max(now.0);
        }
    }

    /// Leaves a parked core in its loop although the coprocessor works, from `now` on, the beginning of an epoch: what
    /// it looks at shows what it has shown.
    pub fn doze(&mut self, now: Cycle) {
        if let Status::Parked(spin) = &mut self.status {
            spin.dozes.get_or_insert(now.0);
        }
    }

    /// Takes a parked core out of its loop as of `now`, an epoch boundary: it will be exactly
    /// where it would be had it spun. Nothing happens if it is not parked.
    pub fn wake(&mut self, shared: &Shared, now: Cycle) {
        self.wake_within(shared, now, now);
    }

    /// As [`Core::wake`], with `now` in the middle of the epoch that ends with `end` if the core dozes: what it asks
    /// for before `now` shows what it has shown.
    pub fn wake_within(&mut self, shared: &Shared, now: Cycle, end: Cycle) {
        let status = std::mem::replace(&mut self.status, Status::Running);
        let Status::Parked(spin) = status else {
            self.status = status;
            return;
        };
        if now.0 > spin.parked_at {
            let elapsed = now.0 - spin.parked_at;
            // What the clock showed in the last whole round is still in registers.
            let again = u64::from(spin.leaves_at.is_some());
            let rounds = (elapsed / spin.period_cycles).saturating_sub(again);
            self.hart.instructions += rounds * spin.period_instructions;
            self.hart.cycle = spin.parked_at + rounds * spin.period_cycles;
            self.replay(shared, &spin, now.0);
        }
        if spin.leaves_at.is_some() {
            self.prober.resume(now.0);
        } else if let Some(dozes) = spin.dozes {
            let woken = spin.last_woken(dozes, end.0, self.hart.config.epoch);
            self.prober.restart(woken, true);
            self.prober.showed_again(&spin, now.0);
        } else {
            self.prober.restart(now.0, spin.watches_devices());
        }
        self.prober.leave(spin, now.0);
    }

    /// Executes rounds of `spin` from its head up to `until` with the loads they had.
    fn replay(&mut self, shared: &Shared, spin: &Spin, until: u64) {
        self.hart.pc = spin.head;
        let loads = Memory::Replayed(spin.loads.iter().cycle());
        let mut slice = Slice { memory: loads, ..Slice::new(shared, until) };
        let mut head = self.hart.cycle;
        while self.hart.cycle < until {
            if let Some(nest) = spin.nest
                && self.hart.cycle == head + nest.begins
            {
                self.pass_wait(&nest, until);
            }
            if !self.step(&mut slice) {
                return;
            }
            if self.hart.pc == spin.head {
                head = self.hart.cycle;
            }
        }
    }

    /// Goes over rounds of a wait that end before `until`, from the end of the first.
    pub(crate) fn pass_wait(&mut self, nest: &Nest, until: u64) {
        let rounds = nest.rounds_within(until.saturating_sub(self.hart.cycle));
        self.hart.cycle += rounds * nest.period_cycles;
        self.hart.instructions += rounds * nest.period_instructions;
    }

    /// Lets a core that was woken because a device might have changed be parked again at once: nothing but
    /// cores is at work any more.
    pub fn allow_parking(&mut self) {
        self.prober.allow_parking();
    }

    /// Bytes as the core would load them now: L1 with all it has stored itself, its own local RAM. Gives
    /// how many of them are memory; devices are not asked.
    pub fn memory(&self, l1: &L1, addr: u32, bytes: &mut [u8]) -> usize {
        for (number, byte) in bytes.iter_mut().enumerate() {
            let at = addr.wrapping_add(number as u32);
            *byte = match self.read_local(at.wrapping_sub(LOCAL_BASE), Width::Byte) {
                Some(value) => value as u8,
                None if L1::contains(at, 1) => {
                    let word = forward(&self.batch.stores, at & !3, l1.word(at));
                    (word >> (8 * (at & 3))) as u8
                }
                None => return number,
            };
        }
        bytes.len()
    }

    /// Feeds the architectural state into a hash. The core must not be parked, or the hash
    /// depends on parking.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        let Self {
            hart,
            status,
            debug,
            // A request under way follows from the instruction at the pc.
            pending: _,
            batch: _,
            // What the tile tells the core.
            push_credit: _,
            orders_stores: _,
            // Memories of shortcuts.
            prober: _,
            clock_era: _,
            // Who listens.
            trace: _,
            always_careful: _,
        } = self;
        hasher.u8(match status {
            Status::Reset => 0,
            Status::Running | Status::Parked(_) => 1,
            Status::Waiting => 2,
            Status::PushBlocked(_) => 3,
            Status::Halted => 4,
            Status::Faulted => 5,
        });
        hart.hash_state(hasher);
        debug.hash_state(hasher);
    }

    /// L1 as this core sees it: as of the start of the epoch, plus its own stores.
    #[inline]
    pub(crate) fn read_l1(&self, shared: &Shared, addr: u32, width: Width) -> u32 {
        self.hart.read_l1(&self.batch.stores, shared, addr, width)
    }
}

impl Agent for Core {
    #[inline]
    fn run(&mut self, shared: &Shared, until: Cycle) {
        if !self.is_running() || self.hart.cycle >= until.0 {
            return;
        }
        // Nearly always the whole of an epoch is plain.
        if until.0 <= self.prober.gate() && !self.always_careful {
            match self.fast_posted(shared, until.0) {
                Exit::Done => return,
                Exit::Waits(want) => return self.wait_for(want),
                Exit::Careful => return self.run_slice_carefully(Slice::new(shared, until.0)),
                Exit::NoPage => {}
            }
        }
        self.run_slice(Slice::new(shared, until.0));
    }

    fn run_alone(&mut self, shared: &Shared, until: Cycle, epoch: EpochLength) {
        debug_assert_eq!(epoch, self.hart.config.epoch);
        if self.is_running() {
            self.run_slice(Slice { memory: Memory::Direct(None), ..Slice::new(shared, until.0) });
        }
    }
}
