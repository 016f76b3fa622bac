//! Late format conversion: intermediate datums to the bytes of the output format.
//!
//! Source: `[spec: numerics 4.3, 4.4]`; what the vectors do not reach,
//! `[isa-wh: TensixCoprocessor/Packers/FormatConversion.md]`.

use super::early::{Row, to_fp16};
use super::formats::{self, BF16, BFP8, BFP8A, Class, FP8, FP16, FP32, INT8, INT16, INT32, TF32};
use super::settings::Settings;

/// One conversion of a datum into a value of the output format, right-aligned. For block formats
/// the value is a BF16 or FP16 pattern, which [`assemble`] turns into a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Late {
    /// The top 32, 16 or 8 bits.
    Top32,
    Top16,
    Top8,
    /// FP32 to TF32 or wider: identity on 32 bits with these kept.
    Fp16ToFp32,
    Fp16ToBf16,
    /// FP32 or TF32 to BF16, flushing.
    Fp32ToBf16,
    Fp32ToFp16,
    Fp32ToE5m7,
    Fp32ToE5m2,
    Fp32ToE4m3,
    Fp16ToE5m7,
    Fp16ToE5m2,
    Fp16ToE4m3,
}

impl Late {
    /// The conversion that the configuration asks for; `None` where the documents give none.
    pub(crate) const fn choose(settings: &Settings<'_>) -> Option<Self> {
        let from = formats::per_datum(settings.in_format());
        let to = formats::per_datum(settings.out_format());
        let e4m3 = settings.fp8_is_e4m3();
        let Some(class) = formats::class(from) else { return None };
        Some(match (class, to) {
            (Class::Exponent8, FP32) => Self::Top32,
            (Class::Exponent8, TF32) if from != FP32 => Self::Top32,
            (Class::Exponent8, BF16 | BFP8) if from == FP32 || from == TF32 => Self::Fp32ToBf16,
            (Class::Exponent8, BF16 | BFP8) => Self::Top16,
            (Class::Exponent8, FP16) => Self::Fp32ToFp16,
            (Class::Exponent8, BFP8A) => Self::Fp32ToE5m7,
            (Class::Exponent8, FP8) if e4m3 => Self::Fp32ToE4m3,
            (Class::Exponent8, FP8) => Self::Fp32ToE5m2,
            (Class::Exponent5, FP32 | TF32) => Self::Fp16ToFp32,
            (Class::Exponent5, BF16 | BFP8) => Self::Fp16ToBf16,
            (Class::Exponent5, FP16) => Self::Top16,
            (Class::Exponent5, BFP8A) if from == FP16 => Self::Fp16ToE5m7,
            (Class::Exponent5, BFP8A) => Self::Top16,
            (Class::Exponent5, FP8) if e4m3 => Self::Fp16ToE4m3,
            (Class::Exponent5, FP8) if from == FP8 => Self::Top8,
            (Class::Exponent5, FP8) => Self::Fp16ToE5m2,
            (Class::Integer, INT32) if from == INT32 => Self::Top32,
            (Class::Integer, INT16) if from == INT16 => Self::Top16,
            (Class::Integer, INT8) if from == INT8 => Self::Top8,
            _ => return None,
        })
    }

    /// Converts datums in place.
    #[inline]
    pub(crate) fn convert(self, row: &mut Row) {
        match self {
            Self::Top32 => {}
            Self::Top16 => each(row, |datum| datum >> 16),
            Self::Top8 => each(row, |datum| datum >> 24),
            Self::Fp16ToFp32 => each(row, fp16_to_fp32),
            Self::Fp16ToBf16 => each(row, fp16_to_bf16),
            Self::Fp32ToBf16 => each(row, fp32_to_bf16),
            Self::Fp32ToFp16 => each(row, to_fp16),
            Self::Fp32ToE5m7 => each(row, |datum| flush_e5(to_fp16(datum)) & 0xFFF8),
            Self::Fp32ToE5m2 => each(row, |datum| flush_e5(to_fp16(datum)) >> 8),
            Self::Fp32ToE4m3 => each(row, |datum| to_e4m3(to_fp16(datum))),
            Self::Fp16ToE5m7 => each(row, |datum| flush_e5(datum >> 16) & 0xFFF8),
            Self::Fp16ToE5m2 => each(row, |datum| flush_e5(datum >> 16) >> 8),
            Self::Fp16ToE4m3 => each(row, |datum| to_e4m3(datum >> 16)),
        }
    }
}

#[inline]
fn each(row: &mut Row, convert: impl Fn(u32) -> u32) {
    for datum in row {
        *datum = convert(*datum);
    }
}

/// A zero exponent keeps its mantissa bits, as the documents' "mishandled".
const fn fp16_to_fp32(datum: u32) -> u32 {
    let exponent = datum >> 26 & 0x1F;
    let rebiased = if exponent == 0 { 0 } else { (exponent + 112) << 23 };
    datum & 0x8000_0000 | rebiased | (datum >> 16 & 0x3FF) << 13
}

const fn fp16_to_bf16(datum: u32) -> u32 {
    let exponent = datum >> 26 & 0x1F;
    if exponent == 0 {
        0
    } else {
        datum >> 16 & 0x8000 | (exponent + 112) << 7 | datum >> 19 & 0x7F
    }
}

const fn fp32_to_bf16(datum: u32) -> u32 {
    if datum & 0x7F80_0000 == 0 { 0 } else { datum >> 16 }
}

/// Narrowing mantissas flush denormals; the sign stays.
const fn flush_e5(value: u32) -> u32 {
    if value & 0x7C00 == 0 { value & 0x8000 } else { value }
}

/// E4M3 byte of an FP16 pattern.
const fn to_e4m3(value: u32) -> u32 {
    let sign = value >> 8 & 0x80;
    let exponent = value >> 10 & 0x1F;
    if exponent <= 8 {
        sign
    } else if exponent >= 24 {
        sign | 0x7F
    } else {
        sign | (exponent - 8) << 3 | value >> 7 & 7
    }
}

/// Turns 16 converted datums of a block format into sign-magnitude bytes in place; their shared
/// exponent.
///
/// With `own` every datum keeps its own alignment, as with the shared exponent assembler disabled;
/// the one exponent written is still the greatest [unknown: U-051].
#[inline]
pub(crate) fn assemble(block: &mut Row, five_bits: bool, own: bool) -> u8 {
    // E5M7 values have their exponent in 14:10 and their mantissa in 9:3.
    if five_bits {
        for value in block.iter_mut() {
            *value = *value & 0x8000 | (*value & 0x7FF8) >> 3;
        }
    }
    let shared = block.iter().fold(0, |max, value| max.max(value >> 7 & 0xFF));
    for value in block.iter_mut() {
        let exponent = *value >> 7 & 0xFF;
        let significand = *value & 0x7F | u32::from(exponent != 0) << 7;
        let distance = if own { 0 } else { shared - exponent };
        let magnitude = if distance >= 8 {
            0
        } else {
            ((significand + (1 << distance)) >> (distance + 1)).min(127)
        };
        *value = *value >> 8 & 0x80 | magnitude;
    }
    shared as u8
}

/// Bytes of a row of converted datums (block formats: assembled); how many of them count.
#[inline]
pub(crate) fn bytes(row: &Row, format: u8, out: &mut [u8; 64]) -> usize {
    match formats::bytes_per_16(format) {
        64 => {
            for (datum, out) in row.iter().zip(out.chunks_exact_mut(4)) {
                out.copy_from_slice(&datum.to_le_bytes());
            }
            64
        }
        32 => {
            for (datum, out) in row.iter().zip(out.chunks_exact_mut(2)) {
                out.copy_from_slice(&(*datum as u16).to_le_bytes());
            }
            32
        }
        16 => {
            let sign_only_when_nonzero = formats::is_block(format);
            for (datum, out) in row.iter().zip(out.iter_mut()) {
                let byte = *datum as u8;
                *out = if sign_only_when_nonzero && byte == 0x80 { 0 } else { byte };
            }
            16
        }
        8 => {
            for (pair, out) in row.chunks_exact(2).zip(out.iter_mut()) {
                *out = narrow(pair[0], 4) | narrow(pair[1], 4) << 4;
            }
            8
        }
        _ => {
            for (quad, out) in row.chunks_exact(4).zip(out.iter_mut()) {
                let value = |i: usize| narrow(quad[i], 6) << (2 * i);
                *out = value(0) | value(1) | value(2) | value(3);
            }
            4
        }
    }
}

/// Keeps the top bits of a sign-magnitude byte; a magnitude of zero has no sign.
const fn narrow(byte: u32, dropped: u32) -> u8 {
    let magnitude = (byte & 0x7F) >> dropped;
    if magnitude == 0 { 0 } else { ((byte & 0x80) >> dropped | magnitude) as u8 }
}
