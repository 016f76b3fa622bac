//! Events as bytes: the encoding that event hashes are made of, and the list of event kinds.
//!
//! The encoding is part of the event schema, version [`SCHEMA_VERSION`]: a kind number, then the
//! fields in the order of their declaration, little-endian, each in its own width, flags and
//! enumerations as one byte. Every kind has one length, except that a [`WaitReason`] has one
//! length per reason; a reason is led by its own number. So no two events share an encoding.
//!
//! Not here: any container format. Nothing decodes these bytes.

use super::event::{Event, SemaphoreOp, Stamp};
use crate::hash::StateHasher;
use crate::wait::WaitReason;

/// Version of the event schema: kinds, fields, firing rules and this encoding.
pub const SCHEMA_VERSION: u32 = 4;

/// No encoding is longer than this.
const MAX_BYTES: usize = 40;

/// Declares the kinds with their numbers, and the map from events.
macro_rules! kinds {
    ($($name:ident = $number:literal),* $(,)?) => {
        /// The variants of [`Event`] without their fields. Numbers are stable.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "each is documented at the variant of Event of that name")]
        pub enum EventKind {
            $($name = $number),*
        }

        impl EventKind {
            /// All kinds, by number.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Name of the variant.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name)),*
                }
            }
        }

        impl Event {
            /// Which variant this is.
            #[must_use]
            pub const fn kind(&self) -> EventKind {
                match self {
                    $(Self::$name { .. } => EventKind::$name),*
                }
            }
        }
    };
}

kinds! {
    L1Store = 1,
    HostWrite = 2,
    L1Atomic = 3,
    DeviceStore = 4,
    Push = 5,
    Issue = 6,
    WaitBegin = 7,
    WaitEnd = 8,
    Semaphore = 9,
    Mutex = 10,
    MailboxPush = 11,
    MailboxPop = 12,
    PcBufPush = 13,
    PcBufPop = 14,
    SyncDone = 15,
    Config = 16,
    Reset = 17,
    IcacheInvalidate = 18,
    NocIssue = 19,
    NocDone = 20,
    Stream = 21,
    Halt = 22,
    UnitDone = 23,
    NocServe = 24,
    SrcBanks = 25,
    MutexIgnored = 26,
    NocSent = 27,
    MopOverwritten = 28,
}

/// Collects one event, so that the hash is fed once per event.
struct Bytes {
    buffer: [u8; MAX_BYTES],
    length: usize,
}

impl Bytes {
    const fn new() -> Self {
        Self { buffer: [0; MAX_BYTES], length: 0 }
    }

    fn put<const N: usize>(&mut self, bytes: [u8; N]) -> &mut Self {
        self.buffer[self.length..self.length + N].copy_from_slice(&bytes);
        self.length += N;
        self
    }

    fn u8(&mut self, value: u8) -> &mut Self {
        self.put([value])
    }

    fn bool(&mut self, value: bool) -> &mut Self {
        self.u8(u8::from(value))
    }

    fn u16(&mut self, value: u16) -> &mut Self {
        self.put(value.to_le_bytes())
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.put(value.to_le_bytes())
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.put(value.to_le_bytes())
    }

    fn reason(&mut self, reason: &WaitReason) -> &mut Self {
        use WaitReason as W;
        match *reason {
            W::Reset => self.u8(1),
            W::Halted => self.u8(2),
            W::Spin => self.u8(3),
            W::MailboxEmpty { from, to } => self.u8(4).u8(from as u8).u8(to as u8),
            W::MailboxFull { from, to } => self.u8(5).u8(from as u8).u8(to as u8),
            W::PcBufEmpty { thread } => self.u8(6).u8(thread as u8),
            W::PcBufFull { thread } => self.u8(7).u8(thread as u8),
            W::PcBufDrain { thread } => self.u8(8).u8(thread as u8),
            W::CoprocessorBusy { thread } => self.u8(9).u8(thread as u8),
            W::MopBusy { thread } => self.u8(10).u8(thread as u8),
            W::InstructionFifoFull { thread } => self.u8(11).u8(thread as u8),
            W::TdmaQueueFull => self.u8(12),
            W::NocInitiatorBusy { noc, initiator } => self.u8(13).u8(noc).u8(initiator),
            W::Stall { conditions } => self.u8(14).u16(conditions),
            W::Semaphore { mask, condition } => self.u8(15).u8(mask).u8(condition),
            W::Stream { stream, target, messages } => {
                self.u8(16).u8(stream).u32(target).bool(messages)
            }
            W::WaitGateOccupied => self.u8(17),
            W::Mutex { index } => self.u8(18).u8(index),
            W::UnitBusy { unit } => self.u8(19).u8(unit as u8),
            W::SrcBank { operand, bank, for_matrix } => {
                self.u8(20).u8(operand).u8(bank).bool(for_matrix)
            }
            W::FrontendFull => self.u8(21),
            W::Ended => self.u8(22),
            W::L1Word { addr } => self.u8(23).u32(addr),
            W::PackerMetadata => self.u8(24),
            W::Paused => self.u8(25),
        }
    }

    fn event(&mut self, event: &Event) -> &mut Self {
        self.u8(event.kind() as u8);
        match *event {
            Event::L1Store { addr, value, width } | Event::DeviceStore { addr, value, width } => {
                self.u32(addr).u32(value).u8(width as u8)
            }
            Event::HostWrite { addr, value, bytes } => self.u32(addr).u32(value).u32(bytes),
            Event::L1Atomic { addr, before, after } => self.u32(addr).u32(before).u32(after),
            Event::Push { thread, word, after_mop } => {
                self.u8(thread as u8).u32(word).bool(after_mop)
            }
            Event::Issue { thread, word, slot } => {
                self.u8(thread as u8).u32(word).u32(slot.mop).u8(slot.replay)
            }
            Event::WaitBegin { reason } => self.reason(&reason),
            Event::WaitEnd { reason, since } => self.reason(&reason).u64(since.0),
            Event::Semaphore { index, op, before, after, max } => {
                self.u8(index).u8(op.number()).u8(before).u8(after).u8(max)
            }
            Event::Mutex { index, acquired } => self.u8(index).bool(acquired),
            Event::MailboxPush { from, to, value, depth }
            | Event::MailboxPop { from, to, value, depth } => {
                self.u8(from as u8).u8(to as u8).u32(value).u8(depth)
            }
            Event::PcBufPush { thread, value, depth }
            | Event::PcBufPop { thread, value, depth } => {
                self.u8(thread as u8).u32(value).u8(depth)
            }
            Event::SyncDone { thread, reason } => self.u8(thread as u8).reason(&reason),
            Event::Config { state, index, before, after } => {
                self.u8(state).u16(index).u32(before).u32(after)
            }
            Event::Reset { core, asserted, pc } => self.u8(core as u8).bool(asserted).u32(pc),
            Event::IcacheInvalidate { mask } => self.u8(mask),
            Event::NocIssue {
                noc,
                initiator,
                control,
                addr,
                coordinate,
                bytes,
                ticket,
                packets,
            } => {
                self.u8(noc).u8(initiator).u32(control).u64(addr).u32(coordinate).u32(bytes);
                self.u32(ticket).u32(packets)
            }
            Event::NocDone { noc, initiator, ticket }
            | Event::NocSent { noc, initiator, ticket } => self.u8(noc).u8(initiator).u32(ticket),
            Event::NocServe { noc, source, ticket, control, addr, bytes } => {
                self.u8(noc).u16(source).u32(ticket).u32(control).u64(addr).u32(bytes)
            }
            Event::Stream { stream, register, before, after } => {
                self.u8(stream).u16(register).u32(before).u32(after)
            }
            Event::Halt { core } => self.u8(core as u8),
            Event::UnitDone { thread, word } => self.u8(thread as u8).u32(word),
            Event::SrcBanks { operand, before, after } => self.u8(operand).u8(before).u8(after),
            Event::MutexIgnored { index } => self.u8(index),
            Event::MopOverwritten { thread, index, before, after } => {
                self.u8(thread as u8).u8(index).u32(before).u32(after)
            }
        }
    }
}

impl SemaphoreOp {
    const fn number(self) -> u8 {
        match self {
            Self::Init => 1,
            Self::Post => 2,
            Self::Get => 3,
        }
    }
}

impl WaitReason {
    /// The reason's number in the event schema, from 1.
    #[must_use]
    pub fn number(&self) -> u8 {
        let mut bytes = Bytes::new();
        bytes.reason(self);
        bytes.buffer[0]
    }
}

impl Event {
    /// Adds this event's encoding to a hash; see the module's documentation for the bytes.
    pub fn encode(&self, hasher: &mut StateHasher) {
        let mut bytes = Bytes::new();
        bytes.event(self);
        hasher.bytes(&bytes.buffer[..bytes.length]);
    }
}

impl Stamp {
    /// Adds this stamp to a hash: cycle, [`crate::AgentId::code`], pc.
    pub fn encode(&self, hasher: &mut StateHasher) {
        let mut bytes = Bytes::new();
        bytes.u64(self.cycle.0).u8(self.agent.code()).u32(self.pc);
        hasher.bytes(&bytes.buffer[..bytes.length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{AgentId, CoreId};
    use crate::time::Cycle;

    fn xxh3(bytes: &[u8]) -> u64 {
        xxhash_rust::xxh3::xxh3_64(bytes)
    }

    /// Bytes written down from the rules in the module's documentation.
    #[test]
    fn encoding_of_stamp_and_reset_is_as_documented() {
        let stamp = Stamp { cycle: Cycle(0x0102), agent: AgentId::Host, pc: 0x3AE0 };
        let mut hasher = StateHasher::default();
        stamp.encode(&mut hasher);
        Event::Reset { core: CoreId::Trisc1, asserted: false, pc: 0x70E0 }.encode(&mut hasher);
        let bytes = [
            [2, 1, 0, 0, 0, 0, 0, 0, 40, 0xE0, 0x3A, 0, 0].as_slice(),
            &[17, 2, 0, 0xE0, 0x70, 0, 0],
        ];
        assert_eq!(hasher.finish(), xxh3(&bytes.concat()));
    }

    #[test]
    fn encoding_of_nested_wait_reason_is_as_documented() {
        let reason = WaitReason::Stream { stream: 7, target: 0x1234, messages: true };
        let mut hasher = StateHasher::default();
        Event::WaitEnd { reason, since: Cycle(9) }.encode(&mut hasher);
        assert_eq!(hasher.finish(), xxh3(&[8, 16, 7, 0x34, 0x12, 0, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn longest_encoding_fits_its_buffer() {
        let event = Event::NocIssue {
            noc: 1,
            initiator: 3,
            control: u32::MAX,
            addr: u64::MAX,
            coordinate: u32::MAX,
            bytes: u32::MAX,
            ticket: u32::MAX,
            packets: u32::MAX,
        };
        let mut bytes = Bytes::new();
        bytes.event(&event);
        assert_eq!(bytes.length, 31);
    }

    #[test]
    fn kinds_are_numbered_from_one_without_gaps() {
        for (i, kind) in EventKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, i + 1, "{}", kind.name());
        }
    }
}
