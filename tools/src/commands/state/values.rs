//! Cells and words in a format, as text and as JSON.

use serde_json::{Value, json};
use tensix::{CellFormat, CellKind, CellValue};

/// The name of a format in text and JSON.
pub(super) const fn format_name(format: CellFormat) -> &'static str {
    match format {
        CellFormat::Raw => "raw",
        CellFormat::Fp32 => "fp32",
        CellFormat::Tf32 => "tf32",
        CellFormat::Bf16 => "bf16",
        CellFormat::Fp16 => "fp16",
        CellFormat::Int8 => "int8",
        CellFormat::Int16 => "int16",
        CellFormat::Int32 => "int32",
    }
}

/// The name of a register file in JSON.
pub(super) const fn kind_name(kind: CellKind) -> &'static str {
    match kind {
        CellKind::Src => "src",
        CellKind::Dst16 => "dst16",
        CellKind::Dst32 => "dst32",
    }
}

/// A word of a vector register or a GPR, read in a format. Unlike integers in Dst, those here are
/// in two's complement; narrow formats are those of the low bits.
pub(super) fn of_word(word: u32, format: CellFormat) -> CellValue {
    let half = word as u16;
    match format {
        CellFormat::Raw => CellValue::Bits(word),
        CellFormat::Fp32 => CellValue::Float(word),
        CellFormat::Tf32 => CellValue::Float(word & !0x1FFF),
        CellFormat::Bf16 => CellValue::Float(u32::from(half) << 16),
        CellFormat::Fp16 => {
            // The same bits as a cell of SrcA: five exponent bits in a field of eight.
            let cell = u32::from(half & 0x8000) << 3 | u32::from(half & 0x7FFF);
            CellFormat::Fp16.value(CellKind::Src, cell)
        }
        CellFormat::Int8 => CellValue::Integer(i32::from(word as i8)),
        CellFormat::Int16 => CellValue::Integer(i32::from(word as i16)),
        CellFormat::Int32 => CellValue::Integer(word as i32),
    }
}

/// For people: short, and a number that a person can tell from its neighbours.
pub(super) fn text(value: CellValue, kind_digits: usize) -> String {
    match value {
        CellValue::Bits(bits) => format!("{bits:0kind_digits$x}"),
        CellValue::Integer(integer) => integer.to_string(),
        CellValue::Float(bits) => {
            let float = f32::from_bits(bits);
            let magnitude = float.abs();
            if magnitude != 0.0 && !(1e-4..1e7).contains(&magnitude) && float.is_finite() {
                format!("{float:.4e}")
            } else {
                let text = format!("{float:.6}");
                let short = text.trim_end_matches('0').trim_end_matches('.');
                if text.contains('.') { short.to_owned() } else { text }
            }
        }
    }
}

/// For programs: a number, or the name of one that JSON cannot write.
pub(super) fn object(value: CellValue) -> Value {
    match value {
        CellValue::Bits(bits) => json!(bits),
        CellValue::Integer(integer) => json!(integer),
        CellValue::Float(bits) => {
            let float = f32::from_bits(bits);
            if float.is_finite() { json!(float) } else { json!(float.to_string()) }
        }
    }
}

/// Hexadecimal digits of a stored cell.
pub(super) const fn digits(kind: CellKind) -> usize {
    match kind {
        CellKind::Src => 5,
        CellKind::Dst16 => 4,
        CellKind::Dst32 => 8,
    }
}

/// Whether a leaf holds numbers that somebody may want to see in a format.
pub(super) fn is_data(group: &str, name: &str) -> bool {
    name.starts_with("lreg") || group.contains(".gpr.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_short_and_exact_enough() {
        let shown = |float: f32| text(CellValue::Float(float.to_bits()), 8);
        let expected = ["0", "-0", "1", "-2.5", "100", "0.333333", "1.0000e10", "inf", "NaN"];
        let values =
            [0.0, -0.0, 1.0, -2.5, 100.0, 1.0 / 3.0, 1e10, f32::INFINITY, f32::NAN].map(shown);
        assert_eq!(values, expected);
    }

    #[test]
    fn words_are_read_from_their_low_bits() {
        assert_eq!(of_word(0x1234_BF80, CellFormat::Bf16), CellValue::Float(0xBF80_0000));
        assert_eq!(of_word(0x0000_BC00, CellFormat::Fp16), CellValue::Float(0xBF80_0000));
        assert_eq!(of_word(0xFFFF_FFFE, CellFormat::Int32), CellValue::Integer(-2));
        assert_eq!(of_word(0x0000_00FF, CellFormat::Int8), CellValue::Integer(-1));
    }
}
