//! From events to milestones, kernel runs, counters and waits.

use sim_core::{AgentId, CoreId, Event, Stamp};

use super::{AgentWaits, KernelRun, LIST_LIMIT, Milestone, Summary};
use crate::describe::{core_of, describe};
use crate::names::{Names, is_go_signal, subordinate};
use crate::words::{self, Part};

/// RUN_MSG_GO and RUN_SYNC_MSG_GO `[spec: boot-and-sync 1.5]`.
const GO: u32 = 0x80;
/// RUN_MSG_DONE and RUN_SYNC_MSG_DONE.
const DONE: u32 = 0;

impl<N: Names> Summary<N> {
    pub(super) fn collect(&mut self, stamp: Stamp, event: &Event) {
        self.report.last_cycle = self.report.last_cycle.max(stamp.cycle.0);
        self.note_first_effect(stamp);
        self.report.counters.count(event, self.launched);
        match *event {
            Event::Reset { core, asserted, .. } => {
                self.active.remove(core);
                if asserted {
                    // Whatever it waited for, it does so no longer.
                    AgentWaits::row(&mut self.report.waits, AgentId::Core(core)).open = None;
                }
                self.milestone_from(stamp, event);
            }
            Event::Halt { .. } => self.milestone_from(stamp, event),
            Event::L1Store { addr, value, width } => {
                self.written(stamp, event, addr, value, width.bytes());
            }
            Event::HostWrite { addr, value, bytes } => {
                self.written(stamp, event, addr, value, bytes);
            }
            Event::WaitBegin { reason } => {
                AgentWaits::row(&mut self.report.waits, stamp.agent).begin(
                    stamp,
                    &reason,
                    &self.names,
                );
            }
            Event::WaitEnd { reason, since } => {
                AgentWaits::row(&mut self.report.waits, stamp.agent).end(
                    stamp,
                    &reason,
                    since.0,
                    &self.names,
                );
            }
            _ => {}
        }
    }

    /// The first thing seen of a core after it left reset.
    fn note_first_effect(&mut self, stamp: Stamp) {
        let AgentId::Core(core) = stamp.agent else { return };
        if !self.active.contains(core) {
            self.active.insert(core);
            self.milestone(stamp, format!("first effect of {core} at pc {:#x}", stamp.pc));
        }
    }

    /// A write to L1: transitions of the go and subordinate handshakes count.
    fn written(&mut self, stamp: Stamp, event: &Event, addr: u32, value: u32, bytes: u32) {
        // A long host write stages an image; only its first word is known, and it is no signal.
        if bytes > 4 {
            return;
        }
        let parts = words::parts(addr, value, bytes, &self.names);
        if !parts.iter().any(Part::is_go) {
            return;
        }
        self.milestone_from(stamp, event);
        for part in parts.iter().filter(|part| part.is_whole()) {
            if is_go_signal(&part.name) {
                self.signal(None, stamp, part.value);
            } else if let Some(core) = subordinate(&part.name) {
                self.signal(Some(core), stamp, part.value);
            }
        }
    }

    fn signal(&mut self, core: Option<CoreId>, stamp: Stamp, value: u32) {
        let report = &mut self.report;
        match value {
            GO => {
                self.launched |= core.is_none();
                if report.kernels.len() < LIST_LIMIT {
                    let started = stamp.cycle.0;
                    report.kernels.push(KernelRun { core, started, finished: None });
                } else {
                    report.kernels_lost += 1;
                }
            }
            DONE => {
                let run = report.kernels.iter_mut().rev().find(|run| run.core == core);
                if let Some(run) = run
                    && run.finished.is_none()
                {
                    run.finished = Some(stamp.cycle.0);
                }
            }
            _ => {}
        }
    }

    fn milestone_from(&mut self, stamp: Stamp, event: &Event) {
        if let Some(line) = describe(stamp, event, &self.names) {
            self.milestone(stamp, line.text);
        }
    }

    fn milestone(&mut self, stamp: Stamp, text: String) {
        if self.report.milestones.len() >= LIST_LIMIT {
            self.report.milestones_lost += 1;
            return;
        }
        let code = core_of(stamp.agent).and_then(|core| self.names.code(core, stamp.pc));
        let milestone = Milestone { cycle: stamp.cycle.0, agent: stamp.agent, text, code };
        self.report.milestones.push(milestone);
    }
}
