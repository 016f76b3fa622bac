//! Conversions against the documents' formulas, or against arithmetic on the values they stand for.

use super::super::format::{Formats, code};

const BASE: Formats =
    Formats { input: 0, output: 0, to_dst: false, four_bit_exponent: false, unsigned: false };

fn convert(formats: Formats, datum: u32, exponent: u8) -> u32 {
    let mut datums = [datum];
    let fits = formats.conversion().expect("a legal pair").apply(&mut datums, exponent);
    assert!(fits, "{datum:#x} with exponent {exponent:#x}");
    datums[0]
}

fn to_src(input: u32, output: u32, datum: u32, exponent: u8) -> u32 {
    convert(Formats { input, output, ..BASE }, datum, exponent)
}

fn to_dst(input: u32, output: u32, datum: u32, exponent: u8) -> u32 {
    convert(Formats { input, output, to_dst: true, ..BASE }, datum, exponent)
}

/// The order in which the documents write a cell: sign, mantissa, exponent.
fn physical(cell: u32) -> u32 {
    cell & 0x4_0000 | (cell & 0x3FF) << 8 | cell >> 10 & 0xFF
}

/// Value of a cell whose exponent has `bias`, as the number it stands for.
fn value(cell: u32, bias: i32) -> f64 {
    let exponent = (cell >> 10 & 0xFF) as i32;
    let mantissa = f64::from(cell & 0x3FF);
    let magnitude = if exponent == 0 {
        mantissa / 1024.0 * 2f64.powi(1 - bias)
    } else {
        (1.0 + mantissa / 1024.0) * 2f64.powi(exponent - bias)
    };
    if cell >> 18 & 1 == 1 { -magnitude } else { magnitude }
}

#[test]
fn conversion_pairs_are_those_of_the_documents() {
    // [isa-wh: Unpackers/FormatConversion.md], the two tables of pairs; block formats of any width
    // into any other, [llk: experimental/llk_unpack_AB_compressed_custom_mm.h].
    use code::*;
    let same = [FP16, BF16, INT16, FP8, INT8];
    let blocks = [[BFP8, BFP4, BFP2], [BFP8A, BFP4A, BFP2A]];
    for input in 0..16 {
        for output in 0..16 {
            let same = input == output && same.contains(&input)
                || blocks.iter().any(|kind| kind.contains(&input) && kind.contains(&output));
            let from_fp32 = input == FP32 && [FP16, BF16].contains(&output);
            let src = same || from_fp32 || (input, output) == (FP32, TF32);
            // The functional model of UNPACR_Regular.md adds TF32 in both roles.
            let dst = same
                || from_fp32
                || input == output && [FP32, TF32, INT32].contains(&input)
                || (input, output) == (FP32, TF32);
            let legal = |to_dst| Formats { input, output, to_dst, ..BASE }.conversion().is_some();
            assert_eq!((legal(false), legal(true)), (src, dst), "{input} to {output}");
        }
    }
}

#[test]
fn block_datums_become_the_same_cells_for_outputs_of_any_width() {
    use code::*;
    for kind in [[BFP8, BFP4, BFP2], [BFP8A, BFP4A, BFP2A]] {
        for (input, bits) in kind.into_iter().zip([8, 4, 2]) {
            for datum in 0..1 << bits {
                let [first, others @ ..] = kind.map(|output| to_src(input, output, datum, 20));
                assert_eq!(others, [first; 2], "{input}: {datum:#x}");
            }
        }
    }
}

#[test]
fn int16_cells_have_the_documented_bits() {
    // [isa-wh: UNPACR_Regular.md]: ((x & 0xff00) << 3) | (x & 0xff), in physical order.
    for x in 0..=0xFFFF_u32 {
        let cell = to_src(code::INT16, code::INT16, x, 0);
        assert_eq!(physical(cell), (x & 0xFF00) << 3 | x & 0xFF, "{x:#x}");
        assert_eq!(to_dst(code::INT16, code::INT16, x, 0), x);
    }
}

#[test]
fn halves_are_copied_into_cells_and_dst() {
    for x in 0..=0xFFFF_u32 {
        let bf16 = to_src(code::BF16, code::BF16, x, 0);
        assert_eq!(bf16, x << 3);
        let fp16 = to_src(code::FP16, code::FP16, x, 0);
        assert_eq!((fp16 >> 18, fp16 & 0x3FFFF), (x >> 15, x & 0x7FFF));
        // [isa-bh: Dst.md]: sign, mantissa, exponent.
        let (sign, exponent, mantissa) = (x >> 15, x >> 7 & 0xFF, x & 0x7F);
        assert_eq!(to_dst(code::BF16, code::BF16, x, 0), sign << 15 | mantissa << 8 | exponent);
        let (exponent, mantissa) = (x >> 10 & 0x1F, x & 0x3FF);
        assert_eq!(to_dst(code::FP16, code::FP16, x, 0), sign << 15 | mantissa << 5 | exponent);
    }
}

#[test]
fn fp32_becomes_narrower_as_the_sheet_says() {
    // [spec: numerics 2], worked by hand: truncation, flushing, saturation.
    for (datum, tf32, bf16, fp16) in [
        (0x3F80_0000, 0x3F80_0000 >> 13, 0x3F80 << 3, 0x3C00),
        (0xBFFF_FFFF, 0xBFFF_FFFF >> 13, 0xBFFF << 3, 0x4_3FFF),
        (0x0000_7FFF, 0x0000_7FFF >> 13, 0, 0),
        (0x807F_FFFF, 0x807F_FFFF >> 13, 0x8000 << 3, 0x4_0000),
        (0x7F80_0001, 0x7F80_0001 >> 13, 0x7F80 << 3, 0x7FFF),
        (0x3800_0000, 0x3800_0000 >> 13, 0x3800 << 3, 0x0000),
        (0x387F_E000, 0x387F_E000 >> 13, 0x387F << 3, 0x03FF),
        (0x47FF_FFFF, 0x47FF_FFFF >> 13, 0x47FF << 3, 0x7FFF),
        (0xC800_0000_u32, 0xC800_0000 >> 13, 0xC800 << 3, 0x4_7FFF),
    ] {
        assert_eq!(to_src(code::FP32, code::TF32, datum, 0), tf32, "{datum:#x} to TF32");
        assert_eq!(to_src(code::FP32, code::BF16, datum, 0), bf16, "{datum:#x} to BF16");
        assert_eq!(to_src(code::FP32, code::FP16, datum, 0), fp16, "{datum:#x} to FP16");
        let wide = to_dst(code::FP32, code::FP32, datum, 0);
        let high = to_dst(code::BF16, code::BF16, datum >> 16, 0);
        assert_eq!(wide, high << 16 | datum & 0xFFFF);
        for code in [code::TF32, code::INT32] {
            assert_eq!(to_dst(code, code, datum, 0), wide);
        }
    }
}

#[test]
fn bfp_datums_keep_their_value() {
    // A datum is a sign and a magnitude with one bit before the point, times 2^(exponent - 127)
    // or 2^(exponent - 15) [isa-wh: FloatBitPatterns.md].
    for (b, a, bits) in
        [(code::BFP8, code::BFP8A, 8), (code::BFP4, code::BFP4A, 4), (code::BFP2, code::BFP2A, 2)]
    {
        for datum in 0..1 << bits {
            let magnitude = datum & ((1 << (bits - 1)) - 1);
            let sign = if datum >> (bits - 1) == 1 { -1.0 } else { 1.0 };
            let number = sign * f64::from(magnitude) / 2f64.powi(bits - 2);
            for exponent in 8..=254_u8 {
                let cell = to_src(b, b, datum, exponent);
                if magnitude != 0 {
                    assert_eq!(value(cell, 127), number * 2f64.powi(i32::from(exponent) - 127));
                }
                if exponent < 32 {
                    let cell = to_src(a, a, datum, exponent);
                    if magnitude != 0 {
                        assert_eq!(value(cell, 15), number * 2f64.powi(i32::from(exponent) - 15));
                    }
                }
            }
            if magnitude == 0 {
                let infinite = datum != 0;
                assert_eq!(to_src(b, b, datum, 99), if infinite { 0xFF80 << 3 } else { 0 });
                assert_eq!(to_src(a, a, datum, 9), if infinite { 0x4_7C00 } else { 0 });
            }
        }
    }
}

#[test]
fn bfp_exponents_wrap_or_do_not_fit() {
    // [spec: numerics 2]: exponent (1 - 6) mod 256; [isa-wh: UNPACR_Regular.md]: five bits.
    assert_eq!(to_src(code::BFP8, code::BFP8, 0x01, 1), 251 << 10);
    for (datum, exponent) in [(0x01, 1), (0x40, 32), (0x40, 255)] {
        let formats = Formats { input: code::BFP8A, output: code::BFP8A, ..BASE };
        let fits = formats.conversion().expect("legal").apply(&mut [datum], exponent);
        assert!(!fits, "{datum:#x} {exponent}");
    }
}

#[test]
fn fp8_values_are_those_of_the_formats() {
    for datum in 0..=0xFF_u32 {
        let largest = datum & 0x7F == 0x7F;
        let five = to_src(code::FP8, code::FP8, datum, 0);
        let four = convert(
            Formats { input: code::FP8, output: code::FP8, four_bit_exponent: true, ..BASE },
            datum,
            0,
        );
        // Negation is the sign bit and nothing else.
        assert_eq!([five >> 18, four >> 18], [datum >> 7; 2]);
        if largest {
            // [spec: numerics 2]: E5M2 maximum to FP16 maximum; E4M3 fills the low seven bits.
            assert_eq!([five & 0x7FFF, four & 0x7FFF], [0x7FFF, 23 << 10 | 0x3FF]);
            continue;
        }
        let magnitude = datum & 0x7F;
        let number = |exponent_bits: u32, bias: i32| {
            let mantissa_bits = 7 - exponent_bits;
            let exponent = (magnitude >> mantissa_bits) as i32;
            let fraction =
                f64::from(magnitude & ((1 << mantissa_bits) - 1)) / f64::from(1 << mantissa_bits);
            (exponent, fraction, 2f64.powi(exponent - bias) * (1.0 + fraction))
        };
        let (exponent, _, expected) = number(5, 15);
        if exponent != 0 {
            assert_eq!(value(five & 0x3_FFFF, 15), expected, "{datum:#x}");
        }
        let (exponent, fraction, expected) = number(4, 7);
        if exponent != 0 {
            assert_eq!(value(four & 0x3_FFFF, 15), expected, "{datum:#x}");
        } else {
            // Exponent field zero stays zero, mantissa on top.
            assert_eq!(f64::from(four & 0x3_FFFF), fraction * 1024.0);
        }
    }
}

#[test]
fn int8_magnitudes_get_exponent_sixteen() {
    // [isa-wh: SrcASrcB.md] Integer "8"; zero has exponent zero, and keeps its sign.
    let convert = |unsigned, to_dst, datum| {
        let (input, output) = (code::INT8, code::INT8);
        convert(Formats { input, output, unsigned, to_dst, ..BASE }, datum, 0)
    };
    for datum in 0..=0xFF_u32 {
        let (sign, magnitude) = (datum >> 7, datum & 0x7F);
        let exponent = |magnitude: u32| if magnitude == 0 { 0 } else { 16 };
        let signed = sign << 18 | exponent(magnitude) << 10 | magnitude;
        assert_eq!(convert(false, false, datum), signed);
        assert_eq!(convert(true, false, datum), exponent(datum) << 10 | datum);
        let in_dst = sign << 15 | magnitude << 5 | exponent(magnitude);
        assert_eq!(convert(false, true, datum), in_dst);
    }
}
