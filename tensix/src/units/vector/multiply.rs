//! The MAD sub-unit on whole registers: operands, indirect ones included, and results.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPMAD.md]`, `SFPADDI.md`, `SFPMULI.md`, `SFPMUL24.md`,
//! `SFPLUT.md`, `SFPLUTFP32.md`.

use isa::operands::{Mad, MadImmediate};

use super::file::{SIGN, lanes_where};
use super::float_lanes::{multiply_add, multiply_add_registers};
use super::{LANES, LReg, Operands, RegisterFile, mad};

/// 1.0, by which SFPADDI multiplies.
const ONE: u32 = 0x3F80_0000;
/// SFPMAD_MOD1_INDIRECT_VA and SFPMAD_MOD1_INDIRECT_VD, of the other instructions as well.
const INDIRECT_VA: u32 = 4;
const INDIRECT_VD: u32 = 8;

impl RegisterFile {
    /// SFPMAD, SFPADD and SFPMUL of registers that the word names. False, with nothing done, for all
    /// others.
    #[inline]
    pub(super) fn mad_plainly(&mut self, word: u32) -> bool {
        let Mad { instr_mod1: mod1, lreg_dest, lreg_src_a, lreg_src_b, lreg_src_c } = Mad::of(word);
        let vd = lreg_dest as usize;
        if vd >= 8 || mod1 & 0xC != 0 {
            return false;
        }
        let set = self.enabled();
        let negate = ((mod1 & 1) << 31, (mod1 & 2) << 30);
        multiply_add_registers(
            &mut self.lregs,
            [lreg_src_a, lreg_src_b, lreg_src_c].map(|lreg| lreg as usize),
            negate,
            (vd, set),
        );
        true
    }

    /// SFPMAD, SFPADD and SFPMUL in all their modes.
    #[inline]
    pub(super) fn multiply_and_add(&mut self, mod1: u32, registers: &Operands) {
        let set = self.active_set(registers);
        let mut result = [0; LANES];
        let indirect;
        let a = if mod1 & INDIRECT_VA != 0 {
            indirect = self.indirect();
            &indirect
        } else {
            self.operand(registers.va)
        };
        let (b, c) = (self.operand(registers.vb), self.operand(registers.vc));
        multiply_add(a, b, c, ((mod1 & 1) << 31, (mod1 & 2) << 30), &mut result);
        self.finish_mad(mod1 & INDIRECT_VD != 0, registers, set, &result);
    }

    /// SFPMUL24.
    pub(super) fn multiply24(&mut self, mod1: u32, registers: &Operands) {
        let set = self.active_set(registers);
        let indirect;
        let a = if mod1 & INDIRECT_VA != 0 {
            indirect = self.indirect();
            &indirect
        } else {
            self.operand(registers.va)
        };
        let (b, c) = (self.operand(registers.vb), self.operand(registers.vc));
        let result =
            std::array::from_fn(|lane| mad::multiply24(mod1 & 1 != 0, a[lane], b[lane], c[lane]));
        self.finish_mad(mod1 & INDIRECT_VD != 0, registers, set, &result);
    }

    /// SFPMULI and SFPADDI: VC times, or plus, a BF16.
    pub(super) fn with_immediate(
        &mut self,
        operands: MadImmediate,
        adds: bool,
        registers: &Operands,
    ) {
        let set = self.active_set(registers);
        let (mod1, imm) = (operands.instr_mod1, operands.imm16_math << 16);
        let negate = (mod1 & 2) << 30;
        let mut result = [0; LANES];
        let c = self.operand(registers.vc);
        if adds {
            multiply_add(&[imm; LANES], &[ONE; LANES], c, (0, negate), &mut result);
        } else {
            multiply_add(c, &[imm; LANES], &[0; LANES], (negate, 0), &mut result);
        }
        self.finish_mad(mod1 & INDIRECT_VD != 0, registers, set, &result);
    }

    /// VA where LReg 7 says which register it is, lane by lane.
    fn indirect(&self) -> LReg {
        let indices = self.operand(7);
        std::array::from_fn(|lane| self.operand(indices[lane] as u8 & 15)[lane])
    }

    /// Writes a result of the MAD sub-unit to VD, or to where LReg 7 says.
    #[inline]
    fn finish_mad(&mut self, indirect: bool, registers: &Operands, set: u32, result: &LReg) {
        // The bonus register wins over an indirect destination.
        if !indirect || registers.vd == super::operands::BONUS_LREG {
            return self.deliver(registers, set, registers.vd, result);
        }
        let targets = *self.operand(7);
        for vd in 0..8 {
            let chosen = set & lanes_where(&targets, |target| target & 15 == u32::from(vd));
            self.deliver(registers, chosen, vd, result);
        }
    }

    /// Writes a MAD result now, or a cycle later if it was scheduled.
    #[inline]
    fn deliver(&mut self, operands: &Operands, set: u32, vd: u8, result: &LReg) {
        if operands.scheduled {
            self.defer(vd, set, result);
        } else {
            self.write(vd, set, result);
        }
    }

    /// SFPLUT: slope and offset by the magnitude of LReg 3, out of LReg 0 to 2.
    pub(super) fn lut(&mut self, mod0: u32, registers: &Operands) {
        let set = self.active_set(registers);
        let input = self.operand(3);
        let (mut slopes, mut offsets) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let table = [0, 1, 2].map(|index| self.operand(index)[lane]);
            (slopes[lane], offsets[lane]) = mad::lut(input[lane] & !SIGN, table);
        }
        let result = evaluate(mod0, input, &slopes, &offsets);
        self.finish_mad(mod0 & INDIRECT_VD != 0, registers, set, &result);
    }

    /// SFPLUTFP32: slopes out of LReg 0 to 2, offsets out of LReg 4 to 6.
    pub(super) fn lut_fp32(&mut self, mod1: u32, registers: &Operands) {
        let set = self.active_set(registers);
        let input = self.operand(3);
        let (mut slopes, mut offsets) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let table = |first: u8| [0, 1, 2].map(|index| self.operand(first + index)[lane]);
            (slopes[lane], offsets[lane]) =
                mad::lut_fp32(mod1, input[lane] & !SIGN, table(0), table(4));
        }
        let result = evaluate(mod1, input, &slopes, &offsets);
        self.finish_mad(mod1 & INDIRECT_VD != 0, registers, set, &result);
    }
}

/// SFPLUT and SFPLUTFP32: the line of each lane at the magnitude of its input; bit 2 of the mode
/// keeps the sign of the input.
fn evaluate(mode: u32, input: &LReg, slopes: &LReg, offsets: &LReg) -> LReg {
    let mut result = [0; LANES];
    multiply_add(slopes, &input.map(|value| value & !SIGN), offsets, (0, 0), &mut result);
    if mode & 4 != 0 {
        for (value, input) in result.iter_mut().zip(input) {
            *value = *value & !SIGN | input & SIGN;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use sim_core::{CoreId, Cycle, ThreadId};

    use super::super::VectorUnit;
    use super::*;
    use crate::checks::Warned;
    use crate::queue::Origin;
    use crate::units::Issued;
    use crate::units::config::ConfigUnit;
    use crate::units::matrix::MatrixUnit;
    use crate::units::vector::Surroundings;
    use isa::op::Opcode;

    #[test]
    fn plain_multiplications_equal_the_general_path_for_any_lanes() {
        let mut random = 0x7469_6C65_u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 32) as u32
        };
        let mut plain = VectorUnit::new();
        let (mut matrix, config) = (MatrixUnit::new(), ConfigUnit::new());
        let mut taken = 0;
        for round in 0..4_000 {
            for lreg in &mut plain.file.lregs[..8] {
                // Exponents near 127, so that sums cancel.
                *lreg = std::array::from_fn(|_| next() & 0x81FF_FFFF | 0x3E00_0000);
            }
            plain.file.predicate.encc(next(), round & 3, next() & 3);
            let opcode = [Opcode::Sfpmad, Opcode::Sfpadd, Opcode::Sfpmul][round as usize % 3];
            let word = (opcode as u32) << 24 | next() & 0xF_FFFF;
            let origin = Origin { core: CoreId::Trisc1, pc: 0 };
            let thread = ThreadId::T1;
            let issued = Issued { word, thread, origin, now: Cycle(0), allowed: Warned::NONE };
            let mut general = plain.clone();
            if plain.mad_plainly(word) {
                taken += 1;
                let operands = Operands::parse(opcode, word);
                let at = &mut Surroundings { matrix: &mut matrix, config: &config };
                general.execute(opcode, &operands, &issued, at).expect("defined");
            }
            assert_eq!(plain.file.lregs, general.file.lregs, "{word:08x}");
        }
        assert!(taken > 400, "{taken}");
    }
}
