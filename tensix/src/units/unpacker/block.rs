//! Whole rows: what nearly every `UNPACR` does, in a straight line.
//!
//! An instruction is of this kind if its datums are neither compressed nor upsampled nor replaced by
//! zeroes, and both its input and its output consist of whole rows of 16, one after the other. All
//! addresses are then known to be good before it begins, and sixteen datums at a time are read as
//! words of L1, converted in an array of fixed length, and written as one row. Everything else takes
//! the general path of [`super::run`], which does the same with more questions; a test compares.

use super::addr::{Input, read_byte};
use super::format::{Layout, Normalise, bf16_cells_from_bfp8};
use super::run::{L1_BITS, Run};
use super::sink::{COLUMNS, Rows, Sink, write_dst_row};
use crate::env::Env;
use crate::units::Fault;

/// Datums of a row.
const ROW: u32 = COLUMNS as u32;

/// A row of cells, and whether all exponents fitted.
type Converted = ([u32; COLUMNS], bool);

impl<E: Env> Run<'_, E> {
    /// Where the rows of an instruction of the common kind go; `None` if it is not of that kind.
    #[inline]
    pub(super) fn whole_rows<'s>(
        &self,
        input: &Input,
        position: u32,
        sink: &'s mut Sink<'_>,
    ) -> Option<Rows<'s>> {
        let settings = self.settings;
        let rows = input.count / ROW;
        // The last row begins where no address has wrapped yet, and ends inside L1.
        let row_bits = u64::from(settings.datum_bits) * COLUMNS as u64;
        let last = input.datums.checked_add(row_bits * u64::from(rows.saturating_sub(1)))?;
        let is_plain = !self.all_zero
            && settings.uncompressed
            && settings.upsample_zeroes == 0
            && settings.row_stride.is_none()
            && input.count.is_multiple_of(ROW)
            && position.is_multiple_of(ROW)
            && input.datums.is_multiple_of(32)
            && input.exponents.is_none_or(|at| at.is_multiple_of(16))
            && last <= settings.fifo.limit * 8
            && last <= L1_BITS - row_bits;
        if is_plain { sink.rows(position / ROW, rows) } else { None }
    }

    /// Moves all rows of an instruction of the common kind.
    ///
    /// # Errors
    /// `UndefinedBehavior` for shared exponents outside L1 or that do not fit.
    pub(super) fn move_rows(&self, input: Input, rows: Rows<'_>) -> Result<(), Fault> {
        let conversion = self.settings.conversion;
        let slow = |mut row: [u32; COLUMNS], exponent| {
            let fits = conversion.apply(&mut row, exponent);
            (row, fits)
        };
        match (self.settings.datum_bits, conversion.normalise, conversion.layout) {
            // The formats that kernels use most have the conversion inside the loop.
            (16, Normalise::Keep, Layout::SrcBf16) => {
                self.each_row(input, rows, |words, _| (bf16_cells(words), true))
            }
            (32, Normalise::Keep, Layout::SrcTf32) => {
                self.each_row(input, rows, |words: &[u32; 16], _| {
                    (words.map(|word| word >> 13), true)
                })
            }
            (8, Normalise::Bf16FromBfp { shift: 0 }, Layout::SrcBf16) => {
                self.each_row(input, rows, |words, exponent| {
                    (bf16_cells_from_bfp8(&bytes(words), exponent), true)
                })
            }
            (4, Normalise::Bf16FromBfp { shift: 4 }, Layout::SrcBf16) => {
                self.each_row(input, rows, |words, exponent| {
                    let datums = nibbles(words).map(|datum| datum << 4);
                    (bf16_cells_from_bfp8(&datums, exponent), true)
                })
            }
            (2, ..) => self.each_row(input, rows, |words, e| slow(pairs(words), e)),
            (4, ..) => self.each_row(input, rows, |words, e| slow(nibbles(words), e)),
            (8, ..) => self.each_row(input, rows, |words, e| slow(bytes(words), e)),
            (16, ..) => self.each_row(input, rows, |words, e| slow(halves(words), e)),
            _ => self.each_row(input, rows, |words: &[u32; 16], e| slow(*words, e)),
        }
    }

    /// The loop over rows of `WORDS` words.
    #[inline(always)]
    fn each_row<const WORDS: usize>(
        &self,
        input: Input,
        rows: Rows<'_>,
        convert: impl Fn(&[u32; WORDS], u8) -> Converted,
    ) -> Result<(), Fault> {
        let mut at = (input.datums / 8) as u32;
        let mut exponents = input.exponents;
        let mut exponent = self.settings.forced_exponent.unwrap_or(0);
        let mut next = || {
            let words = self.env.l1_words::<WORDS>(at);
            at = at.wrapping_add(WORDS as u32 * 4);
            if let Some(at) = &mut exponents {
                exponent = read_byte(self.issued, self.env, *at / 16)?;
                *at = self.settings.wrap_exponent(*at + 16);
            }
            match convert(&words, exponent) {
                (cells, true) => Ok(cells),
                (_, false) => Err(self.exponent_unfit(exponent)),
            }
        };
        match rows {
            Rows::Src { cells, first, count } => {
                for row in first..first + count {
                    cells[row as usize % cells.len()] = next()?;
                }
            }
            Rows::Dst { dst, map, wide, first, count } => {
                for row in 0..count {
                    write_dst_row(dst, (map, wide), first.wrapping_add(row), &next()?);
                }
            }
        }
        Ok(())
    }
}

/// Cells of sixteen BF16.
#[inline(always)]
fn bf16_cells(words: &[u32; 8]) -> [u32; COLUMNS] {
    let low = words.map(|word| (word & 0xFFFF) << 3);
    let high = words.map(|word| word >> 16 << 3);
    std::array::from_fn(|i| if i % 2 == 0 { low[i / 2] } else { high[i / 2] })
}

/// Sixteen half-words.
#[inline(always)]
fn halves(words: &[u32; 8]) -> [u32; COLUMNS] {
    std::array::from_fn(|i| words[i / 2] >> (16 * (i % 2)) & 0xFFFF)
}

/// Sixteen bytes.
#[inline(always)]
fn bytes(words: &[u32; 4]) -> [u32; COLUMNS] {
    std::array::from_fn(|i| words[i / 4] >> (8 * (i % 4)) & 0xFF)
}

/// Sixteen nibbles.
#[inline(always)]
fn nibbles(words: &[u32; 2]) -> [u32; COLUMNS] {
    std::array::from_fn(|i| words[i / 8] >> (4 * (i % 8)) & 0xF)
}

/// Sixteen pairs of bits.
#[inline(always)]
fn pairs(words: &[u32; 1]) -> [u32; COLUMNS] {
    std::array::from_fn(|i| words[0] >> (2 * i) & 3)
}
