//! Whole rows: what nearly every `UNPACR` does, in a straight line.
//!
//! An instruction is of this kind if its datums are neither compressed nor upsampled nor replaced by
//! zeroes, and both its input and its output consist of whole rows of 16, one after the other. All
//! addresses are then known to be good before it begins, and sixteen datums at a time are read as
//! words of L1, converted in an array of fixed length, and written as one row. Everything else takes
//! the general path of [`super::run`], which does the same with more questions; a test compares.

use super::addr::{Input, read_byte};
use super::format::{Layout, Normalise, bf16_cell_from_bfp8};
use super::run::{L1_BITS, Run};
use super::sink::{COLUMNS, Rows, Sink, SrcRows};
use crate::env::Env;
use crate::state::src::SRC_ROWS;
use crate::units::Fault;

/// Datums of a row.
const ROW: u32 = COLUMNS as u32;

/// A row of cells.
type Cells = [u32; COLUMNS];

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
        // The last row begins where no address has wrapped yet, or wrapping does nothing, and ends
        // inside L1.
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
            && (settings.fifo.size == 0 || last <= settings.fifo.limit * 8)
            && last <= L1_BITS - row_bits;
        if is_plain { sink.rows(position / ROW, rows) } else { None }
    }

    /// Moves all rows of an instruction of the common kind.
    ///
    /// # Errors
    /// `UndefinedBehavior` for shared exponents outside L1 or that do not fit.
    pub(super) fn move_rows(&self, input: Input, rows: Rows<'_>) -> Result<(), Fault> {
        let conversion = self.settings.conversion;
        let input = Cursor {
            at: (input.datums / 8) as u32,
            exponents: input.exponents,
            exponent: self.settings.forced_exponent.unwrap_or(0),
        };
        match (rows, self.settings.datum_bits, conversion.normalise, conversion.layout) {
            // The formats that kernels use most are converted word by word on their way.
            (Rows::Src(to), 16, Normalise::Keep, Layout::SrcBf16) => {
                self.straight::<8>(input, to, |out, i, word, _| {
                    out[2 * i] = (word & 0xFFFF) << 3;
                    out[2 * i + 1] = word >> 16 << 3;
                })
            }
            (Rows::Src(to), 16, Normalise::Keep, Layout::SrcFp16) => {
                self.straight::<8>(input, to, |out, i, word, _| {
                    out[2 * i] = (word & 0x8000) << 3 | word & 0x7FFF;
                    out[2 * i + 1] = word >> 31 << 18 | word >> 16 & 0x7FFF;
                })
            }
            (Rows::Src(to), 32, Normalise::Keep, Layout::SrcTf32) => {
                self.straight::<16>(input, to, |out, i, word, _| out[i] = word >> 13)
            }
            (Rows::Src(to), 8, Normalise::Bf16FromBfp { shift: 0 }, Layout::SrcBf16) => self
                .straight::<4>(input, to, |out, i, word, exponent| {
                    for byte in 0..4 {
                        out[4 * i + byte] = bf16_cell_from_bfp8(word >> (8 * byte), exponent);
                    }
                }),
            (Rows::Src(to), 4, Normalise::Bf16FromBfp { shift: 4 }, Layout::SrcBf16) => self
                .straight::<2>(input, to, |out, i, word, exponent| {
                    for nibble in 0..8 {
                        let datum = word >> (4 * nibble) << 4;
                        out[8 * i + nibble] = bf16_cell_from_bfp8(datum, exponent);
                    }
                }),
            (rows, 2, ..) => self.converted::<1, 2>(input, rows),
            (rows, 4, ..) => self.converted::<2, 4>(input, rows),
            (rows, 8, ..) => self.converted::<4, 8>(input, rows),
            (rows, 16, ..) => self.converted::<8, 16>(input, rows),
            (rows, ..) => self.converted::<16, 32>(input, rows),
        }
    }

    /// Rows of `WORDS` words, of which `put` puts each into its cells, given its number and the
    /// shared exponent.
    #[inline(always)]
    fn straight<const WORDS: usize>(
        &self,
        mut input: Cursor,
        to: SrcRows<'_>,
        put: impl Fn(&mut Cells, usize, u32, u8),
    ) -> Result<(), Fault> {
        let SrcRows { cells, first, count } = to;
        for row in first..first + count {
            let exponent = input.exponent(self)?;
            let out = &mut cells[row as usize % SRC_ROWS];
            self.env.l1_visit::<WORDS>(input.at, |i, word| put(out, i, word, exponent));
            input.at = input.at.wrapping_add(WORDS as u32 * 4);
        }
        Ok(())
    }

    /// Rows of `WORDS` words of datums of `BITS` bits, converted a row at a time.
    #[inline(always)]
    fn converted<const WORDS: usize, const BITS: usize>(
        &self,
        mut input: Cursor,
        mut rows: Rows<'_>,
    ) -> Result<(), Fault> {
        let conversion = self.settings.conversion;
        for row in 0..rows.count() {
            let exponent = input.exponent(self)?;
            let mut datums = [0; COLUMNS];
            self.env.l1_visit::<WORDS>(input.at, |i, word| {
                for part in 0..32 / BITS {
                    datums[i * (32 / BITS) + part] =
                        word >> (BITS * part) & (u32::MAX >> (32 - BITS));
                }
            });
            input.at = input.at.wrapping_add(WORDS as u32 * 4);
            if !conversion.apply(&mut datums, exponent) {
                self.exponent_unfit(exponent)?;
            }
            rows.write(row, &datums);
        }
        Ok(())
    }
}

/// Where the rows come from.
#[derive(Clone, Copy)]
struct Cursor {
    /// Byte address of the next row.
    at: u32,
    /// Its shared exponent in sixteenths of a byte; `None` if all rows have the same.
    exponents: Option<u64>,
    exponent: u8,
}

impl Cursor {
    /// The next row's shared exponent.
    #[inline(always)]
    fn exponent<E: Env>(&mut self, run: &Run<'_, E>) -> Result<u8, Fault> {
        if let Some(at) = &mut self.exponents {
            self.exponent = read_byte(run.issued, run.env, *at / 16)?;
            *at = run.settings.wrap_exponent(*at + 16);
        }
        Ok(self.exponent)
    }
}
