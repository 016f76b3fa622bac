//! The data path: L1, conversion, register file, for one `UNPACR`.
//!
//! Whole rows in their usual place go through [`super::block`], other uncompressed data without
//! upsampling by rows of up to 16. Everything else goes datum by datum,
//! as the documents' functional model does.
//!
//! Source: `[isa-wh: TensixCoprocessor/UNPACR_Regular.md]`.

use sim_core::l1::L1_BYTES;

use super::addr::{Input, outside, read_byte};
use super::settings::Settings;
use super::sink::{COLUMNS, RowOutside, Sink};
use crate::checks::Check;
use crate::env::Env;
use crate::units::{Fault, Issued};

/// Bits of L1.
pub(super) const L1_BITS: u64 = L1_BYTES as u64 * 8;

/// One `UNPACR` in progress.
pub(crate) struct Run<'a, E: Env> {
    pub(crate) issued: &'a Issued,
    pub(crate) settings: &'a Settings,
    pub(crate) env: &'a E,
    /// Write zeroes whatever L1 holds.
    pub(crate) all_zero: bool,
    /// Every datum by itself, whatever the settings.
    pub(crate) piecemeal: bool,
}

impl<E: Env> Run<'_, E> {
    /// Moves all datums.
    ///
    /// # Errors
    /// `UndefinedBehavior` for addresses outside L1, rows outside SrcA, and shared exponents that
    /// do not fit.
    #[inline(always)]
    pub(crate) fn go(&self, input: Input, position: u32, sink: &mut Sink<'_>) -> Result<(), Fault> {
        if self.piecemeal {
            self.datums(input, position, sink)
        } else if let Some(rows) = self.whole_rows(&input, position, sink) {
            self.move_rows(input, rows)
        } else if self.settings.uncompressed && self.settings.upsample_zeroes == 0 {
            self.rows(input, position, sink)
        } else {
            self.datums(input, position, sink)
        }
    }

    /// Row by row.
    pub(super) fn rows(
        &self,
        input: Input,
        mut position: u32,
        sink: &mut Sink<'_>,
    ) -> Result<(), Fault> {
        let mut cursor = Cursor { at: input.datums, group: 0, exponents: input.exponents };
        let mut left = input.count as usize;
        let mut row = [0; COLUMNS];
        while left > 0 {
            let length = left.min(COLUMNS);
            let datums = &mut row[..length];
            if self.all_zero {
                datums.fill(0);
            } else {
                self.fetch(cursor.at, datums)?;
                self.convert_row(&mut cursor, datums)?;
            }
            sink.write(position, datums).or_else(|row| self.row_outside(row))?;
            position = position.wrapping_add(length as u32);
            left -= length;
            let group_bits = u64::from(self.settings.datum_bits) * COLUMNS as u64;
            cursor.at = cursor.at.wrapping_add(group_bits);
            self.end_group(&mut cursor);
        }
        Ok(())
    }

    /// A full group of 16 datums is behind the cursor: where rows are not contiguous, the next one may begin.
    #[inline]
    fn end_group(&self, cursor: &mut Cursor) {
        let settings = self.settings;
        cursor.group += 1;
        if let Some(stride) = settings.row_stride
            && cursor.group.is_multiple_of(settings.groups_per_row())
        {
            let group_bits = u64::from(settings.datum_bits) * COLUMNS as u64;
            let row_bits = group_bits * u64::from(settings.groups_per_row());
            cursor.at = cursor.at.wrapping_sub(row_bits).wrapping_add(u64::from(stride) * 8);
        }
        cursor.at = settings.fifo.wrap(cursor.at, 8);
    }

    /// Reads the datums that begin at bit `at`.
    #[inline]
    fn fetch(&self, at: u64, datums: &mut [u32]) -> Result<(), Fault> {
        let bits = u64::from(self.settings.datum_bits);
        let end = at.checked_add(bits * datums.len() as u64);
        if end.is_none_or(|end| end > L1_BITS) {
            outside(self.issued, at / 8)?;
            return self.fetch_or_zero(at, datums);
        }
        let at = at as u32;
        match self.settings.datum_bits {
            2 => fetch::<2, E>(self.env, at, datums),
            4 => fetch::<4, E>(self.env, at, datums),
            8 => fetch::<8, E>(self.env, at, datums),
            16 => fetch::<16, E>(self.env, at, datums),
            _ => fetch::<32, E>(self.env, at, datums),
        }
        Ok(())
    }

    /// Datums that are not all within L1, where that goes on: those outside are 0.
    #[cold]
    fn fetch_or_zero(&self, at: u64, datums: &mut [u32]) -> Result<(), Fault> {
        if let [datum] = datums {
            *datum = 0;
            return Ok(());
        }
        let bits = u64::from(self.settings.datum_bits);
        let ats = (0..).map(|index| at.wrapping_add(index * bits));
        datums.chunks_mut(1).zip(ats).try_for_each(|(datum, at)| self.fetch(at, datum))
    }

    /// Converts up to 16 consecutive datums, which may have two shared exponents.
    #[inline]
    fn convert_row(&self, cursor: &mut Cursor, datums: &mut [u32]) -> Result<(), Fault> {
        let settings = self.settings;
        let Some(at) = cursor.exponents else {
            return self.convert(datums, settings.forced_exponent.unwrap_or(0));
        };
        let same = (16 - at % 16) as usize;
        if datums.len() < same {
            cursor.exponents = Some(at + datums.len() as u64);
            return self.convert(datums, self.exponent(at)?);
        }
        let (first, second) = datums.split_at_mut(same);
        self.convert(first, self.exponent(at)?)?;
        let next = settings.wrap_exponent(at + same as u64);
        if !second.is_empty() {
            self.convert(second, self.exponent(next)?)?;
        }
        cursor.exponents = Some(next + second.len() as u64);
        Ok(())
    }

    fn exponent(&self, at: u64) -> Result<u8, Fault> {
        read_byte(self.issued, self.env, at / 16)
    }

    #[inline]
    fn convert(&self, datums: &mut [u32], exponent: u8) -> Result<(), Fault> {
        if self.settings.conversion.apply(datums, exponent) {
            return Ok(());
        }
        self.exponent_unfit(exponent)
    }

    #[cold]
    pub(super) fn exponent_unfit(&self, exponent: u8) -> Result<(), Fault> {
        self.issued.refuse(
            Check::UnpackExponent,
            format!("shared exponent {exponent:#x} gives an FP16 exponent of more than five bits"),
        )
    }

    #[cold]
    pub(super) fn row_outside(&self, row: RowOutside) -> Result<(), Fault> {
        self.issued.refuse(
            Check::UnpackRow,
            format!("unpacks into row {} beyond the rows of SrcA it may write", row.0),
        )
    }

    /// Datum by datum, with decompression and upsampling.
    pub(super) fn datums(
        &self,
        input: Input,
        mut position: u32,
        sink: &mut Sink<'_>,
    ) -> Result<(), Fault> {
        let settings = self.settings;
        let mut cursor = Cursor { at: input.datums, group: 0, exponents: input.exponents };
        let mut deltas = input.deltas;
        let (mut drop, mut keep) = (input.drop, input.keep);
        let mut index = 0;
        while index < input.count && keep > 0 {
            let mut datum = [0];
            self.fetch(cursor.at, &mut datum)?;
            self.convert_row(&mut cursor, &mut datum)?;
            index += 1;
            cursor.at += u64::from(settings.datum_bits);
            if index % COLUMNS as u32 == 0 {
                self.end_group(&mut cursor);
            }
            let mut zeroes = 0;
            if let Some(at) = &mut deltas {
                zeroes = read_byte(self.issued, self.env, *at / 8)? >> (*at & 4) & 0xF;
                self.advance_delta(at, &mut cursor);
            }
            if self.all_zero {
                (datum, zeroes) = ([0], 0);
            }
            for _ in 0..=zeroes {
                if drop > 0 {
                    drop -= 1;
                } else {
                    self.emit(&mut position, datum[0], sink)?;
                    keep -= 1;
                    if keep == 0 {
                        break;
                    }
                }
                datum = [0];
            }
        }
        Ok(())
    }

    /// Moves past one RLE value; behind 32 of them, past the block on both sides.
    fn advance_delta(&self, at: &mut u64, cursor: &mut Cursor) {
        *at += 4;
        if at.is_multiple_of(16 * 8) {
            cursor.at += 16 * 8;
            *at += 32 * u64::from(self.settings.datum_bits);
            *at = self.settings.fifo.wrap(*at, 8);
        }
    }

    /// Writes one datum and what upsampling puts behind it.
    fn emit(&self, position: &mut u32, datum: u32, sink: &mut Sink<'_>) -> Result<(), Fault> {
        let settings = self.settings;
        for copy in 0..=settings.upsample_zeroes {
            if copy == 0 || !settings.upsample_interleave {
                let datum = if copy == 0 { datum } else { 0 };
                sink.write(*position, &[datum]).or_else(|row| self.row_outside(row))?;
            }
            *position = position.wrapping_add(1);
        }
        Ok(())
    }
}

/// Where the data path has come to.
struct Cursor {
    /// Next datum, in bits.
    at: u64,
    /// Groups of 16 datums done.
    group: u32,
    /// Next exponent, in sixteenths of a byte.
    exponents: Option<u64>,
}

impl Settings {
    /// Groups of 16 datums in an input row when rows are not contiguous: 32 datums of 16 or 32
    /// bits, 16 of 8 bits or less. The reference says so; the documents always say 16
    /// `[spec: numerics 2]`.
    pub(super) fn groups_per_row(&self) -> u32 {
        if self.datum_bits >= 16 { 2 } else { 1 }
    }

    pub(super) fn wrap_exponent(&self, at: u64) -> u64 {
        if at.is_multiple_of(16 * 16) { self.fifo.wrap(at, 16) } else { at }
    }
}

/// Reads datums of `BITS` bits, aligned to their size, that begin at bit `at`.
#[inline]
fn fetch<const BITS: u32, E: Env>(env: &E, at: u32, datums: &mut [u32]) {
    let mask = u32::MAX >> (32 - BITS);
    let per_word = 32 / BITS;
    match <&mut [u32; COLUMNS]>::try_from(&mut *datums) {
        // A full row from a word boundary on: every word is read once.
        Ok(row) if at.is_multiple_of(32) => {
            let mut word = 0;
            for (index, datum) in (0..).zip(row) {
                let shift = index % per_word * BITS;
                if shift == 0 {
                    word = env.l1_word(at / 8 + index / per_word * 4);
                }
                *datum = word >> shift & mask;
            }
        }
        _ => {
            for (index, datum) in (0..).zip(datums) {
                let at = at + index * BITS;
                *datum = env.l1_word(at / 8) >> (at % 32) & mask;
            }
        }
    }
}
