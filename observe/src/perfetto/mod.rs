//! The run as a Perfetto trace: open it in <https://ui.perfetto.dev>.
//!
//! One cycle is one nanosecond of the trace. The tile is the process; below it lie the cores
//! (functions, and where they are parked), their blocking accesses, the Tensix threads (what the
//! wait gate waits for), the units, the banks of SrcA and SrcB, mutexes, the requests of the NoC
//! interfaces, and counters for semaphores, circular buffers and FIFOs. Arrows lead from giving to
//! taking: post to get, push to pop, fill to clear, issue to completion, GO to DONE.
//!
//! Written while the run goes on and valid up to its last packet; nothing is kept but what is open.
//! Format: the public `perfetto_trace.proto`, TrackEvent with names in place.

mod functions;
mod handshakes;
mod tracks;
mod units;
mod wire;

use std::collections::BTreeSet;
use std::io::{self, Write};

use sim_core::observer::ParkedSpan;
use sim_core::{AgentId, CoreId, Cycle, Event, Observer, Retire, Stamp, ThreadId};

use crate::DEFAULT_L1;
use crate::describe::{describe, polled, reason_text, target_of};
use crate::ledger::Ledger;
use crate::names::Names;
use crate::target::Target;
use functions::Functions;
use handshakes::Handshakes;
use tracks::Track;
pub(crate) use units::unit_of;
use units::{Span, Units};
use wire::{Message, PACKET, event as field, packet};

/// What an arrow is attached with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flow {
    /// It begins or goes on here.
    From(u64),
    /// It ends here.
    To(u64),
}

/// Writes packets.
#[derive(Debug)]
struct Packets<W> {
    out: W,
    known: BTreeSet<Track>,
    error: Option<io::Error>,
}

/// A slice, an instant or the end of one.
struct Mark<'a> {
    kind: u64,
    track: Track,
    cycle: u64,
    name: &'a str,
    category: &'a str,
    notes: &'a [(&'a str, String)],
    flows: &'a [Flow],
}

impl<W: Write> Packets<W> {
    fn packet(&mut self, message: Message) {
        let packet = message.varint(packet::SEQUENCE, 1);
        let bytes = Message::new().message(PACKET, &packet).into_bytes();
        if self.error.is_none()
            && let Err(error) = self.out.write_all(&bytes)
        {
            self.error = Some(error);
        }
    }

    fn declare(&mut self, track: Track) {
        if let Track::CoreWaits(core) = track {
            self.declare(Track::Core(core));
        }
        if self.known.insert(track) {
            self.packet(Message::new().message(packet::TRACK_DESCRIPTOR, &track.descriptor()));
        }
    }

    fn mark(&mut self, mark: &Mark<'_>) {
        self.declare(mark.track);
        let mut event =
            Message::new().varint(field::TYPE, mark.kind).varint(field::TRACK, mark.track.uuid());
        if !mark.name.is_empty() {
            event = event.text(field::NAME, mark.name).text(field::CATEGORY, mark.category);
        }
        for (name, value) in mark.notes {
            let note =
                Message::new().text(field::ANNOTATION_NAME, name).text(field::STRING_VALUE, value);
            event = event.message(field::ANNOTATION, &note);
        }
        for flow in mark.flows {
            event = match *flow {
                Flow::From(id) => event.fixed(field::FLOW, id),
                Flow::To(id) => event.fixed(field::LAST_FLOW, id),
            };
        }
        self.event(mark.cycle, &event);
    }

    fn event(&mut self, cycle: u64, event: &Message) {
        let message =
            Message::new().varint(packet::TIMESTAMP, cycle).message(packet::TRACK_EVENT, event);
        self.packet(message);
    }

    fn begin(&mut self, track: Track, cycle: u64, name: &str, notes: &[(&str, String)]) {
        let category = "span";
        let kind = field::BEGIN;
        self.mark(&Mark { kind, track, cycle, name, category, notes, flows: &[] });
    }

    fn end(&mut self, track: Track, cycle: u64, notes: &[(&str, String)]) {
        let kind = field::END;
        self.mark(&Mark { kind, track, cycle, name: "", category: "", notes, flows: &[] });
    }

    fn slice(&mut self, track: Track, from: u64, until: u64, name: &str, notes: &[(&str, String)]) {
        self.begin(track, from, name, notes);
        self.end(track, until.max(from), &[]);
    }

    fn counter(&mut self, track: Track, cycle: u64, value: u64) {
        self.declare(track);
        let event = Message::new()
            .varint(field::TYPE, field::COUNTER)
            .varint(field::TRACK, track.uuid())
            .varint(field::COUNTER_VALUE, value);
        self.event(cycle, &event);
    }
}

/// Writes a Perfetto trace.
#[derive(Debug)]
pub struct Perfetto<W, N> {
    packets: Packets<W>,
    names: N,
    ledger: Ledger,
    functions: [Functions; CoreId::COUNT],
    units: Units,
    handshakes: Handshakes,
    /// Waits that have begun, by track.
    waiting: BTreeSet<Track>,
    with_functions: bool,
    last_cycle: u64,
}

impl<W: Write, N: Names> Perfetto<W, N> {
    /// Starts a trace. Function slices need every executed instruction and cost accordingly;
    /// `with_functions` says whether they are wanted.
    pub fn new(out: W, names: N, with_functions: bool) -> Self {
        let mut packets = Packets { out, known: BTreeSet::new(), error: None };
        let tile = tracks::tile("Tensix tile");
        // SEQ_INCREMENTAL_STATE_CLEARED: nothing before this packet matters.
        let head = Message::new().message(packet::TRACK_DESCRIPTOR, &tile).varint(13, 1);
        packets.packet(head);
        let mut perfetto = Self {
            packets,
            names,
            ledger: Ledger::default(),
            functions: CoreId::ALL.map(Functions::new),
            units: Units::default(),
            handshakes: Handshakes::default(),
            waiting: BTreeSet::new(),
            with_functions,
            last_cycle: 0,
        };
        for core in CoreId::ALL {
            perfetto.packets.declare(Track::Core(core));
        }
        for thread in ThreadId::ALL {
            perfetto.packets.declare(Track::Thread(thread));
        }
        perfetto
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
            {
                let name = format!("parked: {text}");
                self.packets.slice(Track::Core(*core), since.0, now, &name, &[]);
            }
        }
        for track in std::mem::take(&mut self.waiting) {
            self.packets.end(track, now, &[("end", "still waiting".to_owned())]);
        }
        for core in CoreId::ALL {
            for _ in 0..self.functions[core.index()].reset() {
                self.packets.end(Track::Core(core), now, &[]);
            }
        }
        let (kind, name) = (field::INSTANT, end);
        let (track, category) = (Track::Host, "end");
        self.packets.mark(&Mark {
            kind,
            track,
            cycle: now,
            name,
            category,
            notes: &[],
            flows: &[],
        });
        match self.packets.error {
            Some(error) => Err(error),
            None => self.packets.out.flush(),
        }
    }

    fn draw(&mut self, span: &Span) {
        let mut notes = vec![("thread", span.thread.to_string())];
        if span.count > 1 {
            notes.push(("instructions", span.count.to_string()));
        }
        self.packets.slice(Track::Unit(span.unit), span.from, span.until, span.name, &notes);
    }

    /// Where the instruction is, as a note.
    fn source(&self, stamp: Stamp) -> Vec<(&'static str, String)> {
        let mut notes = Vec::new();
        if stamp.pc != 0 {
            notes.push(("pc", format!("{:#x}", stamp.pc)));
            let core = crate::describe::core_of(stamp.agent);
            if let Some(code) = core.and_then(|core| self.names.code(core, stamp.pc)) {
                notes.push(("source", code.to_string()));
            }
        }
        notes
    }

    fn waits(&mut self, stamp: Stamp, event: &Event) {
        let track = match stamp.agent {
            AgentId::Core(core) => Track::CoreWaits(core),
            AgentId::Thread(thread) => Track::Thread(thread),
            _ => return,
        };
        match event {
            Event::WaitBegin { reason } if self.waiting.insert(track) => {
                let notes = self.source(stamp);
                self.packets.begin(track, stamp.cycle.0, &reason_text(reason), &notes);
            }
            Event::WaitEnd { reason, .. } if self.waiting.remove(&track) => {
                let culprit = self.ledger.culprit(reason);
                let note = culprit.map(|entry| {
                    format!("{} at cycle {}, pc {:#x}", entry.agent, entry.cycle, entry.pc)
                });
                let notes: Vec<_> = note.map(|note| ("ended by", note)).into_iter().collect();
                self.packets.end(track, stamp.cycle.0, &notes);
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
        let wanted = match target_of(event, &self.names) {
            Some(Target::L1 | Target::Device | Target::Push | Target::Issue | Target::Wait) => {
                false
            }
            Some(Target::Config) | None => false,
            Some(_) => !matches!(event, Event::NocDone { .. }),
        };
        let Some(line) = wanted.then(|| describe(stamp, event, &self.names)).flatten() else {
            return;
        };
        let notes = self.source(stamp);
        let flows = self.handshakes.flows(event);
        self.packets.mark(&Mark {
            kind: field::INSTANT,
            track: Self::home(stamp.agent),
            cycle: stamp.cycle.0,
            name: &line.text,
            category: line.target.short_name(),
            notes: &notes,
            flows: &flows,
        });
    }

    fn end_functions(&mut self, core: CoreId, cycle: u64) {
        for _ in 0..self.functions[core.index()].reset() {
            self.packets.end(Track::Core(core), cycle, &[]);
        }
    }
}

impl<W: Write, N: Names> Observer for Perfetto<W, N> {
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
        self.ledger.event(stamp, event);
        match *event {
            Event::Reset { core, .. } => {
                self.end_functions(core, stamp.cycle.0);
                if self.waiting.remove(&Track::CoreWaits(core)) {
                    self.packets.end(Track::CoreWaits(core), stamp.cycle.0, &[]);
                }
            }
            // A new launch: other kernels lie at the same addresses.
            Event::HostWrite { bytes, .. } if bytes > 4 => {
                self.functions.iter_mut().for_each(Functions::forget_names);
            }
            _ => {}
        }
    }

    fn wants_retires(&self, _: CoreId) -> bool {
        self.with_functions
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        let functions = &mut self.functions[core.index()];
        let change = functions.retire(retire, &self.names);
        let cycle = retire.cycle.0;
        for _ in 0..change.close {
            self.packets.end(Track::Core(core), cycle, &[]);
        }
        if let Some(index) = change.open {
            let name = self.functions[core.index()].name(index).to_owned();
            self.packets.begin(Track::Core(core), cycle, &name, &[]);
        }
        self.last_cycle = self.last_cycle.max(cycle);
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        let what = polled(&self.names, core, span.reads)
            .unwrap_or_else(|| "ended in an endless loop".to_owned());
        let stamp = Stamp { cycle: span.from, agent: AgentId::Core(core), pc: span.pc };
        let notes = self.source(stamp);
        let name = format!("parked: {what}");
        self.packets.slice(Track::Core(core), span.from.0, span.until.0, &name, &notes);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![DEFAULT_L1]
    }
}

#[cfg(test)]
mod tests;
