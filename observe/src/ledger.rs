//! Who did what to which resource: the last operations in order, and totals by call site.
//!
//! Bounded: per resource the last [`RECENT`] operations and at most [`SITES`] call sites.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use sim_core::{AgentId, Event, Observer, Stamp, WaitReason};

use crate::describe::as_text;
use crate::resource::{Operation, Resource, Way, awaited, operation};

/// Operations kept per resource and way.
pub(crate) const RECENT: usize = 256;
/// Call sites kept per resource.
pub(crate) const SITES: usize = 128;

/// One operation with its stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Entry {
    /// Number of this operation among those of its resource and way that took effect, from 1.
    pub number: u64,
    /// When.
    pub cycle: u64,
    /// Who.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// From where.
    pub pc: u32,
    /// What.
    #[serde(flatten)]
    pub operation: Operation,
}

/// A place in a program that operates on a resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Site {
    /// Who.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// From where.
    pub pc: u32,
    /// Which way.
    pub way: Way,
}

/// What a call site has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SiteUse {
    /// Operations.
    pub count: u64,
    /// Units moved.
    pub units: u64,
    /// Operations without effect.
    pub ignored: u64,
    /// Cycle of the last one.
    pub last: u64,
}

/// The life of one resource.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The last operations, oldest first.
    pub recent: VecDeque<Entry>,
    /// Totals by call site.
    pub sites: BTreeMap<Site, SiteUse>,
    /// Units given since the last set-up.
    pub given: u64,
    /// Units taken since the last set-up.
    pub taken: u64,
    /// Operations that did nothing since the last set-up, oldest first, at most `RECENT`.
    pub ignored: Vec<Entry>,
    /// State after the last operation.
    pub value: u32,
}

impl History {
    /// The last operation of that way that took effect.
    #[must_use]
    pub fn last(&self, way: Way) -> Option<&Entry> {
        self.recent
            .iter()
            .rev()
            .find(|entry| entry.operation.way == way && entry.operation.amount != 0)
    }

    /// Agents that have done that way, in order of their codes, each once.
    #[must_use]
    pub fn agents(&self, way: Way) -> Vec<AgentId> {
        let mut agents: Vec<_> =
            self.sites.keys().filter(|site| site.way == way).map(|site| site.agent).collect();
        agents.dedup();
        agents
    }

    /// As [`History::agents`], of those that have done so since the last set-up.
    #[must_use]
    pub fn agents_since_setup(&self, way: Way) -> Vec<AgentId> {
        let setup = self.recent.iter().rev().find(|entry| entry.operation.way == Way::Init);
        let since = setup.map_or(0, |entry| entry.cycle);
        let sites = self.sites.iter().filter(|(site, _)| site.way == way);
        let mut agents: Vec<_> =
            sites.filter(|(_, used)| used.last >= since).map(|(site, _)| site.agent).collect();
        agents.dedup();
        agents
    }

    fn add(&mut self, stamp: Stamp, operation: Operation) {
        let Operation { way, amount, .. } = operation;
        let number = match way {
            Way::Init => {
                (self.given, self.taken) = (0, 0);
                self.ignored.clear();
                0
            }
            Way::Give => {
                self.given += u64::from(amount);
                self.given
            }
            Way::Take => {
                self.taken += u64::from(amount);
                self.taken
            }
        };
        let entry =
            Entry { number, cycle: stamp.cycle.0, agent: stamp.agent, pc: stamp.pc, operation };
        if amount == 0 && self.ignored.len() < RECENT {
            self.ignored.push(entry);
        }
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(entry);
        self.value = operation.after;
        let site = Site { agent: stamp.agent, pc: stamp.pc, way };
        let full = self.sites.len() >= SITES;
        if !full || self.sites.contains_key(&site) {
            let used = self.sites.entry(site).or_default();
            used.count += 1;
            used.units += u64::from(amount);
            used.ignored += u64::from(amount == 0);
            used.last = stamp.cycle.0;
        }
    }
}

/// Listens and keeps the books.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    histories: BTreeMap<Resource, History>,
    words: Vec<(u32, u32)>,
}

impl Ledger {
    /// Books on everything but L1, and on these words of L1: byte address and bytes, each on its own.
    #[must_use]
    pub fn new(words: Vec<(u32, u32)>) -> Self {
        Self { histories: BTreeMap::new(), words }
    }

    /// The life of a resource, if anything ever happened to it.
    #[must_use]
    pub fn history(&self, resource: Resource) -> Option<&History> {
        self.histories.get(&resource)
    }

    /// Whether nothing stands in the books: nobody listened.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.histories.is_empty()
    }

    /// All resources that were ever touched.
    pub fn iter(&self) -> impl Iterator<Item = (Resource, &History)> {
        self.histories.iter().map(|(resource, history)| (*resource, history))
    }

    /// The operation that made a wait end, if it was one of the last: who let the waiter go.
    #[must_use]
    pub fn culprit(&self, reason: &WaitReason) -> Option<&Entry> {
        let last = |(resource, way): (Resource, Way)| self.histories.get(&resource)?.last(way);
        awaited(reason).into_iter().filter_map(last).max_by_key(|entry| entry.cycle)
    }
}

impl Observer for Ledger {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        let words = |addr: u32, bytes: u32| {
            let hit = |&&(start, size): &&(u32, u32)| addr < start + size && addr + bytes > start;
            self.words.iter().find(hit).map(|&(start, _)| start)
        };
        let Some(mut operation) = operation(event, &words) else { return };
        let history = self.histories.entry(operation.resource).or_default();
        if matches!(event, Event::L1Store { .. }) {
            operation.before = history.value;
        }
        history.add(stamp, operation);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.words.iter().map(|&(start, size)| (start, start + size)).collect()
    }
}
