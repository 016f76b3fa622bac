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

pub(crate) use tile::{mailbox_peer, view as view_of};

use crate::labels::put_duration;
pub(crate) use crate::labels::{agent_name, mutex_name, semaphore_name};
use crate::names::{CodeName, Names};
use crate::target::Target;
use crate::text::{Dec, Hex, put};
use crate::words;

pub(crate) use noc::request_name;
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
    let mut text = String::new();
    if !text_of(&mut text, stamp, event, names) {
        return None;
    }
    let pc = (stamp.pc != 0).then_some(stamp.pc);
    let code = pc.and_then(|pc| site_of(stamp.agent, pc, names));
    Some(Line { target, cycle: stamp.cycle.0, agent: stamp.agent, pc, code, text })
}

/// The core whose code a pc of this agent is in. A thread's instructions are normally pushed by
/// its own TRISC. For a NoC the core is not known.
#[must_use]
pub fn core_of(agent: AgentId) -> Option<CoreId> {
    match agent {
        AgentId::Core(core) => Some(core),
        AgentId::Thread(thread) => Some(thread.core()),
        AgentId::Unit(_) | AgentId::Noc(_) | AgentId::Host => None,
    }
}

/// Where in the source an agent's pc is. BRISC pushes into all threads, and a NoC has its commands from any core, of
/// which those come first whose kernel the pc is in.
pub(crate) fn site_of(agent: AgentId, pc: u32, names: &dyn Names) -> Option<CodeName> {
    let of = |core| names.site(core, pc);
    match agent {
        AgentId::Core(core) => of(core),
        AgentId::Thread(thread) => of(thread.core()).or_else(|| of(CoreId::Brisc)),
        AgentId::Noc(_) => {
            let owners = CoreId::ALL.into_iter().filter(|core| names.is_kernel(*core, pc));
            owners.chain(CoreId::ALL).find_map(of)
        }
        AgentId::Unit(_) | AgentId::Host => None,
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
        Event::Push { .. } | Event::MopOverwritten { .. } => Target::Push,
        Event::Issue { .. } | Event::UnitDone { .. } => Target::Issue,
        Event::WaitBegin { .. } | Event::WaitEnd { .. } => Target::Wait,
        Event::Semaphore { .. } => Target::Semaphore,
        Event::Mutex { .. } | Event::MutexIgnored { .. } => Target::Mutex,
        Event::SrcBanks { .. } => Target::Dvalid,
        Event::MailboxPush { .. } | Event::MailboxPop { .. } => Target::Fifo,
        Event::PcBufPush { .. } | Event::PcBufPop { .. } | Event::SyncDone { .. } => Target::PcBuf,
        Event::Config { .. } | Event::IcacheInvalidate { .. } => Target::Config,
        Event::Reset { .. } | Event::Halt { .. } => Target::Reset,
        Event::NocIssue { .. }
        | Event::NocSent { .. }
        | Event::NocDone { .. }
        | Event::NocServe { .. } => Target::Noc,
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

/// Puts what happened at the end of `out`; `false` for an event of an unknown kind.
pub(crate) fn text_of(out: &mut String, stamp: Stamp, event: &Event, names: &dyn Names) -> bool {
    match *event {
        Event::L1Store { addr, value, width } => l1_text(out, addr, value, width.bytes(), names),
        Event::HostWrite { addr, value, bytes } => host_text(out, addr, value, bytes, names),
        Event::L1Atomic { addr, before, after } => {
            let name = names.l1(addr).map_or_else(|| l1_name(addr), |place| place.name);
            put!(out; "atomic on ", &name, ": ", Hex(before), " -> ", Hex(after));
        }
        Event::DeviceStore { addr, value, .. } => {
            put!(out; &device_name(device_view(stamp.agent), addr), " = ", Hex(value));
        }
        Event::Push { word, .. } | Event::Issue { word, .. } | Event::UnitDone { word, .. } => {
            instruction_text(out, event, &isa::disasm::tensix(word));
        }
        Event::WaitBegin { reason } | Event::WaitEnd { reason, .. } => {
            wait_text(out, stamp, event, &reason_text(&reason));
        }
        Event::Semaphore { index, op, before, after, max } => {
            semaphore_text(out, index, op, (before, after), max);
        }
        Event::Mutex { index, acquired } => {
            let what = if acquired { "acquired" } else { "released" };
            put!(out; what, " mutex ", &*mutex_name(index));
        }
        Event::MutexIgnored { index } => {
            let why = " ignored: another thread or nobody holds it";
            put!(out; "release of mutex ", &*mutex_name(index), why);
        }
        Event::SrcBanks { operand, before, after } => banks_text(out, operand, before, after),
        Event::MopOverwritten { .. } => mop_text(out, event),
        Event::MailboxPush { from, to, value, depth }
        | Event::MailboxPop { from, to, value, depth } => {
            let what = if matches!(event, Event::MailboxPush { .. }) { " push " } else { " pop " };
            put!(out; "mailbox ", short(from), " -> ", short(to), what);
            put!(out; Hex(value), " (depth ", Dec(depth), ")");
        }
        Event::PcBufPush { thread, value, depth } | Event::PcBufPop { thread, value, depth } => {
            let what = if matches!(event, Event::PcBufPush { .. }) { " push " } else { " pop " };
            put!(out; "PCBuf ", name_of(thread), what, Hex(value), " (depth ", Dec(depth), ")");
        }
        Event::SyncDone { thread, reason } => {
            put!(out; "synchronised with ", name_of(thread), ": ", &reason_text(&reason));
        }
        Event::Config { state, index, before, after } => {
            config::text(out, state, index, before, after);
        }
        Event::IcacheInvalidate { mask } => out.push_str(&config::icache_text(mask)),
        Event::Reset { core, asserted, pc } => reset_text(out, core, asserted, pc, names),
        Event::Halt { core } => put!(out; core.name(), " halted"),
        Event::NocIssue { noc, initiator, control, addr, coordinate, bytes, .. } => {
            noc::Command { noc, initiator, control, addr, coordinate, bytes }.text(out);
        }
        Event::NocDone { noc, initiator, .. } => {
            put!(out; "NoC ", Dec(noc), " initiator ", Dec(initiator), " done");
        }
        Event::NocSent { noc, initiator, .. } => {
            put!(out; "NoC ", Dec(noc), " initiator ", Dec(initiator), " sent");
        }
        Event::NocServe { noc, source, control, addr, bytes, .. } => {
            let from = names.endpoint(source).unwrap_or_else(|| format!("endpoint {source}"));
            noc::served(out, noc, &from, control, addr, bytes);
        }
        Event::Stream { stream, register, before, after } => {
            noc::stream_text(out, stream, register, before, after);
        }
        _ => return false,
    }
    true
}

/// An instruction that was pushed or issued, or has finished; `disassembly` is its text.
fn instruction_text(out: &mut String, event: &Event, disassembly: &str) {
    match *event {
        Event::Push { thread, after_mop, .. } => {
            let behind = if after_mop { " behind the MOP expander: " } else { ": " };
            put!(out; "push to ", name_of(thread), behind, disassembly);
        }
        Event::Issue { thread, slot, .. } => {
            put!(out; name_of(thread), " issues ", disassembly);
            slot_text(out, slot);
        }
        Event::UnitDone { thread, .. } => put!(out; name_of(thread), " finished ", disassembly),
        _ => {}
    }
}

/// A word of a MOP expander that was changed too early.
fn mop_text(out: &mut String, event: &Event) {
    let Event::MopOverwritten { thread, index, before, after } = *event else { return };
    put!(out; "word ", Dec(index), " of the MOP configuration of ", name_of(thread), ": ");
    put!(out; Hex(before), " -> ", Hex(after), ", while a MOP goes by it");
}

/// A wait that begins or ends; `reason` is its reason in words.
fn wait_text(out: &mut String, stamp: Stamp, event: &Event, reason: &str) {
    match *event {
        Event::WaitEnd { .. } => put_duration(out, stamp, event),
        _ => out.push_str("begins to wait: "),
    }
    out.push_str(reason);
}

fn l1_text(out: &mut String, addr: u32, value: u32, bytes: u32, names: &dyn Names) {
    let parts = words::parts(addr, value, bytes, names);
    if parts.is_empty() {
        put!(out; &l1_name(addr), " = ", Hex(value));
    } else {
        out.push_str(&words::text(&parts, names));
    }
}

/// Address, with the area of the vendor firmware's layout it lies in.
fn l1_name(addr: u32) -> String {
    match memory_map::register_name(View::B, addr) {
        Some(name) => format!("L1 {addr:#x} ({name})"),
        None => format!("L1 {addr:#x}"),
    }
}

/// How the agent of a store to a device sees its address.
pub(crate) fn device_view(agent: AgentId) -> View {
    core_of(agent).map_or(View::Noc, view_of)
}

fn device_name(view: View, addr: u32) -> String {
    noc::counter_name(view, addr)
        .or_else(|| memory_map::register_name(view, addr))
        .unwrap_or_else(|| format!("{addr:#010x}"))
}

fn host_text(out: &mut String, addr: u32, value: u32, bytes: u32, names: &dyn Names) {
    out.push_str("host writes ");
    if addr >= sim_core::l1::L1_BYTES {
        put!(out; &device_name(View::Noc, addr), " = ", Hex(value));
    } else if bytes <= 4 {
        l1_text(out, addr, value, bytes, names);
    } else {
        let name = names.l1(addr).map_or_else(|| l1_name(addr), |place| place.name);
        put!(out; Dec(bytes), " bytes from ", &name, ", first word ", Hex(value));
    }
}

fn slot_text(out: &mut String, slot: Slot) {
    let replay = u32::from(slot.replay).wrapping_sub(1);
    match (slot.mop, slot.replay) {
        (0, 0) => {}
        (mop, 0) => put!(out; " (MOP step ", Dec(mop), ")"),
        (0, _) => put!(out; " (REPLAY slot ", Dec(replay), ")"),
        (mop, _) => put!(out; " (MOP step ", Dec(mop), ", REPLAY slot ", Dec(replay), ")"),
    }
}

/// `init`, `post` or `get`.
pub(crate) const fn semaphore_op(op: SemaphoreOp) -> &'static str {
    match op {
        SemaphoreOp::Init => "init",
        SemaphoreOp::Post => "post",
        SemaphoreOp::Get => "get",
    }
}

fn semaphore_text(
    out: &mut String,
    index: u8,
    op: SemaphoreOp,
    (before, after): (u8, u8),
    max: u8,
) {
    put!(out; semaphore_op(op), " ", &*semaphore_name(index));
    if before == after {
        put!(out; " stays ", Dec(after));
    } else {
        put!(out; " ", Dec(before), " -> ", Dec(after));
    }
    put!(out; ", max ", Dec(max));
}

/// `SrcA bank 0 given to the matrix unit, unpacker turns to bank 1`.
fn banks_text(out: &mut String, operand: u8, before: u8, after: u8) {
    put!(out; if operand == 0 { "SrcA" } else { "SrcB" });
    let mut separator = " ";
    for bank in 0..2_u8 {
        let what = match (before >> bank & 1, after >> bank & 1) {
            (0, 1) => " given to the matrix unit",
            (1, 0) => " given back to the unpacker",
            _ => continue,
        };
        put!(out; std::mem::replace(&mut separator, ", "), "bank ", Dec(bank), what);
    }
    for (bit, side) in [(2, "unpacker turns to bank "), (3, "matrix unit turns to bank ")] {
        if (before ^ after) >> bit & 1 == 1 {
            put!(out; std::mem::replace(&mut separator, ", "), side, Dec(after >> bit & 1));
        }
    }
}

/// `T0`.
pub(crate) const fn name_of(thread: ThreadId) -> &'static str {
    ["T0", "T1", "T2"][thread.index()]
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

fn reset_text(out: &mut String, core: CoreId, asserted: bool, pc: u32, names: &dyn Names) {
    if asserted {
        put!(out; core.name(), " enters reset");
        return;
    }
    put!(out; core.name(), " leaves reset, starts at ", Hex(pc));
    if let Some(code) = names.code(core, pc) {
        put!(out; " (", &code.function, ")");
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
