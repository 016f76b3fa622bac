//! The unit's state, and what its instructions reach.

use isa::op::Opcode;
use sim_core::{Cycle, ThreadId};

use crate::occupancy::Occupancy;
use crate::state::adc::ThreadAdcs;
use crate::state::gprs::GPRS;
use crate::state::src::SrcBanks;
use crate::units::Issued;
use crate::units::config::{ConfigUnit, SideEffects};
use crate::units::packer::Packer;
use crate::units::unpacker::Unpackers;

/// Four cells for a source bank, captured when STOREIND issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SrcStore {
    /// 0 SrcA, 1 SrcB.
    pub(crate) operand: u8,
    /// `None` for the rows before the first.
    pub(crate) row: Option<u8>,
    /// First column, a multiple of four.
    pub(crate) column: u8,
    pub(crate) cells: [u32; 4],
}

/// An instruction in the scalar unit that has not come true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Blocking {
    pub(crate) issued: Issued,
    pub(crate) opcode: Opcode,
    pub(crate) store: SrcStore,
    /// Cycle of the last attempt.
    pub(crate) tried: Cycle,
}

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

    /// The registers of the issuing thread.
    pub(super) fn gprs_of(&mut self, issued: &Issued) -> &mut [u32; GPRS] {
        &mut self.gprs[issued.thread.index()]
    }

    /// Conditions C0 to C3 of `thread` that are not met, which FLUSHDMA shares with STALLWAIT.
    pub(crate) fn flushing(&self, thread: ThreadId, occupancy: &Occupancy) -> u16 {
        u16::from(self.outstanding[thread.index()] != 0) | occupancy.moving(thread)
    }
}

/// What the instructions of this unit reach.
pub(crate) struct Reach<'a> {
    pub(crate) scalar: &'a mut ScalarUnit,
    pub(crate) config: &'a mut ConfigUnit,
    pub(crate) adcs: &'a mut [ThreadAdcs; 3],
    pub(crate) src: &'a mut [SrcBanks; 2],
    pub(crate) unpackers: &'a Unpackers,
    pub(crate) packer: &'a mut Packer,
    pub(crate) occupancy: &'a mut Occupancy,
    /// What other units have to hear.
    pub(crate) effects: SideEffects,
}

/// What instructions that occupy the unit until something comes true reach.
pub(crate) struct Attempts<'a> {
    pub(crate) scalar: &'a mut ScalarUnit,
    pub(crate) src: &'a mut [SrcBanks; 2],
    pub(crate) occupancy: &'a mut Occupancy,
}
