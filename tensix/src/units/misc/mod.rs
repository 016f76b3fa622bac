//! The miscellaneous unit. Only `NOP` is modelled, and it does nothing
//! `[isa-wh: TensixCoprocessor/MiscellaneousUnit.md]`.
