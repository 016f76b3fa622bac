//! The vector unit's door: one method per instruction.

use isa::execute::{self, VectorOps};
use isa::op::Opcode;
use isa::operands;

use super::file::{SIGN, is_negative, lanes_where};
use super::{Fault, Issued, LANES, Operands, Surroundings, VectorUnit, ops, round, simple};
use crate::checks::Check;
use crate::units::Outcome;

/// An instruction as it executes: its registers, which SFPLOADMACRO may have replaced, who issued it,
/// and what it needs of other units.
pub(super) struct Work<'a, 'b> {
    registers: &'a Operands,
    issued: &'a Issued,
    at: &'a mut Surroundings<'b>,
}

impl VectorUnit {
    /// Executes any instruction.
    ///
    /// # Errors
    /// `UndefinedBehavior` where the page of the instruction says so.
    #[inline(never)]
    pub(super) fn execute(
        &mut self,
        opcode: Opcode,
        registers: &Operands,
        issued: &Issued,
        at: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let work = Work { registers, issued, at };
        execute::vector(self, opcode, registers.word, work).expect("the opcode is of this unit")
    }
}

/// A push to a full stack of flags, or a pop of an empty one.
#[cold]
fn flag_stack(issued: &Issued, name: &str, mod1: u32, state: &str) -> Fault {
    issued.error(
        Check::SfpuFlagStack,
        format!("{name} with mode {mod1} while the flag stack of a lane is {state}"),
    )
}

impl VectorOps<Work<'_, '_>> for VectorUnit {
    type Outcome = Outcome;

    fn sfpload(&mut self, _: operands::Sfpload, work: Work<'_, '_>) -> Outcome {
        self.transfers.load_any(&mut self.file, work.registers, work.issued, work.at);
        Ok(())
    }

    fn sfpstore(&mut self, _: operands::Sfpstore, work: Work<'_, '_>) -> Outcome {
        self.transfers.store_any(&mut self.file, work.registers, work.issued, work.at);
        Ok(())
    }

    fn sfploadmacro(&mut self, _: operands::Sfploadmacro, work: Work<'_, '_>) -> Outcome {
        let address = self.transfers.load_any(&mut self.file, work.registers, work.issued, work.at);
        self.schedule.schedule_macro(self.file.load_macro(), work.registers, work.issued, address)
    }

    fn sfploadi(&mut self, operands: operands::Sfploadi, work: Work<'_, '_>) -> Outcome {
        let (mode, imm) = (operands.instr_mod0, operands.imm16 as u16);
        if !ops::is_load_mode(mode) {
            let text = format!("SFPLOADI with mode {mode}");
            return Err(work.issued.error(Check::SfploadiMode, text));
        }
        self.file.lanewise(work.registers, |b, _| ops::load_immediate(mode, imm, b))
    }

    fn sfpnop(&mut self, _: Work<'_, '_>) -> Outcome {
        Ok(())
    }

    fn sfpconfig(&mut self, operands: operands::Sfpconfig, work: Work<'_, '_>) -> Outcome {
        self.file.configure(operands, work.registers, work.issued)
    }

    fn sfpmad(&mut self, operands: operands::Sfpmad, work: Work<'_, '_>) -> Outcome {
        self.file.multiply_and_add(operands.instr_mod1, work.registers);
        Ok(())
    }

    fn sfpadd(&mut self, operands: operands::Sfpadd, work: Work<'_, '_>) -> Outcome {
        self.file.multiply_and_add(operands.instr_mod1, work.registers);
        Ok(())
    }

    fn sfpmul(&mut self, operands: operands::Sfpmul, work: Work<'_, '_>) -> Outcome {
        self.file.multiply_and_add(operands.instr_mod1, work.registers);
        Ok(())
    }

    fn sfpmul24(&mut self, operands: operands::Sfpmul24, work: Work<'_, '_>) -> Outcome {
        self.file.multiply24(operands.instr_mod1, work.registers);
        Ok(())
    }

    fn sfpmuli(&mut self, operands: operands::Sfpmuli, work: Work<'_, '_>) -> Outcome {
        self.file.with_immediate(operands, false, work.registers);
        Ok(())
    }

    fn sfpaddi(&mut self, operands: operands::Sfpaddi, work: Work<'_, '_>) -> Outcome {
        self.file.with_immediate(operands, true, work.registers);
        Ok(())
    }

    fn sfplut(&mut self, operands: operands::Sfplut, work: Work<'_, '_>) -> Outcome {
        self.file.lut(operands.instr_mod0, work.registers);
        Ok(())
    }

    fn sfplutfp32(&mut self, operands: operands::Sfplutfp32, work: Work<'_, '_>) -> Outcome {
        self.file.lut_fp32(operands.instr_mod1, work.registers);
        Ok(())
    }

    fn sfpabs(&mut self, operands: operands::Sfpabs, work: Work<'_, '_>) -> Outcome {
        let as_float = operands.instr_mod1 & 1 != 0;
        self.file.lanewise(work.registers, |_, c| simple::absolute(as_float, c))
    }

    fn sfpand(&mut self, _: operands::Sfpand, work: Work<'_, '_>) -> Outcome {
        self.file.lanewise(work.registers, |b, c| b & c)
    }

    fn sfpor(&mut self, _: operands::Sfpor, work: Work<'_, '_>) -> Outcome {
        self.file.lanewise(work.registers, |b, c| b | c)
    }

    fn sfpxor(&mut self, _: operands::Sfpxor, work: Work<'_, '_>) -> Outcome {
        self.file.lanewise(work.registers, |b, c| b ^ c)
    }

    fn sfpnot(&mut self, _: operands::Sfpnot, work: Work<'_, '_>) -> Outcome {
        self.file.lanewise(work.registers, |_, c| !c)
    }

    fn sfparecip(&mut self, operands: operands::Sfparecip, work: Work<'_, '_>) -> Outcome {
        self.file.lanewise(work.registers, |b, c| simple::approximate(operands.instr_mod1, b, c))
    }

    fn sfpdivp2(&mut self, operands: operands::Sfpdivp2, work: Work<'_, '_>) -> Outcome {
        let (adds, imm) = (operands.instr_mod1 & 1 != 0, operands.imm12_math);
        self.file.lanewise(work.registers, |_, c| simple::divide_power2(adds, imm, c))
    }

    fn sfpexman(&mut self, operands: operands::Sfpexman, work: Work<'_, '_>) -> Outcome {
        let bare = operands.instr_mod1 & 1 != 0;
        self.file.lanewise(work.registers, |_, c| simple::mantissa(bare, c))
    }

    fn sfpsetexp(&mut self, operands: operands::Sfpsetexp, work: Work<'_, '_>) -> Outcome {
        let (mod1, imm) = (operands.instr_mod1, operands.imm12_math);
        self.file.lanewise(work.registers, |b, c| simple::set_exponent(mod1, imm, b, c))
    }

    fn sfpsetman(&mut self, operands: operands::Sfpsetman, work: Work<'_, '_>) -> Outcome {
        let (mod1, imm) = (operands.instr_mod1, operands.imm12_math);
        self.file.lanewise(work.registers, |b, c| simple::set_mantissa(mod1, imm, b, c))
    }

    fn sfpsetsgn(&mut self, operands: operands::Sfpsetsgn, work: Work<'_, '_>) -> Outcome {
        let (mod1, imm) = (operands.instr_mod1, u32::from(operands.imm12_math));
        self.file.lanewise(work.registers, |b, c| simple::set_sign(mod1, imm, b, c))
    }

    fn sfpshft(&mut self, operands: operands::Sfpshft, work: Work<'_, '_>) -> Outcome {
        let (mod1, imm) = (operands.instr_mod1, ops::signed12(operands.imm12_math));
        self.file.lanewise(work.registers, |b, c| simple::shift_any(mod1, imm, b, c))
    }

    /// Silicon ignores the upper bits of the mode.
    fn sfpcast(&mut self, operands: operands::Sfpcast, work: Work<'_, '_>) -> Outcome {
        match operands.instr_mod1 & 3 {
            0 => self.file.lanewise(work.registers, |_, c| simple::to_float_nearest(c)),
            1 => {
                let set = self.file.active_set(work.registers);
                let random = self.file.random(set);
                let c = self.file.operand(work.registers.vc);
                let result =
                    std::array::from_fn(|lane| simple::to_float_stochastic(c[lane], random[lane]));
                self.file.write(work.registers.vd, set, &result);
                Ok(())
            }
            2 => self.file.lanewise(work.registers, |_, c| simple::absolute(false, c)),
            _ => self.file.lanewise(work.registers, |_, c| simple::flip_representation(c)),
        }
    }

    /// It steps the generators in every mode.
    fn sfp_stoch_rnd(&mut self, operands: operands::SfpStochRnd, work: Work<'_, '_>) -> Outcome {
        let operands::SfpStochRnd { conversion, use_imm, imm8_math: imm, rnd_mode, .. } = operands;
        let set = self.file.active_set(work.registers);
        let random = self.file.random(set);
        let (b, c) = (self.file.operand(work.registers.vb), self.file.operand(work.registers.vc));
        let thresholds = random.map(|random| round::threshold(rnd_mode, random));
        let immediates = [imm; LANES];
        let by = if use_imm { &immediates } else { b };
        let result = round::convert(conversion, by, &thresholds, c);
        self.file.write(work.registers.vd, set, &result);
        Ok(())
    }

    fn sfpmov(&mut self, operands: operands::Sfpmov, work: Work<'_, '_>) -> Outcome {
        let mod1 = operands.instr_mod1;
        let active = self.file.active(work.registers);
        let set = if mod1 == 2 { active } else { active & self.file.enabled() };
        if mod1 & 8 != 0 {
            let value = self.file.special(work.registers.vc, set);
            self.file.write(work.registers.vd, set, &value);
        } else {
            let negate = (mod1 & 1) << 31;
            self.file.map(work.registers, set, |_, c| c ^ negate);
        }
        Ok(())
    }

    fn sfpexexp(&mut self, operands: operands::Sfpexexp, work: Work<'_, '_>) -> Outcome {
        let mod1 = operands.instr_mod1;
        let set = self.file.active_set(work.registers);
        let result =
            self.file.operand(work.registers.vc).map(|c| simple::exponent(mod1 & 1 != 0, c));
        let flags = (mod1 & 2 != 0).then(|| lanes_where(&result, is_negative));
        self.file.with_flags(work.registers, set, (&result, flags), mod1 & 8 != 0)
    }

    fn sfpiadd(&mut self, operands: operands::Sfpiadd, work: Work<'_, '_>) -> Outcome {
        let (mod1, imm) = (operands.instr_mod1, ops::signed12(operands.imm12_math));
        let set = self.file.active_set(work.registers);
        let (b, c) = (self.file.operand(work.registers.vb), self.file.operand(work.registers.vc));
        let result = std::array::from_fn(|lane| simple::add_integer(mod1, imm, b[lane], c[lane]));
        let flags = (mod1 & 4 == 0).then(|| lanes_where(&result, is_negative));
        self.file.with_flags(work.registers, set, (&result, flags), mod1 & 8 != 0)
    }

    fn sfplz(&mut self, operands: operands::Sfplz, work: Work<'_, '_>) -> Outcome {
        let mod1 = operands.instr_mod1;
        let set = self.file.active_set(work.registers);
        let mask = if mod1 & 4 != 0 { !SIGN } else { u32::MAX };
        let c = self.file.operand(work.registers.vc).map(|c| c & mask);
        let flags = (mod1 & 2 != 0).then(|| lanes_where(&c, |c| c != 0));
        let result = c.map(u32::leading_zeros);
        self.file.with_flags(work.registers, set, (&result, flags), mod1 & 8 != 0)
    }

    fn sfple(&mut self, operands: operands::Sfple, work: Work<'_, '_>) -> Outcome {
        self.file.compare(operands, work.registers, false)
    }

    fn sfpgt(&mut self, operands: operands::Sfpgt, work: Work<'_, '_>) -> Outcome {
        self.file.compare(operands, work.registers, true)
    }

    fn sfpencc(&mut self, operands: operands::Sfpencc, work: Work<'_, '_>) -> Outcome {
        let active = self.file.active(work.registers);
        self.file.predicate.encc(active, operands.instr_mod1, operands.imm12_math);
        Ok(())
    }

    fn sfpsetcc(&mut self, operands: operands::Sfpsetcc, work: Work<'_, '_>) -> Outcome {
        let active = self.file.active(work.registers);
        let value = self.file.condition(operands, work.registers);
        self.file.predicate.setcc(active & self.file.enabled(), value);
        Ok(())
    }

    fn sfpcompc(&mut self, _: operands::Sfpcompc, work: Work<'_, '_>) -> Outcome {
        let active = self.file.active(work.registers);
        self.file.predicate.compc(active);
        Ok(())
    }

    fn sfppushc(&mut self, operands: operands::Sfppushc, work: Work<'_, '_>) -> Outcome {
        let mod1 = operands.instr_mod1;
        let active = self.file.active(work.registers);
        if self.file.predicate.pushc(active, mod1) {
            return Ok(());
        }
        // In every other mode it changes the top of the stack.
        let state = if mod1 == 0 { "full" } else { "empty" };
        Err(flag_stack(work.issued, "SFPPUSHC", mod1, state))
    }

    fn sfppopc(&mut self, operands: operands::Sfppopc, work: Work<'_, '_>) -> Outcome {
        let mod1 = operands.instr_mod1;
        let active = self.file.active(work.registers);
        if self.file.predicate.popc(active, mod1) {
            return Ok(());
        }
        Err(flag_stack(work.issued, "SFPPOPC", mod1, "empty"))
    }

    fn sfpswap(&mut self, operands: operands::Sfpswap, work: Work<'_, '_>) -> Outcome {
        let set = self.file.active_set(work.registers);
        self.file.swap(operands.instr_mod1, work.registers, set);
        Ok(())
    }

    fn sfptransp(&mut self, _: operands::Sfptransp, work: Work<'_, '_>) -> Outcome {
        let set = self.file.active_set(work.registers);
        self.file.transpose(0, set);
        self.file.transpose(4, set);
        Ok(())
    }

    fn sfpshft2(&mut self, operands: operands::Sfpshft2, work: Work<'_, '_>) -> Outcome {
        let set = self.file.active_set(work.registers);
        self.file.shift_lanes(operands, work.registers, set, work.issued)
    }
}
