//! Why nothing moves: from the waits of a quiescent machine and the books of its resources to a
//! verdict, a cause chain, the nearest missing action and the history of the handshake that broke.
//!
//! [`explain`] is a pure function of a [`Scene`]; [`Explanation`] prints as text, serialises, and
//! turns into SARIF, a Graphviz graph and a page of HTML. The proof itself (who can never move again)
//! is the tile's; here it is put into an order that a person can follow.

mod accesses;
mod actors;
mod ahead;
mod banks;
mod blank;
mod buffer;
mod casts;
mod checks;
mod circular;
mod classify;
mod compared;
mod configuration;
mod constants;
mod copies;
mod counts;
mod decided;
mod evidence;
mod export;
mod finding;
mod flow;
mod formats;
mod graph;
pub mod hazards;
mod html;
mod judgement;
mod latency;
mod leftovers;
mod loads;
mod looks;
mod loops;
mod masks;
mod missing;
mod needs;
mod niu;
mod operations;
mod origin;
mod overlap;
mod pages;
mod pairs;
mod polled;
mod regions;
mod remark;
mod report;
mod requests;
mod scene;
mod sections;
mod sends;
mod show;
mod skipped;
mod stack;
mod stale;
mod suppose;
#[cfg(test)]
mod tests;
mod tile_reads;
mod touched;
mod under_way;
mod unknown;
mod unpacked;
mod unset;
mod upstream;
mod users;
mod variable;
mod waited;
mod walk;
mod writers;
mod written;
mod wrong;

use serde::Serialize;
use sim_core::{AgentId, GuestError, WaitReason, Width};
use tile::AgentWait;

use crate::describe::as_text;
use crate::names::{CodeName, Excerpt};
use crate::resource::Resource;
pub use accesses::{Accesses, Arguments};
pub use buffer::CircularBuffer;
pub use casts::casts;
pub use checks::Checks;
pub use configuration::{Configuration, Part};
pub use counts::{CountWaits, LastWait, StaleWait};
pub use decided::Decision;
pub use finding::Finding;
pub use formats::Formats;
use graph::Graph;
pub use graph::Standing;
use hazards::Hazard;
pub use html::DRAWINGS;
pub use judgement::Judgement;
pub use loads::Loads;
pub use looks::Looks;
pub use loops::{Loops, Running};
use needs::Kind;
pub use pairs::{Cell, Ledgered, Pair};
pub use polled::{LostUpdate, Polled};
pub use regions::{Regions, layout};
pub use scene::{End, Machine, Scene};
pub use sends::{Pending, pending};
pub use stack::{Stack, Stacks};
pub use suppose::{Hope, Supposed, what_if};
pub use variable::Variable;
pub use walk::{Round, round};
pub use writers::Writers;
pub use wrong::{Writer, WrongResult, WrongWord, WrongWords};

/// An agent that waits, in the order of the story.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Link {
    /// Who.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// What it waits for, in words.
    pub text: String,
    /// Since when.
    pub since: Option<u64>,
    /// The waiting instruction, or the one that pushed it.
    pub pc: Option<u32>,
    /// Where that is in the source.
    pub code: Option<CodeName>,
    /// The text of that line.
    pub source: Option<Excerpt>,
    /// Arguments and locals of the function of that line, as far as it is known where they are.
    pub values: Vec<Variable>,
    /// The author's own functions that it was inlined into, from the inside out.
    pub callers: Vec<CodeName>,
    /// The Tensix instruction that waits, disassembled.
    pub instruction: Option<String>,
    /// What it holds back at the front of its thread, if it is a wait instruction.
    pub held: Option<Held>,
    /// Whether it can never move again.
    pub stuck: bool,
    /// The word of L1 that it polls, if that has no meaning of its own to hardware or firmware.
    pub word: Option<u32>,
    /// The value that a polling loop compares with.
    pub target: Option<u32>,
    /// What it is for, if that can be made true.
    #[serde(skip)]
    pub hope: Option<Hope>,
    /// How much of it is provable as a cause.
    pub standing: Standing,
    /// Whether it is part of the root: the wait itself, or the circle it lies in.
    pub root: bool,
    /// Indices of the links it waits for, among [`Explanation::waits`].
    pub to: Vec<usize>,
    /// Whether those are known to be needed, and not only some who could act.
    pub known: bool,
}

/// A Tensix instruction that stands behind one that waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Held {
    /// The instruction, disassembled.
    pub instruction: String,
    /// The instruction of its core that pushed it.
    pub pc: u32,
    /// Where that is in the source.
    pub code: Option<CodeName>,
}

/// Why a run ended as it did.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Explanation {
    /// How it ended.
    pub end: End,
    /// The class of the cause, if it has one.
    pub hazard: Option<Hazard>,
    /// The cause in one sentence.
    pub headline: String,
    /// The wait that users see, if the headline is a mistake that came before it.
    pub symptom: Option<String>,
    /// The launch that it ended in.
    pub launch: Option<String>,
    /// The earlier launch that made the mistake of the headline.
    pub left_by: Option<String>,
    /// What is wrong with the result, the first of it.
    pub wrong: Option<WrongResult>,
    /// When the end was found.
    pub found: u64,
    /// When it became unavoidable.
    pub closed: Option<u64>,
    /// From what users see to the cause, the cause last; indices into [`Explanation::waits`].
    pub chain: Vec<usize>,
    /// Whether the cause is a circle.
    pub circle: bool,
    /// Everybody who waits.
    pub waits: Vec<Link>,
    /// Cores that do not wait, if the run ended without a proof.
    pub running: Vec<Running>,
    /// What would have to happen next, and why it cannot.
    pub missing: Option<String>,
    /// Branches that decided that it did not come, and those that led to the wait.
    pub decisions: Vec<Decision>,
    /// What would happen if an awaited value were there, if that was tried.
    pub supposed: Vec<Supposed>,
    /// The books of the resource that the cause is about.
    pub ledger: Option<Ledgered>,
    /// The books of the other resources that somebody between the symptom and the cause waits for, the cause first.
    pub books: Vec<Ledgered>,
    /// Contract violations that were seen on the way.
    pub findings: Vec<Finding>,
    /// What to look at next.
    pub next: Vec<String>,
    /// The violation that the headline is about, if it is one: an index into [`Explanation::findings`].
    pub led_by: Option<usize>,
}

impl Explanation {
    /// Ids of everything that was named: the cause first, then the findings, each once.
    #[must_use]
    pub fn ids(&self) -> Vec<&'static str> {
        let mut ids: Vec<_> = self.hazard.iter().map(|hazard| hazard.id).collect();
        for finding in &self.findings {
            if !ids.contains(&finding.hazard.id) {
                ids.push(finding.hazard.id);
            }
        }
        ids
    }
}

/// Explains a scene; `fault` is the mistake that ended the run, if one did.
#[must_use]
pub fn explain(scene: &Scene<'_>, fault: Option<&GuestError>) -> Explanation {
    let mut polls = scene.waits.to_vec();
    if scene.end == End::NoProgress {
        polls.extend(scene.loops.polls(scene));
    }
    polls.iter_mut().for_each(|wait| at_ebreak(scene, wait));
    let graph = Graph::new(&Scene { waits: &polls, ..*scene });
    let mut explanation = Explanation {
        end: scene.end,
        hazard: None,
        headline: String::new(),
        symptom: None,
        launch: scene.launch(scene.found).map(str::to_owned),
        left_by: None,
        wrong: scene.wrong.cloned(),
        found: scene.found,
        closed: scene.closed,
        chain: Vec::new(),
        circle: false,
        waits: links(scene, &graph),
        running: Vec::new(),
        missing: None,
        decisions: Vec::new(),
        supposed: Vec::new(),
        ledger: None,
        books: Vec::new(),
        findings: scene.findings.to_vec(),
        next: Vec::new(),
        led_by: None,
    };
    for finding in &mut explanation.findings {
        finding.callers = scene.callers(finding.agent, finding.pc, finding.cycle);
    }
    if scene.end == End::NoProgress {
        explanation.running = scene.loops.running(scene);
    }
    if let Some(fault) = fault {
        mistake(scene, &mut explanation, fault);
    } else {
        stuck(scene, &graph, &mut explanation);
    }
    let led_by = explanation.led_by.and_then(|at| explanation.findings.get(at));
    let began = led_by.and_then(|finding| scene.launch(finding.cycle)).map(str::to_owned);
    explanation.left_by = began.filter(|_| explanation.launch.is_some());
    if explanation.left_by == explanation.launch {
        explanation.left_by = None;
    }
    if let Some(hazard) = explanation.hazard {
        explanation.next.insert(0, hazard.next.to_owned());
    }
    explanation
}

/// The word of an `ebreak`.
const EBREAK: u32 = 0x0010_0073;

/// The pc of a core that has halted is behind the `ebreak` `[isa-wh: TensixTile/BabyRISCV/DebugInterface.md]`: what it
/// stopped at is told.
fn at_ebreak(scene: &Scene<'_>, wait: &mut AgentWait) {
    let Some(before) = wait.pc.and_then(|pc| pc.checked_sub(4)) else { return };
    if wait.reason == WaitReason::Halted && scene.machine.l1(before, Width::Word) == EBREAK {
        wait.pc = Some(before);
    }
}

fn links(scene: &Scene<'_>, graph: &Graph<'_>) -> Vec<Link> {
    let link = |(at, node): (usize, &graph::Node<'_>)| {
        let wait = node.wait;
        Link {
            word: match (node.need.kind, node.need.resource) {
                (Kind::Word, Some(Resource::Word(addr))) => Some(addr),
                _ => None,
            },
            target: node.need.target,
            hope: Hope::of(scene, &node.need),
            standing: graph.standing(at),
            agent: wait.agent,
            text: node.need.text.clone(),
            since: wait.since.map(|since| since.0),
            pc: wait.pc,
            code: wait.pc.and_then(|pc| scene.code(wait.agent, pc)),
            source: wait.pc.and_then(|pc| scene.excerpt(wait.agent, pc)),
            values: scene.values(wait),
            callers: wait.pc.map_or_else(Vec::new, |pc| {
                scene.callers(wait.agent, pc, wait.since.map_or(scene.found, |since| since.0))
            }),
            instruction: wait.word.map(isa::disasm::tensix),
            held: wait.held.map(|held| Held {
                instruction: isa::disasm::tensix(held.word),
                pc: held.pc,
                code: scene.code(wait.agent, held.pc),
            }),
            stuck: wait.stuck,
            root: false,
            to: node.to.clone(),
            known: node.need.known,
        }
    };
    graph.nodes.iter().enumerate().map(link).collect()
}

/// A diagnosed mistake is its own cause.
fn mistake(scene: &Scene<'_>, explanation: &mut Explanation, fault: &GuestError) {
    explanation.hazard = hazards::of_check(fault.id, &fault.message);
    explanation.headline = format!("{}: {} ({})", fault.id, fault.message, fault.at.agent);
    if let Some(pc) = fault.at.pc {
        explanation.decisions = decided::course(scene, fault.at.agent, pc);
    }
    explanation.closed = Some(fault.at.cycle.0);
    explanation.chain = vec![explanation.waits.len()];
    explanation.waits.push(culprit(scene, fault));
    if fault.id == "ebreak-without-debugger"
        && let (Some(pc), AgentId::Core(core)) = (fault.at.pc, fault.at.agent)
    {
        let finding = bare_ebreak(scene, fault, core, pc);
        explanation.hazard = finding.as_ref().map(|finding| finding.hazard).or(explanation.hazard);
        explanation.findings.extend(finding);
    }
    explanation.next.push(format!("check `{}`: {}", fault.id, fault.category));
}

/// Who made a mistake, and where.
fn culprit(scene: &Scene<'_>, fault: &GuestError) -> Link {
    let agent = fault.at.agent;
    let text = match (agent, fault.at.word) {
        (AgentId::Core(_), Some(word)) => {
            format!("stopped at `{}`", isa::disasm::rv32(word, fault.at.pc.unwrap_or(0)))
        }
        (_, Some(word)) => format!("stopped at `{}`", isa::disasm::tensix(word)),
        (_, None) => "stopped".to_owned(),
    };
    let mut callers =
        fault.at.pc.map_or_else(Vec::new, |pc| scene.callers(agent, pc, fault.at.cycle.0));
    // Outside all code: where it came from.
    if let (AgentId::Core(core), Some(pc)) = (agent, fault.at.pc)
        && let Some(code) = scene.names.kernel_code(core).filter(|code| !code.contains(&pc))
        && let Some(left) = scene.loops.last_within(core, &code)
    {
        callers.extend(scene.names.site(core, left));
        callers.extend(scene.callers(agent, left, fault.at.cycle.0));
    }
    Link {
        agent,
        text,
        since: Some(fault.at.cycle.0),
        pc: fault.at.pc,
        code: fault.at.pc.and_then(|pc| scene.code(agent, pc)),
        source: fault.at.pc.and_then(|pc| scene.excerpt(agent, pc)),
        values: fault.at.pc.map_or_else(Vec::new, |pc| scene.values_at(agent, pc)),
        callers,
        instruction: None,
        held: None,
        word: None,
        target: None,
        hope: None,
        standing: Standing::Halted,
        stuck: true,
        root: true,
        to: Vec::new(),
        known: true,
    }
}

/// The lint for an `ebreak` without eight NOPs behind it.
fn bare_ebreak(
    scene: &Scene<'_>,
    fault: &GuestError,
    core: sim_core::CoreId,
    pc: u32,
) -> Option<Finding> {
    const NOP: u32 = 0x13;
    let word = |step: u32| scene.machine.l1(pc.wrapping_add(4 * step), Width::Word);
    let nops = (1..=8).take_while(|step| word(*step) == NOP).count();
    (nops < 8).then(|| Finding {
        hazard: hazards::C12,
        cycle: fault.at.cycle.0,
        agent: fault.at.agent,
        pc,
        place: scene.place(fault.at.agent, pc),
        code: scene.names.site(core, pc),
        source: scene.names.excerpt(core, pc),
        callers: Vec::new(),
        text: format!("ebreak with {nops} of eight NOPs behind it"),
        count: 1,
    })
}

/// The class of the first violation that may have to do with nobody moving any more: a wrong number
/// has not.
fn suspect(scene: &Scene<'_>) -> Option<Hazard> {
    let mut findings = scene.findings.iter();
    findings.find(|finding| finding.hazard.id != hazards::C13.id).map(|finding| finding.hazard)
}

fn stuck(scene: &Scene<'_>, graph: &Graph<'_>, explanation: &mut Explanation) {
    if matches!(scene.end, End::Done | End::WrongResult) {
        explanation.headline = match scene.wrong {
            Some(wrong) => wrong.to_string(),
            None => "the run did what it should".to_owned(),
        };
        let writer = scene.wrong.and_then(|wrong| wrong.words.first()?.writer.as_ref());
        if let (Some(Writer { agent, pc: Some(pc), .. }), Some(_)) = (writer, scene.wrong) {
            explanation.decisions = decided::course(scene, *agent, *pc);
        }
        if let Some(finding) = scene.findings.first() {
            explanation.hazard = Some(finding.hazard);
            explanation.led_by = Some(0);
            explanation.decisions = decided::course(scene, finding.agent, finding.pc);
            explanation.headline =
                format!("{} ({} in {})", finding.text, finding.agent, finding.place);
        }
        return;
    }
    let Some(root) = graph.root() else {
        explanation.headline = match scene.end {
            End::HostWait => "only the host can continue: everybody waits for a run message".into(),
            End::Halted => "a core halted at ebreak".into(),
            _ => no_progress(&explanation.running),
        };
        explanation.hazard = suspect(scene);
        return;
    };
    let node = &graph.nodes[root];
    if scene.end == End::NoProgress {
        let hint = "a hint, no proof: a loop that stores or looks at the clock may still end";
        explanation.next.push(hint.to_owned());
    }
    let circle = graph.circle(root);
    explanation.chain = graph.chain(root);
    explanation.circle = circle.is_some();
    for &at in circle.iter().flatten().chain([&root]) {
        explanation.waits[at].root = true;
    }
    explanation.hazard = node.hazard.or_else(|| suspect(scene));
    explanation.headline = format!("{} {}", node.wait.agent, node.need.text);
    if let (Kind::Stopped, Some(pc)) = (node.need.kind, node.wait.pc) {
        let place = scene.place(node.wait.agent, pc);
        explanation.headline = format!("{} in {place}", explanation.headline);
    }
    explanation.missing = missing::missing(scene, graph, root);
    explanation.decisions = decided::decisions(scene, graph, root);
    explanation.ledger = books_of(scene, graph, root);
    explanation.books = other_books(scene, graph, root, &explanation.chain);
    if let Kind::Counter { noc, value } = node.need.kind {
        explanation.missing = Some(missing::counter(scene, noc, value, node.need.target));
    }
    upstream::lead(scene, graph, root, explanation);
}

/// The books of what a node waits for.
fn books_of(scene: &Scene<'_>, graph: &Graph<'_>, at: usize) -> Option<Ledgered> {
    let node = &graph.nodes[at];
    let since = node.wait.since.map_or(0, |since| since.0);
    let waiter = (node.wait.agent, since, node.wait.pc.unwrap_or(0), node.need.way);
    let mut books = pairs::ledgered(scene, node.need.resource?, waiter)?;
    // Of many who could have, none is the one.
    let who = node.need.who.iter().filter(|agent| node.need.known && **agent != node.wait.agent);
    books.missed = who.copied().take(MISSED).collect();
    Some(books)
}

/// Those who should have done something that are named beside who did.
const MISSED: usize = 2;

/// The books of what others in the chain or in the circle wait for, each once.
fn other_books(
    scene: &Scene<'_>,
    graph: &Graph<'_>,
    root: usize,
    chain: &[usize],
) -> Vec<Ledgered> {
    let mut books: Vec<Ledgered> = Vec::new();
    let circle = graph.circle(root).unwrap_or_default();
    for at in circle.into_iter().chain(chain.iter().rev().copied()) {
        let resource = graph.nodes[at].need.resource;
        let is_known = |books: &Ledgered| Some(books.resource) == resource;
        if resource != graph.nodes[root].need.resource && !books.iter().any(is_known) {
            books.extend(books_of(scene, graph, at));
        }
    }
    // How firmware hands a launch to its cores is nobody's business.
    let is_firmware = |addr| memory_map::mailbox::place(addr).is_some();
    books.retain(|books| !matches!(books.resource, Resource::Word(addr) if is_firmware(addr)));
    books
}

/// A hint: whoever is at work may be at it for ever.
fn no_progress(running: &[Running]) -> String {
    match running.first() {
        Some(Running { agent, text, .. }) => {
            format!("{agent} {text}; a livelock, unless that ends it")
        }
        None => "nobody waits for anything that is known here".to_owned(),
    }
}
