//! Tiles of a section of Dst that one side reads, and into which nobody has written.
//!
//! Pack clears the section that it gives back `[llk: llk_lib/llk_pack_common.h]`. A result fills a part of a tile only where that is what the operation
//! computes, a column or a row of sums: so it is tiles of which nothing at all is valid that are told.

use sim_core::Stamp;

/// Rows of a tile of Dst `[hdr: tensix_types.h]`.
pub(super) const TILE_ROWS: u32 = 64;
/// Rows that an SFPLOAD reads `[isa-bh: TensixCoprocessor/SFPLOAD.md]`, and are looked at together.
const GROUP_ROWS: u32 = 4;
/// Tiles of all 1,024 rows.
const TILES: usize = 16;

/// What is read of one tile.
#[derive(Clone, Copy, Debug)]
struct Read {
    first: Stamp,
    /// Groups of rows that have been read, and those of which some were valid when they were read first: the vector
    /// unit may have written itself what it reads again.
    seen: u16,
    held: u16,
}

/// The tiles that were read of a section.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TileReads([Option<Read>; TILES]);

impl TileReads {
    /// An instruction reads a row, or rows from there on, of which some are valid or none.
    pub(super) fn read(&mut self, stamp: Stamp, row: u16, held: bool) {
        let row = u32::from(row);
        let tile = (row / TILE_ROWS) as usize % TILES;
        let group = 1 << (row % TILE_ROWS / GROUP_ROWS);
        let read = self.0[tile].get_or_insert(Read { first: stamp, seen: 0, held: 0 });
        if read.seen & group == 0 {
            read.seen |= group;
            read.held |= if held { group } else { 0 };
        }
    }

    /// The side is done with the section: the first row of a tile of which it has found nothing, and where it has read
    /// that first.
    pub(super) fn take(&mut self) -> Option<(u32, Stamp)> {
        let tiles = std::mem::take(self).0;
        let mut found = (0_u32..).zip(tiles).filter_map(|(tile, read)| Some((tile, read?)));
        let (tile, read) = found.find(|(_, read)| read.held == 0)?;
        Some((tile * TILE_ROWS, read.first))
    }
}

#[cfg(test)]
mod tests {
    use sim_core::{AgentId, ThreadId};

    use super::*;
    use crate::testing::at;

    /// Reads of rows, with whether they are valid; the row and the pc of what is told.
    fn told(reads: &[(u16, bool)]) -> Option<(u32, u32)> {
        let mut tiles = TileReads::default();
        for (pc, (row, held)) in (0..).zip(reads) {
            tiles.read(at(1, AgentId::Thread(ThreadId::T1), pc), *row, *held);
        }
        let found = tiles.take().map(|(row, stamp)| (row, stamp.pc));
        assert_eq!(tiles.take(), None, "the next section begins anew");
        found
    }

    #[test]
    fn tile_of_which_nothing_is_valid_is_told() {
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[(0, true), (64, false), (68, false)]), Some((64, 1)));
        assert_eq!(told(&[(0, true), (16, false), (32, true), (48, false)]), None, "a column");
        // What is read again was written meanwhile.
        assert_eq!(told(&[(512, false), (512, true), (515, true)]), Some((512, 0)));
        assert_eq!(told(&[(512, false), (516, true)]), None);
        assert_eq!(told(&[(960, false), (1023, false)]), Some((960, 0)));
    }
}
