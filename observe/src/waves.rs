//! The run as waves: an FST file of the architectural signals, for GTKWave or Surfer.
//!
//! One time step is one cycle. Signals change when an event says so; what a core or a thread waits
//! for is its wait reason's number (see `docs/events.md`), 0 for none, and the same in words. Texts are
//! letters of eight bits at the right end of a vector, as hardware languages have them: viewers show them as ASCII.
//!
//! The pc of a core is where its last jump led to, or the instruction that its last event came from; branches are
//! not seen.

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use fst_writer::{
    FstBodyWriter, FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalId, FstSignalType,
    FstVarDirection, FstVarType, FstWriteError,
};
use sim_core::{
    AgentId, CoreId, Cycle, Event, Jump, Observer, Stamp, ThreadId, UnitId, WaitReason,
};

use crate::DEFAULT_L1;
use crate::cache::Cache;
use crate::describe::reason_text;
use crate::names::{Names, is_go_signal, subordinate};
use crate::resource::{ACKED, CREDIT_MASK, RECEIVED};
use crate::scribe::Fields;

/// Circular buffers with signals.
const CIRCULAR: u8 = 32;
/// Bytes of collected changes after which a block is written: they are collected as lists that are
/// gone through from end to end then, so few enough for a cache of the host.
const BLOCK_BYTES: usize = 1 << 20;

/// Bits of the texts, eight to a letter: the format has signals of a fixed length only.
const FUNCTION: u32 = 8 * 40;
const REASON: u32 = 8 * 48;

/// What a signal shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Signal {
    Reset(u8),
    CoreWait(u8),
    Waypoint(u8),
    ThreadWait(u8),
    Issued(u8),
    UnitBusy(u8),
    Semaphore(u8),
    SemaphoreMax(u8),
    Mutex(u8),
    Mailbox(u8, u8),
    PcBuf(u8),
    Banks(u8),
    Received(u8),
    Acked(u8),
    Pages(u8),
    NocBusy(u8, u8),
    Go,
    Subordinate(u8),
    Pc(u8),
    Function(u8),
    CoreWaitName(u8),
    ThreadWaitName(u8),
}

impl Signal {
    /// Signals of a kind.
    const EACH: usize = 64;
    const COUNT: usize = 22 * Self::EACH;

    /// Whether it shows a text.
    const fn is_text(self) -> bool {
        matches!(self, Self::Function(_) | Self::CoreWaitName(_) | Self::ThreadWaitName(_))
    }

    /// Its place in a table.
    const fn index(self) -> usize {
        let (kind, number) = match self {
            Self::Reset(i) => (0, i),
            Self::CoreWait(i) => (1, i),
            Self::Waypoint(i) => (2, i),
            Self::ThreadWait(i) => (3, i),
            Self::Issued(i) => (4, i),
            Self::UnitBusy(i) => (5, i),
            Self::Semaphore(i) => (6, i),
            Self::SemaphoreMax(i) => (7, i),
            Self::Mutex(i) => (8, i),
            Self::Mailbox(from, to) => (9, from << 3 | to),
            Self::PcBuf(i) => (10, i),
            Self::Banks(i) => (11, i),
            Self::Received(i) => (12, i),
            Self::Acked(i) => (13, i),
            Self::Pages(i) => (14, i),
            Self::NocBusy(noc, initiator) => (15, noc << 2 | initiator),
            Self::Go => (16, 0),
            Self::Subordinate(i) => (17, i),
            Self::Pc(i) => (18, i),
            Self::Function(i) => (19, i),
            Self::CoreWaitName(i) => (20, i),
            Self::ThreadWaitName(i) => (21, i),
        };
        kind * Self::EACH + number as usize % Self::EACH
    }
}

/// A signal in the file.
#[derive(Clone, Copy, Debug)]
struct Wire {
    id: FstSignalId,
    bits: u32,
    value: u32,
}

/// The signals of one tile.
struct TileWires {
    wires: Vec<Option<Wire>>,
    fields: Fields,
    /// Texts that have been shown; a signal's value is a place in this list.
    texts: Vec<String>,
    /// Functions by the generation of names, core and pc, as such places.
    functions: Cache<(u32, CoreId, u32), u32>,
    reasons: Cache<WaitReason, u32>,
}

/// The place of a text in a list of texts that differ.
fn place_of(texts: &mut Vec<String>, text: String) -> u32 {
    let known = texts.iter().position(|known| *known == text);
    known.unwrap_or_else(|| {
        texts.push(text);
        texts.len() - 1
    }) as u32
}

impl TileWires {
    fn reason(&mut self, reason: &WaitReason) -> u32 {
        let Self { texts, reasons, .. } = self;
        *reasons.get(*reason, || place_of(texts, reason_text(reason)))
    }

    fn function(&mut self, core: CoreId, pc: u32, names: &dyn Names) -> u32 {
        let Self { texts, functions, .. } = self;
        *functions.get((names.generation(), core, pc), || {
            let name = names.function(core, pc).unwrap_or_else(|| format!("{pc:#x}"));
            place_of(texts, name)
        })
    }
}

/// The bits of a text that stands at the right end of a signal, as hardware languages have it.
fn letters(text: &str, bits: usize, digits: &mut Vec<u8>) {
    let room = bits / 8;
    let text: Vec<u8> = text.bytes().filter(u8::is_ascii).take(room).collect();
    digits.resize(bits - 8 * text.len(), b'0');
    for letter in text {
        digits.extend((0..8).rev().map(|bit| b'0' + (letter >> bit & 1)));
    }
}

/// Writes waves, of one tile or of several with a scope each.
pub struct Waves<W: Write + Seek> {
    body: Option<FstBodyWriter<W>>,
    tiles: Vec<TileWires>,
    /// Whose events come next.
    at: usize,
    time: u64,
    /// What changes later, with its tile: units that drop after their cycle, jumps that were told of early.
    later: BTreeMap<u64, Vec<(usize, Signal, u32)>>,
    digits: Vec<u8>,
    error: Option<FstWriteError>,
    /// Bytes of changes that are kept before they are written.
    block_bytes: usize,
}

impl<W: Write + Seek> std::fmt::Debug for Waves<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waves").field("time", &self.time).finish_non_exhaustive()
    }
}

/// The hierarchy: scope, name, signal, bits.
fn declared() -> Vec<(String, String, Signal, u32)> {
    let mut list = Vec::new();
    let mut add = |scope: &str, name: &str, signal, bits| {
        list.push((scope.to_owned(), name.to_owned(), signal, bits));
    };
    for core in CoreId::ALL {
        let (name, i) = (core.name().to_lowercase(), core as u8);
        add(&name, "reset", Signal::Reset(i), 1);
        add(&name, "pc", Signal::Pc(i), 32);
        add(&name, "function", Signal::Function(i), FUNCTION);
        add(&name, "wait_reason", Signal::CoreWait(i), 8);
        add(&name, "waits_for", Signal::CoreWaitName(i), REASON);
        add(&name, "waypoint", Signal::Waypoint(i), 32);
        if core != CoreId::Brisc {
            add("sync", &format!("subordinate_{name}"), Signal::Subordinate(i), 8);
        }
    }
    add("sync", "go_signal", Signal::Go, 8);
    for thread in ThreadId::ALL {
        let (name, i) = (format!("thread{}", thread as u8), thread as u8);
        add(&name, "wait_reason", Signal::ThreadWait(i), 8);
        add(&name, "waits_for", Signal::ThreadWaitName(i), REASON);
        add(&name, "issued_word", Signal::Issued(i), 32);
        add(&name, "pcbuf_depth", Signal::PcBuf(i), 8);
    }
    let units =
        ["sync", "unpacker", "matrix", "packer", "vector", "scalar", "config", "mover", "misc"];
    for (i, unit) in (0..).zip(units) {
        add("units", &format!("{unit}_busy"), Signal::UnitBusy(i), 1);
    }
    for i in 0..8 {
        let name = crate::describe::semaphore_name(i).replace([' ', '/'], "_");
        add("semaphores", &name, Signal::Semaphore(i), 4);
        add("semaphores", &format!("{name}_max"), Signal::SemaphoreMax(i), 4);
    }
    for i in [0, 2, 3, 4] {
        add("mutexes", &format!("mutex{i}_holder"), Signal::Mutex(i), 2);
    }
    let mailbox_cores = || CoreId::ALL.into_iter().filter(|&core| core != CoreId::Ncrisc);
    for from in mailbox_cores() {
        for to in mailbox_cores() {
            let name = format!("{from}_{to}_depth").to_lowercase();
            add("mailboxes", &name, Signal::Mailbox(from as u8, to as u8), 8);
        }
    }
    for (i, name) in [(0, "srca"), (1, "srcb")] {
        add("banks", name, Signal::Banks(i), 4);
    }
    for i in 0..CIRCULAR {
        add("circular_buffers", &format!("cb{i}_received"), Signal::Received(i), 17);
        add("circular_buffers", &format!("cb{i}_acked"), Signal::Acked(i), 17);
        add("circular_buffers", &format!("cb{i}_pages"), Signal::Pages(i), 17);
    }
    for noc in 0..2 {
        for initiator in 0..4 {
            let name = format!("noc{noc}_initiator{initiator}_in_flight");
            add("noc", &name, Signal::NocBusy(noc, initiator), 8);
        }
    }
    list.sort_by(|a, b| a.0.cmp(&b.0));
    list
}

impl<W: Write + Seek> Waves<W> {
    /// Starts a file: writes its hierarchy.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(out: W) -> Result<Self, FstWriteError> {
        Self::of_tiles(out, &["tile".to_owned()])
    }

    /// Starts a file with one scope per tile, of those names. See [`Waves::turn_to`].
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn of_tiles(out: W, names: &[String]) -> Result<Self, FstWriteError> {
        let info = FstInfo {
            start_time: 0,
            timescale_exponent: -9,
            version: "tilescope".to_owned(),
            // The same run gives the same file.
            date: String::new(),
            file_type: FstFileType::Verilog,
        };
        let mut header = FstHeaderWriter::new(out, &info)?;
        let mut tiles = Vec::new();
        for name in names {
            let (mut wires, mut scope) = (vec![None; Signal::COUNT], String::new());
            header.scope(name, "", FstScopeType::Module)?;
            for (at, name, signal, bits) in declared() {
                if at != scope {
                    if !scope.is_empty() {
                        header.up_scope()?;
                    }
                    header.scope(&at, "", FstScopeType::Module)?;
                    scope = at;
                }
                let kind = FstSignalType::bit_vec(bits);
                let direction = FstVarDirection::Implicit;
                let var = if signal.is_text() { FstVarType::Reg } else { FstVarType::Wire };
                let id = header.var(name, kind, var, direction, None)?;
                wires[signal.index()] = Some(Wire { id, bits, value: u32::MAX });
            }
            header.up_scope()?;
            header.up_scope()?;
            tiles.push(TileWires {
                wires,
                fields: Fields::default(),
                texts: vec![String::new()],
                functions: Cache::default(),
                reasons: Cache::default(),
            });
        }
        let mut waves = Self {
            body: Some(header.finish()?),
            tiles,
            at: 0,
            time: 0,
            later: BTreeMap::new(),
            digits: Vec::new(),
            error: None,
            block_bytes: BLOCK_BYTES,
        };
        waves.step(0);
        for at in 0..names.len() {
            waves.turn_to(at);
            for (_, _, signal, _) in declared() {
                let held = u32::from(matches!(signal, Signal::Reset(_)));
                waves.set(signal, if matches!(signal, Signal::Mutex(_)) { 3 } else { held });
            }
        }
        waves.turn_to(0);
        Ok(waves)
    }

    /// The events that follow are of the tile of that place in the list of names. Those of all tiles are to come
    /// in the order of their cycles.
    pub fn turn_to(&mut self, tile: usize) {
        self.at = tile.min(self.tiles.len().saturating_sub(1));
    }

    fn note(&mut self, result: Result<(), FstWriteError>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
            self.body = None;
        }
    }

    fn step(&mut self, time: u64) {
        let Some(body) = &mut self.body else { return };
        // The writer begins a block with a new time and nothing else; what holds at first is not yet
        // known when the first one begins.
        let is_full = body.size() > self.block_bytes && self.time > 0;
        let mut result = if is_full { body.flush() } else { Ok(()) };
        if result.is_ok() {
            result = body.time_change(time);
        }
        self.time = time;
        self.note(result);
    }

    /// Time never runs back in the file; waits for room in a FIFO are reported late.
    fn at(&mut self, cycle: Cycle) {
        if cycle.0 <= self.time {
            return;
        }
        while let Some(due) = self.later.first_entry()
            && *due.key() <= cycle.0
        {
            let (time, changes) = due.remove_entry();
            if time > self.time {
                self.step(time);
            }
            let at = self.at;
            for (tile, signal, value) in changes {
                self.at = tile;
                self.set(signal, value);
            }
            self.at = at;
        }
        if cycle.0 > self.time {
            self.step(cycle.0);
        }
    }

    fn set(&mut self, signal: Signal, value: u32) {
        let Some(tile) = self.tiles.get_mut(self.at) else { return };
        let Some(wire) = &mut tile.wires[signal.index()] else { return };
        if wire.value == value {
            return;
        }
        wire.value = value;
        let Some(body) = &mut self.body else { return };
        let (bits, digits) = (wire.bits as usize, &mut self.digits);
        digits.clear();
        if signal.is_text() {
            let text = tile.texts.get(value as usize).map_or("", String::as_str);
            letters(text, bits, digits);
        } else {
            digits.extend((0..bits).rev().map(|bit| b'0' + (value >> bit & 1) as u8));
        }
        let result = body.signal_change(wire.id, digits);
        self.note(result);
    }

    fn later(&mut self, cycle: u64, signal: Signal, value: u32) {
        self.later.entry(cycle).or_default().push((self.at, signal, value));
    }

    /// Jumps of a core: they are told of by the epoch, and shown in their cycle.
    pub fn jumps(&mut self, core: CoreId, jumps: &[Jump], names: &dyn Names) {
        for jump in jumps {
            let Some(tile) = self.tiles.get_mut(self.at) else { return };
            let function = tile.function(core, jump.to, names);
            // Where it leads to begins with the next cycle.
            let cycle = jump.cycle.0 + 1;
            self.later(cycle, Signal::Pc(core as u8), jump.to);
            self.later(cycle, Signal::Function(core as u8), function);
        }
    }

    /// What became of the core where an event of it came from.
    fn pc(&mut self, stamp: Stamp) {
        if let AgentId::Core(core) = stamp.agent
            && stamp.pc != 0
        {
            self.set(Signal::Pc(core as u8), stamp.pc);
        }
    }

    fn value(&self, signal: Signal) -> u32 {
        let wire = self.tiles.get(self.at).and_then(|tile| tile.wires[signal.index()]);
        wire.map_or(0, |wire| wire.value)
    }

    fn waits(&mut self, agent: AgentId, reason: Option<&WaitReason>) {
        let (number, name) = match agent {
            AgentId::Core(core) => (Signal::CoreWait(core as u8), Signal::CoreWaitName(core as u8)),
            AgentId::Thread(thread) => {
                (Signal::ThreadWait(thread as u8), Signal::ThreadWaitName(thread as u8))
            }
            _ => return,
        };
        let Some(tile) = self.tiles.get_mut(self.at) else { return };
        let text = reason.map_or(0, |reason| tile.reason(reason));
        self.set(number, reason.map_or(0, reason_number));
        self.set(name, text);
    }

    fn written(&mut self, event: &Event) {
        let mut changes = Vec::new();
        let Some(tile) = self.tiles.get_mut(self.at) else { return };
        for part in tile.fields.written(event) {
            if part.name == "go_messages[0].signal" && is_go_signal(&part.name) {
                changes.push((Signal::Go, part.value));
            } else if let Some(core) = subordinate(&part.name) {
                changes.push((Signal::Subordinate(core as u8), part.value));
            } else if let Some(rest) = part.name.strip_prefix("watcher.debug_waypoint[") {
                // Order of the mailbox: BRISC, NCRISC, TRISC0-2 [spec: boot-and-sync 1.4].
                let order = [0, 4, 1, 2, 3];
                let index = rest.trim_end_matches(']').parse::<usize>().ok();
                let core = index.and_then(|index| order.get(index));
                changes.extend(core.map(|&core| (Signal::Waypoint(core), part.value)));
            }
        }
        changes.into_iter().for_each(|(signal, value)| self.set(signal, value));
    }

    fn credits(&mut self, stream: u8, register: u16, after: u32) {
        match register {
            RECEIVED => self.set(Signal::Received(stream), after),
            ACKED => self.set(Signal::Acked(stream), after),
            _ => return,
        }
        let received = self.value(Signal::Received(stream));
        let pages = received.wrapping_sub(self.value(Signal::Acked(stream))) & CREDIT_MASK;
        self.set(Signal::Pages(stream), pages);
    }

    /// Ends the file at that cycle.
    ///
    /// # Errors
    /// The first error of the writer, whenever it happened.
    pub fn finish(mut self, now: Cycle) -> Result<(), FstWriteError> {
        self.at(now);
        match (self.error, self.body) {
            (Some(error), _) => Err(error),
            (None, Some(body)) => body.finish().and_then(|mut out| Ok(out.flush()?)),
            (None, None) => Ok(()),
        }
    }
}

/// The number of a wait reason in `docs/events.md`, and of its encoding.
fn reason_number(reason: &WaitReason) -> u32 {
    reason.number().into()
}

impl<W: Write + Seek + 'static> Observer for Waves<W> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.at(stamp.cycle);
        self.pc(stamp);
        match *event {
            Event::Reset { core, asserted, .. } => {
                self.set(Signal::Reset(core as u8), asserted.into());
            }
            Event::WaitBegin { ref reason } => self.waits(stamp.agent, Some(reason)),
            Event::WaitEnd { .. } => self.waits(stamp.agent, None),
            Event::Issue { thread, word, .. } => {
                self.set(Signal::Issued(thread as u8), word);
                if let Some((unit, _)) = crate::perfetto::unit_of(word) {
                    let busy = Signal::UnitBusy(unit as u8);
                    self.set(busy, 1);
                    self.later(stamp.cycle.0 + 1, busy, 0);
                }
            }
            Event::Semaphore { index, after, max, .. } => {
                self.set(Signal::Semaphore(index), after.into());
                self.set(Signal::SemaphoreMax(index), max.into());
            }
            Event::Mutex { index, acquired } => {
                let holder = match stamp.agent {
                    AgentId::Thread(thread) if acquired => thread as u32,
                    _ => 3,
                };
                self.set(Signal::Mutex(index), holder);
            }
            Event::MailboxPush { from, to, depth, .. }
            | Event::MailboxPop { from, to, depth, .. } => {
                self.set(Signal::Mailbox(from as u8, to as u8), depth.into());
            }
            Event::PcBufPush { thread, depth, .. } | Event::PcBufPop { thread, depth, .. } => {
                self.set(Signal::PcBuf(thread as u8), depth.into());
            }
            Event::SrcBanks { operand, after, .. } => {
                self.set(Signal::Banks(operand), after.into());
            }
            Event::Stream { stream, register, after, .. } => self.credits(stream, register, after),
            Event::NocIssue { noc, initiator, .. } => {
                let signal = Signal::NocBusy(noc, initiator);
                self.set(signal, self.value(signal) + 1);
            }
            Event::NocDone { noc, initiator, .. } => {
                let signal = Signal::NocBusy(noc, initiator);
                self.set(signal, self.value(signal).saturating_sub(1));
            }
            Event::L1Store { .. } | Event::HostWrite { .. } => self.written(event),
            _ => {}
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![DEFAULT_L1]
    }
}

/// The unit of an instruction, as an index into the busy signals.
const _: () = assert!(UnitId::Misc as u8 == 8);

#[cfg(test)]
mod tests;
