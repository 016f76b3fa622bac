//! The five cores, the L1 they run on, and who observes the tile: what the devices stand on.
//!
//! A core that is taken out of its polling loop, code that changes under one, and a word that one watches are
//! matters of this floor. It knows no device, no coprocessor and no time: what depends on a cycle is told it.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use riscv::{Core, Status, Watchpoint};
use sim_core::agent::SharedImage;
use sim_core::engine::Slots;
use sim_core::observer::ParkedSpan;
use sim_core::{
    Agent as _, AgentId, CoreId, CoreSet, Cycle, EpochLength, Event, L1, L1Image, Observer, Shared,
    Stamp, StateHasher,
};

use crate::config::TileConfig;
use crate::waiting::Answer;

/// The cores with their memory and their observer.
#[derive(Debug)]
pub(crate) struct Cores<O: ?Sized> {
    pub(crate) slots: Slots<Core>,
    pub(crate) shared: Arc<Shared>,
    /// A watched word was written in this commit.
    pub(crate) watch_hit: bool,
    /// Of the word that the host waits for.
    host_watch: u64,
    /// A core was woken that was parked on registers, and may not be parked at once again.
    settling: bool,
    /// Instructions or jumps of a core are logged for the observer.
    is_logged: bool,
    /// Last, so that a tile can be pointed at without knowing its type.
    pub(crate) observer: O,
}

/// Cores and L1 at a moment.
#[derive(Clone, Debug)]
pub(crate) struct CoresState {
    shared: SharedImage,
    slots: Slots<Core>,
    watch_hit: bool,
    host_watch: u64,
}

impl CoresState {
    pub(crate) fn l1(&self) -> &L1Image {
        self.shared.l1()
    }
}

impl<O: ?Sized> Index<CoreId> for Cores<O> {
    type Output = Core;

    #[inline]
    fn index(&self, id: CoreId) -> &Core {
        &self.slots[id]
    }
}

impl<O: ?Sized> IndexMut<CoreId> for Cores<O> {
    #[inline]
    fn index_mut(&mut self, id: CoreId) -> &mut Core {
        &mut self.slots[id]
    }
}

impl<O: Observer> Cores<O> {
    /// Cores held in reset, over L1 as it is.
    pub(crate) fn new(config: &TileConfig, observer: O, l1: L1) -> Self {
        let shared = Arc::new(Shared::with_l1(l1));
        for (start, end) in observer.observed_l1() {
            shared.observe_range(start, end, true);
        }
        let slots = Slots::new(|id| Core::new(id, config.core()));
        let mut cores = Self {
            slots,
            shared,
            watch_hit: false,
            host_watch: 0,
            settling: false,
            is_logged: false,
            observer,
        };
        cores.ask_what_is_wanted();
        cores
    }
}

impl<O: Observer + ?Sized> Cores<O> {
    /// Has the cores log what the observer wants of them.
    fn ask_what_is_wanted(&mut self) {
        self.is_logged = false;
        for id in CoreId::ALL {
            let (retires, jumps) = (self.observer.wants_retires(id), self.observer.wants_jumps(id));
            self.slots[id].set_trace(retires);
            self.slots[id].set_jump_log(jumps);
            self.is_logged |= retires || jumps;
        }
    }

    /// Whether the observer wants what cores do between two events.
    pub(crate) fn are_followed(&self) -> bool {
        self.is_logged || self.observer.wants_look()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (CoreId, &Core)> {
        self.slots.iter()
    }

    /// The scratchpad RAM.
    #[inline]
    pub(crate) fn l1(&self) -> &L1 {
        &self.shared.l1
    }

    /// Adds L1 and cores to a hash.
    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        // What is watched follows from the cores and the host; hits are none between epochs.
        let Self {
            slots,
            shared,
            watch_hit: _,
            host_watch: _,
            // A memory of a shortcut.
            settling: _,
            is_logged: _,
            observer: _,
        } = self;
        shared.l1.hash_state(hasher);
        slots.iter().for_each(|(_, core)| core.hash_state(hasher));
    }

    /// The cores and L1 as they are. Pages of L1 that have not changed since `like` are shared with it.
    pub(crate) fn snapshot(&self, like: &L1Image) -> CoresState {
        let Self { slots, shared, watch_hit, host_watch, settling: _, is_logged: _, observer: _ } =
            self;
        CoresState {
            shared: shared.image(like),
            slots: slots.clone(),
            watch_hit: *watch_hit,
            host_watch: *host_watch,
        }
    }

    /// Goes back to a snapshot; what is logged remains what the observer wants.
    pub(crate) fn restore(&mut self, state: &CoresState) {
        let CoresState { shared, slots, watch_hit, host_watch } = state;
        self.shared.restore(shared);
        self.slots.clone_from(slots);
        self.watch_hit = *watch_hit;
        self.host_watch = *host_watch;
        self.settling = true;
        self.ask_what_is_wanted();
    }

    /// A core that is parked, as its observer is told of it if it is taken up at `now`.
    pub(crate) fn parked(&self, id: CoreId, now: Cycle) -> Option<ParkedSpan> {
        let spin = self.slots[id].spin()?;
        Some(ParkedSpan {
            from: spin.parked_at(),
            until: now.max(spin.parked_at()),
            pc: spin.loads().first().map_or(spin.head, |load| load.pc),
            reads: spin.first_read(),
            head: spin.head,
            period_cycles: spin.period_cycles,
            looks: spin.looks(),
        })
    }

    /// Takes a core out of its polling loop, if it is parked in one, as of `now`.
    pub(crate) fn wake(&mut self, id: CoreId, now: Cycle) {
        let Some(spin) = self.slots[id].spin() else { return };
        self.settling |= spin.watches_devices();
        if let Some(span) = self.parked(id, now) {
            self.observer.parked(id, span);
        }
        self.slots[id].wake(&self.shared, now);
    }

    /// Leaves a core parked on registers although the coprocessor works, from the beginning of an epoch on.
    pub(crate) fn doze(&mut self, id: CoreId, start: Cycle) {
        // As if it were woken and parked again.
        self.settling = true;
        self.slots[id].doze(start);
    }

    /// Whether a core is left parked on registers although the coprocessor works.
    pub(crate) fn is_dozing(&self, id: CoreId) -> bool {
        self.slots[id].spin().is_some_and(riscv::Spin::is_dozing)
    }

    /// What parked cores but some look at shows at `now` what it has shown.
    pub(crate) fn renew_but(&mut self, some: CoreSet, now: Cycle) {
        for id in CoreId::ALL.into_iter().filter(|&id| !some.contains(id)) {
            self.slots[id].renew_spin(now);
        }
    }

    /// Takes a core that is parked on registers out of its loop at the beginning of an epoch, which it may have run
    /// already.
    pub(crate) fn wake_for_epoch(&mut self, id: CoreId, start: Cycle, end: Cycle) {
        if self.is_dozing(id) {
            self.settling = true;
            self.slots[id].wake_within(&self.shared, start, end);
        } else {
            self.wake(id, start);
        }
    }

    /// Cores that doze go on from `now`, in the epoch that ends with `end`.
    pub(crate) fn wake_dozers(&mut self, now: Cycle, end: Cycle) -> CoreSet {
        let mut woken = CoreSet::EMPTY;
        for id in CoreId::ALL {
            if self.is_dozing(id) {
                self.slots[id].wake_within(&self.shared, now, end);
                woken.insert(id);
            }
        }
        woken
    }

    /// Lets cores that were woken because a device might have changed be parked again at once: nothing but cores
    /// is at work any more.
    pub(crate) fn allow_parking(&mut self) {
        if std::mem::take(&mut self.settling) {
            CoreId::ALL.into_iter().for_each(|id| self.slots[id].allow_parking());
        }
    }

    /// Takes every parked core out of its loop, so that its state is exact as of `now`.
    pub(crate) fn wake_all(&mut self, now: Cycle) {
        for id in CoreId::ALL {
            self.wake(id, now);
        }
    }

    /// Cores one of whose words has changed go on; with `devices` those that look at registers do, too.
    pub(crate) fn wake_changed(&mut self, now: Cycle, devices: bool) {
        for id in CoreId::ALL {
            let core = &self.slots[id];
            let looks = devices && core.spin().is_some_and(riscv::Spin::watches_devices);
            if looks || !core.spin_holds(&self.shared.l1) {
                self.wake(id, now);
            }
        }
    }

    /// Cores whose words were written since this was asked last go on.
    pub(crate) fn wake_by_stores(&mut self, now: Cycle) {
        if std::mem::take(&mut self.watch_hit) {
            self.wake_changed(now, false);
        }
    }

    /// Tells the lone runner which words are watched: by parked cores, by the host, and by an atomic of the
    /// coprocessor at the given address.
    pub(crate) fn refresh_watches(&mut self, coprocessor: Option<u32>) {
        let mut bits = self.host_watch;
        if let Some(addr) = coprocessor {
            // Read and write counter of a FIFO; a lone word needs only the first.
            bits |= Shared::watch_bit(addr) | Shared::watch_bit(addr + 4);
        }
        for (_, core) in self.slots.iter() {
            if let Some(spin) = core.spin() {
                bits |= spin.words();
            }
        }
        self.shared.set_watched(bits);
    }

    /// The host waits for the word at that address from now on, or for none.
    pub(crate) fn set_host_watch(&mut self, addr: Option<u32>) {
        self.host_watch = addr.map_or(0, Shared::watch_bit);
    }

    /// Whether nothing but the host watches a word.
    #[inline]
    pub(crate) fn only_host_watches(&self) -> bool {
        self.shared.watched() == self.host_watch
    }

    /// Whether a core waits for an answer: what changes matters to nothing else.
    pub(crate) fn anybody_waits(&self) -> bool {
        self.slots.iter().any(|(_, core)| matches!(core.status(), Status::Waiting))
    }

    /// Has a core execute what it begins before `until`.
    #[inline]
    pub(crate) fn run(&mut self, id: CoreId, until: Cycle) {
        self.slots[id].run(&self.shared, until);
    }

    /// Gives a core the answer to its request.
    #[inline]
    pub(crate) fn complete(&mut self, id: CoreId, answer: Answer, end: Cycle) {
        self.slots[id].complete(&self.shared, answer.value, answer.steady, end);
    }

    pub(crate) fn set_watchpoints(&mut self, id: CoreId, points: [Watchpoint; 8], now: Cycle) {
        self.slots[id].set_watchpoints(&self.shared, points, now);
    }

    /// [`Core::run_alone`]
    pub(crate) fn run_alone(&mut self, id: CoreId, limit: Cycle, epoch: EpochLength) {
        self.slots[id].run_alone(&self.shared, limit, epoch);
    }

    /// [`Core::run_ahead`]
    pub(crate) fn run_ahead(&mut self, id: CoreId, until: Cycle) -> Cycle {
        self.slots[id].run_ahead(&self.shared, until)
    }

    /// [`Core::run_epoch_ahead`]
    pub(crate) fn run_epoch_ahead(&mut self, id: CoreId, end: Cycle) -> bool {
        self.slots[id].run_epoch_ahead(&self.shared, end)
    }

    /// Takes back what a core has done on trial.
    pub(crate) fn rewind(&mut self, id: CoreId) {
        self.slots[id].rewind(&self.shared.l1);
    }

    /// Pauses a core for a debugger.
    pub(crate) fn halt(&mut self, id: CoreId, now: Cycle) {
        self.slots[id].halt(&self.shared, now);
    }

    /// A debugger's step command for a core, of which `needed` in a row execute an instruction. Gives whether one
    /// was begun.
    pub(crate) fn step_once(&mut self, id: CoreId, needed: u32, now: Cycle) -> bool {
        self.slots[id].step_once(&self.shared, needed, now)
    }

    /// Hands what a core has executed to the observer, if that asked for it.
    pub(crate) fn hand_over_logs(&mut self, id: CoreId) {
        let batch = &self.slots[id].batch;
        if !batch.retired.is_empty() {
            self.observer.retires(id, &batch.retired);
        }
        if !batch.jumps.is_empty() {
            self.observer.jumps(id, &batch.jumps);
        }
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
        self.observer.tell(Stamp { cycle, agent, pc }, event);
    }

    /// A hash of each part of L1 of so many bytes, in order.
    pub(crate) fn l1_hashes(&self, bytes: u32) -> Vec<u64> {
        let starts = (0..sim_core::l1::L1_BYTES).step_by(bytes.max(4) as usize);
        let mut part = vec![0; bytes as usize];
        let of = |start: u32| {
            self.shared.l1.read_bytes(start, &mut part);
            let mut hasher = StateHasher::default();
            hasher.bytes(&part);
            hasher.finish()
        };
        starts.map(of).collect()
    }
}
