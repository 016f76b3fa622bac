//! Format codes as the packer reads them, and what a datum looks like between the stages.
//!
//! Between the stages a datum is a 32-bit word with its sign in bit 31, whatever its format:
//!
//! ```text
//! Exponent8   31 sign | 30:23 exponent | 22:0 mantissa      an FP32 pattern; BF16 in the top half
//! Exponent5   31 sign | 30:26 exponent | 25:16 mantissa     an FP16 pattern in the top half
//! Integer     left-aligned: INT32 31:0, INT16 31:16, INT8 31:24
//! ```
//!
//! Source: `[spec: numerics 1.1]`, `[isa-wh: TensixCoprocessor/Packers/FormatConversion.md]`.

pub(crate) const FP32: u8 = 0;
pub(crate) const FP16: u8 = 1;
pub(crate) const BFP8A: u8 = 2;
pub(crate) const BFP4A: u8 = 3;
pub(crate) const TF32: u8 = 4;
pub(crate) const BF16: u8 = 5;
pub(crate) const BFP8: u8 = 6;
pub(crate) const BFP4: u8 = 7;
pub(crate) const INT32: u8 = 8;
pub(crate) const INT16: u8 = 9;
pub(crate) const FP8: u8 = 10;
pub(crate) const BFP2A: u8 = 11;
pub(crate) const INT8: u8 = 14;
pub(crate) const BFP2: u8 = 15;

/// What the bits of a datum between the stages mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// Floating point with eight exponent bits.
    Exponent8,
    /// Floating point with five exponent bits.
    Exponent5,
    /// Sign-magnitude or opaque integer.
    Integer,
}

/// How a format code reads as `IntermediateFormat` or `LateFromFormat`; `None` for 12 and 13,
/// which name nothing.
pub(crate) const fn class(format: u8) -> Option<Class> {
    match format {
        FP32 | TF32 | BF16 | BFP8 | BFP4 | BFP2 => Some(Class::Exponent8),
        FP16 | BFP8A | BFP4A | BFP2A | FP8 => Some(Class::Exponent5),
        INT32 | INT16 | INT8 => Some(Class::Integer),
        _ => None,
    }
}

/// The code that an intermediate or late-from format stands for: the narrow block formats name
/// the same per-datum type as their eight-bit relative. The documents call them invalid here, the
/// vendor's library programs them `[llk: cpack_common.h]` [unknown: U-046].
pub(crate) const fn per_datum(format: u8) -> u8 {
    match format {
        BFP4 | BFP2 => BFP8,
        BFP4A | BFP2A => BFP8A,
        other => other,
    }
}

/// Whether an output format has one exponent per 16 datums.
pub(crate) const fn is_block(format: u8) -> bool {
    matches!(format, BFP8 | BFP4 | BFP2 | BFP8A | BFP4A | BFP2A)
}

/// Bytes that 16 datums of an output format take in L1, block exponents apart.
pub(crate) const fn bytes_per_16(format: u8) -> usize {
    match format & 3 {
        0 => 64,
        1 => 32,
        2 => 16,
        _ if format & 8 != 0 => 4,
        _ => 8,
    }
}

/// log2 of the bytes per datum that the input address generator assumes.
pub(crate) const fn input_shift(format: u8) -> u32 {
    match format & 3 {
        0 => 2,
        1 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_per_16_follow_the_datum_widths() {
        // [isa-wh: Packers/FormatConversion.md], section "Final L1 output format".
        for (format, bits) in [
            (FP32, 32),
            (TF32, 32),
            (INT32, 32),
            (FP16, 16),
            (BF16, 16),
            (INT16, 16),
            (FP8, 8),
            (INT8, 8),
            (BFP8, 8),
            (BFP8A, 8),
            (BFP4, 4),
            (BFP4A, 4),
            (BFP2, 2),
            (BFP2A, 2),
        ] {
            assert_eq!(bytes_per_16(format), bits * 2, "format {format}");
        }
    }
}
