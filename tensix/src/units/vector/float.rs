//! The multiply-add of the MAD sub-unit on one lane: FP32, partially fused, integers only.
//!
//! More exact than a product and a sum that round one after the other, less exact than the fused
//! operation of IEEE 754: the product keeps three bits below the last place, the last of them
//! sticky; denormals count as zero and results below the normal range become zero; a product that
//! overflows by itself is an infinity, one that underflows by itself is zero.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPMAD.md]`, `[spec: numerics 5.1]`.

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7F80_0000;
/// The only NaN that arithmetic gives.
const NAN: u32 = 0x7FC0_0000;
const HIDDEN: u32 = 0x80_0000;
const MANTISSA: u32 = 0x7F_FFFF;

/// Bits kept below the last place while adding.
const EXTRA: u32 = 3;

/// `x * y + z`.
#[inline]
pub(super) const fn multiply_add(x: u32, y: u32, z: u32) -> u32 {
    let (ex, ey, ez) = (exponent(x), exponent(y), exponent(z));
    let product_exponent = ex + ey - 127;
    if ex == 255 || ey == 255 || ez == 255 || product_exponent >= 255 {
        return special(x, y, z);
    }
    let sign = (x ^ y) & SIGN;
    if ex == 0 || ey == 0 || product_exponent < 0 {
        return if ez == 0 { z & sign } else { z };
    }
    let exact = (x & MANTISSA | HIDDEN) as u64 * (y & MANTISSA | HIDDEN) as u64;
    // 46 fraction bits become 26.
    let product = (exact >> 20) as u32 | (exact & 0xF_FFFF != 0) as u32;
    let addend = if ez == 0 { 0 } else { (z & MANTISSA | HIDDEN) << EXTRA };
    let larger = if product_exponent > ez { product_exponent } else { ez };
    let product = align(product, larger - product_exponent);
    let addend = align(addend, larger - ez);
    let opposite = sign != z & SIGN;
    let (total, sign) = if !opposite {
        (product + addend, sign)
    } else if product >= addend {
        (product - addend, sign)
    } else {
        (addend - product, z & SIGN)
    };
    if total == 0 {
        return if opposite { 0 } else { sign };
    }
    sign | round(larger, total)
}

const fn exponent(bits: u32) -> i32 {
    (bits >> 23 & 0xFF) as i32
}

/// Shifts a term to a larger exponent. Bits shifted out stay as the last bit, unless the whole
/// term is shifted out.
#[inline]
const fn align(value: u32, by: i32) -> u32 {
    let by = if by > 31 { 31 } else { by as u32 };
    let kept = value >> by;
    kept | (kept != 0 && kept << by != value) as u32
}

/// Magnitude of `total`, not zero, which has 23 fraction bits and [`EXTRA`] more at `exponent`.
#[inline]
const fn round(exponent: i32, total: u32) -> u32 {
    let mut shift = 5 - total.leading_zeros() as i32;
    let mut exponent = exponent + shift;
    if exponent >= 255 {
        return INFINITY;
    }
    if exponent <= 0 {
        // One place, however far below the normal range: what stays below it is flushed.
        shift += 1;
        exponent = 0;
    }
    let kept = if shift > 0 {
        let kept = total >> shift;
        kept | (kept << shift != total) as u32
    } else {
        total << -shift
    };
    let rest = kept & 7;
    let magnitude = (exponent as u32) << 23 | kept >> EXTRA & MANTISSA;
    // To nearest, ties to even.
    let magnitude = magnitude + (rest + (magnitude & 1) > 4) as u32;
    if magnitude < HIDDEN { 0 } else { magnitude }
}

/// A NaN or infinity among the operands, or a product too large.
#[cold]
const fn special(x: u32, y: u32, z: u32) -> u32 {
    let sign = (x ^ y) & SIGN;
    let factor_infinite = is_infinite(x) || is_infinite(y);
    let factor_zero = exponent(x) == 0 || exponent(y) == 0;
    let opposite = factor_infinite && is_infinite(z) && sign != z & SIGN;
    if is_nan(x) || is_nan(y) || is_nan(z) || factor_infinite && factor_zero || opposite {
        NAN
    } else if is_infinite(z) {
        z
    } else {
        sign | INFINITY
    }
}

const fn is_infinite(bits: u32) -> bool {
    bits & !SIGN == INFINITY
}

const fn is_nan(bits: u32) -> bool {
    bits & !SIGN > INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: u32 = 0x3F80_0000;
    const MAX: u32 = 0x7F7F_FFFF;

    #[test]
    fn special_operands_give_what_the_rules_say() {
        // [spec: numerics 5.1], case by case.
        for (x, y, z, expected) in [
            (0x7F80_0001, ONE, ONE, NAN),
            (INFINITY, 0, ONE, NAN),
            (INFINITY, 0x0000_0001, ONE, NAN),
            (INFINITY, ONE, SIGN | INFINITY, NAN),
            (INFINITY, SIGN | ONE, ONE, SIGN | INFINITY),
            (MAX, MAX, SIGN | INFINITY, SIGN | INFINITY),
            (MAX, MAX, SIGN | MAX, INFINITY),
            (ONE, ONE, SIGN | INFINITY, SIGN | INFINITY),
        ] {
            assert_eq!(multiply_add(x, y, z), expected, "{x:x} {y:x} {z:x}");
        }
    }

    #[test]
    fn zeros_and_denormals_follow_the_sign_rules() {
        // [spec: numerics 5.1]: AND of the signs; a denormal is a zero.
        assert_eq!(multiply_add(0, ONE, SIGN), 0);
        assert_eq!(multiply_add(SIGN, ONE, SIGN), SIGN);
        assert_eq!(multiply_add(0x0000_0001, ONE, 0x8000_0001), 0);
        assert_eq!(multiply_add(ONE, ONE, SIGN | ONE), 0);
        // Least normal number halved: zero with its sign.
        assert_eq!(multiply_add(0x0080_0000, 0xBF00_0000, 0), SIGN);
        // A product that underflows by itself is zero and leaves the addend.
        assert_eq!(multiply_add(0x0080_0000, 0x0080_0000, 0x0080_0001), 0x0080_0001);
    }

    #[test]
    fn multiply_by_one_and_add_of_zero_round_like_host_operations() {
        // [isa-bh: SFPMAD.md]: then it is a standalone add or multiply, denormals apart.
        let mut bits = 0x1234_5678_u32;
        let mut next = || {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Exponents 96 to 159: no overflow, no denormals.
            bits >> 1 & 0x0FFF_FFFF | 0x3000_0000 | bits & SIGN
        };
        for _ in 0..200_000 {
            let (x, y) = (next(), next());
            let (a, b) = (f32::from_bits(x), f32::from_bits(y));
            assert_eq!(multiply_add(ONE, x, y), (a + b).to_bits(), "{x:x} + {y:x}");
            assert_eq!(multiply_add(x, y, (x ^ y) & SIGN), (a * b).to_bits(), "{x:x} * {y:x}");
        }
    }
}
