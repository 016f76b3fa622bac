//! Which class of hazard a wait is an instance of.

use sim_core::{AgentId, CoreId, WaitReason, Width};

use super::graph::{Graph, thread_of};
use super::hazards::{self as h, Hazard};
use super::needs::{Kind, Need};
use super::scene::Scene;
use crate::ledger::History;
use crate::resource::{Resource, Way};

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
        Kind::Resource => resource(scene, graph, index),
        Kind::Counter { .. } => Some(h::A13),
        Kind::Word => word(scene, graph, index),
        Kind::Done => done(scene, graph, index),
        Kind::Stopped => (node.wait.reason == WaitReason::Halted).then_some(h::A18),
        Kind::Unit => own_circle(graph, index).then_some(h::A19),
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
    // Order of the mailbox: BRISC, NCRISC, TRISC0-2 [spec: boot-and-sync 1.4].
    let slot = match core {
        CoreId::Brisc => 0,
        CoreId::Ncrisc => 1,
        CoreId::Trisc0 => 2,
        CoreId::Trisc1 => 3,
        CoreId::Trisc2 => 4,
    };
    let at = |name: &str| memory_map::mailbox::address(name);
    let waypoint = at(&format!("watcher.debug_waypoint[{slot}]"));
    if waypoint.map(|addr| scene.machine.l1(addr, Width::Word) & 0xFF_FFFF)
        == Some(u32::from_le_bytes(*b"DPW\0"))
    {
        return Some(h::A17);
    }
    // DebugAssertTripped is 3; 2 stands for "all well".
    let tripped = at("watcher.assert_status.tripped");
    let which = at("watcher.assert_status.which");
    let byte = |addr: Option<u32>| addr.map(|addr| scene.machine.l1(addr, Width::Byte));
    (byte(tripped).is_some_and(|value| value > 2)
        && byte(which) == Some(slot)
        && reason == WaitReason::Ended)
        .then_some(h::A18)
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
            _ if gives_itself(graph, index, history) => h::A19,
            _ => h::A6,
        },
        Resource::Mutex(_) => h::A10,
        Resource::Mailbox { .. } => h::A11,
        Resource::PcBuf(_) => h::A11,
        Resource::Src(operand) => banks(scene, operand, need.way),
        Resource::Circular(buffer) => circular(scene, graph, index, buffer),
        Resource::Noc { .. } => h::A13,
        Resource::Word(_) => return word(scene, graph, index),
    })
}

/// Whether the operation stands behind the wait on the very same core.
fn gives_itself(graph: &Graph<'_>, index: usize, history: Option<&History>) -> bool {
    let node = &graph.nodes[index];
    let Some(thread) = thread_of(node.wait.agent) else { return false };
    let others = history.is_some_and(|history| {
        let agents = history.agents(node.need.way);
        !agents.is_empty() && agents.iter().all(|agent| thread_of(*agent) == Some(thread))
    });
    others && own_circle(graph, index)
}

/// Whether the circle through a node is only a core and its own thread.
fn own_circle(graph: &Graph<'_>, index: usize) -> bool {
    let Some(circle) = graph.circle(index) else { return false };
    let thread = thread_of(graph.nodes[index].wait.agent);
    thread.is_some()
        && circle.len() == 3
        && circle.iter().all(|at| thread_of(graph.nodes[*at].wait.agent) == thread)
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
    let circular: Vec<_> = circle.iter().filter_map(|at| buffer_of(*at)).collect();
    let in_circle = circular.len() > 2;
    let several = circular.iter().any(|other| *other != buffer);
    let in_history = history.map_or(0, |history| history.given.wrapping_sub(history.taken));
    match node.need.way {
        _ if in_circle && several || by_self(Way::Give) && by_self(Way::Take) => h::A3,
        // Both sides of one buffer wait: more room is asked for than there can be.
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
    let target = node.need.target?;
    let history = scene.ledger.history(Resource::Word(addr))?;
    let passed = history.recent.iter().any(|entry| entry.operation.after == target)
        && history.value != target;
    let overshot = history.value > target;
    // Two agents that write the same new value over the same old one have lost an update.
    let entries: Vec<_> = history.recent.iter().collect();
    let lost = entries.windows(2).any(|pair| {
        pair[0].agent != pair[1].agent
            && pair[1].operation.after <= pair[0].operation.after
            && pair[1].operation.after != 0
            && pair[1].operation.way != Way::Init
    });
    (passed || overshot || lost).then_some(h::A15)
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
