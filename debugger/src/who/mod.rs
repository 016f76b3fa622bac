//! Who wrote this last, or writes it next.
//!
//! What events tell of (L1, semaphores, circular buffers, configuration, devices) is searched in
//! windows that are carried out again at full speed with somebody who listens to just that; cells of
//! the coprocessor likewise, by looking at them before and after each of its instructions. What only
//! a core's own instructions change (registers, local RAM) is searched instruction by instruction.
//! [`chain`] goes on from there to where the value came from.

pub mod chain;
mod details;
mod what;

use std::fmt;

use isa::op::Opcode;
use memory_map::layout::LOCAL_RAM_BASE;
use observe::Names;
use sim_core::observer::{Cell, Doing, Glimpse, ShowsCells};
use sim_core::{AgentId, CoreId, Cycle, Event, NullObserver, Observer, Stamp};
use tile::Tile;

use crate::machine::Machine;
use crate::moment::Moment;
use crate::recording::Recording;

pub use what::{Cells, NotUnderstood, What};

/// Cycles of the first window and of the longest.
const FIRST_WINDOW: u64 = 1 << 12;
const LONGEST_WINDOW: u64 = 1 << 20;
/// The same for what is searched instruction by instruction.
const FIRST_CLOSE_WINDOW: u64 = 256;
const LONGEST_CLOSE_WINDOW: u64 = 1 << 16;

/// A change of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// When.
    pub cycle: Cycle,
    /// By whom.
    pub agent: AgentId,
    /// The instruction that did it or that pushed the Tensix instruction that did, if there is one.
    pub pc: Option<u32>,
    /// The Tensix instruction that did it.
    pub word: Option<u32>,
    /// What, in words.
    pub what: String,
}

/// Keeps the first or the last change in a range of cycles.
struct Listener {
    what: What,
    from: Cycle,
    until: Cycle,
    keeps_first: bool,
    /// Of whom anything from a cycle on is heard: a core sees only its own stores until an epoch ends.
    only: Option<(CoreId, Cycle)>,
    /// Cells that are looked at, and what they held when they were last seen.
    cells: Vec<(Cell, u32)>,
    /// The Tensix instruction that each thread issued last.
    issued: [Option<(Cycle, u32)>; 3],
    found: Option<Written>,
}

impl Listener {
    fn new(what: What, from: Cycle, until: Cycle, keeps_first: bool) -> Self {
        let cells = match what {
            What::Cells(cells) => cells.each(),
            _ => Vec::new(),
        };
        let cells = cells.into_iter().map(|cell| (cell, 0)).collect();
        Self { what, from, until, keeps_first, only: None, cells, issued: [None; 3], found: None }
    }

    fn is_wanted(&self, stamp: Stamp) -> bool {
        let is_heard = self
            .only
            .is_none_or(|(core, from)| stamp.cycle < from || stamp.agent == AgentId::Core(core));
        is_heard
            && (self.from..self.until).contains(&stamp.cycle)
            && !(self.keeps_first && self.found.is_some())
    }

    /// What has changed of the cells since they were last seen, in words.
    fn changed(&mut self, shown: &dyn ShowsCells) -> Option<String> {
        let (mut count, mut first) = (0, None);
        for (cell, value) in &mut self.cells {
            let now = shown.cell(*cell);
            if now != *value {
                count += 1;
                first.get_or_insert((*cell, *value, now));
                *value = now;
            }
        }
        let (cell, before, after) = first?;
        let place = match cell {
            Cell::Dst { column, .. } => format!("column {column}"),
            Cell::Src { row, column, .. } => format!("row {row}, column {column}"),
            Cell::LReg { lane, .. } => format!("lane {lane}"),
            Cell::Gpr { .. } | Cell::MatrixBank { .. } => String::new(),
        };
        let what = self.what;
        Some(match (count, self.cells.len()) {
            (_, 1) => format!("{what}: {before:#x} becomes {after:#x}"),
            (count, of) => {
                format!("{what}: {count} of {of} cells, at {place} {before:#x} becomes {after:#x}")
            }
        })
    }
}

impl Observer for Listener {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::Issue { thread, word, .. } = *event {
            self.issued[thread.index()] = Some((stamp.cycle, word));
        }
        if self.is_wanted(stamp)
            && let Some(what) = self.what.told(event)
        {
            let pc = (stamp.pc != 0).then_some(stamp.pc);
            let issued = match stamp.agent {
                AgentId::Thread(thread) => self.issued[thread.index()],
                _ => None,
            };
            let word = issued.filter(|(cycle, _)| *cycle == stamp.cycle).map(|(_, word)| word);
            self.found = Some(Written { cycle: stamp.cycle, agent: stamp.agent, pc, word, what });
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        match self.what {
            What::L1(word) => vec![(word, word + 4)],
            _ => Vec::new(),
        }
    }

    fn wants_cells(&self) -> bool {
        !self.cells.is_empty()
    }

    fn cells(&mut self, Glimpse { at, doing }: Glimpse, shown: &dyn ShowsCells) {
        let Some(what) = self.changed(shown).filter(|_| self.is_wanted(at)) else { return };
        let pc = (at.pc != 0).then_some(at.pc);
        let written = Written { cycle: at.cycle, agent: at.agent, pc, word: None, what };
        self.found = Some(match doing {
            Doing::Instruction { word, .. } => Written { word: Some(word), ..written },
            Doing::Access => written,
            // Since when is not told: what goes on behind the gates has no stamp of its own.
            Doing::Before { .. } => Written {
                what: format!("in the background, at the latest then: {}", written.what),
                pc: None,
                ..written
            },
        });
    }
}

/// Carries out a window of the session with somebody who listens.
fn listen(machine: &Machine, mut listener: Listener) -> std::io::Result<Option<Written>> {
    let recording: &Recording = machine.recording();
    let (from, until) = (listener.from, listener.until);
    let (snapshot, mut given) = machine.nearest(from);
    if !listener.cells.is_empty() {
        // What they hold before anything happens.
        let mut tile = Tile::new(recording.config, NullObserver)?;
        tile.restore(snapshot);
        let tensix = tile.coprocessor();
        listener.cells.iter_mut().for_each(|(cell, value)| *value = tensix.cell(*cell));
    }
    let mut tile = Tile::new(recording.config, listener)?;
    tile.restore(snapshot);
    recording.run(&mut tile, &mut given, until);
    Ok(tile.observer_mut().found.take())
}

/// Who wrote it last before a moment. Of memory and registers of cores that counts also who writes what is there
/// already, of cells of the coprocessor who makes them another value.
///
/// # Errors
/// The host gives no memory for another tile.
pub fn last_before(machine: &Machine, what: What, at: Moment) -> std::io::Result<Option<Written>> {
    before(machine, what, at, None)
}

/// Who wrote last what a core sees at a moment: of an epoch that has begun only its own stores.
///
/// # Errors
/// As [`last_before`].
pub fn last_seen(machine: &Machine, what: What, at: Moment) -> std::io::Result<Option<Written>> {
    let epoch = machine.recording().config.epoch.round_down(at.cycle);
    before(machine, what, at, Some((at.turn.core(), epoch)))
}

fn before(
    machine: &Machine,
    what: What,
    at: Moment,
    only: Option<(CoreId, Cycle)>,
) -> std::io::Result<Option<Written>> {
    if let What::Local(..) | What::Register(..) = what {
        return Ok(close_before(&mut machine.fork()?, what, at));
    }
    let (mut until, mut length) = (at.cycle, FIRST_WINDOW);
    while until > Cycle::ZERO {
        // From a snapshot on: there nothing has to be carried out to begin with.
        let from = machine.kept_before(Cycle(until.0.saturating_sub(length)));
        let listener = Listener { only, ..Listener::new(what, from, until, false) };
        let found = listen(machine, listener)?;
        if found.is_some() {
            return Ok(found);
        }
        (until, length) = (from, (length * 4).min(LONGEST_WINDOW));
    }
    Ok(None)
}

/// Who changes it first from a moment on.
///
/// # Errors
/// As [`last_before`].
pub fn next_after(machine: &Machine, what: What, at: Moment) -> std::io::Result<Option<Written>> {
    let mut machine = machine.fork()?;
    if let What::Local(..) | What::Register(..) = what {
        machine.seek(at);
        let end = machine.end();
        return Ok(close(&mut machine, what, end, true));
    }
    let end = machine.recording().until;
    let (mut from, mut length) = (at.cycle, FIRST_WINDOW);
    while from < end {
        let until = Cycle(from.0 + length).min(end);
        machine.seek_and_keep(Moment::at(from));
        let found = listen(&machine, Listener::new(what, from, until, true))?;
        if found.is_some() {
            return Ok(found);
        }
        (from, length) = (until, (length * 4).min(LONGEST_WINDOW));
    }
    Ok(None)
}

fn close_before(machine: &mut Machine, what: What, at: Moment) -> Option<Written> {
    let (mut until, mut length, mut is_sure) = (at, FIRST_CLOSE_WINDOW, false);
    while until > Moment::at(Cycle::ZERO) {
        let from = Moment::at(Cycle(until.cycle.0.saturating_sub(length)));
        machine.seek_and_keep(from);
        let found = close(machine, what, until, false);
        length = (length * 4).min(LONGEST_CLOSE_WINDOW);
        // Nobody wrote it in the window: somebody had begun before, as a load that waits, or it was no core.
        let is_open = found.as_ref().is_some_and(|found| found.pc.is_none());
        if is_open && !is_sure {
            is_sure = true;
            continue;
        }
        if found.is_some() {
            return found;
        }
        until = from;
    }
    None
}

/// The value of what belongs to a core.
fn value(machine: &Machine, what: What) -> u32 {
    match what {
        What::Register(core, register) => machine.core(core).register(register),
        What::Local(core, addr) => {
            let word = machine.core(core).read_local(addr - LOCAL_RAM_BASE, sim_core::Width::Word);
            word.unwrap_or(0)
        }
        _ => 0,
    }
}

/// The integer register that an instruction writes.
fn destination(word: u32) -> Option<u8> {
    use isa::word::{AUIPC, JAL, JALR, LOAD, LUI, OP, OP_IMM, opcode, rd};
    const AMO: u32 = 0x2F;
    const SYSTEM: u32 = 0x73;
    let writes =
        matches!(opcode(word), LOAD | OP_IMM | AUIPC | OP | LUI | JALR | JAL | AMO | SYSTEM);
    writes.then(|| rd(word) as u8).filter(|register| *register != 0)
}

/// The first or last instruction up to a moment that writes what belongs to a core, be it what is there
/// already.
fn close(machine: &mut Machine, what: What, until: Moment, first: bool) -> Option<Written> {
    let (What::Local(core, _) | What::Register(core, _)) = what else { return None };
    let (mut found, mut begun) = (None, None);
    let mut before = value(machine, what);
    while machine.moment() < until {
        let here = machine.moment();
        let attempt = machine.attempt().filter(|attempt| attempt.core == core);
        let mut writes = false;
        if let Some(attempt) = attempt {
            writes = match what {
                What::Register(_, register) => {
                    let word = machine.tile().next_word(core);
                    word.and_then(destination) == Some(register)
                }
                What::Local(_, word) => {
                    attempt.access.is_some_and(|access| access.writes && access.addr & !3 == word)
                }
                _ => false,
            };
            // A load that had to wait changes its register at the end of a later epoch.
            if writes {
                begun = Some((here.cycle, attempt));
            }
        }
        if !machine.advance() {
            break;
        }
        let after = value(machine, what);
        if after != before || writes {
            let (cycle, pc) = match begun {
                Some((cycle, attempt)) => (cycle, Some(attempt.pc)),
                None => (here.cycle, None),
            };
            let text = if after == before {
                format!("{after:#x} as before")
            } else {
                format!("{before:#x} becomes {after:#x}")
            };
            let (agent, word) = (AgentId::Core(core), None);
            found = Some(Written { cycle, agent, pc, word, what: text });
            if first {
                return found;
            }
        }
        before = after;
    }
    found
}

impl Written {
    /// The change with its place in the source.
    #[must_use]
    pub fn with_names<'a>(&'a self, names: &'a dyn Names) -> Named<'a> {
        Named { written: self, names }
    }
}

/// A change with names.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    written: &'a Written,
    names: &'a dyn Names,
}

impl fmt::Debug for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written.fmt(f)
    }
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Written { cycle, agent, pc, word, what } = self.written;
        write!(f, "cycle {cycle}: {agent} {what}")?;
        if let Some(word) = word {
            let name = Opcode::from_word(*word).map_or("a word that is none", |op| op.row().name);
            write!(f, ", by {name}")?;
        }
        let Some(pc) = *pc else { return Ok(()) };
        let core = match *agent {
            AgentId::Core(core) => Some(core),
            AgentId::Thread(thread) => Some(thread.core()),
            _ => CoreId::ALL.into_iter().find(|&core| self.names.is_kernel(core, pc)),
        };
        match core.and_then(|core| self.names.site(core, pc)) {
            Some(code) => write!(f, ", at {code} (pc {pc:#x})"),
            None => write!(f, ", pc {pc:#x}"),
        }
    }
}
