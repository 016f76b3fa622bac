//! What unpack takes from L1, without the row that nobody counts on.
//!
//! The vendor's untilize fills a bank row by row and gives it to math with one more `UNPACR`, which has to take a row,
//! too `[hdr: tt-llk llk_unpack_untilize.h]`: from wherever the address stands by then, behind the last tile of the
//! block at its end. Math does not look at that row.

use isa::op::Opcode;
use isa::operands::Unpacr;
use sim_core::{Event, Stamp};

use super::circular::Violation;

/// Bytes at an address that were read.
type Read = (Stamp, (u32, u32));

/// What each unpacker has done for its bank, and what is still to be seen of the last instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct Unpacked {
    /// Rows have come to the bank in front of the instruction that gives it away.
    has_rows: [bool; 2],
    /// The last instruction only gives the bank away, unless it takes more than a row:
    gives_only: bool,
    /// its first row,
    row: Option<Read>,
    /// and what was found wrong with it.
    found: Option<Violation>,
}

impl Unpacked {
    /// Takes an event, and what was found wrong with it. Gives what is to be said.
    pub(super) fn event(&mut self, event: &Event, found: Option<Violation>) -> Option<Violation> {
        let Event::Issue { word, .. } = *event else { return found };
        if Opcode::from_word(word) != Some(Opcode::Unpacr) {
            return found;
        }
        let Unpacr { unpack_block_selection, set_dat_valid, .. } = Unpacr::of(word);
        let before = &mut self.has_rows[usize::from(unpack_block_selection)];
        self.gives_only = set_dat_valid && *before;
        *before = !set_dat_valid;
        (self.row, self.found) = (None, None);
        if !self.gives_only {
            return found;
        }
        self.found = found;
        None
    }

    /// Takes a row that an instruction reads. Gives the rows to be looked at, and what is to be said.
    pub(super) fn read(&mut self, row: Read) -> ([Option<Read>; 2], Option<Violation>) {
        if !self.gives_only {
            return ([None, Some(row)], None);
        }
        let Some(first) = self.row.take() else {
            self.row = Some(row);
            return ([None; 2], None);
        };
        self.gives_only = false;
        ([Some(first), Some(row)], self.found.take())
    }
}

#[cfg(test)]
mod tests {
    use sim_core::observer::Slot;
    use sim_core::{AgentId, Cycle, ThreadId};

    use super::*;
    use crate::why::hazards as h;

    const UNPACR: u32 = 0x4200_0000;

    fn stamp() -> Stamp {
        Stamp { cycle: Cycle(1), agent: AgentId::Thread(ThreadId::T0), pc: 0xD000 }
    }

    fn issue(unpacked: &mut Unpacked, gives: bool) -> bool {
        let bit = Opcode::Unpacr.row().arg("set_dat_valid").expect("a row").lo;
        let word = UNPACR | u32::from(gives) << bit;
        let event = Event::Issue { thread: ThreadId::T0, word, slot: Slot::default() };
        unpacked.event(&event, Some((stamp(), h::B5, String::new()))).is_some()
    }

    fn looked_at(unpacked: &mut Unpacked, rows: u32) -> (usize, bool) {
        let reads = (0..rows).map(|row| unpacked.read((stamp(), (row * 32, 32))));
        let (rows, said): (Vec<_>, Vec<_>) = reads.unzip();
        (rows.into_iter().flatten().flatten().count(), said.iter().any(Option::is_some))
    }

    #[test]
    fn row_that_comes_with_giving_the_bank_away_is_not_looked_at() {
        let mut unpacked = Unpacked::default();
        assert!(issue(&mut unpacked, false));
        assert_eq!(looked_at(&mut unpacked, 1), (1, false));
        assert!(!issue(&mut unpacked, true));
        assert_eq!(looked_at(&mut unpacked, 1), (0, false));
    }

    #[test]
    fn rows_of_a_bank_that_one_instruction_fills_or_ends_are_looked_at() {
        let mut unpacked = Unpacked::default();
        assert!(issue(&mut unpacked, true), "the only row of a bank");
        assert_eq!(looked_at(&mut unpacked, 1), (1, false));
        issue(&mut unpacked, false);
        assert!(!issue(&mut unpacked, true));
        assert_eq!(looked_at(&mut unpacked, 16), (16, true), "a whole face");
    }
}
