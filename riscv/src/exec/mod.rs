//! What single instructions compute: pure functions without a core.

pub mod bits;
pub mod float;
pub mod muldiv;
