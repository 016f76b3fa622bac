//! Lane functions of the round sub-unit: the modes of SFP_STOCH_RND.
//!
//! Silicon compares with "not less than" where it should with "greater", so stochastic rounding
//! and rounding towards zero can grow a value that needs no rounding; that is modelled.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPSTOCHRND_FloatFloat.md]`, `..._FloatInt.md`,
//! `..._IntInt.md`.

use super::{LANES, LReg};

const SIGN: u32 = 0x8000_0000;
const MANTISSA: u32 = 0x7F_FFFF;

/// What 23 discarded bits have to reach to round away from zero, by the rounding mode: nearest (0),
/// zero (2), else random.
#[inline(always)]
pub(super) const fn threshold(rounding: u32, random: u32) -> u32 {
    match rounding {
        0 => 0x40_0000,
        2 => MANTISSA,
        _ => random & MANTISSA,
    }
}

/// FP32 with `discard` mantissa bits fewer: 13 or 16. No denormals, no negative zero, no NaN.
#[inline(always)]
pub(super) const fn shorten(discard: u32, threshold: u32, c: u32) -> u32 {
    match c >> 23 & 0xFF {
        0 => 0,
        255 => c & !MANTISSA,
        _ => {
            let rest = c & ((1 << discard) - 1);
            let up = rest >= threshold >> (23 - discard);
            c - rest + ((up as u32) << discard)
        }
    }
}

/// FP32 to an integer of at most `limit`; the sign is kept or dropped.
#[inline(always)]
pub(super) const fn to_integer(signed: bool, limit: u32, threshold: u32, c: u32) -> u32 {
    let sign = if signed { c & SIGN } else { 0 };
    let exponent = (c >> 23 & 0xFF) as i32 - 127;
    if exponent < -1 {
        return 0;
    }
    if exponent >= 16 {
        return sign | limit;
    }
    let significand = (c & MANTISSA | 0x80_0000) as u64;
    let scaled = if exponent < 0 { significand >> 1 } else { significand << exponent };
    clamp(sign, limit, threshold, scaled)
}

/// Sign-magnitude integer shifted right and rounded, to at most 255 without sign or 127 with it.
#[inline(always)]
pub(super) const fn descale(signed: bool, by: u32, threshold: u32, c: u32) -> u32 {
    let (sign, limit) = if signed { (c & SIGN, 127) } else { (0, 255) };
    let scaled = ((c & !SIGN) as u64) << 23 >> (by & 31);
    clamp(sign, limit, threshold, scaled)
}

/// Rounds a number with 23 fraction bits; zero loses its sign.
#[inline(always)]
const fn clamp(sign: u32, limit: u32, threshold: u32, scaled: u64) -> u32 {
    let magnitude = (scaled >> 23) + (scaled as u32 & MANTISSA >= threshold) as u64;
    if magnitude == 0 {
        0
    } else if magnitude > limit as u64 {
        sign | limit
    } else {
        sign | magnitude as u32
    }
}

/// SFP_STOCH_RND in any of its eight modes (three bits), of all lanes: each rounds what `by` has for it in `c`, with
/// `thresholds`.
pub(super) fn convert(mode: u32, by: &LReg, thresholds: &LReg, c: &LReg) -> LReg {
    /// One loop for each mode: what is the same in all lanes is not asked in each.
    macro_rules! lanes {
        (|$lane:ident| $value:expr) => {
            vectorise::run(
                #[inline(always)]
                || {
                    let mut result = [0; LANES];
                    for $lane in 0..LANES {
                        result[$lane] = $value;
                    }
                    result
                },
            )
        };
    }
    match mode {
        0 => lanes!(|lane| shorten(13, thresholds[lane], c[lane])),
        1 => lanes!(|lane| shorten(16, thresholds[lane], c[lane])),
        2 => lanes!(|lane| to_integer(false, 255, thresholds[lane], c[lane])),
        3 => lanes!(|lane| to_integer(true, 127, thresholds[lane], c[lane])),
        4 => lanes!(|lane| descale(false, by[lane], thresholds[lane], c[lane])),
        5 => lanes!(|lane| descale(true, by[lane], thresholds[lane], c[lane])),
        6 => lanes!(|lane| to_integer(false, 65_535, thresholds[lane], c[lane])),
        _ => lanes!(|lane| to_integer(true, 32_767, thresholds[lane], c[lane])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAREST: u32 = threshold(0, 0);
    const ZERO: u32 = threshold(2, 0);

    #[test]
    fn shorten_rounds_half_away_and_normalises_extremes() {
        // [isa-bh: SFPSTOCHRND_FloatFloat.md]
        for (c, expected) in [
            (0x3F80_8000, 0x3F81_0000),
            (0xBF80_7FFF, 0xBF80_0000),
            (0x7F7F_8000, 0x7F80_0000),
            (0xFFC0_0000, 0xFF80_0000),
            (0x8000_0000, 0),
            (0x0000_1234, 0),
        ] {
            assert_eq!(shorten(16, NEAREST, c), expected, "{c:x}");
        }
        assert_eq!(shorten(13, NEAREST, 0x3F80_1000), 0x3F80_2000);
        // The bug: towards zero, all ones still rounds away.
        assert_eq!(shorten(16, ZERO, 0x3F80_FFFF), 0x3F81_0000);
        assert_eq!(shorten(16, ZERO, 0x3F80_FFFE), 0x3F80_0000);
    }

    #[test]
    fn to_integer_rounds_half_away_and_clamps() {
        // [isa-bh: SFPSTOCHRND_FloatInt.md]; the three values that its tip names.
        let of = |value: f32| value.to_bits();
        assert_eq!(to_integer(true, 127, NEAREST, of(-2.5)), SIGN | 3);
        assert_eq!(to_integer(false, 255, NEAREST, of(-2.5)), 3);
        assert_eq!(to_integer(true, 127, NEAREST, of(-0.49)), 0);
        assert_eq!(to_integer(true, 127, NEAREST, of(0.5)), 1);
        assert_eq!(to_integer(true, 127, NEAREST, of(f32::NAN)), 127);
        assert_eq!(to_integer(false, 65_535, NEAREST, of(65_535.4)), 65_535);
        assert_eq!(to_integer(true, 32_767, NEAREST, of(-1e9)), SIGN | 32_767);
        for bits in [0x3F7F_FFFE, 0x3F7F_FFFF] {
            assert_eq!(to_integer(false, 255, ZERO, bits), 1);
        }
        assert_eq!(to_integer(false, 255, ZERO, 0x3FFF_FFFF), 2);
        assert_eq!(to_integer(false, 255, ZERO, 0x3FFF_FFFE), 1);
    }

    #[test]
    fn descale_rounds_half_away_and_clamps() {
        // [isa-bh: SFPSTOCHRND_IntInt.md]
        assert_eq!(descale(true, 1, NEAREST, SIGN | 5), SIGN | 3);
        assert_eq!(descale(false, 1, NEAREST, SIGN | 5), 3);
        assert_eq!(descale(true, 0, NEAREST, SIGN | 200), SIGN | 127);
        assert_eq!(descale(true, 31, NEAREST, SIGN | 1), 0);
        assert_eq!(descale(false, 33, NEAREST, 510), 255);
    }
}
