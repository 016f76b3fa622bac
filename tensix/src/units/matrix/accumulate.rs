//! The adder behind the multipliers: up to two sums and Dst, aligned, added, rounded once.
//!
//! Source: `[spec: numerics 3.2]`. A value is an exponent and a signed integer whose 1.0 is 2^23.
//! Without branches: a loop over columns is compiled for the host's vector registers.

use crate::state::dst::{
    DST_COLUMNS, Dst, DstMap, decode_bf16, decode_fp16, decode_fp32, encode_bf16, encode_fp16,
    encode_fp32,
};

/// A row of Dst as patterns: sign, eight exponent bits, 23 mantissa bits; an FP16 has its five
/// exponent bits, not rebiased, at the bottom of the exponent field.
pub(crate) type Patterns = [u32; DST_COLUMNS];

/// One sum. The value is below 2^29.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Term {
    pub(crate) exponent: i32,
    pub(crate) value: i32,
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

    #[inline(always)]
    fn load(dst: &Dst, map: DstMap, row: u32) -> Patterns {
        let mut values = dst.read32(map, row);
        for value in &mut values {
            *value = decode_fp32(*value);
        }
        values
    }

    #[inline(always)]
    fn store(dst: &mut Dst, map: DstMap, row: u32, values: &Patterns) {
        let mut stored = [0; DST_COLUMNS];
        for (stored, &value) in stored.iter_mut().zip(values) {
            *stored = encode_fp32(value);
        }
        dst.write32(map, row, &stored);
    }
}

impl Target for Bf16 {
    const PRECISION: u32 = 8;
    const NARROW: bool = false;

    #[inline(always)]
    fn load(dst: &Dst, map: DstMap, row: u32) -> Patterns {
        let mut values = [0; DST_COLUMNS];
        for (value, cell) in values.iter_mut().zip(dst.read16(map, row)) {
            *value = u32::from(decode_bf16(cell)) << 16;
        }
        values
    }

    #[inline(always)]
    fn store(dst: &mut Dst, map: DstMap, row: u32, values: &Patterns) {
        let mut stored = [0; DST_COLUMNS];
        for (stored, &value) in stored.iter_mut().zip(values) {
            *stored = encode_bf16((value >> 16) as u16);
        }
        dst.write16(map, row, &stored);
    }
}

impl Target for Fp16 {
    const PRECISION: u32 = 11;
    const NARROW: bool = true;

    #[inline(always)]
    fn load(dst: &Dst, map: DstMap, row: u32) -> Patterns {
        let mut values = [0; DST_COLUMNS];
        for (value, cell) in values.iter_mut().zip(dst.read16(map, row)) {
            let cell = u32::from(decode_fp16(cell));
            *value = (cell & 0x8000) << 16 | (cell & 0x7FFF) << 13;
        }
        values
    }

    #[inline(always)]
    fn store(dst: &mut Dst, map: DstMap, row: u32, values: &Patterns) {
        let mut stored = [0; DST_COLUMNS];
        for (stored, &value) in stored.iter_mut().zip(values) {
            *stored = encode_fp16((value >> 16 & 0x8000) as u16 | (value >> 13 & 0x7FFF) as u16);
        }
        dst.write16(map, row, &stored);
    }
}

/// `yes` if the condition holds, else `no`.
#[inline(always)]
pub(crate) const fn choose(condition: bool, yes: u32, no: u32) -> u32 {
    if condition { yes } else { no }
}

/// Shifts a value right to exponent `top`, ties up; for half-words also rounds it to a multiple of
/// 2^13. For sums that is the rule as it stands; Dst rounds its magnitude.
#[inline(always)]
fn align<T: Target>(value: i32, exponent: i32, top: i32) -> i32 {
    // 31 already leaves nothing of a value below 2^29.
    let distance = ((top - exponent) as u32).min(31);
    let aligned = (((value << 1) >> (distance & 31)) + 1) >> 1;
    if T::PRECISION == 24 { aligned } else { (aligned + (1 << 12)) & !0x1FFF }
}

/// Adds two sums to Dst, as patterns. Never yields -0, a denormal or a NaN.
#[inline(always)]
pub(crate) fn accumulate<T: Target>(first: Term, second: Term, dst: u32) -> u32 {
    let exponent = (dst >> 23 & 0xFF) as i32;
    let magnitude = choose(exponent == 0, 0, dst & 0x7F_FFFF | 0x80_0000) as i32;
    let top = first.exponent.max(second.exponent).max(exponent);
    let sign = dst as i32 >> 31;
    let sum = align::<T>(first.value, first.exponent, top)
        + align::<T>(second.value, second.exponent, top)
        + ((align::<T>(magnitude, exponent, top) ^ sign) - sign);
    let result = normalise::<T>(sum, top);
    choose((top <= 0) | (sum == 0), 0, result)
}

/// Rounds a value that is not zero, its magnitude half up, to the target's precision.
#[inline(always)]
pub(super) fn normalise<T: Target>(value: i32, top: i32) -> u32 {
    let magnitude = value.unsigned_abs();
    let zeros = magnitude.leading_zeros();
    // Up to bit 31 first, so that one right shift does the rounding.
    let rounded = ((magnitude << (zeros & 31) >> (31 - T::PRECISION)) + 1) >> 1;
    // A carry leaves only zeros behind, so the mantissa needs no further shift.
    let exponent = top + 8 - zeros as i32 + (rounded >> T::PRECISION) as i32;
    let mantissa = rounded << (24 - T::PRECISION) & 0x7F_FFFF;
    let (limit, largest) = if T::NARROW { (32, 31 << 23 | 0x3FF << 13) } else { (255, 255 << 23) };
    let pattern = choose(exponent >= limit, largest, (exponent << 23) as u32 | mantissa);
    choose(exponent <= 0, 0, value as u32 & 0x8000_0000 | pattern)
}
