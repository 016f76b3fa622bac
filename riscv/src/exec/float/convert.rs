//! Conversions: to and from 32-bit integers, and between the formats.
//!
//! The documents name denormal flushing for the multiply-add instructions only, so conversions
//! between formats keep denormals as IEEE 754 does `[unknown: U-068]`.

use super::format::{Format, Rounding};
use super::{FloatResult, INEXACT, INVALID, OVERFLOW, UNDERFLOW};

/// `significand >> by`, rounded; whether anything was lost. `significand` is below 2^62.
const fn shift_rounded(significand: u64, by: u32, rounding: Rounding) -> (u64, bool) {
    if by == 0 {
        return (significand, false);
    }
    // With 63 every such significand is below half a unit.
    let by = if by > 63 { 63 } else { by };
    let kept = significand >> by;
    let rest = significand - (kept << by);
    let half = 1 << (by - 1);
    let up = match rounding {
        Rounding::TowardZero => false,
        Rounding::NearestEven => rest > half || (rest == half && kept & 1 == 1),
    };
    (kept + up as u64, rest != 0)
}

/// Rounds `significand * 2^exponent`, which is not zero, to a magnitude of `format`, with
/// denormals; underflow is detected after rounding `[riscv: F, fflags]`.
fn round_to(format: Format, rounding: Rounding, exponent: i32, significand: u64) -> FloatResult {
    let surplus = significand.ilog2() as i32 - format.mantissa_bits as i32;
    let biased = exponent + surplus + format.mantissa_bits as i32 + format.bias();
    let drop = surplus + (1 - biased).max(0);
    let (rounded, inexact) = if drop > 0 {
        shift_rounded(significand, drop as u32, rounding)
    } else {
        (significand << -drop, false)
    };
    // The hidden bit of a normal number adds one to the exponent field.
    let field = (biased.max(1) - 1) as u32;
    let value = (field << format.mantissa_bits) + rounded as u32;
    if value >= format.infinity() {
        let value = format.overflow_magnitude(rounding);
        return FloatResult { value, flags: OVERFLOW | INEXACT };
    }
    let flags = match (inexact, is_tiny(format, rounding, biased, surplus, significand)) {
        (false, _) => 0,
        (true, false) => INEXACT,
        (true, true) => UNDERFLOW | INEXACT,
    };
    FloatResult { value, flags }
}

/// Whether the value would be below the normal range if rounded with unlimited exponents.
fn is_tiny(
    format: Format,
    rounding: Rounding,
    biased: i32,
    surplus: i32,
    significand: u64,
) -> bool {
    match biased {
        1.. => false,
        0 => {
            let (rounded, _) = shift_rounded(significand, surplus.max(0) as u32, rounding);
            surplus <= 0 || rounded >> (format.mantissa_bits + 1) == 0
        }
        _ => true,
    }
}

/// `fcvt.w` or, unless `signed`, `fcvt.wu`: saturates; a NaN gives the largest integer.
pub(super) fn to_integer(
    format: Format,
    rounding: Rounding,
    signed: bool,
    bits: u32,
) -> FloatResult {
    let negative = format.sign_of(bits) != 0 && !format.is_nan(bits);
    let limit: u64 = match (signed, negative) {
        (true, false) => 0x7FFF_FFFF,
        (true, true) => 0x8000_0000,
        (false, false) => 0xFFFF_FFFF,
        (false, true) => 0,
    };
    let saturated = FloatResult {
        value: if negative { (limit as u32).wrapping_neg() } else { limit as u32 },
        flags: INVALID,
    };
    let field = format.exponent_of(bits);
    if field == format.exponent_max() || field - format.bias() > 32 {
        return saturated;
    }
    let (exponent, significand) = unpack(format, bits);
    let (magnitude, inexact) = if exponent >= 0 {
        (significand << exponent, false)
    } else {
        shift_rounded(significand, exponent.unsigned_abs(), rounding)
    };
    if magnitude > limit {
        return saturated;
    }
    let value = if negative { (magnitude as u32).wrapping_neg() } else { magnitude as u32 };
    FloatResult { value, flags: if inexact { INEXACT } else { 0 } }
}

/// `fcvt.s.w`, `fcvt.h.w` or, unless `signed`, the `.wu` forms.
pub(super) fn from_integer(
    format: Format,
    rounding: Rounding,
    signed: bool,
    value: u32,
) -> FloatResult {
    if value == 0 {
        return FloatResult { value: 0, flags: 0 };
    }
    let negative = signed && value >> 31 == 1;
    let magnitude = if negative { value.wrapping_neg() } else { value };
    let mut result = round_to(format, rounding, 0, u64::from(magnitude));
    result.value |= if negative { format.sign_bit() } else { 0 };
    result
}

/// From one format to another.
pub(super) fn between(from: Format, to: Format, rounding: Rounding, bits: u32) -> FloatResult {
    if from.is_nan(bits) {
        let flags = if from.is_signaling(bits) { INVALID } else { 0 };
        return FloatResult { value: to.canonical_nan(), flags };
    }
    let sign = if from.sign_of(bits) == 0 { 0 } else { to.sign_bit() };
    let mut result = if from.is_infinite(bits) {
        FloatResult { value: to.infinity(), flags: 0 }
    } else if from.magnitude(bits) == 0 {
        FloatResult { value: 0, flags: 0 }
    } else {
        let (exponent, significand) = unpack(from, bits);
        round_to(to, rounding, exponent, significand)
    };
    result.value |= sign;
    result
}

/// Exponent of the last place and significand of a finite value, denormals included.
const fn unpack(format: Format, bits: u32) -> (i32, u64) {
    let field = format.exponent_of(bits);
    let hidden = if field == 0 { 0 } else { 1 << format.mantissa_bits };
    let effective = if field == 0 { 1 } else { field };
    let exponent = effective - format.bias() - format.mantissa_bits as i32;
    (exponent, (format.mantissa_of(bits) | hidden) as u64)
}
