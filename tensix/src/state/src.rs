//! SrcA and SrcB: contents, and who may access which bank.
//!
//! Two banks each; a bank belongs to the unpackers or to the matrix unit, and each side has a
//! pointer to the bank it uses next `[isa-wh: TensixCoprocessor/SrcASrcB.md]`.

use sim_core::StateHasher;
use zero_pages::ZeroPages;

/// Rows of a bank.
pub(crate) const SRC_ROWS: usize = 64;
/// Columns of a bank.
pub(crate) const SRC_COLUMNS: usize = 16;

/// One bank: 64 rows of 16 cells. A cell is 19 bits in logical order, sign 18, exponent 17:10,
/// mantissa 9:0: the shuffled physical order cannot be observed except by bit casts
/// `[spec: numerics 1.2]`.
pub(crate) type SrcCells = [[u32; SRC_COLUMNS]; SRC_ROWS];

/// One source operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SrcBanks {
    /// Contents of both banks.
    pub(crate) cells: ZeroPages<[SrcCells; 2]>,
    /// Format code the unpacker recorded when it handed the bank over `[spec: numerics 1.2]`.
    pub(crate) implied_format: [u8; 2],
    /// Who owns and uses which bank: [`OWNED`], [`UNPACKER`], [`MATRIX`]. Waits look at all of it at once.
    ownership: u8,
}

/// The bits of banks 0 and 1 that are owned by the matrix unit, else by the unpackers;
const OWNED: u8 = 1;
/// the bank that the unpacker uses next,
const UNPACKER: u8 = 1 << 2;
/// and the one that the matrix unit uses next.
const MATRIX: u8 = 1 << 3;

impl Default for SrcBanks {
    fn default() -> Self {
        Self {
            // As in Dst, most are never touched.
            cells: ZeroPages::new(),
            implied_format: [0; 2],
            ownership: 0,
        }
    }
}

impl SrcBanks {
    /// Ownership and pointers as soft reset leaves them; contents stay.
    pub(crate) fn reset_ownership(&mut self) {
        self.ownership = 0;
    }

    /// Whether a bank is owned by the matrix unit, else by the unpackers.
    #[inline]
    pub(crate) const fn owned_by_matrix(&self, bank: bool) -> bool {
        self.ownership & OWNED << bank as u8 != 0
    }

    /// Gives a bank to the matrix unit, or to the unpackers.
    pub(crate) const fn give(&mut self, bank: bool, to_matrix: bool) {
        let bit = OWNED << bank as u8;
        self.ownership = if to_matrix { self.ownership | bit } else { self.ownership & !bit };
    }

    /// Bank the unpacker uses next.
    #[inline]
    pub(crate) const fn unpacker_bank(&self) -> bool {
        self.ownership & UNPACKER != 0
    }

    /// Bank the matrix unit uses next.
    #[inline]
    pub(crate) const fn matrix_bank(&self) -> bool {
        self.ownership & MATRIX != 0
    }

    /// Gives the unpacker's bank to the matrix unit, with the format of its contents, and turns
    /// the unpacker to the other bank: the end of an `UNPACR`, or `SETDVALID`.
    pub(crate) fn unpacker_release(&mut self, format: u8) {
        let bank = self.unpacker_bank();
        self.give(bank, true);
        self.implied_format[usize::from(bank)] = format;
        self.ownership ^= UNPACKER;
    }

    /// Gives the matrix unit's bank to the unpackers (`hand_over`) and turns the matrix unit to
    /// the other bank (`flip`).
    pub(crate) fn matrix_release(&mut self, hand_over: bool, flip: bool) {
        if hand_over {
            self.give(self.matrix_bank(), false);
        }
        if flip {
            self.ownership ^= MATRIX;
        }
    }

    /// The bank that the matrix unit uses, and the format recorded for it.
    #[inline]
    pub(crate) fn matrix_side(&self) -> (&SrcCells, u8) {
        let bank = usize::from(self.matrix_bank());
        (&self.cells[bank], self.implied_format[bank])
    }

    /// The bank that the matrix unit uses, to write to it.
    #[inline]
    pub(crate) fn matrix_side_mut(&mut self) -> &mut SrcCells {
        let bank = usize::from(self.matrix_bank());
        &mut self.cells[bank]
    }

    /// The bank that the unpacker uses, to write to it.
    #[inline]
    pub(crate) fn unpacker_side_mut(&mut self) -> &mut SrcCells {
        let bank = usize::from(self.unpacker_bank());
        &mut self.cells[bank]
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { cells, implied_format, ownership: _ } = self;
        for row in cells.iter().flatten() {
            hasher.words(row);
        }
        hasher.bytes(implied_format);
        let owned = [false, true].map(|bank| self.owned_by_matrix(bank));
        for flag in owned.into_iter().chain([self.unpacker_bank(), self.matrix_bank()]) {
            hasher.bool(flag);
        }
    }

    /// Ownership and pointers as [`sim_core::Event::SrcBanks`] shows them.
    #[inline]
    pub(crate) const fn ownership(&self) -> u8 {
        self.ownership
    }

    /// Conditions C5 and C6: the unpacker's bank is not its own.
    pub(crate) fn unpacker_waits(&self) -> bool {
        self.owned_by_matrix(self.unpacker_bank())
    }

    /// Conditions C7 and C8: the matrix unit's bank is not its own.
    pub(crate) fn matrix_waits(&self) -> bool {
        !self.owned_by_matrix(self.matrix_bank())
    }
}

/// Cell of a BF16 `s e8 m7`; its mantissa fills the top seven of ten bits. Also how the 16 bits of
/// an INT16 lie in a cell, once decoded as if they were a BF16 of Dst `[spec: numerics 1.2]`.
#[inline]
pub(crate) const fn cell_of_bf16(value: u16) -> u32 {
    (value as u32) << 3
}

/// Cell of an FP16 `s e5 m10`; the exponent is zero-extended, not rebiased.
#[inline]
pub(crate) const fn cell_of_fp16(value: u16) -> u32 {
    let value = value as u32;
    (value & 0x8000) << 3 | value & 0x7FFF
}

/// Cell of the top 19 bits of an FP32.
#[inline]
pub(crate) const fn cell_of_fp32(value: u32) -> u32 {
    value >> 13
}
