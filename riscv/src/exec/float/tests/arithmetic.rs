//! `fadd.s`, `fsub.s` and `fmul.s` against the host's IEEE arithmetic with denormals flushed on
//! both sides; NX, OF and UF against sums and products that are exact in f64.

use proptest::prelude::*;

use super::super::{FloatMode, FloatOp, INEXACT, INVALID, OVERFLOW, UNDERFLOW, execute};
use super::model::two_sum;
use super::{FP16, SINGLES, single};

const OPS: [FloatOp; 3] = [FloatOp::FaddS, FloatOp::FsubS, FloatOp::FmulS];

fn flush(value: f32) -> f32 {
    if value.is_subnormal() { 0.0_f32.copysign(value) } else { value }
}

fn is_signaling(value: f32) -> bool {
    value.is_nan() && value.to_bits() & 0x0040_0000 == 0
}

/// Result, exact result as a sum of two f64.
fn host(op: FloatOp, a: f32, b: f32) -> (f32, (f64, f64)) {
    let (wide_a, wide_b) = (f64::from(a), f64::from(b));
    match op {
        FloatOp::FaddS => (a + b, two_sum(wide_a, wide_b)),
        FloatOp::FsubS => (a - b, two_sum(wide_a, -wide_b)),
        _ => (a * b, (wide_a * wide_b, 0.0)),
    }
}

fn assert_as_host(op: FloatOp, a: u32, b: u32) {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let (rounded, (exact, residue)) = host(op, flush(x), flush(y));
    let expected = flush(rounded);
    let bits = if expected.is_nan() { 0x7FC0_0000 } else { expected.to_bits() };
    let made_nan = expected.is_nan() && !x.is_nan() && !y.is_nan();
    let invalid = made_nan || is_signaling(x) || is_signaling(y);
    let inexact = exact.is_finite() && (f64::from(expected) != exact || residue != 0.0);
    let mut flags = 0;
    flags |= if invalid { INVALID } else { 0 };
    flags |= if inexact { INEXACT } else { 0 };
    flags |= if inexact && expected.is_infinite() { OVERFLOW } else { 0 };
    flags |= if inexact && expected == 0.0 { UNDERFLOW } else { 0 };
    let result = single(op, a, b, 0);
    assert_eq!((result.value, result.flags), (bits, flags), "{op:?} {a:#010x} {b:#010x}");
}

#[test]
fn all_pairs_of_special_values_equal_the_host() {
    for op in OPS {
        for a in SINGLES {
            for b in SINGLES {
                assert_as_host(op, a, b);
            }
        }
    }
}

#[test]
fn rounding_mode_bits_have_no_effect() {
    for rm in 0..8 {
        let mode = FloatMode { rm, ..FP16 };
        // 1 + 2^-24 is a tie, 2.5 another.
        assert_eq!(execute(FloatOp::FaddS, 0x3F80_0000, 0x3380_0000, 0, mode).value, 0x3F80_0000);
        assert_eq!(execute(FloatOp::FcvtWS, 0x4020_0000, 0, 0, mode).value, 2);
        assert_eq!(execute(FloatOp::FcvtWS, 0x4060_0000, 0, 0, mode).value, 4);
    }
}

#[test]
fn denormal_times_infinity_is_invalid() {
    let result = single(FloatOp::FmulS, 0x0000_0001, 0x7F80_0000, 0);
    assert_eq!((result.value, result.flags), (0x7FC0_0000, INVALID));
}

#[test]
fn product_just_below_the_normal_range_rounds_up_to_it() {
    // (1 + 2^-23) * (1 - 2^-24) * 2^-126 is between the largest denormal and the smallest normal
    // number, nearer to the latter.
    let result = single(FloatOp::FmulS, 0x0080_0001, 0x3F7F_FFFF, 0);
    assert_eq!(result.value, 0x0080_0000);
    let below = single(FloatOp::FmulS, 0x0080_0000, 0x3F7F_FFFE, 0);
    assert_eq!((below.value, below.flags), (0, UNDERFLOW | INEXACT));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_bit_patterns_equal_the_host(a: u32, b: u32, op in 0_usize..3) {
        assert_as_host(OPS[op], a, b);
    }

    #[test]
    fn close_exponents_equal_the_host(
        a: u32, b: u32, exponent in 1_u32..254, distance in -28_i32..=28, op in 0_usize..2,
    ) {
        let other = exponent.saturating_add_signed(distance).clamp(1, 254);
        let with = |bits: u32, exponent: u32| bits & 0x807F_FFFF | exponent << 23;
        assert_as_host(OPS[op], with(a, exponent), with(b, other));
    }

    #[test]
    fn products_near_underflow_equal_the_host(a: u32, b: u32, exponent in 1_u32..130, d in 0_u32..5) {
        let with = |bits: u32, exponent: u32| bits & 0x807F_FFFF | exponent << 23;
        let other = 128_u32.saturating_sub(exponent).saturating_sub(2) + d;
        assert_as_host(FloatOp::FmulS, with(a, exponent), with(b, other.clamp(1, 254)));
    }
}
