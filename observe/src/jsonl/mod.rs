//! The event stream as JSON lines: one object per event, a head and a tail.
//!
//! The first line is `{"schema":"tilescope-events","version":N,...}`, the last one
//! `{"end":...,"events":N}`; a file that ends early is valid up to its last line. Keys are described
//! in `docs/events.md`. Lines are put together by hand in one buffer: a tree of values per event
//! would cost more than the simulation.

mod fields;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sim_core::observer::{SCHEMA_VERSION, Slot};
use sim_core::{Event, Observer, Stamp};

use crate::DEFAULT_L1;
use crate::culprit::Culprits;
use crate::describe::agent_name;
use crate::labels::put_duration;
use crate::names::{CodeName, Names};
use crate::polls::Episode;
use crate::scribe::Scribe;
use crate::text::{Dec, Json, put};
use crate::why::Judgement;

/// Writes every event as one line.
#[derive(Debug)]
pub struct JsonLines<W: Write, N> {
    out: W,
    /// An event is remembered as its own members and its text, both as JSON; a line of source as
    /// the members that name it.
    scribe: Scribe<N, String>,
    culprits: Culprits,
    /// The last instruction a thread issued, which is what its next events come from.
    issued: Option<(Stamp, Slot)>,
    /// Lines so far, of all tiles of the file.
    count: Arc<AtomicU64>,
    /// Whose events these are, in a file of several tiles.
    tile: Option<(u8, u8)>,
    line: String,
    error: Option<io::Error>,
}

impl<W: Write, N: Names> JsonLines<W, N> {
    /// Starts the stream: writes the head.
    pub fn new(out: W, names: N) -> Self {
        let mut lines = Self::part(out, names, None, Arc::default());
        put!(&mut lines.line; r#"{"schema":"tilescope-events","version":"#, Dec(SCHEMA_VERSION));
        put!(&mut lines.line; r#","unit":"AI-clock cycles"}"#);
        lines.end_line();
        lines
    }

    /// The events of one tile of several, from now on in a stream that has begun: every line says which tile it
    /// is of, by the coordinates with which the vendor's runtime counts workers. Several share a writer that
    /// takes whole lines.
    #[must_use]
    pub fn of_tile(&self, out: W, names: N, tile: (u8, u8)) -> Self {
        Self::part(out, names, Some(tile), Arc::clone(&self.count))
    }

    fn part(out: W, names: N, tile: Option<(u8, u8)>, count: Arc<AtomicU64>) -> Self {
        Self {
            out,
            scribe: Scribe::new(names, source, fields::finish),
            culprits: Culprits::default(),
            issued: None,
            count,
            tile,
            line: String::new(),
            error: None,
        }
    }

    /// Where the lines go, whole lines only.
    pub fn out_mut(&mut self) -> &mut W {
        &mut self.out
    }

    fn end_line(&mut self) {
        self.line.push('\n');
        if self.error.is_none()
            && let Err(error) = self.out.write_all(self.line.as_bytes())
        {
            // A reader that went away is told once, at the end.
            self.error = Some(error);
        }
        self.line.clear();
    }

    /// Ends the stream with how the run ended (`DONE`, `DEADLOCK`...).
    ///
    /// # Errors
    /// The first error of the writer, whenever it happened.
    pub fn finish(mut self, end: &str) -> io::Result<()> {
        put!(&mut self.line; r#"{"end":"#, Json(end), r#","events":"#, Dec(self.count.load(Ordering::Relaxed)), "}");
        self.end_line();
        match self.error {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    /// What every line of an event begins with.
    fn begin_line(&mut self, stamp: Stamp, event: &str) {
        let line = &mut self.line;
        put!(line; r#"{"seq":"#, Dec(self.count.load(Ordering::Relaxed)), r#","cycle":"#, Dec(stamp.cycle.0));
        if let Some((x, y)) = self.tile {
            put!(line; r#","tile":["#, Dec(x), ",", Dec(y), "]");
        }
        put!(line; r#","agent":""#, &*agent_name(stamp.agent), r#"","event":""#, event, "\"");
    }

    /// Writes a polling loop as one line, in the cycle of its end.
    pub fn poll(&mut self, episode: &Episode) {
        let stamp = episode.stamp();
        self.begin_line(stamp, "Poll");
        fields::put_poll(&mut self.line, episode);
        let source = self.scribe.source(stamp);
        put!(&mut self.line; source, r#","text":"#);
        let names = self.scribe.names();
        let text = format!("{}: {}", episode.text(names), episode.course(names));
        put!(&mut self.line; Json(&text), "}");
        self.end_line();
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes what became of the run as one line, in the cycle from which on nothing else could.
    pub fn judge(&mut self, judgement: &Judgement) {
        let stamp = judgement.stamp();
        self.begin_line(stamp, "Verdict");
        let line = &mut self.line;
        put!(line; r#","verdict":"#, Json(&judgement.verdict));
        if let Some(hazard) = judgement.hazard {
            put!(line; r#","class":"#, Json(hazard.id), r#","name":"#, Json(hazard.name));
        }
        put!(line; r#","found":"#, Dec(judgement.found));
        put!(line; self.scribe.source(stamp), r#","text":"#, Json(&judgement.title()), "}");
        self.end_line();
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    fn slot(&mut self, stamp: Stamp, event: &Event) -> Option<Slot> {
        if let Event::Issue { slot, .. } = event {
            self.issued = Some((stamp, *slot));
            return None;
        }
        let (at, slot) = self.issued?;
        (at == stamp && slot != Slot::default()).then_some(slot)
    }
}

impl<W: Write + 'static, N: Names + 'static> Observer for JsonLines<W, N> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::L1Store { addr, width, .. } = *event
            && !crate::hash::touches(&[DEFAULT_L1], addr, width.bytes())
        {
            return;
        }
        let slot = self.slot(stamp, event);
        self.begin_line(stamp, event.kind().name());
        let (phrase, source) = self.scribe.say(stamp, event);
        let line = &mut self.line;
        line.push_str(&phrase.more);
        fields::put_since(line, event);
        fields::put_ticket(line, event);
        if let Some(slot) = slot {
            fields::put_slot(line, slot);
        }
        if let Event::WaitEnd { reason, .. } = event
            && let Some(culprit) = self.culprits.of(reason)
        {
            fields::put_culprit(line, culprit);
        }
        self.culprits.event(stamp, event);
        put!(line; source, r#","text":""#);
        put_duration(line, stamp, event);
        put!(line; &phrase.text, "\"}");
        self.end_line();
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![DEFAULT_L1]
    }
}

/// The members that say where in the source an instruction is.
fn source(pc: u32, code: Option<CodeName>) -> String {
    let mut out = String::from(r#","pc":"#);
    match pc {
        0 => out.push_str("null"),
        pc => put!(&mut out; Dec(pc)),
    }
    if let Some(CodeName { function, file, line }) = code {
        put!(&mut out; r#","function":"#, Json(&function));
        if let Some(file) = file {
            put!(&mut out; r#","file":"#, Json(&file));
        }
        if let Some(line) = line {
            put!(&mut out; r#","line":"#, Dec(line));
        }
    }
    out
}
