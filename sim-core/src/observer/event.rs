//! What is observed: events, when and who, and what stands for many of them.

use crate::batch::Width;
use crate::ids::{AgentId, CoreId, ThreadId};
use crate::time::Cycle;
use crate::wait::WaitReason;

/// When, who and from where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// When it took effect.
    pub cycle: Cycle,
    /// Who did it. For a Tensix instruction this is its thread.
    pub agent: AgentId,
    /// The RISC-V instruction that did it, or that pushed the Tensix instruction; 0 if none.
    pub pc: u32,
}

/// Where an issued Tensix instruction came from, besides the push itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Slot {
    /// Position in the expansion of a MOP, counted from 1; 0 if it did not come from a MOP.
    pub mop: u32,
    /// Replay buffer index plus 1; 0 if it did not come from the replay buffer.
    pub replay: u8,
}

/// What a semaphore operation was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the mnemonics")]
pub enum SemaphoreOp {
    Init,
    Post,
    Get,
}

/// What happened. Each variant says exactly when it fires.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A store of a core, of the coprocessor or of the NoC to an observed L1 page was applied.
    L1Store {
        /// Byte address.
        addr: u32,
        /// Value in the low bits.
        value: u32,
        /// Bytes.
        width: Width,
    },
    /// The host wrote L1 or a device; one event per call, with the first word.
    HostWrite {
        /// Byte address.
        addr: u32,
        /// First up to four bytes, little-endian.
        value: u32,
        /// Length of the write in bytes.
        bytes: u32,
    },
    /// A core's atomic on L1 was applied.
    L1Atomic {
        /// Byte address.
        addr: u32,
        /// Old value.
        before: u32,
        /// New value.
        after: u32,
    },
    /// A core's store to a device was applied. Instruction pushes are [`Event::Push`] instead.
    DeviceStore {
        /// Byte address as the core sees it.
        addr: u32,
        /// Value in the low bits.
        value: u32,
        /// Bytes.
        width: Width,
    },
    /// A Tensix instruction entered a thread's FIFO.
    Push {
        /// The thread.
        thread: ThreadId,
        /// The instruction.
        word: u32,
        /// Whether it entered behind the MOP expander (BRISC, debug bus).
        after_mop: bool,
    },
    /// A Tensix instruction left the wait gate for its unit.
    Issue {
        /// The thread.
        thread: ThreadId,
        /// The instruction.
        word: u32,
        /// How the expanders produced it.
        slot: Slot,
    },
    /// An agent began to wait: a core's blocking access was not answered in its own cycle, or a
    /// thread's front instruction could not issue. Polling loops do not fire this.
    WaitBegin {
        /// What for.
        reason: WaitReason,
    },
    /// The wait ended.
    WaitEnd {
        /// What for.
        reason: WaitReason,
        /// When it began.
        since: Cycle,
    },
    /// A semaphore operation executed, also when saturation made it do nothing.
    Semaphore {
        /// Semaphore number.
        index: u8,
        /// The operation.
        op: SemaphoreOp,
        /// Value before.
        before: u8,
        /// Value after.
        after: u8,
        /// Max after.
        max: u8,
    },
    /// A mutex was acquired (or re-acquired) or released by its holder; other releases are
    /// [`Event::MutexIgnored`].
    Mutex {
        /// Mutex index as encoded.
        index: u8,
        /// Acquired, else released.
        acquired: bool,
    },
    /// A word entered the mailbox FIFO `from -> to`.
    MailboxPush {
        /// Writer.
        from: CoreId,
        /// Reader.
        to: CoreId,
        /// The word.
        value: u32,
        /// Entries afterwards.
        depth: u8,
    },
    /// A word left the mailbox FIFO `from -> to`.
    MailboxPop {
        /// Writer.
        from: CoreId,
        /// Reader.
        to: CoreId,
        /// The word.
        value: u32,
        /// Entries afterwards.
        depth: u8,
    },
    /// BRISC pushed a word into a PCBuf.
    PcBufPush {
        /// The reader's thread.
        thread: ThreadId,
        /// The word.
        value: u32,
        /// Entries afterwards.
        depth: u8,
    },
    /// A TRISC popped a word from its PCBuf.
    PcBufPop {
        /// The reader's thread.
        thread: ThreadId,
        /// The word.
        value: u32,
        /// Entries afterwards.
        depth: u8,
    },
    /// A blocking read of PCBuf by BRISC or of TTSync by a TRISC was answered.
    SyncDone {
        /// The thread that was waited for.
        thread: ThreadId,
        /// What had been waited for.
        reason: WaitReason,
    },
    /// A backend configuration word changed through any path.
    Config {
        /// Configuration state 0 or 1, or 2 + thread for thread configuration.
        state: u8,
        /// Word index.
        index: u16,
        /// Value before.
        before: u32,
        /// Value after.
        after: u32,
    },
    /// A core entered or left soft reset.
    Reset {
        /// The core.
        core: CoreId,
        /// Entered, else left.
        asserted: bool,
        /// Where it starts when it left.
        pc: u32,
    },
    /// A write to `RISCV_IC_INVALIDATE` asked for instruction caches to be invalidated.
    IcacheInvalidate {
        /// Bit mask as written: 0 B, 1 T0, 2 T1, 3 T2, 4 NC.
        mask: u8,
    },
    /// An NIU accepted a command.
    NocIssue {
        /// NoC 0 or 1.
        noc: u8,
        /// Initiator 0 to 3.
        initiator: u8,
        /// NOC_CTRL as written.
        control: u32,
        /// Address in the destination tile (for a read: the source).
        addr: u64,
        /// Coordinates as written, `y << 6 | x`.
        coordinate: u32,
        /// Bytes moved.
        bytes: u32,
        /// Number of its first packet among those of the tile, from 0 (low 32 bits): by it the other events of
        /// the same transaction are known.
        ticket: u32,
        /// How many packets it was split into; they are numbered one after the other.
        packets: u32,
    },
    /// The last effect of a packet of a NoC command became visible to its initiator.
    NocDone {
        /// NoC 0 or 1.
        noc: u8,
        /// Initiator 0 to 3.
        initiator: u8,
        /// Number of the packet.
        ticket: u32,
    },
    /// An overlay stream register changed. The space-available counters that follow a new buffer
    /// size are left out: they say what the size says.
    Stream {
        /// Stream number.
        stream: u8,
        /// Register index.
        register: u16,
        /// Value before.
        before: u32,
        /// Value after.
        after: u32,
    },
    /// A core halted at `ebreak` or for a debugger.
    Halt {
        /// The core.
        core: CoreId,
    },
    /// The coprocessor finished something whose start was an `Issue` and that took longer than
    /// its cycle.
    UnitDone {
        /// The thread.
        thread: ThreadId,
        /// The instruction.
        word: u32,
    },
    /// The tile carried out a request of another NoC endpoint.
    NocServe {
        /// NoC 0 or 1.
        noc: u8,
        /// Number of the endpoint that sent it.
        source: u16,
        /// Number of the packet among those of the sender.
        ticket: u32,
        /// NOC_CTRL of the sender.
        control: u32,
        /// Address in this tile.
        addr: u64,
        /// Bytes moved.
        bytes: u32,
    },
    /// An instruction changed who owns a bank of SrcA or SrcB, or which bank a side uses
    /// next. `before` and `after`: bit 0 bank 0 belongs to the matrix unit, bit 1 bank 1 does, bit 2
    /// the unpacker's next bank, bit 3 the matrix unit's next bank.
    SrcBanks {
        /// 0 for SrcA, 1 for SrcB.
        operand: u8,
        /// Bits before.
        before: u8,
        /// Bits after.
        after: u8,
    },
    /// A release of a mutex by a thread that does not hold it, which does nothing.
    MutexIgnored {
        /// Mutex index as encoded.
        index: u8,
    },
    /// A packet of a NoC write has been sent: its data have been taken from where they lay.
    NocSent {
        /// NoC 0 or 1.
        noc: u8,
        /// Initiator 0 to 3.
        initiator: u8,
        /// Number of the packet.
        ticket: u32,
    },
    /// A core changed a word of a MOP expander's configuration while a `MOP` was waiting in front of it or was being
    /// expanded.
    MopOverwritten {
        /// Whose expander.
        thread: ThreadId,
        /// Word 0 to 8.
        index: u8,
        /// Value before.
        before: u32,
        /// Value after.
        after: u32,
    },
}

/// Rounds of a polling loop that were not executed one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParkedSpan {
    /// When the core was taken out of the schedule.
    pub from: Cycle,
    /// When it went on.
    pub until: Cycle,
    /// The load that it polls with, or the head of the loop if it loads nothing.
    pub pc: u32,
    /// The first word that a round reads; `None` for a loop that reads nothing.
    pub reads: Option<u32>,
    /// Where a round begins.
    pub head: u32,
    /// Cycles per round; those of the last one for a loop that waits by the wall clock.
    pub period_cycles: u64,
    /// The first loads of a round from L1 and devices, in program order, without the wall clock.
    pub looks: [Option<Look>; Look::KEPT],
}

/// A load of a polling round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// The instruction.
    pub pc: u32,
    /// Byte address as the core sees it.
    pub addr: u32,
    /// The value read, zero-extended.
    pub value: u32,
}

impl Look {
    /// Loads of a round that are told.
    pub const KEPT: usize = 4;
}
