//! Sign injection, minimum, maximum, comparison and classification on all pairs of special
//! values, against host comparisons.

use std::num::FpCategory;

use super::super::{FloatOp, INVALID};
use super::model::{BF16_LAYOUT, FP16_LAYOUT};
use super::{BF16_TRUNCATED, FP16, NARROW, SINGLES, narrow, single};

/// A number with what a comparison must know about it.
#[derive(Clone, Copy)]
struct Known {
    bits: u32,
    value: f64,
    signaling: bool,
}

fn single_known(bits: u32) -> Known {
    let value = f32::from_bits(bits);
    let signaling = value.is_nan() && bits & 0x0040_0000 == 0;
    Known { bits, value: f64::from(value), signaling }
}

/// Results of feq, flt, fle.
fn relations(a: f64, b: f64) -> [u32; 3] {
    [a == b, a < b, a <= b].map(u32::from)
}

/// Bits of the result of fmin or fmax.
fn selected(maximum: bool, a: Known, b: Known, nan: u32) -> u32 {
    if a.value.is_nan() && b.value.is_nan() {
        return nan;
    }
    if a.value.is_nan() {
        return b.bits;
    }
    if b.value.is_nan() {
        return a.bits;
    }
    let a_is_less = a.value.total_cmp(&b.value).is_lt();
    if a_is_less != maximum { a.bits } else { b.bits }
}

fn assert_pair(
    a: Known,
    b: Known,
    nan: u32,
    ops: [FloatOp; 5],
    run: impl Fn(FloatOp) -> (u32, u8),
) {
    let signaling = a.signaling || b.signaling;
    let unordered = a.value.is_nan() || b.value.is_nan();
    let flag = |invalid: bool| if invalid { INVALID } else { 0 };
    let [equal, less, less_or_equal] = relations(a.value, b.value);
    let expected = [
        (equal, flag(signaling)),
        (less, flag(unordered)),
        (less_or_equal, flag(unordered)),
        (selected(false, a, b, nan), flag(signaling)),
        (selected(true, a, b, nan), flag(signaling)),
    ];
    for (op, expected) in ops.into_iter().zip(expected) {
        assert_eq!(run(op), expected, "{op:?} {:#x} {:#x}", a.bits, b.bits);
    }
}

#[test]
fn single_pairs_compare_as_on_the_host() {
    use FloatOp::{FeqS, FleS, FltS, FmaxS, FminS};
    for a in SINGLES {
        for b in SINGLES {
            let ops = [FeqS, FltS, FleS, FminS, FmaxS];
            assert_pair(single_known(a), single_known(b), 0x7FC0_0000, ops, |op| {
                let result = single(op, a, b, 0);
                (result.value, result.flags)
            });
        }
    }
}

#[test]
fn half_pairs_compare_as_on_the_host() {
    use FloatOp::{FeqH, FleH, FltH, FmaxH, FminH};
    for (mode, layout) in [(FP16, FP16_LAYOUT), (BF16_TRUNCATED, BF16_LAYOUT)] {
        let known = |bits: u16| Known {
            bits: 0xFFFF_0000 | u32::from(bits),
            value: layout.value(bits),
            signaling: layout.is_signaling(bits),
        };
        let nan = 0xFFFF_0000 | u32::from(layout.nan());
        for a in NARROW {
            for b in NARROW {
                let ops = [FeqH, FltH, FleH, FminH, FmaxH];
                assert_pair(known(a), known(b), nan, ops, |op| {
                    let result = narrow(op, mode, [a, b, 0]);
                    (result.value, result.flags)
                });
            }
        }
    }
}

#[test]
fn sign_injection_keeps_everything_but_the_sign() {
    for a in SINGLES {
        for b in SINGLES {
            let sign = |negative: bool| a & 0x7FFF_FFFF | u32::from(negative) << 31;
            let (sa, sb) = (a >> 31 == 1, b >> 31 == 1);
            assert_eq!(single(FloatOp::FsgnjS, a, b, 0).value, sign(sb));
            assert_eq!(single(FloatOp::FsgnjnS, a, b, 0).value, sign(!sb));
            assert_eq!(single(FloatOp::FsgnjxS, a, b, 0).value, sign(sa != sb));
        }
    }
}

#[test]
fn half_sign_injection_keeps_the_box() {
    assert_eq!(narrow(FloatOp::FsgnjH, FP16, [0x3C00, 0x8000, 0]).value, 0xFFFF_BC00);
    assert_eq!(narrow(FloatOp::FsgnjnH, FP16, [0x3C00, 0x8000, 0]).value, 0xFFFF_3C00);
    assert_eq!(narrow(FloatOp::FsgnjxH, FP16, [0xFD01, 0x8000, 0]).value, 0xFFFF_7D01);
}

/// The bit that the standard's table gives a value.
fn class(category: FpCategory, negative: bool, signaling: bool) -> u32 {
    let bit = match (category, negative) {
        (FpCategory::Infinite, true) => 0,
        (FpCategory::Normal, true) => 1,
        (FpCategory::Subnormal, true) => 2,
        (FpCategory::Zero, true) => 3,
        (FpCategory::Zero, false) => 4,
        (FpCategory::Subnormal, false) => 5,
        (FpCategory::Normal, false) => 6,
        (FpCategory::Infinite, false) => 7,
        (FpCategory::Nan, _) if signaling => 8,
        (FpCategory::Nan, _) => 9,
    };
    1 << bit
}

#[test]
fn single_classes_equal_the_host() {
    for bits in SINGLES {
        let known = single_known(bits);
        let expected = class(f32::from_bits(bits).classify(), bits >> 31 == 1, known.signaling);
        let result = single(FloatOp::FclassS, bits, 0, 0);
        assert_eq!((result.value, result.flags), (expected, 0), "{bits:#010x}");
    }
}

#[test]
fn half_classes_of_all_patterns_equal_the_model() {
    for (mode, layout) in [(FP16, FP16_LAYOUT), (BF16_TRUNCATED, BF16_LAYOUT)] {
        for bits in 0..=u16::MAX {
            let magnitude = layout.value(bits).abs();
            let category = if magnitude > 0.0 && magnitude < layout.value(layout.smallest_normal())
            {
                FpCategory::Subnormal
            } else {
                magnitude.classify()
            };
            let expected = class(category, bits >> 15 == 1, layout.is_signaling(bits));
            let result = narrow(FloatOp::FclassH, mode, [bits, 0, 0]).value;
            assert_eq!(result, expected, "{bits:#06x}");
        }
    }
}
