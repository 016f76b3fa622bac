//! Lane functions of the MAD sub-unit besides the multiply-add itself: tables and SFPMUL24.

/// SFPLUT's 8-bit coefficient: sign, exponent 0 to -7, four mantissa bits; all ones is zero
/// `[isa-bh: TensixCoprocessor/SFPLUT.md]`.
pub(super) const fn lut8(byte: u32) -> u32 {
    let byte = byte & 0xFF;
    if byte == 0xFF {
        return 0;
    }
    (byte >> 7) << 31 | (127 - (byte >> 4 & 7)) << 23 | (byte & 0xF) << 19
}

/// SFPLUTFP32's 16-bit coefficient: FP16 without denormals, whose largest exponent is zero
/// `[isa-bh: TensixCoprocessor/SFPLUTFP32.md]`.
pub(super) const fn lut16(half: u32) -> u32 {
    let exponent = match half >> 10 & 0x1F {
        31 => 0,
        exponent => exponent + 112,
    };
    (half >> 15 & 1) << 31 | exponent << 23 | (half & 0x3FF) << 13
}

/// FP32 0.5, 1, 1.5, 2, 3 and 4, where the tables change entry.
const HALF: u32 = 0x3F00_0000;
const ONE: u32 = 0x3F80_0000;
const ONE_AND_HALF: u32 = 0x3FC0_0000;
const TWO: u32 = 0x4000_0000;
const THREE: u32 = 0x4040_0000;
const FOUR: u32 = 0x4080_0000;

/// Entry of a three-entry table for a magnitude.
const fn entry(magnitude: u32) -> usize {
    (magnitude >= ONE) as usize + (magnitude >= TWO) as usize
}

/// SFPLUT's slope and offset for a magnitude, from L0 to L2.
pub(super) const fn lut(magnitude: u32, table: [u32; 3]) -> (u32, u32) {
    let word = table[entry(magnitude)];
    (lut8(word >> 8), lut8(word))
}

/// SFPLUTFP32's slope and offset for a magnitude, from L0 to L2 and L4 to L6.
///
/// A NaN falls into the last interval.
pub(super) const fn lut_fp32(
    mod1: u32,
    magnitude: u32,
    low: [u32; 3],
    high: [u32; 3],
) -> (u32, u32) {
    let entry = entry(magnitude);
    if mod1 & 2 == 0 {
        return (low[entry], high[entry]);
    }
    if mod1 & 0xA == 0xA {
        return (lut16(low[entry] >> 16), lut16(low[entry]));
    }
    let middle = match entry {
        0 => HALF,
        1 => ONE_AND_HALF,
        _ if mod1 & 3 == 3 => FOUR,
        _ => THREE,
    };
    let shift = if magnitude < middle { 0 } else { 16 };
    (lut16(low[entry] >> shift), lut16(high[entry] >> shift))
}

/// SFPMUL24: low or high 23 bits of a product of 23-bit numbers; a third operand other than zero
/// is shifted and added as the floating-point datapath would
/// `[isa-bh: TensixCoprocessor/SFPMUL24.md]`.
pub(super) const fn multiply24(high: bool, a: u32, b: u32, c: u32) -> u32 {
    const MASK: u32 = 0x7F_FFFF;
    let product = if high {
        (((a & MASK) as u64 * (b & MASK) as u64) >> 23) as u32
    } else {
        a.wrapping_mul(b) & MASK
    };
    let exponent = c >> 23 & 0xFF;
    if exponent == 0 {
        return product;
    }
    // The product counts as having exponent 129. Shift distances have five bits.
    let larger = if exponent > 129 { exponent } else { 129 };
    let product = product >> ((larger - 129) & 31);
    let by = (larger - exponent) & 31;
    let addend = (c & MASK | 0x80_0000) << 3;
    let shifted = addend >> by;
    if shifted == 0 {
        return product;
    }
    let carry = (((shifted << by) ^ addend > 0xFFFF) as u32) << 16;
    (product + shifted + carry) & MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lut8_has_the_documented_values() {
        // [isa-bh: SFPLUT.md] table of values: 1.9375, -1, 0.0078125 and the zero.
        assert_eq!(f32::from_bits(lut8(0x0F)), 1.9375);
        assert_eq!(f32::from_bits(lut8(0x80)), -1.0);
        assert_eq!(f32::from_bits(lut8(0x70)), 0.007_812_5);
        assert_eq!(lut8(0xFF), 0);
    }

    #[test]
    fn lut16_differs_from_fp16_at_both_ends() {
        // [isa-bh: SFPLUTFP32.md]: exponent 31 gives zero, exponent 0 a normal number.
        assert_eq!(lut16(0x3C00), ONE);
        assert_eq!(lut16(0xFC00), 0x8000_0000);
        assert_eq!(f32::from_bits(lut16(0x0000)), f32::from_bits((127 - 15) << 23));
    }

    #[test]
    fn lut_fp32_selects_half_and_entry_by_magnitude() {
        // [isa-bh: SFPLUTFP32.md] tables.
        let (low, high) = ([0x0001_0000, 0x0003_0002, 0x0005_0004], [0x10_0000; 3]);
        for (magnitude, cut4, expected) in [
            (HALF - 1, 2, 0),
            (HALF, 2, 1),
            (ONE, 2, 2),
            (ONE_AND_HALF, 2, 3),
            (TWO, 2, 4),
            (THREE, 2, 5),
            (THREE, 3, 4),
            (FOUR, 3, 5),
        ] {
            assert_eq!(lut_fp32(cut4, magnitude, low, high).0, lut16(expected), "{magnitude:x}");
        }
        assert_eq!(lut_fp32(0, TWO, low, high), (0x0005_0004, 0x10_0000));
        assert_eq!(lut_fp32(10, ONE, low, high), (lut16(3), lut16(2)));
    }

    #[test]
    fn multiply24_gives_either_half_of_the_product() {
        // [isa-bh: SFPMUL24.md]: with the zero constant the third operand does nothing.
        assert_eq!(multiply24(false, 0x7F_FFFF, 0x7F_FFFF, 0), 1);
        assert_eq!(multiply24(true, 0x7F_FFFF, 0xFF_FFFF, 0), 0x7F_FFFE);
        // Addend 4.0 has the product's exponent: its significand arrives three bits up, cut.
        assert_eq!(multiply24(false, 3, 5, 0x4080_0000), 15);
        assert_eq!(multiply24(false, 3, 5, 0x4080_0001), 15 + 8);
    }
}
