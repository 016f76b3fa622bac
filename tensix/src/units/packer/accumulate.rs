//! Accumulation onto L1, a block of 16 bytes or several.
//!
//! Floating point sums are exact before one rounding to nearest even. Each format treats zeroes,
//! infinities and range ends in its own way.
//!
//! Source: `[spec: numerics 4.5]`; integers, `[isa-wh: TensixTile/L1.md]`.

use super::formats;

/// What the lanes of a 16-byte block hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Accumulate {
    Fp32,
    Int32,
    Fp16,
    Bf16,
}

impl Accumulate {
    /// By output format; `None` for those that L1 cannot add. TF32 is in L1 as FP32.
    pub(crate) const fn choose(format: u8) -> Option<Self> {
        match format {
            formats::FP32 | formats::TF32 => Some(Self::Fp32),
            formats::INT32 => Some(Self::Int32),
            formats::FP16 => Some(Self::Fp16),
            formats::BF16 => Some(Self::Bf16),
            _ => None,
        }
    }

    /// The new content, from L1's words and the packer's.
    #[inline]
    pub(crate) fn words<const N: usize>(self, old: [u32; N], new: [u32; N]) -> [u32; N] {
        let each = |of: fn(u32, u32) -> u32| std::array::from_fn(|word| of(old[word], new[word]));
        match self {
            Self::Fp32 => each(fp32),
            Self::Int32 => each(int32),
            Self::Fp16 => {
                each(|old, new| fp16(old & 0xFFFF, new & 0xFFFF) | fp16(old >> 16, new >> 16) << 16)
            }
            Self::Bf16 => bf16_words(old, new),
        }
    }
}

/// A number: `(-1)^negative * significand * 2^(exponent - bias - 23)`; a significand of zero is
/// a zero of that sign, else bit 23 is set.
#[derive(Clone, Copy, Debug)]
struct Number {
    negative: bool,
    exponent: i32,
    significand: u64,
}

/// Bits below the significand's lowest while adding.
const GUARD: u32 = 32;
/// Position of the leading bit of a normalised sum.
const TOP: u32 = 23 + GUARD;

/// The sum with its leading bit at [`TOP`], inexactness in bit 0; `significand` 0 for zero, whose
/// sign is negative only if both are.
fn add(a: Number, b: Number) -> Number {
    let (big, small) = match (a.significand, b.significand) {
        (0, 0) => {
            return Number { negative: a.negative && b.negative, exponent: 0, significand: 0 };
        }
        (0, _) => (b, a),
        (_, 0) => (a, b),
        _ if (a.exponent, a.significand) >= (b.exponent, b.significand) => (a, b),
        _ => (b, a),
    };
    let distance = if small.significand == 0 { 0 } else { (big.exponent - small.exponent) as u32 };
    let wide = small.significand << GUARD;
    let aligned = if distance > TOP {
        1
    } else {
        wide >> distance | u64::from(wide & ((1 << distance) - 1) != 0)
    };
    let wide = big.significand << GUARD;
    let sum = if big.negative == small.negative { wide + aligned } else { wide - aligned };
    if sum == 0 {
        return Number { negative: false, exponent: 0, significand: 0 };
    }
    let top = sum.ilog2();
    let exponent = big.exponent + top as i32 - TOP as i32;
    // A carry of one place keeps what falls off.
    let significand = if top > TOP { sum >> 1 | sum & 1 } else { sum << (TOP - top) };
    Number { negative: big.negative, exponent, significand }
}

/// Mantissa of `bits` bits (hidden bit cut off) after rounding to nearest even, and the exponent.
const fn round(sum: Number, bits: u32) -> (i32, u32) {
    let drop = TOP - bits;
    let half = 1 << (drop - 1);
    let rest = sum.significand & ((1 << drop) - 1);
    let kept = sum.significand >> drop;
    let up = rest > half || rest == half && kept & 1 != 0;
    let kept = kept + up as u64;
    let carry = kept >> (bits + 1) != 0;
    (sum.exponent + carry as i32, (kept & ((1 << bits) - 1)) as u32)
}

/// Number with an exponent field of `e` bits and a mantissa of `m` bits; exponent 0 is zero.
const fn unpack(value: u32, e: u32, m: u32) -> Number {
    let exponent = value >> m & ((1 << e) - 1);
    let significand =
        if exponent == 0 { 0 } else { ((1 << m | value & ((1 << m) - 1)) as u64) << (23 - m) };
    Number { negative: value >> (e + m) & 1 != 0, exponent: exponent as i32, significand }
}

fn fp32(old: u32, new: u32) -> u32 {
    const INFINITY: u32 = 0x7F80_0000;
    const NAN: u32 = 0x7FC0_0000;
    let (a, b) = (old & 0x7FFF_FFFF, new & 0x7FFF_FFFF);
    if a > INFINITY || b > INFINITY || a == INFINITY && b == INFINITY && old != new {
        return NAN;
    }
    if a == INFINITY {
        return old;
    }
    if b == INFINITY {
        return new;
    }
    let sum = add(unpack(old, 8, 23), unpack(new, 8, 23));
    let sign = u32::from(sum.negative) << 31;
    if sum.significand == 0 {
        return sign;
    }
    match round(sum, 23) {
        (..=0, _) => sign,
        (255.., _) => sign | INFINITY,
        (exponent, mantissa) => sign | (exponent as u32) << 23 | mantissa,
    }
}

/// Half-words, side by side: compiled for the host's vector registers.
fn bf16_words<const N: usize>(old: [u32; N], new: [u32; N]) -> [u32; N] {
    vectorise::run(
        #[inline(always)]
        || {
            let mut sums = [0; N];
            for ((sum, old), new) in sums.iter_mut().zip(old).zip(new) {
                *sum = bf16(old & 0xFFFF, new & 0xFFFF) | bf16(old >> 16, new >> 16) << 16;
            }
            sums
        },
    )
}

/// As [`add`] and [`round`] do, without branches.
#[inline(always)]
const fn bf16(old: u32, new: u32) -> u32 {
    const INFINITY: u32 = 0x7F80;
    const NAN: u32 = 0x7FC0;
    const HIDDEN: u32 = 0x80;
    // Bits below the significand's lowest while adding. Only neighbours in exponent cancel more than one
    // place, so one bit for inexactness below these is enough.
    const GUARD: u32 = 16;
    let (a, b) = (old & 0x7FFF, new & 0x7FFF);
    let (big, small) = if a < b { (b, a) } else { (a, b) };
    let sign = if a < b { new } else { old } & 0x8000;
    let of_big = if big < HIDDEN { 0 } else { (big & (HIDDEN - 1) | HIDDEN) << GUARD };
    let of_small = if small < HIDDEN { 0 } else { (small & (HIDDEN - 1) | HIDDEN) << GUARD };
    let distance = (big >> 7) - (small >> 7);
    let distance = if distance > 31 { 31 } else { distance };
    let aligned = of_small >> distance;
    let aligned = aligned | (aligned << distance != of_small) as u32;
    let is_difference = (old ^ new) & 0x8000 != 0;
    let sum = if is_difference { of_big - aligned } else { of_big + aligned };
    let zeros = sum.leading_zeros();
    // Leading bit at the top; eight bits stay.
    let normalised = sum << (zeros & 31);
    let (kept, rest) = (normalised >> 24, normalised & 0xFF_FFFF);
    let rounded = kept + (rest + (kept & 1) > 0x80_0000) as u32;
    let exponent = (big >> 7) as i32 + (31 - 7 - GUARD as i32) - zeros as i32;
    // A carry into the hidden bit's place raises the exponent.
    let pattern = (exponent << 7) + rounded as i32 - HIDDEN as i32;
    let pattern = if pattern >= INFINITY as i32 { INFINITY as i32 } else { pattern };
    let magnitude = if pattern < HIDDEN as i32 { 0 } else { pattern as u32 };
    // Without a sum it is negative only if both are.
    let finite = if sum == 0 { old & new & 0x8000 } else { sign | magnitude };
    // Infinity stays; NaN is greater than anything that could be added.
    let kept = if a >= INFINITY { old & 0x8000 | INFINITY } else { finite };
    let infinite = if (a == INFINITY) & (old != new) { NAN } else { new };
    if b == INFINITY { infinite } else { kept }
}

fn fp16(old: u32, new: u32) -> u32 {
    const GREATEST: u32 = 0x7FFF;
    let sum = add(unpack(old, 5, 10), unpack(new, 5, 10));
    let sign = u32::from(sum.negative) << 15;
    if sum.significand == 0 {
        return if old >> 10 & 0x1F >= 30 { sign | GREATEST } else { sign };
    }
    match round(sum, 10) {
        // Underflow saturates, except one step below the least exponent.
        (..=-1 | 32.., _) => sign | GREATEST,
        (0, _) => sign,
        (exponent, mantissa) => sign | (exponent as u32) << 10 | mantissa,
    }
}

/// Sign-magnitude, saturating; zero is positive.
fn int32(old: u32, new: u32) -> u32 {
    let value = |word: u32| {
        let magnitude = i64::from(word & 0x7FFF_FFFF);
        if word >> 31 != 0 { -magnitude } else { magnitude }
    };
    let sum = value(old) + value(new);
    let magnitude = sum.unsigned_abs().min(0x7FFF_FFFF) as u32;
    u32::from(sum < 0) << 31 | magnitude
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the adder that the other formats have.
    fn general(old: u32, new: u32) -> u32 {
        const INFINITY: u32 = 0x7F80;
        let (a, b) = (old & 0x7FFF, new & 0x7FFF);
        if b == INFINITY {
            return if a == INFINITY && old != new { 0x7FC0 } else { new };
        }
        if a >= INFINITY {
            return old & 0x8000 | INFINITY;
        }
        let sum = add(unpack(old, 8, 7), unpack(new, 8, 7));
        let sign = u32::from(sum.negative) << 15;
        if sum.significand == 0 {
            return sign;
        }
        match round(sum, 7) {
            (..=0, _) => sign,
            (255.., _) => sign | INFINITY,
            (exponent, mantissa) => sign | (exponent as u32) << 7 | mantissa,
        }
    }

    /// Every half-word with each end of a range, and with neighbours in exponent in all lanes of a block.
    #[test]
    fn lanes_do_what_the_general_adder_does() {
        const ENDS: [u32; 14] = [
            0, 1, 0x7F, 0x80, 0x81, 0xFF, 0x3F80, 0x3FFF, 0x7F00, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0,
            0x7FFF,
        ];
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 12
        };
        for old in 0..=0xFFFF_u32 {
            let ends = ENDS.iter().flat_map(|&end| [end, end | 0x8000]);
            let near: Vec<u32> = (0..36)
                .map(|_| {
                    let exponent = (old >> 7 & 0xFF).wrapping_add(next() % 24).wrapping_sub(12);
                    next() & 0x807F | exponent << 7 & 0x7F80
                })
                .collect();
            let others: Vec<u32> = ends.chain(near).collect();
            for (first, block) in others.chunks_exact(8).enumerate() {
                let new = std::array::from_fn(|word| block[2 * word] | block[2 * word + 1] << 16);
                let found = bf16_words([old | old << 16; 4], new);
                for (lane, &other) in block.iter().enumerate() {
                    let found = found[lane / 2] >> (16 * (lane % 2)) & 0xFFFF;
                    let expected = general(old, other);
                    assert_eq!(found, expected, "{old:#06x} + {other:#06x}, {first} {lane}");
                }
            }
        }
    }
}
