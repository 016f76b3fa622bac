//! A list of findings, each call site once.

use sim_core::{AgentId, CoreId, Stamp};

use super::finding::Finding;
use super::hazards::Hazard;
use crate::describe::core_of;
use crate::names::Names;

/// Findings kept.
const LIMIT: usize = 100;

/// The core whose code a pc of an agent is in; a NoC works for whoever programmed it.
pub(super) fn coder(names: &(impl Names + ?Sized), agent: AgentId, pc: u32) -> Option<CoreId> {
    match agent {
        AgentId::Noc(_) => CoreId::ALL.into_iter().find(|core| names.is_kernel(*core, pc)),
        _ => core_of(agent),
    }
}

/// Findings of one kind of check.
#[derive(Clone, Debug)]
pub(super) struct Report<N> {
    pub(super) names: N,
    suppressed: Vec<String>,
    findings: Vec<Finding>,
}

impl<N: Names> Report<N> {
    pub(super) fn new(names: N, suppressed: Vec<String>) -> Self {
        Self { names, suppressed, findings: Vec::new() }
    }

    pub(super) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub(super) fn is_kernel(&self, core: CoreId, pc: u32) -> bool {
        self.names.is_kernel(core, pc)
    }

    /// The core whose kernel an agent works for, if it does.
    pub(super) fn kernel(&self, stamp: Stamp) -> Option<CoreId> {
        let core = coder(&self.names, stamp.agent, stamp.pc)?;
        self.is_kernel(core, stamp.pc).then_some(core)
    }

    /// Takes back one violation at a place: what came after it has made it good.
    pub(super) fn withdraw(&mut self, hazard: Hazard, agent: AgentId, pc: u32) {
        let same = |old: &Finding| (old.hazard.id, old.agent, old.pc) == (hazard.id, agent, pc);
        let Some(at) = self.findings.iter().position(same) else { return };
        self.findings[at].count -= 1;
        if self.findings[at].count == 0 {
            self.findings.remove(at);
        }
    }

    /// Notes a violation; another one from the same place only counts.
    pub(super) fn add(&mut self, stamp: Stamp, hazard: Hazard, text: String) {
        if self.suppressed.iter().any(|id| id.eq_ignore_ascii_case(hazard.id)) {
            return;
        }
        let same = |old: &&mut Finding| {
            (old.hazard.id, old.agent, old.pc) == (hazard.id, stamp.agent, stamp.pc)
        };
        if let Some(old) = self.findings.iter_mut().find(same) {
            old.count += 1;
            return;
        }
        if self.findings.len() == LIMIT {
            return;
        }
        let code = coder(&self.names, stamp.agent, stamp.pc)
            .and_then(|core| self.names.site(core, stamp.pc));
        let place =
            code.as_ref().map_or_else(|| format!("pc {:#x}", stamp.pc), ToString::to_string);
        let source = coder(&self.names, stamp.agent, stamp.pc)
            .and_then(|core| self.names.excerpt(core, stamp.pc));
        self.findings.push(Finding {
            hazard,
            cycle: stamp.cycle.0,
            agent: stamp.agent,
            pc: stamp.pc,
            place,
            code,
            source,
            callers: Vec::new(),
            text,
            count: 1,
        });
    }
}
