//! ELWADD and ELWSUB while `Zero_Flag_disabled_src` is set: denormals of SrcB take part.
//!
//! Then +0 and a -0, which has a hidden bit, differ by less than nothing. The reference computes
//! that difference modulo 2^32 and takes it for a magnitude, and golden vectors contain it. The
//! fast adder has no room for it, so this rare mode has its own, one datum at a time.
//!
//! Source: `[spec: numerics 3.2, 3.5]`.

use super::accumulate::{Target, choose};

/// One signed sum. `negative` is 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Magnitude {
    pub(super) negative: u32,
    pub(super) exponent: i32,
    pub(super) magnitude: u32,
}

/// Shifts a magnitude right to exponent `top`, ties up, or down if `negative`; for half-words
/// also rounds it to a multiple of 2^13.
fn align<T: Target>(term: Magnitude, toward: u32, top: i32) -> i32 {
    let distance = ((top - term.exponent) as u32).min(31);
    let half = (1u32 << distance) >> 1;
    let down = toward & u32::from(half != 0);
    let mut aligned = term.magnitude.wrapping_add(half).wrapping_sub(down) >> distance;
    if T::PRECISION != 24 {
        aligned = aligned.wrapping_add(1 << 12).wrapping_sub(toward) & !0x1FFF;
    }
    let mask = -(term.negative as i32);
    (aligned as i32 ^ mask).wrapping_sub(mask)
}

/// Adds one sum to Dst, as patterns.
pub(super) fn accumulate<T: Target>(term: Magnitude, dst: u32) -> u32 {
    let exponent = (dst >> 23 & 0xFF) as i32;
    let magnitude = choose(exponent == 0, 0, dst & 0x7F_FFFF | 0x80_0000);
    let old = Magnitude { negative: dst >> 31, exponent, magnitude };
    let top = term.exponent.max(exponent);
    let sum = align::<T>(term, term.negative, top).wrapping_add(align::<T>(old, 0, top));
    if top <= 0 || sum == 0 { 0 } else { super::accumulate::normalise::<T>(sum, top) }
}
