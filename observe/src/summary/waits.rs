//! Waits per agent: totals, the longest, and those still open.

use serde::Serialize;
use sim_core::{AgentId, Stamp, WaitReason};

use crate::describe::{as_text, core_of, reason_text};
use crate::names::{CodeName, Names};

/// Longest waits kept per agent.
const LONGEST: usize = 5;

/// One wait.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Wait {
    /// What for, in words.
    pub reason: String,
    /// When it began.
    pub since: u64,
    /// How long it took, in cycles; for an open wait, until the last event.
    pub cycles: u64,
    /// The instruction that waits, or that pushed what waits.
    pub pc: u32,
    /// Where that is in the source.
    pub code: Option<CodeName>,
}

/// Waits of one agent. Polling loops are not waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AgentWaits {
    /// Who.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// How many ended.
    pub count: u64,
    /// Cycles spent in those.
    pub cycles: u64,
    /// The longest, longest first.
    pub longest: Vec<Wait>,
    /// The one that has not ended.
    pub open: Option<Wait>,
}

impl AgentWaits {
    /// The row of an agent; as many as there are agents.
    pub(super) fn row(rows: &mut Vec<Self>, agent: AgentId) -> &mut Self {
        let at = match rows.binary_search_by_key(&agent, |row| row.agent) {
            Ok(at) => at,
            Err(at) => {
                let row = Self { agent, count: 0, cycles: 0, longest: Vec::new(), open: None };
                rows.insert(at, row);
                at
            }
        };
        &mut rows[at]
    }

    pub(super) fn begin(&mut self, stamp: Stamp, reason: &WaitReason, names: &dyn Names) {
        self.open = Some(wait(stamp, reason, stamp.cycle.0, names));
    }

    pub(super) fn end(&mut self, stamp: Stamp, reason: &WaitReason, since: u64, names: &dyn Names) {
        self.open = None;
        self.count += 1;
        let cycles = stamp.cycle.0.saturating_sub(since);
        self.cycles += cycles;
        // Of equal waits the first stays in front.
        let at = self.longest.partition_point(|wait| wait.cycles >= cycles);
        if at < LONGEST {
            self.longest.insert(at, wait(stamp, reason, since, names));
            self.longest.truncate(LONGEST);
        }
    }
}

fn wait(stamp: Stamp, reason: &WaitReason, since: u64, names: &dyn Names) -> Wait {
    Wait {
        reason: reason_text(reason),
        since,
        cycles: stamp.cycle.0.saturating_sub(since),
        pc: stamp.pc,
        code: core_of(stamp.agent).and_then(|core| names.code(core, stamp.pc)),
    }
}
