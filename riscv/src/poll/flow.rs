//! How values flow through one round of a loop, as far as its text says.

use crate::op::{Kind, Op, SINK};

/// Link register and stack pointer `[riscv: calling convention]`.
const RA: u8 = 1;
const SP: u8 = 2;

/// What comes after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pass {
    /// The next one.
    On,
    /// The function there.
    Call(u32),
    /// Whatever called.
    Return,
    /// It does what a poll does not.
    Other,
}

/// Of how many registers an instruction makes what it writes to one, if it does no more than that or to look.
pub(super) const fn operands(kind: Kind) -> Option<usize> {
    match kind {
        Kind::LoadImmediate => Some(0),
        Kind::Lb
        | Kind::Lh
        | Kind::Lw
        | Kind::Lbu
        | Kind::Lhu
        | Kind::Addi
        | Kind::Slti
        | Kind::Sltiu
        | Kind::Xori
        | Kind::Ori
        | Kind::Andi
        | Kind::Slli
        | Kind::Srli
        | Kind::Srai
        | Kind::SextB
        | Kind::SextH
        | Kind::ZextH => Some(1),
        Kind::Add
        | Kind::Sub
        | Kind::Sll
        | Kind::Slt
        | Kind::Sltu
        | Kind::Xor
        | Kind::Srl
        | Kind::Sra
        | Kind::Or
        | Kind::And
        | Kind::Andn
        | Kind::Orn
        | Kind::Xnor
        | Kind::Max
        | Kind::Maxu
        | Kind::Min
        | Kind::Minu
        | Kind::Sh1add
        | Kind::Sh2add
        | Kind::Sh3add => Some(2),
        _ => None,
    }
}

/// Whether it only leads somewhere, out of the loop or over a part of it, or does nothing.
const fn only_leads(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Beq | Kind::Bne | Kind::Blt | Kind::Bge | Kind::Bltu | Kind::Bgeu | Kind::Fence
    )
}

/// Whether an instruction does nothing but change registers and look.
#[inline]
pub(super) const fn is_harmless(op: Op) -> bool {
    operands(op.kind).is_some() || only_leads(op.kind)
}

/// On which registers, as they were at the loop's head, each register depends; bit *r* is `x`*r*.
pub(super) struct Flow {
    on: [u32; 32],
    written: u32,
    /// Registers that hold constants of the text.
    constants: [Option<u32>; 32],
}

impl Flow {
    pub(super) fn new() -> Self {
        // x0 depends on nothing, and the stack pointer is the same in every round.
        let on = |index| if index == 0 || index == usize::from(SP) { 0 } else { 1_u32 << index };
        Self { on: std::array::from_fn(on), written: 0, constants: [None; 32] }
    }

    fn of(&self, register: u8) -> u32 {
        self.on[usize::from(register & 31)]
    }

    /// Goes past an instruction.
    pub(super) fn pass(&mut self, op: Op) -> Pass {
        if let Some(count) = operands(op.kind) {
            let sources = [op.rs1, op.rs2].into_iter().take(count);
            let sources = sources.fold(0, |all, register| all | self.of(register));
            self.write(op.rd, sources);
            if op.kind == Kind::LoadImmediate && op.rd != SINK {
                self.constants[usize::from(op.rd & 31)] = Some(op.imm);
            }
            return Pass::On;
        }
        match op.kind {
            kind if only_leads(kind) => Pass::On,
            Kind::Sb | Kind::Sh | Kind::Sw if op.rs1 == SP => Pass::On,
            Kind::Jal if op.rd == RA => {
                self.write(RA, 0);
                Pass::Call(op.imm)
            }
            // A call that the linker has not relaxed: `auipc` and `jalr`.
            Kind::Jalr if op.rd == RA => {
                let base = self.constants[usize::from(op.rs1 & 31)];
                self.write(RA, 0);
                base.map_or(Pass::Other, |base| Pass::Call(base.wrapping_add(op.imm) & !1))
            }
            Kind::Jalr if op.rd == SINK && op.rs1 == RA && op.imm == 0 => Pass::Return,
            _ => Pass::Other,
        }
    }

    fn write(&mut self, register: u8, sources: u32) {
        // The stack pointer is where it was when the round is over, or it is no round.
        if register != SINK && register != SP {
            self.on[usize::from(register & 31)] = sources;
            self.written |= 1 << (register & 31);
            self.constants[usize::from(register & 31)] = None;
        }
    }

    /// Whether every register has the same value after each of the later rounds if memory has: no
    /// register that is written depends, through others, on itself.
    pub(super) fn settles(&self) -> bool {
        let mut unsettled = self.written;
        loop {
            let before = unsettled;
            for register in 1..32 {
                if self.on[register] & before == 0 {
                    unsettled &= !(1 << register);
                }
            }
            if unsettled == before {
                return unsettled == 0;
            }
        }
    }
}
