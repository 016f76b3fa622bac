//! Nothing moves any more: which agent waits for what, and can any still end it?
//!
//! The wait-for closure: an agent is *live* if one that could end its wait is live. The host
//! is live unless it said that it does nothing until a word in L1 changes
//! ([`crate::Tile::run`]). An agent that is not live will never move again.

use std::fmt;

use memory_map::reg::overlay;
use memory_map::{Target, lookup};
use riscv::debug::reason;
use riscv::{Core, Spin, Status, WatchedLoad, view};
use sim_core::{AgentId, CoreId, Cycle, ThreadId, WaitReason};
use tensix::Coprocessor;

use crate::asker::pushed_thread;
use crate::host_wait::HostWait;
use crate::route::mailbox_peer;
use crate::waiting::{CoreWait, PushWait};

/// What a quiescent machine means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// Only the host can continue it.
    HostWait,
    /// Some agents can never move again, whatever the host may lawfully do.
    Deadlock,
}

impl Verdict {
    /// The name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostWait => "HOST-WAIT",
            Self::Deadlock => "DEADLOCK",
        }
    }
}

/// A Tensix instruction that stands behind one that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeldBack {
    /// The instruction.
    pub word: u32,
    /// The instruction of its core that pushed it.
    pub pc: u32,
}

/// An agent that does not move.
#[derive(Clone, Debug)]
pub struct AgentWait {
    /// Who.
    pub agent: AgentId,
    /// What for.
    pub reason: WaitReason,
    /// Since when, if known.
    pub since: Option<Cycle>,
    /// The waiting instruction, or for a Tensix instruction the one that pushed it.
    pub pc: Option<u32>,
    /// The Tensix instruction that waits: SEMWAIT and its like, or one that cannot issue by itself.
    pub word: Option<u32>,
    /// What a wait instruction holds back at the front of its thread.
    pub held: Option<HeldBack>,
    /// What a spinning core reads.
    pub reads: Vec<WatchedLoad>,
    /// Who could end the wait.
    pub enders: Vec<AgentId>,
    /// Whether it can never move again.
    pub stuck: bool,
}

impl fmt::Display for AgentWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.agent, self.reason)?;
        if let Some(since) = self.since {
            write!(f, " since cycle {since}")?;
        }
        Ok(())
    }
}

/// A machine in which nothing moves.
#[derive(Clone, Debug)]
pub struct Quiescence {
    /// When it was found: a core that polls is recognised when a round of its loop has repeated.
    pub cycle: Cycle,
    /// When the last of the waits began that hold everything: from then on nothing could happen any
    /// more. For a polling core the beginning of the round counts that repeats the one before.
    pub closed: Cycle,
    /// What it means.
    pub verdict: Verdict,
    /// All agents that wait, in their order. Cores held in reset are left out.
    pub waits: Vec<AgentWait>,
    /// What the host waits for, if it said so.
    pub host: Option<HostWait>,
}

impl Quiescence {
    /// What it means that those wait and nothing moves; `host` is what the host waits for, if it does
    /// nothing before that.
    pub(crate) fn of(
        mut waits: Vec<AgentWait>,
        host: Option<HostWait>,
        now: Cycle,
        quiescent_since: Option<Cycle>,
    ) -> Self {
        mark_stuck(&mut waits, host.is_none());
        let stuck = waits.iter().any(|wait| wait.stuck);
        // A bound host waits for the machine, in which nothing moves.
        let verdict = if stuck || host.is_some() { Verdict::Deadlock } else { Verdict::HostWait };
        let closed = waits.iter().filter_map(|wait| wait.since).max().unwrap_or(now);
        Self { cycle: quiescent_since.unwrap_or(now), closed, verdict, waits, host }
    }
}

/// What the threads of the coprocessor wait for.
pub(crate) fn thread_waits(tensix: &Coprocessor) -> impl Iterator<Item = AgentWait> {
    ThreadId::ALL.into_iter().filter_map(|thread| {
        let wait = tensix.wait_state(thread)?;
        let agent = AgentId::Thread(thread);
        Some(AgentWait {
            agent,
            reason: wait.reason,
            since: Some(wait.since),
            pc: Some(wait.origin.pc),
            word: Some(wait.word),
            held: wait.held.map(|(word, origin)| HeldBack { word, pc: origin.pc }),
            reads: Vec::new(),
            enders: wait.reason.enders(agent),
            stuck: false,
        })
    })
}

/// What a core waits for; given are its unanswered request, its waiting push, and when it came to an `ebreak`.
pub(crate) fn core_wait(
    core: &Core,
    request: Option<CoreWait>,
    push: Option<PushWait>,
    ebreak: Option<Cycle>,
) -> Option<AgentWait> {
    let id = core.id();
    let agent = AgentId::Core(id);
    let wait = |reason: WaitReason, since, pc| AgentWait {
        agent,
        reason,
        since,
        pc: Some(pc),
        word: None,
        held: None,
        reads: Vec::new(),
        enders: reason.enders(agent),
        stuck: false,
    };
    match core.status() {
        Status::Waiting => {
            let CoreWait { reason, since, .. } = request?;
            Some(wait(reason, Some(since), core.batch.request.as_ref()?.pc))
        }
        Status::PushBlocked(window) => {
            let since = push.map(|wait| wait.since);
            Some(wait(pushed_thread(id, *window), since, core.pc()))
        }
        // Who waits by the clock goes on by itself.
        Status::Parked(spin) if spin.leaves_at().is_some() => None,
        Status::Parked(spin) => Some(spin_wait(id, spin)),
        Status::Halted if core.pause_reasons() & reason::EBREAK != 0 => {
            Some(wait(WaitReason::Halted, ebreak, core.pc()))
        }
        Status::Halted => Some(wait(WaitReason::Paused, None, core.pc())),
        Status::Reset | Status::Running | Status::Faulted => None,
    }
}

/// What a core polls that waits by the wall clock in each round of its loop: it goes round and round until that
/// changes.
pub(crate) fn clocked_poll(core: &Core) -> Option<AgentWait> {
    let spin = core.spin().filter(|spin| spin.polls_by_clock())?;
    Some(spin_wait(core.id(), spin))
}

/// What a core waits for that goes round in a loop.
fn spin_wait(id: CoreId, spin: &Spin) -> AgentWait {
    AgentWait {
        agent: AgentId::Core(id),
        reason: if spin.loads().is_empty() { WaitReason::Ended } else { WaitReason::Spin },
        since: Some(spin.began()),
        pc: Some(spin.loads().first().map_or(spin.head, |load| load.pc)),
        word: None,
        held: None,
        reads: spin.loads().to_vec(),
        enders: spin_enders(id, spin.loads()),
        stuck: false,
    }
}

/// Who could change something that the loads see.
fn spin_enders(id: CoreId, loads: &[WatchedLoad]) -> Vec<AgentId> {
    let mut enders = Vec::new();
    let mut add = |agent: AgentId| {
        if agent != AgentId::Core(id) && !enders.contains(&agent) {
            enders.push(agent);
        }
    };
    for load in loads {
        match lookup(view(id), load.addr).map(|hit| hit.target) {
            Some(Target::Mailbox) => {
                add(AgentId::Core(mailbox_peer(load.addr)));
            }
            Some(Target::Semaphores | Target::GprOwn | Target::GprAll | Target::TensixCfg) => {
                for thread in ThreadId::ALL {
                    add(AgentId::Thread(thread));
                    add(AgentId::Core(thread.core()));
                }
                add(AgentId::Core(CoreId::Brisc));
            }
            Some(Target::Noc0) => add(AgentId::Noc(0)),
            Some(Target::Noc1) => add(AgentId::Noc(1)),
            Some(Target::Overlay) if is_credit(load.addr) => {
                CoreId::ALL.into_iter().for_each(|core| add(AgentId::Core(core)));
            }
            // L1, the rest of the overlay and control registers: all that can store.
            _ => {
                for core in CoreId::ALL {
                    add(AgentId::Core(core));
                }
                add(AgentId::Noc(0));
                add(AgentId::Noc(1));
                add(AgentId::Host);
            }
        }
    }
    enders
}

/// Whether an overlay register is one of the two that circular buffers count their pages in: only cores
/// of the tile push and pop `[hdr: hw/inc/internal/circular_buffer_interface.h]`.
fn is_credit(addr: u32) -> bool {
    let offset = addr % memory_map::layout::STREAM_STRIDE;
    [overlay::REMOTE_DEST_BUF_START_OFFSET, overlay::REMOTE_DEST_BUF_SIZE_OFFSET].contains(&offset)
}

/// Greatest set of agents that wait only for each other.
fn mark_stuck(waits: &mut [AgentWait], host_is_live: bool) {
    let mut live: Vec<bool> = vec![false; waits.len()];
    loop {
        let mut changed = false;
        for index in 0..waits.len() {
            let can_end = |ender: &AgentId| match ender {
                AgentId::Host => host_is_live,
                other => waits.iter().zip(&live).any(|(wait, &live)| wait.agent == *other && live),
            };
            if !live[index] && waits[index].enders.iter().any(can_end) {
                live[index] = true;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for (wait, live) in waits.iter_mut().zip(live) {
        // Who waits for nothing cannot be stuck; nor can another wait for it.
        wait.stuck = !live && wait.reason != WaitReason::Ended;
    }
}
