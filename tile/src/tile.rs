//! The machine: who is in it, and what it shows of itself.

use riscv::{Core, Status};
use sim_core::engine::Engine;
use sim_core::observer::ParkedSpan;
use sim_core::{
    AgentId, CoreId, Cycle, GuestError, L1, L1Image, NullObserver, Observer, Retire, StateHasher,
};
use tensix::{Coprocessor, Register};

use crate::bus::Bus;
use crate::config::TileConfig;
use crate::host_wait::HostWait;
use crate::quiesce::{self, AgentWait, Quiescence};
use crate::registers;
use crate::snapshot::{State, TileSnapshot};
use crate::suppose::Supposition;
use crate::trials::Trials;
use crate::waiting::Ebreak;

/// One Tensix tile: what drives its parts through time, and what a host sees of them.
#[derive(Debug)]
pub struct Tile<O: Observer + ?Sized = NullObserver> {
    pub(crate) engine: Engine<Core>,
    /// Since when nothing can move, if nothing can.
    pub(crate) quiescent_since: Option<Cycle>,
    pub(crate) trials: Trials,
    /// What came from outside, if it is to be made again.
    pub(crate) kept: Option<Box<crate::Inputs>>,
    /// Last, as the observer is in it.
    pub(crate) bus: Bus<O>,
}

impl<O: Observer> Tile<O> {
    /// A tile at power-on: L1 zero, all cores held in reset, cycle 0.
    ///
    /// # Errors
    /// The host cannot start the engine's threads.
    pub fn new(config: TileConfig, observer: O) -> std::io::Result<Self> {
        Self::with_l1(config, observer, L1::new())
    }

    /// A tile at power-on whose L1 has already been written.
    ///
    /// # Errors
    /// As [`Tile::new`].
    pub fn with_l1(config: TileConfig, observer: O, l1: L1) -> std::io::Result<Self> {
        let bus = Bus::new(config, observer, l1);
        Ok(Self {
            engine: Engine::start(config.engine, &bus.cores.shared)?,
            quiescent_since: None,
            trials: Trials::new(),
            kept: None,
            bus,
        })
    }
}

impl<O: Observer + ?Sized> Tile<O> {
    /// What was chosen.
    #[must_use]
    pub fn config(&self) -> &TileConfig {
        &self.bus.config
    }

    /// Cycles since power-on; always an epoch boundary.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.bus.now
    }

    /// A core.
    #[must_use]
    pub fn core(&self, id: CoreId) -> &Core {
        &self.bus.cores[id]
    }

    /// The scratchpad RAM.
    #[must_use]
    pub fn l1(&self) -> &L1 {
        self.bus.cores.l1()
    }

    /// The coprocessor.
    #[must_use]
    pub fn coprocessor(&self) -> &Coprocessor {
        &self.bus.tensix.unit
    }

    /// Where programs relied on something that no public source describes, or made a mistake whose
    /// check is lowered ([`TileConfig::warned`]), so that the outcome is the model's choice: at most
    /// one per check and Tensix thread.
    #[must_use]
    pub fn warnings(&self) -> &[GuestError] {
        self.bus.tensix.unit.warnings()
    }

    /// The consumer of events.
    #[must_use]
    pub fn observer(&self) -> &O {
        &self.bus.cores.observer
    }

    /// The consumer of events, to change what it does from now on. What it wants of L1 and of
    /// instructions is asked once, when the tile is made.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.bus.cores.observer
    }

    /// The cores that are parked, as an observer would be told if they were taken up now.
    #[must_use]
    pub fn parked(&self) -> Vec<(CoreId, ParkedSpan)> {
        let Bus { cores, now, .. } = &self.bus;
        CoreId::ALL.into_iter().filter_map(|id| Some((id, cores.parked(id, *now)?))).collect()
    }

    /// [`Tile::instructions`]
    pub(crate) fn instructions_here(&mut self) -> [u64; CoreId::COUNT] {
        self.bus.cores.wake_all(self.bus.now);
        CoreId::ALL.map(|id| self.bus.cores[id].instructions())
    }

    /// [`Tile::state_hash`]
    pub(crate) fn state_hash_here(&mut self) -> u64 {
        self.bus.cores.wake_all(self.bus.now);
        let mut hasher = StateHasher::default();
        self.hash_parts(&mut hasher, true);
        hasher.finish()
    }

    /// [`Tile::effects_hash`]
    pub(crate) fn effects_hash_here(&self) -> u64 {
        let mut hasher = StateHasher::default();
        self.l1().hash_state(&mut hasher);
        self.hash_parts(&mut hasher, false);
        hasher.finish()
    }

    /// [`Tile::devices_hash`]
    pub(crate) fn devices_hash_here(&self) -> u64 {
        let mut hasher = StateHasher::default();
        self.hash_parts(&mut hasher, false);
        hasher.finish()
    }

    /// [`Tile::l1_hashes`]
    pub(crate) fn l1_hashes_here(&self, bytes: u32) -> Vec<u64> {
        self.bus.cores.l1_hashes(bytes)
    }

    /// Adds the state, or the devices' part of it.
    fn hash_parts(&self, hasher: &mut StateHasher, whole: bool) {
        let Self {
            bus,
            // What drives it, and tries what can be taken back.
            engine: _,
            trials: _,
            // When it was seen that nothing moves, and what came, for who asks.
            quiescent_since: _,
            kept: _,
        } = self;
        bus.hash_state(hasher, whole);
    }

    /// [`Tile::snapshot`]
    pub(crate) fn snapshot_here(&self, like: Option<&TileSnapshot>) -> TileSnapshot {
        let Self { bus, engine: _, trials, quiescent_since, kept: _ } = self;
        let none = L1Image::default();
        let like = like.map_or(&none, TileSnapshot::l1);
        let (trials, bus) = (trials.clone(), bus.snapshot(like));
        TileSnapshot(State { quiescent_since: *quiescent_since, trials, bus }.into())
    }

    /// [`Tile::restore`]
    pub(crate) fn restore_here(&mut self, snapshot: &TileSnapshot) {
        let State { quiescent_since, trials, bus } = &*snapshot.0;
        self.quiescent_since = *quiescent_since;
        self.trials.clone_from(trials);
        self.bus.restore(bus);
    }

    /// [`Tile::registers`]
    pub(crate) fn registers_here(&mut self) -> Register {
        self.bus.cores.wake_all(self.bus.now);
        let cores = CoreId::ALL.map(|id| registers::core(&self.bus.cores[id]));
        let nocs = [0, 1].map(|noc| registers::niu(noc, &mut self.bus.devices.nius[noc]));
        let rest = [
            registers::mailboxes(&self.bus.devices.mailboxes),
            registers::pcbufs(&self.bus.devices.pcbufs),
        ];
        let parts = [Register::group("core", cores)].into_iter().chain(rest).chain(nocs);
        Register::group("tile", parts.chain([self.bus.tensix.unit.registers()]))
    }

    /// What lies in the mailbox from one core to another, the oldest word first.
    #[must_use]
    pub fn mailbox_values(&self, from: CoreId, to: CoreId) -> Vec<u32> {
        self.bus.devices.mailboxes.values(from, to).collect()
    }

    /// A register of a NoC stream, as far as streams have them.
    #[must_use]
    pub fn stream_register(&self, stream: u8, register: u16) -> Option<u32> {
        self.bus.devices.overlay.read(stream, register).ok()
    }

    /// [`Tile::waits`]
    pub(crate) fn waits_here(&self) -> Vec<AgentWait> {
        let core = |id: CoreId| {
            let (request, push) =
                (self.bus.waits.requests[id.index()], self.bus.waits.pushes[id.index()]);
            let ebreak = self.bus.stops.ebreak_of(id);
            quiesce::core_wait(&self.bus.cores[id], request, push, ebreak)
        };
        let cores = CoreId::ALL.into_iter().filter_map(core);
        cores.chain(quiesce::thread_waits(&self.bus.tensix.unit)).collect()
    }

    /// The `ebreak`s that cores have come to since last asked.
    pub fn take_ebreaks(&mut self) -> Vec<Ebreak> {
        std::mem::take(&mut self.bus.stops.ebreaks)
    }

    /// Whether [`Tile::take_ebreaks`] has something to give.
    #[must_use]
    pub fn has_ebreaks(&self) -> bool {
        !self.bus.stops.ebreaks.is_empty()
    }

    /// Whether a core waits by the wall clock: it goes on by itself.
    #[must_use]
    pub fn waits_by_clock(&self, core: CoreId) -> bool {
        matches!(self.bus.cores[core].status(), Status::Parked(spin) if spin.leaves_at().is_some())
    }

    /// What a core polls that waits by the wall clock in each round of its loop. Although it waits by the clock, it
    /// goes round and round until that changes.
    #[must_use]
    pub fn clocked_poll(&self, core: CoreId) -> Option<AgentWait> {
        quiesce::clocked_poll(&self.bus.cores[core])
    }

    /// Whether a core is held in reset, or stays where it made a mistake.
    #[must_use]
    pub fn is_dead(&self, core: CoreId) -> bool {
        matches!(self.bus.cores[core].status(), Status::Reset | Status::Faulted)
    }

    /// Whether NCRISC has made a mistake at its fixed start address although it was not told where its program is:
    /// clearing all of SOFT_RESET_0 to release something else lets it run what happens to stand there.
    #[must_use]
    pub fn strays(&self, core: CoreId, pc: u32) -> bool {
        let control = &self.bus.devices.control;
        core == CoreId::Ncrisc && control.chosen_pc(core).is_none() && pc == control.entry_pc(core)
    }

    /// Whether a core stays where it made a mistake.
    #[must_use]
    pub fn has_erred(&self, core: CoreId) -> bool {
        matches!(self.bus.cores[core].status(), Status::Faulted)
    }

    /// The mistake for which a core or a Tensix thread stays where it is.
    #[must_use]
    pub fn mistake(&self, agent: AgentId) -> Option<&GuestError> {
        let stays = match agent {
            AgentId::Core(core) => self.has_erred(core),
            AgentId::Thread(thread) => self.bus.tensix.unit.is_stopped(thread),
            AgentId::Unit(_) | AgentId::Noc(_) | AgentId::Host => false,
        };
        stays.then(|| self.bus.stops.mistake(agent)).flatten()
    }

    /// The pc at which a core made its mistake. It may stand some instructions further: what devices or L1 refuse comes
    /// to light at the end of an epoch.
    #[must_use]
    pub fn erred_at(&self, core: CoreId) -> u32 {
        let pc = self.mistake(AgentId::Core(core)).and_then(|mistake| mistake.at.pc);
        pc.unwrap_or_else(|| self.bus.cores[core].pc())
    }

    /// [`Tile::verdict`]
    pub(crate) fn verdict_here(&self, host: Option<HostWait>) -> Option<Quiescence> {
        (!self.is_active()).then(|| self.quiescence(host))
    }

    pub(crate) fn quiescence(&self, host: Option<HostWait>) -> Quiescence {
        Quiescence::of(self.waits_here(), host, self.bus.now, self.quiescent_since)
    }

    /// [`Tile::suppose`]
    pub(crate) fn suppose_here(&mut self, what: Supposition) -> bool {
        let Bus { tensix, devices, cores, .. } = &mut self.bus;
        let (overlay, mailboxes) = (&mut devices.overlay, &mut devices.mailboxes);
        let done = what.come_true(&mut tensix.unit, overlay, mailboxes, cores.l1());
        self.bus.tensix.unit.wake();
        self.bus.recheck_waits();
        done
    }

    /// The word that a core would execute next, with all it has stored itself.
    #[must_use]
    pub fn next_word(&self, id: CoreId) -> Option<u32> {
        self.bus.cores[id].next_word(&self.bus.cores.shared)
    }

    /// How many words from its pc on a core executes as one.
    #[must_use]
    pub fn bundle_words(&self, id: CoreId) -> u32 {
        self.bus.cores[id].bundle_words(&self.bus.cores.shared)
    }

    /// Instructions of `count` rounds of the loop that a core is parked in, oldest first, at most `most`; none if it is
    /// not parked.
    #[must_use]
    pub fn rounds(&self, id: CoreId, count: u64, most: usize) -> Vec<Retire> {
        riscv::rounds(&self.bus.cores[id], &self.bus.cores.shared, count, most)
    }

    /// Bytes as that core would load them now: L1 with all it has stored itself, its own local RAM.
    /// Gives how many of them are memory; devices are not asked.
    #[must_use]
    pub fn core_memory(&self, id: CoreId, addr: u32, bytes: &mut [u8]) -> usize {
        self.bus.cores[id].memory(self.bus.cores.l1(), addr, bytes)
    }
}
