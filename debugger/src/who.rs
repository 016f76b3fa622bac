//! Who wrote this last, or writes it next.
//!
//! What events tell of (L1, semaphores, circular buffers, configuration, mailboxes) is searched in
//! windows that are carried out again at full speed with somebody who listens to just that. What only
//! a core's own instructions change (registers, local RAM) is searched instruction by instruction.

use std::fmt;
use std::str::FromStr;

use memory_map::layout::{L1_BYTES, LOCAL_RAM_BASE};
use observe::Names;
use sim_core::{AgentId, CoreId, Cycle, Event, Observer, Stamp};
use tile::Tile;

use crate::machine::Machine;
use crate::moment::Moment;
use crate::recording::Recording;

/// Cycles of the first window and of the longest.
const FIRST_WINDOW: u64 = 1 << 12;
const LONGEST_WINDOW: u64 = 1 << 20;
/// The same for what is searched instruction by instruction.
const FIRST_CLOSE_WINDOW: u64 = 256;
const LONGEST_CLOSE_WINDOW: u64 = 1 << 16;

/// What can be asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A word of L1, by the address of a byte in it.
    L1(u32),
    /// A semaphore of the coprocessor.
    Semaphore(u8),
    /// The counters of a circular buffer: the NoC stream of its number.
    Circular(u8),
    /// A word of the coprocessor's configuration.
    Config(u16),
    /// A word of a core's local RAM.
    Local(CoreId, u32),
    /// An integer register of a core.
    Register(CoreId, u8),
}

/// A change of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// When.
    pub cycle: Cycle,
    /// By whom.
    pub agent: AgentId,
    /// The instruction that did it or that pushed the Tensix instruction that did, if there is one.
    pub pc: Option<u32>,
    /// What, in words.
    pub what: String,
}

/// What was meant cannot be told.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} is not an address of L1 (0x1a000), semaphoreN, cbN, configN, or of a core: CORE:0xffb00010 \
     (local RAM) or CORE:a0 (a register)"
)]
pub struct NotUnderstood(String);

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(&digits.replace('_', ""), 16).ok(),
        None => text.parse().ok(),
    }
}

impl FromStr for What {
    type Err = NotUnderstood;

    fn from_str(text: &str) -> Result<Self, NotUnderstood> {
        let fail = || NotUnderstood(text.to_owned());
        let lower = text.to_lowercase();
        if let Some((name, what)) = lower.split_once(':') {
            let core = CoreId::ALL.into_iter().find(|id| id.name().eq_ignore_ascii_case(name));
            let core = core.ok_or_else(fail)?;
            let register = (0..32_u8).find(|&index| isa::disasm::xreg(u32::from(index)) == what);
            if let Some(register) = register {
                return Ok(Self::Register(core, register));
            }
            let local = |addr: &u32| addr.wrapping_sub(LOCAL_RAM_BASE) < core.local_ram_bytes();
            return match number(what) {
                Some(addr) if addr < L1_BYTES => Ok(Self::L1(addr & !3)),
                Some(addr) if local(&addr) => Ok(Self::Local(core, addr & !3)),
                _ => Err(fail()),
            };
        }
        let indexed = |prefix: &str| lower.strip_prefix(prefix).and_then(number);
        let small = |value: u32| u8::try_from(value).ok();
        if let Some(index) = indexed("semaphore").and_then(small) {
            return Ok(Self::Semaphore(index));
        }
        if let Some(index) = indexed("cb").and_then(small) {
            return Ok(Self::Circular(index));
        }
        if let Some(index) = indexed("config").and_then(|value| u16::try_from(value).ok()) {
            return Ok(Self::Config(index));
        }
        match number(&lower) {
            Some(addr) if addr < L1_BYTES => Ok(Self::L1(addr & !3)),
            _ => Err(fail()),
        }
    }
}

impl What {
    /// What an event does to it, in words.
    fn told(self, event: &Event) -> Option<String> {
        let covers = |word: u32, addr: u32, bytes: u32| {
            addr.wrapping_sub(word) < 4 || word.wrapping_sub(addr) < bytes
        };
        match (self, *event) {
            (Self::L1(word), Event::L1Store { addr, value, width })
                if covers(word, addr, width.bytes()) =>
            {
                Some(format!("stores {value:#x} ({} bytes) to {addr:#x}", width.bytes()))
            }
            (Self::L1(word), Event::HostWrite { addr, bytes, .. }) if covers(word, addr, bytes) => {
                Some(format!("writes {bytes} bytes from {addr:#x} on"))
            }
            (Self::L1(word), Event::L1Atomic { addr, before, after }) if addr == word => {
                Some(format!("atomic on {addr:#x}: {before:#x} becomes {after:#x}"))
            }
            (Self::Semaphore(wanted), Event::Semaphore { index, op, before, after, .. })
                if index == wanted =>
            {
                Some(format!("{op:?} on semaphore {index}: {before} becomes {after}"))
            }
            (Self::Circular(wanted), Event::Stream { stream, register, before, after })
                if stream == wanted =>
            {
                Some(format!("stream {stream} register {register}: {before:#x} becomes {after:#x}"))
            }
            (Self::Config(wanted), Event::Config { state, index, before, after })
                if index == wanted =>
            {
                Some(format!("config {index} of state {state}: {before:#x} becomes {after:#x}"))
            }
            _ => None,
        }
    }
}

/// Keeps the first or the last change in a range of cycles.
struct Listener {
    what: What,
    from: Cycle,
    until: Cycle,
    keeps_first: bool,
    found: Option<Written>,
}

impl Observer for Listener {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        let is_wanted = (self.from..self.until).contains(&stamp.cycle)
            && !(self.keeps_first && self.found.is_some());
        if is_wanted && let Some(what) = self.what.told(event) {
            let pc = (stamp.pc != 0).then_some(stamp.pc);
            self.found = Some(Written { cycle: stamp.cycle, agent: stamp.agent, pc, what });
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        match self.what {
            What::L1(word) => vec![(word, word + 4)],
            _ => Vec::new(),
        }
    }
}

/// Carries out a window of the session with somebody who listens.
fn listen(machine: &Machine, listener: Listener) -> std::io::Result<Option<Written>> {
    let recording: &Recording = machine.recording();
    let (from, until) = (listener.from, listener.until);
    let (snapshot, mut given) = machine.nearest(from);
    let mut tile = Tile::new(recording.config, listener)?;
    tile.restore(snapshot);
    recording.run(&mut tile, &mut given, until);
    Ok(tile.observer_mut().found.take())
}

/// Who changed it last before a moment.
///
/// # Errors
/// The host gives no memory for another tile.
pub fn last_before(machine: &Machine, what: What, at: Moment) -> std::io::Result<Option<Written>> {
    let mut machine = machine.fork()?;
    if let What::Local(..) | What::Register(..) = what {
        return Ok(close_before(&mut machine, what, at));
    }
    let (mut until, mut length) = (at.cycle, FIRST_WINDOW);
    while until > Cycle::ZERO {
        let from = Cycle(until.0.saturating_sub(length));
        // Snapshots are left behind where the search has been.
        machine.seek_and_keep(Moment::at(from));
        let found =
            listen(&machine, Listener { what, from, until, keeps_first: false, found: None })?;
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
        let found =
            listen(&machine, Listener { what, from, until, keeps_first: true, found: None })?;
        if found.is_some() {
            return Ok(found);
        }
        (from, length) = (until, (length * 4).min(LONGEST_WINDOW));
    }
    Ok(None)
}

fn close_before(machine: &mut Machine, what: What, at: Moment) -> Option<Written> {
    let (mut until, mut length) = (at, FIRST_CLOSE_WINDOW);
    while until > Moment::at(Cycle::ZERO) {
        let from = Moment::at(Cycle(until.cycle.0.saturating_sub(length)));
        machine.seek_and_keep(from);
        if let Some(found) = close(machine, what, until, false) {
            return Some(found);
        }
        (until, length) = (from, (length * 4).min(LONGEST_CLOSE_WINDOW));
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

/// The first or last instruction up to a moment that changes what belongs to a core, or stores what is
/// there already.
fn close(machine: &mut Machine, what: What, until: Moment, first: bool) -> Option<Written> {
    let (What::Local(core, _) | What::Register(core, _)) = what else { return None };
    let (mut found, mut begun) = (None, None);
    let mut before = value(machine, what);
    while machine.moment() < until {
        let here = machine.moment();
        let attempt = machine.attempt().filter(|attempt| attempt.core == core);
        if let Some(attempt) = attempt {
            begun = Some((here.cycle, attempt));
        }
        if !machine.advance() {
            break;
        }
        let after = value(machine, what);
        let stores = attempt.and_then(|attempt| attempt.access).is_some_and(|access| {
            matches!(what, What::Local(_, word) if access.writes && access.addr & !3 == word)
        });
        if after != before || stores {
            // A load that had to wait changes its register at the end of a later epoch.
            let (cycle, pc) = match begun {
                Some((cycle, attempt)) => (cycle, Some(attempt.pc)),
                None => (here.cycle, None),
            };
            let text = format!("{before:#x} becomes {after:#x}");
            found = Some(Written { cycle, agent: AgentId::Core(core), pc, what: text });
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
        let Written { cycle, agent, pc, what } = self.written;
        write!(f, "cycle {cycle}: {agent} {what}")?;
        let Some(pc) = *pc else { return Ok(()) };
        let core = match *agent {
            AgentId::Core(core) => Some(core),
            AgentId::Thread(thread) => Some(thread.core()),
            _ => CoreId::ALL.into_iter().find(|&core| self.names.is_kernel(core, pc)),
        };
        match core.and_then(|core| self.names.code(core, pc)) {
            Some(code) => write!(f, ", at {code} (pc {pc:#x})"),
            None => write!(f, ", pc {pc:#x}"),
        }
    }
}
