//! The scalar unit (ThCon): operations on general purpose registers, and everything that moves
//! between them and memory, tile registers, configuration, address counters and the packer.
//!
//! Rooms: [`ops`] pure functions; [`memory`] loads, stores and atomics; [`blocking`] what occupies
//! the unit until it comes true; [`special`] reads of packer state.
//!
//! Sources: `[isa-wh: TensixCoprocessor/ScalarUnit.md]` and the instruction pages.

pub(crate) mod blocking;
pub(crate) mod memory;
pub(crate) mod ops;
pub(crate) mod special;

use super::{Fault, Issued};
use crate::checks::Check;
use blocking::Blocking;
use isa::op::Opcode;

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

    /// One of the two-operand instructions.
    pub(crate) fn binary(&mut self, issued: &Issued, opcode: Opcode) -> Result<(), Fault> {
        let gprs = &mut self.gprs[issued.thread.index()];
        let left = gprs[issued.field(0, 6) as usize];
        let right = if issued.field(23, 1) != 0 {
            issued.field(6, 6)
        } else {
            gprs[issued.field(6, 6) as usize]
        };
        let Some(value) = ops::binary(opcode, issued.field(18, 3), left, right) else {
            return Err(issued.error(
                Check::ScalarMode,
                format!("{} with mode {}", opcode.mnemonic(), issued.field(18, 3)),
            ));
        };
        gprs[issued.field(12, 6) as usize] = value;
        Ok(())
    }

    /// SETDMAREG: 16 bits of a register from the instruction.
    pub(crate) fn set_immediate(&mut self, issued: &Issued) {
        let half = issued.field(0, 7) as usize;
        let value = issued.field(8, 16) as u16;
        ops::set_half(&mut self.gprs[issued.thread.index()], half, value);
    }
}
