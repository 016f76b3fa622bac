//! What single instructions compute: pure functions without a core.

pub mod bits;
pub mod float;
pub mod muldiv;

use sim_core::Width;

use crate::op::Kind;

/// Whether a jump is taken that compares two registers; any other one is.
#[inline(always)]
pub(crate) const fn is_taken(kind: Kind, a: u32, b: u32) -> bool {
    match kind {
        Kind::Beq => a == b,
        Kind::Bne => a != b,
        Kind::Blt => a.cast_signed() < b.cast_signed(),
        Kind::Bge => a.cast_signed() >= b.cast_signed(),
        Kind::Bltu => a < b,
        Kind::Bgeu => a >= b,
        _ => true,
    }
}

/// Sign-extends a right-aligned value.
#[inline]
#[must_use]
pub fn extend(value: u32, width: Width) -> u32 {
    let shift = 32 - 8 * width.bytes();
    (value.cast_signed() << shift >> shift).cast_unsigned()
}
