//! The fused instructions: the host's fused operation where the datapath is exact enough, the
//! published deviations by hand where it is not `[spec: numerics 5.1]`.

use proptest::prelude::*;

use super::super::{FloatOp, INEXACT, INVALID, OVERFLOW};
use super::single;

#[test]
fn product_that_overflows_by_itself_is_infinite() {
    // 2^64 * 2^64 - (2^128 - 2^104) is 2^104.
    let result = single(FloatOp::FmaddS, 0x5F80_0000, 0x5F80_0000, 0xFF7F_FFFF);
    assert_eq!((result.value, result.flags), (0x7F80_0000, OVERFLOW | INEXACT));
}

#[test]
fn product_that_overflows_loses_against_opposite_infinity() {
    let result = single(FloatOp::FmaddS, 0x5F80_0000, 0x5F80_0000, 0xFF80_0000);
    assert_eq!((result.value, result.flags), (0xFF80_0000, 0));
}

#[test]
fn product_one_place_below_normal_still_adds() {
    // 2^-64 * 2^-63 + 2^-126 is 1.5 * 2^-126.
    let result = single(FloatOp::FmaddS, 0x1F80_0000, 0x2000_0000, 0x0080_0000);
    assert_eq!((result.value, result.flags), (0x00C0_0000, 0));
}

#[test]
fn product_that_underflows_by_itself_is_dropped() {
    // 2^-64 * 2^-64 + 2^-126 is 1.25 * 2^-126.
    let result = single(FloatOp::FmaddS, 0x1F80_0000, 0x1F80_0000, 0x0080_0000);
    assert_eq!((result.value, result.flags), (0x0080_0000, INEXACT));
}

#[test]
fn sticky_bit_moves_into_the_result_of_a_cancellation() {
    // (1 + 2^-23)^2 - (1 + 2^-22) is 2^-46; the sticky bit of the product has weight 2^-26.
    let result = single(FloatOp::FmsubS, 0x3F80_0001, 0x3F80_0001, 0x3F80_0002);
    assert_eq!((result.value, result.flags), (0x3280_0000, INEXACT));
}

#[test]
fn addend_shifted_out_does_not_break_a_tie() {
    // 97 * (172961 * 2^-24) is 1 + 2^-24, halfway between 1 and the next number.
    let factors = [97.0_f32.to_bits(), (172_961.0_f32 / 16_777_216.0).to_bits()];
    let with_addend = |z: u32| single(FloatOp::FmaddS, factors[0], factors[1], z).value;
    // 2^-40 vanishes in alignment, 2^-26 is the last bit kept.
    assert_eq!(with_addend(0x2B80_0000), 0x3F80_0000);
    assert_eq!(with_addend(0x3280_0000), 0x3F80_0001);
}

#[test]
fn cancellation_to_zero_is_positive() {
    // 2 * 3 - 6
    let result = single(FloatOp::FmsubS, 0x4000_0000, 0x4040_0000, 0x40C0_0000);
    assert_eq!((result.value, result.flags), (0, 0));
}

#[test]
fn zero_times_infinity_is_invalid_even_with_a_nan_addend() {
    let result = single(FloatOp::FmaddS, 0, 0x7F80_0000, 0x7FC0_0000);
    assert_eq!((result.value, result.flags), (0x7FC0_0000, INVALID));
}

#[test]
fn quiet_nan_factor_is_not_invalid() {
    let result = single(FloatOp::FmaddS, 0x7FC0_0000, 0, 0x7F80_0000);
    assert_eq!((result.value, result.flags), (0x7FC0_0000, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// Factors of 12 significant bits: their product has 24, so nothing is lost before the sum.
    #[test]
    fn short_factors_equal_the_fused_operation_of_the_host(
        x: u32, y: u32, z: u32, product in 1_i32..254, ex in 1_i32..255, distance in -30_i32..=30,
    ) {
        let ex = ex.clamp(product + 127 - 254, product + 127 - 1);
        let exponents = [ex, product + 127 - ex, (product + distance).clamp(1, 254)];
        let with = |bits: u32, exponent: i32, mask: u32| {
            bits & (0x8000_0000 | mask) | (exponent as u32) << 23
        };
        let x = with(x, exponents[0], 0x7F_F000);
        let y = with(y, exponents[1], 0x7F_F000);
        let z = with(z, exponents[2], 0x7F_FFFF);
        let [fx, fy, fz] = [x, y, z].map(f32::from_bits);
        for (op, expected) in [
            (FloatOp::FmaddS, fx.mul_add(fy, fz)),
            (FloatOp::FmsubS, fx.mul_add(fy, -fz)),
            (FloatOp::FnmsubS, (-fx).mul_add(fy, fz)),
            (FloatOp::FnmaddS, (-fx).mul_add(fy, -fz)),
        ] {
            if !expected.is_subnormal() {
                prop_assert_eq!(single(op, x, y, z).value, expected.to_bits(), "{:?}", op);
            }
        }
    }
}
