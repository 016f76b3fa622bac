//! The ledger of a resource as pairs: what was given and what was taken, unit by unit.

use serde::Serialize;
use sim_core::AgentId;

use super::scene::Scene;
use crate::describe::as_text;
use crate::ledger::{Entry, History, SiteUse};
use crate::names::{CodeName, Excerpt};
use crate::resource::{Resource, Way};

/// Rows shown before the last one.
const SHOWN: u64 = 6;

/// One side of a pair.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Cell {
    /// Who.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// When; for a wait, since when.
    pub cycle: u64,
    /// From where.
    pub pc: u32,
    /// Where that is in the source.
    pub place: String,
    /// The text of that line.
    #[serde(skip)]
    pub source: Option<Excerpt>,
    /// Whether this is the operation that cannot happen.
    pub waits: bool,
}

/// The *n*th unit given and the *n*th unit taken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Pair {
    /// Number of the unit, from 1.
    pub number: u64,
    /// Who gave it.
    pub give: Option<Cell>,
    /// Who took it.
    pub take: Option<Cell>,
    /// The launch in which it was given, or else taken.
    pub launch: Option<String>,
}

/// The books of a resource that somebody waits for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Ledgered {
    /// Which resource.
    pub resource: Resource,
    /// It by name.
    #[serde(skip)]
    pub name: String,
    /// Who should have done what is waited for.
    #[serde(skip)]
    pub missed: Vec<AgentId>,
    /// What giving and taking are called.
    pub verbs: (&'static str, &'static str),
    /// Units given and taken.
    pub totals: (u64, u64),
    /// The last pairs.
    pub pairs: Vec<Pair>,
    /// Number of the first pair that does not fit.
    pub divergent: Option<u64>,
    /// Why it does not fit.
    pub why: String,
    /// Operations without effect, at most four.
    pub ignored: Vec<Cell>,
    /// How many there were.
    pub ignored_count: usize,
    /// Call sites with their counts: `T2 pack.c:33: 19 posts`.
    pub sites: Vec<String>,
}

/// `file:line`, or whatever else is known.
fn short_place(scene: &Scene<'_>, agent: AgentId, pc: u32) -> String {
    match scene.code(agent, pc) {
        Some(CodeName { file: Some(file), line: Some(line), .. }) => format!("{file}:{line}"),
        _ => scene.place(agent, pc),
    }
}

fn cell(scene: &Scene<'_>, agent: AgentId, cycle: u64, pc: u32, waits: bool) -> Cell {
    let (place, source) = (short_place(scene, agent, pc), scene.excerpt(agent, pc));
    Cell { agent, cycle, pc, place, source, waits }
}

/// The entry that moved unit `number` that way since the last set-up, from which units are counted.
fn unit(history: &History, way: Way, number: u64) -> Option<&Entry> {
    let mut since =
        history.recent.iter().rev().take_while(|entry| entry.operation.way != Way::Init);
    since.find(|entry| {
        let amount = u64::from(entry.operation.amount);
        entry.operation.way == way
            && amount > 0
            && entry.number >= number
            && entry.number - amount < number
    })
}

/// The pair of a number, and of the waiting operation if it is its turn.
fn pair(
    scene: &Scene<'_>,
    history: &History,
    number: u64,
    waiter: Option<&(AgentId, u64, u32, Way)>,
) -> Pair {
    let side = |way: Way| {
        let entry = unit(history, way, number);
        entry.map(|entry| cell(scene, entry.agent, entry.cycle, entry.pc, false)).or_else(|| {
            let (agent, since, pc, wanted) = waiter?;
            // Who waits for a give is about to take, and the other way round.
            let own = if *wanted == Way::Give { Way::Take } else { Way::Give };
            (own == way).then(|| cell(scene, *agent, *since, *pc, true))
        })
    };
    let (give, take) = (side(Way::Give), side(Way::Take));
    let cell = give.as_ref().or(take.as_ref());
    let launch = cell.and_then(|cell| scene.launch(cell.cycle)).map(str::to_owned);
    Pair { number, give, take, launch }
}

/// The first pair whose two call sites had other partners before.
fn crossed(scene: &Scene<'_>, history: &History) -> Option<(u64, String)> {
    let mut partners: Vec<((AgentId, String), (AgentId, String))> = Vec::new();
    let last = history.given.min(history.taken);
    for number in 1..=last {
        let (Some(give), Some(take)) =
            (unit(history, Way::Give, number), unit(history, Way::Take, number))
        else {
            continue;
        };
        // A loop that the compiler has unrolled has several addresses for one line.
        let site = |entry: &Entry| (entry.agent, scene.place(entry.agent, entry.pc));
        let (from, to) = (site(give), site(take));
        let known = partners.iter().find(|(_, other)| *other == to);
        match known {
            Some((partner, _)) if *partner != from => {
                // A side with several call sites per partner has no fixed partners.
                let fixed = partners.iter().any(|(other, _)| *other == from);
                if fixed {
                    let why = format!(
                        "{} used to be matched with {}, now with {}",
                        to.1, partner.1, from.1
                    );
                    return Some((number, why));
                }
            }
            Some(_) => {}
            None => partners.push((from, to)),
        }
    }
    None
}

/// The books of a resource, as seen by an agent that waits since a cycle at a pc for an operation.
pub(super) fn ledgered(
    scene: &Scene<'_>,
    resource: Resource,
    waiter: (AgentId, u64, u32, Way),
) -> Option<Ledgered> {
    let history = scene.ledger.history(resource)?;
    let is_paired = !matches!(resource, Resource::Word(_) | Resource::Noc { .. });
    let (given, taken) = (history.given, history.taken);
    let open = given.min(taken) + 1;
    let last = given.max(taken).max(open).min(open + 2);
    let first = open.saturating_sub(SHOWN).max(1);
    let range = if is_paired { first..=last } else { given.saturating_sub(SHOWN) + 1..=given };
    let pairs: Vec<_> = range
        .map(|number| {
            let waits = is_paired && number == open;
            pair(scene, history, number, waits.then_some(&waiter))
        })
        .filter(|pair| pair.give.is_some() || pair.take.is_some())
        .collect();
    let mut divergent = crossed(scene, history);
    if divergent.is_none() && is_paired {
        // Some of what is waited for may be there.
        let (verb, next) = match waiter.3 {
            Way::Give => (resource.give(), given + 1),
            _ => (resource.take(), taken + 1),
        };
        divergent = Some((open, format!("no {verb} number {next} ever comes")));
    }
    let ignored = history.ignored.iter().take(4);
    let name = match resource {
        Resource::Word(addr) => scene.word_name(addr),
        _ => resource.to_string(),
    };
    Some(Ledgered {
        resource,
        name,
        missed: Vec::new(),
        verbs: (resource.give(), resource.take()),
        totals: (given, taken),
        pairs,
        divergent: divergent.as_ref().map(|(number, _)| *number),
        why: divergent.map(|(_, why)| why).unwrap_or_default(),
        ignored: ignored.map(|e| cell(scene, e.agent, e.cycle, e.pc, false)).collect(),
        ignored_count: history.ignored.len(),
        sites: sites(scene, resource, history),
    })
}

/// What each line has done: addresses of one line count together.
fn sites(scene: &Scene<'_>, resource: Resource, history: &History) -> Vec<String> {
    let mut lines: Vec<((AgentId, String, Way), SiteUse)> = Vec::new();
    for (site, used) in history.sites.iter().filter(|(site, _)| site.way != Way::Init) {
        let calls = scene.call_lines(site.agent, site.pc);
        let calls: Vec<String> = calls.iter().map(ToString::to_string).collect();
        let called = match calls.len() {
            0 => String::new(),
            _ => format!(", called in {}", calls.join(" and ")),
        };
        let key = (site.agent, scene.place(site.agent, site.pc) + &called, site.way);
        match lines.iter_mut().find(|(known, _)| *known == key) {
            Some((_, sum)) => {
                sum.count += used.count;
                sum.ignored += used.ignored;
            }
            None => lines.push((key, *used)),
        }
    }
    let line = |((agent, place, way), used): ((AgentId, String, Way), SiteUse)| {
        let verb = if way == Way::Take { resource.take() } else { resource.give() };
        let ignored = match used.ignored {
            0 => String::new(),
            count => format!(", {count} without effect"),
        };
        format!("{agent} {place}: {} x {verb}{ignored}", used.count)
    };
    lines.into_iter().map(line).collect()
}
