//! Where the cycles went: per core and Tensix thread, by reason and by place in the program.
//!
//! Waits come from the event stream, polling from parked spans, work from executed instructions;
//! what is left of a core's life is work that nobody looked at. Bounded by the number of places.

use std::collections::BTreeMap;

use serde::Serialize;
use sim_core::observer::ParkedSpan;
use sim_core::{AgentId, CoreId, Cycle, Event, Observer, Retire, Stamp, ThreadId};

use crate::describe::{as_text, reason_text, site_of};
use crate::names::Names;
use crate::polls::poll_text;

/// Cycles of one reason at one place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Share {
    /// `works`, `polls for a push of CB 0`, `SEMWAIT on MATH_PACK while ON_ZERO`...
    pub reason: String,
    /// Where in the source, or the bare pc.
    pub place: String,
    /// The instruction.
    pub pc: u32,
    /// Cycles.
    pub cycles: u64,
    /// How often it began.
    pub times: u64,
    /// Who let it go on most often, for waits.
    pub culprit: Option<String>,
}

/// The cycles of one agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Attribution {
    /// Who.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// Cycles it was alive: out of reset, or for a thread between its first and last event.
    pub cycles: u64,
    /// Cycles of executed instructions (threads: issued instructions).
    pub works: u64,
    /// Cycles in waits.
    pub waits: u64,
    /// Cycles parked in polling loops.
    pub polls: u64,
    /// By reason and place, most first.
    pub shares: Vec<Share>,
}

#[derive(Clone, Debug, Default)]
struct Place {
    cycles: u64,
    times: u64,
    culprits: BTreeMap<String, u64>,
}

impl Place {
    fn add(&mut self, other: Self) {
        self.cycles += other.cycles;
        self.times += other.times;
        for (name, count) in other.culprits {
            *self.culprits.entry(name).or_default() += count;
        }
    }
}

impl Attribution {
    /// Adds the cycles of the same agent of another tile: shares of one reason at one place become one. Both have
    /// all their shares.
    pub fn add(&mut self, other: &Self) {
        self.cycles += other.cycles;
        self.works += other.works;
        self.waits += other.waits;
        self.polls += other.polls;
        for share in &other.shares {
            let same =
                |own: &&mut Share| (&own.reason, &own.place) == (&share.reason, &share.place);
            match self.shares.iter_mut().find(same) {
                Some(own) => {
                    own.cycles += share.cycles;
                    own.times += share.times;
                }
                None => self.shares.push(share.clone()),
            }
        }
        self.shares.sort_by(|a, b| b.cycles.cmp(&a.cycles).then(a.pc.cmp(&b.pc)));
    }
}

#[derive(Clone, Debug, Default)]
struct Life {
    alive: Option<u64>,
    cycles: u64,
    works: u64,
    waits: u64,
    polls: u64,
    open: Option<(String, u32, u64)>,
    places: BTreeMap<(String, u32), Place>,
    /// What has been put into words, by reason and place, with the first instruction there: each launch may have
    /// its kernel elsewhere.
    told: BTreeMap<(String, String), (u32, Place)>,
}

impl Life {
    fn add(&mut self, reason: String, pc: u32, cycles: u64, times: u64) -> &mut Place {
        let place = self.places.entry((reason, pc)).or_default();
        place.cycles += cycles;
        place.times += times;
        place
    }

    fn end(&mut self, now: u64, from: u64) {
        if let Some(since) = self.alive.take() {
            self.cycles += now.saturating_sub(since.max(from));
        }
        if let Some((reason, pc, since)) = self.open.take() {
            let cycles = now.saturating_sub(since.max(from));
            self.waits += cycles;
            self.add(reason, pc, cycles, 1);
        }
    }
}

/// Listens and adds up.
#[derive(Clone, Debug)]
pub struct Stalls<N> {
    names: N,
    lives: BTreeMap<AgentId, Life>,
    work: [BTreeMap<u32, u64>; CoreId::COUNT],
    ledger: crate::Ledger,
    /// What was before does not count.
    from: u64,
}

impl<N: Names> Stalls<N> {
    /// An empty account.
    pub fn new(names: N) -> Self {
        let work = [const { BTreeMap::new() }; CoreId::COUNT];
        Self { names, lives: BTreeMap::new(), work, ledger: crate::Ledger::default(), from: 0 }
    }

    /// Leaves out what was before that cycle.
    #[must_use]
    pub fn since(self, from: Cycle) -> Self {
        Self { from: from.0, ..self }
    }

    /// Puts what has been seen into words. To be called before the names change: other code is about to be
    /// where this was.
    pub fn settle(&mut self) {
        let Self { names, lives, work, .. } = self;
        for core in CoreId::ALL {
            let work = std::mem::take(&mut work[core.index()]);
            if !work.is_empty() {
                add_work(names, core, &work, lives.entry(AgentId::Core(core)).or_default());
            }
        }
        for (&agent, life) in lives {
            for ((reason, pc), place) in std::mem::take(&mut life.places) {
                let code = site_of(agent, pc, names);
                let text = code.map_or_else(|| format!("pc {pc:#x}"), |code| code.to_string());
                let (_, sum) = life.told.entry((reason, text)).or_insert((pc, Place::default()));
                sum.add(place);
            }
        }
    }

    /// The account up to `now`, `shares` per agent; `open` are the loops that cores are parked in:
    /// core, since when, pc, reason.
    #[must_use]
    pub fn finish(
        mut self,
        now: Cycle,
        shares: usize,
        open: &[(CoreId, Cycle, u32, String)],
    ) -> Vec<Attribution> {
        for (core, since, pc, reason) in open {
            let cycles = now.0.saturating_sub(since.0.max(self.from));
            let life = self.lives.entry(AgentId::Core(*core)).or_default();
            life.polls += cycles;
            life.add(reason.clone(), *pc, cycles, 1);
        }
        for life in self.lives.values_mut() {
            life.end(now.0, self.from);
        }
        self.settle();
        let mut rows = Vec::new();
        for (agent, life) in self.lives {
            let told = life.told.into_iter();
            let mut list: Vec<_> = told.map(|(key, place)| share(key, place)).collect();
            list.sort_by(|a, b| b.cycles.cmp(&a.cycles).then(a.pc.cmp(&b.pc)));
            list.truncate(shares);
            let Life { cycles, works, waits, polls, .. } = life;
            rows.push(Attribution { agent, cycles, works, waits, polls, shares: list });
        }
        rows
    }
}

/// Work by source line: instructions of one line are one share.
fn add_work(names: &dyn Names, core: CoreId, work: &BTreeMap<u32, u64>, life: &mut Life) {
    let mut lines: BTreeMap<String, (u32, u64)> = BTreeMap::new();
    for (&pc, &count) in work {
        let line = names.site(core, pc).map_or_else(|| format!("pc {pc:#x}"), |c| c.to_string());
        let entry = lines.entry(line).or_insert((pc, 0));
        entry.1 += count;
        life.works += count;
    }
    for (pc, count) in lines.into_values() {
        life.add("works".to_owned(), pc, count, count);
    }
}

fn share((reason, text): (String, String), (pc, place): (u32, Place)) -> Share {
    let culprit = place.culprits.into_iter().max_by_key(|(_, count)| *count);
    Share {
        reason,
        place: text,
        pc,
        cycles: place.cycles,
        times: place.times,
        culprit: culprit.map(|(name, _)| name),
    }
}

impl<N: Names + 'static> Observer for Stalls<N> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        let cycle = stamp.cycle.0;
        match *event {
            Event::Reset { core, asserted, .. } => {
                let life = self.lives.entry(AgentId::Core(core)).or_default();
                life.end(cycle, self.from);
                life.alive = (!asserted).then_some(cycle);
            }
            Event::WaitBegin { reason } => {
                let life = self.lives.entry(stamp.agent).or_default();
                life.open = Some((reason_text(&reason), stamp.pc, cycle));
            }
            Event::WaitEnd { reason, since } => {
                let culprit = self.ledger.culprit(&reason).copied();
                let life = self.lives.entry(stamp.agent).or_default();
                life.open = None;
                if cycle <= self.from {
                    return self.ledger.event(stamp, event);
                }
                let cycles = cycle.saturating_sub(since.0.max(self.from));
                life.waits += cycles;
                let place = life.add(reason_text(&reason), stamp.pc, cycles, 1);
                if let Some(culprit) = culprit {
                    *place.culprits.entry(culprit.agent.to_string()).or_default() += 1;
                }
            }
            Event::Issue { thread, .. } if cycle >= self.from => self.issued(thread, cycle),
            _ => {}
        }
        self.ledger.event(stamp, event);
    }

    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        if retire.cycle.0 >= self.from {
            *self.work[core.index()].entry(retire.pc).or_default() += 1;
        }
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        let cycles = span.until.0.saturating_sub(span.from.0.max(self.from));
        if cycles == 0 {
            return;
        }
        let looks: Vec<_> = span.looks.iter().flatten().copied().collect();
        let reason = match span.reads {
            Some(_) => poll_text(&self.names, core, &looks),
            None => "ended".to_owned(),
        };
        let life = self.lives.entry(AgentId::Core(core)).or_default();
        life.polls += cycles;
        life.add(reason, span.pc, cycles, 1);
    }
}

impl<N> Stalls<N> {
    fn issued(&mut self, thread: ThreadId, cycle: u64) {
        let life = self.lives.entry(AgentId::Thread(thread)).or_default();
        life.alive.get_or_insert(cycle);
        life.works += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BuiltInNames;
    use crate::testing::at;
    use sim_core::WaitReason;

    #[test]
    fn cycles_are_split_into_work_waits_and_polling() {
        let core = AgentId::Core(CoreId::Trisc1);
        let mut stalls = Stalls::new(BuiltInNames);
        let leave = Event::Reset { core: CoreId::Trisc1, asserted: false, pc: 0x100 };
        stalls.event(at(100, AgentId::Host, 0), &leave);
        let reason = WaitReason::MailboxEmpty { from: CoreId::Brisc, to: CoreId::Trisc1 };
        stalls.event(at(110, core, 0x104), &Event::WaitBegin { reason });
        stalls.event(at(150, core, 0x104), &Event::WaitEnd { reason, since: Cycle(110) });
        for pc in [0x100, 0x104, 0x104] {
            let retire = Retire { cycle: Cycle(0), pc, word: 0x13, rd: 0, value: 0 };
            stalls.retire(CoreId::Trisc1, &retire);
        }
        let span = crate::testing::parked(160, 190, 0x110, 0x6A);
        stalls.parked(CoreId::Trisc1, span);
        let open = [(CoreId::Trisc1, Cycle(190), 0x110, "polls x".to_owned())];
        let rows = stalls.finish(Cycle(200), 10, &open);
        let row = &rows[0];
        assert_eq!((row.cycles, row.works, row.waits, row.polls), (100, 3, 40, 40));
        assert_eq!(row.shares[0].cycles, 40);
        assert_eq!(row.shares[1].reason, "waits for GO in subordinate_sync.trisc1");
    }
}
