//! What passes between a tile and the others: messages of NoC endpoints, accesses of the host.

use std::sync::Arc;

use devices::NocPacket;
use devices::fabric::{copy_to_buffer, keep_buffer};
use devices::niu::Coordinate;
use sim_core::{CoreId, Cycle};

/// Data that a message carries. What many get is there once.
#[derive(Clone, Debug)]
pub enum Data {
    /// For one receiver.
    Own(Vec<u8>),
    /// For several.
    Shared(Arc<Vec<u8>>),
}

impl Data {
    /// The bytes for one receiver alone: a copy if others have them too.
    #[must_use]
    pub fn into_own(self) -> Vec<u8> {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => match Arc::try_unwrap(bytes) {
                Ok(bytes) => bytes,
                Err(bytes) => copy_to_buffer(&bytes),
            },
        }
    }

    /// Gives their memory back, if nobody else has them.
    pub fn give_back(self) {
        let bytes = match self {
            Self::Own(bytes) => Some(bytes),
            Self::Shared(bytes) => Arc::into_inner(bytes),
        };
        bytes.into_iter().for_each(keep_buffer);
    }
}

impl std::ops::Deref for Data {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Data {}

/// What one NoC endpoint sends to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// Carry this out. `data` is what a write writes.
    Request {
        /// The request.
        packet: NocPacket,
        /// Data of a write.
        data: Data,
        /// The core and the instruction that it comes from, for diagnoses.
        issuer: Option<(CoreId, u32)>,
    },
    /// The data that request `ticket` of the receiver asked for.
    Response {
        /// [`devices::InFlight::sequence`] of the request.
        ticket: u64,
        /// What was read.
        data: Vec<u8>,
    },
}

impl Message {
    /// Whether it only gives: a request that is not answered with data.
    #[inline]
    #[must_use]
    pub fn only_gives(&self) -> bool {
        matches!(self, Self::Request { packet, .. } if !packet.needs_foreign_data())
    }

    /// What is written, or was read.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        match self {
            Self::Request { data, .. } => data,
            Self::Response { data, .. } => data,
        }
    }
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

/// Who has sent a request that the tile refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused {
    /// When.
    pub cycle: Cycle,
    /// On which NoC.
    pub noc: u8,
    /// Number of the sender.
    pub source: u16,
    /// The core and the instruction there.
    pub issuer: Option<(CoreId, u32)>,
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
