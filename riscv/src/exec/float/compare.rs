//! Sign injection, minimum and maximum, comparison, classification.
//!
//! Denormals are ordinary numbers here; only the multiply-add flushes them
//! `[spec: numerics 6]` `[isa-bh: TensixTile/BabyRISCV/InstructionSet.md]`.

use super::format::Format;
use super::{FloatResult, INVALID};

/// Where the result of a sign injection gets its sign.
#[derive(Clone, Copy)]
pub(super) enum SignFrom {
    /// `fsgnj`: the second operand.
    Second,
    /// `fsgnjn`: the second operand, inverted.
    SecondInverted,
    /// `fsgnjx`: both operands' signs differ.
    Both,
}

/// The relation that a comparison tests.
#[derive(Clone, Copy)]
pub(super) enum Relation {
    /// `feq`, quiet: only a signalling NaN is invalid.
    Equal,
    /// `flt`: any NaN is invalid.
    Less,
    /// `fle`: any NaN is invalid.
    LessOrEqual,
}

/// The first operand with the sign that `from` selects. NaNs keep their payload.
pub(super) const fn inject_sign(format: Format, from: SignFrom, a: u32, b: u32) -> FloatResult {
    let sign = match from {
        SignFrom::Second => b,
        SignFrom::SecondInverted => !b,
        SignFrom::Both => a ^ b,
    };
    FloatResult { value: format.magnitude(a) | format.sign_of(sign), flags: 0 }
}

/// Orders finite values and infinities; both zeros are equal.
const fn key(format: Format, bits: u32) -> i32 {
    let magnitude = format.magnitude(bits) as i32;
    if format.sign_of(bits) == 0 { magnitude } else { -magnitude }
}

const fn invalid_if(condition: bool) -> u8 {
    if condition { INVALID } else { 0 }
}

const fn any_signaling(format: Format, a: u32, b: u32) -> bool {
    format.is_signaling(a) || format.is_signaling(b)
}

/// `fmin` or, with `maximum`, `fmax`: a number wins over a NaN, two NaNs give the canonical one,
/// -0 is less than +0.
pub(super) const fn select(format: Format, maximum: bool, a: u32, b: u32) -> FloatResult {
    let flags = invalid_if(any_signaling(format, a, b));
    let value = match (format.is_nan(a), format.is_nan(b)) {
        (true, true) => format.canonical_nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let (ka, kb) = (key(format, a), key(format, b));
            if ka == kb {
                // Equal but for the sign of a zero.
                if maximum { a & b } else { a | b }
            } else if (ka < kb) != maximum {
                a
            } else {
                b
            }
        }
    };
    FloatResult { value, flags }
}

/// 1 if the relation holds, else 0; a NaN is in no relation to anything.
pub(super) const fn compare(format: Format, relation: Relation, a: u32, b: u32) -> FloatResult {
    let unordered = format.is_nan(a) || format.is_nan(b);
    let (ka, kb) = (key(format, a), key(format, b));
    let (holds, invalid) = match relation {
        Relation::Equal => (ka == kb, any_signaling(format, a, b)),
        Relation::Less => (ka < kb, unordered),
        Relation::LessOrEqual => (ka <= kb, unordered),
    };
    FloatResult { value: (holds && !unordered) as u32, flags: invalid_if(invalid) }
}

/// `fclass`: one bit of ten, from negative infinity (0) to quiet NaN (9).
pub(super) const fn classify(format: Format, bits: u32) -> FloatResult {
    let negative = format.sign_of(bits) != 0;
    let class = if format.is_nan(bits) {
        if format.is_signaling(bits) { 8 } else { 9 }
    } else {
        // Distance from zero: 0 zero, 1 denormal, 2 normal, 3 infinite.
        let distance = if format.is_infinite(bits) {
            3
        } else if format.exponent_of(bits) != 0 {
            2
        } else if format.mantissa_of(bits) != 0 {
            1
        } else {
            0
        };
        if negative { 3 - distance } else { 4 + distance }
    };
    FloatResult { value: 1 << class, flags: 0 }
}
