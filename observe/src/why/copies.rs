//! Tiles that math copies into a section of Dst, and that nobody takes.
//!
//! A copy from SrcA or SrcB is there for the vector unit, for math to go on with, or for pack. One of which none of
//! them reads a single row before pack gives the section back was made for nothing: an operation is left out, or goes by
//! another tile.

use std::collections::VecDeque;

use isa::op::{DstUse, Opcode};
use sim_core::Stamp;

use super::tile_reads::TILE_ROWS;

/// Tiles of all 1,024 rows.
const TILES: usize = 16;

/// The tiles of a section.
#[derive(Clone, Copy, Debug, Default)]
struct Section {
    /// Who has copied to them.
    copied: [Option<Stamp>; TILES],
    /// A bit for each that somebody has read.
    taken: u16,
    /// Somebody has taken data of which the tile is not known: math has moved them back, or the vector unit has
    /// loaded them by a macro.
    any_taken: bool,
}

fn tile_of(row: u32) -> usize {
    (row / TILE_ROWS) as usize % TILES
}

fn takes_any(opcode: Opcode) -> bool {
    opcode == Opcode::Sfploadmacro || opcode.row().dst == DstUse::Reads
}

impl Section {
    fn take(&mut self, row: u32) {
        self.taken |= 1 << tile_of(row);
    }
}

/// The sections that math and pack have in hand.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    own: Section,
    given: VecDeque<Section>,
}

impl Copies {
    /// Math carries out an instruction, the first behind a setting of its row if that is given.
    pub(super) fn math(&mut self, stamp: Stamp, opcode: Opcode, row: Option<u32>) {
        match (opcode, row) {
            (Opcode::Mova2d | Opcode::Movb2d, Some(row)) => {
                self.own.copied[tile_of(row)].get_or_insert(stamp);
            }
            _ => self.own.any_taken |= takes_any(opcode),
        }
    }

    /// Pack carries out an instruction.
    pub(super) fn pack(&mut self, opcode: Opcode) {
        self.given.front_mut().unwrap_or(&mut self.own).any_taken |= takes_any(opcode);
    }

    /// Math reads a row.
    pub(super) fn math_reads(&mut self, row: u32) {
        self.own.take(row);
    }

    /// Pack reads a row.
    pub(super) fn pack_reads(&mut self, row: u32) {
        self.given.front_mut().unwrap_or(&mut self.own).take(row);
    }

    /// Math gives its section to pack.
    pub(super) fn gives(&mut self) {
        self.given.push_back(std::mem::take(&mut self.own));
    }

    /// Pack gives one back: the first row of a tile that nobody has taken, and who has copied it.
    pub(super) fn gives_back(&mut self) -> Option<(u32, Stamp)> {
        let section = self.given.pop_front()?;
        let mut copied = (0_u32..).zip(section.copied);
        let lost = copied.find_map(|(tile, copied)| {
            let stamp = copied.filter(|_| section.taken & 1 << tile == 0)?;
            Some((tile * TILE_ROWS, stamp))
        });
        lost.filter(|_| !section.any_taken)
    }
}

#[cfg(test)]
mod tests {
    use sim_core::{AgentId, ThreadId};

    use super::*;
    use crate::testing::at;

    fn copies(copies: &mut Copies, pc: u32, row: u32) {
        copies.math(at(1, AgentId::Thread(ThreadId::T1), pc), Opcode::Mova2d, Some(row));
    }

    fn lost(copies: &mut Copies) -> Option<(u32, u32)> {
        copies.gives();
        copies.gives_back().map(|(row, stamp)| (row, stamp.pc))
    }

    #[test]
    fn tile_of_which_no_row_is_read_is_lost() {
        let mut all = Copies::default();
        assert_eq!(lost(&mut all), None);
        copies(&mut all, 4, 0);
        copies(&mut all, 8, TILE_ROWS);
        copies(&mut all, 12, TILE_ROWS);
        all.math_reads(3);
        assert_eq!(lost(&mut all), Some((TILE_ROWS, 8)));
        assert_eq!(lost(&mut all), None, "the next section begins anew");
        copies(&mut all, 4, 512);
        all.math_reads(575);
        assert_eq!(lost(&mut all), None);
    }

    #[test]
    fn pack_takes_of_the_section_that_it_was_given() {
        let mut all = Copies::default();
        copies(&mut all, 4, 0);
        all.gives();
        copies(&mut all, 8, 512);
        all.pack_reads(0);
        assert_eq!(all.gives_back(), None);
        all.gives();
        all.pack_reads(0);
        assert_eq!(all.gives_back().map(|(row, stamp)| (row, stamp.pc)), Some((512, 8)));
    }

    #[test]
    fn what_goes_on_from_where_it_was_or_is_moved_back_is_not_looked_at() {
        let mut all = Copies::default();
        let stamp = at(1, AgentId::Thread(ThreadId::T1), 4);
        all.math(stamp, Opcode::Mova2d, None);
        all.math(stamp, Opcode::Elwadd, Some(64));
        assert_eq!(lost(&mut all), None);
        copies(&mut all, 4, 0);
        all.math(stamp, Opcode::Movd2b, None);
        assert_eq!(lost(&mut all), None);
        copies(&mut all, 4, 0);
        all.math(stamp, Opcode::Sfploadmacro, None);
        assert_eq!(lost(&mut all), None);
        copies(&mut all, 4, 0);
        all.gives();
        all.pack(Opcode::Sfploadmacro);
        assert_eq!(all.gives_back(), None);
        copies(&mut all, 4, 0);
        all.math(stamp, Opcode::Sfpstore, None);
        assert!(lost(&mut all).is_some());
    }
}
