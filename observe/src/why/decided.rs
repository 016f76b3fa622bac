//! What decided that an action did not come, and how the waiting agent came to its wait: loops that were left,
//! branches that went past it. An off-by-one bound or a wrong condition stands there, not at the wait.

use memory_map::{Target, lookup};
use serde::Serialize;
use sim_core::l1::L1_BYTES;
use sim_core::{AgentId, CoreId};

use super::evidence::{earlier, pushed};
use super::flow::{Decider, Flow};
use super::graph::{Graph, Node};
use super::loops::{Outcome, Outcomes};
use super::needs::core_behind;
use super::origin::{Loaded, Operands};
use super::scene::Scene;
use super::users::users;
use crate::describe::{as_text, mailbox_peer, view_of};
use crate::names::{CodeName, Excerpt};
use crate::resource::{Resource, Way};

/// Branches that are looked at per core.
const MOST: usize = 12;
/// Of those that are told, at most.
pub(super) const TOLD: usize = 5;
/// Bytes of code around a place in which the line of its loop is looked for.
const AROUND: u32 = 96;
/// Of those that went another way than usual.
const IRREGULAR: usize = 2;

/// A branch that decided.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Decision {
    /// Whose.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// What it did there, in words.
    pub text: String,
    /// The branch.
    pub pc: u32,
    /// Where that is in the source.
    pub code: Option<CodeName>,
    /// The text of that line.
    pub source: Option<Excerpt>,
    /// Where its function was called from, the innermost call first.
    pub callers: Vec<CodeName>,
    /// The launch in which that was, if it was an earlier one.
    pub launch: Option<String>,
}

/// `once`, `7 times`.
fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// `1st`, `12th`.
fn ordinal(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// How often, and when last, a branch led to the place that it decides, and how often away from it.
fn sides(scene: &Scene<'_>, core: CoreId, decider: &Decider) -> (Outcome, Outcome) {
    let Outcomes { taken, passed } = scene.loops.outcomes(core, decider.pc);
    if decider.taken { (taken, passed) } else { (passed, taken) }
}

/// What a branch did about a place that it decides; `None` if it never led away from there.
fn away(
    scene: &Scene<'_>,
    core: CoreId,
    decider: &Decider,
    what: &str,
) -> Option<(String, Operands)> {
    let (to, off) = sides(scene, core, decider);
    let all = to.count + off.count;
    if off.count == 0 {
        return None;
    }
    let text = match (decider.is_loop, off.count) {
        (true, 1) if all == 1 => {
            format!("went once through the loop around {what}, and left it at cycle {}", off.cycle)
        }
        (true, 1) => {
            format!("left the loop around {what} after {all} rounds, at cycle {}", off.cycle)
        }
        (true, count) => format!(
            "went round the loop around {what} {} in all and left it {count} times, last at cycle {}",
            times(all),
            off.cycle
        ),
        (false, _) if all == 1 => format!("went past {what} at cycle {}", off.cycle),
        (false, 1) => format!(
            "went past {what} once in {all} times, the {}, at cycle {}",
            ordinal(off.last),
            off.cycle
        ),
        (false, count) if count == all => {
            format!("went past {what} each of {all} times, last at cycle {}", off.cycle)
        }
        (false, count) => format!(
            "went past {what} {count} of {all} times, last the {}, at cycle {}",
            ordinal(off.last),
            off.cycle
        ),
    };
    Some((text, off.operands))
}

/// How a branch led to a place, the wait for instance.
fn here(
    scene: &Scene<'_>,
    core: CoreId,
    decider: &Decider,
    what: &str,
) -> Option<(String, Operands)> {
    let (to, off) = sides(scene, core, decider);
    let all = to.count + off.count;
    let text = match (decider.is_loop, off.last > to.last) {
        // What the core has pushed stands behind the wait of its thread.
        (true, true) => format!("has gone {} through the loop around {what}", times(all)),
        (true, false) if to.count == 0 => return None,
        (true, false) => format!("has begun round {} of the loop around {what}", all + 1),
        (false, _) if to.count == 0 => return None,
        (false, _) if off.count == 0 => format!("came to {what} here, {}", times(all)),
        (false, _) => format!("came to {what} here, {} of {all} times", to.count),
    };
    Some((text, if off.last > to.last { off.operands } else { to.operands }))
}

pub(super) fn decision(scene: &Scene<'_>, agent: AgentId, pc: u32, text: String) -> Decision {
    Decision {
        agent,
        text,
        pc,
        code: scene.code(agent, pc),
        source: scene.excerpt(agent, pc),
        callers: scene.callers(agent, pc, scene.found),
        launch: None,
    }
}

/// Which way a branch went least, if it went both: the count, the number of the last such time, all times
/// and when that was.
fn rarely(scene: &Scene<'_>, core: CoreId, pc: u32) -> Option<(u64, u64, u64, u64)> {
    let Outcomes { taken, passed } = scene.loops.outcomes(core, pc);
    let least = if taken.count < passed.count { taken } else { passed };
    let all = taken.count + passed.count;
    (least.count > 0 && 3 * least.count <= all).then_some((
        least.count,
        least.last,
        all,
        least.cycle,
    ))
}

/// Collects decisions, each line of a core once.
pub(super) struct Told<'a, 'b> {
    pub(super) scene: &'a Scene<'b>,
    pub(super) decisions: Vec<Decision>,
}

impl Told<'_, '_> {
    /// Adds a branch; whether its line is one that has not been told.
    pub(super) fn tell(&mut self, core: CoreId, pc: u32, text: String) -> bool {
        let code = self.scene.names.site(core, pc);
        let is_known = |old: &Decision| {
            old.agent == AgentId::Core(core) && (old.pc == pc || code.is_some() && old.code == code)
        };
        let in_start = code.as_ref().is_some_and(|code| code.function == "_start");
        if in_start || self.decisions.iter().any(is_known) {
            return false;
        }
        self.decisions.push(decision(self.scene, AgentId::Core(core), pc, text));
        true
    }

    /// Where what a branch compared came from.
    fn trace(&mut self, core: CoreId, operands: &Operands) {
        for (value, origin) in operands.values.into_iter().zip(operands.origins) {
            if let Some(loaded) = origin.loaded {
                self.source(core, value, &loaded);
            }
        }
    }

    /// Who put there what a core has loaded.
    fn source(&mut self, core: CoreId, value: u32, loaded: &Loaded) {
        let Loaded { pc, addr, cycle, .. } = *loaded;
        let scene = self.scene;
        if !scene.names.is_kernel(core, pc) {
            return;
        }
        let hit = lookup(view_of(core), addr);
        let text = match hit.map(|hit| hit.target) {
            Some(Target::Mailbox) => {
                let from = mailbox_peer(addr);
                let mailbox = Resource::Mailbox { from, to: core };
                if let Some(pushed) = pushed(scene, mailbox, pc, cycle) {
                    let (agent, pc, when) = pushed;
                    let launch = earlier(scene, when);
                    let then = launch
                        .as_ref()
                        .map_or_else(String::new, |then| format!(", in launch {then}"));
                    let text =
                        format!("pushed what {core} decided by: the {value} from {mailbox}{then}");
                    let known = |old: &Decision| old.text == text && old.pc == pc;
                    if !self.decisions.iter().any(known) {
                        let told = Decision { launch, ..decision(scene, agent, pc, text) };
                        self.decisions.push(told);
                    }
                }
                format!("took the {value} that it decided by from {mailbox}, at cycle {cycle}")
            }
            _ if addr < L1_BYTES => {
                let place = scene.names.argument(core, addr);
                let place = place.unwrap_or_else(|| scene.word_name(addr));
                format!("took the {value} that it decided by from {place}, at cycle {cycle}")
            }
            _ => return,
        };
        self.tell(core, pc, text);
    }

    /// What decided about the places of a core; gives the branches.
    fn add(
        &mut self,
        (core, flow): (CoreId, &Flow),
        places: &[u32],
        text: impl Fn(&Decider) -> Option<(String, Operands)>,
    ) -> Vec<Decider> {
        let deciders = flow.deciders(places, MOST);
        let mut told = 0;
        let line = |decider: &Decider| self.scene.names.site(core, decider.pc);
        let loops: Vec<_> =
            deciders.iter().filter(|one| one.is_loop && text(one).is_some()).map(line).collect();
        for decider in &deciders {
            // The test in front of a loop says less than the one behind it.
            let site = self.scene.names.site(core, decider.pc);
            if !decider.is_loop && site.is_some() && loops.contains(&site) {
                continue;
            }
            if told < TOLD
                && let Some((text, operands)) = text(decider)
                && self.tell(core, decider.pc, text)
            {
                told += 1;
                self.trace(core, &operands);
            }
        }
        deciders
    }

    /// Branches of the loop around a place that went another way than usual: a round may lack it.
    fn irregular(&mut self, (core, flow): (CoreId, &Flow), place: u32, decided: &[Decider]) {
        let mut rare: Vec<_> = flow
            .beside(place, decided)
            .into_iter()
            .filter_map(|pc| Some((rarely(self.scene, core, pc)?, pc)))
            .collect();
        rare.sort_unstable();
        for ((count, last, all, cycle), pc) in rare.into_iter().take(IRREGULAR) {
            let which = match count {
                1 => format!("the {}", ordinal(last)),
                _ => format!("last the {}", ordinal(last)),
            };
            let text =
                format!("took another way {count} of {all} times, {which}, at cycle {cycle}");
            self.tell(core, pc, text);
        }
    }

    /// A loop that the compiler has unrolled: copies of one line, with the line of the loop in between.
    fn unrolled(&mut self, core: CoreId, places: &[u32], what: &str) {
        let names = self.scene.names;
        let mut places = places.to_vec();
        places.sort_unstable();
        let mut rest = &places[..];
        while let [first, ..] = *rest {
            let own = names.site(core, first);
            let length = rest.iter().take_while(|pc| names.site(core, **pc) == own).count();
            let (copies, behind) = rest.split_at(length);
            rest = behind;
            // One copy among others may stand in any round of a loop.
            let Some(own) = own.filter(|_| length > 1 || places.len() == 1) else { continue };
            let (first, last) = (copies[0], copies[length - 1]);
            let lines = |range| {
                let found = names.statements(core, range).into_iter();
                let here = found.filter(|(file, _)| own.file.as_ref() == Some(file));
                let above = here.map(|(_, line)| line).filter(|line| Some(*line) < own.line);
                above.collect::<Vec<u32>>()
            };
            // The line of a loop stands between all copies of its body, or in front of it and behind it.
            let gaps: Vec<_> = copies.windows(2).map(|gap| lines(gap[0]..gap[1] + 1)).collect();
            let head = match gaps.split_first() {
                Some((gap, others)) => {
                    let everywhere = |line: &&u32| others.iter().all(|gap| gap.contains(line));
                    gap.iter().filter(everywhere).min().copied()
                }
                None => {
                    let in_front = lines(first.saturating_sub(AROUND)..first + 1);
                    let behind = lines(last..last + AROUND).into_iter();
                    behind.filter(|line| in_front.contains(line)).max()
                }
            };
            let Some(head) = head else { continue };
            let code = CodeName { line: Some(head), ..own };
            let decision = Decision {
                agent: AgentId::Core(core),
                text: match length {
                    1 => format!("goes once through the loop around {what}"),
                    _ => {
                        format!(
                            "goes {length} times through the loop around {what}, which is unrolled"
                        )
                    }
                },
                pc: first,
                source: names.line_text(core, first, head),
                code: Some(code),
                callers: Vec::new(),
                launch: None,
            };
            if !self.decisions.iter().any(|old| old.code == decision.code) {
                self.decisions.push(decision);
            }
        }
    }
}

/// Where each core would do it, or has done it.
pub(super) fn places(scene: &Scene<'_>, resource: Resource, way: Way) -> Vec<(CoreId, Vec<u32>)> {
    let history = scene.ledger.history(resource);
    let done = history.into_iter().flat_map(|history| history.sites.keys());
    let mut sites: Vec<(AgentId, u32)> =
        done.filter(|site| site.way == way).map(|site| (site.agent, site.pc)).collect();
    // Of banks what has been done says more than each instruction that could do it.
    if !matches!(resource, Resource::Src(_)) || sites.is_empty() {
        sites.extend(users(scene, resource, way).sites.iter().map(|site| (site.agent, site.pc)));
    }
    let mut places: Vec<(CoreId, Vec<u32>)> = Vec::new();
    for (agent, pc) in sites {
        let Some(core) = core_behind(agent) else { continue };
        match places.iter_mut().find(|(own, _)| *own == core) {
            Some((_, pcs)) if pcs.contains(&pc) => {}
            Some((_, pcs)) => pcs.push(pc),
            None => places.push((core, vec![pc])),
        }
    }
    places
}

/// What decided about the wait at `root`, and about those that close a circle with it.
pub(super) fn decisions(scene: &Scene<'_>, graph: &Graph<'_>, root: usize) -> Vec<Decision> {
    let mut told = Told { scene, decisions: Vec::new() };
    let circle = graph.circle(root).unwrap_or_default();
    let mut nodes = vec![root];
    nodes.extend(circle.into_iter().filter(|at| *at != root));
    nodes.dedup();
    for &at in &nodes {
        let Node { wait, need, .. } = &graph.nodes[at];
        let own = core_behind(wait.agent);
        if let Some(resource) = need.resource {
            let what = super::needs::action(resource, need.way);
            for (core, pcs) in places(scene, resource, need.way) {
                let Some(flow) = Flow::of(scene, core).filter(|_| Some(core) != own) else {
                    continue;
                };
                let flow = (core, &flow);
                let decided = told.add(flow, &pcs, |decider| away(scene, core, decider, &what));
                told.unrolled(core, &pcs, &what);
                if let Some(place) = pcs.last() {
                    told.irregular(flow, *place, &decided);
                }
            }
        }
        if let (Some(core), Some(pc)) = (own, wait.pc)
            && let Some(flow) = Flow::of(scene, core)
        {
            told.add((core, &flow), &[pc], |decider| here(scene, core, decider, "this wait"));
            if let Some(resource) = need.resource {
                let taken = if need.way == Way::Take { Way::Give } else { Way::Take };
                let mut pcs = places(scene, resource, taken);
                pcs.retain(|(other, _)| *other == core);
                pcs.iter().for_each(|(_, pcs)| {
                    told.unrolled(core, pcs, &super::needs::action(resource, taken));
                });
            }
        }
    }
    told.lacks(graph, root);
    told.early(graph, root);
    told.requests(graph, root);
    told.compared(graph, root);
    told.left(graph, root);
    told.decisions
}

/// What led a core to a place where it made a mistake.
pub(super) fn course(scene: &Scene<'_>, agent: AgentId, pc: u32) -> Vec<Decision> {
    let mut told = Told { scene, decisions: Vec::new() };
    let core = super::report::coder(scene.names, agent, pc);
    if let Some(core) = core.filter(|core| scene.names.is_kernel(*core, pc))
        && let Some(flow) = Flow::of(scene, core)
    {
        told.add((core, &flow), &[pc], |decider| here(scene, core, decider, "this place"));
    }
    told.decisions
}
