//! The scalar unit (ThCon): operations on general purpose registers, and register moves.
//!
//! Memory operations are not modelled.
//!
//! Sources: `[isa-wh: TensixCoprocessor/ScalarUnit.md]` and the instruction pages.

pub(crate) mod ops;

use sim_core::Category;

use super::{Fault, Issued};
use isa::op::Opcode;

/// General purpose registers per thread.
pub(crate) const GPRS: usize = 64;

/// The registers of all three threads.
#[derive(Clone, Debug)]
pub(crate) struct ScalarUnit {
    pub(crate) gprs: [[u32; GPRS]; 3],
}

impl ScalarUnit {
    pub(crate) const fn new() -> Self {
        Self { gprs: [[0; GPRS]; 3] }
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
                Category::UndefinedBehavior,
                "tensix-scalar-mode",
                format!("{} with mode {}", opcode.mnemonic(), issued.field(18, 3)),
            ));
        };
        gprs[issued.field(12, 6) as usize] = value;
        Ok(())
    }

    /// SETDMAREG: 16 bits of a register from the instruction, or packer state.
    pub(crate) fn setdmareg(&mut self, issued: &Issued) -> Result<(), Fault> {
        let half = issued.field(0, 7) as usize;
        let gprs = &mut self.gprs[issued.thread.index()];
        if issued.field(7, 1) == 0 {
            ops::set_half(gprs, half, issued.field(8, 16) as u16);
            return Ok(());
        }
        let source = issued.field(11, 4);
        if source < 10 {
            return Err(issued.error(
                Category::Unimplemented,
                "tensix-unimplemented",
                format!("SETDMAREG reads packer state (InputSource {source})"),
            ));
        }
        // No signal has that number: the 128 bits to choose from are zero
        // [isa-wh: TensixCoprocessor/SETDMAREG_Special.md].
        match issued.field(22, 2) {
            0 => ops::set_half(gprs, half, 0),
            1 => gprs[half >> 1] = 0,
            2 => gprs[half >> 1 & 0x3C..][..4].fill(0),
            _ => ops::clear_tile_header(&mut gprs[half >> 1 & 0x3C..]),
        }
        Ok(())
    }
}
