//! The MAD sub-unit on whole registers: operands, indirect ones included, and results.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPMAD.md]`, `SFPADDI.md`, `SFPMULI.md`, `SFPMUL24.md`,
//! `SFPLUT.md`, `SFPLUTFP32.md`.

use isa::op::Opcode;

use super::dispatch::lanes_where;
use super::{LANES, LReg, Operands, VectorUnit, float, mad};

/// 1.0, by which SFPADDI multiplies.
const ONE: u32 = 0x3F80_0000;
const SIGN: u32 = 0x8000_0000;

impl VectorUnit {
    /// The MAD sub-unit.
    #[inline]
    pub(super) fn mad(&mut self, opcode: Opcode, operands: &Operands, set: u32) {
        let mod1 = operands.mod1();
        let (result, indirect) = match opcode {
            Opcode::Sfpmuli | Opcode::Sfpaddi => {
                let (imm, negate) = (operands.imm_float(), (mod1 & 2) << 30);
                let c = *self.operand(operands.vc);
                let result = if opcode == Opcode::Sfpmuli {
                    c.map(|c| float::multiply_add(imm, c ^ negate, 0))
                } else {
                    c.map(|c| float::multiply_add(imm, ONE, c ^ negate))
                };
                (result, mod1 & 8 != 0)
            }
            Opcode::Sfplut => (self.sfplut(operands.mod0()), operands.mod0() & 8 != 0),
            Opcode::Sfplutfp32 => (self.sfplutfp32(mod1), mod1 & 8 != 0),
            _ => (self.products(opcode, operands), mod1 & 8 != 0),
        };
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
    fn products(&self, opcode: Opcode, operands: &Operands) -> LReg {
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
        let mut result = [0; LANES];
        if opcode == Opcode::Sfpmul24 {
            for lane in 0..LANES {
                result[lane] = mad::multiply24(mod1 & 1 != 0, a[lane], b[lane], c[lane]);
            }
            return result;
        }
        let (negate_a, negate_c) = ((mod1 & 1) << 31, (mod1 & 2) << 30);
        for lane in 0..LANES {
            result[lane] = float::multiply_add(a[lane] ^ negate_a, b[lane], c[lane] ^ negate_c);
        }
        result
    }

    fn sfplut(&self, mod0: u32) -> LReg {
        let input = self.operand(3);
        std::array::from_fn(|lane| {
            let (value, table) = (input[lane], [0, 1, 2].map(|index| self.operand(index)[lane]));
            let (slope, offset) = mad::lut(value & !SIGN, table);
            retain_sign(mod0, value, float::multiply_add(slope, value & !SIGN, offset))
        })
    }

    fn sfplutfp32(&self, mod1: u32) -> LReg {
        let input = self.operand(3);
        std::array::from_fn(|lane| {
            let table = |first: u8| [0, 1, 2].map(|index| self.operand(first + index)[lane]);
            let value = input[lane];
            let (slope, offset) = mad::lut_fp32(mod1, value & !SIGN, table(0), table(4));
            retain_sign(mod1, value, float::multiply_add(slope, value & !SIGN, offset))
        })
    }
}

/// SFPLUT and SFPLUTFP32: bit 2 of the mode keeps the sign of the input.
const fn retain_sign(mode: u32, input: u32, result: u32) -> u32 {
    if mode & 4 != 0 { result & !SIGN | input & SIGN } else { result }
}
