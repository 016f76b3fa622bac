//! Operand fields of a vector instruction, and which sub-unit executes it.
//!
//! Most instructions have Mod1, VD, VC and either VB or an immediate. Where an instruction reads
//! its destination as a second operand, the pages say `VB = VD` (or `VC = VD`); that is resolved
//! here, because SFPLOADMACRO overrides the fields separately
//! `[isa-bh: TensixCoprocessor/SFPLOADMACRO.md]`.

use isa::op::Opcode;

/// Register that only instructions scheduled by SFPLOADMACRO can name.
pub(super) const BONUS_LREG: u8 = 16;

/// Parts of the vector unit that can work at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum SubUnit {
    Simple,
    Mad,
    Round,
    Store,
    Load,
}

impl SubUnit {
    /// The four that SFPLOADMACRO schedules for, in the order of the sequence's bytes.
    pub(super) const SCHEDULED: [Self; 4] = [Self::Simple, Self::Mad, Self::Round, Self::Store];

    /// The sub-unit that executes an instruction which software issues.
    pub(super) const fn of(opcode: Opcode) -> Self {
        match opcode {
            Opcode::Sfpload | Opcode::Sfploadi | Opcode::Sfploadmacro | Opcode::Sfpnop => {
                Self::Load
            }
            Opcode::Sfpadd
            | Opcode::Sfpaddi
            | Opcode::Sfplut
            | Opcode::Sfplutfp32
            | Opcode::Sfpmad
            | Opcode::Sfpmul
            | Opcode::Sfpmuli
            | Opcode::Sfpmul24 => Self::Mad,
            Opcode::Sfpshft2 | Opcode::SfpStochRnd => Self::Round,
            Opcode::Sfpstore => Self::Store,
            _ => Self::Simple,
        }
    }

    /// Whether a scheduled instruction can run here; every sub-unit but Store takes SFPNOP.
    pub(super) fn takes(self, opcode: Opcode) -> bool {
        if opcode == Opcode::Sfpnop { self != Self::Store } else { Self::of(opcode) == self }
    }
}

/// Operands of one instruction. Register numbers are 0 to 15; `vd` may also be [`BONUS_LREG`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operands {
    pub(super) word: u32,
    pub(super) vd: u8,
    pub(super) va: u8,
    pub(super) vb: u8,
    pub(super) vc: u8,
    /// Executed on behalf of SFPLOADMACRO: no template writes.
    pub(super) scheduled: bool,
}

/// Which of VB and VC are fields of the instruction.
const fn has_fields(opcode: Opcode, word: u32) -> (bool, bool) {
    match opcode {
        Opcode::Sfpmad
        | Opcode::Sfpadd
        | Opcode::Sfpmul
        | Opcode::Sfpmul24
        | Opcode::Sfparecip
        | Opcode::SfpStochRnd
        | Opcode::Sfpshft2 => (true, true),
        // SFPAND_MOD1_USE_VB, SFPOR_MOD1_USE_VB.
        Opcode::Sfpand | Opcode::Sfpor => (word & 1 != 0, true),
        Opcode::Sfpaddi | Opcode::Sfpmuli | Opcode::Sfplut | Opcode::Sfplutfp32 => (false, false),
        _ => (false, true),
    }
}

const fn nibble(word: u32, lo: u32) -> u8 {
    (word >> lo & 0xF) as u8
}

impl Operands {
    /// Fields of an instruction as software issues it.
    #[inline]
    pub(super) const fn parse(opcode: Opcode, word: u32) -> Self {
        let vd = match opcode {
            Opcode::Sfpload | Opcode::Sfpstore | Opcode::Sfploadi | Opcode::Sfplut => {
                nibble(word, 20)
            }
            Opcode::Sfploadmacro => (word >> 20 & 3 | (word & 1) << 2) as u8,
            _ => nibble(word, 4),
        };
        let (has_vb, has_vc) = has_fields(opcode, word);
        Self {
            word,
            vd,
            va: nibble(word, 16),
            vb: if has_vb { nibble(word, 12) } else { vd },
            vc: if has_vc { nibble(word, 8) } else { vd },
            scheduled: false,
        }
    }

    /// Fields of a template for Simple, Mad or Round: `loaded` is SFPLOADMACRO's register. It
    /// replaces one source, VB or VC, and the destination, unless that is [`BONUS_LREG`]; a source
    /// that is no field is what the template's VD was.
    pub(super) const fn scheduled(opcode: Opcode, word: u32, sequence: u32, loaded: u8) -> Self {
        let mut operands = Self::parse(opcode, word);
        if sequence & 0x80 != 0 {
            operands.vb = loaded;
        } else {
            operands.vc = loaded;
        }
        operands.vd = if sequence & 0x40 != 0 { BONUS_LREG } else { loaded };
        operands.scheduled = true;
        operands
    }

    /// Mode of every instruction whose fields begin with Mod1.
    pub(super) const fn mod1(&self) -> u32 {
        self.word & 0xF
    }

    /// Mode of SFPLOAD, SFPSTORE, SFPLOADMACRO, SFPLOADI and SFPLUT.
    pub(super) const fn mod0(&self) -> u32 {
        self.word >> 16 & 0xF
    }

    /// Twelve-bit immediate, sign-extended.
    pub(super) const fn imm12(&self) -> u32 {
        ((self.word << 8).cast_signed() >> 20).cast_unsigned()
    }

    /// SFPADDI's and SFPMULI's BF16 as FP32.
    pub(super) const fn imm_float(&self) -> u32 {
        self.word << 8 & 0xFFFF_0000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destination_is_the_second_source_where_the_page_says_so() {
        // [isa-wh: SFPIADD.md] VB = VD; [isa-bh: SFPADDI.md] VC = VD; SFPAND only without USE_VB.
        let iadd = Operands::parse(Opcode::Sfpiadd, isa::encode::sfpiadd(0, 3, 5, 0xFFF));
        assert_eq!((iadd.vd, iadd.vb, iadd.vc, iadd.imm12()), (3, 3, 5, u32::MAX));
        let addi = Operands::parse(Opcode::Sfpaddi, isa::encode::sfpaddi(0, 3, 0x3F80));
        assert_eq!((addi.vc, addi.imm_float()), (3, 0x3F80_0000));
        let and = |mod1| Operands::parse(Opcode::Sfpand, isa::encode::sfpand(mod1, 3, 5, 7));
        assert_eq!((and(0).vb, and(1).vb), (3, 7));
    }

    #[test]
    fn macro_overrides_one_source_and_the_destination() {
        // [isa-bh: SFPLOADMACRO.md]: bit 7 chooses VB, bit 6 the bonus register.
        let mad = isa::encode::sfpmad(0, 1, 2, 3, 4);
        let plain = Operands::scheduled(Opcode::Sfpmad, mad, 0, 6);
        assert_eq!((plain.vd, plain.va, plain.vb, plain.vc), (6, 4, 3, 6));
        let other = Operands::scheduled(Opcode::Sfpmad, mad, 0xC0, 6);
        assert_eq!((other.vd, other.vb, other.vc), (BONUS_LREG, 6, 2));
        // SFPMULI has no source field: the one not replaced is the template's VD.
        let muli = isa::encode::sfpmuli(0, 1, 0);
        assert_eq!(Operands::scheduled(Opcode::Sfpmuli, muli, 0x80, 6).vc, 1);
    }
}
