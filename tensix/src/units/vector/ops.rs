//! Pure functions of the vector unit.

use super::{LANES, LREG_DEFAULTS};

/// Lane numbers of a lane set.
pub(crate) fn lanes(set: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| set >> lane & 1 != 0)
}

/// Content of a vector register after soft reset, including the read-only ones
/// `[isa-wh: TensixCoprocessor/LReg.md]`: 0.8373, 0, 1.0 and twice the lane number.
pub(crate) const fn reset_value(lreg: usize, lane: usize) -> u32 {
    match lreg {
        8 => 0x3F56_594B,
        10 => 0x3F80_0000,
        // The pages say 1/65536 here as for SFPCONFIG's default; the reference has 1/512
        // [spec: numerics 5] [unknown: U-052].
        12 => 0x3B00_0000,
        11..=14 => LREG_DEFAULTS[lreg - 11],
        15 => lane as u32 * 2,
        _ => 0,
    }
}

/// Whether SFPLOADI defines the mode.
pub(crate) const fn is_load_mode(mode: u32) -> bool {
    matches!(mode, 0 | 1 | 2 | 4 | 8 | 10)
}

/// SFPLOADI on one lane `[isa-wh: TensixCoprocessor/SFPLOADI.md]`.
pub(crate) const fn load_immediate(mode: u32, imm: u16, old: u32) -> u32 {
    let bits = imm as u32;
    match mode {
        0 => bits << 16,
        1 => fp16_widened(bits),
        2 => bits,
        4 => imm.cast_signed() as i32 as u32,
        8 => bits << 16 | old & 0xFFFF,
        _ => old & 0xFFFF_0000 | bits,
    }
}

/// FP16 with its exponent rebiased and nothing else: no denormals, no infinities.
const fn fp16_widened(bits: u32) -> u32 {
    let exponent = (bits >> 10 & 0x1F) + 112;
    bits >> 15 << 31 | exponent << 23 | (bits & 0x3FF) << 13
}

/// SFPCONFIG's ways to combine: bits 2:1 of Mod1 replace, or, and, xor.
pub(crate) const fn combine(mod1: u32, old: u32, value: u32) -> u32 {
    match mod1 & 6 {
        0 => value,
        2 => old | value,
        4 => old & value,
        _ => old ^ value,
    }
}

/// One step of a lane's generator `[isa-bh: TensixCoprocessor/VectorUnit.md]`.
#[inline(always)]
pub(crate) const fn prng_step(state: u32) -> u32 {
    let taps = state >> 31 ^ state >> 21 ^ state >> 1 ^ state;
    (!taps & 1) << 31 | state >> 1
}

/// Generator states after seeding: 32 steps, then two more per lane from lane 31 down
/// `[spec: numerics, PRNG]`.
pub(crate) fn seeded(seed: u32) -> [u32; LANES] {
    let mut state = seed;
    for _ in 0..LANES {
        state = prng_step(state);
    }
    let mut states = [0; LANES];
    for lane in states.iter_mut().rev() {
        state = prng_step(prng_step(state));
        *lane = state;
    }
    states
}

/// A twelve-bit immediate, sign-extended.
pub(super) const fn signed12(field: u32) -> u32 {
    ((field << 20).cast_signed() >> 20).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_immediate_converts_as_documented() {
        // [isa-wh: SFPLOADI.md]: BF16, FP16, unsigned, signed, upper half, lower half.
        for (mode, imm, expected) in [
            (0, 0xBF80, 0xBF80_0000),
            (1, 0x3C00, 0x3F80_0000),
            (1, 0xC000, 0xC000_0000),
            (2, 0x8001, 0x0000_8001),
            (4, 0x8001, 0xFFFF_8001),
            (8, 0x1234, 0x1234_5678),
            (10, 0x1234, 0xABCD_1234),
        ] {
            assert_eq!(load_immediate(mode, imm, 0xABCD_5678), expected, "mode {mode}");
        }
    }

    #[test]
    fn prng_step_shifts_in_the_inverted_parity() {
        // [isa-bh: VectorUnit.md]: taps 31, 21, 1 and 0.
        assert_eq!(prng_step(0), 0x8000_0000);
        assert_eq!(prng_step(0x8000_0000), 0x4000_0000);
        assert_eq!(prng_step(3), 0x8000_0001);
    }
}
