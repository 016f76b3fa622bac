//! What agents hand each other: semaphores, mutexes, FIFOs, banks, credits, words.
//!
//! [`operation`] reads an event as an operation on one of them, [`awaited`] a wait as a wait for one
//! of them. Nothing is remembered here; that is [`crate::Ledger`]'s business.

use std::fmt;

use serde::{Serialize, Serializer};
use sim_core::observer::SemaphoreOp;
use sim_core::{CoreId, Event, ThreadId, WaitReason};

use crate::labels::{mutex_name, semaphore_name};

/// Counter of tiles acknowledged of a circular buffer: overlay stream register 8; 10 counts tiles
/// received; both modulo 2^17 `[spec: boot-and-sync 3]`.
pub(crate) const ACKED: u16 = 8;
pub(crate) const RECEIVED: u16 = 10;
/// Modulus of the counters.
pub(crate) const CREDIT_MASK: u32 = 0x1_FFFF;

/// Something that one agent gives and another takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Resource {
    /// A Tensix semaphore by number.
    Semaphore(u8),
    /// A Tensix mutex by index as encoded.
    Mutex(u8),
    /// A hardware mailbox FIFO.
    Mailbox {
        /// Writer.
        from: CoreId,
        /// Reader.
        to: CoreId,
    },
    /// The PCBuf of a thread.
    PcBuf(ThreadId),
    /// Both banks of SrcA (0) or SrcB (1).
    Src(u8),
    /// A circular buffer by its id: the credits in the stream registers of that number.
    Circular(u8),
    /// A word of L1 by byte address.
    Word(u32),
    /// Requests of one initiator of a NoC interface.
    Noc {
        /// NoC 0 or 1.
        noc: u8,
        /// Initiator 0 to 3.
        initiator: u8,
    },
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Semaphore(index) => match isa::names::semaphore(index.into()) {
                Some(_) => write!(f, "semaphore {} ({index})", semaphore_name(index)),
                None => write!(f, "semaphore {index}"),
            },
            Self::Mutex(index) => write!(f, "mutex {}", mutex_name(index)),
            Self::Mailbox { from, to } => write!(f, "mailbox {from} -> {to}"),
            Self::PcBuf(thread) => write!(f, "PCBuf of {thread}"),
            Self::Src(0) => f.write_str("SrcA"),
            Self::Src(_) => f.write_str("SrcB"),
            Self::Circular(index) => write!(f, "CB {index}"),
            Self::Word(addr) => match memory_map::mailbox::place(addr) {
                Some(place) => write!(f, "{} ({addr:#x})", place.name),
                None => write!(f, "L1 word {addr:#x}"),
            },
            Self::Noc { noc, initiator } => write!(f, "NoC {noc} initiator {initiator}"),
        }
    }
}

impl Serialize for Resource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Resource {
    /// What giving is called: `post`, `push`, `fill`...
    #[must_use]
    pub const fn give(self) -> &'static str {
        match self {
            Self::Semaphore(_) => "post",
            Self::Mutex(_) => "release",
            Self::Mailbox { .. } | Self::PcBuf(_) | Self::Circular(_) => "push",
            Self::Src(_) => "fill",
            Self::Word(_) => "write",
            Self::Noc { .. } => "issue",
        }
    }

    /// What taking is called.
    #[must_use]
    pub const fn take(self) -> &'static str {
        match self {
            Self::Semaphore(_) => "get",
            Self::Mutex(_) => "acquire",
            Self::Mailbox { .. } | Self::PcBuf(_) | Self::Circular(_) => "pop",
            Self::Src(_) => "clear",
            Self::Word(_) => "read",
            Self::Noc { .. } => "finish",
        }
    }
}

/// Which way something went.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// Set up.
    Init,
    /// Given: post, push, fill, release.
    Give,
    /// Taken: get, pop, clear, acquire.
    Take,
}

impl Way {
    /// As it is serialised.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Give => "give",
            Self::Take => "take",
        }
    }
}

/// An event read as an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Operation {
    /// On what.
    pub resource: Resource,
    /// Which way.
    pub way: Way,
    /// How many units: pages of a circular buffer, else 1; 0 if it did nothing (saturated, not owned).
    pub amount: u32,
    /// State before; see [`Operation::after`].
    pub before: u32,
    /// State after: semaphore value, FIFO depth, written value, ownership bits.
    pub after: u32,
}

impl Operation {
    /// What was done, as a verb: `push`, `pop`.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self.way {
            Way::Take => self.resource.take(),
            Way::Give => self.resource.give(),
            Way::Init => "set up",
        }
    }
}

/// The operation that an event is, if it is one. A write to L1 is one on its word; the caller says
/// with `words` which words it cares about.
#[must_use]
pub fn operation(event: &Event, words: &dyn Fn(u32, u32) -> Option<u32>) -> Option<Operation> {
    use Way::{Give, Init, Take};
    let op = |resource, way, amount, before: u32, after: u32| {
        Some(Operation { resource, way, amount, before, after })
    };
    match *event {
        Event::Semaphore { index, op: what, before, after, .. } => {
            let way = match what {
                SemaphoreOp::Init => Init,
                SemaphoreOp::Post => Give,
                SemaphoreOp::Get => Take,
            };
            let amount = u32::from(before != after || way == Init);
            op(Resource::Semaphore(index), way, amount, before.into(), after.into())
        }
        Event::Mutex { index, acquired: true } => op(Resource::Mutex(index), Take, 1, 1, 0),
        Event::Mutex { index, acquired: false } => op(Resource::Mutex(index), Give, 1, 0, 1),
        Event::MutexIgnored { index } => op(Resource::Mutex(index), Give, 0, 0, 0),
        Event::MailboxPush { from, to, depth, .. } => op(
            Resource::Mailbox { from, to },
            Give,
            1,
            u32::from(depth).saturating_sub(1),
            depth.into(),
        ),
        Event::MailboxPop { from, to, depth, .. } => {
            op(Resource::Mailbox { from, to }, Take, 1, u32::from(depth) + 1, depth.into())
        }
        Event::PcBufPush { thread, depth, .. } => {
            op(Resource::PcBuf(thread), Give, 1, u32::from(depth).saturating_sub(1), depth.into())
        }
        Event::PcBufPop { thread, depth, .. } => {
            op(Resource::PcBuf(thread), Take, 1, u32::from(depth) + 1, depth.into())
        }
        Event::SrcBanks { operand, before, after } => {
            let (given, taken) = (after & !before & 3, before & !after & 3);
            let (way, amount) = match (given, taken) {
                (0, 0) => (if (before ^ after) & 8 != 0 { Take } else { Give }, 0),
                (0, _) => (Take, 1),
                _ => (Give, 1),
            };
            op(Resource::Src(operand), way, amount, before.into(), after.into())
        }
        Event::Stream { stream, register: register @ (ACKED | RECEIVED), before, after } => {
            let way = match register {
                _ if after == 0 => Init,
                ACKED => Take,
                _ => Give,
            };
            let amount = after.wrapping_sub(before) & CREDIT_MASK;
            op(Resource::Circular(stream), way, amount, before, after)
        }
        Event::NocIssue { noc, initiator, bytes, .. } => {
            op(Resource::Noc { noc, initiator }, Give, 1, 0, bytes)
        }
        Event::NocDone { noc, initiator, .. } => {
            op(Resource::Noc { noc, initiator }, Take, 1, 0, 0)
        }
        Event::L1Store { addr, value, width } => {
            op(Resource::Word(words(addr, width.bytes())?), Give, 1, value, value)
        }
        Event::L1Atomic { addr, before, after } => {
            op(Resource::Word(words(addr, 4)?), Give, 1, before, after)
        }
        Event::HostWrite { addr, value, bytes } if bytes <= 4 => {
            op(Resource::Word(words(addr, bytes)?), Init, 1, value, value)
        }
        _ => None,
    }
}

/// What a wait is for, and which way the operation goes that would end it.
#[must_use]
pub fn awaited(reason: &WaitReason) -> Vec<(Resource, Way)> {
    use Way::{Give, Take};
    match *reason {
        WaitReason::MailboxEmpty { from, to } => vec![(Resource::Mailbox { from, to }, Give)],
        WaitReason::MailboxFull { from, to } => vec![(Resource::Mailbox { from, to }, Take)],
        WaitReason::PcBufEmpty { thread } => vec![(Resource::PcBuf(thread), Give)],
        WaitReason::PcBufFull { thread } | WaitReason::PcBufDrain { thread } => {
            vec![(Resource::PcBuf(thread), Take)]
        }
        WaitReason::Semaphore { mask, condition } => {
            let way = if condition & 1 != 0 { Give } else { Take };
            let named = (0..8).filter(|bit| mask >> bit & 1 == 1);
            named.map(|index| (Resource::Semaphore(index), way)).collect()
        }
        WaitReason::Mutex { index } => vec![(Resource::Mutex(index), Give)],
        WaitReason::SrcBank { operand, for_matrix, .. } => {
            vec![(Resource::Src(operand), if for_matrix { Give } else { Take })]
        }
        WaitReason::Stall { conditions } => {
            // C5 and C6: a bank of the unpacker; C7 and C8: one of the matrix unit.
            let banks = [(5, 0, Take), (6, 1, Take), (7, 0, Give), (8, 1, Give)];
            let unmet = banks.into_iter().filter(|(bit, _, _)| conditions >> bit & 1 == 1);
            unmet.map(|(_, operand, way)| (Resource::Src(operand), way)).collect()
        }
        WaitReason::Stream { stream, .. } => vec![(Resource::Circular(stream), Give)],
        WaitReason::NocInitiatorBusy { noc, initiator } => {
            vec![(Resource::Noc { noc, initiator }, Take)]
        }
        WaitReason::L1Word { addr } => vec![(Resource::Word(addr), Give)],
        _ => Vec::new(),
    }
}
