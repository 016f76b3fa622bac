//! Which class of hazard a wait is an instance of.

use sim_core::{AgentId, CoreId, WaitReason, Width};

use super::graph::Graph;
use super::hazards::{self as h, Hazard};
use super::needs::{Kind, Need};
use super::remark::{has_tripped, slot};
use super::scene::Scene;
use crate::ledger::{Entry, History};
use crate::resource::{Operation, Resource, Way};

/// Whether a class says by itself that this wait is the cause: there is proof of a lost operation,
/// not only a wait.
pub(super) fn is_evidence(id: &str) -> bool {
    matches!(id, "A4" | "A5" | "A9" | "A15" | "A17" | "A18")
}

/// The class of the wait at `index`, if it has one.
pub(super) fn classify(scene: &Scene<'_>, graph: &Graph<'_>, index: usize) -> Option<Hazard> {
    let node = &graph.nodes[index];
    let agent = node.wait.agent;
    if let AgentId::Core(core) = agent
        && let Some(hazard) = stopped_by_tool(scene, core, &node.need, node.wait.reason)
    {
        return Some(hazard);
    }
    match node.need.kind {
        Kind::Resource if is_outweighed(scene, graph, index) => None,
        Kind::Resource => resource(scene, graph, index),
        Kind::Counter { .. } => Some(h::A13),
        Kind::Word => word(scene, graph, index),
        Kind::Done => done(scene, graph, index),
        // A thread stops for what it cannot execute, and for nothing else.
        Kind::Stopped if matches!(node.wait.agent, AgentId::Thread(_)) => None,
        Kind::Stopped => {
            matches!(node.wait.reason, WaitReason::Halted | WaitReason::Ended).then_some(h::A18)
        }
        Kind::Unit => through_own_thread(graph, index).then_some(h::A19),
        Kind::Idle | Kind::Ended | Kind::OwnThread => None,
    }
}

/// Waypoint and watcher words say that somebody stopped on purpose
/// `[hdr: hw/inc/api/debug/waypoint.h]`, `[hdr: hw/inc/hostdev/dev_msgs.h]`.
fn stopped_by_tool(
    scene: &Scene<'_>,
    core: CoreId,
    need: &Need,
    reason: WaitReason,
) -> Option<Hazard> {
    if !matches!(reason, WaitReason::Spin | WaitReason::Ended) || need.kind == Kind::Idle {
        return None;
    }
    if let Some(Resource::Word(addr)) = need.resource
        && scene.names.l1(addr).is_some_and(|place| place.name.starts_with("dprint"))
    {
        return Some(h::A17);
    }
    let slot = slot(core);
    let waypoint = scene.names.mailbox_address(&format!("watcher.debug_waypoint[{slot}]"));
    if waypoint.map(|addr| scene.machine.l1(addr, Width::Word) & 0xFF_FFFF)
        == Some(u32::from_le_bytes(*b"DPW\0"))
    {
        return Some(h::A17);
    }
    (reason == WaitReason::Ended && has_tripped(scene, slot)).then_some(h::A18)
}

fn resource(scene: &Scene<'_>, graph: &Graph<'_>, index: usize) -> Option<Hazard> {
    let need = &graph.nodes[index].need;
    let resource = need.resource?;
    let history = scene.ledger.history(resource);
    let lost = |way: Way| {
        history
            .is_some_and(|history| history.ignored.iter().any(|entry| entry.operation.way == way))
    };
    Some(match resource {
        Resource::Semaphore(_) => match need.way {
            Way::Take if lost(Way::Take) => h::A4,
            Way::Give if lost(Way::Give) => h::A5,
            _ if through_own_thread(graph, index) => h::A19,
            _ => h::A6,
        },
        Resource::Mutex(_) => h::A10,
        Resource::Mailbox { .. } => h::A11,
        Resource::PcBuf(_) => h::A11,
        Resource::Src(operand) => match banks(scene, operand, need.way) {
            hazard if hazard.id != h::A9.id && through_own_thread(graph, index) => h::A19,
            hazard => hazard,
        },
        Resource::Circular(buffer) => circular(scene, graph, index, buffer),
        Resource::Noc { .. } => h::A13,
        Resource::Word(_) => return word(scene, graph, index),
    })
}

/// How much a kind of resource says about the cause of a circle that it lies in: a mailbox in the
/// circle of a mutex is as it should be.
fn weight(need: &Need) -> u8 {
    match need.resource {
        Some(Resource::Mutex(_)) => 4,
        Some(Resource::Circular(_)) => 3,
        Some(Resource::Semaphore(_)) => 2,
        Some(Resource::Src(_)) => 1,
        _ => 0,
    }
}

/// Whether a wait is for a mailbox of which nobody has ever done what is waited for: no pop of a full one, or no push
/// by a core that has come to use other mailboxes. A circle through it never went round, and what the others of it
/// wait for follows from that.
pub(super) fn never(scene: &Scene<'_>, need: &Need) -> bool {
    let Some(resource @ Resource::Mailbox { from, .. }) = need.resource else { return false };
    let done = |way: Way| {
        let history = scene.ledger.history(resource);
        history.is_some_and(|history| history.last(way).is_some())
    };
    let uses_others = || {
        scene.ledger.iter().any(|(other, history)| match other {
            Resource::Mailbox { from: giver, .. } if other != resource => {
                giver == from && history.last(Way::Give).is_some()
            }
            _ => false,
        })
    };
    match need.way {
        Way::Give => !done(Way::Give) && uses_others(),
        _ => done(Way::Give) && !done(Way::Take),
    }
}

/// Whether the circle through a node has a member that says more about its cause.
fn is_outweighed(scene: &Scene<'_>, graph: &Graph<'_>, index: usize) -> bool {
    let own = weight(&graph.nodes[index].need);
    if never(scene, &graph.nodes[index].need) {
        return false;
    }
    let circle = graph.circle(index).unwrap_or_default();
    circle.iter().any(|at| weight(&graph.nodes[*at].need) > own)
}

/// Whether the circle through a node goes through a core that waits for its own Tensix thread: what
/// that core would do next is what the thread needs.
fn through_own_thread(graph: &Graph<'_>, index: usize) -> bool {
    let circle = graph.circle(index).unwrap_or_default();
    circle.iter().any(|at| graph.nodes[*at].need.kind == Kind::OwnThread)
}

fn banks(scene: &Scene<'_>, operand: u8, way: Way) -> Hazard {
    let Some(history) = scene.ledger.history(Resource::Src(operand)) else {
        return if way == Way::Give { h::A8 } else { h::A7 };
    };
    let bits = history.value;
    let (unpacker, matrix) = (bits >> 2 & 1, bits >> 3 & 1);
    // One side stands before a bank that is not its own while the other bank is.
    let drifted = match way {
        Way::Give => bits >> (1 - matrix) & 1 == 1,
        _ => bits >> (1 - unpacker) & 1 == 0,
    };
    let turned = history.ignored.iter().any(|entry| entry.operation.way == Way::Take);
    match way {
        _ if drifted && turned => h::A9,
        Way::Give => h::A8,
        _ => h::A7,
    }
}

fn circular(scene: &Scene<'_>, graph: &Graph<'_>, index: usize, buffer: u8) -> Hazard {
    let node = &graph.nodes[index];
    let buffer_of = |at: usize| match graph.nodes[at].need.resource {
        Some(Resource::Circular(other)) => Some(other),
        _ => None,
    };
    let history = scene.ledger.history(Resource::Circular(buffer));
    let own = super::needs::core_behind(node.wait.agent);
    let by_self = |way: Way| {
        history.is_some_and(|history| {
            let agents = history.agents(way);
            !agents.is_empty()
                && agents.iter().all(|agent| super::needs::core_behind(*agent) == own)
        })
    };
    let circle = graph.circle(index).unwrap_or_default();
    let in_circle = !circle.is_empty();
    // Something else than this buffer closes the circle, if only another buffer.
    let several = circle.iter().any(|at| buffer_of(*at) != Some(buffer));
    let in_history = history.map_or(0, |history| history.given.wrapping_sub(history.taken));
    match node.need.way {
        _ if node.need.beyond.is_some() => h::A2,
        _ if in_circle && several || by_self(Way::Give) && by_self(Way::Take) => h::A3,
        // Both sides of one buffer wait.
        _ if in_circle => h::A2,
        Way::Take if by_self(Way::Give) && in_history == 0 => h::A2,
        Way::Give => h::A1,
        _ => h::A2,
    }
}

/// A polled word: passed by, or an update of it lost.
fn word(scene: &Scene<'_>, graph: &Graph<'_>, index: usize) -> Option<Hazard> {
    let node = &graph.nodes[index];
    let Some(Resource::Word(addr)) = node.need.resource else { return None };
    let name = scene.names.l1(addr).map(|place| place.name).unwrap_or_default();
    if name.starts_with("subordinate_sync") || name.starts_with("go_messages") {
        return Some(h::A12);
    }
    if scene.polled.lost(addr).is_some() {
        return Some(h::A15);
    }
    let target = node.need.target?;
    let history = scene.ledger.history(Resource::Word(addr))?;
    let jumped = |entry: &Entry| {
        let Operation { before, after, .. } = entry.operation;
        before < target && target < after
    };
    let overshot = history.value > target && history.recent.iter().any(jumped);
    let lost = overshot
        || gone_on(history, target).is_some()
        || passed_by(scene, node.wait.agent, addr, target, history);
    lost.then_some(h::A15)
}

/// The write that brought a word to a value from which others have counted on: nobody has set it back.
pub(super) fn gone_on(history: &History, target: u32) -> Option<&Entry> {
    let there = history.recent.iter().rposition(|entry| entry.operation.after == target)?;
    let mut value = target;
    let rises = |entry: &Entry| {
        let before = std::mem::replace(&mut value, entry.operation.after);
        entry.operation.way == Way::Give && value > before
    };
    (history.value > target && history.recent.iter().skip(there + 1).all(rises))
        .then(|| &history.recent[there])
}

/// Whether a value was there and gone before the waiting core looked.
fn passed_by(scene: &Scene<'_>, agent: AgentId, addr: u32, target: u32, history: &History) -> bool {
    let AgentId::Core(core) = agent else { return false };
    let there = |entry: &Entry| entry.operation.after == target && entry.agent != agent;
    let Some(at) = history.recent.iter().rposition(there) else { return false };
    let mut later = history.recent.iter().skip(at);
    let Some(gone) = later.find(|entry| entry.operation.after != target) else { return false };
    let since = history.recent[at].cycle;
    !scene.polled.saw(core, addr, target, since, gone.cycle)
}

/// Firmware waits for a core to report done that waits for a run message itself.
fn done(scene: &Scene<'_>, graph: &Graph<'_>, index: usize) -> Option<Hazard> {
    let need = &graph.nodes[index].need;
    let idle = |agent: &AgentId| {
        let node = graph.nodes.iter().find(|node| node.wait.agent == *agent);
        node.is_some_and(|node| node.need.kind == Kind::Idle)
    };
    let stale = !need.who.is_empty() && need.who.iter().all(idle);
    (stale && scene.end == super::End::Deadlock).then_some(h::A12)
}
