//! The Tensix GPRs `[isa-wh: TensixCoprocessor/ScalarUnit.md]`.

/// General purpose registers per thread.
pub(crate) const GPRS: usize = 64;
