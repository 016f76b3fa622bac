//! The adder behind the multipliers: up to two sums and Dst, aligned, added, rounded once.
//!
//! Source: `[spec: numerics 3.2]`. A value is sign, exponent and a magnitude whose 1.0 is 2^23.

use crate::state::dst::{
    DST_COLUMNS, Dst, DstMap, decode_bf16, decode_fp16, decode_fp32, encode_bf16, encode_fp16,
    encode_fp32,
};

/// A row of Dst as patterns: sign, eight exponent bits, 23 mantissa bits; an FP16 has its five
/// exponent bits, not rebiased, at the bottom of the exponent field.
pub(crate) type Patterns = [u32; DST_COLUMNS];

/// One signed sum. `negative` is 0 or 1; the magnitude is below 2^29.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Term {
    pub(crate) negative: u32,
    pub(crate) exponent: i32,
    pub(crate) magnitude: u32,
}

/// What Dst holds.
pub(crate) trait Target {
    /// Mantissa bits kept, with the hidden one.
    const PRECISION: u32;
    /// Five exponent bits.
    const NARROW: bool;
    /// Reads a row.
    fn load(dst: &Dst, map: DstMap, row: u32) -> Patterns;
    /// Writes a row.
    fn store(dst: &mut Dst, map: DstMap, row: u32, values: &Patterns);
}

/// FP32 in words.
#[derive(Debug)]
pub(crate) struct Fp32;
/// BF16 in half-words.
#[derive(Debug)]
pub(crate) struct Bf16;
/// FP16 in half-words.
#[derive(Debug)]
pub(crate) struct Fp16;

impl Target for Fp32 {
    const PRECISION: u32 = 24;
    const NARROW: bool = false;

    #[inline]
    fn load(dst: &Dst, map: DstMap, row: u32) -> Patterns {
        dst.read32(map, row).map(decode_fp32)
    }

    #[inline]
    fn store(dst: &mut Dst, map: DstMap, row: u32, values: &Patterns) {
        dst.write32(map, row, &values.map(encode_fp32));
    }
}

impl Target for Bf16 {
    const PRECISION: u32 = 8;
    const NARROW: bool = false;

    #[inline]
    fn load(dst: &Dst, map: DstMap, row: u32) -> Patterns {
        dst.read16(map, row).map(|cell| u32::from(decode_bf16(cell)) << 16)
    }

    #[inline]
    fn store(dst: &mut Dst, map: DstMap, row: u32, values: &Patterns) {
        dst.write16(map, row, &values.map(|value| encode_bf16((value >> 16) as u16)));
    }
}

impl Target for Fp16 {
    const PRECISION: u32 = 11;
    const NARROW: bool = true;

    #[inline]
    fn load(dst: &Dst, map: DstMap, row: u32) -> Patterns {
        dst.read16(map, row).map(|cell| {
            let value = u32::from(decode_fp16(cell));
            (value & 0x8000) << 16 | (value & 0x7FFF) << 13
        })
    }

    #[inline]
    fn store(dst: &mut Dst, map: DstMap, row: u32, values: &Patterns) {
        dst.write16(
            map,
            row,
            &values.map(|value| {
                encode_fp16((value >> 16 & 0x8000) as u16 | (value >> 13 & 0x7FFF) as u16)
            }),
        );
    }
}

/// Shifts a magnitude right to exponent `top`, ties up, or down if `negative`; for half-words
/// also rounds it to a multiple of 2^13.
#[inline(always)]
fn align<T: Target>(magnitude: u32, negative: u32, exponent: i32, top: i32) -> i32 {
    // 31 already leaves nothing of a magnitude below 2^29.
    let distance = ((top - exponent) as u32).min(31);
    let half = (1u32 << distance) >> 1;
    let down = negative & u32::from(half != 0);
    let mut aligned = (magnitude + half - down) >> distance;
    if T::PRECISION != 24 {
        aligned = (aligned + (1 << 12) - negative) & !0x1FFF;
    }
    aligned as i32
}

/// `-value` if `negative` is 1.
#[inline(always)]
const fn signed(value: i32, negative: u32) -> i32 {
    let mask = -(negative as i32);
    (value ^ mask) - mask
}

/// Adds two sums to Dst, as patterns. Never yields -0, a denormal or a NaN.
#[inline(always)]
pub(crate) fn accumulate<T: Target>(first: Term, second: Term, dst: u32) -> u32 {
    let exponent = (dst >> 23 & 0xFF) as i32;
    let magnitude = if exponent == 0 { 0 } else { dst & 0x7F_FFFF | 0x80_0000 };
    let top = first.exponent.max(second.exponent).max(exponent);
    if top <= 0 {
        return 0;
    }
    let sum =
        signed(align::<T>(first.magnitude, first.negative, first.exponent, top), first.negative)
            + signed(
                align::<T>(second.magnitude, second.negative, second.exponent, top),
                second.negative,
            )
            + signed(align::<T>(magnitude, 0, exponent, top), dst >> 31);
    if sum == 0 {
        return 0;
    }
    normalise::<T>(u32::from(sum < 0), sum.unsigned_abs(), top)
}

/// Rounds a non-zero magnitude, half up, to the target's precision.
#[inline(always)]
fn normalise<T: Target>(negative: u32, magnitude: u32, top: i32) -> u32 {
    let lead = 31 - magnitude.leading_zeros();
    // Up to bit 31 first, so that one right shift does the rounding. The magnitude is below 2^31.
    let left = u64::from(magnitude) << (31 - lead);
    let drop = 32 - T::PRECISION;
    let rounded = (left + (1 << (drop - 1))) >> drop;
    // A carry leaves only zeros behind, so the mantissa needs no further shift.
    let exponent = top + lead as i32 - 23 + (rounded >> T::PRECISION) as i32;
    let mantissa = (rounded as u32) << (24 - T::PRECISION) & 0x7F_FFFF;
    let sign = negative << 31;
    if exponent <= 0 {
        0
    } else if T::NARROW && exponent >= 32 {
        sign | 31 << 23 | 0x3FF << 13
    } else if !T::NARROW && exponent >= 255 {
        sign | 255 << 23
    } else {
        sign | (exponent as u32) << 23 | mantissa
    }
}
