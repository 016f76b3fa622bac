//! Conversions between a Dst cell and a lane of a vector register, one cell at a time.
//!
//! Dst keeps BF16 as sign, mantissa, exponent and FP16 likewise; the high half of a 32-bit cell is
//! kept like a BF16 `[isa-bh: TensixCoprocessor/Dst.md]`, `[spec: numerics 1.3]`.

use crate::state::dst::{decode_fp32, encode_fp32};

/// Ways to convert: `MOD0_FMT_*` of `[isa-bh: TensixCoprocessor/SFPLOAD.md]`, `SFPSTORE.md`.
pub(super) mod mode {
    pub(crate) const SRCB: u32 = 0;
    pub(crate) const FP16: u32 = 1;
    pub(crate) const BF16: u32 = 2;
    pub(crate) const FP32: u32 = 3;
    pub(crate) const INT32: u32 = 4;
    pub(crate) const INT8: u32 = 5;
    pub(crate) const UINT16: u32 = 6;
    pub(crate) const HI16: u32 = 7;
    pub(crate) const INT16: u32 = 8;
    pub(crate) const LO16: u32 = 9;
    pub(crate) const INT32_ALL: u32 = 10;
    pub(crate) const ZERO: u32 = 11;
    pub(crate) const INT32_SM: u32 = 12;
    pub(crate) const INT8_COMP: u32 = 13;
    pub(crate) const LO16_ONLY: u32 = 14;
    pub(crate) const HI16_ONLY: u32 = 15;
}

const SIGN: u32 = 0x8000_0000;

/// What `MOD0_FMT_SRCB` means for a format code: modes of the 8-bit exponent class as BF16, all
/// others as FP16.
pub(super) const fn implied(format: u32) -> u32 {
    match format {
        // FP32, TF32, BF16, BFP8, BFP4, INT32, INT16, BFP2.
        0 | 4..=9 | 15 => mode::BF16,
        _ => mode::FP16,
    }
}

/// Whether SFPLOAD reads a 32-bit cell.
pub(super) const fn loads_word(mode: u32) -> bool {
    matches!(mode, mode::FP32 | mode::INT32 | mode::INT32_ALL | mode::INT32_SM)
}

/// Whether SFPSTORE writes a 32-bit cell.
pub(super) const fn stores_word(mode: u32) -> bool {
    loads_word(mode) || matches!(mode, mode::HI16 | mode::LO16)
}

/// Calls `work` with the mode as a constant in each of its copies, so that loops over lanes need
/// not ask for it. Modes without a number of their own here convert alike.
#[inline(always)]
pub(super) fn with_known(mode: u32, work: impl FnOnce(u32)) {
    match mode {
        mode::FP16 => work(mode::FP16),
        mode::BF16 => work(mode::BF16),
        mode::FP32 => work(mode::FP32),
        mode::INT32 | mode::INT32_ALL | mode::INT32_SM => work(mode::INT32),
        mode::INT8 => work(mode::INT8),
        mode::UINT16 => work(mode::UINT16),
        mode::HI16 => work(mode::HI16),
        mode::INT16 => work(mode::INT16),
        mode::LO16 => work(mode::LO16),
        mode::INT8_COMP => work(mode::INT8_COMP),
        mode::LO16_ONLY => work(mode::LO16_ONLY),
        mode::HI16_ONLY => work(mode::HI16_ONLY),
        _ => work(mode::ZERO),
    }
}

/// Evaluates an expression with a mode of half-words as a constant: one copy per way to convert.
/// Another one for modes of whole words.
macro_rules! with_half_mode {
    ($mode:expr, $known:ident => $work:expr, else $other:expr) => {
        with_half_mode!(@ $mode, $known, $work, $other, FP16 BF16 INT8 UINT16 HI16 INT16 LO16 ZERO
            INT8_COMP LO16_ONLY HI16_ONLY)
    };
    (@ $mode:expr, $known:ident, $work:expr, $other:expr, $($name:ident)+) => {
        match $mode {
            $(mode::$name => {
                const $known: u32 = mode::$name;
                $work
            })+
            _ => $other,
        }
    };
}
pub(super) use with_half_mode;

/// SFPLOAD of a 32-bit cell, the same in all modes that read one.
#[inline(always)]
pub(super) const fn load_word(cell: u32) -> u32 {
    decode_fp32(cell)
}

/// SFPLOAD of a 16-bit cell in a word whose upper half is zero; `old` is the register's lane, of
/// which two modes keep a half.
#[inline(always)]
pub(super) const fn load_half(mode: u32, raw: u32, old: u32, fp16_infinity: bool) -> u32 {
    let sign = (raw & 0x8000) << 16;
    match mode {
        mode::BF16 => decode_fp32(raw << 16),
        mode::FP16 => {
            let (exponent, mantissa) = (raw & 0x1F, raw >> 5 & 0x3FF);
            if fp16_infinity && exponent == 0x1F && mantissa == 0x3FF {
                return sign | 0x7F80_0000;
            }
            let exponent = if exponent == 0 { 0 } else { exponent + 112 };
            sign | exponent << 23 | mantissa << 13
        }
        mode::INT8 => sign | raw >> 5 & 0xFF,
        mode::INT8_COMP => sign | raw >> 5 & 0x3FF,
        mode::INT16 => sign | raw & 0x7FFF,
        mode::UINT16 | mode::LO16 => raw,
        mode::HI16 => raw << 16,
        mode::LO16_ONLY => old & 0xFFFF_0000 | raw,
        mode::HI16_ONLY => raw << 16 | old & 0xFFFF,
        // `mode::ZERO`.
        _ => 0,
    }
}

/// SFPSTORE to a 32-bit cell.
#[inline(always)]
pub(super) const fn store_word(mode: u32, value: u32) -> u32 {
    match mode {
        mode::FP32 => encode_fp32(flush(value)),
        mode::HI16 => value,
        mode::LO16 => value.rotate_left(16),
        _ => encode_fp32(value),
    }
}

/// SFPSTORE to a 16-bit cell.
#[inline(always)]
pub(super) const fn store_half(mode: u32, value: u32) -> u16 {
    let sign = value >> 16 & 0x8000;
    let bits = match mode {
        mode::BF16 => encode_fp32(flush(value)) >> 16,
        mode::FP16 => sign | narrow(value),
        // The fixed exponent of integers in Dst.
        mode::INT8 | mode::INT8_COMP => sign | (value & 0x3FF) << 5 | 16,
        mode::INT16 => sign | value & 0x7FFF,
        mode::UINT16 | mode::LO16_ONLY => value,
        mode::HI16_ONLY => value >> 16,
        // `mode::ZERO`.
        _ => 0,
    };
    bits as u16
}

/// Denormals become zeros of their sign.
#[inline(always)]
const fn flush(value: u32) -> u32 {
    if value & 0x7F80_0000 == 0 { value & SIGN } else { value }
}

/// Magnitude of an FP16 cell: truncated, zero below the normal range, all ones above it.
#[inline(always)]
const fn narrow(value: u32) -> u32 {
    let exponent = (value >> 23 & 0xFF) as i32 - 112;
    if exponent <= 0 {
        0
    } else if exponent > 31 {
        0x7FFF
    } else {
        (value >> 13 & 0x3FF) << 5 | exponent as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_cells_keep_the_exponent_in_the_low_bits() {
        // [isa-bh: Dst.md]: 1.0 is exponent 127 in BF16, 15 in FP16.
        assert_eq!(store_half(mode::BF16, 0x3F80_0000), 127);
        assert_eq!(store_half(mode::FP16, 0xBF80_0000), 0x800F);
        assert_eq!(load_half(mode::BF16, 0x017F, 0, false), 0x3F81_0000);
        assert_eq!(load_half(mode::FP16, 0x002F, 0, false), 0x3F80_2000);
        assert_eq!(store_word(mode::FP32, 0x3F81_2345), 0x017F_2345);
    }

    #[test]
    fn fp16_saturates_and_flushes() {
        // [isa-bh: SFPSTORE.md] ToFP16; [isa-bh: SFPLOAD.md] ReadFP16.
        for (value, expected) in [
            (0x4780_0000, 0x001F),
            (0x4800_0000, 0x7FFF),
            (0xFFC0_0000, 0xFFFF),
            (0xB800_0000, 0x8000),
            (0x3880_0000, 0x0001),
        ] {
            assert_eq!(store_half(mode::FP16, value), expected, "{value:x}");
        }
        assert_eq!(load_half(mode::FP16, 0xFFFF, 0, true), 0xFF80_0000);
        assert_eq!(load_half(mode::FP16, 0xFFFF, 0, false), 0xC7FF_E000);
        assert_eq!(load_half(mode::FP16, 0x0020, 0, false), 0x0000_2000);
    }

    #[test]
    fn integer_modes_move_the_documented_bits() {
        assert_eq!(store_half(mode::INT8, 0x8000_0003), 0x8000 | 3 << 5 | 16);
        assert_eq!(load_half(mode::INT8, 0xFFF0, 0, false), 0x8000_00FF);
        assert_eq!(load_half(mode::INT8_COMP, 0xFFF0, 0, false), 0x8000_03FF);
        assert_eq!(store_half(mode::INT16, 0x8001_0005), 0x8005);
        assert_eq!(load_half(mode::INT16, 0x8005, 0, false), 0x8000_0005);
        assert_eq!(load_half(mode::LO16_ONLY, 0x1234, 0xABCD_EF01, false), 0xABCD_1234);
        assert_eq!(load_half(mode::HI16_ONLY, 0x1234, 0xABCD_EF01, false), 0x1234_EF01);
        assert_eq!(store_word(mode::LO16, 0x1234_5678), 0x5678_1234);
        assert_eq!(store_word(mode::FP32, 0x8000_0001), 0x8000_0000);
        assert_eq!(store_word(mode::INT32, 0x8000_0001), 0x8000_0001);
        assert_eq!((implied(6), implied(1), implied(15), implied(14)), (2, 1, 2, 1));
    }

    /// FP16 of a cell, as a number: exponent 31 is one like others, denormals are what they are.
    fn fp16_number(cell: u16) -> f64 {
        let (exponent, mantissa) = (cell & 0x1F, f64::from(cell >> 5 & 0x3FF));
        match exponent {
            0 => mantissa * (-24.0_f64).exp2(),
            _ => (1024.0 + mantissa) * (f64::from(exponent) - 25.0).exp2(),
        }
    }

    #[test]
    fn every_half_loads_as_its_number_and_stores_back() {
        // [isa-bh: SFPLOAD.md, SFPSTORE.md, Dst.md], by value.
        for cell in 0..=u16::MAX {
            let sign = u32::from(cell >> 15) << 31;
            // BF16: sign, seven bits of mantissa, eight of exponent.
            let pattern = u32::from(cell & 0xFF) << 23 | u32::from(cell >> 8 & 0x7F) << 16;
            let loaded = load_half(mode::BF16, u32::from(cell), 0, false);
            assert_eq!(loaded, sign | pattern, "{cell:#06x}");
            let kept = if cell & 0xFF == 0 { cell & 0x8000 } else { cell };
            assert_eq!(store_half(mode::BF16, loaded), kept, "{cell:#06x}");
            // FP16: normal numbers keep their value, denormals their mantissa.
            let loaded = load_half(mode::FP16, u32::from(cell), 0, false);
            assert_eq!(loaded & SIGN, sign, "{cell:#06x}");
            if cell & 0x1F != 0 {
                let number = f64::from(f32::from_bits(loaded & !SIGN));
                assert_eq!(number, fp16_number(cell), "{cell:#06x}");
                assert_eq!(store_half(mode::FP16, loaded), cell, "{cell:#06x}");
            } else {
                assert_eq!(loaded & !SIGN, u32::from(cell >> 5 & 0x3FF) << 13, "{cell:#06x}");
                assert_eq!(store_half(mode::FP16, loaded), cell & 0x8000, "{cell:#06x}");
            }
            // Integers: sign and magnitude.
            assert_eq!(
                load_half(mode::INT16, u32::from(cell), 0, false),
                sign | u32::from(cell & 0x7FFF)
            );
            assert_eq!(store_half(mode::INT16, sign | u32::from(cell & 0x7FFF)), cell);
            for (read, value) in
                [(mode::UINT16, u32::from(cell)), (mode::LO16_ONLY, u32::from(cell))]
            {
                assert_eq!(load_half(read, u32::from(cell), 0, false), value);
                assert_eq!(store_half(read, value), cell);
            }
        }
    }

    #[test]
    fn every_upper_half_of_a_float_stores_truncated() {
        let greatest = (2.0 - (-10.0_f64).exp2()) * 16.0_f64.exp2();
        for high in 0..=0xFFFF_u32 {
            for low in [0, 1, 0x1FFF, 0x2000, 0x7FFF, 0x8000, 0xFFFF] {
                let bits = high << 16 | low;
                let float = f64::from(f32::from_bits(bits & !SIGN));
                let cell = store_half(mode::FP16, bits);
                assert_eq!(u32::from(cell >> 15), bits >> 31, "{bits:#010x}");
                let expected = if float.is_nan() || float > greatest {
                    greatest
                } else if float < (-14.0_f64).exp2() {
                    0.0
                } else {
                    let quantum = (float.log2().floor() - 10.0).exp2();
                    (float / quantum).floor() * quantum
                };
                assert_eq!(fp16_number(cell & 0x7FFF), expected, "{bits:#010x}");
                let denormal = float < (-126.0_f64).exp2();
                let kept = if denormal { bits & SIGN } else { bits };
                let bf16 = store_half(mode::BF16, bits);
                assert_eq!(load_half(mode::BF16, u32::from(bf16), 0, false), kept & 0xFFFF_0000);
                assert_eq!(decode_fp32(store_word(mode::FP32, bits)), kept, "{bits:#010x}");
                assert_eq!(decode_fp32(store_word(mode::INT32, bits)), bits, "{bits:#010x}");
            }
        }
    }
}
