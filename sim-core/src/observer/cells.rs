//! Values of the coprocessor that can be looked at between two of its instructions.

use super::event::{Slot, Stamp};
use crate::ids::ThreadId;

/// A value that no event tells of, because it changes too often.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cell {
    /// A cell of Dst as its rows are mapped for the matrix unit.
    Dst {
        /// A row of 32-bit cells, else of 16-bit cells.
        wide: bool,
        /// Row, up to 1,023, of 32-bit cells 511.
        row: u16,
        /// Column, up to 15.
        column: u8,
    },
    /// A cell of SrcA or SrcB.
    Src {
        /// 0 for SrcA, 1 for SrcB.
        operand: u8,
        /// Bank 0 or 1.
        bank: u8,
        /// Row, up to 63.
        row: u8,
        /// Column, up to 15.
        column: u8,
    },
    /// A lane of an LReg.
    LReg {
        /// LReg, up to 16.
        register: u8,
        /// Lane, up to 31.
        lane: u8,
    },
    /// The bank of SrcA or SrcB that the matrix unit uses next.
    MatrixBank {
        /// 0 for SrcA, 1 for SrcB.
        operand: u8,
    },
    /// A general purpose register of a Tensix thread.
    Gpr {
        /// The thread.
        thread: ThreadId,
        /// Register, up to 63.
        index: u8,
    },
}

/// What has just been done when cells are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    /// An instruction is about to execute. What has changed since the last time was done in the background.
    Before {
        /// The instruction.
        word: u32,
    },
    /// It has executed.
    Instruction {
        /// The instruction.
        word: u32,
        /// How the expanders produced it.
        slot: Slot,
    },
    /// A core's access, or the answer of a register, has reached the coprocessor.
    Access,
}

/// Cells as they are at a moment.
pub trait ShowsCells {
    /// The value of a cell; 0 of one that there is not.
    fn cell(&self, cell: Cell) -> u32;
}

/// A moment at which cells are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Glimpse {
    /// When, and whose doing it is.
    pub at: Stamp,
    /// What.
    pub doing: Doing,
}
