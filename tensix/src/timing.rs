//! What an instruction costs. Costs delay, they never change a value.

use isa::op::{Opcode, Unit};

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
    pub(crate) unit: u8,
    /// Cycles until the issuing thread can issue its next instruction.
    pub(crate) thread: u8,
    /// Cycles until the instruction has left the unit's pipeline.
    pub(crate) latency: u8,
}

impl Cost {
    /// One cycle of everything.
    pub(crate) const ONE: Self = Self { unit: 1, thread: 1, latency: 1 };

    const fn occupying(cycles: u8) -> Self {
        Self { unit: cycles, thread: cycles, latency: cycles }
    }

    const fn pipelined(unit: u8, latency: u8) -> Self {
        Self { unit, thread: 1, latency }
    }
}

/// What `word` costs.
#[must_use]
pub(crate) fn cost(model: TimingModel, opcode: Opcode, word: u32) -> Cost {
    match model {
        TimingModel::Unit => Cost::ONE,
        TimingModel::Documented => documented(opcode, word),
    }
}

fn documented(opcode: Opcode, word: u32) -> Cost {
    match opcode {
        // [isa-wh: TensixCoprocessor/ScalarUnit.md]: one instruction at a time, and the issuing
        // thread waits for it.
        Opcode::Dmanop | Opcode::Setdmareg => Cost::ONE,
        Opcode::Reg2flop | Opcode::Flushdma => Cost::occupying(2),
        Opcode::Adddmareg
        | Opcode::Subdmareg
        | Opcode::Muldmareg
        | Opcode::Bitwopdmareg
        | Opcode::Shiftdmareg
        | Opcode::Cmpdmareg => Cost::occupying(two_register_cycles(word)),
        Opcode::Atcas | Opcode::Atincgetptr => Cost::occupying(15),
        // [isa-bh: TensixCoprocessor/ConfigurationUnit.md]
        Opcode::Wrcfg | Opcode::Rdcfg => Cost::pipelined(1, 2),
        Opcode::Cfgshiftmask => Cost::pipelined(2, 2),
        Opcode::Streamwrcfg => Cost::pipelined(1, 5),
        // [isa-bh: TensixCoprocessor/VectorUnit.md]
        Opcode::Sfpmad
        | Opcode::Sfpadd
        | Opcode::Sfpmul
        | Opcode::Sfpmuli
        | Opcode::Sfpaddi
        | Opcode::Sfplut
        | Opcode::Sfplutfp32
        | Opcode::Sfpmul24
        | Opcode::Sfpswap
        | Opcode::Sfpshft2
        | Opcode::Sfpconfig => Cost::pipelined(1, 2),
        // [isa-wh: TensixCoprocessor/UNPACR_Regular.md]: at least two cycles for the first
        // address, in which neither this thread issues nor any other an UNPACR.
        Opcode::Unpacr => Cost::occupying(2),
        // [isa-wh: TensixCoprocessor/MatrixUnit.md], which the Blackhole page calls similar.
        Opcode::Mvmul
        | Opcode::Dotpv
        | Opcode::Gapool
        | Opcode::Gmpool
        | Opcode::Elwmul
        | Opcode::Elwadd
        | Opcode::Elwsub => Cost::pipelined(1, 5),
        Opcode::Shiftxb => Cost::pipelined(2, 2),
        Opcode::Movd2a => Cost::pipelined(1, 2),
        Opcode::Mova2d | Opcode::Movb2d | Opcode::Movb2a | Opcode::Movdbga2d => {
            Cost::pipelined(1, 4)
        }
        _ => match opcode.unit() {
            Unit::Scalar => Cost::occupying(3),
            _ => Cost::ONE,
        },
    }
}

/// Three cycles if both operands come from one aligned group of four registers or the second is
/// an immediate, else four `[isa-wh: TensixCoprocessor/ADDDMAREG.md]`.
const fn two_register_cycles(word: u32) -> u8 {
    let immediate = word >> 23 & 1 != 0;
    let left = word >> 2 & 0xF;
    let right = word >> 8 & 0xF;
    if immediate || left == right { 3 } else { 4 }
}
