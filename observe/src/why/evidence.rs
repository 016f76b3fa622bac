//! What else speaks for a cause: who lacks the code for what is missing, what let a lost operation go too
//! early, what was left unread, which requests a barrier waits for, who wrote what it compares with.

use sim_core::{AgentId, CoreId};

use super::decided::{Decision, TOLD, Told, decision, places};
use super::graph::{Graph, Node};
use super::needs::{Kind, core_behind};
use super::scene::Scene;
use super::users::users;
use crate::ledger::Entry;
use crate::names::CodeName;
use crate::resource::{Resource, Way};

fn requests(count: u64) -> String {
    if count == 1 { "a request".to_owned() } else { format!("{count} requests") }
}

/// The launch in force at a cycle, if it is not the one that the run ended in.
pub(super) fn earlier(scene: &Scene<'_>, cycle: u64) -> Option<String> {
    let then = scene.launch(cycle)?;
    (scene.launch(scene.found) != Some(then)).then(|| then.to_owned())
}

/// Who pushed the word that a core popped from a mailbox at `pc` about that cycle, where and when.
pub(super) fn pushed(
    scene: &Scene<'_>,
    mailbox: Resource,
    pc: u32,
    cycle: u64,
) -> Option<(AgentId, u32, u64)> {
    let history = scene.ledger.history(mailbox)?;
    let pops = history.recent.iter().filter(|entry| entry.operation.way == Way::Take);
    let pop = pops.filter(|pop| pop.pc == pc).min_by_key(|pop| pop.cycle.abs_diff(cycle))?;
    let gives = |entry: &&Entry| entry.operation.way == Way::Give && entry.number == pop.number;
    history.recent.iter().find(gives).map(|entry| (entry.agent, entry.pc, entry.cycle))
}

/// The word from a mailbox that let a core go on before a cycle: who pushed it, and where.
fn released(scene: &Scene<'_>, core: CoreId, cycle: u64) -> Option<(Resource, AgentId, u32)> {
    let mut last: Option<(u64, Resource, u32)> = None;
    for (resource, history) in scene.ledger.iter() {
        let Resource::Mailbox { to, .. } = resource else { continue };
        let mut pops = history.recent.iter().filter(|entry| entry.operation.way == Way::Take);
        let before = pops.rfind(|pop| to == core && pop.cycle <= cycle);
        if let Some(pop) = before.filter(|pop| last.is_none_or(|last| last.0 < pop.cycle)) {
            last = Some((pop.cycle, resource, pop.pc));
        }
    }
    let (cycle, resource, pc) = last?;
    pushed(scene, resource, pc, cycle).map(|(agent, pc, _)| (resource, agent, pc))
}

impl Told<'_, '_> {
    /// Nobody has the code for what is missing: who waits at the same thing is likely to lack it, and what is
    /// put into a buffer that nobody empties may have been meant for this one.
    pub(super) fn lacks(&mut self, graph: &Graph<'_>, root: usize) {
        let Node { wait, need, .. } = &graph.nodes[root];
        let (scene, own) = (self.scene, core_behind(wait.agent));
        let Some(resource @ (Resource::Semaphore(_) | Resource::Circular(_))) = need.resource
        else {
            return;
        };
        let others = |core: &CoreId| Some(*core) != own;
        if places(scene, resource, need.way).iter().any(|(core, _)| others(core)) {
            return;
        }
        let verb = if need.way == Way::Take { resource.take() } else { resource.give() };
        for site in users(scene, resource, need.way).lookers {
            let Some(core) = core_behind(site.agent).filter(others) else { continue };
            self.tell(
                core,
                site.pc,
                format!("looks at {resource} here and has no code for a {verb} of it"),
            );
        }
        if !matches!(resource, Resource::Circular(_)) || need.way != Way::Give {
            return;
        }
        for (other, history) in scene.ledger.iter() {
            let is_left =
                matches!(other, Resource::Circular(_)) && history.last(Way::Take).is_none();
            if other == resource || !is_left {
                continue;
            }
            for (site, used) in history.sites.iter().filter(|(site, _)| site.way == Way::Give) {
                if let Some(core) = core_behind(site.agent).filter(others) {
                    let count = match used.units {
                        1 => "a page".to_owned(),
                        pages => format!("{pages} pages"),
                    };
                    let text = format!("pushed {count} into {other} here, from which nobody pops");
                    self.tell(core, site.pc, text);
                }
            }
        }
    }

    /// A get or a post that was lost came too early: what let it go is told.
    pub(super) fn early(&mut self, graph: &Graph<'_>, root: usize) {
        let Some(resource) = graph.nodes[root].need.resource else { return };
        let history = self.scene.ledger.history(resource);
        let Some(lost) = history.and_then(|history| history.ignored.last()) else { return };
        let Some(core) = core_behind(lost.agent) else { return };
        if let Some((mailbox, agent, pc)) = released(self.scene, core, lost.cycle) {
            let verb =
                if lost.operation.way == Way::Take { resource.take() } else { resource.give() };
            let text = format!("had let {core} go by {mailbox} before the {verb} that was lost");
            let told = decision(self.scene, agent, pc, text);
            self.decisions.push(told);
        }
    }

    /// What stands in mailboxes and banks whose reader is done: a side that did less than the other.
    pub(super) fn left(&mut self, graph: &Graph<'_>, root: usize) {
        let scene = self.scene;
        let waits = |agent: AgentId| {
            let node = graph.nodes.iter().find(|node| node.wait.agent == agent);
            node.is_some_and(|node| !matches!(node.need.kind, Kind::Idle | Kind::Ended))
        };
        let mut told = 0;
        for (resource, history) in scene.ledger.iter() {
            let (reader, verb) = match resource {
                Resource::Mailbox { to, .. } => (to, "read"),
                Resource::Src(_) => (CoreId::Trisc1, "cleared"),
                _ => continue,
            };
            let thread = reader.thread().map(AgentId::Thread);
            let is_done = !waits(AgentId::Core(reader)) && !thread.is_some_and(waits);
            let left = history.given.saturating_sub(history.taken);
            if left == 0 || !is_done || graph.nodes[root].need.resource == Some(resource) {
                continue;
            }
            let gives = |entry: &&Entry| {
                entry.operation.way == Way::Give && entry.number == history.taken + 1
            };
            let Some(first) = history.recent.iter().find(gives) else { continue };
            if told == TOLD {
                return;
            }
            told += 1;
            let what = match (resource, left) {
                (Resource::Src(_), 1) => format!("filled {resource} here"),
                (Resource::Src(_), _) => format!("filled {resource} from here on, {left} times"),
                (_, 1) => format!("pushed a word into {resource} here"),
                _ => format!("pushed {left} words into {resource} from here on"),
            };
            let launch = earlier(scene, first.cycle);
            let then =
                launch.as_ref().map_or_else(String::new, |then| format!(", in launch {then}"));
            let text = format!("{what}{then}, and {reader} is done and has not {verb} it");
            let told = Decision { launch, ..decision(scene, first.agent, first.pc, text) };
            self.decisions.push(told);
        }
    }

    /// A barrier that is never met: who has sent requests.
    pub(super) fn requests(&mut self, graph: &Graph<'_>, root: usize) {
        let Kind::Counter { noc: wanted, .. } = graph.nodes[root].need.kind else { return };
        let mut lines: Vec<(AgentId, Option<CodeName>)> = Vec::new();
        for (resource, history) in self.scene.ledger.iter() {
            let Resource::Noc { noc, .. } = resource else { continue };
            for (site, used) in history.sites.iter().filter(|(site, _)| site.way == Way::Give) {
                let line = (site.agent, self.scene.code(site.agent, site.pc));
                if noc != wanted || lines.len() == TOLD || lines.contains(&line) {
                    continue;
                }
                lines.push(line);
                let text = format!("sent {} over NoC {noc} here", requests(used.count));
                let told = decision(self.scene, site.agent, site.pc, text);
                self.decisions.push(told);
            }
        }
    }

    /// What a poll compares with, if it stands in a variable: who wrote it last.
    pub(super) fn compared(&mut self, graph: &Graph<'_>, root: usize) {
        let Node { wait, need, .. } = &graph.nodes[root];
        let AgentId::Core(core) = wait.agent else { return };
        if !matches!(need.kind, Kind::Counter { .. } | Kind::Word) {
            return;
        }
        let Some(operands) = self.scene.loops.compares(core) else { return };
        let stored = operands.origins.into_iter().find_map(|origin| origin.stored);
        if let Some(stored) = stored.filter(|stored| self.scene.names.is_kernel(core, stored.pc)) {
            let text =
                format!("last wrote what this wait compares with, at cycle {}", stored.cycle);
            self.tell(core, stored.pc, text);
        }
    }
}
