//! What TDMA-RISC shows and sets of the packer and the unpackers.
//!
//! Blackhole has one packer where Wormhole had four; the registers of the other three read as
//! zero and take nothing [unknown: U-003].
//!
//! Source: `[isa-wh: TensixTile/TDMA-RISC.md]`.

use sim_core::{StateHasher, ThreadId};

use super::Packer;
use crate::coprocessor::Coprocessor;
use isa::op::Unit;

/// Tiles that the FIFO holds. No source states the depth; that of TDMA-RISC's command queue is
/// taken [unknown: U-080].
const DEPTH: usize = 4;

/// Size in 16-byte units and zero flags of a finished tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Tile {
    size: u16,
    zero_flags: u32,
}

/// Finished tiles that nobody has asked about yet, oldest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MetadataFifo {
    tiles: [Tile; DEPTH],
    len: u8,
}

impl MetadataFifo {
    /// Appends a finished tile; it is lost if the FIFO is full.
    pub(crate) fn push(&mut self, size: u16, zero_flags: u32) {
        if let Some(slot) = self.tiles.get_mut(usize::from(self.len)) {
            *slot = Tile { size, zero_flags };
            self.len += 1;
        }
    }

    fn pop(&mut self) -> Tile {
        let oldest = self.tiles[0];
        self.tiles.rotate_left(1);
        self.tiles[DEPTH - 1] = Tile::default();
        self.len = self.len.saturating_sub(1);
        oldest
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { tiles, len } = self;
        hasher.u8(*len);
        for &Tile { size, zero_flags } in tiles {
            hasher.words(&[u32::from(size), zero_flags]);
        }
    }
}

impl Packer {
    /// `ResetPackerAccTileSize`: bit 16 selects this packer; the low half is what output addresses
    /// get added under `Add_l1_dest_addr_offset`.
    fn reset_sizes(&mut self, value: u32) {
        if value >> 16 & 1 != 0 {
            self.tile.accumulated = [0; 3];
            self.tile.dest_offset = value as u16;
        }
    }
}

impl Coprocessor {
    /// Size of the last tile of packer `packer` in 16-byte units, if `thread` packed it; else 0.
    #[must_use]
    pub fn packed_size(&self, packer: u32, thread: ThreadId) -> u32 {
        let report = &self.backend.packer.tile;
        let own = packer == 0 && usize::from(report.last_thread) == thread.index();
        if own { u32::from(report.last_size) } else { 0 }
    }

    /// Low half: sizes of the tiles that `thread` packed on packer `packer`, added up. High half: the
    /// low half of what `UNPACR_NOP` accumulated on unpacker `packer & 1`.
    #[must_use]
    pub fn accumulated_sizes(&self, packer: u32, thread: ThreadId) -> u32 {
        let sizes = self.backend.packer.tile.accumulated[thread.index()];
        let messages = self.backend.unpackers.register_accumulator((packer & 1) as usize);
        messages << 16 | if packer == 0 { u32::from(sizes) } else { 0 }
    }

    /// A store to one of the accumulated sizes: bit 16 + *i* resets those of packer *i* and sets
    /// its address offset to the low half.
    pub fn reset_packed_sizes(&mut self, value: u32) {
        self.backend.packer.reset_sizes(value);
    }

    /// Zero flags of the latest tile of packer `packer`, one bit per compression row.
    #[must_use]
    pub fn zero_flags(&self, packer: u32) -> u32 {
        if packer == 0 { self.backend.packer.tile.all_zero } else { 0 }
    }

    /// Size of the oldest tile in the metadata FIFO of packer `packer`; `None` if it is empty, which
    /// the register waits for.
    #[must_use]
    pub fn peek_metadata(&self, packer: u32) -> Option<u32> {
        let fifo = &self.backend.packer.metadata;
        (packer == 0 && fifo.len != 0).then(|| u32::from(fifo.tiles[0].size))
    }

    /// Takes the oldest tile out of the metadata FIFO of packer `packer`: its zero flags. Of an empty
    /// FIFO they are undefined; here they are zero.
    pub fn pop_metadata(&mut self, packer: u32) -> u32 {
        if packer == 0 { self.backend.packer.metadata.pop().zero_flags } else { 0 }
    }

    /// State of the four metadata FIFOs: bit 2 *i* is empty, bit 2 *i* + 1 is full.
    #[must_use]
    pub fn metadata_status(&self) -> u32 {
        match usize::from(self.backend.packer.metadata.len) {
            0 => 0x55,
            DEPTH => 0x56,
            _ => 0x54,
        }
    }

    /// Bits 30:27: packer *i* works for thread T2; bit 31: bit 16 of what `UNPACR_NOP` accumulated
    /// on unpacker `unpacker`.
    #[must_use]
    pub fn packer_status(&self, unpacker: usize) -> u32 {
        let busy = self.backend.occupancy.runs(Unit::Packer, Some(ThreadId::T2));
        let messages = self.backend.unpackers.register_accumulator(unpacker & 1);
        u32::from(busy) << 27 | (messages >> 16 & 1) << 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimingModel;

    #[test]
    fn fifo_keeps_order_and_drops_what_finds_it_full() {
        // [isa-wh: TDMA-RISC.md]: pushed only if not full; Pop gives the flags of what Peek showed.
        let mut tensix = Coprocessor::new(TimingModel::Unit);
        assert_eq!((tensix.peek_metadata(0), tensix.metadata_status()), (None, 0x55));
        for size in 1..=5 {
            tensix.backend.packer.metadata.push(size, u32::from(size) << 8);
        }
        assert_eq!(tensix.metadata_status(), 0x56);
        for size in 1..=4 {
            assert_eq!(tensix.peek_metadata(0), Some(size));
            assert_eq!(tensix.pop_metadata(0), size << 8);
        }
        assert_eq!((tensix.peek_metadata(0), tensix.metadata_status()), (None, 0x55));
        assert_eq!(tensix.peek_metadata(1), None);
    }

    #[test]
    fn sizes_belong_to_packer_0_and_reset_sets_the_offset() {
        let mut tensix = Coprocessor::new(TimingModel::Unit);
        let report = &mut tensix.backend.packer.tile;
        (report.last_size, report.last_thread, report.accumulated) = (65, 2, [1, 2, 130]);
        assert_eq!(tensix.packed_size(0, ThreadId::T2), 65);
        assert_eq!(tensix.packed_size(0, ThreadId::T0), 0);
        assert_eq!(tensix.packed_size(1, ThreadId::T2), 0);
        assert_eq!(tensix.accumulated_sizes(0, ThreadId::T2), 130);
        tensix.reset_packed_sizes(2 << 16 | 7);
        assert_eq!(tensix.accumulated_sizes(0, ThreadId::T2), 130, "packer 1 only");
        tensix.reset_packed_sizes(1 << 16 | 0x123);
        assert_eq!(tensix.accumulated_sizes(0, ThreadId::T2), 0);
        assert_eq!(tensix.backend.packer.tile.dest_offset, 0x123);
    }
}
