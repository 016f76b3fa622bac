//! The multiply-add that `fadd`, `fsub`, `fmul` and the four fused instructions share.
//!
//! It is the datapath of the vector unit (SFPU): more exact than a product and a sum that round
//! one after the other, less exact than the fused operation of IEEE 754, and without denormals
//! `[isa-bh: TensixTile/BabyRISCV/InstructionSet.md]` `[spec: numerics 5.1, 6]`.
//!
//! In units of the last place of the larger term it keeps three extra bits, the last of them
//! sticky. The known deviations from the fused operation:
//!
//! * a denormal operand counts as zero, and a result below the normal range becomes a zero that
//!   keeps its sign; that is decided after rounding, so the smallest normal value is reachable;
//! * a product that overflows by itself is an infinity, whatever the addend;
//! * a product that underflows by itself is zero;
//! * bits of the product below the three extra ones only leave a sticky bit, which a cancellation
//!   can move into the result;
//! * an operand that alignment shifts out completely does not even leave the sticky bit.
//!
//! For binary16 and BF16 the same datapath with narrower fields is assumed: the documents say that
//! the caveats are the same, not at which bit `[unknown: U-065]`.
//!
//! Flags: the documents say that `fcsr` holds them, the reference simulator has none. They are
//! raised as IEEE 754 asks for the operation as this datapath performs it
//! `[unknown: U-066]`.

use super::format::{Format, Rounding};
use super::{FloatResult, INEXACT, INVALID, OVERFLOW, UNDERFLOW};

/// Bits kept below the last place while adding.
const EXTRA_BITS: u32 = 3;

/// A number taken apart; a denormal is a zero.
#[derive(Clone, Copy)]
struct Unpacked {
    negative: bool,
    /// Biased.
    exponent: i32,
    /// With the hidden bit; 0 for zeros and denormals.
    significand: u64,
}

impl Unpacked {
    const fn new(format: Format, bits: u32) -> Self {
        let exponent = format.exponent_of(bits);
        let hidden = 1 << format.mantissa_bits;
        let significand =
            if exponent == 0 { 0 } else { (format.mantissa_of(bits) | hidden) as u64 };
        Self { negative: format.sign_of(bits) != 0, exponent, significand }
    }
}

/// `x + y`.
pub(super) fn add(format: Format, rounding: Rounding, x: u32, y: u32) -> FloatResult {
    multiply_add(format, rounding, x, format.one(), y)
}

/// `x * y`: adds a zero of the product's sign, so that a zero product keeps its sign.
pub(super) fn multiply(format: Format, rounding: Rounding, x: u32, y: u32) -> FloatResult {
    multiply_add(format, rounding, x, y, format.sign_of(x ^ y))
}

/// `x * y + z`.
pub(super) fn multiply_add(
    format: Format,
    rounding: Rounding,
    x: u32,
    y: u32,
    z: u32,
) -> FloatResult {
    let (ux, uy, uz) =
        (Unpacked::new(format, x), Unpacked::new(format, y), Unpacked::new(format, z));
    let negative = ux.negative != uy.negative;
    if let Some(result) = special(format, [x, y, z], [ux, uy], negative) {
        return result;
    }
    let product_exponent = ux.exponent + uy.exponent - format.bias();
    let sign = if negative { format.sign_bit() } else { 0 };
    if product_exponent >= format.exponent_max() && ux.significand != 0 && uy.significand != 0 {
        let value = sign | format.overflow_magnitude(rounding);
        return FloatResult { value, flags: OVERFLOW | INEXACT };
    }
    let exact = ux.significand * uy.significand;
    if exact == 0 || product_exponent < 0 {
        return without_product(format, z, uz.significand == 0, sign, exact != 0);
    }
    let wide = exact << EXTRA_BITS;
    let (significand, lost) = shift_sticky(wide, format.mantissa_bits);
    let product = Unpacked { negative, exponent: product_exponent, significand };
    let addend = Unpacked { significand: uz.significand << EXTRA_BITS, ..uz };
    sum(format, rounding, product, addend, lost)
}

/// The result if an operand is an infinity or a NaN.
fn special(
    format: Format,
    [x, y, z]: [u32; 3],
    [ux, uy]: [Unpacked; 2],
    negative: bool,
) -> Option<FloatResult> {
    let operands = [x, y, z];
    if operands.iter().all(|&bits| format.magnitude(bits) < format.infinity()) {
        return None;
    }
    let factor_infinite = format.is_infinite(x) || format.is_infinite(y);
    let factor_nan = format.is_nan(x) || format.is_nan(y);
    let factor_zero = ux.significand == 0 || uy.significand == 0;
    let addend_negative = format.sign_of(z) != 0;
    let opposite = factor_infinite && format.is_infinite(z) && addend_negative != negative;
    let invalid = operands.iter().any(|&bits| format.is_signaling(bits))
        || (factor_infinite && factor_zero && !factor_nan)
        || (opposite && !factor_nan);
    if invalid || factor_nan || format.is_nan(z) {
        let flags = if invalid { INVALID } else { 0 };
        return Some(FloatResult { value: format.canonical_nan(), flags });
    }
    if format.is_infinite(z) {
        return Some(FloatResult { value: z, flags: 0 });
    }
    let sign = if negative { format.sign_bit() } else { 0 };
    Some(FloatResult { value: sign | format.infinity(), flags: 0 })
}

/// The result if the product is zero or (`dropped`) underflows by itself: the addend alone.
fn without_product(
    format: Format,
    z: u32,
    addend_zero: bool,
    product_sign: u32,
    dropped: bool,
) -> FloatResult {
    let value = if addend_zero { format.sign_of(z) & product_sign } else { z };
    let flags = match (dropped, addend_zero) {
        (false, _) => 0,
        (true, false) => INEXACT,
        (true, true) => UNDERFLOW | INEXACT,
    };
    FloatResult { value, flags }
}

/// Adds two terms that have [`EXTRA_BITS`] below the last place.
fn sum(format: Format, rounding: Rounding, a: Unpacked, b: Unpacked, lost: bool) -> FloatResult {
    let exponent = a.exponent.max(b.exponent);
    let (a_aligned, a_lost) = align(a.significand, exponent - a.exponent, rounding);
    let (b_aligned, b_lost) = align(b.significand, exponent - b.exponent, rounding);
    let lost = lost || a_lost || b_lost;
    let negative = if a_aligned >= b_aligned { a.negative } else { b.negative };
    let total = if a.negative == b.negative {
        a_aligned + b_aligned
    } else {
        a_aligned.abs_diff(b_aligned)
    };
    if total == 0 {
        // Exact cancellation and a sum of zeros: negative only if both terms are.
        let value = if a.negative && b.negative { format.sign_bit() } else { 0 };
        return FloatResult { value, flags: if lost { INEXACT } else { 0 } };
    }
    let sign = if negative { format.sign_bit() } else { 0 };
    let mut result = normalise(format, rounding, exponent, total, lost);
    result.value |= sign;
    result
}

/// Rounds `total`, whose last place has the weight of a number with biased exponent `exponent`
/// and [`EXTRA_BITS`] more bits, to a magnitude.
fn normalise(
    format: Format,
    rounding: Rounding,
    exponent: i32,
    total: u64,
    lost: bool,
) -> FloatResult {
    let leading = total.ilog2() as i32;
    let mut shift = leading - (format.mantissa_bits + EXTRA_BITS) as i32;
    let mut exponent = exponent + shift;
    if exponent >= format.exponent_max() {
        let value = format.overflow_magnitude(rounding);
        return FloatResult { value, flags: OVERFLOW | INEXACT };
    }
    if exponent <= 0 {
        // One place, however far below the normal range it is: what stays below it is flushed.
        shift += 1;
        exponent = 0;
    }
    let (significand, _) =
        if shift > 0 { shift_sticky(total, shift as u32) } else { (total << -shift, false) };
    let kept = (significand >> EXTRA_BITS) as u32 & format.mantissa_mask();
    let mut value = (exponent as u32) << format.mantissa_bits | kept;
    let rest = significand & ((1 << EXTRA_BITS) - 1);
    let half = 1 << (EXTRA_BITS - 1);
    if rounding == Rounding::NearestEven && rest + u64::from(value & 1) > half {
        value += 1;
    }
    let inexact = if lost || rest != 0 { INEXACT } else { 0 };
    if format.exponent_of(value) == 0 {
        return FloatResult { value: 0, flags: UNDERFLOW | INEXACT };
    }
    if value == format.infinity() {
        return FloatResult { value, flags: OVERFLOW | INEXACT };
    }
    FloatResult { value, flags: inexact }
}

/// `value >> by`; the last bit also stands for the bits shifted out, which the second result
/// reports.
const fn shift_sticky(value: u64, by: u32) -> (u64, bool) {
    let shifted = value >> by;
    let lost = shifted << by != value;
    (shifted | lost as u64, lost)
}

/// Shifts the smaller term to the exponent of the larger one.
///
/// A term that vanishes leaves no sticky bit. No sum that is rounded to nearest can show that; a
/// sum rounded towards zero would, against what its mode says, so there the bit is kept
/// `[unknown: U-065]`.
const fn align(value: u64, by: i32, rounding: Rounding) -> (u64, bool) {
    let by = if by > 63 { 63 } else { by as u32 };
    let vanishes = value >> by == 0;
    if vanishes && matches!(rounding, Rounding::NearestEven) {
        return (0, value != 0);
    }
    shift_sticky(value, by)
}
