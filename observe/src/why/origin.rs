//! Where the values in the registers of a core came from: the load that brought each, and the store that put
//! it into a local variable, followed through the arithmetic in between.

use isa::word::{AUIPC, LOAD, LUI, OP, OP_IMM, STORE, imm_i, imm_s, opcode, rd, rs1, rs2};
use memory_map::layout::{LOCAL_RAM_BASE, LOCAL_RAM_BYTES_DM};
use rustc_hash::FxHashMap;
use sim_core::Retire;

/// A load from outside the core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Loaded {
    pub(super) pc: u32,
    pub(super) cycle: u64,
    pub(super) addr: u32,
    pub(super) value: u32,
}

/// A store to a local variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stored {
    pub(super) pc: u32,
    pub(super) cycle: u64,
}

/// Where a value came from; constants come from nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Origin {
    pub(super) loaded: Option<Loaded>,
    pub(super) stored: Option<Stored>,
}

impl Origin {
    fn or(self, other: Self) -> Self {
        Self { loaded: self.loaded.or(other.loaded), stored: self.stored.or(other.stored) }
    }
}

/// The operands of an instruction and where they came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Operands {
    pub(super) values: [u32; 2],
    pub(super) origins: [Origin; 2],
}

/// The registers of a core as far as its log tells.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins {
    values: [u32; 32],
    origins: [Origin; 32],
    /// Of words of local RAM.
    locals: FxHashMap<u32, Origin>,
}

fn is_local(addr: u32) -> bool {
    (LOCAL_RAM_BASE..LOCAL_RAM_BASE + LOCAL_RAM_BYTES_DM).contains(&addr)
}

impl Origins {
    /// The operands of an instruction that is about to execute.
    pub(super) fn operands(&self, word: u32) -> Operands {
        let of = [rs1(word) as usize, rs2(word) as usize];
        Operands { values: of.map(|at| self.values[at]), origins: of.map(|at| self.origins[at]) }
    }

    /// Takes note of an instruction.
    pub(super) fn retire(&mut self, retire: &Retire) {
        let Retire { cycle, pc, word, value, .. } = *retire;
        // The lowest bits tell RISC-V from Tensix instructions.
        if word & 3 != 3 {
            return;
        }
        let [left, right] = [rs1(word) as usize, rs2(word) as usize];
        let origin = match opcode(word) {
            STORE => {
                let addr = self.values[left].wrapping_add_signed(imm_s(word));
                if is_local(addr) {
                    let stored = Some(Stored { pc, cycle: cycle.0 });
                    self.locals.insert(addr & !3, Origin { stored, ..self.origins[right] });
                }
                return;
            }
            LOAD => {
                let addr = self.values[left].wrapping_add_signed(imm_i(word));
                if is_local(addr) {
                    self.locals.get(&(addr & !3)).copied().unwrap_or_default()
                } else {
                    let loaded = Some(Loaded { pc, cycle: cycle.0, addr, value });
                    Origin { loaded, stored: None }
                }
            }
            OP_IMM => self.origins[left],
            OP => self.origins[left].or(self.origins[right]),
            LUI | AUIPC => Origin::default(),
            _ => Origin::default(),
        };
        if retire.rd != 0 && rd(word) != 0 {
            let at = usize::from(retire.rd & 31);
            (self.values[at], self.origins[at]) = (value, origin);
        }
    }
}

#[cfg(test)]
mod tests {
    use isa::asm;
    use sim_core::Cycle;

    use super::*;

    fn run(steps: &[(u32, u8, u32)]) -> Origins {
        let mut origins = Origins::default();
        for (at, &(word, rd, value)) in steps.iter().enumerate() {
            let pc = 0x100 + 4 * at as u32;
            origins.retire(&Retire { cycle: Cycle(at as u64), pc, word, rd, value });
        }
        origins
    }

    /// A value from L1, kept in a local variable and added to.
    #[test]
    fn value_is_followed_through_a_variable_and_a_sum() {
        let origins = run(&[
            (asm::lui(5, 0x3_0000), 5, 0x3_0000),
            (asm::lw(6, 5, 8), 6, 3),
            (asm::lui(7, LOCAL_RAM_BASE), 7, LOCAL_RAM_BASE),
            (asm::sw(6, 7, 16), 0, 0),
            (asm::lw(8, 7, 16), 8, 3),
            (asm::addi(9, 8, 1), 9, 4),
        ]);
        let operands = origins.operands(asm::bne(9, 5, 8));
        assert_eq!(operands.values, [4, 0x3_0000]);
        let [sum, constant] = operands.origins;
        assert_eq!(sum.loaded, Some(Loaded { pc: 0x104, cycle: 1, addr: 0x3_0008, value: 3 }));
        assert_eq!(sum.stored, Some(Stored { pc: 0x10C, cycle: 3 }));
        assert_eq!(constant, Origin::default());
    }
}
