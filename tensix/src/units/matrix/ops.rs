//! Pure functions of the matrix unit.

/// ZEROACC modes `[isa-wh: TensixCoprocessor/ZEROACC.md]`; mode 3 is all of Dst.
pub(crate) const ONE_ROW: u32 = 0;
pub(crate) const ROWS_16: u32 = 1;
pub(crate) const HALF: u32 = 2;
