//! The scalar unit (ThCon): operations on general purpose registers, and everything that moves
//! between them and memory, tile registers, configuration, address counters and the packer.
//!
//! Rooms: [`ops`] pure functions; [`memory`] loads, stores and atomics; [`blocking`] what occupies
//! the unit until it comes true; [`special`] reads of packer state.
//!
//! Sources: `[isa-wh: TensixCoprocessor/ScalarUnit.md]` and the instruction pages.

pub(crate) mod blocking;
mod dispatch;
pub(crate) mod memory;
pub(crate) mod ops;
pub(crate) mod special;

use sim_core::ThreadId;

use crate::occupancy::Occupancy;
use blocking::Blocking;
pub(crate) use dispatch::Reach;

/// General purpose registers per thread.
pub(crate) const GPRS: usize = 64;

/// The registers of all three threads, and what is on its way.
#[derive(Clone, Debug)]
pub(crate) struct ScalarUnit {
    pub(crate) gprs: [[u32; GPRS]; 3],
    /// Loads of tile registers without an answer, per thread.
    pub(crate) outstanding: [u8; 3],
    /// What occupies the unit until it comes true.
    pub(crate) blocking: Option<Blocking>,
}

impl ScalarUnit {
    pub(crate) const fn new() -> Self {
        Self { gprs: [[0; GPRS]; 3], outstanding: [0; 3], blocking: None }
    }

    /// Conditions C0 to C3 of `thread` that are not met, which FLUSHDMA shares with STALLWAIT.
    pub(crate) fn flushing(&self, thread: ThreadId, occupancy: &Occupancy) -> u16 {
        u16::from(self.outstanding[thread.index()] != 0) | occupancy.moving(thread)
    }
}
