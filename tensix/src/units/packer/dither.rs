//! Stochastic rounding, of the early conversion (`Gasket_srnd_en`) and of datums in blocks
//! (`Packer_srnd_en`).
//!
//! The documents say that it exists, that a fault of the hardware biases it towards greater
//! magnitudes and can grow values that need no rounding, and that resetting the connection to Dst
//! resets its generators `[isa-wh: TensixCoprocessor/Packers/FormatConversion.md,
//! TensixTile/SoftReset.md]`. All of that is so in the vector unit as well, whose generator and
//! comparison are public `[isa-wh: TensixCoprocessor/SFPSTOCHRND_FloatFloat.md]`: they are taken,
//! one generator per column [unknown: U-082].
//!
//! Datums are rounded here, before the conversion that rounds to nearest, which then has nothing
//! left to do.

use super::early::{self, Early, Row};
use crate::state::dst::DST_COLUMNS;
use crate::units::vector::ops::{prng_step, seeded};

/// Random bits that discarded ones are compared with.
const BITS: u32 = 23;

/// The packer's generators, one per column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Dither(pub(crate) [u32; DST_COLUMNS]);

impl Dither {
    /// What a seed in configuration makes of them
    /// `[isa-wh: TensixCoprocessor/BackendConfiguration.md]`: the vector unit's first lanes.
    pub(crate) fn seed(&mut self, seed: u32) {
        self.0.copy_from_slice(&seeded(seed)[..DST_COLUMNS]);
    }

    /// The next number of each column.
    fn advance(&mut self) -> [u32; DST_COLUMNS] {
        let numbers = self.0;
        self.0 = numbers.map(prng_step);
        numbers
    }

    /// Rounds cells of Dst to what `early` keeps.
    pub(crate) fn cells(&mut self, early: Early, row: &mut Row) {
        if !early.rounds() {
            return;
        }
        for (cell, random) in row.iter_mut().zip(self.advance()) {
            *cell = match early {
                Early::Bf16ToE8m6 => {
                    let value = float(early::bf16(*cell) << 16, 17, random);
                    early::bf16_cell(value >> 16)
                }
                Early::Fp16ToE5m6 => early::fp16_cell(e5m6(early::fp16(*cell), random)),
                Early::Tf32 | Early::Tf32ThenFp16 => wide(*cell, 13, random),
                Early::Bf16Round => wide(*cell, 16, random),
                Early::E8m6 => wide(*cell & 0xFFFF_0000, 17, random),
                Early::Int8(shift) | Early::Uint8(shift) => {
                    let value = early::fp32(*cell);
                    let magnitude = drop_bits(value & 0x7FFF_FFFF, shift, random).min(0x7FFF_FFFF);
                    early::fp32_cell(value & 0x8000_0000 | magnitude)
                }
                _ => *cell,
            };
        }
    }

    /// Rounds 16 datums of a block format to what their alignment keeps: patterns with seven bits
    /// of mantissa, of an eight-bit exponent, or of a five-bit one from bit 10 on.
    pub(crate) fn block(&mut self, block: &mut Row, five_bits: bool, own: bool) {
        let (low, field) = if five_bits { (3, 0x1F) } else { (0, 0xFF) };
        let exponent = |value: u32| value >> (low + 7) & field;
        let shared = block.iter().fold(0, |max, &value| max.max(exponent(value)));
        for (value, random) in block.iter_mut().zip(self.advance()) {
            let own_exponent = exponent(*value);
            let distance = if own { 0 } else { shared - own_exponent };
            if own_exponent == 0 || distance >= 8 {
                continue;
            }
            let significand = *value >> low & 0x7F | 0x80;
            *value = match drop_bits(significand, distance + 1, random) {
                0 => 0,
                // Beyond the top of the block there is no exponent: it stays at its greatest.
                256 if distance == 0 => *value & !(0x7F << low) | 0x7E << low,
                256 => *value & 0x8000 | (own_exponent + 1) << (low + 7),
                kept => *value & !(0x7F << low) | (kept & 0x7F) << low,
            };
        }
    }
}

/// `magnitude` without its low `count` bits, rounded away from zero if these reach what `random`
/// says.
const fn drop_bits(magnitude: u32, count: u32, random: u32) -> u32 {
    if count == 0 {
        return magnitude;
    }
    let rest = magnitude & (u32::MAX >> (32 - count));
    let threshold = random & ((1 << BITS) - 1);
    let up = if count > BITS {
        rest >> (count - BITS) >= threshold
    } else {
        rest << (BITS - count) >= threshold
    };
    (magnitude - rest).saturating_add((up as u32) << count)
}

/// An FP32 pattern without its low `count` bits; infinity and NaN as they are.
const fn float(value: u32, count: u32, random: u32) -> u32 {
    if value & 0x7F80_0000 == 0x7F80_0000 {
        return value;
    }
    value & 0x8000_0000 | drop_bits(value & 0x7FFF_FFFF, count, random)
}

/// A 32-bit cell without the low `count` bits of its value.
const fn wide(cell: u32, count: u32, random: u32) -> u32 {
    early::fp32_cell(float(early::fp32(cell), count, random))
}

/// An FP16 pattern rounded to six bits of mantissa; the greatest stay, to be saturated.
const fn e5m6(value: u32, random: u32) -> u32 {
    if value & 0x7FFF >= 0x7FF0 {
        return value;
    }
    value & 0x8000 | drop_bits(value & 0x7FFF, 4, random)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of 4,096 rounded copies of a BF16 cell are not `low`.
    fn grown(early: Early, cell: u32, low: u32) -> usize {
        let mut dither = Dither::default();
        dither.seed(1);
        let mut count = 0;
        for _ in 0..256 {
            let mut row = [cell; DST_COLUMNS];
            dither.cells(early, &mut row);
            early.convert(&mut row);
            count += row.iter().filter(|&&value| value != low).count();
        }
        count
    }

    #[test]
    fn discarded_bits_are_the_chance_to_grow() {
        // 1 + k/4 of the last place kept by BF16, of FP32 cells.
        for (quarters, expected) in [(0, 0), (1, 1024), (2, 2048), (3, 3072)] {
            let cell = early::fp32_cell(0x3F80_0000 | quarters << 14);
            let count = grown(Early::Bf16Round, cell, 0x3F80_0000);
            assert!(count.abs_diff(expected) < 300, "{quarters}/4: {count} of 4096");
        }
    }

    #[test]
    fn infinity_and_the_greatest_stay() {
        for bits in [0x7F80_0000, 0xFF80_0000] {
            assert_eq!(grown(Early::Bf16Round, early::fp32_cell(bits), bits), 0);
        }
        assert_eq!(grown(Early::Fp16ToE5m6, early::fp16_cell(0x7FFF), 0x7FF0_0000), 0);
    }

    #[test]
    fn a_row_that_is_not_rounded_takes_no_numbers() {
        let mut dither = Dither::default();
        dither.seed(7);
        let before = dither;
        dither.cells(Early::Word, &mut [0x1234_5678; DST_COLUMNS]);
        assert_eq!(dither, before);
        dither.cells(Early::Bf16Round, &mut [0; DST_COLUMNS]);
        assert_ne!(dither, before);
    }

    #[test]
    fn datums_of_a_block_are_one_of_their_neighbours() {
        // Significand 0x81 at the top of the block: magnitude 0x40 or 0x41.
        let mut dither = Dither::default();
        dither.seed(3);
        let mut seen = [0; 2];
        for _ in 0..64 {
            let mut block = [0x3F81; DST_COLUMNS];
            dither.block(&mut block, false, false);
            let shared = super::super::late::assemble(&mut block, false, false);
            assert_eq!(shared, 127);
            for magnitude in block {
                seen[(magnitude - 0x40) as usize] += 1;
            }
        }
        assert!(seen[0] > 400 && seen[1] > 400, "{seen:?}");
    }
}
