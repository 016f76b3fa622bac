//! 16-bit arithmetic, boxes and moves against exact f64 models.

use proptest::prelude::*;

use super::super::{FloatMode, FloatOp, INEXACT, INVALID, OVERFLOW, UNDERFLOW, execute};
use super::model::{BF16_LAYOUT, FP16_LAYOUT, Layout, two_sum};
use super::{BF16_NEAREST, BF16_TRUNCATED, FP16, NARROW, narrow};

const MODES: [(FloatMode, Layout, bool); 3] = [
    (FP16, FP16_LAYOUT, true),
    (BF16_NEAREST, BF16_LAYOUT, true),
    (BF16_TRUNCATED, BF16_LAYOUT, false),
];
const OPS: [FloatOp; 3] = [FloatOp::FaddH, FloatOp::FsubH, FloatOp::FmulH];

fn assert_as_model(op: FloatOp, a: u16, b: u16) {
    for (mode, layout, nearest) in MODES {
        let (x, y) = (layout.value(layout.flush(a)), layout.value(layout.flush(b)));
        let (exact, residue) = match op {
            FloatOp::FaddH => two_sum(x, y),
            FloatOp::FsubH => two_sum(x, -y),
            _ => (x * y, 0.0),
        };
        let expected = layout.flush(layout.round(exact, residue, nearest));
        let result = narrow(op, mode, [a, b, 0]).value;
        assert_eq!(result, 0xFFFF_0000 | u32::from(expected), "{op:?} {mode:?} {a:#06x} {b:#06x}");
    }
}

#[test]
fn all_pairs_of_special_values_equal_the_model() {
    for op in OPS {
        for a in NARROW {
            for b in NARROW {
                assert_as_model(op, a, b);
            }
        }
    }
}

#[test]
fn truncated_sum_with_a_tiny_opposite_term_stays_below() {
    // 1 - 2^-126 towards zero is the BF16 number before 1.
    let result = narrow(FloatOp::FsubH, BF16_TRUNCATED, [0x3F80, 0x0080, 0]);
    assert_eq!(result.value, 0xFFFF_3F7F);
}

#[test]
fn operand_without_a_box_reads_as_nan() {
    let result = execute(FloatOp::FaddH, 0x0000_3C00, 0xFFFF_3C00, 0, FP16);
    assert_eq!((result.value, result.flags), (0xFFFF_7E00, 0));
    let bfloat = execute(FloatOp::FaddH, 0x0000_3C00, 0xFFFF_3C00, 0, BF16_NEAREST);
    assert_eq!(bfloat.value, 0xFFFF_7FC0);
}

#[test]
fn moves_copy_bits_without_looking_at_the_box() {
    assert_eq!(execute(FloatOp::FmvXH, 0x1234_8001, 0, 0, FP16).value, 0xFFFF_8001);
    assert_eq!(execute(FloatOp::FmvXH, 0xFFFF_7001, 0, 0, FP16).value, 0x0000_7001);
    assert_eq!(execute(FloatOp::FmvHX, 0x1234_7D01, 0, 0, FP16).value, 0xFFFF_7D01);
    assert_eq!(execute(FloatOp::FmvXW, 0x7F80_0001, 0, 0, FP16).value, 0x7F80_0001);
    assert_eq!(execute(FloatOp::FmvWX, 0x7F80_0001, 0, 0, FP16).value, 0x7F80_0001);
}

#[test]
fn infinities_of_opposite_sign_are_invalid() {
    let result = narrow(FloatOp::FaddH, FP16, [0x7C00, 0xFC00, 0]);
    assert_eq!((result.value, result.flags), (0xFFFF_7E00, INVALID));
}

#[test]
fn bfloat_overflow_towards_zero_is_the_largest_value() {
    let result = narrow(FloatOp::FmulH, BF16_TRUNCATED, [0x7F7F, 0xC000, 0]);
    assert_eq!(result.value, 0xFFFF_FF7F);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_bit_patterns_equal_the_model(a: u16, b: u16, op in 0_usize..3) {
        assert_as_model(OPS[op], a, b);
    }

    #[test]
    fn results_are_boxed_and_flags_known_for_any_registers(a: u32, b: u32, c: u32, rm in 0_u8..8) {
        for (mode, ..) in MODES {
            for &op in FloatOp::ALL {
                let result = execute(op, a, b, c, FloatMode { rm, ..mode });
                let narrow = op.is_half() && !op.writes_integer() && op != FloatOp::FcvtSH;
                prop_assert!(!narrow || result.value >> 16 == 0xFFFF, "{:?}", op);
                prop_assert_eq!(result.flags & !(INVALID | OVERFLOW | UNDERFLOW | INEXACT), 0);
            }
        }
    }

    /// Factors of half the significant bits: their product fits, so nothing is lost before the
    /// sum, and the f64 operation is exact (FP16) or off by less than a tie could notice (BF16).
    #[test]
    fn short_factors_equal_the_fused_model(x: u16, y: u16, z: u16) {
        for (mode, layout, nearest) in MODES {
            let kept = layout.mantissa_bits.div_ceil(2) - 1;
            let mask = !((1_u16 << (layout.mantissa_bits - kept)) - 1);
            let (x, y, z) = (layout.flush(x & mask), layout.flush(y & mask), layout.flush(z));
            let product = layout.value(x) * layout.value(y);
            let limit = layout.value(layout.infinity() - 1);
            let smallest = layout.value(layout.smallest_normal());
            let (exact, residue) = two_sum(product, layout.value(z));
            // Products out of range by themselves and results to be flushed are other tests.
            let normal = |value: f64| value == 0.0 || (smallest..=limit).contains(&value.abs());
            if !normal(product) || !normal(exact) {
                continue;
            }
            let expected = layout.round(exact, residue, nearest);
            let result = narrow(FloatOp::FmaddH, mode, [x, y, z]).value;
            prop_assert_eq!(result, 0xFFFF_0000 | u32::from(expected), "{:?}", mode);
        }
    }
}
