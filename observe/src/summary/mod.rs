//! Who did what, when: a run in one page.
//!
//! [`Summary`] listens; [`SummaryReport`] is what it knows, as plain data that prints as a table
//! and serialises. Its size is bounded whatever the run's length: lists stop at a limit and say
//! how many entries they lost.
//!
//! Not here: a judgement. Why something hangs is the business of the deadlock analysis.

mod collect;
mod counters;
mod show;
mod waits;

use serde::Serialize;
use sim_core::{AgentId, CoreId, Event, Observer, Stamp};

use crate::describe::as_text;
use crate::names::{CodeName, Names};
use crate::{BuiltInNames, DEFAULT_L1};

pub use counters::{Counters, NocTraffic, SemaphoreUse};
pub use waits::{AgentWaits, Wait};

/// Milestones and kernel runs kept, each.
const LIST_LIMIT: usize = 200;

/// Something that happened once or seldom.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Milestone {
    /// When, in cycles.
    pub cycle: u64,
    /// Who.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// What, in words.
    pub text: String,
    /// Where in the source, if that has a name.
    pub code: Option<CodeName>,
}

/// From the start signal to the done signal of one subordinate core, or of the whole tile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KernelRun {
    /// The subordinate core; `None` for the launch as the host sees it (go message).
    #[serde(serialize_with = "core_name")]
    pub core: Option<CoreId>,
    /// Cycle of the go signal.
    pub started: u64,
    /// Cycle of the done signal.
    pub finished: Option<u64>,
}

fn core_name<S: serde::Serializer>(core: &Option<CoreId>, to: S) -> Result<S::Ok, S::Error> {
    match core {
        Some(core) => to.collect_str(core),
        None => to.collect_str("tile"),
    }
}

/// Everything a [`Summary`] knows. Cycles are AI-clock cycles.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SummaryReport {
    /// Cycle of the last event.
    pub last_cycle: u64,
    /// Milestones in order.
    pub milestones: Vec<Milestone>,
    /// Milestones that found no room.
    pub milestones_lost: u64,
    /// Kernel runs in order of their start.
    pub kernels: Vec<KernelRun>,
    /// Kernel runs that found no room.
    pub kernels_lost: u64,
    /// Counters.
    pub counters: Counters,
    /// Waits per agent that waited.
    pub waits: Vec<AgentWaits>,
}

/// Builds a [`SummaryReport`] from the event stream.
#[derive(Clone, Debug)]
pub struct Summary<N = BuiltInNames> {
    names: N,
    report: SummaryReport,
    /// Cores that have been seen doing something since they last left reset.
    active: sim_core::CoreSet,
    /// Whether a go signal has been seen.
    launched: bool,
}

impl<N: Names> Summary<N> {
    /// A summary that names things with `names`.
    #[must_use]
    pub fn new(names: N) -> Self {
        Self {
            names,
            report: SummaryReport::default(),
            active: sim_core::CoreSet::EMPTY,
            launched: false,
        }
    }

    /// What is known so far; open waits last until the last event.
    #[must_use]
    pub fn report(&self) -> SummaryReport {
        let mut report = self.report.clone();
        for wait in report.waits.iter_mut().filter_map(|row| row.open.as_mut()) {
            wait.cycles = report.last_cycle.saturating_sub(wait.since);
        }
        report
    }
}

impl Default for Summary {
    fn default() -> Self {
        Self::new(BuiltInNames)
    }
}

impl<N: Names> std::fmt::Display for Summary<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.report().fmt(f)
    }
}

impl<N: Names + 'static> Observer for Summary<N> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.collect(stamp, event);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![DEFAULT_L1]
    }
}

#[cfg(test)]
mod tests;
