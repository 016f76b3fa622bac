//! What passes between a tile and the others: messages of NoC endpoints, accesses of the host.

use std::sync::Arc;

use devices::NocPacket;
use devices::niu::Coordinate;
use sim_core::{CoreId, Cycle};

/// What one NoC endpoint sends to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// Carry this out. `data` is what a write writes.
    Request {
        /// The request.
        packet: NocPacket,
        /// Data of a write.
        data: Vec<u8>,
    },
    /// The data that request `ticket` of the receiver asked for.
    Response {
        /// [`devices::InFlight::sequence`] of the request.
        ticket: u64,
        /// What was read.
        data: Vec<u8>,
    },
}

/// A message that leaves a tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Departure {
    /// When the last flit has left the NIU of a request's sender; when a response arrives.
    pub cycle: Cycle,
    /// Which of the sender's messages this is; with a request, the ticket of its response.
    pub sequence: u64,
    /// Receivers: coordinates as written for a unicast request, NoC 0 coordinates for a broadcast,
    /// the number of the tile for a response.
    pub to: Receivers,
    /// What.
    pub message: Message,
    /// The core and the instruction that a request comes from, for diagnoses.
    pub issuer: Option<(CoreId, u32)>,
}

/// Who gets a [`Departure`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Receivers {
    /// One endpoint, by the coordinate that software wrote, and whether that is translated.
    One(Coordinate, bool),
    /// Tensix tiles, by NoC 0 coordinate.
    Many(Vec<Coordinate>),
    /// The sender of the request, by the number that came with its [`Arrival`].
    Sender(u16),
}

/// A message that reaches a tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When it takes effect.
    pub cycle: Cycle,
    /// Number of the sender, for ties and for the response.
    pub source: u16,
    /// [`Departure::sequence`].
    pub sequence: u64,
    /// What.
    pub message: Message,
}

/// Something that came from outside between two epochs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// When: behind the epoch that ends there.
    pub cycle: Cycle,
    /// What.
    pub kind: InputKind,
}

/// What came from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputKind {
    /// The host wrote.
    Write {
        /// Byte address.
        addr: u32,
        /// What.
        bytes: Arc<[u8]>,
    },
    /// The host read registers, which may change them. Reads of L1 are not kept.
    Read {
        /// Byte address.
        addr: u32,
        /// How many bytes.
        bytes: usize,
    },
    /// A message of another endpoint was handed over, to take effect in its own cycle.
    Arrival(Arrival),
}
