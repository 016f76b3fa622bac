//! What a packet does to memory at each stage.
//!
//! Source: the "packet flow" table of `[isa-bh: NoC/MemoryMap.md]` and `[isa-wh: NoC/Atomics.md]`.
//! Data of a write is read when the packet is sent, data of a read when the target carries it
//! out, and a response's data is written when it arrives.

use sim_core::{Category, Cycle, StateHasher};

use super::InFlight;
use super::buffers::{copy_to_buffer, keep_buffer, take_buffer};
use crate::fault::DeviceFault;
use crate::niu::{
    ATOMIC_BYTES, Coordinate, HEADER_BYTES, NocPacket, PacketKind, Stage, Target, WriteShape,
    atomic_block,
};

/// The initiating tile's address space as its NIUs see it: L1 and registers.
///
/// Register accesses are always four aligned bytes, little-endian.
pub trait MemoryPort {
    /// Reads `bytes.len()` bytes from `address`: fills all of `bytes`, in which anything may stand.
    ///
    /// # Errors
    /// Whatever the addressed device refuses.
    fn read_bytes(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceFault>;

    /// Writes `bytes` to `address`.
    ///
    /// # Errors
    /// Whatever the addressed device refuses.
    fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceFault>;
}

/// A request that other tiles receive, handed out when they would carry it out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignAccess {
    /// The request.
    pub packet: NocPacket,
    /// Data of a write.
    pub data: Vec<u8>,
}

/// Carries out the stage an entry has reached. Gives the part of it that is for other tiles.
///
/// # Errors
/// Whatever the memory refuses. `noc-no-such-tile`: a response would need another tile's data.
pub fn perform(
    entry: &mut InFlight,
    memory: &mut impl MemoryPort,
) -> Result<Option<ForeignAccess>, DeviceFault> {
    match entry.stage {
        Stage::Accepted => Ok(None),
        Stage::Sent => send(entry, memory).map(|()| None),
        Stage::Performed => {
            let target = entry.packet.target();
            let foreign = (target.foreign() != 0)
                .then(|| ForeignAccess { packet: entry.packet, data: entry.payload.clone() });
            if target.includes_own() {
                carry_out(&entry.packet, &mut entry.payload, memory)?;
            }
            Ok(foreign)
        }
        Stage::Responded => respond(entry, memory).map(|()| None),
    }
}

/// Reads a write's data.
fn send(entry: &mut InFlight, memory: &mut impl MemoryPort) -> Result<(), DeviceFault> {
    match entry.packet.kind {
        PacketKind::Write { source, shape, .. } => {
            let bytes = match shape {
                WriteShape::Span(bytes) => bytes,
                WriteShape::Masked(mask) => 64 - mask.leading_zeros(),
            };
            read_out(source, bytes, &mut entry.payload, memory)
        }
        PacketKind::InlineWrite { value, .. } => {
            entry.payload = copy_to_buffer(&value.to_le_bytes());
            Ok(())
        }
        PacketKind::Read { .. } | PacketKind::Atomic { .. } => Ok(()),
    }
}

/// A recipient carries the request out on its own memory. `payload` is the data of a write, and
/// afterwards what a read or an atomic answers.
///
/// # Errors
/// Whatever the memory refuses.
pub fn carry_out(
    packet: &NocPacket,
    payload: &mut Vec<u8>,
    memory: &mut impl MemoryPort,
) -> Result<(), DeviceFault> {
    match packet.kind {
        PacketKind::Read { address, bytes, .. } => read_out(address, bytes, payload, memory),
        PacketKind::Write { .. } | PacketKind::InlineWrite { .. } => {
            write_out(packet, payload, memory)
        }
        PacketKind::Atomic { address, op, .. } => {
            let mut result = [0; 4];
            memory.read_bytes(address, &mut result)?;
            let base = atomic_block(address);
            let mut block = [0; ATOMIC_BYTES as usize];
            memory.read_bytes(base, &mut block)?;
            let words = std::array::from_fn(|i| word_at(&block, i));
            let after = op.apply(words);
            for (i, (before, after)) in words.into_iter().zip(after).enumerate() {
                if before != after {
                    memory.write_bytes(base + 4 * i as u64, &after.to_le_bytes())?;
                }
            }
            keep_buffer(std::mem::replace(payload, copy_to_buffer(&result)));
            Ok(())
        }
    }
}

/// Reads memory into the data of a packet. What is refused reads as zeros.
fn read_out(
    address: u64,
    bytes: u32,
    payload: &mut Vec<u8>,
    memory: &mut impl MemoryPort,
) -> Result<(), DeviceFault> {
    keep_buffer(std::mem::replace(payload, take_buffer(bytes as usize)));
    memory.read_bytes(address, payload).inspect_err(|_| payload.fill(0))
}

/// A recipient carries a write out on its own memory. What is no write does nothing.
///
/// # Errors
/// Whatever the memory refuses.
pub fn write_out(
    packet: &NocPacket,
    data: &[u8],
    memory: &mut impl MemoryPort,
) -> Result<(), DeviceFault> {
    match packet.kind {
        PacketKind::Write { address, shape, header_copy, .. } => {
            write_shaped(address, shape, data, memory)?;
            if let Some(copy) = header_copy {
                let end = data.len().min(HEADER_BYTES as usize);
                memory.write_bytes(copy, &data[..end])?;
            }
            Ok(())
        }
        PacketKind::InlineWrite { address, .. } => memory.write_bytes(address, data),
        PacketKind::Read { .. } | PacketKind::Atomic { .. } => Ok(()),
    }
}

fn word_at(block: &[u8; 16], index: usize) -> u32 {
    let at = 4 * index;
    u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
}

/// Writes the bytes a shape selects; runs of selected bytes are written at once.
fn write_shaped(
    address: u64,
    shape: WriteShape,
    data: &[u8],
    memory: &mut impl MemoryPort,
) -> Result<(), DeviceFault> {
    let mask = match shape {
        WriteShape::Span(_) => return memory.write_bytes(address, data),
        WriteShape::Masked(mask) => mask,
    };
    let selected = |at: usize| mask >> at & 1 != 0;
    let mut at = 0;
    while at < data.len() {
        let start = at;
        while at < data.len() && selected(at) {
            at += 1;
        }
        if start < at {
            memory.write_bytes(address + start as u64, &data[start..at])?;
        } else {
            at += 1;
        }
    }
    Ok(())
}

/// A response arrives at the initiating tile.
fn respond(entry: &InFlight, memory: &mut impl MemoryPort) -> Result<(), DeviceFault> {
    // A read of nothing has nothing to wait for.
    if entry.packet.needs_foreign_data() && entry.payload.is_empty() {
        return Err(no_such_tile(&entry.packet));
    }
    match entry.packet.kind {
        PacketKind::Read { destination, .. } => memory.write_bytes(destination, &entry.payload),
        PacketKind::Atomic { result, .. } => memory.write_bytes(result, &entry.payload),
        PacketKind::Write { .. } | PacketKind::InlineWrite { .. } => Ok(()),
    }
}

fn no_such_tile(packet: &NocPacket) -> DeviceFault {
    let (verb, noc, at) = match packet.kind {
        PacketKind::Atomic { .. } => ("atomic on", packet.noc, packet.address()),
        _ => ("read from", packet.noc, packet.address()),
    };
    let place = match packet.target() {
        Target::Unicast { tile: Coordinate { x, y }, .. } => format!("tile ({x}, {y})"),
        Target::Broadcast { .. } => "other tiles".to_owned(),
    };
    let text = format!("NoC {noc} {verb} {place} address {at:#x}: only one tile is simulated");
    DeviceFault::new(Category::Unsupported, "noc-no-such-tile", text)
}

/// A write that left the tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SunkWrite {
    /// When the other tile would have carried it out.
    pub cycle: Cycle,
    /// The request.
    pub packet: NocPacket,
    /// Its data; for a byte-enabled write all bytes up to the last enabled one.
    pub data: Vec<u8>,
}

/// Stands in for the rest of the chip: absorbs and acknowledges writes, keeps the first of them
/// for inspection, and refuses what would need data.
#[derive(Clone, Debug, Default)]
pub struct HostSink {
    writes: Vec<SunkWrite>,
    total: u64,
}

impl HostSink {
    /// Most writes that are kept; later ones are only counted.
    pub const KEPT: usize = 4096;

    /// An empty sink.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses, before it is launched, a request that needs another tile's data.
    ///
    /// # Errors
    /// `noc-no-such-tile`.
    pub fn check(packet: &NocPacket) -> Result<(), DeviceFault> {
        if packet.needs_foreign_data() { Err(no_such_tile(packet)) } else { Ok(()) }
    }

    /// Absorbs what [`perform`] handed out.
    pub fn absorb(&mut self, access: ForeignAccess, cycle: Cycle) {
        self.total += 1;
        if self.writes.len() < Self::KEPT {
            self.writes.push(SunkWrite { cycle, packet: access.packet, data: access.data });
        }
    }

    /// The first [`HostSink::KEPT`] writes, oldest first.
    #[must_use]
    pub fn writes(&self) -> &[SunkWrite] {
        &self.writes
    }

    /// How many accesses were absorbed.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Adds what was absorbed to a state hash.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        hasher.u64(self.total);
        for write in &self.writes {
            hasher.u64(write.cycle.0);
            write.packet.hash_state(hasher);
            hasher.u64(write.data.len() as u64);
            hasher.bytes(&write.data);
        }
    }
}
