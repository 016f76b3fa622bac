//! What single instructions compute: pure functions without a core.

pub mod bits;
pub mod float;
pub mod muldiv;

use sim_core::Width;

/// Sign-extends a right-aligned value.
#[inline]
#[must_use]
pub fn extend(value: u32, width: Width) -> u32 {
    let shift = 32 - 8 * width.bytes();
    (value.cast_signed() << shift >> shift).cast_unsigned()
}
