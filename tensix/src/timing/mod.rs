//! What instructions cost in time. Costs delay, they never change a value.
//!
//! Its row says how long an instruction keeps its unit, its thread and the unit's pipeline (`table`
//! prints that);
//! `amounts` what depends on how much is moved; `hazards` which instructions a pipeline does not
//! take yet. Only [`TimingModel::Documented`] knows any of it.

pub(crate) mod amounts;
pub(crate) mod hazards;
mod table;

pub use table::markdown;

use isa::op::Opcode;
use isa::operands::Adddmareg;

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
    /// What the row of an opcode says.
    const fn of(opcode_cost: &isa::op::Cost) -> Self {
        let &isa::op::Cost { unit, thread, latency, .. } = opcode_cost;
        Self { unit, thread, latency }
    }

    const fn pipelined(unit: u16, latency: u32) -> Self {
        Self { unit, thread: 1, latency }
    }
}

/// What `word` costs by the documents, apart from what depends on the amount of data.
pub(crate) fn cost(opcode: Opcode, word: u32) -> Cost {
    let row = opcode.row();
    let cost = Cost::of(row.cost);
    // Three cycles if both operands come from one aligned group of four registers or the second
    // is an immediate, else four [isa-wh: TensixCoprocessor/ADDDMAREG.md].
    if row.cost.name == TWO_REGISTERS && in_two_groups(word) {
        return Cost { unit: cost.unit + 1, thread: cost.thread + 1, latency: cost.latency + 1 };
    }
    cost
}

/// Cost of the scalar instructions with two operands, which have them in the same places.
const TWO_REGISTERS: &str = "two_registers";

/// Whether the operands of a two-operand scalar instruction lie in different groups of four GPRs.
const fn in_two_groups(word: u32) -> bool {
    let operands = Adddmareg::of(word);
    !operands.op_b_is_const && operands.op_a_reg_index / 4 != operands.op_b_reg_index / 4
}
