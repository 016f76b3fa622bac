//! The run as a Perfetto trace: open it in <https://ui.perfetto.dev>.
//!
//! One cycle is one nanosecond of the trace. The tile is the process; of several tiles each is one; below it lie the cores
//! (functions, and loops that poll), their blocking accesses, the Tensix threads (what the
//! wait gate waits for), the units, the banks of SrcA and SrcB, mutexes, the requests of the NoC
//! interfaces, and counters for semaphores, circular buffers and FIFOs. Arrows lead from giving to
//! taking: post to get, push to pop, fill to clear, issue to completion, GO to DONE.
//!
//! Written while the run goes on and valid up to its last packet; nothing is kept but what is open.
//! Format: the public `perfetto_trace.proto`, TrackEvent with names in place.

mod functions;
mod handshakes;
mod packets;
mod tracks;
mod units;
mod wire;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::rc::Rc;

use sim_core::{AgentId, CoreId, CoreSet, Cycle, Event, Jump, Observer, Stamp, ThreadId};

use crate::DEFAULT_L1;
use crate::culprit::Culprits;
use crate::describe::agent_name;
use crate::names::{CodeName, Names};
use crate::polls::Episode;
use crate::scribe::Scribe;
use crate::target::Target;
use crate::text::{Dec, Hex, put};
use crate::why::Judgement;
use functions::Functions;
use handshakes::Handshakes;
use packets::{Flow, Mark, Packets};
use tracks::Track;
pub(crate) use units::unit_of;
use units::{Span, Units};
use wire::{Message, event as field};

/// Identifiers of tracks and arrows of one tile are below one shifted by this.
const TILE_SHIFT: u32 = 40;

/// Where requests on the NoC go, for arrows between the tiles of a trace.
pub trait ChipMap {
    /// Numbers of the tiles that a request reaches: NOC_CTRL and coordinates as written.
    fn receivers(&self, control: u32, coordinate: u32) -> Vec<u16>;

    /// Whether the trace has that tile.
    fn is_watched(&self, number: u16) -> bool;
}

/// A tile among others of a trace.
#[derive(Clone)]
pub struct Place {
    /// Its number, below 32768.
    pub number: u16,
    /// What its process is called.
    pub name: String,
    /// The others.
    pub chip: Rc<dyn ChipMap>,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Writes a Perfetto trace.
#[derive(Debug)]
pub struct Perfetto<W, N> {
    packets: Packets<W>,
    /// A line of source is remembered as the notes that name it.
    scribe: Scribe<N, Message>,
    culprits: Culprits,
    functions: [Functions; CoreId::COUNT],
    units: Units,
    handshakes: Handshakes,
    /// Waits that have begun, by track.
    waiting: BTreeSet<Track>,
    /// Cores whose polls have not ended, once they are drawn.
    polling: CoreSet,
    /// A launch is drawn that is not done.
    launched: bool,
    with_functions: bool,
    last_cycle: u64,
    /// These are kept for their memory.
    text: String,
    notes: Message,
    flows: Vec<Flow>,
}

impl<W: Write, N: Names> Perfetto<W, N> {
    /// Starts a trace. Function slices need every executed jump; `with_functions` says whether they are
    /// wanted.
    pub fn new(out: W, names: N, with_functions: bool) -> Self {
        Self::with(out, names, with_functions, None)
    }

    /// The part of one tile in a trace of several: a process of its own, with arrows to and from the others.
    /// The parts share a writer that takes whole packets.
    pub fn of_tile(out: W, names: N, with_functions: bool, place: Place) -> Self {
        Self::with(out, names, with_functions, Some(place))
    }

    fn with(out: W, names: N, with_functions: bool, place: Option<Place>) -> Self {
        let number = place.as_ref().map(|place| u64::from(place.number));
        let base = number.map_or(0, |number| (number + 1) << TILE_SHIFT);
        let process = number.unwrap_or(0) + 1;
        let name = place.as_ref().map_or("Tensix tile", |place| place.name.as_str());
        let mut packets = Packets::new(out, base, process);
        packets.head(&tracks::tile(name, base, process));
        for core in CoreId::ALL {
            packets.declare(Track::Core(core));
        }
        for thread in ThreadId::ALL {
            packets.declare(Track::Thread(thread));
        }
        Self {
            packets,
            scribe: Scribe::new(names, source, |_, _| {}),
            culprits: Culprits::default(),
            functions: CoreId::ALL.map(Functions::new),
            units: Units::default(),
            handshakes: Handshakes::of(base, place),
            waiting: BTreeSet::new(),
            polling: CoreSet::EMPTY,
            launched: false,
            with_functions,
            last_cycle: 0,
            text: String::new(),
            notes: Message::new(),
            flows: Vec::new(),
        }
    }

    /// Ends the trace at that cycle: what is open ends there, with `open` saying what each agent
    /// still does. `end` is how the run ended.
    ///
    /// # Errors
    /// The first error of the writer, whenever it happened.
    pub fn finish(
        mut self,
        now: Cycle,
        open: &[(AgentId, Option<Cycle>, String)],
        end: &str,
    ) -> io::Result<()> {
        let now = now.0.max(self.last_cycle);
        for span in self.units.flush() {
            self.draw(&span);
        }
        for (agent, since, text) in open {
            if let (AgentId::Core(core), Some(since)) = (agent, since)
                && !self.waiting.contains(&Track::CoreWaits(*core))
                && !self.polling.contains(*core)
            {
                let name = format!("parked: {text}");
                self.packets.slice(Track::Core(*core), since.0, now, &name, &Message::new());
            }
        }
        let mut note = Message::new();
        note.note("end", "still waiting");
        for track in std::mem::take(&mut self.waiting) {
            self.packets.end(track, now, &note);
        }
        for core in CoreId::ALL {
            self.end_functions(core, now);
        }
        if self.launched {
            self.packets.end(Track::Launch, now, &note);
        }
        self.packets.mark(&Mark {
            kind: field::INSTANT,
            track: Track::Host,
            cycle: now,
            name: end,
            category: "end",
            notes: &Message::new(),
            flows: &[],
        });
        self.packets.finish()
    }

    /// Something has been launched, which is called that, and runs until the tile says that it is done.
    pub fn launched(&mut self, cycle: Cycle, title: &str) {
        if std::mem::replace(&mut self.launched, true) {
            self.packets.end(Track::Launch, cycle.0, &Message::new());
        }
        self.last_cycle = self.last_cycle.max(cycle.0);
        self.packets.begin(Track::Launch, cycle.0, title, &Message::new());
    }

    /// A polling loop as one slice: what for, how often, what ended it.
    pub fn poll(&mut self, episode: &Episode) {
        let names = self.scribe.names();
        let (name, course) = (episode.text(names), episode.course(names));
        let mut notes = self.scribe.source(episode.stamp()).clone();
        notes.note("poll", &course);
        self.last_cycle = self.last_cycle.max(episode.until);
        if episode.open {
            self.polling.insert(episode.core);
        }
        let track = Track::Core(episode.core);
        self.packets.slice(track, episode.since, episode.until, &name, &notes);
    }

    /// What became of the run, from the cycle on from which nothing else could.
    pub fn judge(&mut self, judgement: &Judgement) {
        let stamp = judgement.stamp();
        let mut notes = self.scribe.source(stamp).clone();
        notes.note("agent", &agent_name(stamp.agent));
        if let Some(hazard) = judgement.hazard {
            notes.note("class", hazard.id).note("next", hazard.next);
        }
        self.last_cycle = self.last_cycle.max(judgement.found);
        let (from, until) = (judgement.closed, judgement.found);
        self.packets.slice(Track::Verdict, from, until, &judgement.title(), &notes);
    }

    fn draw(&mut self, span: &Span) {
        let notes = self.notes.clear();
        notes.note("thread", ["T0", "T1", "T2"][span.thread.index()]);
        if span.count > 1 {
            self.text.clear();
            put!(&mut self.text; Dec(span.count));
            notes.note("instructions", &self.text);
        }
        self.packets.slice(Track::Unit(span.unit), span.from, span.until, span.name, notes);
    }

    fn waits(&mut self, stamp: Stamp, event: &Event) {
        let track = match stamp.agent {
            AgentId::Core(core) => Track::CoreWaits(core),
            AgentId::Thread(thread) => Track::Thread(thread),
            _ => return,
        };
        match event {
            Event::WaitBegin { reason } if self.waiting.insert(track) => {
                let (name, notes) = self.scribe.reason(stamp, *reason);
                self.packets.begin(track, stamp.cycle.0, name, notes);
            }
            Event::WaitEnd { reason, .. } if self.waiting.remove(&track) => {
                let notes = self.notes.clear();
                if let Some(culprit) = self.culprits.of(reason) {
                    self.text.clear();
                    put!(&mut self.text; &*agent_name(culprit.agent), " at cycle ");
                    put!(&mut self.text; Dec(culprit.cycle), ", pc ", Hex(culprit.pc));
                    notes.note("ended by", &self.text);
                }
                self.packets.end(track, stamp.cycle.0, notes);
            }
            _ => {}
        }
    }

    /// Where an agent's handshakes are drawn.
    fn home(agent: AgentId) -> Track {
        match agent {
            AgentId::Core(core) => Track::Core(core),
            AgentId::Thread(thread) => Track::Thread(thread),
            AgentId::Noc(noc) => Track::Noc { noc, initiator: 0, lane: 0 },
            AgentId::Unit(unit) => Track::Unit(unit),
            AgentId::Host => Track::Host,
        }
    }

    fn instant(&mut self, stamp: Stamp, event: &Event) {
        use Target::{Config, Device, Issue, L1, Push, Wait};
        let target = match self.scribe.target(stamp, event) {
            Some(L1 | Device | Push | Issue | Wait | Config) | None => return,
            Some(_) if matches!(event, Event::NocDone { .. } | Event::NocSent { .. }) => return,
            Some(target) => target,
        };
        self.flows.clear();
        self.handshakes.flows(event, &mut self.flows);
        self.handshakes.served(event, &mut self.flows);
        let (phrase, notes) = self.scribe.say(stamp, event);
        self.packets.mark(&Mark {
            kind: field::INSTANT,
            track: match *event {
                Event::NocServe { noc, .. } => Track::Served { noc },
                _ => Self::home(stamp.agent),
            },
            cycle: stamp.cycle.0,
            name: &phrase.text,
            category: target.short_name(),
            notes,
            flows: &self.flows,
        });
    }

    fn end_functions(&mut self, core: CoreId, cycle: u64) {
        for _ in 0..self.functions[core.index()].reset() {
            self.packets.end(Track::Core(core), cycle, &Message::new());
        }
    }
}

/// Where in the source an instruction is, as notes.
fn source(pc: u32, code: Option<CodeName>) -> Message {
    let mut notes = Message::new();
    if pc != 0 {
        notes.note("pc", &format!("{pc:#x}"));
    }
    if let Some(code) = code {
        notes.note("source", &code.to_string());
    }
    notes
}

impl<W: Write + 'static, N: Names + 'static> Observer for Perfetto<W, N> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::L1Store { addr, width, .. } = *event
            && !crate::hash::touches(&[DEFAULT_L1], addr, width.bytes())
        {
            return;
        }
        self.last_cycle = self.last_cycle.max(stamp.cycle.0);
        self.instant(stamp, event);
        self.waits(stamp, event);
        if let Some(span) = self.units.event(stamp, event) {
            self.draw(&span);
        }
        self.handshakes.event(stamp, event, &mut self.packets);
        self.culprits.event(stamp, event);
        if self.launched && self.handshakes.is_done(event) {
            self.launched = false;
            self.packets.end(Track::Launch, stamp.cycle.0, &Message::new());
        }
        if let Event::Reset { core, asserted, pc } = *event {
            self.end_functions(core, stamp.cycle.0);
            if self.with_functions && !asserted {
                let functions = &mut self.functions[core.index()];
                let name = functions.start(pc, self.scribe.names());
                self.packets.begin(Track::Core(core), stamp.cycle.0, name, &Message::new());
            }
            if self.waiting.remove(&Track::CoreWaits(core)) {
                self.packets.end(Track::CoreWaits(core), stamp.cycle.0, &Message::new());
            }
        }
    }

    fn wants_jumps(&self, _: CoreId) -> bool {
        self.with_functions
    }

    fn jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        let functions = &mut self.functions[core.index()];
        for jump in jumps {
            let change = functions.jump(jump, self.scribe.names());
            // Where it leads to begins with the next cycle.
            let cycle = jump.cycle.0 + 1;
            for _ in 0..change.close {
                self.packets.end(Track::Core(core), cycle, &Message::new());
            }
            if let Some(index) = change.open {
                let name = functions.name(index);
                self.packets.begin(Track::Core(core), cycle, name, &Message::new());
            }
            self.last_cycle = self.last_cycle.max(cycle);
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![DEFAULT_L1]
    }
}

#[cfg(test)]
mod tests;
