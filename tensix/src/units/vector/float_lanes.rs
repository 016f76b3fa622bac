//! The multiply-add of [`super::float`] on whole registers, without branches.
//!
//! Same sources, same results. Lanes with a NaN, an infinity or a product that overflows by itself
//! are done in a second pass, which most registers do not need.

use super::{LANES, LReg, LRegs};

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7F80_0000;
const HIDDEN: u32 = 0x80_0000;
const MANTISSA: u32 = 0x7F_FFFF;
/// The only NaN that arithmetic gives.
const NAN: u32 = 0x7FC0_0000;

/// `x * y + z` in every lane, after flipping the bits `negate.0` in `x` and `negate.1` in `z`.
#[inline]
pub(super) fn multiply_add(x: &LReg, y: &LReg, z: &LReg, negate: (u32, u32), result: &mut LReg) {
    vectorise::run(
        #[inline(always)]
        || multiply_add_in([x, y, z], negate, result),
    );
}

/// Multiplies and adds the registers with the numbers `sources`, to the lanes of `set` of register `vd`.
#[inline]
pub(super) fn multiply_add_registers(
    lregs: &mut LRegs,
    sources: [usize; 3],
    negate: (u32, u32),
    (vd, set): (usize, u32),
) {
    vectorise::run(
        #[inline(always)]
        || {
            let mut result = [0; LANES];
            let [x, y, z] = sources;
            multiply_add_in([&lregs[x], &lregs[y], &lregs[z]], negate, &mut result);
            let lreg = &mut lregs[vd];
            if set == u32::MAX {
                *lreg = result;
                return;
            }
            for lane in 0..LANES {
                lreg[lane] = choose(set >> lane & 1 != 0, result[lane], lreg[lane]);
            }
        },
    );
}

#[cfg(test)]
fn multiply_add_at(
    level: vectorise::Level,
    operands: [&LReg; 3],
    negate: (u32, u32),
    result: &mut LReg,
) {
    vectorise::run_at(
        level,
        #[inline(always)]
        || multiply_add_in(operands, negate, result),
    );
}

#[inline(always)]
fn multiply_add_in([x, y, z]: [&LReg; 3], negate: (u32, u32), result: &mut LReg) {
    let (some, all) = special_lanes(x, y, z);
    if !all {
        ordinary(x, y, z, negate, result);
    }
    if some {
        correct(x, y, z, negate, result);
    }
}

/// Whether any lanes are special, and whether all are.
#[inline(always)]
fn special_lanes(x: &LReg, y: &LReg, z: &LReg) -> (bool, bool) {
    let (mut some, mut all) = (0, 1);
    for lane in 0..LANES {
        let special = u32::from(is_special(x[lane], y[lane], z[lane]));
        some |= special;
        all &= special;
    }
    (some != 0, all != 0)
}

/// All lanes as if nothing were special.
#[inline(always)]
fn ordinary(x: &LReg, y: &LReg, z: &LReg, negate: (u32, u32), result: &mut LReg) {
    for lane in 0..LANES {
        result[lane] = lane_of(x[lane] ^ negate.0, y[lane], z[lane] ^ negate.1);
    }
}

/// Does the special lanes, again if others are not. Software that lets values grow without bound has them in every
/// instruction, so this pass has no branches either.
#[inline(always)]
fn correct(x: &LReg, y: &LReg, z: &LReg, negate: (u32, u32), result: &mut LReg) {
    for lane in 0..LANES {
        let corrected = special_lane_of(x[lane] ^ negate.0, y[lane], z[lane] ^ negate.1);
        result[lane] = choose(is_special(x[lane], y[lane], z[lane]), corrected, result[lane]);
    }
}

#[inline(always)]
const fn exponent(bits: u32) -> i32 {
    (bits >> 23 & 0xFF) as i32
}

/// A NaN or infinity among the operands, or a product too large.
#[inline(always)]
fn is_special(x: u32, y: u32, z: u32) -> bool {
    let (ex, ey, ez) = (exponent(x), exponent(y), exponent(z));
    ex.max(ey).max(ez).max(ex + ey - 127) >= 255
}

/// `yes` if the condition holds, else `no`.
#[inline(always)]
const fn choose(condition: bool, yes: u32, no: u32) -> u32 {
    if condition { yes } else { no }
}

/// One lane that is special.
#[inline(always)]
fn special_lane_of(x: u32, y: u32, z: u32) -> u32 {
    let sign = (x ^ y) & SIGN;
    let [mx, my, mz] = [x, y, z].map(|bits| bits & !SIGN);
    let factor_infinite = (mx == INFINITY) | (my == INFINITY);
    let factor_zero = (mx < HIDDEN) | (my < HIDDEN);
    let opposite = (mz == INFINITY) & (sign != z & SIGN);
    let invalid = (mx.max(my).max(mz) > INFINITY) | factor_infinite & (factor_zero | opposite);
    choose(invalid, NAN, choose(mz == INFINITY, z, sign | INFINITY))
}

/// One lane that is not special.
#[inline(always)]
fn lane_of(x: u32, y: u32, z: u32) -> u32 {
    let (ex, ey, ez) = (exponent(x), exponent(y), exponent(z));
    let product_exponent = ex + ey - 127;
    let sign = (x ^ y) & SIGN;
    // 24 bits by 24 bits, shifted so that the upper word has 26 fraction bits; the rest is sticky.
    let (left, right) = ((x & MANTISSA | HIDDEN) << 8, (y & MANTISSA | HIDDEN) << 4);
    let product = ((u64::from(left) * u64::from(right)) >> 32) as u32
        | u32::from(left.wrapping_mul(right) != 0);
    let addend = choose(ez == 0, 0, (z & MANTISSA | HIDDEN) << 3);
    // The term with the smaller exponent is shifted; what is lost leaves its mark unless all is.
    let product_leads = product_exponent >= ez;
    let (large, small) = if product_leads { (product, addend) } else { (addend, product) };
    let distance = (product_exponent - ez).unsigned_abs().min(31);
    let kept = small >> distance;
    let small = kept | u32::from(kept != 0 && kept << distance != small);
    let opposite = ((sign ^ z) as i32 >> 31) as u32;
    let total = large.wrapping_add((small ^ opposite).wrapping_sub(opposite)) as i32;
    let total_sign = (choose(product_leads, sign, z) ^ total as u32) & SIGN;
    let rounded = round(product_exponent.max(ez), total.unsigned_abs());
    let sum = choose(total == 0, 0, total_sign | rounded);
    let no_product = ex == 0 || ey == 0 || product_exponent < 0;
    choose(no_product, choose(ez == 0, z & sign, z), sum)
}

/// Magnitude of `total`, below 2^30 and not zero, which has 26 fraction bits at `exponent`.
#[inline(always)]
fn round(exponent: i32, total: u32) -> u32 {
    let zeros = total.leading_zeros();
    // The leading bit goes to bit 30, the last of the mantissa to bit 7.
    let aligned = total << (zeros.wrapping_sub(1) & 31);
    let nearest = (aligned + 0x3F + (aligned >> 7 & 1)) >> 7;
    let exponent = exponent + 5 - zeros as i32;
    // The hidden bit counts as one in the exponent; so does a carry.
    let magnitude = (((exponent - 1) << 23) as u32).wrapping_add(nearest).min(INFINITY);
    // Below the normal range only what rounds up to the least normal number is not flushed.
    let least = choose(aligned >> 7 == 0xFF_FFFF, HIDDEN, 0);
    choose(exponent <= 0, least, magnitude)
}

#[cfg(test)]
mod tests {
    use vectorise::Level;

    use super::super::float;
    use super::*;

    /// Bit patterns that are often at an edge: of the exponent, of the mantissa.
    fn pattern(random: &mut u64) -> u32 {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let bits = (*random >> 24) as u32;
        let choice = (*random >> 56) as u32;
        let exponent = match choice & 15 {
            0 => 0,
            1 => 1,
            2 => 255,
            3 => 254,
            4..=8 => 120 + (bits >> 23 & 15),
            9 => 190 + (bits >> 23 & 3),
            10 => 62 + (bits >> 23 & 3),
            _ => bits >> 23 & 255,
        };
        let mantissa = match choice >> 4 & 7 {
            0 => 0,
            1 => MANTISSA,
            2 => 1,
            3 => 0x40_0000,
            4 => bits & 0x7F_0000,
            _ => bits & MANTISSA,
        };
        bits & SIGN | exponent << 23 | mantissa
    }

    #[test]
    fn whole_registers_equal_single_lanes_on_every_level() {
        // `float::multiply_add` is the transcription of [spec: numerics 5.1].
        let mut random = 0x7469_6C65;
        for round in 0..6_000 {
            let [x, y, mut z]: [LReg; 3] =
                std::array::from_fn(|_| std::array::from_fn(|_| pattern(&mut random)));
            if round % 3 == 0 {
                // Sums that cancel, wholly or nearly.
                for lane in 0..LANES {
                    let product = float::multiply_add(x[lane], y[lane], 0);
                    z[lane] = (product ^ SIGN).wrapping_add(lane as u32 % 3);
                }
            }
            let negate = ([0, SIGN][round & 1], [0, SIGN][round >> 1 & 1]);
            let expected: LReg = std::array::from_fn(|lane| {
                float::multiply_add(x[lane] ^ negate.0, y[lane], z[lane] ^ negate.1)
            });
            for level in Level::ALL {
                let mut result = [0; LANES];
                multiply_add_at(level, [&x, &y, &z], negate, &mut result);
                for lane in 0..LANES {
                    let operands = (x[lane], y[lane], z[lane]);
                    assert_eq!(
                        result[lane], expected[lane],
                        "{level:?} {operands:x?} negated {negate:x?}"
                    );
                }
            }
        }
    }
}
