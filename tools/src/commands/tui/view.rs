//! What the live view shows, as plain data: a pure function of a tile, its names and the circular
//! buffers of the launch. It knows no terminal.

use isa::names as numbers;
use loader::plan::CircularBuffer;
use observe::{CodeName, Names};
use riscv::Status;
use sim_core::{AgentId, CoreId, Observer, ThreadId};
use tile::{AgentWait, Tile};

use crate::commands::waits::wait_words;

/// Stream registers that count pushed and popped pages of a circular buffer
/// `[hdr: hw/inc/internal/circular_buffer_interface.h]`.
const RECEIVED: u16 = 10;
const ACKED: u16 = 8;
/// Bits of those counters.
const COUNT_MASK: u32 = 0x1_FFFF;
/// Cores with mailboxes.
const MAILBOX_CORES: [CoreId; 4] = [CoreId::Brisc, CoreId::Trisc0, CoreId::Trisc1, CoreId::Trisc2];

/// One core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoreView {
    /// Which.
    pub core: CoreId,
    /// `running`, `parked`, `waiting`, `in reset`, `halted`, `faulted`.
    pub state: &'static str,
    /// Where it is.
    pub pc: u32,
    /// The function it is in, if known.
    pub function: String,
    /// `file:line`, if known.
    pub line: String,
    /// What it waits for; empty if it does not.
    pub waits: String,
}

/// The wait gate of a Tensix thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GateView {
    /// Whose.
    pub thread: ThreadId,
    /// What it waits for; `None` if its gate is open.
    pub waits: Option<String>,
    /// The instruction that waits, disassembled.
    pub instruction: String,
}

/// A circular buffer of the launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BufferView {
    /// Its id.
    pub index: u8,
    /// Pages pushed so far.
    pub pushed: u32,
    /// Pages popped so far.
    pub popped: u32,
    /// Pages it holds at most.
    pub pages: u32,
}

impl BufferView {
    /// Pages pushed and not popped yet; the counters go round.
    #[must_use]
    pub const fn held(&self) -> u32 {
        self.pushed.wrapping_sub(self.popped) & COUNT_MASK
    }
}

/// Everything on the screen that comes from the tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// Cycles since power-on.
    pub cycle: u64,
    /// The five cores.
    pub cores: Vec<CoreView>,
    /// The three gates.
    pub gates: Vec<GateView>,
    /// Semaphores by name, with their values.
    pub semaphores: Vec<(String, u32)>,
    /// Circular buffers of the launch.
    pub buffers: Vec<BufferView>,
    /// Mailboxes that are not empty: from, to, words.
    pub mailboxes: Vec<(CoreId, CoreId, Vec<u32>)>,
}

/// What there is to see of a tile right now.
#[must_use]
pub fn view<O: Observer>(tile: &Tile<O>, names: &dyn Names, buffers: &[CircularBuffer]) -> View {
    let waits = tile.waits();
    let pairs = MAILBOX_CORES.into_iter().flat_map(|to| MAILBOX_CORES.map(|from| (from, to)));
    let mailboxes = pairs.map(|(from, to)| (from, to, tile.mailbox_values(from, to)));
    let semaphore = |index: u32| {
        let name = numbers::bits(numbers::SEMAPHORES, 1 << index);
        (name, tile.coprocessor().read_semaphore(index))
    };
    View {
        cycle: tile.now().0,
        cores: CoreId::ALL.map(|core| core_view(tile, names, core, &waits)).into(),
        gates: ThreadId::ALL.map(|thread| gate_view(names, thread, &waits)).into(),
        semaphores: (0..8).map(semaphore).collect(),
        buffers: buffers.iter().map(|buffer| buffer_view(tile, buffer)).collect(),
        mailboxes: mailboxes.filter(|(_, _, words)| !words.is_empty()).collect(),
    }
}

fn core_view<O: Observer>(
    tile: &Tile<O>,
    names: &dyn Names,
    core: CoreId,
    waits: &[AgentWait],
) -> CoreView {
    let state = match tile.core(core).status() {
        Status::Reset => "in reset",
        Status::Running => "running",
        Status::Waiting | Status::PushBlocked(_) => "waiting",
        Status::Parked(_) => "parked",
        Status::Halted => "halted",
        Status::Faulted => "faulted",
    };
    let wait = waits.iter().find(|wait| wait.agent == AgentId::Core(core));
    let pc = wait.and_then(|wait| wait.pc).unwrap_or(tile.core(core).pc());
    let site = names.site(core, pc);
    CoreView {
        core,
        state,
        pc,
        function: site.as_ref().map_or_else(String::new, |site| site.function.clone()),
        line: site.map_or_else(String::new, |site| source_line(&site)),
        waits: wait.map_or_else(String::new, |wait| wait_words(names, wait)),
    }
}

/// `file:line`, as far as it is known.
pub(super) fn source_line(site: &CodeName) -> String {
    match (&site.file, site.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        _ => String::new(),
    }
}

fn gate_view(names: &dyn Names, thread: ThreadId, waits: &[AgentWait]) -> GateView {
    let wait = waits.iter().find(|wait| wait.agent == AgentId::Thread(thread));
    let instruction = wait.and_then(|wait| wait.word).map(isa::disasm::tensix);
    let held = wait.and_then(|wait| wait.held);
    let held = held.map(|held| format!(", holds back {}", isa::disasm::tensix(held.word)));
    GateView {
        thread,
        waits: wait.map(|wait| wait_words(names, wait)),
        instruction: instruction.unwrap_or_default() + &held.unwrap_or_default(),
    }
}

fn buffer_view<O: Observer>(tile: &Tile<O>, buffer: &CircularBuffer) -> BufferView {
    let count =
        |register| tile.stream_register(buffer.index, register).unwrap_or_default() & COUNT_MASK;
    BufferView {
        index: buffer.index,
        pushed: count(RECEIVED),
        popped: count(ACKED),
        pages: buffer.pages,
    }
}
