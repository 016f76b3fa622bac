//! Who waits for whom, and where the root of it lies.
//!
//! A wait points at the agents that would have to act. One whose agents are all finished, or that
//! lies in a circle, is a root; of several the one with the strongest evidence counts, then the
//! oldest. The chain is the shortest way from the wait that users see (firmware waiting for done)
//! to the root.

use std::collections::VecDeque;

use sim_core::{AgentId, CoreId};
use tile::AgentWait;

use super::classify;
use super::hazards::Hazard;
use super::needs::{Kind, Need, core_behind, need};
use super::scene::Scene;
use crate::resource::Resource;

/// A wait with what would end it.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) wait: &'a AgentWait,
    pub(super) need: Need,
    /// Nodes that would have to act and wait themselves.
    pub(super) to: Vec<usize>,
    pub(super) hazard: Option<Hazard>,
    /// Whether there is proof of a lost operation, not only a wait.
    pub(super) evidence: bool,
}

/// The whole of it.
#[derive(Clone, Debug)]
pub(super) struct Graph<'a> {
    pub(super) nodes: Vec<Node<'a>>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(scene: &Scene<'a>) -> Self {
        let mut nodes: Vec<Node<'a>> = scene
            .waits
            .iter()
            .map(|wait| Node {
                wait,
                need: need(scene, wait),
                to: Vec::new(),
                hazard: None,
                evidence: false,
            })
            .collect();
        for index in 0..nodes.len() {
            let mut to = Vec::new();
            // A core without work waits for everybody's and nobody's doing.
            if nodes[index].need.kind == Kind::Idle {
                continue;
            }
            for agent in acting(&nodes[index].need) {
                let found = nodes.iter().position(|node| node.wait.agent == agent);
                if let Some(at) = found.filter(|at| *at != index)
                    && waits(&nodes[at].need)
                    && can_act(&nodes[index].need, &nodes[at].need)
                    && !to.contains(&at)
                {
                    to.push(at);
                }
            }
            nodes[index].to = to;
        }
        let mut graph = Self { nodes };
        graph.narrow();
        for index in 0..graph.nodes.len() {
            let hazard = classify::classify(scene, &graph, index);
            graph.nodes[index].hazard = hazard;
            graph.nodes[index].evidence = hazard.is_some_and(|hazard| {
                classify::is_evidence(hazard.id) && graph.nodes[index].need.kind != Kind::Stopped
                    || classify::is_recorded(scene, graph.nodes[index].wait)
            });
        }
        graph
    }

    /// Of several who could end a wait, and of whom none is known to do such a thing, those that
    /// nobody else needs are the likely ones.
    fn narrow(&mut self) {
        let feeds = |node: &Node<'_>| node.need.kind != Kind::OwnThread && node.need.known;
        let needed: Vec<bool> = (0..self.nodes.len())
            .map(|at| self.nodes.iter().any(|node| feeds(node) && node.to.contains(&at)))
            .collect();
        for node in &mut self.nodes {
            let free = node.to.iter().any(|at| !needed[*at]);
            if !node.need.known && node.need.resource.is_some() && free {
                node.to.retain(|at| !needed[*at]);
            }
        }
    }

    /// The shortest way from a node, in at least one step, to one that `wanted` accepts.
    pub(super) fn path(&self, from: usize, wanted: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
        let mut before = vec![None; self.nodes.len()];
        let mut queue: VecDeque<_> = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for &next in &self.nodes[at].to {
                if before[next].is_some() {
                    continue;
                }
                before[next] = Some(at);
                if wanted(next) {
                    let mut path = vec![next];
                    let mut back = at;
                    while back != from {
                        path.push(back);
                        back = before[back].unwrap_or(from);
                    }
                    path.push(from);
                    path.reverse();
                    return Some(path);
                }
                queue.push_back(next);
            }
        }
        None
    }

    /// The circle through a node, beginning and ending with it.
    pub(super) fn circle(&self, index: usize) -> Option<Vec<usize>> {
        self.path(index, |at| at == index)
    }

    fn is_candidate(&self, index: usize) -> bool {
        let node = &self.nodes[index];
        matches!(
            node.need.kind,
            Kind::Resource | Kind::Counter { .. } | Kind::Word | Kind::Unit | Kind::Stopped
        ) && waits(&node.need)
            || node.hazard.is_some()
    }

    /// The root.
    pub(super) fn root(&self) -> Option<usize> {
        let rank = |index: &usize| {
            let node = &self.nodes[*index];
            let evidence = node.evidence;
            let named = node.hazard.is_some();
            let in_circle = self.circle(*index).is_some();
            let is_end = node.to.is_empty();
            let since = node.wait.since.map_or(u64::MAX, |since| since.0);
            (!evidence, !(in_circle || is_end), !named, since)
        };
        (0..self.nodes.len()).filter(|index| self.is_candidate(*index)).min_by_key(rank)
    }

    /// The way from what users see to the root, the root last.
    pub(super) fn chain(&self, root: usize) -> Vec<usize> {
        let symptom = self.nodes.iter().position(|node| node.need.kind == Kind::Done);
        let to_root = |from: usize| self.path(from, |at| at == root);
        match symptom {
            Some(from) if from == root => vec![root],
            Some(from) if let Some(path) = to_root(from) => path,
            _ => {
                // The core that feeds a waiting thread belongs to the story.
                let feeder = (0..self.nodes.len())
                    .filter(|at| *at != root && self.nodes[*at].need.kind == Kind::OwnThread)
                    .find_map(to_root);
                feeder.unwrap_or_else(|| vec![root])
            }
        }
    }
}

/// Whether it is a wait at all, and not the end of a program.
pub(super) fn waits(need: &Need) -> bool {
    !matches!(need.kind, Kind::Ended | Kind::Idle)
}

/// Firmware that waits for other cores has its kernel behind it: it pushes, posts and pops nothing.
fn can_act(need: &Need, other: &Need) -> bool {
    let handshake = match need.resource {
        Some(Resource::Word(addr)) => memory_map::mailbox::place(addr).is_some(),
        Some(_) => false,
        None => true,
    };
    other.kind != Kind::Done || need.kind == Kind::Done || handshake
}

/// Who would have to act: a thread acts through its core and a core's pushes through its thread.
fn acting(need: &Need) -> Vec<AgentId> {
    let mut agents = Vec::new();
    for &agent in &need.who {
        agents.push(agent);
        match agent {
            AgentId::Thread(thread) if need.kind != Kind::OwnThread => {
                agents.push(AgentId::Core(thread.core()));
            }
            // What a core is known to have done itself its thread cannot do for it.
            AgentId::Core(core) if need.kind != Kind::Done && !need.known => {
                agents.extend(core.thread().map(AgentId::Thread));
            }
            _ => {}
        }
    }
    agents
}

/// The core that would have acted, if it has finished: `(core, whether firmware has it back)`.
pub(super) fn finished(graph: &Graph<'_>, need: &Need) -> Vec<CoreId> {
    let mut cores = Vec::new();
    for agent in &need.who {
        let Some(core) = core_behind(*agent) else { continue };
        let node = graph.nodes.iter().find(|node| node.wait.agent == AgentId::Core(core));
        let over = |node: &Node<'_>| !waits(&node.need) || !can_act(need, &node.need);
        if node.is_none_or(over) && !cores.contains(&core) {
            cores.push(core);
        }
    }
    cores
}
