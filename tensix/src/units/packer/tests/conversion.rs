//! Conversions and accumulation against values worked by hand and a slow model in host floats.

use super::accumulate::Accumulate;
use super::early::Early;
use super::formats;
use super::late::{self, Late};

fn early(early: Early, cell: u32) -> u32 {
    let mut row = [cell; 16];
    early.convert(&mut row);
    row[5]
}

/// A 32-bit cell of an FP32 pattern.
fn cell32(value: u32) -> u32 {
    let high = value >> 16;
    (high & 0x8000 | (high & 0x7F) << 8 | high >> 7 & 0xFF) << 16 | value & 0xFFFF
}

#[test]
fn early_conversion_rounds_half_away_and_saturates_integers() {
    // [isa-wh: FormatConversion.md] and [spec: numerics 4.1], by hand.
    for (conversion, value, expected) in [
        (Early::Bf16Round, 0x3F80_8000, 0x3F81_0000),
        (Early::Bf16Round, 0x3F80_7FFF, 0x3F80_0000),
        (Early::Bf16Round, 0x7FC0_0001, 0x7F80_0000),
        (Early::Bf16Round, 0x8000_0000, 0),
        (Early::Tf32, 0xBF80_1000, 0xBF80_2000),
        (Early::E8m6, 0x3F81_FFFF, 0x3F82_0000),
        (Early::E8m6, 0x3F80_FFFF, 0x3F80_0000),
        (Early::Int8(0), 0x8000_0100, 0xFF00_0000),
        (Early::Int8(2), 0x8000_0006, 0x8200_0000),
        (Early::Uint8(0), 0x8000_0001, 0),
        (Early::Uint8(0), 0x0000_0100, 0xFF00_0000),
        (Early::Low7, 0x8000_01FF, 0xFF00_0000),
    ] {
        assert_eq!(early(conversion, cell32(value)), expected, "{conversion:?} {value:#x}");
    }
}

#[test]
fn late_conversion_saturates_narrow_exponents() {
    for (conversion, value, expected) in [
        (Late::Fp32ToFp16, 0x7F80_0000, 0x7FFF),
        (Late::Fp32ToFp16, 0x3F80_2000, 0x3C01),
        (Late::Fp32ToFp16, 0x8000_0001, 0x8000),
        (Late::Fp16ToFp32, 0x3C01_0000, 0x3F80_2000),
        (Late::Fp16ToBf16, 0x0001_0000, 0),
        (Late::Fp16ToE5m2, 0xBDFF_0000, 0xBD),
        (Late::Fp16ToE4m3, 0x3C00_0000, 0x38),
        (Late::Fp16ToE4m3, 0x6000_0000, 0x7F),
    ] {
        let mut row = [value; 16];
        conversion.convert(&mut row);
        assert_eq!(row[0], expected, "{conversion:?} {value:#x}");
    }
}

#[test]
fn blocks_keep_top_bits_in_narrow_formats() {
    // Magnitudes 0x40, 0x20, 0x10, 0x08 under one exponent; BFP4 keeps three bits, BFP2 one.
    let mut row = [0; 16];
    row[..4].copy_from_slice(&[0x4000, 0xBF80, 0x3F00, 0xBE80]);
    let exponent = late::assemble(&mut row, false, false);
    assert_eq!((exponent, row[..4].to_vec()), (128, vec![0x40, 0xA0, 0x10, 0x88]));
    let mut bytes = [0; 64];
    assert_eq!(late::bytes(&row, formats::BFP4, &mut bytes), 8);
    assert_eq!(bytes[..2], [0xA4, 0x01]);
    assert_eq!(late::bytes(&row, formats::BFP2, &mut bytes), 4);
    assert_eq!(bytes[0], 0x01);
}

/// A small generator of bit patterns with close and far exponents.
fn patterns() -> impl Iterator<Item = (u32, u32)> {
    let mut state = 0x1234_5678u32;
    std::iter::repeat_with(move || {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state ^ state >> 15
        };
        let (a, b) = (next(), next());
        let near = b & 0x807F_FFFF | a.wrapping_add((b & 0x1F) << 23) & 0x7F80_0000;
        if next() & 1 == 0 { (a, near) } else { (a, b) }
    })
    .take(200_000)
}

#[test]
fn fp32_accumulation_is_the_host_sum_of_flushed_operands() {
    let flush = |bits: u32| if bits & 0x7F80_0000 == 0 { bits & 0x8000_0000 } else { bits };
    for (a, b) in patterns() {
        let sum = f32::from_bits(flush(a)) + f32::from_bits(flush(b));
        let expected = if sum.is_nan() { 0x7FC0_0000 } else { flush(sum.to_bits()) };
        assert_eq!(Accumulate::Fp32.words([a; 4], [b; 4]), [expected; 4], "{a:#x} + {b:#x}");
    }
}

#[test]
fn int32_accumulation_saturates_sign_magnitude() {
    // [isa-wh: TensixTile/L1.md].
    for (a, b, expected) in [
        (5, 0x8000_0007, 0x8000_0002),
        (0x7FFF_FFFF, 1, 0x7FFF_FFFF),
        (0xFFFF_FFFF, 0x8000_0001, 0xFFFF_FFFF),
        (7, 0x8000_0007, 0),
    ] {
        assert_eq!(Accumulate::Int32.words([a; 4], [b; 4]), [expected; 4]);
    }
}
