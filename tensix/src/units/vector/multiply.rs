//! The MAD sub-unit on whole registers: operands, indirect ones included, and results.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPMAD.md]`, `SFPADDI.md`, `SFPMULI.md`, `SFPMUL24.md`,
//! `SFPLUT.md`, `SFPLUTFP32.md`.

use isa::op::Opcode;

use super::dispatch::lanes_where;
use super::float_lanes::{multiply_add, multiply_add_registers};
use super::{LANES, LReg, Operands, VectorUnit, mad};

/// 1.0, by which SFPADDI multiplies.
const ONE: u32 = 0x3F80_0000;
const SIGN: u32 = 0x8000_0000;

impl VectorUnit {
    /// SFPMAD, SFPADD and SFPMUL as software nearly always issues them: registers named by the word,
    /// nothing scheduled. False, with nothing done, for all others.
    #[inline]
    pub(crate) fn mad_plainly(&mut self, word: u32) -> bool {
        let field = |at: u32| (word >> at & 0xF) as usize;
        let (mod1, vd) = (word & 0xF, field(4));
        if vd >= 8 || mod1 & 0xC != 0 || self.schedule.is_active() {
            return false;
        }
        let set = self.enabled();
        let negate = ((mod1 & 1) << 31, (mod1 & 2) << 30);
        multiply_add_registers(
            &mut self.lregs,
            [field(16), field(12), field(8)],
            negate,
            (vd, set),
        );
        true
    }

    /// The MAD sub-unit.
    #[inline]
    pub(super) fn mad(&mut self, opcode: Opcode, operands: &Operands, set: u32) {
        let mut result = [0; LANES];
        let mod1 = operands.mod1();
        let mut indirect = mod1 & 8 != 0;
        match opcode {
            Opcode::Sfpmuli => {
                let (imm, negate) = (operands.imm_float(), (mod1 & 2) << 30);
                let c = self.operand(operands.vc);
                multiply_add(c, &[imm; LANES], &[0; LANES], (negate, 0), &mut result);
            }
            Opcode::Sfpaddi => {
                let (imm, negate) = (operands.imm_float(), (mod1 & 2) << 30);
                let c = self.operand(operands.vc);
                multiply_add(&[imm; LANES], &[ONE; LANES], c, (0, negate), &mut result);
            }
            Opcode::Sfplut => {
                indirect = operands.mod0() & 8 != 0;
                self.sfplut(operands.mod0(), &mut result);
            }
            Opcode::Sfplutfp32 => self.sfplutfp32(mod1, &mut result),
            _ => self.products(opcode, operands, &mut result),
        }
        // The bonus register wins over an indirect destination.
        if !indirect || operands.vd == super::operands::BONUS_LREG {
            return self.deliver(operands, set, operands.vd, &result);
        }
        let targets = *self.operand(7);
        for vd in 0..8 {
            let chosen = set & lanes_where(&targets, |target| target & 15 == u32::from(vd));
            self.deliver(operands, chosen, vd, &result);
        }
    }

    /// Writes a MAD result now, or a cycle later if it was scheduled.
    #[inline]
    fn deliver(&mut self, operands: &Operands, set: u32, vd: u8, result: &LReg) {
        if operands.scheduled {
            self.schedule.defer(vd, set, result);
        } else {
            self.write(vd, set, result);
        }
    }

    /// SFPMAD, SFPADD, SFPMUL and SFPMUL24.
    #[inline]
    fn products(&self, opcode: Opcode, operands: &Operands, result: &mut LReg) {
        let mod1 = operands.mod1();
        let (b, c) = (self.operand(operands.vb), self.operand(operands.vc));
        let indirect;
        let a = if mod1 & 4 != 0 {
            let indices = self.operand(7);
            indirect = std::array::from_fn(|lane| self.operand(indices[lane] as u8 & 15)[lane]);
            &indirect
        } else {
            self.operand(operands.va)
        };
        if opcode == Opcode::Sfpmul24 {
            for lane in 0..LANES {
                result[lane] = mad::multiply24(mod1 & 1 != 0, a[lane], b[lane], c[lane]);
            }
            return;
        }
        multiply_add(a, b, c, ((mod1 & 1) << 31, (mod1 & 2) << 30), result);
    }

    fn sfplut(&self, mod0: u32, result: &mut LReg) {
        let input = self.operand(3);
        let (mut slopes, mut offsets) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let table = [0, 1, 2].map(|index| self.operand(index)[lane]);
            (slopes[lane], offsets[lane]) = mad::lut(input[lane] & !SIGN, table);
        }
        evaluate(mod0, input, &slopes, &offsets, result);
    }

    fn sfplutfp32(&self, mod1: u32, result: &mut LReg) {
        let input = self.operand(3);
        let (mut slopes, mut offsets) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let table = |first: u8| [0, 1, 2].map(|index| self.operand(first + index)[lane]);
            (slopes[lane], offsets[lane]) =
                mad::lut_fp32(mod1, input[lane] & !SIGN, table(0), table(4));
        }
        evaluate(mod1, input, &slopes, &offsets, result);
    }
}

/// SFPLUT and SFPLUTFP32: the line of each lane at the magnitude of its input; bit 2 of the mode
/// keeps the sign of the input.
fn evaluate(mode: u32, input: &LReg, slopes: &LReg, offsets: &LReg, result: &mut LReg) {
    multiply_add(slopes, &input.map(|value| value & !SIGN), offsets, (0, 0), result);
    if mode & 4 != 0 {
        for (value, input) in result.iter_mut().zip(input) {
            *value = *value & !SIGN | input & SIGN;
        }
    }
}

#[cfg(test)]
mod tests {
    use sim_core::{CoreId, Cycle, ThreadId};

    use super::*;
    use crate::checks::Warned;
    use crate::queue::Origin;
    use crate::units::Issued;

    #[test]
    fn plain_multiplications_equal_the_general_path_for_any_lanes() {
        let mut random = 0x7469_6C65_u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 32) as u32
        };
        let mut plain = VectorUnit::new();
        let mut taken = 0;
        for round in 0..4_000 {
            for lreg in &mut plain.lregs[..8] {
                // Exponents near 127, so that sums cancel.
                *lreg = std::array::from_fn(|_| next() & 0x81FF_FFFF | 0x3E00_0000);
            }
            plain.predicate.encc(next(), round & 3, next() & 3);
            let opcode = [Opcode::Sfpmad, Opcode::Sfpadd, Opcode::Sfpmul][round as usize % 3];
            let word = (opcode as u32) << 24 | next() & 0xF_FFFF;
            let origin = Origin { core: CoreId::Trisc1, pc: 0 };
            let thread = ThreadId::T1;
            let issued = Issued { word, thread, origin, now: Cycle(0), allowed: Warned::NONE };
            let mut general = plain.clone();
            if plain.mad_plainly(word) {
                taken += 1;
                let operands = Operands::parse(opcode, word);
                general.execute(opcode, &operands, &issued).expect("defined");
            }
            assert_eq!(plain.lregs, general.lregs, "{word:08x}");
        }
        assert!(taken > 400, "{taken}");
    }
}
