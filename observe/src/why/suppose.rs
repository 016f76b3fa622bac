//! What would happen if: the machine is copied, one awaited value made true, and the copy runs on. That says
//! who would have acted, without a guess from anybody's code.
//!
//! The copy has no host, and runs for a bounded time; of a tile of a chip it is alone. The session is only read.
//! Whole chips are copied elsewhere, by who knows chips: what to make true is said here, by a [`Hope`].

use serde::Serialize;
use sim_core::engine::EngineKind;
use sim_core::{AgentId, Cycle, Event, Observer, Stamp};
use tile::{AgentWait, Stop, Supposition, Tile, TileConfig, TileSnapshot};

use super::Explanation;
use super::graph::{Graph, Standing};
use super::needs::{self, Kind, Need, core_behind};
use super::scene::{End, Scene};
use crate::describe::as_text;
use crate::names::{CodeName, Excerpt};
use crate::resource::{ACKED, Operation, RECEIVED, Resource, Way, operation};

/// Cycles that a copy runs on.
const FAR: u64 = 20_000;
/// Copies at most.
const TRIALS: usize = 8;
/// Operations of a copy that are remembered.
const REMEMBERED: usize = 4096;

/// What would happen if one awaited value were there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Supposed {
    /// In words: `if CB 1 had a page, TRISC0 would pop CB 0 in kernel_main compute.cpp:12`.
    pub text: String,
    /// Its tile as the vendor's runtime counts workers, where there are several.
    pub tile: Option<(u8, u8)>,
    /// Who would act.
    #[serde(serialize_with = "as_option")]
    pub agent: Option<AgentId>,
    /// From where.
    pub pc: Option<u32>,
    /// Where that is in the source.
    pub code: Option<CodeName>,
    /// The text of that line.
    pub source: Option<Excerpt>,
}

fn as_option<S: serde::Serializer>(
    agent: &Option<AgentId>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match agent {
        Some(agent) => as_text(agent, serializer),
        None => serializer.serialize_none(),
    }
}

/// Remembers what is done to resources.
#[derive(Clone, Debug, Default)]
struct Deeds {
    words: Vec<u32>,
    deeds: Vec<(Stamp, Operation)>,
}

impl Observer for Deeds {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        let words = |addr: u32, bytes: u32| {
            let hit = |word: &&u32| addr < **word + 4 && addr + bytes > **word;
            self.words.iter().find(hit).copied()
        };
        if self.deeds.len() < REMEMBERED
            && let Some(operation) = operation(event, &words)
        {
            self.deeds.push((stamp, operation));
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.words.iter().map(|word| (*word, word + 4)).collect()
    }
}

/// What came of a copy.
struct Course {
    deeds: Vec<(Stamp, Operation)>,
    /// How it ended; `None` if it still ran.
    waits: Option<Vec<AgentWait>>,
}

/// What a wait is for, as far as it can be made true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hope {
    /// On what.
    pub resource: Resource,
    /// Which way the operation goes that would end it.
    pub way: Way,
    /// The value that a polled word is compared with.
    pub target: Option<u32>,
    /// The resource by name.
    pub name: String,
}

impl Hope {
    /// What a need is for; `None` if that is nothing one could hand out.
    pub(super) fn of(scene: &Scene<'_>, need: &Need) -> Option<Self> {
        let resource = need.resource?;
        if !matches!(need.kind, Kind::Resource | Kind::Word) {
            return None;
        }
        let name = match resource {
            Resource::Word(addr) => scene.word_name(addr),
            _ => resource.to_string(),
        };
        Some(Self { resource, way: need.way, target: need.target, name })
    }

    /// What would make the wait true, and in words; `many` is how many pages, and which value of a word is tried.
    /// `there` is said behind the name of the resource.
    #[must_use]
    pub fn supposition(
        &self,
        wait: &AgentWait,
        many: u32,
        there: &str,
    ) -> Option<(Supposition, String)> {
        let name = format!("{}{there}", self.name);
        let pages = if many == 1 { "a page".to_owned() } else { format!("{many} pages") };
        Some(match (self.resource, self.way) {
            (Resource::Circular(stream), Way::Take) => {
                let what = Supposition::Stream { stream, register: ACKED, more: many };
                (what, format!("{pages} of {name} were popped"))
            }
            (Resource::Circular(stream), _) => {
                let what = Supposition::Stream { stream, register: RECEIVED, more: many };
                (what, format!("{name} had {pages} more"))
            }
            (Resource::Semaphore(index), way) => {
                let raised = way != Way::Take;
                let state = if raised { "were posted" } else { "were at 0" };
                (Supposition::Semaphore { index, raised }, format!("{name} {state}"))
            }
            (Resource::Mailbox { from, to }, Way::Take) => {
                (Supposition::Room { from, to }, format!("{name} had room"))
            }
            (Resource::Mailbox { from, to }, _) => {
                (Supposition::Word { from, to, value: 1 }, format!("{name} held a word (1)"))
            }
            (Resource::Src(operand), way) => {
                let filled = way != Way::Take;
                let state = if filled { "were filled" } else { "were cleared" };
                (Supposition::Bank { operand, filled }, format!("{name} {state}"))
            }
            (Resource::Word(addr), _) if memory_map::mailbox::place(addr).is_none() => {
                let now = || wait.reads.iter().find(|load| load.addr == addr);
                let value = match (self.target, many) {
                    // A loop that goes on at what it compares with wants more.
                    (Some(target), 2) => target.wrapping_add(1),
                    (Some(target), 1) => target,
                    (None, 1) => now()?.value.wrapping_add(1),
                    _ => return None,
                };
                (Supposition::L1 { addr, value }, format!("{name} were {value:#x}"))
            }
            _ => return None,
        })
    }

    /// Whether more of it may be needed than a little.
    #[must_use]
    pub const fn has_amounts(&self) -> bool {
        matches!(self.resource, Resource::Circular(_) | Resource::Word(_))
    }

    /// What is done to it by whoever ends the wait: `push`, `pop`.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        if matches!(self.way, Way::Take) { self.resource.take() } else { self.resource.give() }
    }
}

/// A machine to make copies of.
struct Fork {
    config: TileConfig,
    snapshot: TileSnapshot,
    words: Vec<u32>,
}

impl Fork {
    fn run(&self, what: Supposition) -> Option<Course> {
        let deeds = Deeds { words: self.words.clone(), deeds: Vec::new() };
        let mut tile = Tile::new(self.config, deeds).ok()?;
        tile.restore(&self.snapshot);
        if !tile.suppose(what) {
            return None;
        }
        let limit = Cycle(self.snapshot.now().0 + FAR);
        let waits = match tile.run(limit, None) {
            Stop::Quiescent(quiescence) => Some(quiescence.waits),
            _ => None,
        };
        Some(Course { deeds: std::mem::take(&mut tile.observer_mut().deeds), waits })
    }

    /// As much of it as lets the agent go on.
    fn enough(&self, wait: &AgentWait, hope: &Hope) -> Option<(Course, String)> {
        for many in [1, 2, 4, 8] {
            let (what, words) = hope.supposition(wait, many, "")?;
            let course = self.run(what)?;
            let is_stuck = |waits: &Vec<AgentWait>| {
                waits.iter().any(|other| (other.agent, other.pc) == (wait.agent, wait.pc))
            };
            let acts = |(stamp, _): &(Stamp, Operation)| {
                core_behind(stamp.agent) == core_behind(wait.agent)
            };
            let stays = course.waits.as_ref().is_some_and(is_stuck);
            if !stays || course.deeds.iter().any(acts) {
                return Some((course, words));
            }
            if !hope.has_amounts() {
                break;
            }
        }
        None
    }
}

fn is_kernel(scene: &Scene<'_>, agent: AgentId, pc: Option<u32>) -> bool {
    core_behind(agent).zip(pc).is_some_and(|(core, pc)| scene.names.is_kernel(core, pc))
}

/// Whether somebody still waits for something else than work.
fn hangs(scene: &Scene<'_>, waits: &[AgentWait]) -> Option<(AgentId, String)> {
    let graph = Graph::new(&Scene { waits, end: End::Deadlock, ..*scene });
    let held = |node: &super::graph::Node<'_>| match node.need.kind {
        Kind::Resource => !node.wait.reason.has_stopped(),
        // Firmware that looks for work is at rest.
        Kind::Word | Kind::Counter { .. } => is_kernel(scene, node.wait.agent, node.wait.pc),
        _ => false,
    };
    let node = graph.nodes.iter().find(|node| held(node))?;
    let text = match node.need.resource {
        Some(resource) => format!("wait for {}", needs::action(resource, node.need.way)),
        None => node.need.text.clone(),
    };
    Some((node.wait.agent, text))
}

fn told(scene: &Scene<'_>, text: String, deed: Option<&Stamp>) -> Supposed {
    let (agent, pc) = (deed.map(|stamp| stamp.agent), deed.map(|stamp| stamp.pc));
    let both = agent.zip(pc);
    Supposed {
        text,
        tile: None,
        agent,
        pc,
        code: both.and_then(|(agent, pc)| scene.code(agent, pc)),
        source: both.and_then(|(agent, pc)| scene.excerpt(agent, pc)),
    }
}

/// What the root would do, given what it waits for, and how that would end.
fn of_root(scene: &Scene<'_>, wait: &AgentWait, (course, words): &(Course, String)) -> Supposed {
    let own = core_behind(wait.agent);
    let mine = |(stamp, _): &&(Stamp, Operation)| {
        core_behind(stamp.agent) == own && is_kernel(scene, stamp.agent, Some(stamp.pc))
    };
    let end = match &course.waits {
        None => format!(", and would still be at work {FAR} cycles later"),
        Some(waits) => match hangs(scene, waits) {
            None => ", and the program would come to its end".to_owned(),
            Some((agent, text)) => format!("; then {agent} would {text}"),
        },
    };
    let deed = course.deeds.iter().find(mine);
    let text = match deed {
        Some((stamp, operation)) => format!(
            "if {words}, {} would {} {} in {}{end}",
            stamp.agent,
            operation.verb(),
            operation.resource,
            scene.place(stamp.agent, stamp.pc)
        ),
        None => format!("if {words}, {} would go on{end}", wait.agent),
    };
    told(scene, text, deed.map(|(stamp, _)| stamp))
}

/// Tries what the root waits for, and then what the others wait for.
pub fn what_if<O: Observer>(
    scene: &Scene<'_>,
    tile: &Tile<O>,
    explanation: &Explanation,
) -> Vec<Supposed> {
    if scene.end != End::Deadlock {
        return Vec::new();
    }
    let graph = Graph::new(scene);
    let Some(root) = graph.root() else { return Vec::new() };
    let need = &graph.nodes[root].need;
    if graph.standing(root) == Standing::Halted || explanation.chain.is_empty() {
        return Vec::new();
    }
    let word = |need: &Need| match need.resource {
        Some(Resource::Word(addr)) => Some(addr & !3),
        _ => None,
    };
    let fork = Fork {
        config: TileConfig { engine: EngineKind::Inline, ..*tile.config() },
        snapshot: tile.snapshot(None),
        words: graph.nodes.iter().filter_map(|node| word(&node.need)).collect(),
    };
    let mut supposed = Vec::new();
    let own = core_behind(graph.nodes[root].wait.agent);
    let Some(hope) = Hope::of(scene, need) else { return supposed };
    let wait = graph.nodes[root].wait;
    supposed.extend(fork.enough(wait, &hope).map(|given| of_root(scene, wait, &given)));
    let resource = hope.resource;
    let gives = |(stamp, operation): &&(Stamp, Operation)| {
        operation.resource == resource
            && operation.way == hope.way
            && operation.amount > 0
            && core_behind(stamp.agent) != own
    };
    let others: Vec<(&AgentWait, Hope)> = graph
        .nodes
        .iter()
        .enumerate()
        .filter(|(at, node)| *at != root && node.wait.stuck)
        .filter_map(|(_, node)| Some((node.wait, Hope::of(scene, &node.need)?)))
        .collect();
    let (mut helped, mut tried) = (false, 0);
    let (verb, name) = (hope.verb(), &hope.name);
    for (wait, other) in others.iter().take(TRIALS) {
        let Some((course, words)) = fork.enough(wait, other) else { continue };
        tried += 1;
        if let Some((stamp, _)) = course.deeds.iter().find(gives) {
            helped = true;
            let place = scene.place(stamp.agent, stamp.pc);
            let text = format!("if {words}, {} would {verb} {name} in {place}", stamp.agent);
            supposed.push(told(scene, text, Some(stamp)));
        }
    }
    // Who writes the words of firmware is no kernel's business.
    let is_mailbox = |addr| memory_map::mailbox::place(addr).is_some();
    let of_firmware = matches!(resource, Resource::Word(addr) if is_mailbox(addr));
    if !helped && tried == others.len() && !of_firmware {
        let else_ = if tried == 0 { "" } else { ", whatever else came" };
        supposed.push(told(scene, format!("nobody would {verb} {name} any more{else_}"), None));
    }
    supposed
}

#[cfg(test)]
mod tests {
    use sim_core::WaitReason;

    use super::*;

    #[test]
    fn awaited_value_is_named_as_it_would_be_read() {
        let wait = AgentWait {
            agent: AgentId::Core(sim_core::CoreId::Brisc),
            reason: WaitReason::Spin,
            since: None,
            pc: None,
            word: None,
            held: None,
            reads: Vec::new(),
            enders: Vec::new(),
            stuck: true,
        };
        let words = |resource, way, many| {
            let hope = Hope { resource, way, target: None, name: resource.to_string() };
            hope.supposition(&wait, many, "").map(|(_, words)| words)
        };
        let cb = Resource::Circular(3);
        assert_eq!(words(cb, Way::Give, 1).as_deref(), Some("CB 3 had a page more"));
        assert_eq!(words(cb, Way::Take, 2).as_deref(), Some("2 pages of CB 3 were popped"));
        assert_eq!(words(Resource::Mutex(2), Way::Give, 1), None);
    }
}
