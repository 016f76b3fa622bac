//! Mistakes of the guest: who is stopped, and what is reported when.
//!
//! A mistake whose check is lowered to a warning is none ([`crate::TileConfig::warned`]). Any other
//! ends the run, but not the machine: running on is allowed, and means this. What
//! made the mistake never moves again; all else does. That is
//!
//! * a core: it is [`riscv::Status::Faulted`] from the end of the epoch on, until it is reset;
//! * a Tensix thread: its frontend takes instructions until it is full and issues none, until
//!   its TRISC is reset;
//! * a NoC request: it is dropped, and what waits for its answer waits for ever;
//! * the host: its access has not happened.
//!
//! Of each core and each thread only the first mistake is reported, in `(cycle, agent)` order,
//! one by one.

use sim_core::{AgentId, CoreId, CoreSet, Cycle, GuestError, ThreadId};

use crate::waiting::Ebreak;

/// What has stopped, and what of it the host has yet to hear. Not hashed: that a core or a thread stands still is its
/// own state.
#[derive(Clone, Debug)]
pub(crate) struct Stops {
    /// The first mistake of each core since its last reset, by [`CoreId::index`].
    mistakes: [Option<Box<GuestError>>; CoreId::COUNT],
    /// That for which each Tensix thread was stopped last.
    threads: [Option<Box<GuestError>>; ThreadId::COUNT],
    /// Mistakes that have not been returned to the host yet, in `(cycle, agent)` order.
    faults: Vec<GuestError>,
    /// The first core that has halted since this was asked last.
    pub(crate) halted: Option<CoreId>,
    /// Cores whose halt has been told.
    known_halts: CoreSet,
    /// Cores that have come to an `ebreak` or `ecall`, for what drives the chip.
    pub(crate) ebreaks: Vec<Ebreak>,
    /// When each core came to one, by [`CoreId::index`]: the end of that epoch.
    ended: [Option<Cycle>; CoreId::COUNT],
}

impl Stops {
    pub(crate) fn new() -> Self {
        Self {
            mistakes: [const { None }; CoreId::COUNT],
            threads: [const { None }; ThreadId::COUNT],
            faults: Vec::new(),
            halted: None,
            known_halts: CoreSet::EMPTY,
            ebreaks: Vec::new(),
            ended: [None; CoreId::COUNT],
        }
    }

    /// A core has made a mistake. Gives whether that is its first one since its reset.
    pub(crate) fn has_failed(&mut self, id: CoreId, mistake: &GuestError) -> bool {
        let first = &mut self.mistakes[id.index()];
        let is_first = first.is_none();
        if is_first {
            *first = Some(Box::new(mistake.clone()));
        }
        is_first
    }

    /// A thread has been stopped for a mistake.
    pub(crate) fn has_stopped(&mut self, thread: ThreadId, mistake: &GuestError) {
        self.threads[thread.index()] = Some(Box::new(mistake.clone()));
    }

    /// The first mistake of a core since its reset; that for which a thread was stopped last.
    pub(crate) fn mistake(&self, agent: AgentId) -> Option<&GuestError> {
        match agent {
            AgentId::Core(core) => self.mistakes[core.index()].as_deref(),
            AgentId::Thread(thread) => self.threads[thread.index()].as_deref(),
            AgentId::Unit(_) | AgentId::Noc(_) | AgentId::Host => None,
        }
    }

    /// Keeps a mistake for the host, in its place among the others.
    pub(crate) fn keep(&mut self, fault: Box<GuestError>) {
        let key = |fault: &GuestError| (fault.at.cycle, fault.at.agent.code());
        let place = self.faults.partition_point(|other| key(other) <= key(&fault));
        self.faults.insert(place, *fault);
    }

    /// Whether the host has heard of all mistakes.
    #[inline]
    pub(crate) fn no_faults(&self) -> bool {
        self.faults.is_empty()
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

    /// A core stands. Gives whether that is news.
    pub(crate) fn has_halted(&mut self, id: CoreId) -> bool {
        let known = self.known_halts.contains(id);
        self.known_halts.insert(id);
        !known
    }

    /// A halted core goes on.
    pub(crate) fn goes_on(&mut self, id: CoreId) {
        self.known_halts.remove(id);
    }

    /// A core has been reset: its next mistake is its first one.
    pub(crate) fn forget(&mut self, id: CoreId) {
        self.known_halts.remove(id);
        self.mistakes[id.index()] = None;
        self.ended[id.index()] = None;
    }

    /// A core came to an `ebreak` or `ecall` before `pc`, in an epoch that ends with `cycle`.
    pub(crate) fn note_ebreak(&mut self, core: CoreId, pc: u32, cycle: Cycle) {
        self.ebreaks.push(Ebreak { core, pc: pc.wrapping_sub(4), cycle });
        self.ended[core.index()] = Some(cycle);
    }

    /// When a core came to an `ebreak` or `ecall` last, if it has since its reset.
    pub(crate) fn ebreak_of(&self, id: CoreId) -> Option<Cycle> {
        self.ended[id.index()]
    }
}
