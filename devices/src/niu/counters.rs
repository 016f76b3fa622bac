//! NIU counters: what moves when in the life of a request.
//!
//! Source: `[isa-bh: NoC/Counters.md]`, one function per moment that page names. Transaction-id
//! counters are eight bits wide and wrap.

use sim_core::StateHasher;

use super::packet::{NocPacket, PacketKind};

/// Counters presented at +0x200.
pub(super) const COUNT: usize = 62;

pub(super) const ATOMIC_RESP_RECEIVED: usize = 0;
pub(super) const WR_ACK_RECEIVED: usize = 1;
pub(super) const RD_RESP_RECEIVED: usize = 2;
const RD_DATA_WORD_RECEIVED: usize = 3;
const CMD_ACCEPTED: usize = 4;
const RD_REQ_SENT: usize = 5;
const NONPOSTED_ATOMIC_SENT: usize = 6;
const POSTED_ATOMIC_SENT: usize = 7;
const NONPOSTED_WR_DATA_WORD_SENT: usize = 8;
const POSTED_WR_DATA_WORD_SENT: usize = 9;
pub(super) const NONPOSTED_WR_REQ_SENT: usize = 10;
pub(super) const POSTED_WR_REQ_SENT: usize = 11;
const NONPOSTED_WR_REQ_STARTED: usize = 12;
const POSTED_WR_REQ_STARTED: usize = 13;
const RD_REQ_STARTED: usize = 14;
const NONPOSTED_ATOMIC_STARTED: usize = 15;
pub(super) const REQS_OUTSTANDING: usize = 16;
pub(super) const WRITE_REQS_OUTGOING: usize = 32;
const SLV_ATOMIC_RESP_SENT: usize = 48;
const SLV_WR_ACK_SENT: usize = 49;
const SLV_RD_RESP_SENT: usize = 50;
const SLV_RD_DATA_WORD_SENT: usize = 51;
const SLV_REQ_ACCEPTED: usize = 52;
const SLV_RD_REQ_RECEIVED: usize = 53;
const SLV_NONPOSTED_ATOMIC_RECEIVED: usize = 54;
const SLV_POSTED_ATOMIC_RECEIVED: usize = 55;
const SLV_NONPOSTED_WR_DATA_WORD_RECEIVED: usize = 56;
const SLV_POSTED_WR_DATA_WORD_RECEIVED: usize = 57;
const SLV_NONPOSTED_WR_REQ_RECEIVED: usize = 58;
const SLV_POSTED_WR_REQ_RECEIVED: usize = 59;
const SLV_NONPOSTED_WR_REQ_STARTED: usize = 60;
const SLV_POSTED_WR_REQ_STARTED: usize = 61;

/// The counters and the sticky zero-transition bits they drive.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    values: [u32; COUNT],
    /// `NIU_TRANS_COUNT_RTZ_SOURCE`: bit *i* = outstanding counter *i* has gone from positive to
    /// zero since software cleared the bit.
    pub(super) reached_zero: u16,
}

impl Counters {
    pub(super) fn new() -> Self {
        Self { values: [0; COUNT], reached_zero: 0 }
    }

    pub(super) fn get(&self, index: usize) -> Option<u32> {
        self.values.get(index).copied()
    }

    fn add(&mut self, index: usize, count: u32) {
        self.values[index] = self.values[index].wrapping_add(count);
    }

    /// Picks the counter for posted or non-posted requests.
    fn add_by(&mut self, packet: &NocPacket, nonposted: usize, posted: usize, count: u32) {
        self.add(if packet.nonposted { nonposted } else { posted }, count);
    }

    /// Adds to an eight-bit counter of the packet's transaction id.
    fn add_id(&mut self, base: usize, packet: &NocPacket, count: u32) {
        let index = base + usize::from(packet.transaction & 15);
        self.values[index] = self.values[index].wrapping_add(count) & 0xFF;
    }

    /// One outstanding request of the packet's id is answered.
    fn answered(&mut self, packet: &NocPacket) {
        let id = usize::from(packet.transaction & 15);
        let before = self.values[REQS_OUTSTANDING + id];
        self.add_id(REQS_OUTSTANDING, packet, 0xFF);
        if before == 1 {
            self.reached_zero |= 1 << id;
        }
    }

    /// `NOC_CLEAR_OUTSTANDING_REQ_CNT`: zeroes the selected outstanding counters.
    pub(super) fn clear_outstanding(&mut self, ids: u32) {
        for id in (0..16).filter(|id| ids >> id & 1 != 0) {
            self.values[REQS_OUTSTANDING + id] = 0;
        }
    }

    /// Software has written `NOC_CMD_CTRL`; `packet` is the whole request, before any split.
    pub(super) fn on_command(&mut self, packet: &NocPacket) {
        let parts = packet.parts();
        if packet.nonposted {
            self.add_id(REQS_OUTSTANDING, packet, parts);
        }
        if matches!(packet.kind, PacketKind::Write { .. }) {
            self.add_id(WRITE_REQS_OUTGOING, packet, parts);
        }
    }

    /// A virtual channel has been assigned.
    pub(super) fn on_accepted(&mut self, packet: &NocPacket) {
        self.add(CMD_ACCEPTED, 1);
        match packet.kind {
            PacketKind::Read { .. } => self.add(RD_REQ_STARTED, 1),
            PacketKind::Atomic { .. } if packet.nonposted => self.add(NONPOSTED_ATOMIC_STARTED, 1),
            PacketKind::Atomic { .. } => {}
            PacketKind::Write { .. } => {
                self.add_by(packet, NONPOSTED_WR_REQ_STARTED, POSTED_WR_REQ_STARTED, 1);
            }
            PacketKind::InlineWrite { .. } => {
                self.add_by(packet, NONPOSTED_WR_REQ_STARTED, POSTED_WR_REQ_STARTED, 1);
                self.add_by(packet, NONPOSTED_WR_REQ_SENT, POSTED_WR_REQ_SENT, 1);
            }
        }
    }

    /// The packet has left the NIU and a write's data has been read.
    pub(super) fn on_sent(&mut self, packet: &NocPacket) {
        match packet.kind {
            PacketKind::Read { .. } => self.add(RD_REQ_SENT, 1),
            PacketKind::Atomic { .. } => {
                self.add_by(packet, NONPOSTED_ATOMIC_SENT, POSTED_ATOMIC_SENT, 1);
            }
            PacketKind::Write { .. } => {
                let flits = packet.data_flits();
                self.add_by(packet, NONPOSTED_WR_REQ_SENT, POSTED_WR_REQ_SENT, 1);
                self.add_by(packet, NONPOSTED_WR_DATA_WORD_SENT, POSTED_WR_DATA_WORD_SENT, flits);
                self.add_id(WRITE_REQS_OUTGOING, packet, 0xFF);
            }
            PacketKind::InlineWrite { .. } => {}
        }
    }

    /// The request has been carried out; only called if this NIU is a recipient.
    pub(super) fn on_performed(&mut self, packet: &NocPacket) {
        let words = packet.data_flits();
        match packet.kind {
            PacketKind::Read { .. } => {
                self.add(SLV_REQ_ACCEPTED, 1);
                self.add(SLV_RD_REQ_RECEIVED, 1);
                self.add(SLV_RD_RESP_SENT, 1);
                self.add(SLV_RD_DATA_WORD_SENT, words);
            }
            PacketKind::Atomic { .. } => {
                self.add(SLV_REQ_ACCEPTED, 1);
                let (marked, posted) = (SLV_NONPOSTED_ATOMIC_RECEIVED, SLV_POSTED_ATOMIC_RECEIVED);
                self.add_by(packet, marked, posted, 1);
                self.add(SLV_ATOMIC_RESP_SENT, u32::from(packet.nonposted));
            }
            PacketKind::Write { .. } | PacketKind::InlineWrite { .. } => {
                let words = words.max(1);
                self.add_by(packet, SLV_NONPOSTED_WR_REQ_STARTED, SLV_POSTED_WR_REQ_STARTED, 1);
                self.add_by(
                    packet,
                    SLV_NONPOSTED_WR_DATA_WORD_RECEIVED,
                    SLV_POSTED_WR_DATA_WORD_RECEIVED,
                    words,
                );
                self.add_by(packet, SLV_NONPOSTED_WR_REQ_RECEIVED, SLV_POSTED_WR_REQ_RECEIVED, 1);
                self.add(SLV_WR_ACK_SENT, u32::from(packet.nonposted));
            }
        }
    }

    /// All responses have arrived; only called for non-posted requests.
    pub(super) fn on_responded(&mut self, packet: &NocPacket) {
        let responses = packet.target().recipients();
        for _ in 0..responses {
            self.answered(packet);
        }
        let responses = u32::from(responses);
        match packet.kind {
            PacketKind::Read { .. } => {
                self.add(RD_RESP_RECEIVED, responses);
                self.add(RD_DATA_WORD_RECEIVED, packet.data_flits());
            }
            PacketKind::Atomic { .. } => self.add(ATOMIC_RESP_RECEIVED, responses),
            PacketKind::Write { .. } | PacketKind::InlineWrite { .. } => {
                self.add(WR_ACK_RECEIVED, responses);
            }
        }
    }

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { values, reached_zero } = self;
        hasher.words(values);
        hasher.u32(u32::from(*reached_zero));
    }
}
