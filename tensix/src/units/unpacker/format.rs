//! Format conversion: what becomes of a datum between L1 and a cell of SrcA, SrcB or Dst.
//!
//! A conversion has two steps. The first brings a datum to the shape of FP32, BF16, FP16 or opaque
//! bits; the second lays those out for the destination. Both work on slices, so that a row of
//! sixteen costs two dispatches.
//!
//! Not here: reading L1, and which formats the configuration selects.
//!
//! Sources: `[isa-wh: TensixCoprocessor/UNPACR_Regular.md]`, `[spec: numerics 2]`; for Dst
//! `[isa-bh: TensixCoprocessor/Dst.md]`.

use super::sink::COLUMNS;

/// Format codes `[spec: numerics 1.1]`.
pub(crate) mod code {
    pub(crate) const FP32: u32 = 0;
    pub(crate) const FP16: u32 = 1;
    pub(crate) const BFP8A: u32 = 2;
    pub(crate) const BFP4A: u32 = 3;
    pub(crate) const TF32: u32 = 4;
    pub(crate) const BF16: u32 = 5;
    pub(crate) const BFP8: u32 = 6;
    pub(crate) const BFP4: u32 = 7;
    pub(crate) const INT32: u32 = 8;
    pub(crate) const INT16: u32 = 9;
    pub(crate) const FP8: u32 = 10;
    pub(crate) const BFP2A: u32 = 11;
    pub(crate) const INT8: u32 = 14;
    pub(crate) const BFP2: u32 = 15;
}

/// Bits of a datum in L1, shared exponent apart; `None` for codes 12 and 13.
pub(crate) const fn datum_bits(format: u32) -> Option<u32> {
    match format {
        code::BFP2 | code::BFP2A => Some(2),
        code::BFP4 | code::BFP4A => Some(4),
        code::BFP8 | code::BFP8A | code::FP8 | code::INT8 => Some(8),
        code::FP16 | code::BF16 | code::INT16 => Some(16),
        code::FP32 | code::TF32 | code::INT32 => Some(32),
        _ => None,
    }
}

/// Whether 16 consecutive datums share an exponent.
pub(crate) const fn is_bfp(format: u32) -> bool {
    matches!(format, code::BFP8 | code::BFP8A | code::BFP4 | code::BFP4A | code::BFP2 | code::BFP2A)
}

/// Whether output addresses of this format count in units of four bytes, and a Dst cell takes two
/// half-words.
pub(crate) const fn is_wide(format: u32) -> bool {
    matches!(format, code::FP32 | code::TF32 | code::INT32)
}

/// First step: how a datum of L1 becomes a value of up to 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Normalise {
    /// Its bits are the value.
    Keep,
    /// FP32 to BF16, truncating.
    Bf16FromFp32,
    /// FP32 to FP16, truncating, saturating.
    Fp16FromFp32,
    /// FP8 with five exponent bits to FP16.
    Fp16FromE5m2,
    /// FP8 with four exponent bits to FP16.
    Fp16FromE4m3,
    /// Sign and magnitude byte to FP16 with exponent 16.
    Fp16FromInt8,
    /// Unsigned byte to FP16 with exponent 16.
    Fp16FromUint8,
    /// BFP with eight exponent bits to BF16; the shift makes it BFP8.
    Bf16FromBfp { shift: u8 },
    /// BFP with five exponent bits to FP16; the shift makes it BFP8a.
    Fp16FromBfp { shift: u8 },
}

/// Second step: where the bits of a value go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// FP32 to a TF32 cell of Src.
    SrcTf32,
    /// BF16 to a cell of Src.
    SrcBf16,
    /// FP16 to a cell of Src.
    SrcFp16,
    /// 16 opaque bits to a cell of Src, as a BF16 half-word of Dst would be read.
    SrcInt16,
    /// FP32 or INT32 to two half-words of Dst, high one in bits 31:16.
    DstWide,
    /// BF16 to a half-word of Dst.
    DstBf16,
    /// FP16 to a half-word of Dst.
    DstFp16,
    /// 16 opaque bits to a half-word of Dst.
    DstInt16,
}

/// How datums are converted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Conversion {
    pub(crate) normalise: Normalise,
    pub(crate) layout: Layout,
}

/// What selects a conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Formats {
    /// Format code in L1.
    pub(crate) input: u32,
    /// Format code of the output.
    pub(crate) output: u32,
    /// Destination is Dst.
    pub(crate) to_dst: bool,
    /// FP8 has four exponent bits.
    pub(crate) four_bit_exponent: bool,
    /// INT8 means UINT8.
    pub(crate) unsigned: bool,
}

impl Formats {
    /// The conversion; `None` if the unpackers have none for this pair and destination.
    pub(crate) const fn conversion(self) -> Option<Conversion> {
        use code::{
            BF16, BFP2, BFP2A, BFP4, BFP4A, BFP8, BFP8A, FP8, FP16, FP32, INT8, INT16, INT32, TF32,
        };
        let normalise = match (self.input, self.output) {
            (FP32, FP32 | TF32) | (FP16, FP16) | (BF16, BF16) | (INT16, INT16) => Normalise::Keep,
            (TF32, TF32) | (INT32, INT32) => Normalise::Keep,
            (FP32, BF16) => Normalise::Bf16FromFp32,
            (FP32, FP16) => Normalise::Fp16FromFp32,
            (FP8, FP8) if self.four_bit_exponent => Normalise::Fp16FromE4m3,
            (FP8, FP8) => Normalise::Fp16FromE5m2,
            (INT8, INT8) if self.unsigned => Normalise::Fp16FromUint8,
            (INT8, INT8) => Normalise::Fp16FromInt8,
            // Cells are the same whatever the width. The page wants output equal to input; the
            // vendor's kernels for compressed weights change the input's width from tile to tile
            // and leave the output alone
            // `[llk: experimental/llk_unpack_AB_compressed_custom_mm.h]`.
            (BFP8, BFP8 | BFP4 | BFP2) => Normalise::Bf16FromBfp { shift: 0 },
            (BFP4, BFP8 | BFP4 | BFP2) => Normalise::Bf16FromBfp { shift: 4 },
            (BFP2, BFP8 | BFP4 | BFP2) => Normalise::Bf16FromBfp { shift: 6 },
            (BFP8A, BFP8A | BFP4A | BFP2A) => Normalise::Fp16FromBfp { shift: 0 },
            (BFP4A, BFP8A | BFP4A | BFP2A) => Normalise::Fp16FromBfp { shift: 4 },
            (BFP2A, BFP8A | BFP4A | BFP2A) => Normalise::Fp16FromBfp { shift: 6 },
            _ => return None,
        };
        let layout = match (self.output, self.to_dst) {
            (FP32 | TF32 | INT32, true) => Layout::DstWide,
            // 32-bit formats fit Src only as TF32 made from FP32.
            (TF32, false) if self.input == FP32 => Layout::SrcTf32,
            (FP32 | TF32 | INT32, false) => return None,
            (INT16, true) => Layout::DstInt16,
            (INT16, false) => Layout::SrcInt16,
            (BF16 | BFP8 | BFP4 | BFP2, true) => Layout::DstBf16,
            (BF16 | BFP8 | BFP4 | BFP2, false) => Layout::SrcBf16,
            (_, true) => Layout::DstFp16,
            (_, false) => Layout::SrcFp16,
        };
        Some(Conversion { normalise, layout })
    }
}

impl Conversion {
    /// Converts datums that share the exponent `exponent` in place. False if an exponent does not
    /// fit five bits, which the documents leave undefined; such datums keep the low five bits.
    #[inline]
    pub(crate) fn apply(self, datums: &mut [u32], exponent: u8) -> bool {
        let fits = self.normalise(datums, exponent);
        self.lay_out(datums);
        fits
    }

    #[inline]
    fn normalise(self, datums: &mut [u32], exponent: u8) -> bool {
        match self.normalise {
            Normalise::Keep => {}
            Normalise::Bf16FromFp32 => each(datums, bf16_from_fp32),
            Normalise::Fp16FromFp32 => each(datums, fp16_from_fp32),
            Normalise::Fp16FromE5m2 => each(datums, fp16_from_e5m2),
            Normalise::Fp16FromE4m3 => each(datums, fp16_from_e4m3),
            Normalise::Fp16FromInt8 => each(datums, fp16_from_int8),
            Normalise::Fp16FromUint8 => each(datums, fp16_from_uint8),
            Normalise::Bf16FromBfp { shift } => {
                each(datums, |datum| bf16_from_bfp8(datum << shift, exponent));
            }
            Normalise::Fp16FromBfp { shift } => {
                let mut fits = true;
                each(datums, |datum| {
                    let (value, fit) = fp16_from_bfp8(datum << shift, exponent);
                    fits &= fit;
                    value
                });
                return fits;
            }
        }
        true
    }

    #[inline]
    fn lay_out(self, datums: &mut [u32]) {
        match self.layout {
            Layout::SrcTf32 => each(datums, |value| value >> 13),
            Layout::SrcBf16 => each(datums, |value| value << 3),
            Layout::SrcFp16 => each(datums, |value| (value & 0x8000) << 3 | value & 0x7FFF),
            Layout::SrcInt16 => each(datums, |value| {
                (value & 0x8000) << 3 | (value & 0xFF) << 10 | (value & 0x7F00) >> 5
            }),
            Layout::DstWide => {
                each(datums, |value| dst_bf16(value >> 16) << 16 | value & 0xFFFF);
            }
            Layout::DstBf16 => each(datums, dst_bf16),
            Layout::DstFp16 => each(datums, dst_fp16),
            Layout::DstInt16 => {}
        }
    }
}

#[inline]
fn each(datums: &mut [u32], mut convert: impl FnMut(u32) -> u32) {
    // A full row is the common case, and then the compiler knows the length.
    if let Ok(row) = <&mut [u32; COLUMNS]>::try_from(&mut *datums) {
        *row = row.map(convert);
        return;
    }
    for datum in datums {
        *datum = convert(*datum);
    }
}

/// Sign, mantissa, exponent: the order in which Dst holds BF16.
const fn dst_bf16(value: u32) -> u32 {
    value & 0x8000 | (value & 0x7F) << 8 | (value & 0x7F80) >> 7
}

/// Sign, mantissa, exponent: the order in which Dst holds FP16.
const fn dst_fp16(value: u32) -> u32 {
    value & 0x8000 | (value & 0x3FF) << 5 | (value & 0x7C00) >> 10
}

/// Denormals become zero; the low half is dropped.
const fn bf16_from_fp32(value: u32) -> u32 {
    let kept = if value & 0x7F80_0000 == 0 { value & 0x8000_0000 } else { value };
    kept >> 16
}

/// Truncates; below the range signed zero, above it the largest magnitude. Exponent field 0 keeps
/// its mantissa `[spec: numerics 2]`.
const fn fp16_from_fp32(value: u32) -> u32 {
    let sign = value >> 16 & 0x8000;
    let exponent = (value >> 23 & 0xFF).wrapping_sub(112);
    if exponent > 0xFF {
        sign
    } else if exponent > 31 {
        sign | 0x7FFF
    } else {
        sign | exponent << 10 | value >> 13 & 0x3FF
    }
}

/// The largest magnitude maps to the largest magnitude `[spec: numerics 2]`.
const fn fp16_from_e5m2(value: u32) -> u32 {
    let ones = if value & 0x7F == 0x7F { 0xFF } else { 0 };
    value << 8 | ones
}

/// As [`fp16_from_e5m2`]; a zero exponent stays zero, others are rebiased by 8.
const fn fp16_from_e4m3(value: u32) -> u32 {
    let exponent = value >> 3 & 0xF;
    let rebiased = if exponent == 0 { 0 } else { exponent + 8 };
    let ones = if value & 0x7F == 0x7F { 0x7F } else { 0 };
    (value & 0x80) << 8 | rebiased << 10 | (value & 7) << 7 | ones
}

/// A magnitude other than zero gets exponent 16; zero keeps its sign.
const fn fp16_from_int8(value: u32) -> u32 {
    (value & 0x80) << 8 | fp16_from_uint8(value & 0x7F)
}

const fn fp16_from_uint8(value: u32) -> u32 {
    let value = value & 0xFF;
    if value == 0 { 0 } else { value | 16 << 10 }
}

/// The magnitude normalised: how far it was shifted, and the result in eight bits.
const fn normalised(datum: u32) -> (u32, u32) {
    let magnitude = datum << 1 & 0xFE;
    let shift = magnitude.leading_zeros().wrapping_sub(24);
    (shift, magnitude << (shift & 7) & 0x7E)
}

/// Eight bits of sign and magnitude and a shared exponent to BF16. The exponent wraps modulo 256;
/// a sign without magnitude is minus infinity.
const fn bf16_from_bfp8(datum: u32, exponent: u8) -> u32 {
    let sign = (datum & 0x80) << 8;
    if datum & 0x7F == 0 {
        return if sign == 0 { 0 } else { 0xFF80 };
    }
    let (shift, mantissa) = normalised(datum);
    sign | ((exponent as u32).wrapping_sub(shift) & 0xFF) << 7 | mantissa
}

/// Eight bits of sign and magnitude and a shared exponent to FP16, and whether the exponent fits.
const fn fp16_from_bfp8(datum: u32, exponent: u8) -> (u32, bool) {
    let sign = (datum & 0x80) << 8;
    if datum & 0x7F == 0 {
        return (if sign == 0 { 0 } else { 0xFC00 }, true);
    }
    let (shift, mantissa) = normalised(datum);
    let exponent = (exponent as u32).wrapping_sub(shift) & 0xFF;
    (sign | (exponent & 0x1F) << 10 | mantissa << 3, exponent & 0xE0 == 0)
}

/// For every eight-bit datum, what is added to its cell whatever the exponent, and which bits of
/// the exponent (in place) are: all of them, or none for a magnitude of zero. The exponent's share
/// of the former is how far the magnitude is shifted, negative.
static BFP8_CELLS: [(u32, u32); 256] = {
    let mut table = [(0, 0); 256];
    let mut datum = 0;
    while datum < 256 {
        let (shift, mantissa) = normalised(datum);
        let cell = ((datum & 0x80) << 11 | mantissa << 3).wrapping_sub(shift << 10);
        table[datum as usize] =
            if datum & 0x7F != 0 { (cell, !0) } else { ((datum >> 7 & 1) * (0xFF80 << 3), 0) };
        datum += 1;
    }
    table
};

/// Exponents from which no shift wraps.
const LEAST_EXPONENT: u8 = 8;

/// Cell of SrcA or SrcB of eight bits of sign and magnitude, whatever lies above them:
/// [`bf16_from_bfp8`] laid out.
#[inline(always)]
pub(crate) fn bf16_cell_from_bfp8(datum: u32, exponent: u8) -> u32 {
    let datum = datum & 0xFF;
    if exponent < LEAST_EXPONENT {
        return bf16_from_bfp8(datum, exponent) << 3;
    }
    let (cell, mask) = BFP8_CELLS[datum as usize];
    cell.wrapping_add(u32::from(exponent) << 10 & mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_bfp8_cells_is_the_conversion_for_every_datum_and_exponent() {
        for exponent in 0..=u8::MAX {
            for datum in 0..256 {
                let expected = bf16_from_bfp8(datum, exponent) << 3;
                let found = bf16_cell_from_bfp8(datum | 0xABCD << 8, exponent);
                assert_eq!(found, expected, "{datum} {exponent}");
            }
        }
    }
}
