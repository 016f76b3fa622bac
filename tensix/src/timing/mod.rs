//! What instructions cost in time. Costs delay, they never change a value.
//!
//! `table` says how long an instruction keeps its unit, its thread and the unit's pipeline;
//! `amounts` what depends on how much is moved; `hazards` which instructions a pipeline does not
//! take yet. Only [`TimingModel::Documented`] knows any of it.

pub(crate) mod amounts;
pub(crate) mod hazards;
mod table;

pub use table::markdown;

use isa::op::Opcode;

/// Which costs apply.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TimingModel {
    /// Every instruction completes in the cycle in which it issues.
    #[default]
    Unit,
    /// The figures that the public documents state; where they give a lower bound, that bound.
    Documented,
}

/// Costs of one instruction in cycles, all at least 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cost {
    /// Cycles until the unit can take its next instruction from any thread.
    pub(crate) unit: u16,
    /// Cycles until the issuing thread can issue its next instruction.
    pub(crate) thread: u16,
    /// Cycles until the instruction has left the unit's pipeline.
    pub(crate) latency: u32,
}

impl Cost {
    /// One cycle of everything.
    pub(crate) const ONE: Self = Self { unit: 1, thread: 1, latency: 1 };

    const fn occupying(cycles: u16) -> Self {
        Self { unit: cycles, thread: cycles, latency: cycles as u32 }
    }

    const fn pipelined(unit: u16, latency: u32) -> Self {
        Self { unit, thread: 1, latency }
    }
}

/// What `word` costs by the documents, apart from what depends on the amount of data.
pub(crate) fn cost(opcode: Opcode, word: u32) -> Cost {
    match table::cost(opcode) {
        // Three cycles if both operands come from one aligned group of four registers or the second
        // is an immediate, else four [isa-wh: TensixCoprocessor/ADDDMAREG.md].
        cost if table::reads_two_registers(opcode) && in_two_groups(word) => {
            Cost { unit: cost.unit + 1, thread: cost.thread + 1, latency: cost.latency + 1 }
        }
        cost => cost,
    }
}

/// Whether the operands of a two-operand scalar instruction lie in different groups of four GPRs.
const fn in_two_groups(word: u32) -> bool {
    let immediate = word >> 23 & 1 != 0;
    !immediate && word >> 2 & 0xF != word >> 8 & 0xF
}
