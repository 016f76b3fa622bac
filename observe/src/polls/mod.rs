//! Polls as episodes: a loop that looks at the same place until it changes is one thing that happened, with a
//! beginning, a number of rounds and, mostly, somebody who ended it.
//!
//! A round counts if it reads L1 or a device, stores to neither, and was the same as the one before: the same
//! instructions and addresses. It is read off the executed instructions, so that it does not depend on whether
//! the simulator had to execute each round. Rounds that it skipped are counted by their length.
//!
//! Not here: what a poll waits for in a machine that has come to rest; that is [`crate::why`]'s business.

mod named;
mod rounds;

use std::collections::VecDeque;

use sim_core::l1::L1_BYTES;
use sim_core::observer::{Look, ParkedSpan};
use sim_core::{AgentId, CoreId, Event, Observer, Retire, Stamp};

use crate::culprit::Culprits;
use crate::describe::Line;
use crate::names::Names;
use crate::resource::{Resource, Way};
use crate::target::Target;
pub(crate) use named::{
    Role, SYNC, SYNC_ORDER, action, credit_way, is_base, is_clock, is_signal, on_register, role,
    told,
};
use rounds::{Entry, Rounds};

/// A poll that reads those in each round, in the words in which [`why`](crate::why) says it: `polls for a push of CB 0`.
#[must_use]
pub fn poll_text(names: &dyn Names, core: CoreId, looks: &[Look]) -> String {
    let look = named::chosen(core, looks, &[]).map(|at| &looks[at]);
    let waits_for = look.and_then(|look| on_register(core, looks, look, |_| None));
    told(names, core, look, waits_for)
}

/// Writes to L1 that are remembered.
const WRITES: usize = 256;

/// A polling loop, from its first round to the instruction behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Episode {
    /// Who polled.
    pub core: CoreId,
    /// Cycle of the first of its rounds.
    pub since: u64,
    /// Cycle of the first instruction that is not of the loop; of a poll that has not ended, the last known.
    pub until: u64,
    /// Whole rounds.
    pub rounds: u64,
    /// The load that the poll is told by.
    pub pc: u32,
    /// What a round loads from L1 and devices, by instruction, with the values that it saw first.
    pub looks: Vec<Look>,
    /// The values that it saw last, in the same order.
    pub last: Vec<u32>,
    /// The load that it is told by, among those.
    pub(crate) told_by: Option<usize>,
    /// What it waits for, if that is an operation on something that agents hand each other.
    pub waits_for: Option<(Resource, Way)>,
    /// The operation or write that came before it went on, if it is known.
    pub ended: Option<Stamp>,
    /// Whether it still goes on.
    pub open: bool,
}

impl Episode {
    /// What it polls for, in the words in which [`crate::why`] says it: `polls for a push of CB 0`.
    #[must_use]
    pub fn text(&self, names: &dyn Names) -> String {
        told(names, self.core, self.told_by.map(|at| &self.looks[at]), self.waits_for)
    }

    /// How often and how long, and what ended it: `12 rounds in 340 cycles, ended by BRISC at cycle 4711`.
    #[must_use]
    pub fn course(&self, names: &dyn Names) -> String {
        let cycles = self.until.saturating_sub(self.since);
        let end = match self.ended {
            _ if self.open => ", still polls".to_owned(),
            None => String::new(),
            Some(Stamp { cycle, agent, pc }) => {
                let code = if pc == 0 { None } else { crate::describe::site_of(agent, pc, names) };
                let place = code.map_or_else(String::new, |code| format!(" in {code}"));
                let agent = crate::describe::agent_name(agent);
                format!(", ended by {agent} at cycle {cycle}{place}")
            }
        };
        let rounds = if self.rounds == 1 { "round" } else { "rounds" };
        format!("{} {rounds} in {cycles} cycles{end}", self.rounds)
    }

    /// It as a line of a log, in the cycle of its end.
    #[must_use]
    pub fn line(&self, names: &dyn Names) -> Line {
        Line {
            target: Target::Wait,
            cycle: self.until,
            agent: AgentId::Core(self.core),
            pc: Some(self.pc),
            code: names.site(self.core, self.pc),
            text: format!("{}: {}", self.text(names), self.course(names)),
        }
    }

    /// The cycle of its end, its core, its load.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        let agent = AgentId::Core(self.core);
        Stamp { cycle: sim_core::Cycle(self.until), agent, pc: self.pc }
    }
}

/// A write to L1.
#[derive(Clone, Copy, Debug)]
struct Write {
    stamp: Stamp,
    addr: u32,
    bytes: u32,
}

/// Finds the polls of the cores of a tile. Whoever owns it takes the episodes out again.
#[derive(Clone, Debug, Default)]
pub struct Polls {
    cores: [Rounds; CoreId::COUNT],
    culprits: Culprits,
    writes: VecDeque<Write>,
    over: Vec<Episode>,
}

impl Polls {
    /// The polls that have ended since it was asked last, as they ended.
    pub fn ended(&mut self) -> impl Iterator<Item = Episode> {
        self.over.drain(..)
    }

    /// Whether there are any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.over.is_empty()
    }

    /// The polls that go on at that cycle, at which cores are parked as `spans` says.
    #[must_use]
    pub fn open(&self, now: u64, spans: &[(CoreId, ParkedSpan)]) -> Vec<Episode> {
        let mut polls = self.clone();
        spans.iter().for_each(|(core, span)| polls.parked(*core, *span));
        let mut all: Vec<_> = polls.over.drain(..).collect();
        all.extend(CoreId::ALL.into_iter().filter_map(|core| {
            let poll = polls.cores[core.index()].open()?;
            let mut episode = polls.episode(core, poll, poll.until.max(now));
            (episode.open, episode.ended) = (true, None);
            Some(episode)
        }));
        all
    }

    fn episode(&self, core: CoreId, poll: &rounds::Poll, until: u64) -> Episode {
        let is_own = |resource: Resource, way| {
            let last = self.culprits.last(resource, way);
            last.is_some_and(|culprit| crate::describe::core_of(culprit.agent) == Some(core))
        };
        let chosen = named::chosen(core, &poll.looks, &poll.last);
        let waits_for = chosen.and_then(|at| {
            on_register(core, &poll.looks, &poll.looks[at], |stream| {
                let buffer = Resource::Circular(stream);
                match (is_own(buffer, Way::Give), is_own(buffer, Way::Take)) {
                    (true, false) => Some(Way::Take),
                    (false, true) => Some(Way::Give),
                    _ => None,
                }
            })
        });
        let look = chosen.map(|at| poll.looks[at]);
        let written = |addr: u32| {
            let hits = |write: &&Write| {
                write.addr < addr + 4
                    && write.addr + write.bytes > addr
                    && (poll.since..=until).contains(&write.stamp.cycle.0)
            };
            self.writes.iter().rev().find(hits).map(|write| write.stamp)
        };
        let ended = match (waits_for, look) {
            (Some((resource, way)), _) => self
                .culprits
                .last(resource, way)
                .map(crate::culprit::Culprit::stamp)
                .filter(|stamp| stamp.cycle.0 >= poll.since.saturating_sub(poll.length())),
            (None, Some(look)) if look.addr < L1_BYTES => written(look.addr & !3),
            _ => None,
        };
        Episode {
            core,
            since: poll.since,
            until,
            rounds: poll.rounds,
            pc: look.map_or(poll.head, |look| look.pc),
            looks: poll.looks.clone(),
            last: poll.last.clone(),
            told_by: chosen,
            waits_for,
            ended,
            open: false,
        }
    }

    fn wrote(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        if addr < L1_BYTES {
            if self.writes.len() == WRITES {
                self.writes.pop_front();
            }
            self.writes.push_back(Write { stamp, addr, bytes: bytes.max(1) });
        }
    }

    fn end(&mut self, core: CoreId, poll: &rounds::Poll, until: u64) {
        let episode = self.episode(core, poll, until);
        self.over.push(episode);
    }
}

impl Observer for Polls {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.culprits.event(stamp, event);
        match *event {
            Event::HostWrite { addr, bytes, .. } => self.wrote(stamp, addr, bytes),
            Event::NocServe { addr, bytes, .. } => {
                if let Ok(addr) = u32::try_from(addr) {
                    self.wrote(stamp, addr, bytes);
                }
            }
            Event::Reset { core, .. } => {
                if let Some(poll) = self.cores[core.index()].reset() {
                    self.end(core, &poll, stamp.cycle.0);
                }
            }
            _ => {}
        }
    }

    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        let own = &mut self.cores[core.index()];
        let entry = own.enter(retire);
        if let Entry::Store(addr, bytes) = entry {
            let agent = AgentId::Core(core);
            self.wrote(Stamp { cycle: retire.cycle, agent, pc: retire.pc }, addr, bytes);
        }
        if let Some(poll) = self.cores[core.index()].retire(retire, entry) {
            self.end(core, &poll, retire.cycle.0);
        }
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        if let Some(poll) = self.cores[core.index()].parked(&span) {
            self.end(core, &poll, span.from.0);
        }
    }
}

#[cfg(test)]
mod tests;
