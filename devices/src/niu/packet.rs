//! What a NoC request is, once decoded.
//!
//! Source: `[isa-bh: NoC/MemoryMap.md]`.

use memory_map::NocCoordinate;
use memory_map::reg::noc_niu::noc_targ_addr_hi;
use sim_core::StateHasher;

use super::atomic::AtomicOp;

/// Most data one packet carries: 256 flits of 64 bytes `[isa-bh: NoC/Counters.md]`.
pub const MAX_PACKET_BYTES: u32 = 256 * FLIT_BYTES;

/// Bytes of one flit `[isa-bh: NoC/README.md]`.
pub const FLIT_BYTES: u32 = 64;

/// Bytes of a header that a write may put to a second place `[isa-bh: NoC/MemoryMap.md]`.
pub const HEADER_BYTES: u32 = 16;

/// Bytes of the aligned block that an atomic changes `[isa-wh: NoC/Atomics.md]`.
pub const ATOMIC_BYTES: u32 = 16;

/// Tile coordinates, six bits each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Coordinate {
    /// Column.
    pub x: u8,
    /// Row.
    pub y: u8,
}

impl Coordinate {
    /// The coordinate in the low 12 bits: x in 5:0, y in 11:6.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        let (x, y) = NocCoordinate(bits).end();
        Self { x, y }
    }

    /// x in bits 5:0, y in bits 11:6.
    #[must_use]
    pub const fn to_bits(self) -> u32 {
        noc_targ_addr_hi::X.put(self.x as u32) | noc_targ_addr_hi::Y.put(self.y as u32)
    }
}

/// Who receives a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// One tile.
    Unicast {
        /// As written, before translation.
        tile: Coordinate,
        /// Whether it is the initiating tile.
        own: bool,
    },
    /// All tiles of a rectangle that have not opted out.
    Broadcast {
        /// First corner in the direction of flow, as written.
        start: Coordinate,
        /// Last corner, as written.
        end: Coordinate,
        /// Whether the initiating tile is among the recipients.
        own: bool,
        /// How many other recipients there are.
        others: u16,
    },
}

impl Target {
    /// Whether the initiating tile receives the request.
    #[must_use]
    pub const fn includes_own(self) -> bool {
        match self {
            Self::Unicast { own, .. } | Self::Broadcast { own, .. } => own,
        }
    }

    /// Whether a request goes the same way through the NoC: to the same tile or rectangle, whether or not
    /// the initiating tile takes it too.
    #[must_use]
    pub fn goes_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Unicast { tile, .. }, Self::Unicast { tile: next, .. }) => tile == next,
            (
                Self::Broadcast { start, end, .. },
                Self::Broadcast { start: next_start, end: next_end, .. },
            ) => (start, end) == (next_start, next_end),
            _ => false,
        }
    }

    /// How many other tiles receive the request.
    #[must_use]
    pub const fn foreign(self) -> u16 {
        match self {
            Self::Unicast { own: true, .. } => 0,
            Self::Unicast { own: false, .. } => 1,
            Self::Broadcast { others, .. } => others,
        }
    }

    /// How many tiles receive the request, and so how many responses a marked request gets.
    #[must_use]
    pub const fn recipients(self) -> u16 {
        self.foreign() + self.includes_own() as u16
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unicast { tile, .. } => write!(f, "({}, {})", tile.x, tile.y),
            Self::Broadcast { start, end, .. } => {
                write!(f, "({}, {}) to ({}, {})", start.x, start.y, end.x, end.y)
            }
        }
    }
}

/// Which bytes a write replaces.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WriteShape {
    /// A contiguous span of that many bytes.
    Span(u32),
    /// Those of 64 bytes whose mask bit is set; both addresses are rounded down to 16.
    Masked(u64),
}

/// The request proper. Addresses are byte addresses in the respective tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PacketKind {
    /// Data of the target comes back to the initiating tile.
    Read {
        /// Whom.
        target: Target,
        /// Where in the target.
        address: u64,
        /// Where in the initiating tile.
        destination: u64,
        /// How much.
        bytes: u32,
    },
    /// Data of the initiating tile goes to the target.
    Write {
        /// Whom.
        target: Target,
        /// Where in the target.
        address: u64,
        /// Where in the initiating tile.
        source: u64,
        /// How much.
        shape: WriteShape,
        /// A second address for the first 16 bytes (header store).
        header_copy: Option<u64>,
    },
    /// One word goes to a register of the target.
    InlineWrite {
        /// Whom.
        target: Target,
        /// Where in the target.
        address: u64,
        /// The word.
        value: u32,
    },
    /// The target's memory is changed and its old value comes back.
    Atomic {
        /// Whom.
        target: Target,
        /// Where in the target; the old word at this address is the result.
        address: u64,
        /// What.
        op: AtomicOp,
        /// Where in the initiating tile the result goes, if a response is wanted.
        result: u64,
    },
}

/// Where the block begins that an atomic at a byte address changes.
pub(crate) const fn atomic_block(address: u64) -> u64 {
    address & !(ATOMIC_BYTES as u64 - 1)
}

/// A request on its way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NocPacket {
    /// NoC 0 or 1.
    pub noc: u8,
    /// Initiator 0 to 3.
    pub initiator: u8,
    /// Transaction id 0 to 15.
    pub transaction: u8,
    /// Whether a response is wanted; always for reads.
    pub nonposted: bool,
    /// `NOC_CTRL` as written.
    pub control: u32,
    /// Routers between the initiator's and the (farthest) target's: request, response.
    pub hops: (u8, u8),
    /// The request.
    pub kind: PacketKind,
    /// Part of a split request with further parts to come.
    pub more: bool,
}

impl NocPacket {
    /// Who receives the request.
    #[must_use]
    pub const fn target(&self) -> Target {
        match self.kind {
            PacketKind::Read { target, .. }
            | PacketKind::Write { target, .. }
            | PacketKind::InlineWrite { target, .. }
            | PacketKind::Atomic { target, .. } => target,
        }
    }

    /// Address in the target.
    #[must_use]
    pub const fn address(&self) -> u64 {
        match self.kind {
            PacketKind::Read { address, .. }
            | PacketKind::Write { address, .. }
            | PacketKind::InlineWrite { address, .. }
            | PacketKind::Atomic { address, .. } => address,
        }
    }

    /// Coordinates of the target as written, `y << 6 | x`; for a broadcast also the start corner
    /// in bits 23:12.
    #[must_use]
    pub const fn coordinate(&self) -> u32 {
        match self.target() {
            Target::Unicast { tile, .. } => tile.to_bits(),
            Target::Broadcast { start, end, .. } => {
                end.to_bits()
                    | noc_targ_addr_hi::BRCST_START_X.put(start.x as u32)
                    | noc_targ_addr_hi::BRCST_START_Y.put(start.y as u32)
            }
        }
    }

    /// Bytes moved: of data, or 4 for inline writes and atomics.
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        match self.kind {
            PacketKind::Read { bytes, .. } => bytes,
            PacketKind::Write { shape: WriteShape::Span(bytes), .. } => bytes,
            PacketKind::Write { shape: WriteShape::Masked(mask), .. } => mask.count_ones(),
            PacketKind::InlineWrite { .. } | PacketKind::Atomic { .. } => 4,
        }
    }

    /// Data flits of the request (writes) and of the response (reads) `[unknown: U-024]`.
    #[must_use]
    pub const fn data_flits(&self) -> u32 {
        match self.kind {
            PacketKind::Read { bytes, .. } => bytes.div_ceil(FLIT_BYTES),
            PacketKind::Write { shape: WriteShape::Span(bytes), .. } => bytes.div_ceil(FLIT_BYTES),
            PacketKind::Write { .. } => 1,
            PacketKind::InlineWrite { .. } | PacketKind::Atomic { .. } => 0,
        }
    }

    /// Flits of request and response: a header each, and data `[isa-bh: NoC/README.md]`.
    #[must_use]
    pub const fn flits(&self) -> (u32, u32) {
        match self.kind {
            PacketKind::Read { .. } => (1, 1 + self.data_flits()),
            _ => (1 + self.data_flits(), 1),
        }
    }

    /// Whether the initiating tile reads or writes anything at byte address `end` of its own or above for a
    /// request that it sent, or for the answer.
    #[must_use]
    pub fn goes_beyond(&self, end: u64) -> bool {
        match self.kind {
            PacketKind::Read { destination: own, .. }
            | PacketKind::Write { source: own, .. }
            | PacketKind::Atomic { result: own, .. } => own >= end,
            PacketKind::InlineWrite { .. } => false,
        }
    }

    /// Whether a recipient reads or writes anything that begins at byte address `end` of its own or above.
    #[must_use]
    pub fn asks_beyond(&self, end: u64) -> bool {
        let copied = match self.kind {
            PacketKind::Write { header_copy, .. } => header_copy,
            _ => None,
        };
        self.address() >= end || copied.is_some_and(|copy| copy >= end)
    }

    /// What of its own memory a recipient writes, or some more: where it begins, and how many bytes.
    #[must_use]
    pub fn written(&self) -> [(u64, u32); 2] {
        match self.kind {
            PacketKind::Read { address, .. } => [(address, 0); 2],
            PacketKind::Write { address, shape, header_copy, .. } => {
                let bytes = match shape {
                    WriteShape::Span(bytes) => bytes,
                    WriteShape::Masked(_) => FLIT_BYTES,
                };
                let copy = header_copy.map_or((address, 0), |copy| (copy, HEADER_BYTES));
                [(address, bytes), copy]
            }
            PacketKind::InlineWrite { address, .. } => [(address, 4); 2],
            PacketKind::Atomic { address, .. } => [(atomic_block(address), ATOMIC_BYTES); 2],
        }
    }

    /// Where a read puts its data in the tile that sends it; `None` for other requests.
    #[must_use]
    pub const fn read_to(&self) -> Option<u64> {
        match self.kind {
            PacketKind::Read { destination, .. } => Some(destination),
            _ => None,
        }
    }

    /// Whether another tile would have to answer with data, which cannot be invented.
    #[must_use]
    pub const fn needs_foreign_data(&self) -> bool {
        let foreign = self.target().foreign() != 0;
        match self.kind {
            PacketKind::Read { .. } => foreign,
            PacketKind::Atomic { .. } => foreign && self.nonposted,
            PacketKind::Write { .. } | PacketKind::InlineWrite { .. } => false,
        }
    }

    /// How many packets this request becomes.
    #[must_use]
    pub const fn parts(&self) -> u32 {
        match self.kind {
            PacketKind::Read { bytes, .. }
            | PacketKind::Write { shape: WriteShape::Span(bytes), .. }
                if bytes > MAX_PACKET_BYTES =>
            {
                bytes.div_ceil(MAX_PACKET_BYTES)
            }
            _ => 1,
        }
    }

    /// Part `index` of a request that is split; the request itself if it is not.
    #[must_use]
    pub fn part(&self, index: u32) -> Self {
        if self.parts() == 1 {
            return *self;
        }
        let skip = index.saturating_mul(MAX_PACKET_BYTES);
        let shift = u64::from(skip);
        let left = |bytes: u32| bytes.saturating_sub(skip).min(MAX_PACKET_BYTES);
        let mut part = *self;
        part.more = index + 1 < self.parts();
        match &mut part.kind {
            PacketKind::Read { address, destination, bytes, .. } => {
                *address = address.wrapping_add(shift);
                *destination = destination.wrapping_add(shift);
                *bytes = left(*bytes);
            }
            PacketKind::Write { address, source, shape, .. } => {
                *address = address.wrapping_add(shift);
                *source = source.wrapping_add(shift);
                if let WriteShape::Span(bytes) = shape {
                    *bytes = left(*bytes);
                }
            }
            PacketKind::InlineWrite { .. } | PacketKind::Atomic { .. } => {}
        }
        part
    }

    /// Adds the request to a state hash.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { noc, initiator, transaction, nonposted, control, hops, kind, more } = *self;
        hasher.bytes(&[noc, initiator, transaction, hops.0, hops.1]);
        hasher.bool(nonposted);
        hasher.bool(more);
        hasher.u32(control);
        hasher.u32(self.coordinate());
        hasher.u64(self.address());
        hasher.u32(self.bytes());
        match kind {
            PacketKind::Read { destination, .. } => hasher.u64(destination),
            PacketKind::Write { source, shape, header_copy, .. } => {
                hasher.u64(source);
                hasher.u64(header_copy.unwrap_or(u64::MAX));
                hasher.u64(match shape {
                    WriteShape::Span(bytes) => u64::from(bytes),
                    WriteShape::Masked(mask) => mask,
                });
            }
            PacketKind::InlineWrite { value, .. } => hasher.u32(value),
            PacketKind::Atomic { op, result, .. } => {
                hasher.u64(result);
                hasher.words(&op.apply([0; 4]));
                hasher.words(&op.apply([u32::MAX; 4]));
            }
        }
    }
}
