//! The machine: who is in it, and what it shows of itself.

use std::sync::Arc;

use devices::{DebugAccess, Mailboxes, Niu, Overlay, PcBufs, Pic, Tdma, TileControl};
use riscv::{Core, Status};
use sim_core::engine::{Engine, Slots};
use sim_core::observer::ParkedSpan;
use sim_core::{
    CoreId, CoreSet, Cycle, GuestError, L1, NullObserver, Observer, Shared, Shortcut, StateHasher,
};
use tensix::{Coprocessor, Register};

use crate::asker::Asker;
use crate::config::TileConfig;
use crate::env::Deferred;
use crate::fabric::Fabric;
use crate::host_wait::HostWait;
use crate::quiesce::{self, AgentWait, Quiescence};
use crate::registers;
use crate::snapshot::TileSnapshot;
use crate::suppose::Supposition;
use crate::trials::Trials;
use crate::waiting::{Answer, CoreWait, Ebreak, PushWait};

/// One Tensix tile.
#[derive(Debug)]
pub struct Tile<O: Observer + ?Sized = NullObserver> {
    pub(crate) config: TileConfig,
    pub(crate) shared: Arc<Shared>,
    pub(crate) cores: Slots<Core>,
    pub(crate) engine: Engine<Core>,
    pub(crate) now: Cycle,
    /// Since when nothing can move, if nothing can.
    pub(crate) quiet_since: Option<Cycle>,

    pub(crate) mailboxes: Mailboxes,
    pub(crate) pcbufs: PcBufs,
    pub(crate) control: TileControl,
    pub(crate) tdma: Tdma,
    pub(crate) nius: [Niu; 2],
    pub(crate) overlay: Overlay,
    pub(crate) pic: Pic,
    pub(crate) tensix: Coprocessor,
    pub(crate) fabric: Fabric,

    /// Answers found in this commit.
    pub(crate) answers: [Option<Answer>; CoreId::COUNT],
    /// Blocked requests that have been announced.
    pub(crate) core_waits: [Option<CoreWait>; CoreId::COUNT],
    /// Pushes into full FIFOs that have been announced.
    pub(crate) push_waits: [Option<PushWait>; CoreId::COUNT],
    /// Something changed in the current cycle that could answer a blocked request.
    pub(crate) device_change: bool,
    /// Behind the last cycle in which a device may have changed. Asking for a value that stays is no
    /// change.
    pub(crate) devices_steady_since: Cycle,
    /// `device_change` of the last cycle of the last epoch.
    pub(crate) retry_requests: bool,
    /// Threads whose TRISC's accesses Auto TTSync may hold back, bit *i* is thread *i*.
    pub(crate) tracked: u8,
    /// The configuration, by its generation, that says so.
    pub(crate) tracked_config: u64,
    /// FIFO occupancy may differ from what the cores were told.
    pub(crate) credits_stale: bool,
    /// A word that somebody watches was written in this commit.
    pub(crate) watch_hit: bool,
    pub(crate) host_watch: u64,
    pub(crate) icache_invalidations: u8,
    pub(crate) deferred: Deferred,
    /// Cores that have made a mistake since their last reset.
    pub(crate) failed: CoreSet,
    /// Mistakes that have not been returned to the host yet, in `(cycle, agent)` order.
    pub(crate) faults: Vec<GuestError>,
    /// Accesses to the cores' debug registers in this epoch.
    pub(crate) debug_queue: Vec<(Asker, DebugAccess)>,
    pub(crate) halted: Option<CoreId>,
    pub(crate) known_halts: CoreSet,
    /// Cores that have come to an `ebreak` or `ecall`, for who drives the chip.
    pub(crate) ebreaks: Vec<Ebreak>,
    pub(crate) trials: Trials,
    /// What came from outside, if somebody wants to make it again.
    pub(crate) kept: Option<Box<crate::Inputs>>,
    /// Last, so that a tile can be pointed at without knowing its type.
    pub(crate) observer: O,
}

impl<O: Observer> Tile<O> {
    /// A tile at power-on: L1 zero, all cores held in reset, cycle 0.
    ///
    /// # Errors
    /// The host cannot start the engine's threads.
    pub fn new(config: TileConfig, observer: O) -> std::io::Result<Self> {
        Self::with_l1(config, observer, L1::new())
    }

    /// A tile at power-on whose L1 somebody has already written.
    ///
    /// # Errors
    /// As [`Tile::new`].
    pub fn with_l1(config: TileConfig, observer: O, l1: L1) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::with_l1(l1));
        for (start, end) in observer.observed_l1() {
            shared.observe_range(start, end, true);
        }
        let mut cores = Slots::new(|id| Core::new(id, config.core()));
        for id in CoreId::ALL {
            cores[id].set_trace(observer.wants_retires(id));
            cores[id].set_jump_log(observer.wants_jumps(id));
        }
        Ok(Self {
            engine: Engine::start(config.engine, &shared)?,
            config,
            shared,
            cores,
            observer,
            now: Cycle::ZERO,
            quiet_since: None,
            mailboxes: Mailboxes::new(),
            pcbufs: PcBufs::new(),
            control: TileControl::new(),
            tdma: Tdma::new(),
            nius: [0, 1].map(|noc| config.niu(noc)),
            overlay: Overlay::new(),
            pic: Pic::new(),
            tensix: config.coprocessor(),
            fabric: Fabric::new(config.networked),
            answers: [None; CoreId::COUNT],
            core_waits: [None; CoreId::COUNT],
            push_waits: [None; CoreId::COUNT],
            device_change: false,
            devices_steady_since: Cycle::ZERO,
            retry_requests: false,
            tracked: 0,
            tracked_config: 0,
            credits_stale: true,
            watch_hit: false,
            host_watch: 0,
            icache_invalidations: 0,
            deferred: Deferred::default(),
            failed: CoreSet::EMPTY,
            faults: Vec::new(),
            debug_queue: Vec::new(),
            halted: None,
            known_halts: CoreSet::EMPTY,
            ebreaks: Vec::new(),
            trials: Trials::new(),
            kept: None,
        })
    }
}

impl<O: Observer + ?Sized> Tile<O> {
    /// What was chosen.
    #[must_use]
    pub fn config(&self) -> &TileConfig {
        &self.config
    }

    /// Whether a way to the same result may be taken.
    #[inline]
    pub(crate) fn takes(&self, shortcut: Shortcut) -> bool {
        self.config.shortcuts.has(shortcut)
    }

    /// Cycles since power-on; always an epoch boundary.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// A core.
    #[must_use]
    pub fn core(&self, id: CoreId) -> &Core {
        &self.cores[id]
    }

    /// The scratchpad RAM.
    #[must_use]
    pub fn l1(&self) -> &L1 {
        &self.shared.l1
    }

    /// The coprocessor.
    #[must_use]
    pub fn coprocessor(&self) -> &Coprocessor {
        &self.tensix
    }

    /// Where programs relied on something that no public source describes, or made a mistake whose
    /// check is lowered ([`TileConfig::warned`]), so that the outcome is the model's choice: at most
    /// one per check and Tensix thread.
    #[must_use]
    pub fn warnings(&self) -> &[GuestError] {
        self.tensix.warnings()
    }

    /// The consumer of events.
    #[must_use]
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The consumer of events, to change what it does from now on. What it wants of L1 and of
    /// instructions is asked once, when the tile is made.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// [`Tile::instructions`]
    pub(crate) fn instructions_here(&mut self) -> [u64; CoreId::COUNT] {
        self.wake_all();
        CoreId::ALL.map(|id| self.cores[id].instructions())
    }

    /// Takes every parked core out of its loop, so that its state is exact as of now.
    pub(crate) fn wake_all(&mut self) {
        for id in CoreId::ALL {
            self.wake_core(id, self.now);
        }
    }

    /// Takes a core out of its polling loop, if it is parked in one, as of `now`.
    pub(crate) fn wake_core(&mut self, id: CoreId, now: Cycle) {
        if let Some(spin) = self.cores[id].spin() {
            let span = ParkedSpan {
                from: spin.parked_at(),
                until: now.max(spin.parked_at()),
                pc: spin.loads.first().map_or(spin.head, |load| load.pc),
                reads: spin.first_read(),
            };
            self.observer.parked(id, span);
        }
        self.cores[id].wake(&self.shared, now);
    }

    /// [`Tile::state_hash`]
    pub(crate) fn state_hash_here(&mut self) -> u64 {
        self.wake_all();
        let mut hasher = StateHasher::default();
        self.hash_parts(&mut hasher, true);
        hasher.finish()
    }

    /// [`Tile::effects_hash`]
    pub(crate) fn effects_hash_here(&self) -> u64 {
        let mut hasher = StateHasher::default();
        self.shared.l1.hash_state(&mut hasher);
        self.hash_devices(&mut hasher);
        hasher.finish()
    }

    /// [`Tile::devices_hash`]
    pub(crate) fn devices_hash_here(&self) -> u64 {
        let mut hasher = StateHasher::default();
        self.hash_devices(&mut hasher);
        hasher.finish()
    }

    /// [`Tile::l1_hashes`]
    pub(crate) fn l1_hashes_here(&self, bytes: u32) -> Vec<u64> {
        let starts = (0..sim_core::l1::L1_BYTES).step_by(bytes.max(4) as usize);
        let of = |start: u32| {
            let mut hasher = StateHasher::default();
            for addr in (start..start + bytes).step_by(4) {
                hasher.u32(self.shared.l1.read(addr, sim_core::Width::Word));
            }
            hasher.finish()
        };
        starts.map(of).collect()
    }

    fn hash_devices(&self, hasher: &mut StateHasher) {
        self.hash_parts(hasher, false);
    }

    /// Adds the state, or the devices' part of it.
    fn hash_parts(&self, hasher: &mut StateHasher, whole: bool) {
        let Self {
            shared,
            cores,
            now,
            mailboxes,
            pcbufs,
            control,
            tdma,
            nius,
            overlay,
            pic,
            tensix,
            fabric,
            // What defines the machine, and who drives and watches it.
            config: _,
            engine: _,
            observer: _,
            // When something was seen or changed last, found again or for who asks.
            quiet_since: _,
            devices_steady_since: _,
            core_waits: _,
            push_waits: _,
            // What follows from the devices: what cores were told of them.
            tracked: _,
            tracked_config: _,
            credits_stale: _,
            device_change: _,
            retry_requests: _,
            watch_hit: _,
            host_watch: _,
            // What is empty between epochs.
            answers: _,
            icache_invalidations: _,
            deferred: _,
            debug_queue: _,
            trials: _,
            // What was said, or is to be.
            failed: _,
            faults: _,
            halted: _,
            known_halts: _,
            ebreaks: _,
            kept: _,
        } = self;
        if whole {
            hasher.u64(now.0);
            shared.l1.hash_state(hasher);
            cores.iter().for_each(|(_, core)| core.hash_state(hasher));
        }
        mailboxes.hash_state(hasher);
        pcbufs.hash_state(hasher);
        control.hash_state(hasher);
        tdma.hash_state(hasher);
        nius.iter().for_each(|niu| niu.hash_state(hasher));
        overlay.hash_state(hasher);
        pic.hash_state(hasher);
        tensix.hash_state(hasher);
        fabric.hash_state(hasher);
    }

    /// Tells the lone runner which words are watched: by parked cores, and by the host.
    pub(crate) fn refresh_watches(&mut self) {
        let mut bits = self.host_watch;
        if let Some(addr) = self.tensix.watched_l1() {
            // Read and write counter of a FIFO; a lone word needs only the first.
            bits |= Shared::watch_bit(addr) | Shared::watch_bit(addr + 4);
        }
        for (_, core) in self.cores.iter() {
            if let Some(spin) = core.spin() {
                for load in spin.loads.iter().filter(|load| !load.device) {
                    bits |= Shared::watch_bit(load.addr);
                }
            }
        }
        self.shared.set_watched(bits);
    }

    /// The host waits for that word from now on.
    pub(crate) fn set_host_watch(&mut self, wait: Option<HostWait>) {
        self.host_watch = wait.map_or(0, |wait| Shared::watch_bit(wait.addr));
        self.refresh_watches();
    }

    /// [`Tile::registers`]
    pub(crate) fn registers_here(&mut self) -> Register {
        self.wake_all();
        let cores = CoreId::ALL.map(|id| registers::core(&self.cores[id]));
        let nocs = [0, 1].map(|noc| registers::niu(noc, &mut self.nius[noc]));
        let rest = [registers::mailboxes(&self.mailboxes), registers::pcbufs(&self.pcbufs)];
        let parts = [Register::group("core", cores)].into_iter().chain(rest).chain(nocs);
        Register::group("tile", parts.chain([self.tensix.registers()]))
    }

    /// What lies in the mailbox from one core to another, the oldest word first.
    #[must_use]
    pub fn mailbox_values(&self, from: CoreId, to: CoreId) -> Vec<u32> {
        self.mailboxes.values(from, to).collect()
    }

    /// A register of a NoC stream, as far as streams have them.
    #[must_use]
    pub fn stream_register(&self, stream: u8, register: u16) -> Option<u32> {
        self.overlay.read(stream, register).ok()
    }

    /// [`Tile::waits`]
    pub(crate) fn waits_here(&self) -> Vec<AgentWait> {
        let core = |id: CoreId| {
            let (request, push) = (self.core_waits[id.index()], self.push_waits[id.index()]);
            quiesce::core_wait(&self.cores[id], request, push)
        };
        let cores = CoreId::ALL.into_iter().filter_map(core);
        cores.chain(quiesce::thread_waits(&self.tensix)).collect()
    }

    /// A core has halted: if it did so by itself, whoever drives the chip is told.
    pub(crate) fn note_ebreak(&mut self, core: CoreId, cycle: Cycle) {
        let halted = &self.cores[core];
        if halted.pause_reasons() & riscv::debug::reason::EBREAK != 0 {
            let pc = halted.pc().wrapping_sub(4);
            self.ebreaks.push(Ebreak { core, pc, cycle });
        }
    }

    /// The `ebreak`s that cores have come to since last asked.
    pub fn take_ebreaks(&mut self) -> Vec<Ebreak> {
        std::mem::take(&mut self.ebreaks)
    }

    /// Whether [`Tile::take_ebreaks`] has something to give.
    #[must_use]
    pub fn has_ebreaks(&self) -> bool {
        !self.ebreaks.is_empty()
    }

    /// Whether a core waits by the wall clock: it goes on by itself.
    #[must_use]
    pub fn waits_by_clock(&self, core: CoreId) -> bool {
        matches!(self.cores[core].status(), Status::Parked(spin) if spin.leaves_at().is_some())
    }

    /// Whether a core is held in reset, or stays where it made a mistake.
    #[must_use]
    pub fn is_dead(&self, core: CoreId) -> bool {
        matches!(self.cores[core].status(), Status::Reset | Status::Faulted)
    }

    /// Whether NCRISC has made a mistake at its fixed start address although nobody has said where its program is:
    /// whoever clears all of SOFT_RESET_0 to release something else lets it run whatever stands there.
    #[must_use]
    pub fn strays(&self, core: CoreId, pc: u32) -> bool {
        let control = &self.control;
        core == CoreId::Ncrisc && control.chosen_pc(core).is_none() && pc == control.entry_pc(core)
    }

    /// Whether a core stays where it made a mistake.
    #[must_use]
    pub fn has_erred(&self, core: CoreId) -> bool {
        matches!(self.cores[core].status(), Status::Faulted)
    }

    /// [`Tile::verdict`]
    pub(crate) fn verdict_here(&self, host: Option<HostWait>) -> Option<Quiescence> {
        (!self.is_active()).then(|| self.quiescence(host))
    }

    pub(crate) fn quiescence(&self, host: Option<HostWait>) -> Quiescence {
        Quiescence::of(self.waits_here(), host, self.now, self.quiet_since)
    }

    /// [`Tile::suppose`]
    pub(crate) fn suppose_here(&mut self, what: Supposition) -> bool {
        let Self { tensix, overlay, mailboxes, shared, .. } = self;
        let done = what.come_true(tensix, overlay, mailboxes, &shared.l1);
        self.tensix.wake();
        self.settle_between_epochs();
        done
    }

    /// The word that a core would execute next, with all it has stored itself.
    #[must_use]
    pub fn next_word(&self, id: CoreId) -> Option<u32> {
        self.cores[id].next_word(&self.shared)
    }

    /// How many words from its pc on a core executes as one.
    #[must_use]
    pub fn bundle_words(&self, id: CoreId) -> u32 {
        self.cores[id].bundle_words(&self.shared)
    }

    /// Bytes as that core would load them now: L1 with all it has stored itself, its own local RAM.
    /// Gives how many of them are memory; devices are not asked.
    #[must_use]
    pub fn core_memory(&self, id: CoreId, addr: u32, bytes: &mut [u8]) -> usize {
        self.cores[id].memory(&self.shared.l1, addr, bytes)
    }

    /// [`Tile::restore`]
    pub(crate) fn restore_here(&mut self, snapshot: &TileSnapshot) {
        self.put_back(snapshot);
        self.tensix.set_shortcuts(self.config.shortcuts);
        for id in CoreId::ALL {
            let core = &mut self.cores[id];
            core.set_shortcuts(self.config.shortcuts);
            core.set_trace(self.observer.wants_retires(id));
            core.set_jump_log(self.observer.wants_jumps(id));
        }
    }
}
