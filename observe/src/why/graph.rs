//! Who waits for whom, and where the root of it lies.
//!
//! A wait points at the agents that could act. One that several could end is held only by all of
//! them, so who waits on a guess (`need.known` is false) proves nothing about any one of them: a
//! guess leads on, but closes no circle, unless all of them lead back to it. The root is a wait without a way out, and of several the one
//! that says most ([`Standing`]), then the oldest. The chain is the shortest way from the wait that
//! users see (firmware waiting for done) to the root.

use std::collections::VecDeque;

use sim_core::{AgentId, CoreId};
use tile::AgentWait;

use super::classify;
use super::hazards::Hazard;
use super::needs::{Kind, Need, core_behind, need};
use super::remark;
use super::scene::Scene;
use crate::resource::{Resource, Way};

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
    /// Whether nobody has ever done what would end it, of a kind of which that says something.
    pub(super) never: bool,
}

/// What a wait is by itself, and how much of it is provable: what comes first is the root.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize)]
pub enum Standing {
    /// The core has halted: whoever waits for what it would have done is a consequence.
    Halted,
    /// There is proof of a lost operation.
    Lost,
    /// More is asked for than there can ever be.
    Beyond,
    /// Nobody who could act is left on this tile.
    DeadEnd,
    /// Everybody in a circle is known to be needed.
    Circle,
    /// A word that no core of the tile is known to write: others may.
    Outside,
    /// Pages of a buffer that nobody has ever pushed, while another one fills up and nobody takes.
    WrongBuffer,
    /// Somebody who waits himself may be the one.
    Guess,
    /// Somebody who waits himself is known to be the one.
    Held,
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
                never: false,
            })
            .collect();
        for index in 0..nodes.len() {
            let mut to = Vec::new();
            // A core without work waits for everybody's and nobody's doing, one that has stopped
            // for nobody's on this tile.
            if matches!(nodes[index].need.kind, Kind::Idle | Kind::Stopped) {
                continue;
            }
            let blocked = |thread| nodes.iter().any(|node| node.wait.agent == thread);
            for agent in acting(&nodes[index].need, blocked) {
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
        graph.settle();
        graph.narrow();
        for node in &mut graph.nodes {
            node.never = classify::never(scene, &node.need);
        }
        for index in 0..graph.nodes.len() {
            let hazard = classify::classify(scene, &graph, index);
            graph.nodes[index].hazard = hazard;
            graph.nodes[index].evidence = hazard.is_some_and(|hazard| {
                classify::is_evidence(hazard.id) && graph.nodes[index].need.kind != Kind::Stopped
                    || remark::is_recorded(scene, graph.nodes[index].wait)
            });
        }
        graph
    }

    /// A guess is none if everybody who could end the wait is known to wait for it: whoever it is. Of a
    /// word that other tiles may write not everybody is here.
    fn settle(&mut self) {
        let settled = |at: usize| {
            let node = &self.nodes[at];
            let known = |at: usize| self.nodes[at].need.known;
            let returns = |from: usize| self.path_over(from, known, |to| to == at).is_some();
            let waits_for_it = |other: &usize| returns(*other);
            let is_closed = node.need.kind != Kind::Word && !node.to.is_empty();
            !node.need.known && is_closed && node.to.iter().all(waits_for_it)
        };
        let settled: Vec<usize> = (0..self.nodes.len()).filter(|at| settled(*at)).collect();
        for at in settled {
            self.nodes[at].need.known = true;
        }
    }

    /// Of several who could end a wait, and of whom none is known to do such a thing, those that
    /// nobody else needs are the likely ones. Who waits on the same thing the other way stays: it
    /// is the other side.
    fn narrow(&mut self) {
        let feeds = |node: &Node<'_>| node.need.kind != Kind::OwnThread && node.need.known;
        let needed: Vec<bool> = (0..self.nodes.len())
            .map(|at| self.nodes.iter().any(|node| feeds(node) && node.to.contains(&at)))
            .collect();
        let other_side = |own: &Need, at: usize| {
            let other = &self.nodes[at].need;
            other.resource == own.resource && other.way != own.way
        };
        let kept: Vec<Vec<usize>> = self
            .nodes
            .iter()
            .map(|node| {
                let keep = |at: &&usize| !needed[**at] || other_side(&node.need, **at);
                node.to.iter().filter(keep).copied().collect()
            })
            .collect();
        for (node, kept) in self.nodes.iter_mut().zip(kept) {
            if !node.need.known && node.need.resource.is_some() && !kept.is_empty() {
                node.to = kept;
            }
        }
    }

    /// The shortest way from a node, in at least one step, to one that `wanted` accepts.
    pub(super) fn path(&self, from: usize, wanted: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
        self.path_over(from, |_| true, wanted)
    }

    /// As [`Graph::path`], over nodes that `may` be left again.
    fn path_over(
        &self,
        from: usize,
        may: impl Fn(usize) -> bool,
        wanted: impl Fn(usize) -> bool,
    ) -> Option<Vec<usize>> {
        let mut before = vec![None; self.nodes.len()];
        let mut queue: VecDeque<_> = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            if !may(at) {
                continue;
            }
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

    /// The circle of known needs through a node, beginning and ending with it. Who asks for more than there can be waits by
    /// himself, whoever else waits for him.
    pub(super) fn circle(&self, index: usize) -> Option<Vec<usize>> {
        if self.nodes[index].need.beyond.is_some() {
            return None;
        }
        self.path_over(index, |at| self.nodes[at].need.known, |at| at == index)
    }

    fn is_candidate(&self, index: usize) -> bool {
        let node = &self.nodes[index];
        matches!(
            node.need.kind,
            Kind::Resource | Kind::Counter { .. } | Kind::Word | Kind::Unit | Kind::Stopped
        ) && waits(&node.need)
            || node.hazard.is_some()
    }

    /// What the wait of a node is by itself.
    pub(super) fn standing(&self, index: usize) -> Standing {
        let node = &self.nodes[index];
        let need = &node.need;
        match need.kind {
            _ if node.wait.reason.has_stopped() => Standing::Halted,
            _ if node.evidence => Standing::Lost,
            _ if need.beyond.is_some() => Standing::Beyond,
            _ if node.to.is_empty() => Standing::DeadEnd,
            _ if self.circle(index).is_some() => Standing::Circle,
            _ if need.known => Standing::Held,
            Kind::Word => Standing::Outside,
            _ if self.is_wrong_buffer(index) => Standing::WrongBuffer,
            _ => Standing::Guess,
        }
    }

    /// Whether nobody has ever pushed into the buffer of a waiting consumer, while a producer waits
    /// at another one from which nobody has ever popped.
    fn is_wrong_buffer(&self, index: usize) -> bool {
        let Node { wait, need, .. } = &self.nodes[index];
        let is_pages = |need: &Need, way: Way| {
            matches!(need.resource, Some(Resource::Circular(_))) && need.way == way && !need.known
        };
        let full = |other: &Node<'_>| {
            is_pages(&other.need, Way::Take)
                && other.need.resource != need.resource
                && core_behind(other.wait.agent) != core_behind(wait.agent)
        };
        is_pages(need, Way::Give) && self.nodes.iter().any(full)
    }

    /// The root.
    pub(super) fn root(&self) -> Option<usize> {
        let rank = |index: &usize| {
            let node = &self.nodes[*index];
            let since = node.wait.since.map_or(u64::MAX, |since| since.0);
            (self.standing(*index), !node.never, node.hazard.is_none(), since)
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
/// Behind an instruction that is `blocked` stands all that the core has pushed since: what the
/// core waits for itself is no matter then.
fn acting(need: &Need, blocked: impl Fn(AgentId) -> bool) -> Vec<AgentId> {
    let mut agents = Vec::new();
    for &agent in &need.who {
        agents.push(agent);
        match agent {
            AgentId::Thread(thread) if need.kind != Kind::OwnThread && !blocked(agent) => {
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

/// The cores that would have acted and have finished: neither the core nor an instruction of the
/// kernel that its thread still holds waits for anything.
pub(super) fn finished(graph: &Graph<'_>, need: &Need) -> Vec<CoreId> {
    let mut cores = Vec::new();
    for agent in &need.who {
        let Some(core) = core_behind(*agent) else { continue };
        let over = |agent: AgentId| {
            let node = graph.nodes.iter().find(|node| node.wait.agent == agent);
            node.is_none_or(|node| !waits(&node.need) || !can_act(need, &node.need))
        };
        let thread = core.thread().filter(|_| !need.known || *agent != AgentId::Core(core));
        let is_over = over(AgentId::Core(core)) && thread.is_none_or(|t| over(AgentId::Thread(t)));
        if is_over && !cores.contains(&core) {
            cores.push(core);
        }
    }
    cores
}
