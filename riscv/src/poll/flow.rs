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

/// Whether an instruction does nothing but change registers and look.
pub(super) fn is_harmless(op: Op) -> bool {
    let stores = matches!(op.kind, Kind::Sb | Kind::Sh | Kind::Sw);
    !stores && Flow::new().pass(op) == Pass::On
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
        let sources = match op.kind {
            Kind::LoadImmediate => {
                self.write(op.rd, 0);
                if op.rd != SINK {
                    self.constants[usize::from(op.rd & 31)] = Some(op.imm);
                }
                return Pass::On;
            }
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
            | Kind::ZextH => self.of(op.rs1),
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
            | Kind::Sh3add => self.of(op.rs1) | self.of(op.rs2),
            // Ways out of the loop, or over a part of it.
            Kind::Beq | Kind::Bne | Kind::Blt | Kind::Bge | Kind::Bltu | Kind::Bgeu => {
                return Pass::On;
            }
            Kind::Fence => return Pass::On,
            Kind::Sb | Kind::Sh | Kind::Sw if op.rs1 == SP => return Pass::On,
            Kind::Jal if op.rd == RA => {
                self.write(RA, 0);
                return Pass::Call(op.imm);
            }
            // A call that the linker has not relaxed: `auipc` and `jalr`.
            Kind::Jalr if op.rd == RA => {
                let base = self.constants[usize::from(op.rs1 & 31)];
                self.write(RA, 0);
                return base.map_or(Pass::Other, |base| Pass::Call(base.wrapping_add(op.imm) & !1));
            }
            Kind::Jalr if op.rd == SINK && op.rs1 == RA && op.imm == 0 => return Pass::Return,
            _ => return Pass::Other,
        };
        self.write(op.rd, sources);
        Pass::On
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
