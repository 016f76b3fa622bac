//! Why an agent does not move. Everything that can block says so with one of these.

use std::fmt;

use crate::ids::{CoreId, ThreadId, UnitId};

/// What a blocked agent waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WaitReason {
    /// A core is held in soft reset.
    Reset,
    /// A core has halted at `ebreak` or `ecall`.
    Halted,
    /// A debugger has paused a core, at once or at a breakpoint or watchpoint.
    Paused,
    /// A core spins on memory that does not change.
    Spin,
    /// A core runs an endless loop that reads nothing: its program has ended.
    Ended,
    /// A core reads the empty mailbox FIFO `from -> to`.
    MailboxEmpty {
        /// The writer.
        from: CoreId,
        /// The reader.
        to: CoreId,
    },
    /// A core writes a mailbox FIFO that has no room: all that one core writes share it.
    MailboxFull {
        /// The writer.
        from: CoreId,
        /// The reader who has most words to read.
        to: CoreId,
    },
    /// A TRISC reads its empty PCBuf.
    PcBufEmpty {
        /// The reader's thread.
        thread: ThreadId,
    },
    /// BRISC writes a full PCBuf.
    PcBufFull {
        /// The reader's thread.
        thread: ThreadId,
    },
    /// BRISC reads PCBuf: it waits until the TRISC reads the empty FIFO and its thread is idle.
    PcBufDrain {
        /// The reader's thread.
        thread: ThreadId,
    },
    /// A TRISC waits for its Tensix thread to have nothing in flight (TTSync, `tensix_sync`).
    CoprocessorBusy {
        /// The thread.
        thread: ThreadId,
    },
    /// A TRISC waits for its MOP expander.
    MopBusy {
        /// The thread.
        thread: ThreadId,
    },
    /// A core pushes into a full instruction FIFO.
    InstructionFifoFull {
        /// The thread pushed to.
        thread: ThreadId,
    },
    /// A core writes a command into the full TDMA-RISC queue.
    TdmaQueueFull,
    /// A core reads the empty metadata FIFO of a packer through TDMA-RISC.
    PackerMetadata,
    /// A NoC command was started while the initiator was still busy.
    NocInitiatorBusy {
        /// Which NoC.
        noc: u8,
        /// Which initiator.
        initiator: u8,
    },
    /// A Tensix thread: the latched STALLWAIT still has unmet conditions.
    Stall {
        /// Condition bits C0..C12 that are selected and not met.
        conditions: u16,
    },
    /// A Tensix thread: the latched SEMWAIT still has an unmet semaphore.
    Semaphore {
        /// Selected semaphores that do not satisfy the condition.
        mask: u8,
        /// Condition bits: 1 waits while zero, 2 waits while at maximum.
        condition: u8,
    },
    /// A Tensix thread: the latched STREAMWAIT's stream is behind.
    Stream {
        /// Overlay stream number.
        stream: u8,
        /// Value waited for.
        target: u32,
        /// Whether the message count (else the phase) is compared.
        messages: bool,
    },
    /// A Tensix thread: a wait instruction arrived while another is latched.
    WaitGateOccupied,
    /// A Tensix thread: ATGETM of a mutex that another thread holds, or of one that does not exist.
    Mutex {
        /// Mutex index as encoded.
        index: u8,
    },
    /// A Tensix thread: the unit cannot accept its instruction.
    UnitBusy {
        /// The unit.
        unit: UnitId,
    },
    /// A Tensix thread: a Src bank is not owned by the client that needs it.
    SrcBank {
        /// 0 for SrcA, 1 for SrcB.
        operand: u8,
        /// Bank number.
        bank: u8,
        /// Whether the matrix unit waits (else the unpacker).
        for_matrix: bool,
    },
    /// A Tensix thread's frontend stage has nowhere to put its output.
    FrontendFull,
    /// A Tensix thread: an atomic of the scalar unit waits for a word of L1 to change.
    L1Word {
        /// Byte address of the word.
        addr: u32,
    },
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reset => f.write_str("held in soft reset"),
            Self::Halted => f.write_str("has stopped at ebreak or ecall"),
            Self::Paused => f.write_str("is paused by a debugger"),
            Self::Spin => f.write_str("spinning on memory that does not change"),
            Self::Ended => f.write_str("has ended in an empty endless loop"),
            Self::MailboxEmpty { from, to } => write!(f, "reads empty mailbox {from} -> {to}"),
            Self::MailboxFull { from, to } => write!(f, "writes full mailbox {from} -> {to}"),
            Self::PcBufEmpty { thread } => write!(f, "reads empty PCBuf of {thread}"),
            Self::PcBufFull { thread } => write!(f, "writes full PCBuf of {thread}"),
            Self::PcBufDrain { thread } => write!(f, "waits for {thread} to drain its PCBuf"),
            Self::CoprocessorBusy { thread } => {
                write!(f, "TTSync: Tensix {thread} has instructions in flight")
            }
            Self::MopBusy { thread } => write!(f, "TTSync: MOP expander of {thread} is busy"),
            Self::InstructionFifoFull { thread } => {
                write!(f, "pushes into the full instruction FIFO of {thread}")
            }
            Self::TdmaQueueFull => f.write_str("TDMA-RISC command queue is full"),
            Self::PackerMetadata => f.write_str("reads the empty metadata FIFO of the packer"),
            Self::NocInitiatorBusy { noc, initiator } => {
                write!(f, "NoC {noc} initiator {initiator} is busy")
            }
            Self::Stall { conditions } => {
                write!(f, "STALLWAIT, unmet conditions {conditions:#x}")
            }
            Self::Semaphore { mask, condition } => {
                let what = if condition & 1 != 0 { "zero" } else { "at maximum" };
                write!(f, "SEMWAIT while {what}, semaphores {mask:#04x}")
            }
            Self::Stream { stream, target, messages } => {
                let what = if *messages { "messages" } else { "phase" };
                write!(f, "STREAMWAIT stream {stream}, {what} < {target}")
            }
            Self::WaitGateOccupied => f.write_str("wait gate already holds a wait instruction"),
            Self::Mutex { index } => write!(f, "ATGETM of mutex {index}"),
            Self::UnitBusy { unit } => write!(f, "{unit} unit is busy"),
            Self::SrcBank { operand, bank, for_matrix } => {
                let name = if *operand == 0 { "SrcA" } else { "SrcB" };
                let client = if *for_matrix { "matrix unit" } else { "unpacker" };
                write!(f, "{client} waits for {name} bank {bank}")
            }
            Self::FrontendFull => f.write_str("next frontend stage is full"),
            Self::L1Word { addr } => write!(f, "atomic waits for the L1 word at {addr:#x}"),
        }
    }
}

impl WaitReason {
    /// Whether a core has halted, for whatever reason, rather than waits for something.
    #[must_use]
    pub const fn has_stopped(self) -> bool {
        matches!(self, Self::Halted | Self::Paused)
    }

    /// The enders: who can make this condition go away, besides a debugger.
    ///
    /// The wait-for closure is computed over these. `Spin` is not here: what a spinning core
    /// reads decides that, and only the core knows.
    #[must_use]
    pub fn enders(&self, waiter: crate::ids::AgentId) -> Vec<crate::ids::AgentId> {
        use crate::ids::AgentId::{Core, Host, Noc, Thread, Unit};
        match *self {
            Self::Reset | Self::Halted | Self::Paused => vec![Host, Core(CoreId::Brisc)],
            Self::Spin | Self::Ended => Vec::new(),
            Self::MailboxEmpty { from, .. } => vec![Core(from)],
            // A word less in any of the mailboxes that a core writes is room in all of them.
            Self::MailboxFull { from, .. } => {
                let readers =
                    CoreId::ALL.into_iter().filter(|core| *core != CoreId::Ncrisc && *core != from);
                readers.map(Core).collect()
            }
            Self::PcBufEmpty { .. } => vec![Core(CoreId::Brisc)],
            Self::PcBufFull { thread } => vec![Core(thread.core())],
            Self::PcBufDrain { thread } => vec![Core(thread.core()), Thread(thread)],
            Self::CoprocessorBusy { thread }
            | Self::MopBusy { thread }
            | Self::InstructionFifoFull { thread } => vec![Thread(thread)],
            Self::TdmaQueueFull => vec![Unit(UnitId::Mover)],
            Self::PackerMetadata => ThreadId::ALL.into_iter().map(Thread).collect(),
            Self::NocInitiatorBusy { noc, .. } => vec![Noc(noc)],
            Self::Semaphore { .. } | Self::Mutex { .. } => {
                let mut enders = Vec::new();
                for thread in ThreadId::ALL {
                    if Thread(thread) != waiter {
                        enders.push(Thread(thread));
                    }
                    enders.push(Core(thread.core()));
                }
                enders.push(Core(CoreId::Brisc));
                enders
            }
            Self::Stream { .. } => {
                let mut enders: Vec<_> = CoreId::ALL.into_iter().map(Core).collect();
                enders.extend([Noc(0), Noc(1), Host]);
                enders
            }
            Self::L1Word { .. } => {
                let mut enders: Vec<_> = CoreId::ALL.into_iter().map(Core).collect();
                enders.extend(ThreadId::ALL.into_iter().map(Thread).filter(|&t| t != waiter));
                enders.extend([Noc(0), Noc(1), Host]);
                enders
            }
            Self::Stall { .. } | Self::SrcBank { .. } | Self::UnitBusy { .. } => {
                let mut enders: Vec<_> = ThreadId::ALL
                    .into_iter()
                    .map(Thread)
                    .filter(|&agent| agent != waiter)
                    .collect();
                enders.extend(ThreadId::ALL.into_iter().map(|thread| Core(thread.core())));
                enders
            }
            Self::WaitGateOccupied | Self::FrontendFull => vec![waiter],
        }
    }
}
