//! Every 16-bit input of every conversion, and blocks and sums by property, against a slow model.
//!
//! The model works on the numbers that bit patterns stand for, in host floats, and shares nothing
//! with the packer: a pattern is split into sign, exponent and mantissa, a number is rounded to so
//! many significant bits, and a number is written down again. What the documents say of each
//! conversion is in the comment of its test `[spec: numerics 4.1, 4.3, 4.4, 4.5]`.

use super::accumulate::Accumulate;
use super::early::Early;
use super::late::{self, Late};

/// Where a rounded value goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    TowardsZero,
    HalfAway,
    HalfEven,
}

/// A magnitude rounded to `bits` significant bits, or, below `2^least`, to multiples of
/// `2^(least - bits + 1)`.
fn round(magnitude: f64, bits: i32, least: i32, how: Round) -> f64 {
    if magnitude == 0.0 || magnitude.is_infinite() {
        return magnitude;
    }
    let quantum =
        f64::from(magnitude.log2().floor().max(f64::from(least)) as i32 - bits + 1).exp2();
    let units = magnitude / quantum;
    let whole = units.floor();
    let up = match how {
        Round::TowardsZero => false,
        Round::HalfAway => units - whole >= 0.5,
        Round::HalfEven => {
            units - whole > 0.5 || units - whole == 0.5 && (whole / 2.0).fract() != 0.0
        }
    };
    (whole + f64::from(u8::from(up))) * quantum
}

/// Sign and magnitude of a pattern with five exponent bits; exponent 31 is a number.
fn of_fp16(bits: u32) -> (u32, f64) {
    let (exponent, mantissa) = (bits >> 10 & 31, f64::from(bits & 0x3FF));
    let magnitude = match exponent {
        0 => mantissa * (-24.0_f64).exp2(),
        _ => (1024.0 + mantissa) * f64::from(exponent as i32 - 25).exp2(),
    };
    (bits >> 15 & 1, magnitude)
}

/// The pattern of a magnitude that five exponent bits can hold exactly.
fn to_fp16(sign: u32, magnitude: f64) -> u32 {
    let (mut low, mut high) = (0, 0x8000);
    while high - low > 1 {
        let middle = u32::midpoint(low, high);
        if of_fp16(middle).1 <= magnitude { low = middle } else { high = middle }
    }
    assert_eq!(of_fp16(low).1, magnitude, "{magnitude} is no FP16");
    sign << 15 | low
}

/// The pattern of an FP32 that holds the magnitude exactly.
fn to_fp32(sign: u32, magnitude: f64) -> u32 {
    let float = magnitude as f32;
    assert!(f64::from(float) == magnitude || magnitude.is_infinite(), "{magnitude} is no FP32");
    sign << 31 | float.to_bits()
}

/// Sign and magnitude of an FP32 pattern, infinity for a NaN, as the packer takes it.
fn of_fp32(bits: u32) -> (u32, f64) {
    let float = f32::from_bits(bits & 0x7FFF_FFFF);
    (bits >> 31, if float.is_nan() { f64::INFINITY } else { f64::from(float) })
}

/// The 16-bit cell of Dst that holds a pattern `[isa-bh: TensixCoprocessor/Dst.md]`.
fn cell(pattern: u32, exponent_bits: u32) -> u32 {
    let mantissa_bits = 15 - exponent_bits;
    let mantissa = pattern & ((1 << mantissa_bits) - 1);
    let exponent = pattern >> mantissa_bits & ((1 << exponent_bits) - 1);
    pattern & 0x8000 | mantissa << exponent_bits | exponent
}

fn early(conversion: Early, cell: u32) -> u32 {
    let mut row = [cell; 16];
    conversion.convert(&mut row);
    assert!(row.iter().all(|&datum| datum == row[0]), "lanes differ");
    row[0]
}

fn late_of(conversion: Late, datum: u32) -> u32 {
    let mut row = [datum; 16];
    conversion.convert(&mut row);
    row[15]
}

/// The smallest normal number of FP32 and BF16, and of FP16.
const NORMAL8: i32 = -126;
const NORMAL5: i32 = -14;

fn positive_zero_if(below: i32, sign: u32, magnitude: f64) -> (u32, f64) {
    if magnitude < f64::from(below).exp2() { (0, 0.0) } else { (sign, magnitude) }
}

#[test]
fn early_conversions_of_every_bf16_cell_are_those_of_its_number() {
    for bits in 0..=0xFFFF_u32 {
        let (sign, magnitude) = of_fp32(bits << 16);
        let cell = cell(bits, 8);
        // Raw, and: a NaN is infinity, a denormal +0.
        assert_eq!(early(Early::Bf16, cell), bits << 16);
        let (s, kept) = positive_zero_if(NORMAL8, sign, magnitude);
        assert_eq!(early(Early::Bf16Flush, cell), to_fp32(s, kept), "flush {bits:#06x}");
        // Six bits of mantissa; above the greatest comes infinity.
        let mut rounded = round(kept, 7, NORMAL8, Round::HalfAway);
        if rounded >= 128_f64.exp2() {
            rounded = f64::INFINITY;
        }
        assert_eq!(early(Early::Bf16ToE8m6, cell), to_fp32(s, rounded), "E8M6 {bits:#06x}");
        // Rebiased: all ones above, zero below, and one exponent whose mantissa stays as it is.
        let exponent = (bits >> 7 & 0xFF) as i32 - 112;
        let narrow = match exponent {
            i32::MIN..0 => sign << 15,
            0 => sign << 15 | (bits & 0x7F) << 3,
            1..=31 => to_fp16(sign, magnitude),
            _ => sign << 15 | 0x7FFF,
        };
        assert_eq!(early(Early::Bf16ToFp16, cell), narrow << 16, "FP16 {bits:#06x}");
    }
}

#[test]
fn early_conversions_of_every_fp16_cell_are_those_of_its_number() {
    let greatest = (2.0 - (-6.0_f64).exp2()) * 16.0_f64.exp2();
    for bits in 0..=0xFFFF_u32 {
        let (sign, magnitude) = of_fp16(bits);
        let cell = cell(bits, 5);
        let (s, kept) = positive_zero_if(NORMAL5, sign, magnitude);
        assert_eq!(early(Early::Fp16Flush, cell), to_fp16(s, kept) << 16, "flush {bits:#06x}");
        for mask in [0xFFFF, 0xFFF8, 0xFF00] {
            let expected = (bits & u32::from(mask)) << 16;
            assert_eq!(early(Early::Fp16Truncate(mask), cell), expected);
        }
        // Six bits of mantissa, the greatest above; what does not round up to a normal number is
        // +0.
        let rounded = round(magnitude, 7, NORMAL5, Round::HalfAway).min(greatest);
        let (s, rounded) = positive_zero_if(NORMAL5, sign, rounded);
        assert_eq!(early(Early::Fp16ToE5m6, cell), to_fp16(s, rounded) << 16, "E5M6 {bits:#06x}");
    }
}

#[test]
fn early_conversions_of_words_round_half_away() {
    for high in 0..=0xFFFF_u32 {
        for low in [0, 1, 0x0FFF, 0x1000, 0x1001, 0x3000, 0x7FFF, 0x8000, 0xC0DE, 0xFFFF] {
            let bits = high << 16 | low;
            let (sign, magnitude) = of_fp32(bits);
            let word = cell(high, 8) << 16 | low;
            assert_eq!(early(Early::Word, word), bits);
            assert_eq!(early(Early::Bf16Truncate, word), high << 16);
            assert_eq!(early(Early::High16, word), cell(high, 8) << 16);
            for (conversion, significant) in [(Early::Tf32, 11), (Early::Bf16Round, 8)] {
                let mut rounded = round(magnitude, significant, NORMAL8, Round::HalfAway);
                if rounded >= 128_f64.exp2() {
                    rounded = f64::INFINITY;
                }
                let (sign, rounded) = positive_zero_if(NORMAL8, sign, rounded);
                assert_eq!(early(conversion, word), to_fp32(sign, rounded), "{bits:#010x}");
            }
            // The low half does not take part.
            let (sign, magnitude) = match of_fp32(bits) {
                (sign, magnitude) if magnitude.is_infinite() => (sign, magnitude),
                _ => of_fp32(high << 16),
            };
            let mut rounded = round(magnitude, 7, NORMAL8, Round::HalfAway);
            if rounded >= 128_f64.exp2() {
                rounded = f64::INFINITY;
            }
            let (sign, rounded) = positive_zero_if(NORMAL8, sign, rounded);
            assert_eq!(early(Early::E8m6, word), to_fp32(sign, rounded), "{bits:#010x}");
        }
    }
}

#[test]
fn early_conversions_of_integers_clamp_and_descale() {
    for high in (0..=0xFFFF_u32).step_by(3) {
        for low in [0, 1, 0x7F, 0x80, 0xFF, 0x100, 0x8000, 0xFFFF] {
            let bits =
                if high & 1 == 0 { high << 16 & 0x8000_0000 | low } else { high << 16 | low };
            let word = cell(bits >> 16, 8) << 16 | bits & 0xFFFF;
            let (sign, magnitude) = (bits >> 31, f64::from(bits & 0x7FFF_FFFF));
            for shift in [0, 1, 5, 20, 31_u32] {
                let scaled = (magnitude / f64::from(shift).exp2() + 0.5).floor();
                let signed = sign << 31 | (scaled.min(127.0) as u32) << 24;
                assert_eq!(early(Early::Int8(shift), word), signed, "{bits:#x} >> {shift}");
                let unsigned = if sign == 1 { 0 } else { scaled.min(255.0) as u32 };
                assert_eq!(
                    early(Early::Uint8(shift), word),
                    unsigned << 24,
                    "{bits:#x} >> {shift}"
                );
            }
        }
    }
}

#[test]
fn late_conversions_of_every_half_are_those_of_its_number() {
    for bits in 0..=0xFFFF_u32 {
        let (sign, magnitude) = of_fp16(bits);
        let datum = bits << 16;
        let normal = magnitude >= f64::from(NORMAL5).exp2();
        let wide = late_of(Late::Fp16ToFp32, datum);
        let bf16 = late_of(Late::Fp16ToBf16, datum);
        if normal {
            assert_eq!(wide, to_fp32(sign, magnitude), "{bits:#06x}");
            let truncated = round(magnitude, 8, NORMAL8, Round::TowardsZero);
            assert_eq!(bf16 << 16, to_fp32(sign, truncated), "{bits:#06x}");
        } else {
            // Mishandled as documented: the mantissa stays, the exponent is zero.
            assert_eq!(wide, sign << 31 | (bits & 0x3FF) << 13, "{bits:#06x}");
            assert_eq!(bf16, 0, "{bits:#06x}");
        }
        // E4M3: bias 7, truncated, 0x7F from 512 on, zero of its sign below 1/64.
        let (low, high) = (magnitude < (-6.0_f64).exp2(), magnitude >= 512.0);
        let e4m3 = match (low, high) {
            (true, _) => 0,
            (_, true) => 0x7F,
            _ => {
                let exponent = magnitude.log2().floor();
                let mantissa = ((magnitude / exponent.exp2() - 1.0) * 8.0).floor();
                ((exponent as i32 + 7) as u32) << 3 | mantissa as u32
            }
        };
        assert_eq!(late_of(Late::Fp16ToE4m3, datum), sign << 7 | e4m3, "{bits:#06x}");
        // E5M2 and the seven-bit mantissa of BFP8a: truncated, zero of its sign when denormal.
        for (conversion, significant, drop) in [(Late::Fp16ToE5m2, 3, 8), (Late::Fp16ToE5m7, 8, 0)]
        {
            let kept = if normal { magnitude } else { 0.0 };
            let pattern = to_fp16(sign, round(kept, significant, NORMAL5, Round::TowardsZero));
            assert_eq!(late_of(conversion, datum), pattern >> drop, "{bits:#06x}");
        }
        // From the eight-bit exponents: BF16 flushes to +0 and truncates.
        let (sign, magnitude) = (bits >> 15, f64::from(f32::from_bits(bits << 16 & 0x7FFF_FFFF)));
        let normal = magnitude.is_nan() || magnitude >= f64::from(NORMAL8).exp2();
        let expected = if normal { bits } else { 0 };
        assert_eq!(late_of(Late::Fp32ToBf16, datum | 0xABCD), expected);
        let exponent = (bits >> 7 & 0xFF) as i32 - 112;
        let fp16 = match exponent {
            i32::MIN..0 => sign << 15,
            0 => sign << 15 | (bits & 0x7F) << 3,
            1..=31 => to_fp16(sign, magnitude),
            _ => sign << 15 | 0x7FFF,
        };
        assert_eq!(late_of(Late::Fp32ToFp16, datum), fp16, "{bits:#06x}");
    }
}

/// A small generator of numbers.
fn numbers() -> impl FnMut() -> u32 {
    let mut state = 0x2545_F491_u32;
    move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    }
}

#[test]
fn blocks_are_their_numbers_in_units_of_the_greatest_exponent() {
    let mut next = numbers();
    for _ in 0..20_000 {
        let spread = 1 + next() % 40;
        let centre = next() % 256;
        let block: [u32; 16] = std::array::from_fn(|_| {
            let exponent = (centre + next() % spread).min(255);
            let zero = next().is_multiple_of(9);
            if zero { 0 } else { next() & 0x807F | exponent << 7 }
        });
        // An element is (hidden bit and mantissa) times 2^(exponent - 134), exponent 255 included.
        let exponent = |datum: u32| datum >> 7 & 0xFF;
        let shared = block.iter().map(|&datum| exponent(datum)).max().unwrap_or(0);
        let expected = block.map(|datum| {
            let hidden = if exponent(datum) == 0 { 0 } else { 128 };
            let number = f64::from(datum & 0x7F | hidden);
            let distance = f64::from(shared - exponent(datum));
            let units = (number / (distance + 1.0).exp2() + 0.5).floor().min(127.0);
            (datum >> 15 & 1) << 7 | units as u32
        });
        let mut row = block;
        assert_eq!(u32::from(late::assemble(&mut row, false, false)), shared);
        assert_eq!(row, expected, "{block:04x?}");
    }
}

#[test]
fn bf16_accumulation_is_the_sum_rounded_to_even() {
    // Partners within 40 binades, whose sum a host float holds exactly.
    let mut next = numbers();
    for bits in 0..=0xFFFF_u32 {
        if bits >> 7 & 0xFF == 0xFF {
            continue;
        }
        for _ in 0..8 {
            let exponent = (bits >> 7 & 0xFF) as i32 + (next() % 41) as i32 - 20;
            let other = next() & 0x807F | (exponent.clamp(0, 254) as u32) << 7;
            let flushed = |bits: u32| {
                let float = f64::from(f32::from_bits(bits << 16));
                if float.abs() < f64::from(NORMAL8).exp2() {
                    0.0_f64.copysign(float)
                } else {
                    float
                }
            };
            let sum = flushed(bits) + flushed(other);
            let mut rounded = round(sum.abs(), 8, -200, Round::HalfEven);
            if rounded >= 128_f64.exp2() {
                rounded = f64::INFINITY;
            }
            if rounded < f64::from(NORMAL8).exp2() {
                rounded = 0.0;
            }
            let sign = u32::from(sum.is_sign_negative());
            let expected = to_fp32(sign, rounded) >> 16;
            let found = Accumulate::Bf16.words([bits; 4], [other; 4])[0] & 0xFFFF;
            assert_eq!(found, expected, "{bits:#06x} + {other:#06x}");
        }
    }
}
