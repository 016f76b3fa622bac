//! Who would have to act for a wait to end: who has done it before, who holds it back behind a wait of
//! its own, who would do it by the code that stands in L1; else everybody who could.

use sim_core::observer::Look;
use sim_core::{AgentId, CoreId, ThreadId, WaitReason};
use tile::AgentWait;

use super::ahead;
use super::scene::Scene;
use super::sections::MATH_PACK;
use super::users::{Site, users};
use crate::polls::credit_way;
use crate::resource::{Resource, Way};

/// Who could end a wait.
pub(super) struct Actors {
    pub(super) agents: Vec<AgentId>,
    pub(super) known: bool,
    pub(super) own: Option<u32>,
    /// Where in the code of the launch it would be done, if it never has been.
    pub(super) sites: Vec<Site>,
}

/// Who would have to do that: who has done it before, who holds it back behind a wait of its own,
/// else who could.
pub(super) fn who(scene: &Scene<'_>, wait: &AgentWait, resource: Resource, way: Way) -> Actors {
    let known = |agents| Actors { agents, known: true, own: None, sites: Vec::new() };
    let history = scene.ledger.history(resource);
    if let (Resource::Mutex(_), Some(history)) = (resource, history)
        && let Some(holder) = history.last(Way::Take)
        && history.value == 0
    {
        return known(vec![holder.agent]);
    }
    let mut agents = history.map(|history| history.agents_since_setup(way)).unwrap_or_default();
    // A blocked thread cannot have meant itself.
    agents.retain(|agent| *agent != wait.agent);
    if !agents.is_empty() {
        return known(agents);
    }
    if matches!(resource, Resource::Circular(_))
        && let Some(actors) = written_down(scene, wait, resource, way)
    {
        return actors;
    }
    match (resource, way) {
        (Resource::Src(_), Way::Give) => {
            // Nobody has filled one: where that would be done.
            let sites = if scene.ledger.is_blank()
                || scene.ledger.history(resource).is_some_and(|history| history.last(way).is_some())
            {
                Vec::new()
            } else {
                users(scene, resource, way).sites
            };
            Actors { sites, ..known(vec![AgentId::Thread(ThreadId::T0)]) }
        }
        (Resource::Src(_), _) => known(vec![AgentId::Thread(ThreadId::T1)]),
        (Resource::Mailbox { to, .. }, Way::Take) => known(vec![AgentId::Core(to)]),
        (Resource::Mailbox { from, .. }, _) => {
            if history.is_some_and(|history| history.last(Way::Give).is_some()) {
                return known(vec![AgentId::Core(from)]);
            }
            // A kernel that has no such code will not do it, whatever it waits for.
            let users = users(scene, resource, way);
            let nobody = users.complete && users.sites.is_empty();
            let agents = if nobody { Vec::new() } else { vec![AgentId::Core(from)] };
            // Without books it may have been done before.
            let sites = if scene.ledger.is_blank() { Vec::new() } else { users.sites };
            Actors { sites, ..known(agents) }
        }
        (Resource::PcBuf(_), _) => known(wait.enders.clone()),
        (Resource::Circular(_), _) if let Some(other) = other_side(scene, wait, resource, way) => {
            known(vec![other])
        }
        (Resource::Circular(_), _) => {
            // The unpacker's core pops and the packer's pushes `[hdr: hw/inc/api/compute/cb_api.h]`.
            let compute = if way == Way::Take { CoreId::Trisc0 } else { CoreId::Trisc2 };
            let others = [compute, CoreId::Brisc, CoreId::Ncrisc].map(AgentId::Core);
            let agents = others.into_iter().filter(|agent| *agent != wait.agent).collect();
            Actors { agents, known: false, own: None, sites: Vec::new() }
        }
        (Resource::Semaphore(index), _) => semaphore(scene, wait, index, way),
        _ => Actors { agents: wait.enders.clone(), known: false, own: None, sites: Vec::new() },
    }
}

/// Who would do it by the code of the launch, where nobody has done it so far. Of a semaphore only what
/// is found counts: it may also be posted by what a replay buffer or a macro holds.
fn written_down(
    scene: &Scene<'_>,
    wait: &AgentWait,
    resource: Resource,
    way: Way,
) -> Option<Actors> {
    let users = users(scene, resource, way);
    let is_pages = matches!(resource, Resource::Circular(_));
    let own = core_behind(wait.agent);
    let is_own = |site: &Site| core_behind(site.agent) == own;
    let (by_self, sites): (Vec<Site>, Vec<Site>) = users.sites.into_iter().partition(is_own);
    if sites.is_empty() && !(is_pages && users.complete) {
        return None;
    }
    let mut agents: Vec<AgentId> = Vec::new();
    for site in &sites {
        if !agents.contains(&site.agent) {
            agents.push(site.agent);
        }
    }
    let own = by_self.first().filter(|_| sites.is_empty()).map(|site| site.pc);
    Some(Actors { agents, known: users.complete || !is_pages, own, sites })
}

/// Who is at the other side of a circular buffer: the core that waits there, or its thread, if that
/// holds back what the core has pushed.
fn other_side(
    scene: &Scene<'_>,
    wait: &AgentWait,
    resource: Resource,
    way: Way,
) -> Option<AgentId> {
    let Resource::Circular(index) = resource else { return None };
    let waits_so = |other: &&AgentWait| {
        other.agent != wait.agent
            && other.reason == WaitReason::Spin
            && credit(scene, other, index).is_some_and(|other| other != way)
    };
    let mut others = scene.waits.iter().filter(waits_so);
    let only = others.next()?;
    if others.next().is_some() {
        return None;
    }
    let thread = core_behind(only.agent)?.thread().map(AgentId::Thread);
    let blocked = thread.filter(|thread| scene.waits.iter().any(|wait| wait.agent == *thread));
    Some(blocked.unwrap_or(only.agent))
}

/// Who could post or get a semaphore that nobody has posted or got yet.
fn semaphore(scene: &Scene<'_>, wait: &AgentWait, index: u8, way: Way) -> Actors {
    let front = |wait: &AgentWait| match wait.held {
        Some(held) => Some((held.word, held.pc)),
        None => wait.word.zip(wait.pc),
    };
    let holds =
        |wait: &&AgentWait| front(wait).is_some_and(|(word, _)| ahead::operates(word, index, way));
    if holds(&wait) {
        let own = front(wait).map(|(_, pc)| pc);
        return Actors { agents: Vec::new(), known: true, own, sites: Vec::new() };
    }
    let holders = scene.waits.iter().filter(holds).map(|wait| wait.agent);
    let holders: Vec<_> = holders.collect();
    if !holders.is_empty() {
        return Actors { agents: holders, known: true, own: None, sites: Vec::new() };
    }
    let mut agents = match (index, way, wait.agent) {
        // The math thread posts MATH_PACK, the pack thread gets it
        // `[llk: llk_lib/llk_math_common.h]`, `[llk: llk_lib/llk_pack_common.h]`.
        (MATH_PACK, Way::Give, AgentId::Thread(ThreadId::T2)) => by(ThreadId::T1),
        (MATH_PACK, Way::Take, AgentId::Thread(ThreadId::T1)) => by(ThreadId::T2),
        _ => wait.enders.clone(),
    };
    if let AgentId::Thread(thread) = wait.agent {
        let core = AgentId::Core(thread.core());
        if let Some(pc) = ahead::operation(scene, thread, index, way) {
            return Actors { agents: vec![core], known: true, own: Some(pc), sites: Vec::new() };
        }
        agents.retain(|agent| *agent != core);
    }
    if let Some(actors) = written_down(scene, wait, Resource::Semaphore(index), way) {
        return actors;
    }
    Actors { agents, known: false, own: None, sites: Vec::new() }
}

fn by(thread: ThreadId) -> Vec<AgentId> {
    vec![AgentId::Thread(thread)]
}

/// The core that does what an agent does: a thread's instructions are pushed by its core.
pub(super) fn core_behind(agent: AgentId) -> Option<CoreId> {
    crate::describe::core_of(agent)
}

/// What a polling core reads in each round.
pub(super) fn looks(wait: &AgentWait) -> Vec<Look> {
    let reads = wait.reads.iter();
    reads.map(|load| Look { pc: load.pc, addr: load.addr, value: load.value }).collect()
}

/// Which way a loop on the credits of a circular buffer waits, if it is one.
fn credit(scene: &Scene<'_>, wait: &AgentWait, stream: u8) -> Option<Way> {
    credit_way(&looks(wait), stream, |stream| by_deeds(scene, wait, stream))
}

/// Which way a loop waits that reads both counters of a circular buffer, by what the core has done before.
pub(super) fn by_deeds(scene: &Scene<'_>, wait: &AgentWait, stream: u8) -> Option<Way> {
    let history = scene.ledger.history(Resource::Circular(stream));
    let agents = |way| history.map(|history| history.agents(way)).unwrap_or_default();
    let own = core_behind(wait.agent);
    let is_own = |agent: &AgentId| core_behind(*agent) == own;
    let (givers, takers) = (agents(Way::Give), agents(Way::Take));
    match (givers.iter().any(is_own), takers.iter().any(is_own)) {
        (true, false) => Some(Way::Take),
        (false, true) => Some(Way::Give),
        // Both sides have begun, and this core is neither: nothing to go by.
        (false, false) if !givers.is_empty() && takers.is_empty() => Some(Way::Give),
        _ => None,
    }
}
