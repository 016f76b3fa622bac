//! Who let a waiter go: the last operation each way on each resource.
//!
//! The whole history is [`crate::Ledger`]'s business.

use std::collections::BTreeMap;

use sim_core::{AgentId, Cycle, Event, Stamp, WaitReason};

use crate::resource::{Operation, Resource, Way, awaited, operation};

/// An operation that ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Culprit {
    pub(crate) cycle: u64,
    pub(crate) agent: AgentId,
    pub(crate) pc: u32,
}

impl Culprit {
    /// When, who, from where.
    pub(crate) const fn stamp(&self) -> Stamp {
        Stamp { cycle: Cycle(self.cycle), agent: self.agent, pc: self.pc }
    }
}

/// The last operations. L1 is not among them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Culprits(BTreeMap<(Resource, Way), Culprit>);

impl Culprits {
    /// Takes an event in.
    pub(crate) fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Some(Operation { resource, way, amount: 1.., .. }) = operation(event, &|_, _| None) {
            let Stamp { cycle, agent, pc } = stamp;
            self.0.insert((resource, way), Culprit { cycle: cycle.0, agent, pc });
        }
    }

    /// The last operation one way on a resource.
    pub(crate) fn last(&self, resource: Resource, way: Way) -> Option<&Culprit> {
        self.0.get(&(resource, way))
    }

    /// Who ended a wait for that reason, if it was an operation.
    pub(crate) fn of(&self, reason: &WaitReason) -> Option<Culprit> {
        let ends = awaited(reason).into_iter().filter_map(|end| self.0.get(&end));
        ends.max_by_key(|culprit| culprit.cycle).copied()
    }
}
