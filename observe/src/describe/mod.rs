//! An event in words: one line with the field's own names.
//!
//! [`describe`] is pure: the same event, stamp and names give the same line. It knows no
//! history; what a line can say is in its event.

mod config;
mod noc;
mod wait;

use memory_map::View;
use serde::{Serialize, Serializer};
use sim_core::observer::{SemaphoreOp, Slot};
use sim_core::{AgentId, CoreId, Event, Stamp, ThreadId};

use crate::names::{CodeName, Names};
use crate::target::Target;
use crate::words;

pub(crate) use noc::Request;
pub(crate) use wait::reason_text;

/// One line about one event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Line {
    /// What it is about.
    pub target: Target,
    /// When, in AI-clock cycles.
    pub cycle: u64,
    /// Who.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// The instruction that did it or pushed it.
    pub pc: Option<u32>,
    /// Where that is in the source, if it has a name.
    pub code: Option<CodeName>,
    /// What happened.
    pub text: String,
}

pub(crate) fn as_text<T: std::fmt::Display, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Columns: cycle, agent, pc, target, text, source.
impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>9} {:<9} ", self.cycle, self.agent)?;
        match self.pc {
            Some(pc) => write!(f, "{pc:#07x} ")?,
            None => write!(f, "{:7} ", "-")?,
        }
        write!(f, "{:<9} {}", self.target.short_name(), self.text)?;
        match &self.code {
            Some(code) => write!(f, "  [{code}]"),
            None => Ok(()),
        }
    }
}

/// What happened, in words. `None` for an event of a kind that this version does not know.
#[must_use]
pub fn describe(stamp: Stamp, event: &Event, names: &dyn Names) -> Option<Line> {
    let target = target_of(event, names)?;
    let text = text_of(stamp, event, names)?;
    let pc = (stamp.pc != 0).then_some(stamp.pc);
    let code = pc.zip(core_of(stamp.agent)).and_then(|(pc, core)| names.code(core, pc));
    Some(Line { target, cycle: stamp.cycle.0, agent: stamp.agent, pc, code, text })
}

/// The core whose code a pc of this agent is in. A thread's instructions are normally pushed by
/// its own TRISC. For a NoC the core is not known.
pub(crate) fn core_of(agent: AgentId) -> Option<CoreId> {
    match agent {
        AgentId::Core(core) => Some(core),
        AgentId::Thread(thread) => Some(thread.core()),
        AgentId::Unit(_) | AgentId::Noc(_) | AgentId::Host => None,
    }
}

/// The target an event is logged under. Only writes to L1 need to look at names.
pub(crate) fn target_of(event: &Event, names: &dyn Names) -> Option<Target> {
    Some(match *event {
        Event::L1Store { addr, value, width } => l1_target(addr, value, width.bytes(), names),
        Event::HostWrite { addr, value, bytes } => {
            if addr < sim_core::l1::L1_BYTES {
                l1_target(addr, value, bytes, names)
            } else {
                Target::Device
            }
        }
        Event::L1Atomic { addr, after, .. } => l1_target(addr, after, 4, names),
        Event::DeviceStore { .. } => Target::Device,
        Event::Push { .. } => Target::Push,
        Event::Issue { .. } | Event::UnitDone { .. } => Target::Issue,
        Event::WaitBegin { .. } | Event::WaitEnd { .. } => Target::Wait,
        Event::Semaphore { .. } => Target::Semaphore,
        Event::Mutex { .. } | Event::MutexIgnored { .. } => Target::Mutex,
        Event::SrcBanks { .. } => Target::Dvalid,
        Event::MailboxPush { .. } | Event::MailboxPop { .. } => Target::Fifo,
        Event::PcBufPush { .. } | Event::PcBufPop { .. } | Event::SyncDone { .. } => Target::PcBuf,
        Event::Config { .. } | Event::IcacheInvalidate { .. } => Target::Config,
        Event::Reset { .. } | Event::Halt { .. } => Target::Reset,
        Event::NocIssue { .. } | Event::NocDone { .. } | Event::NocServe { .. } => Target::Noc,
        Event::Stream { .. } => Target::Stream,
        _ => return None,
    })
}

fn l1_target(addr: u32, value: u32, bytes: u32, names: &dyn Names) -> Target {
    let parts = words::parts(addr, value, bytes, names);
    if parts.is_empty() {
        Target::L1
    } else if parts.iter().any(words::Part::is_go) {
        Target::Go
    } else {
        Target::Mailbox
    }
}

fn text_of(stamp: Stamp, event: &Event, names: &dyn Names) -> Option<String> {
    Some(match *event {
        Event::L1Store { addr, value, width } => l1_text(addr, value, width.bytes(), names),
        Event::HostWrite { addr, value, bytes } => host_text(addr, value, bytes, names),
        Event::L1Atomic { addr, before, after } => {
            let name = names.l1(addr).map_or_else(|| l1_name(addr), |place| place.name);
            format!("atomic on {name}: {before:#x} -> {after:#x}")
        }
        Event::DeviceStore { addr, value, .. } => {
            let view = core_of(stamp.agent).map_or(View::Noc, view_of);
            format!("{} = {value:#x}", device_name(view, addr))
        }
        Event::Push { thread, word, after_mop } => {
            let behind = if after_mop { " behind the MOP expander" } else { "" };
            format!("push to {thread}{behind}: {}", isa::disasm::tensix(word))
        }
        Event::Issue { thread, word, slot } => {
            format!("{thread} issues {}{}", isa::disasm::tensix(word), slot_text(slot))
        }
        Event::UnitDone { thread, word } => {
            format!("{thread} finished {}", isa::disasm::tensix(word))
        }
        Event::WaitBegin { reason } => format!("begins to wait: {}", reason_text(&reason)),
        Event::WaitEnd { reason, since } => {
            format!("waited {} cycles: {}", stamp.cycle - since, reason_text(&reason))
        }
        Event::Semaphore { index, op, before, after, max } => {
            semaphore_text(index, op, before, after, max)
        }
        Event::Mutex { index, acquired } => {
            let what = if acquired { "acquired" } else { "released" };
            format!("{what} mutex {}", mutex_name(index))
        }
        Event::MutexIgnored { index } => {
            format!(
                "release of mutex {} ignored: another thread or nobody holds it",
                mutex_name(index)
            )
        }
        Event::SrcBanks { operand, before, after } => banks_text(operand, before, after),
        Event::MailboxPush { from, to, value, depth } => fifo_text(from, to, "push", value, depth),
        Event::MailboxPop { from, to, value, depth } => fifo_text(from, to, "pop", value, depth),
        Event::PcBufPush { thread, value, depth } => {
            format!("PCBuf {thread} push {value:#x} (depth {depth})")
        }
        Event::PcBufPop { thread, value, depth } => {
            format!("PCBuf {thread} pop {value:#x} (depth {depth})")
        }
        Event::SyncDone { thread, reason } => {
            format!("synchronised with {thread}: {}", reason_text(&reason))
        }
        Event::Config { state, index, before, after } => config::text(state, index, before, after),
        Event::IcacheInvalidate { mask } => config::icache_text(mask),
        Event::Reset { core, asserted, pc } => reset_text(core, asserted, pc, names),
        Event::Halt { core } => format!("{core} halted"),
        Event::NocIssue { noc, initiator, control, addr, coordinate, bytes } => {
            noc::Command { noc, initiator, control, addr, coordinate, bytes }.text()
        }
        Event::NocDone { noc, initiator } => format!("NoC {noc} initiator {initiator} done"),
        Event::NocServe { noc, source, control, addr, bytes } => {
            noc::served(noc, source, control, addr, bytes)
        }
        Event::Stream { stream, register, before, after } => {
            noc::stream_text(stream, register, before, after)
        }
        _ => return None,
    })
}

fn l1_text(addr: u32, value: u32, bytes: u32, names: &dyn Names) -> String {
    let parts = words::parts(addr, value, bytes, names);
    if parts.is_empty() {
        return format!("{} = {value:#x}", l1_name(addr));
    }
    words::text(&parts, names)
}

/// Address, with the area of the vendor firmware's layout it lies in.
fn l1_name(addr: u32) -> String {
    match memory_map::register_name(View::B, addr) {
        Some(name) => format!("L1 {addr:#x} ({name})"),
        None => format!("L1 {addr:#x}"),
    }
}

fn device_name(view: View, addr: u32) -> String {
    memory_map::register_name(view, addr).unwrap_or_else(|| format!("{addr:#010x}"))
}

fn host_text(addr: u32, value: u32, bytes: u32, names: &dyn Names) -> String {
    if addr >= sim_core::l1::L1_BYTES {
        return format!("host writes {} = {value:#x}", device_name(View::Noc, addr));
    }
    if bytes <= 4 {
        return format!("host writes {}", l1_text(addr, value, bytes, names));
    }
    let name = names.l1(addr).map_or_else(|| l1_name(addr), |place| place.name);
    format!("host writes {bytes} bytes from {name}, first word {value:#x}")
}

fn slot_text(slot: Slot) -> String {
    match (slot.mop, slot.replay) {
        (0, 0) => String::new(),
        (mop, 0) => format!(" (MOP step {mop})"),
        (0, replay) => format!(" (REPLAY slot {})", replay - 1),
        (mop, replay) => format!(" (MOP step {mop}, REPLAY slot {})", replay - 1),
    }
}

fn semaphore_text(index: u8, op: SemaphoreOp, before: u8, after: u8, max: u8) -> String {
    let op = match op {
        SemaphoreOp::Init => "init",
        SemaphoreOp::Post => "post",
        SemaphoreOp::Get => "get",
    };
    let name = semaphore_name(index);
    if before == after {
        format!("{op} {name} stays {after}, max {max}")
    } else {
        format!("{op} {name} {before} -> {after}, max {max}")
    }
}

/// `SrcA bank 0 given to the matrix unit; unpacker -> bank 1`.
pub(crate) fn banks_text(operand: u8, before: u8, after: u8) -> String {
    let name = if operand == 0 { "SrcA" } else { "SrcB" };
    let mut parts = Vec::new();
    for bank in 0..2 {
        match (before >> bank & 1, after >> bank & 1) {
            (0, 1) => parts.push(format!("bank {bank} given to the matrix unit")),
            (1, 0) => parts.push(format!("bank {bank} given back to the unpacker")),
            _ => {}
        }
    }
    for (bit, side) in [(2, "unpacker"), (3, "matrix unit")] {
        if (before ^ after) >> bit & 1 == 1 {
            parts.push(format!("{side} turns to bank {}", after >> bit & 1));
        }
    }
    format!("{name} {}", parts.join(", "))
}

pub(crate) fn semaphore_name(index: u8) -> String {
    isa::names::semaphore(index.into()).map_or_else(|| format!("semaphore {index}"), str::to_owned)
}

pub(crate) fn mutex_name(index: u8) -> String {
    isa::names::mutex(index.into()).map_or_else(|| format!("{index}"), str::to_owned)
}

fn fifo_text(from: CoreId, to: CoreId, what: &str, value: u32, depth: u8) -> String {
    format!("mailbox {} -> {} {what} {value:#x} (depth {depth})", short(from), short(to))
}

/// The documentation's short name of a core.
const fn short(core: CoreId) -> &'static str {
    match core {
        CoreId::Brisc => "B",
        CoreId::Trisc0 => "T0",
        CoreId::Trisc1 => "T1",
        CoreId::Trisc2 => "T2",
        CoreId::Ncrisc => "NC",
    }
}

/// What a parked core polls, by name where it has one; `None` if it loops without looking.
pub(crate) fn polled(names: &dyn Names, core: CoreId, reads: Option<u32>) -> Option<String> {
    let addr = reads?;
    if addr < sim_core::l1::L1_BYTES {
        let place = names.l1(addr);
        return Some(
            place.map_or_else(|| format!("polls L1 {addr:#x}"), |at| format!("polls {}", at.name)),
        );
    }
    let name = memory_map::register_name(view_of(core), addr);
    Some(format!("polls {}", name.unwrap_or_else(|| format!("{addr:#010x}"))))
}

pub(crate) const fn view_of(core: CoreId) -> View {
    match core {
        CoreId::Brisc => View::B,
        CoreId::Trisc0 => View::T0,
        CoreId::Trisc1 => View::T1,
        CoreId::Trisc2 => View::T2,
        CoreId::Ncrisc => View::Nc,
    }
}

fn reset_text(core: CoreId, asserted: bool, pc: u32, names: &dyn Names) -> String {
    if asserted {
        return format!("{core} enters reset");
    }
    match names.code(core, pc) {
        Some(code) => format!("{core} leaves reset, starts at {pc:#x} ({})", code.function),
        None => format!("{core} leaves reset, starts at {pc:#x}"),
    }
}

/// Thread whose configuration a state number above 1 is.
const fn config_thread(state: u8) -> Option<ThreadId> {
    match state {
        2 => Some(ThreadId::T0),
        3 => Some(ThreadId::T1),
        4 => Some(ThreadId::T2),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
