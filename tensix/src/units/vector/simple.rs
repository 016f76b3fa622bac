//! Lane functions of the simple sub-unit: `(operands, mode) -> result`, one lane, no state.
//!
//! Source of each: the instruction's page, `[isa-bh: TensixCoprocessor/SFP*.md]`, which for the
//! instructions that did not change refers to `[isa-wh: TensixCoprocessor/SFP*.md]`.

use super::tables::{EXPONENTIAL, RECIPROCAL};
use super::{LANES, LReg};

const SIGN: u32 = 0x8000_0000;
const EXPONENT: u32 = 0x7F80_0000;
const MANTISSA: u32 = 0x7F_FFFF;

/// SFPABS: of FP32 (mode bit 0), where a negative NaN stays, or of two's complement. The page would
/// keep negative infinity too; the reference does not `[spec: numerics 5.2]`.
#[inline(always)]
pub(super) const fn absolute(float: bool, c: u32) -> u32 {
    if c < SIGN || float && c > SIGN | EXPONENT {
        c
    } else if float {
        c & !SIGN
    } else {
        c.wrapping_neg()
    }
}

/// SFPDIVP2: replaces the exponent or (mode bit 0) adds to it, wrapping.
#[inline(always)]
pub(super) const fn divide_power2(add: bool, imm: u32, c: u32) -> u32 {
    let exponent = c >> 23 & 0xFF;
    let exponent = match (add, exponent) {
        (false, _) => imm,
        (true, 255) => 255,
        (true, exponent) => exponent + imm,
    };
    c & !EXPONENT | (exponent & 0xFF) << 23
}

/// SFPEXEXP: the exponent, less its bias unless mode bit 0.
#[inline(always)]
pub(super) const fn exponent(raw: bool, c: u32) -> u32 {
    let exponent = c >> 23 & 0xFF;
    if raw { exponent } else { exponent.wrapping_sub(127) }
}

/// SFPEXMAN: the mantissa, with the hidden bit unless mode bit 0.
#[inline(always)]
pub(super) const fn mantissa(bare: bool, c: u32) -> u32 {
    c & MANTISSA | if bare { 0 } else { 0x80_0000 }
}

/// SFPIADD: bit 0 adds the immediate, bit 1 subtracts `b`.
#[inline(always)]
pub(super) const fn add_integer(mod1: u32, imm: u32, b: u32, c: u32) -> u32 {
    match mod1 & 3 {
        0 => c.wrapping_add(b),
        2 => c.wrapping_sub(b),
        _ => c.wrapping_add(imm),
    }
}

/// Shift left by a positive amount, right by a negative one, both modulo 32.
#[inline(always)]
pub(super) const fn shift(arithmetic: bool, value: u32, amount: u32) -> u32 {
    let amount = amount.cast_signed();
    let by = amount.unsigned_abs() & 31;
    if amount >= 0 {
        value << by
    } else if arithmetic {
        (value.cast_signed() >> by).cast_unsigned()
    } else {
        value >> by
    }
}

/// SFPSHFT: bit 0 immediate amount, bit 1 arithmetic, bit 2 shift `c` instead of `b`. Bit 2 without
/// bit 0 and bit 3 are ignored, as silicon does.
#[inline(always)]
pub(super) const fn shift_any(mod1: u32, imm: u32, b: u32, c: u32) -> u32 {
    let arithmetic = mod1 & 2 != 0;
    match mod1 & 5 {
        1 => shift(arithmetic, b, imm),
        5 => shift(arithmetic, c, imm),
        _ => shift(arithmetic, b, c),
    }
}

/// SFPSETEXP: bit 0 from the immediate, bit 1 from the exponent of `b`, else from its low byte.
#[inline(always)]
pub(super) const fn set_exponent(mod1: u32, imm: u32, b: u32, c: u32) -> u32 {
    let exponent = if mod1 & 1 != 0 {
        imm
    } else if mod1 & 2 != 0 {
        b >> 23
    } else {
        b
    };
    c & !EXPONENT | (exponent & 0xFF) << 23
}

/// SFPSETMAN: from the immediate (bit 0), whose 12 bits are the highest ones, or from `b`.
#[inline(always)]
pub(super) const fn set_mantissa(mod1: u32, imm: u32, b: u32, c: u32) -> u32 {
    let mantissa = if mod1 & 1 != 0 { imm << 11 } else { b };
    c & !MANTISSA | mantissa & MANTISSA
}

/// SFPSETSGN: from the immediate (bit 0) or from `b`.
#[inline(always)]
pub(super) const fn set_sign(mod1: u32, imm: u32, b: u32, c: u32) -> u32 {
    let sign = if mod1 & 1 != 0 { imm << 31 } else { b & SIGN };
    c & !SIGN | sign
}

/// Whether `c` is below `d` as sign-magnitude numbers, which is also the total order of FP32:
/// -NaN < -infinity < ... < -0 < +0 < ... < +infinity < +NaN.
#[inline(always)]
pub(super) const fn is_smaller(c: u32, d: u32) -> bool {
    ordered(c) < ordered(d)
}

/// The lanes in which `c` is below `d` in that order.
pub(super) fn smaller_lanes(c: &LReg, d: &LReg) -> u32 {
    vectorise::run(
        #[inline(always)]
        || {
            let mut smaller = 0;
            for lane in 0..LANES {
                smaller |= u32::from(is_smaller(c[lane], d[lane])) << lane;
            }
            smaller
        },
    )
}

/// Sign-magnitude to an integer in the same order; -0 is -1.
#[inline(always)]
const fn ordered(value: u32) -> i32 {
    let value = value.cast_signed();
    value ^ (value >> 31 & i32::MAX)
}

/// SFPCAST of a sign-magnitude integer to FP32, without rounding, and the 32 bits of the magnitude
/// moved up until the first is set: the low eight of them were cut off.
#[inline(always)]
const fn to_float(c: u32) -> (u32, u32) {
    let magnitude = c & !SIGN;
    if magnitude == 0 {
        return (c, 0);
    }
    let zeros = magnitude.leading_zeros();
    let normal = magnitude << zeros;
    // The hidden bit adds one to the exponent.
    (c & SIGN | (((157 - zeros) << 23) + (normal >> 8)), normal)
}

/// SFPCAST to FP32, to nearest, ties to even.
#[inline(always)]
pub(super) const fn to_float_nearest(c: u32) -> u32 {
    let (float, normal) = to_float(c);
    float + (normal & 0x80 != 0 && normal & 0x17F != 0) as u32
}

/// SFPCAST to FP32, rounded by seven random bits.
#[inline(always)]
pub(super) const fn to_float_stochastic(c: u32, random: u32) -> u32 {
    let (float, normal) = to_float(c);
    float + (normal & 0xFE > random >> 9 & 0xFE) as u32
}

/// SFPCAST between two's complement and sign-magnitude: the same function both ways. -2^31 and -0
/// become each other.
#[inline(always)]
pub(super) const fn flip_representation(c: u32) -> u32 {
    if c & SIGN == 0 { c } else { SIGN | c.wrapping_neg() }
}

/// SFPARECIP: 1/x of a magnitude to seven bits.
#[inline(always)]
pub(super) const fn reciprocal(magnitude: u32) -> u32 {
    match magnitude {
        0..0x0080_0000 => EXPONENT,
        0x0080_0000..0x7E80_0000 => {
            let mantissa = RECIPROCAL[(magnitude >> 16 & 0x7F) as usize];
            (253 - (magnitude >> 23)) << 23 | (mantissa as u32) << 16
        }
        _ => 0,
    }
}

/// SFPARECIP: e^x of a magnitude to seven bits; the low half stays that of the operand. From 2 on
/// the result is of no use.
#[inline(always)]
pub(super) const fn exponential(magnitude: u32) -> u32 {
    const FIRST: u32 = 0x3C80;
    let index = (magnitude >> 16).wrapping_sub(FIRST) as usize;
    let low = magnitude & 0xFFFF;
    let entry = if index < EXPONENTIAL.len() { EXPONENTIAL[index] as u32 } else { 0 };
    match magnitude {
        0..0x0080_0000 => 0x3F80_0000,
        0x0080_0000..0x3C80_0000 => 0x3F81_0000 | low,
        0x3C80_0000..0x3F32_0000 => 0x3F80_0000 | entry << 16 | low,
        0x3F32_0000..0x4000_0000 => 0x4000_0000 | entry << 16 | low,
        _ => 0x4080_0000 | low,
    }
}

/// SFPARECIP: mode 0 keeps the sign around 1/x, mode 1 takes 1/|x| where `b` is negative and `c`
/// elsewhere, every other mode keeps the sign around e^|x|.
#[inline(always)]
pub(super) const fn approximate(mod1: u32, b: u32, c: u32) -> u32 {
    let (sign, magnitude) = (c & SIGN, c & !SIGN);
    match mod1 {
        0 => sign | reciprocal(magnitude),
        1 if b & SIGN != 0 => reciprocal(magnitude),
        1 => c,
        _ => sign | exponential(magnitude),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_keeps_a_negative_nan_and_the_least_integer() {
        // [isa-wh: SFPABS.md]; negative infinity [spec: numerics 5.2].
        for (float, c, expected) in [
            (true, 0xBF80_0000, 0x3F80_0000),
            (true, 0xFF80_0001, 0xFF80_0001),
            (true, 0xFF80_0000, 0x7F80_0000),
            (false, 0xFFFF_FFFF, 1),
            (false, 0x8000_0000, 0x8000_0000),
        ] {
            assert_eq!(absolute(float, c), expected);
        }
    }

    #[test]
    fn divide_power2_wraps_and_keeps_infinity() {
        // [isa-wh: SFPDIVP2.md]
        assert_eq!(divide_power2(true, 0xFF, 0x3F80_0000), 0x3F00_0000);
        assert_eq!(divide_power2(true, 2, 0x7F00_0000), 0x0000_0000);
        assert_eq!(divide_power2(true, 1, 0xFF80_0000), 0xFF80_0000);
        assert_eq!(divide_power2(false, 1, 0xFF80_0001), 0x8080_0001);
    }

    #[test]
    fn shift_takes_the_amount_modulo_32() {
        // [isa-bh: SFPSHFT.md]
        assert_eq!(shift(false, 3, 33), 6);
        assert_eq!(shift(false, 0x8000_0000, 31_u32.wrapping_neg()), 1);
        assert_eq!(shift(true, 0x8000_0000, 31_u32.wrapping_neg()), u32::MAX);
        assert_eq!(shift(true, 8, 32_u32.wrapping_neg()), 8);
        assert_eq!(
            (shift_any(1, 4, 1, 2), shift_any(5, 4, 1, 2), shift_any(4, 9, 1, 2)),
            (16, 32, 4)
        );
    }

    #[test]
    fn comparison_is_the_total_order() {
        // [isa-bh: SFPLE.md]: -NaN < -inf < -1 < -0 < +0 < 1 < inf < NaN.
        let order = [
            0xFFC0_0000,
            0xFF80_0000,
            0xBF80_0000,
            0x8000_0000,
            0,
            0x3F80_0000,
            0x7F80_0000,
            0x7FC0_0000,
        ];
        for (i, &low) in order.iter().enumerate() {
            for (j, &high) in order.iter().enumerate() {
                assert_eq!(is_smaller(low, high), i < j);
            }
        }
    }

    #[test]
    fn casts_to_float_round_like_the_host() {
        // Host conversion rounds to nearest even; sign-magnitude negation is a sign flip.
        for c in [0, 1, 0xFF_FFFF, 0x100_0001, 0x100_0003, 0x7FFF_FFFF, 0x7FFF_FFC0, 0x1234_5678] {
            let host = (c as f32).to_bits();
            assert_eq!(to_float_nearest(c), host);
            assert_eq!(to_float_nearest(c | SIGN), host | SIGN);
        }
    }

    #[test]
    fn stochastic_cast_compares_the_first_seven_lost_bits() {
        // [isa-bh: SFPCAST_IntFloat.md]: 2^24 + 1 loses one half, which is 0x80 of 0xFE.
        let random = |bits: u32| bits << 9;
        assert_eq!(to_float_stochastic(0x100_0001, random(0x80)), 0x4B80_0000);
        assert_eq!(to_float_stochastic(0x100_0001, random(0x7E)), 0x4B80_0001);
    }

    #[test]
    fn representations_convert_both_ways() {
        // [isa-bh: SFPCAST_IntInt.md]
        for (c, expected) in [(5, 5), (0xFFFF_FFFB, 0x8000_0005), (0x8000_0000, 0x8000_0000)] {
            assert_eq!(flip_representation(c), expected);
            assert_eq!(flip_representation(expected), c);
        }
    }

    #[test]
    fn approximations_have_the_documented_values() {
        // [isa-bh: SFPARECIP.md]: 1/1 is 0.99609375, e^1 is 2.703125; edges of the ranges.
        assert_eq!(f32::from_bits(approximate(0, 0, 0x3F80_0000)), 0.996_093_75);
        assert_eq!(f32::from_bits(approximate(2, 0, 0xBF80_0000)), -2.703_125);
        assert_eq!(approximate(0, 0, SIGN), 0xFF80_0000);
        assert_eq!(approximate(0, 0, 0x7E80_0000), 0);
        assert_eq!(approximate(1, SIGN, 0xBF80_0000), 0x3F7F_0000);
        assert_eq!(approximate(1, 0, 0xBF80_0000), 0xBF80_0000);
        assert_eq!(approximate(2, 0, 0), 0x3F80_0000);
        assert_eq!(approximate(2, 0, 0x4000_1234), 0x4080_1234);
    }
}
