//! Early format conversion: a row of Dst to the intermediate format.
//!
//! Rounding is to nearest, ties away from zero; it turns NaN into infinity and flushes results
//! that are denormal or negative zero to +0. Stochastic rounding: [`super::dither`].
//!
//! Source: `[spec: numerics 4.1]`; what the vectors do not reach,
//! `[isa-wh: TensixCoprocessor/Packers/FormatConversion.md]`.

use isa::config::field;

use super::formats::{self, BF16, BFP8, BFP8A, Class, FP8, FP16, FP32, INT8, INT16, INT32, TF32};
use super::settings::Settings;
use crate::state::dst::DST_COLUMNS;

/// Datums of one row of Dst, or what became of them.
pub(crate) type Row = [u32; DST_COLUMNS];

/// One conversion from a cell of Dst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Early {
    /// 16-bit cell, bits as they are.
    Raw16,
    /// 16-bit BF16 cell, value as it is.
    Bf16,
    /// 16-bit BF16 cell, flushed.
    Bf16Flush,
    /// 16-bit BF16 cell to E8M6.
    Bf16ToE8m6,
    /// 16-bit BF16 cell to FP16.
    Bf16ToFp16,
    /// 16-bit FP16 cell with these mantissa bits of the pattern kept.
    Fp16Truncate(u16),
    /// 16-bit FP16 cell, flushed.
    Fp16Flush,
    /// 16-bit FP16 cell to E5M6.
    Fp16ToE5m6,
    /// 16-bit cell: its sign only.
    Sign,
    /// 32-bit cell as it is.
    Word,
    /// 32-bit cell to TF32.
    Tf32,
    /// 32-bit cell to TF32, narrowed to FP16 behind ReLU.
    Tf32ThenFp16,
    /// 32-bit cell to BF16, rounding.
    Bf16Round,
    /// 32-bit cell: its high half.
    Bf16Truncate,
    /// 32-bit cell to E8M6.
    E8m6,
    /// 32-bit cell: the bits of its high half as they are in Dst.
    High16,
    /// 32-bit integer to INT8 after a right shift.
    Int8(u32),
    /// 32-bit integer to UINT8 after a right shift.
    Uint8(u32),
    /// 32-bit cell: sign and low seven bits.
    Low7,
    /// 32-bit cell: low eight bits.
    Low8,
}

impl Early {
    /// The conversion that the configuration asks for at tile depth `z`; `None` where the
    /// documents give none.
    pub(crate) fn choose(settings: &Settings<'_>, z: u32) -> Option<Self> {
        let words = settings.words();
        let raw = field::PCK_DEST_RD_CTRL_Read_int8.get(words) != 0;
        let round_10 = field::PCK_DEST_RD_CTRL_Round_10b_mant.get(words) != 0;
        let unsigned = field::PCK_DEST_RD_CTRL_Read_unsigned.get(words) != 0;
        let format = settings.intermediate();
        if field::PCK_DEST_RD_CTRL_Read_32b_data.get(words) == 0 {
            return Self::from_16(format, raw, round_10, unsigned);
        }
        Some(match format {
            INT32 => Self::Word,
            FP32 if raw || !round_10 => Self::Word,
            TF32 if raw => Self::Word,
            FP32 | TF32 => Self::Tf32,
            BF16 | BFP8 if raw => Self::Bf16Truncate,
            BF16 if round_10 => Self::Tf32,
            BF16 => Self::Bf16Round,
            BFP8 => Self::E8m6,
            FP16 if round_10 => Self::Tf32ThenFp16,
            INT16 => Self::High16,
            INT8 => match (raw, unsigned) {
                (false, false) => Self::Int8(settings.descale_shift(z)),
                (false, true) => Self::Uint8(settings.descale_shift(z)),
                (true, false) => Self::Low7,
                (true, true) => Self::Low8,
            },
            _ => return None,
        })
    }

    fn from_16(format: u8, raw: bool, round_10: bool, unsigned: bool) -> Option<Self> {
        Some(match format {
            INT16 => Self::Raw16,
            BF16 | BFP8 if raw => Self::Bf16,
            BF16 => Self::Bf16Flush,
            TF32 if !raw => Self::Bf16Flush,
            FP32 if round_10 && !raw => Self::Bf16Flush,
            BFP8 => Self::Bf16ToE8m6,
            FP16 if raw => Self::Fp16Truncate(0xFFFF),
            FP16 if round_10 => Self::Bf16ToFp16,
            FP16 => Self::Fp16Flush,
            BFP8A if raw => Self::Fp16Truncate(0xFFF8),
            BFP8A => Self::Fp16ToE5m6,
            FP8 if raw => Self::Fp16Truncate(0xFF00),
            INT8 if raw && !unsigned => Self::Sign,
            _ => return None,
        })
    }

    /// What its results are, before a narrowing behind ReLU.
    pub(crate) const fn class(self, intermediate: u8) -> Class {
        match self {
            Self::Tf32ThenFp16 => Class::Exponent8,
            _ => match formats::class(intermediate) {
                Some(class) => class,
                None => Class::Integer,
            },
        }
    }

    /// Whether it rounds, so that stochastic rounding would matter.
    pub(crate) const fn rounds(self) -> bool {
        matches!(
            self,
            Self::Bf16ToE8m6
                | Self::Fp16ToE5m6
                | Self::Tf32
                | Self::Tf32ThenFp16
                | Self::Bf16Round
                | Self::E8m6
                | Self::Int8(1..)
                | Self::Uint8(1..)
        )
    }

    /// Whether it reads 32-bit rows.
    pub(crate) const fn is_wide(self) -> bool {
        matches!(
            self,
            Self::Word
                | Self::Tf32
                | Self::Tf32ThenFp16
                | Self::Bf16Round
                | Self::Bf16Truncate
                | Self::E8m6
                | Self::High16
                | Self::Int8(_)
                | Self::Uint8(_)
                | Self::Low7
                | Self::Low8
        )
    }

    /// Converts the cells of a row in place: 16-bit cells as stored, 32-bit cells with the high
    /// half as stored.
    #[inline]
    pub(crate) fn convert(self, row: &mut Row) {
        match self {
            Self::Raw16 => each(row, |cell| cell << 16),
            Self::Bf16 => each(row, |cell| bf16(cell) << 16),
            Self::Bf16Flush => each(row, |cell| flush_bf16(bf16(cell)) << 16),
            Self::Bf16ToE8m6 => each(row, |cell| to_e8m6(bf16(cell)) << 16),
            Self::Bf16ToFp16 => each(row, |cell| to_fp16(bf16(cell) << 16) << 16),
            Self::Fp16Truncate(mask) => each(row, |cell| (fp16(cell) & u32::from(mask)) << 16),
            Self::Fp16Flush => each(row, |cell| flush_fp16(fp16(cell)) << 16),
            Self::Fp16ToE5m6 => each(row, |cell| to_e5m6(fp16(cell)) << 16),
            Self::Sign => each(row, |cell| (cell & 0x8000) << 16),
            Self::Word => each(row, fp32),
            Self::Tf32 | Self::Tf32ThenFp16 => each(row, |cell| round_at(fp32(cell), 13)),
            Self::Bf16Round => each(row, |cell| round_at(fp32(cell), 16)),
            Self::Bf16Truncate => each(row, |cell| fp32(cell) & 0xFFFF_0000),
            // The low half does not take part, not even in a tie.
            Self::E8m6 => each(row, |cell| round_at(fp32(cell) & 0xFFFF_0000, 17)),
            Self::High16 => each(row, |cell| cell & 0xFFFF_0000),
            Self::Int8(shift) => each(row, |cell| to_int8(fp32(cell), shift) << 24),
            Self::Uint8(shift) => each(row, |cell| to_uint8(fp32(cell), shift) << 24),
            Self::Low7 => each(row, |cell| {
                let value = fp32(cell);
                value & 0x8000_0000 | (value & 0x7F) << 24
            }),
            Self::Low8 => each(row, |cell| fp32(cell) << 24),
        }
    }
}

#[inline]
fn each(row: &mut Row, convert: impl Fn(u32) -> u32) {
    for datum in row {
        *datum = convert(*datum);
    }
}

/// The BF16 pattern of a cell, whose mantissa and exponent are swapped `[spec: numerics 1.3]`.
pub(crate) const fn bf16(cell: u32) -> u32 {
    cell & 0x8000 | (cell & 0xFF) << 7 | cell >> 8 & 0x7F
}

/// The FP16 pattern of a cell.
pub(crate) const fn fp16(cell: u32) -> u32 {
    cell & 0x8000 | (cell & 0x1F) << 10 | cell >> 5 & 0x3FF
}

/// The cell of a BF16 pattern.
pub(crate) const fn bf16_cell(value: u32) -> u32 {
    value & 0x8000 | (value & 0x7F) << 8 | value >> 7 & 0xFF
}

/// The cell of an FP16 pattern.
pub(crate) const fn fp16_cell(value: u32) -> u32 {
    value & 0x8000 | (value & 0x3FF) << 5 | value >> 10 & 0x1F
}

/// The 32-bit cell of an FP32 or INT32 pattern.
pub(crate) const fn fp32_cell(value: u32) -> u32 {
    bf16_cell(value >> 16) << 16 | value & 0xFFFF
}

/// The FP32 or INT32 pattern of a 32-bit cell, whose high half is laid out as BF16.
pub(crate) const fn fp32(cell: u32) -> u32 {
    bf16(cell >> 16) << 16 | cell & 0xFFFF
}

const fn flush_bf16(value: u32) -> u32 {
    if value & 0x7F80 == 0 {
        0
    } else if value & 0x7FFF > 0x7F80 {
        value & 0x8000 | 0x7F80
    } else {
        value
    }
}

const fn flush_fp16(value: u32) -> u32 {
    if value & 0x7C00 == 0 { 0 } else { value }
}

/// BF16 pattern with the mantissa rounded to six bits; infinity stays.
const fn to_e8m6(value: u32) -> u32 {
    let value = flush_bf16(value);
    if value == 0 { 0 } else { (value + 1) & 0xFFFE }
}

/// FP16 pattern with the mantissa rounded to six bits, saturating.
const fn to_e5m6(value: u32) -> u32 {
    if value & 0x7FFF > 0x7FF7 {
        return value & 0x8000 | 0x7FF0;
    }
    let value = (value + 8) & 0xFFF0;
    if value & 0x7C00 == 0 { 0 } else { value }
}

const fn nan_to_infinity(value: u32) -> u32 {
    if value & 0x7FFF_FFFF > 0x7F80_0000 { value & 0x8000_0000 | 0x7F80_0000 } else { value }
}

/// FP32 pattern with the mantissa rounded at bit `bit`. A denormal that rounds up to a normal
/// number stays.
const fn round_at(value: u32, bit: u32) -> u32 {
    let value = nan_to_infinity(value);
    let value = value.wrapping_add(1 << (bit - 1)) & !((1 << bit) - 1);
    if value & 0x7F80_0000 == 0 { 0 } else { value }
}

/// FP16 pattern of an FP32 pattern: rebiased without rounding, saturating; an exponent of exactly
/// zero keeps its mantissa `[spec: numerics 4.1, 4.3]`.
pub(crate) const fn to_fp16(value: u32) -> u32 {
    let sign = value >> 16 & 0x8000;
    let exponent = value >> 23 & 0xFF;
    if exponent < 112 {
        sign
    } else if exponent > 112 + 31 {
        sign | 0x7FFF
    } else {
        sign | (exponent - 112) << 10 | value >> 13 & 0x3FF
    }
}

/// Magnitude shifted right, rounding half away from zero.
const fn shift_rounding(magnitude: u32, shift: u32) -> u32 {
    if shift == 0 { magnitude } else { ((magnitude >> (shift - 1)) + 1) >> 1 }
}

const fn to_int8(value: u32, shift: u32) -> u32 {
    let magnitude = shift_rounding(value & 0x7FFF_FFFF, shift);
    value >> 24 & 0x80 | if magnitude > 127 { 127 } else { magnitude }
}

const fn to_uint8(value: u32, shift: u32) -> u32 {
    if value >> 31 != 0 {
        return 0;
    }
    let magnitude = shift_rounding(value, shift);
    if magnitude > 255 { 255 } else { magnitude }
}
