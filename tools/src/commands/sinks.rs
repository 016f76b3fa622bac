//! What a run is recorded into: the log, JSON lines, a Perfetto trace, waves; all of it or the end of it.

use std::collections::VecDeque;
use std::rc::Rc;

use anyhow::Result;
use loader::names::LoadedNames;
use observe::why::Judgement;
use observe::{Episode, InstructionLog, JsonLines, Perfetto, Polls, TextLog};
use sim_core::observer::ParkedSpan;
use sim_core::{CoreId, Cycle, Event, Jump, Observer, Retire, Stamp};

use super::files::{Open, Out, WaveFile, create, listing, screen};
use super::log;
use super::machine::OutputArgs;
use super::views::Records;

/// One call that a recorder would have got.
#[derive(Clone, Debug)]
enum Call {
    Event(Stamp, Event),
    Jump(CoreId, Jump),
    Retire(CoreId, Retire),
    Poll(Box<Episode>),
}

/// The last calls, until the end says what to do with them.
#[derive(Debug)]
struct Ring {
    calls: VecDeque<Call>,
    room: usize,
}

impl Ring {
    fn put(&mut self, call: Call) {
        if self.calls.len() == self.room {
            self.calls.pop_front();
        }
        self.calls.push_back(call);
    }
}

/// The recorders of a run. Without any, events pass by.
#[derive(Default)]
pub struct Sinks {
    log: Option<TextLog<Out, Rc<LoadedNames>>>,
    jsonl: Option<JsonLines<Out, Rc<LoadedNames>>>,
    perfetto: Option<Perfetto<Out, Rc<LoadedNames>>>,
    waves: Option<WaveFile>,
    instructions: Option<InstructionLog<Out, Rc<LoadedNames>>>,
    /// Names of functions, for the waves.
    names: Option<Rc<LoadedNames>>,
    ring: Option<Ring>,
    /// What finds the loops that poll, if anybody is told of them.
    polls: Option<Polls>,
    /// The cycles that are recorded.
    window: Records,
}

impl std::fmt::Debug for Sinks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sinks").field("active", &self.is_active()).finish_non_exhaustive()
    }
}

impl Sinks {
    /// The recorders that were asked for.
    ///
    /// # Errors
    /// A file cannot be created; the log is to show what does not exist.
    pub fn open(output: &OutputArgs, names: &Rc<LoadedNames>) -> Result<Self> {
        let mut sinks = Self::default();
        let records = &output.views.records;
        sinks.window = records.clone();
        if let Some(wanted) = log::wanted(records)? {
            sinks.log = Some(TextLog::new(screen(output.json()), Rc::clone(names), wanted));
        }
        if let Some(path) = &records.jsonl {
            sinks.jsonl = Some(JsonLines::new(create(path)?, Rc::clone(names)));
        }
        if let Some(path) = &records.perfetto {
            let functions = !records.no_functions;
            sinks.perfetto = Some(Perfetto::new(create(path)?, Rc::clone(names), functions));
        }
        if let Some(path) = &records.waves {
            sinks.waves = Some(WaveFile::create(path, &["tile".to_owned()])?);
            sinks.names = Some(Rc::clone(names));
        }
        if let Some((path, cores)) = records.instructions()? {
            let log = InstructionLog::new(listing(path)?, cores, Rc::clone(names));
            sinks.instructions = Some(log);
        }
        if let Some(room) = records.last {
            sinks.ring = Some(Ring { calls: VecDeque::new(), room: room.max(1) });
        }
        let has_log = sinks.log.as_ref().is_some_and(TextLog::tells_polls);
        let tells = has_log || sinks.jsonl.is_some() || sinks.perfetto.is_some();
        sinks.polls = tells.then(Polls::default);
        Ok(sinks)
    }

    /// Whether any event is recorded.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.log.is_some()
            || self.jsonl.is_some()
            || self.perfetto.is_some()
            || self.waves.is_some()
    }

    /// Completes the files. `open` says what each agent still does at `now`, `parked` which cores are, `judgement` what became of the run.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn finish(
        &mut self,
        now: Cycle,
        (open, parked): (&[Open], &[(CoreId, ParkedSpan)]),
        end: &str,
        judgement: Option<&Judgement>,
    ) -> Result<()> {
        for episode in
            self.polls.iter().flat_map(|polls| polls.open(now.0, parked)).collect::<Vec<_>>()
        {
            self.polled(episode);
        }
        if let Some(ring) = self.ring.take() {
            for call in ring.calls {
                self.call(&call);
            }
        }
        if let Some(judgement) = judgement {
            self.jsonl.iter_mut().for_each(|jsonl| jsonl.judge(judgement));
            self.perfetto.iter_mut().for_each(|perfetto| perfetto.judge(judgement));
        }
        if let Some(log) = self.log.take() {
            log.finish()?;
        }
        if let Some(jsonl) = self.jsonl.take() {
            jsonl.finish(end)?;
        }
        if let Some(perfetto) = self.perfetto.take() {
            perfetto.finish(now, open, end)?;
        }
        if let Some(waves) = self.waves.take() {
            waves.finish(now)?;
        }
        if let Some(log) = self.instructions.take() {
            log.finish()?;
        }
        Ok(())
    }

    fn call(&mut self, call: &Call) {
        match call {
            &Call::Event(stamp, ref event) => {
                if let Some(sink) = &mut self.log {
                    sink.event(stamp, event);
                }
                if let Some(sink) = &mut self.jsonl {
                    sink.event(stamp, event);
                }
                if let Some(sink) = &mut self.perfetto {
                    sink.event(stamp, event);
                }
                if let Some(sink) = &mut self.waves {
                    sink.waves.event(stamp, event);
                }
            }
            &Call::Jump(core, jump) => self.jumped(core, &[jump]),
            &Call::Retire(core, ref retire) => {
                if let Some(sink) = &mut self.instructions {
                    sink.retire(core, retire);
                }
            }
            Call::Poll(episode) => {
                if let Some(sink) = &mut self.log {
                    sink.poll(episode);
                }
                if let Some(sink) = &mut self.jsonl {
                    sink.poll(episode);
                }
                if let Some(sink) = &mut self.perfetto {
                    sink.poll(episode);
                }
            }
        }
    }

    fn jumped(&mut self, core: CoreId, jumps: &[Jump]) {
        if let Some(sink) = self.perfetto.as_mut().filter(|sink| sink.wants_jumps(core)) {
            sink.jumps(core, jumps);
        }
        if let (Some(sink), Some(names)) = (&mut self.waves, &self.names) {
            sink.waves.jumps(core, jumps, &**names);
        }
    }

    fn polled(&mut self, episode: Episode) {
        if self.window.has(Cycle(episode.since), Cycle(episode.until)) {
            self.take(Call::Poll(Box::new(episode)));
        }
    }

    /// Tells of the polls that have ended.
    fn polls(&mut self) {
        if self.polls.as_ref().is_none_or(Polls::is_empty) {
            return;
        }
        let ended: Vec<_> = self.polls.iter_mut().flat_map(Polls::ended).collect();
        ended.into_iter().for_each(|episode| self.polled(episode));
    }

    fn take(&mut self, call: Call) {
        match &mut self.ring {
            Some(ring) => ring.put(call),
            None => self.call(&call),
        }
    }
}

impl Observer for Sinks {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Some(polls) = &mut self.polls {
            polls.event(stamp, event);
            self.polls();
        }
        if self.is_active() && self.window.has(stamp.cycle, stamp.cycle) {
            self.take(Call::Event(stamp, *event));
        }
    }

    fn wants_jumps(&self, core: CoreId) -> bool {
        let draws = self.perfetto.as_ref().is_some_and(|perfetto| perfetto.wants_jumps(core));
        draws || self.waves.is_some()
    }

    fn jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        let all = self.window.from.is_none() && self.window.to.is_none();
        if all && self.ring.is_none() {
            return self.jumped(core, jumps);
        }
        for &jump in jumps {
            if self.window.has(jump.cycle, jump.cycle) {
                self.take(Call::Jump(core, jump));
            }
        }
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        let lists = self.instructions.as_ref().is_some_and(|log| log.wants_retires(core));
        lists || self.polls.is_some()
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        if let Some(polls) = &mut self.polls {
            polls.retire(core, retire);
        }
        let lists = self.instructions.as_ref().is_some_and(|log| log.wants_retires(core));
        if lists && self.window.has(retire.cycle, retire.cycle) {
            self.take(Call::Retire(core, *retire));
        }
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        retires.iter().for_each(|retire| self.retire(core, retire));
        self.polls();
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        if let Some(polls) = &mut self.polls {
            polls.parked(core, span);
            self.polls();
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        if self.is_active() { vec![observe::DEFAULT_L1] } else { Vec::new() }
    }
}
