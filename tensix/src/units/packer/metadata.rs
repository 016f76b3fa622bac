//! What TDMA-RISC shows and sets of the packer and the unpackers.
//!
//! Blackhole has one packer where Wormhole had four; the registers of the other three read as
//! zero and take nothing [unknown: U-003].
//!
//! Source: `[isa-wh: TensixTile/TDMA-RISC.md]`.

use sim_core::{StateHasher, ThreadId};

use super::Packer;

/// Tiles that the FIFO holds. No source states the depth; that of TDMA-RISC's command queue is
/// taken [unknown: U-080].
const DEPTH: usize = 4;

/// Size in 16-byte units and zero flags of a finished tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Tile {
    size: u16,
    zero_flags: u32,
}

/// Finished tiles that no core has asked about yet, oldest first.
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
    pub(crate) fn reset_sizes(&mut self, value: u32) {
        if value >> 16 & 1 != 0 {
            self.tile.accumulated = [0; 3];
            self.tile.dest_offset = value as u16;
        }
    }

    /// Size of the last tile in 16-byte units, if `thread` packed it; else 0.
    pub(crate) fn packed_size(&self, thread: ThreadId) -> u16 {
        let own = usize::from(self.tile.last_thread) == thread.index();
        if own { self.tile.last_size } else { 0 }
    }

    /// Sizes of the tiles that `thread` packed, added up.
    pub(crate) fn accumulated_size(&self, thread: ThreadId) -> u16 {
        self.tile.accumulated[thread.index()]
    }

    /// Size of the oldest tile in the metadata FIFO; `None` if it is empty.
    pub(crate) fn peek_metadata(&self) -> Option<u32> {
        (self.metadata.len != 0).then(|| u32::from(self.metadata.tiles[0].size))
    }

    /// Takes the oldest tile out of the metadata FIFO: its zero flags, zero if there is none.
    pub(crate) fn pop_metadata(&mut self) -> u32 {
        self.metadata.pop().zero_flags
    }

    /// State of the four metadata FIFOs: bit 2 *i* is empty, bit 2 *i* + 1 is full.
    pub(crate) fn metadata_status(&self) -> u32 {
        match usize::from(self.metadata.len) {
            0 => 0x55,
            DEPTH => 0x56,
            _ => 0x54,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coprocessor, TimingModel};

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
