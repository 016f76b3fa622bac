//! Conversions: exhaustive over 16-bit inputs, special and random 32-bit inputs, against host
//! arithmetic and the table model.

use proptest::prelude::*;

use super::super::{
    FloatMode, FloatOp, FloatResult, INEXACT, INVALID, OVERFLOW, UNDERFLOW, execute,
};
use super::model::{BF16_LAYOUT, FP16_LAYOUT, Layout};
use super::{BF16_NEAREST, BF16_TRUNCATED, FP16, SINGLES, narrow, single};

const MODES: [(FloatMode, Layout, bool); 3] = [
    (FP16, FP16_LAYOUT, true),
    (BF16_NEAREST, BF16_LAYOUT, true),
    (BF16_TRUNCATED, BF16_LAYOUT, false),
];

fn rounded(value: f64, nearest: bool) -> f64 {
    if nearest { value.round_ties_even() } else { value.trunc() }
}

/// `value` as a saturated integer, as the standard's table of `fcvt` results has it.
fn integer(value: f64, signed: bool, nearest: bool) -> FloatResult {
    let (low, high) = if signed {
        (f64::from(i32::MIN), f64::from(i32::MAX))
    } else {
        (0.0, f64::from(u32::MAX))
    };
    let whole = rounded(value, nearest);
    let clamped = if value.is_nan() { high } else { whole.clamp(low, high) };
    let bits = if signed { clamped as i32 as u32 } else { clamped as u32 };
    let flags = if clamped != whole {
        INVALID
    } else if whole != value {
        INEXACT
    } else {
        0
    };
    FloatResult { value: bits, flags }
}

#[test]
fn half_to_single_is_exact_for_all_patterns() {
    for (mode, layout, _) in MODES {
        for bits in 0..=u16::MAX {
            let result = narrow(FloatOp::FcvtSH, mode, [bits, 0, 0]);
            let expected = if layout.is_nan(bits) {
                0x7FC0_0000
            } else {
                (layout.value(bits) as f32).to_bits()
            };
            let flags = if layout.is_signaling(bits) { INVALID } else { 0 };
            assert_eq!(result, FloatResult { value: expected, flags }, "{mode:?} {bits:#06x}");
        }
    }
}

#[test]
fn half_to_integer_equals_the_host_for_all_patterns() {
    for (mode, layout, nearest) in MODES {
        for bits in 0..=u16::MAX {
            for (op, signed) in [(FloatOp::FcvtWH, true), (FloatOp::FcvtWuH, false)] {
                let expected = integer(layout.value(bits), signed, nearest);
                let result = narrow(op, mode, [bits, 0, 0]);
                assert_eq!(result, expected, "{op:?} {mode:?} {bits:#06x}");
            }
        }
    }
}

fn assert_narrowed(bits: u32) {
    let value = f32::from_bits(bits);
    for (mode, layout, nearest) in MODES {
        let expected = layout.round(f64::from(value), 0.0, nearest);
        let back = layout.value(expected);
        let inexact = value.is_finite() && back != f64::from(value);
        // Four exponents nearer to the middle of the range the same value is neither denormal nor
        // infinite: rounding it there shows what unlimited exponents would give.
        let up = layout.value(layout.round(f64::from(value) * 16.0, 0.0, nearest)).abs();
        let down = layout.value(layout.round(f64::from(value) / 16.0, 0.0, nearest)).abs();
        let tiny = up < layout.value(layout.smallest_normal()) * 16.0;
        let huge = down > layout.value(layout.infinity() - 1) / 16.0;
        let signaling = value.is_nan() && bits & 0x0040_0000 == 0;
        let mut flags = 0;
        flags |= if signaling { INVALID } else { 0 };
        flags |= if inexact { INEXACT } else { 0 };
        flags |= if inexact && tiny { UNDERFLOW } else { 0 };
        flags |= if inexact && huge { OVERFLOW } else { 0 };
        let result = execute(FloatOp::FcvtHS, bits, 0, 0, mode);
        let value = 0xFFFF_0000 | u32::from(expected);
        assert_eq!(result, FloatResult { value, flags }, "{mode:?} {bits:#010x}");
    }
}

#[test]
fn single_to_half_of_special_values_equals_the_model() {
    for bits in SINGLES {
        assert_narrowed(bits);
    }
}

#[test]
fn single_to_half_around_every_half_equals_the_model() {
    for layout in [FP16_LAYOUT, BF16_LAYOUT] {
        for bits in (0..=u16::MAX).filter(|&bits| !layout.is_nan(bits)).step_by(3) {
            let exact = (layout.value(bits) as f32).to_bits();
            // The value, its neighbours, and the halfway points above and below.
            let half = 1 << (22 - layout.mantissa_bits);
            for offset in [0, 1, -1, half, half - 1, half + 1, -half] {
                assert_narrowed(exact.wrapping_add_signed(offset));
            }
        }
    }
}

fn assert_single_to_integer(bits: u32) {
    for (op, signed) in [(FloatOp::FcvtWS, true), (FloatOp::FcvtWuS, false)] {
        let expected = integer(f64::from(f32::from_bits(bits)), signed, true);
        assert_eq!(single(op, bits, 0, 0), expected, "{op:?} {bits:#010x}");
    }
}

fn assert_from_integer(value: u32) {
    for (signed, exact) in [(true, f64::from(value as i32)), (false, f64::from(value))] {
        let op = if signed { FloatOp::FcvtSW } else { FloatOp::FcvtSWu };
        let expected = if signed { value as i32 as f32 } else { value as f32 };
        let flags = if f64::from(expected) == exact { 0 } else { INEXACT };
        let value_bits = expected.to_bits();
        assert_eq!(single(op, value, 0, 0), FloatResult { value: value_bits, flags });
        for (mode, layout, nearest) in MODES {
            let op = if signed { FloatOp::FcvtHW } else { FloatOp::FcvtHWu };
            let expected = layout.round(exact, 0.0, nearest);
            let result = execute(op, value, 0, 0, mode).value;
            assert_eq!(result, 0xFFFF_0000 | u32::from(expected), "{op:?} {mode:?} {value:#x}");
        }
    }
}

#[test]
fn single_to_integer_of_special_values_equals_the_host() {
    for bits in SINGLES {
        assert_single_to_integer(bits);
    }
}

#[test]
fn integer_edges_convert_as_on_the_host() {
    for value in [0, 1, 2047, 2049, 2051, 65_503, 65_504, 65_519, 65_520, 65_535, 65_536] {
        assert_from_integer(value);
        assert_from_integer(value.wrapping_neg());
    }
    for value in [0x00FF_FFFF, 0x0100_0001, 0x0100_0003, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FF7F] {
        assert_from_integer(value);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_single_narrows_as_the_model(bits: u32, exponent in 95_u32..146) {
        assert_narrowed(bits);
        assert_narrowed(bits & 0x807F_FFFF | exponent << 23);
    }

    #[test]
    fn any_single_converts_to_integers_as_the_host(bits: u32, exponent in 120_u32..162) {
        assert_single_to_integer(bits);
        assert_single_to_integer(bits & 0x807F_FFFF | exponent << 23);
    }

    #[test]
    fn any_integer_converts_as_on_the_host(value: u32, shift in 0_u32..32) {
        assert_from_integer(value >> shift);
        assert_from_integer(((value as i32) >> shift) as u32);
    }
}
