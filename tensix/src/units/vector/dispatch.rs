//! One arm per opcode, and how the lanes of a result come about.

use super::{Fault, Issued, LANES, LReg, Operands, VectorUnit, ops, round, simple};
use crate::checks::Check;
use isa::op::Opcode;

const SIGN: u32 = 0x8000_0000;

/// Lanes for which `holds` is true of the lane's value.
pub(super) fn lanes_where(values: &LReg, holds: impl Fn(u32) -> bool) -> u32 {
    let mut set = 0;
    for (lane, &value) in values.iter().enumerate() {
        set |= u32::from(holds(value)) << lane;
    }
    set
}

impl VectorUnit {
    /// Executes any instruction but SFPLOAD, SFPSTORE and SFPLOADMACRO.
    ///
    /// # Errors
    /// `UndefinedBehavior` where the page of the instruction says so.
    #[inline]
    pub(super) fn execute(
        &mut self,
        opcode: Opcode,
        operands: &Operands,
        issued: &Issued,
    ) -> Result<(), Fault> {
        if opcode == Opcode::Sfpconfig {
            return self.sfpconfig(operands, issued);
        }
        if opcode == Opcode::Sfpnop {
            return Ok(());
        }
        if opcode == Opcode::Sfploadi && !ops::is_load_mode(operands.mod0()) {
            return Err(issued
                .error(Check::SfploadiMode, format!("SFPLOADI with mode {}", operands.mod0())));
        }
        let active = self.active(operands);
        let set = active & self.enabled();
        match SubUnitWork::of(opcode) {
            SubUnitWork::Mad => self.mad(opcode, operands, set),
            SubUnitWork::Predicate => return self.predication(opcode, operands, active, issued),
            SubUnitWork::Lanes => self.lanewise(opcode, operands, active, set),
            SubUnitWork::Other => return self.other(opcode, operands, active, set, issued),
        }
        Ok(())
    }

    /// A result of one or two operands per lane.
    #[inline]
    pub(super) fn map(
        &mut self,
        operands: &Operands,
        set: u32,
        function: impl Fn(u32, u32) -> u32,
    ) {
        let (b, c) = (self.operand(operands.vb), self.operand(operands.vc));
        let mut result = [0; LANES];
        for lane in 0..LANES {
            result[lane] = function(b[lane], c[lane]);
        }
        self.write(operands.vd, set, &result);
    }

    /// Instructions of the simple and round sub-units that compute each lane from its own values.
    fn lanewise(&mut self, opcode: Opcode, operands: &Operands, active: u32, set: u32) {
        let (mod1, imm) = (operands.mod1(), operands.imm12());
        let (ops, bit0) = (operands, mod1 & 1 != 0);
        match opcode {
            Opcode::Sfploadi => {
                let (mode, imm) = (operands.mod0(), operands.word as u16);
                self.map(ops, set, |b, _| ops::load_immediate(mode, imm, b));
            }
            Opcode::Sfpabs => self.map(ops, set, |_, c| simple::absolute(bit0, c)),
            Opcode::Sfpand => self.map(ops, set, |b, c| b & c),
            Opcode::Sfpor => self.map(ops, set, |b, c| b | c),
            Opcode::Sfpxor => self.map(ops, set, |b, c| b ^ c),
            Opcode::Sfpnot => self.map(ops, set, |_, c| !c),
            Opcode::Sfparecip => self.map(ops, set, |b, c| simple::approximate(mod1, b, c)),
            Opcode::Sfpdivp2 => {
                self.map(ops, set, |_, c| simple::divide_power2(bit0, imm & 0xFF, c));
            }
            Opcode::Sfpexman => self.map(ops, set, |_, c| simple::mantissa(bit0, c)),
            Opcode::Sfpsetexp => self.map(ops, set, |b, c| simple::set_exponent(mod1, imm, b, c)),
            Opcode::Sfpsetman => self.map(ops, set, |b, c| simple::set_mantissa(mod1, imm, b, c)),
            Opcode::Sfpsetsgn => self.map(ops, set, |b, c| simple::set_sign(mod1, imm, b, c)),
            Opcode::Sfpshft => self.map(ops, set, |b, c| simple::shift_any(mod1, imm, b, c)),
            Opcode::Sfpcast => self.sfpcast(operands, set),
            Opcode::SfpStochRnd => self.sfp_stoch_rnd(operands, set),
            Opcode::Sfpmov => self.sfpmov(operands, active, set),
            Opcode::Sfpexexp | Opcode::Sfpiadd | Opcode::Sfplz => {
                self.with_flags(opcode, operands, set);
            }
            _ => self.compare(opcode, operands, active, set),
        }
    }

    /// SFPEXEXP, SFPIADD and SFPLZ: a result, and flags unless the result has no register.
    fn with_flags(&mut self, opcode: Opcode, operands: &Operands, set: u32) {
        let (mod1, imm) = (operands.mod1(), operands.imm12());
        let (b, c) = (*self.operand(operands.vb), *self.operand(operands.vc));
        let is_negative = |value: u32| value & SIGN != 0;
        let (result, flags) = match opcode {
            Opcode::Sfpexexp => {
                let result = c.map(|c| simple::exponent(mod1 & 1 != 0, c));
                (result, (mod1 & 2 != 0).then(|| lanes_where(&result, is_negative)))
            }
            Opcode::Sfpiadd => {
                let result =
                    std::array::from_fn(|lane| simple::add_integer(mod1, imm, b[lane], c[lane]));
                (result, (mod1 & 4 == 0).then(|| lanes_where(&result, is_negative)))
            }
            _ => {
                let mask = if mod1 & 4 != 0 { !SIGN } else { u32::MAX };
                let flags = (mod1 & 2 != 0).then(|| lanes_where(&c, |c| c & mask != 0));
                (c.map(|c| (c & mask).leading_zeros()), flags)
            }
        };
        self.write(operands.vd, set, &result);
        if operands.vd < 8 {
            let flags = flags.unwrap_or(self.predicate.flags);
            let invert = if mod1 & 8 != 0 { u32::MAX } else { 0 };
            self.predicate.set_flags(set, flags ^ invert);
        }
    }

    /// SFPLE and SFPGT: to the register, the flags and the top of the stack, as the mode says.
    fn compare(&mut self, opcode: Opcode, operands: &Operands, active: u32, set: u32) {
        let (b, c) = (self.operand(operands.vb), self.operand(operands.vc));
        let mut greater = 0;
        for lane in 0..LANES {
            greater |= u32::from(simple::is_smaller(c[lane], b[lane])) << lane;
        }
        let holds = if opcode == Opcode::Sfpgt { greater } else { !greater };
        let mod1 = operands.mod1();
        if mod1 & 8 != 0 {
            let result = std::array::from_fn(|lane| (holds >> lane & 1).wrapping_neg());
            self.write(operands.vd, set, &result);
        }
        if mod1 & 1 != 0 {
            self.predicate.set_flags(set, holds);
        }
        if mod1 & 2 != 0 {
            self.predicate.mutate_top(active, mod1 & 4 != 0, holds);
        }
    }

    /// SFPCAST; silicon ignores the upper bits of the mode.
    fn sfpcast(&mut self, operands: &Operands, set: u32) {
        match operands.mod1() & 3 {
            0 => self.map(operands, set, |_, c| simple::to_float_nearest(c)),
            1 => {
                let random = self.random(set);
                let c = self.operand(operands.vc);
                let result =
                    std::array::from_fn(|lane| simple::to_float_stochastic(c[lane], random[lane]));
                self.write(operands.vd, set, &result);
            }
            2 => self.map(operands, set, |_, c| simple::absolute(false, c)),
            _ => self.map(operands, set, |_, c| simple::flip_representation(c)),
        }
    }

    /// SFP_STOCH_RND steps the generators in every mode.
    fn sfp_stoch_rnd(&mut self, operands: &Operands, set: u32) {
        let (mode, rounding) = (operands.word & 7, operands.word >> 21 & 3);
        let random = self.random(set);
        let (b, c) = (self.operand(operands.vb), self.operand(operands.vc));
        let imm = operands.word >> 16 & 0x1F;
        let result = std::array::from_fn(|lane| {
            let by = if operands.word & 8 != 0 { imm } else { b[lane] };
            round::convert(mode, by, round::threshold(rounding, random[lane]), c[lane])
        });
        self.write(operands.vd, set, &result);
    }

    fn sfpmov(&mut self, operands: &Operands, active: u32, set: u32) {
        let mod1 = operands.mod1();
        let set = if mod1 == 2 { active } else { set };
        if mod1 & 8 != 0 {
            let value = self.special(operands.vc, set);
            return self.write(operands.vd, set, &value);
        }
        let negate = (mod1 & 1) << 31;
        self.map(operands, set, |_, c| c ^ negate);
    }

    /// SFPENCC, SFPSETCC, SFPCOMPC, SFPPUSHC and SFPPOPC.
    fn predication(
        &mut self,
        opcode: Opcode,
        operands: &Operands,
        active: u32,
        issued: &Issued,
    ) -> Result<(), Fault> {
        let mod1 = operands.mod1();
        let allowed = match opcode {
            Opcode::Sfpencc => {
                self.predicate.encc(active, mod1, operands.word >> 12 & 3);
                true
            }
            Opcode::Sfpcompc => {
                self.predicate.compc(active);
                true
            }
            Opcode::Sfppushc => self.predicate.pushc(active, mod1),
            Opcode::Sfppopc => self.predicate.popc(active, mod1),
            _ => {
                let value = self.sfpsetcc(operands);
                self.predicate.setcc(active & self.enabled(), value);
                true
            }
        };
        if allowed {
            return Ok(());
        }
        let full = opcode == Opcode::Sfppushc && mod1 == 0;
        Err(issued.error(
            Check::SfpuFlagStack,
            format!(
                "{} with mode {mod1} while the flag stack of a lane is {}",
                opcode.mnemonic(),
                if full { "full" } else { "empty" }
            ),
        ))
    }

    /// Lanes for which SFPSETCC's condition holds.
    fn sfpsetcc(&self, operands: &Operands) -> u32 {
        let c = self.operand(operands.vc);
        match operands.mod1() {
            mod1 if mod1 & 8 != 0 => 0,
            mod1 if mod1 & 1 != 0 => (operands.word >> 12 & 1).wrapping_neg(),
            0 => lanes_where(c, |c| c & SIGN != 0),
            2 => lanes_where(c, |c| c != 0),
            4 => lanes_where(c, |c| c & SIGN == 0),
            _ => lanes_where(c, |c| c == 0),
        }
    }

    /// Instructions that exchange registers or lanes.
    fn other(
        &mut self,
        opcode: Opcode,
        operands: &Operands,
        active: u32,
        set: u32,
        issued: &Issued,
    ) -> Result<(), Fault> {
        match opcode {
            Opcode::Sfpswap => self.sfpswap(operands, set),
            Opcode::Sfptransp => {
                self.transpose(0, set);
                self.transpose(4, set);
            }
            _ => return self.sfpshft2(operands, active & set, issued),
        }
        Ok(())
    }
}

/// How an instruction computes.
enum SubUnitWork {
    Mad,
    Predicate,
    Lanes,
    Other,
}

impl SubUnitWork {
    const fn of(opcode: Opcode) -> Self {
        match opcode {
            Opcode::Sfpmad
            | Opcode::Sfpadd
            | Opcode::Sfpmul
            | Opcode::Sfpmul24
            | Opcode::Sfpmuli
            | Opcode::Sfpaddi
            | Opcode::Sfplut
            | Opcode::Sfplutfp32 => Self::Mad,
            Opcode::Sfpencc
            | Opcode::Sfpsetcc
            | Opcode::Sfpcompc
            | Opcode::Sfppushc
            | Opcode::Sfppopc => Self::Predicate,
            Opcode::Sfpswap | Opcode::Sfptransp | Opcode::Sfpshft2 => Self::Other,
            _ => Self::Lanes,
        }
    }
}
