//! The scalar unit (ThCon): operations on general purpose registers, and everything that moves
//! between them and memory, tile registers, configuration, address counters and the packer.
//!
//! Rooms: `unit` the state; [`ops`] pure functions; [`memory`] loads, stores and atomics; [`blocking`] what occupies
//! the unit until it comes true; [`special`] reads of packer state.
//!
//! Sources: `[isa-wh: TensixCoprocessor/ScalarUnit.md]` and the instruction pages.

mod blocking;
mod dispatch;
pub(crate) mod memory;
pub(crate) mod ops;
pub(crate) mod special;
mod unit;

pub(crate) use unit::{Attempts, Blocking, Reach, ScalarUnit, SrcStore};
