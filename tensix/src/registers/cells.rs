//! Contents of SrcA, SrcB and Dst, and what their cells mean in each format.
//!
//! Cells are given as stored; a format says how to read them. Nothing here is how the units
//! compute: a reader wants to see a denormal as what it is, while the matrix unit takes it as zero.
//!
//! Sources: `[isa-bh: TensixCoprocessor/Dst.md]`, `[isa-wh: TensixCoprocessor/SrcASrcB.md]`,
//! `[spec: numerics 1.2, 1.3, 1.4]`.

use isa::config::field;

use super::{Register, RegisterValue};
use crate::state::dst::{
    DST_ROWS, Dst, DstMap, decode_bf16, decode_fp16, decode_fp32, encode_bf16,
};
use crate::state::src::SrcBanks;
use crate::units::config::ConfigUnit;

/// Thread whose configuration says how Dst is read: the one of the matrix unit's kernels.
const MATH_THREAD: usize = 1;

/// Which register file a cell is of, and with which width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellKind {
    /// 19 bits of SrcA or SrcB: sign 18, exponent 17:10, mantissa 9:0.
    Src,
    /// 16 bits of Dst, fields rotated.
    Dst16,
    /// 32 bits of Dst, fields rotated.
    Dst32,
}

/// How a cell is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellFormat {
    /// As stored.
    Raw,
    /// 8 exponent bits, 23 mantissa bits.
    Fp32,
    /// 8 exponent bits, 10 mantissa bits.
    Tf32,
    /// 8 exponent bits, 7 mantissa bits.
    Bf16,
    /// 5 exponent bits, 10 mantissa bits; exponent 31 is a number like others.
    Fp16,
    /// Sign and magnitude in the mantissa of an FP16.
    Int8,
    /// Sign and 15 bits of magnitude.
    Int16,
    /// Sign and 31 bits of magnitude.
    Int32,
}

/// A cell, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellValue {
    /// Bits with no reading: the format does not exist in that register file.
    Bits(u32),
    /// The bits of an FP32.
    Float(u32),
    /// An integer.
    Integer(i32),
}

/// One row of cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellRow {
    /// Its number, as instructions count.
    pub row: u32,
    /// Whether it reads as what it holds; an invalid row of Dst reads as zero.
    pub valid: bool,
    /// Sixteen cells, by column, as stored.
    pub cells: Vec<u32>,
}

/// Rows of one register file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cells {
    /// Which file.
    pub kind: CellKind,
    /// The format that the configuration, or the unpacker that filled the bank, speaks of.
    pub format: CellFormat,
    /// Whether this is the width in force; Dst is given in both.
    pub in_force: bool,
    /// All rows in order.
    pub rows: Vec<CellRow>,
}

impl CellFormat {
    /// The format of Src or half-word Dst that a data format code becomes `[spec: numerics 1.1]`.
    const fn of_code(code: u32) -> Self {
        match code {
            0 | 4 => Self::Tf32,
            1 | 2 | 3 | 10 | 11 => Self::Fp16,
            8 => Self::Raw,
            9 => Self::Int16,
            14 => Self::Int8,
            _ => Self::Bf16,
        }
    }

    /// What a cell of `kind` holds, read in this format.
    #[must_use]
    pub const fn value(self, kind: CellKind, cell: u32) -> CellValue {
        match kind {
            CellKind::Src => self.of_src(cell),
            CellKind::Dst16 => self.of_half(cell as u16),
            CellKind::Dst32 => self.of_word(cell),
        }
    }

    const fn of_src(self, cell: u32) -> CellValue {
        let half = cell >> 3 & 0xFFFF;
        match self {
            Self::Tf32 | Self::Fp32 => CellValue::Float(cell << 13),
            Self::Bf16 => CellValue::Float(half << 16),
            Self::Fp16 => fp16(cell >> 3 & 0x8000 | cell & 0x7FFF),
            Self::Int8 => signed(cell >> 18 & 1, cell & 0x3FF),
            Self::Int16 => {
                let raw = encode_bf16(half as u16) as u32;
                signed(raw >> 15, raw & 0x7FFF)
            }
            Self::Raw | Self::Int32 => CellValue::Bits(cell),
        }
    }

    const fn of_half(self, cell: u16) -> CellValue {
        let raw = cell as u32;
        match self {
            Self::Bf16 => CellValue::Float((decode_bf16(cell) as u32) << 16),
            Self::Fp16 => fp16(decode_fp16(cell) as u32),
            Self::Int8 => signed(raw >> 15, raw >> 5 & 0x3FF),
            Self::Int16 => signed(raw >> 15, raw & 0x7FFF),
            Self::Raw | Self::Fp32 | Self::Tf32 | Self::Int32 => CellValue::Bits(raw),
        }
    }

    const fn of_word(self, cell: u32) -> CellValue {
        let value = decode_fp32(cell);
        match self {
            Self::Fp32 => CellValue::Float(value),
            Self::Tf32 => CellValue::Float(value & !0x1FFF),
            Self::Bf16 => CellValue::Float(value & !0xFFFF),
            Self::Int32 | Self::Int16 | Self::Int8 => signed(value >> 31, value & 0x7FFF_FFFF),
            Self::Raw | Self::Fp16 => CellValue::Bits(cell),
        }
    }
}

const fn signed(sign: u32, magnitude: u32) -> CellValue {
    let magnitude = (magnitude & 0x7FFF_FFFF) as i32;
    CellValue::Integer(if sign & 1 != 0 { -magnitude } else { magnitude })
}

/// An FP16 as FP32, which holds all of them; exponent 31 is an exponent.
const fn fp16(value: u32) -> CellValue {
    let (sign, exponent, mantissa) = ((value & 0x8000) << 16, value >> 10 & 31, value & 0x3FF);
    if exponent != 0 {
        return CellValue::Float(sign | (exponent + 112) << 23 | mantissa << 13);
    }
    if mantissa == 0 {
        return CellValue::Float(sign);
    }
    // The mantissa's leading bit, `31 - zeros`, becomes the hidden bit.
    let zeros = mantissa.leading_zeros();
    let shift = zeros - 21;
    CellValue::Float(sign | (113 - shift) << 23 | (mantissa << shift & 0x3FF) << 13)
}

/// SrcA and SrcB: ownership, pointers and contents.
pub(super) fn src_banks(banks: &[SrcBanks; 2]) -> Register {
    let banks = ["a", "b"].into_iter().zip(banks);
    Register::group("src", banks.map(|(name, banks)| src(name, banks)))
}

/// Dst in both widths, as the matrix unit's thread maps its rows.
pub(super) fn dst(config: &ConfigUnit, dst: &Dst) -> Register {
    let of = |field| config.state_field(MATH_THREAD, field);
    let integer = of(&field::ALU_ACC_CTRL_INT8_math_enabled) != 0;
    let wide = integer || of(&field::ALU_ACC_CTRL_Fp32_enabled) != 0;
    let wide_format = if integer { CellFormat::Int32 } else { CellFormat::Fp32 };
    let narrow = match CellFormat::of_code(of(&field::ALU_FORMAT_SPEC_REG2_Dstacc)) {
        CellFormat::Tf32 | CellFormat::Raw => CellFormat::Bf16,
        format => format,
    };
    let map = DstMap::of(&config.states[config.state_id(MATH_THREAD)]);
    let rows16 = Cells {
        kind: CellKind::Dst16,
        format: narrow,
        in_force: !wide,
        rows: (0..DST_ROWS as u32).map(|row| half_row(dst, map, row)).collect(),
    };
    let rows32 = Cells {
        kind: CellKind::Dst32,
        format: wide_format,
        in_force: wide,
        rows: (0..DST_ROWS as u32 / 2).map(|row| word_row(dst, map, row)).collect(),
    };
    Register::group(
        "dst",
        [
            Register::new("rows16", RegisterValue::Cells(rows16)),
            Register::new("rows32", RegisterValue::Cells(rows32)),
        ],
    )
}

fn half_row(dst: &Dst, map: DstMap, row: u32) -> CellRow {
    let physical = map.row16(row);
    let cells = dst.cells[physical as usize].iter().map(|&cell| u32::from(cell)).collect();
    CellRow { row, valid: dst.is_valid(physical), cells }
}

fn word_row(dst: &Dst, map: DstMap, row: u32) -> CellRow {
    let physical = map.row32(row) as usize;
    let halves = dst.cells[physical].iter().zip(&dst.cells[physical + 8]);
    let cells = halves.map(|(&high, &low)| u32::from(high) << 16 | u32::from(low)).collect();
    CellRow { row, valid: dst.is_valid(physical as u32), cells }
}

fn src(name: &'static str, banks: &SrcBanks) -> Register {
    let client = |matrix: bool| if matrix { "matrix unit" } else { "unpackers" };
    let contents = |bank: usize| {
        let rows = (0..).zip(&banks.cells[bank]).map(|(row, cells)| CellRow {
            row,
            valid: true,
            cells: cells.to_vec(),
        });
        RegisterValue::Cells(Cells {
            kind: CellKind::Src,
            format: CellFormat::of_code(u32::from(banks.implied_format[bank])),
            in_force: true,
            rows: rows.collect(),
        })
    };
    Register::group(
        name,
        [
            Register::text("bank0_client", client(banks.owned_by_matrix(false))),
            Register::text("bank1_client", client(banks.owned_by_matrix(true))),
            Register::number("unpacker_bank", banks.unpacker_bank()),
            Register::number("matrix_bank", banks.matrix_bank()),
            Register::words("implied_format", banks.implied_format.map(u32::from)),
            Register::new("bank0", contents(0)),
            Register::new("bank1", contents(1)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fp16_of_every_pattern_is_its_value() {
        // IEEE 754 binary16 without infinities: (-1)^s 2^(e-15) 1.m, or 2^-14 0.m.
        for bits in 0..=0xFFFF_u32 {
            let (sign, exponent, mantissa) = (bits >> 15, bits >> 10 & 31, bits & 0x3FF);
            let scale = if exponent == 0 { -24 } else { exponent as i32 - 25 };
            let significand = if exponent == 0 { mantissa } else { mantissa + 1024 };
            let magnitude = f64::from(significand) * f64::from(scale).exp2();
            let CellValue::Float(found) = fp16(bits) else { panic!("a float") };
            assert_eq!(f64::from(f32::from_bits(found & 0x7FFF_FFFF)), magnitude, "{bits:#06x}");
            assert_eq!(found >> 31, sign, "{bits:#06x}");
        }
    }

    #[test]
    fn integers_are_sign_and_magnitude() {
        // [spec: numerics 1.2, 1.3]
        let value = |format: CellFormat, kind, cell| format.value(kind, cell);
        assert_eq!(
            value(CellFormat::Int8, CellKind::Src, 1 << 18 | 16 << 10 | 5),
            CellValue::Integer(-5)
        );
        let half = u32::from(0x8000_u16 | 5 << 5 | 16);
        assert_eq!(value(CellFormat::Int8, CellKind::Dst16, half), CellValue::Integer(-5));
        assert_eq!(value(CellFormat::Int16, CellKind::Dst16, 0x8005), CellValue::Integer(-5));
        assert_eq!(value(CellFormat::Int32, CellKind::Dst32, 0x8000_0005), CellValue::Integer(-5));
    }
}
