//! Vector registers that are written late, and what the hardware knows of who reads them.
//!
//! Results of the MAD sub-unit are there after two cycles. The stall logic holds an instruction back that reads one in
//! the next cycle, but for the cases that it misses `[isa-bh: TensixCoprocessor/SFPMAD.md]`.

use crate::op::{Bits, Opcode, SubUnit};
use crate::operands::{Bitwise, DstTransfer, Mad, Sfpconfig, Sfpshft2};

/// The register that a field names, as a mask.
const fn lreg(field: Bits, word: u32) -> u32 {
    1 << field.get(word)
}

/// Registers that are written a cycle late, as far as the stall logic knows: those of the MAD
/// sub-unit.
#[must_use]
pub fn late_results(opcode: Opcode, word: u32) -> u32 {
    let row = opcode.row();
    match opcode {
        // SFPMAD_MOD1_INDIRECT_VD, of the other two as well.
        Opcode::Sfpmad | Opcode::Sfpadd | Opcode::Sfpmul if Mad::of(word).instr_mod1 & 8 != 0 => {
            0xFFFF
        }
        _ if row.sub_unit == SubUnit::Mad => row.lregs.vd.map_or(0, |vd| lreg(vd, word)),
        _ => 0,
    }
}

/// Registers that the stall logic takes an instruction to read: not what it misses.
#[must_use]
pub const fn known_reads(opcode: Opcode, word: u32) -> u32 {
    let (vd, vc) = (lreg(Mad::LREG_DEST, word), lreg(Mad::LREG_SRC_C, word));
    let (vb, va) = (lreg(Mad::LREG_SRC_B, word), lreg(Mad::LREG_SRC_A, word));
    let mode = Mad::of(word).instr_mod1;
    match opcode {
        Opcode::Sfpmad | Opcode::Sfpadd | Opcode::Sfpmul if mode & 4 != 0 => 0xFFFF,
        Opcode::Sfpmad | Opcode::Sfpadd | Opcode::Sfpmul => va | vb | vc,
        Opcode::Sfpmul24 => va | vb,
        Opcode::Sfpmuli | Opcode::Sfpaddi => vd,
        Opcode::Sfplut => 0x0F,
        Opcode::Sfplutfp32 => 0x7F,
        Opcode::Sfpstore => lreg(DstTransfer::LREG_IND, word),
        Opcode::Sfptransp => 0xFF,
        // Bugs of the logic: VD of SFPIADD and SFPSHFT, anything of SFPCONFIG, of SFPSWAP except
        // in mode 0, and of SFPSHFT2 in modes 2 to 4; VB of modes 5 and 6.
        Opcode::Sfpiadd | Opcode::Sfpshft => vc,
        Opcode::Sfpswap if mode == 0 => vc | vd,
        Opcode::Sfpshft2 => match mode {
            0 | 1 => 0x0F,
            5 | 6 => vd,
            _ => 0,
        },
        Opcode::Sfpconfig
        | Opcode::Sfpswap
        | Opcode::Sfpload
        | Opcode::Sfploadi
        | Opcode::Sfploadmacro
        | Opcode::Sfpnop
        | Opcode::Sfpencc
        | Opcode::Sfppushc
        | Opcode::Sfppopc
        | Opcode::Sfpcompc => 0,
        Opcode::SfpStochRnd => vb | vc,
        // SFPAND and SFPOR with VB are taken to read VD all the same.
        Opcode::Sfpand
        | Opcode::Sfpor
        | Opcode::Sfpxor
        | Opcode::Sfpsetexp
        | Opcode::Sfpsetman
        | Opcode::Sfpsetsgn
        | Opcode::Sfple
        | Opcode::Sfpgt => vc | vd,
        _ => vc,
    }
}

/// Registers that an instruction reads and the stall logic does not know of: in the cycle behind the one that writes
/// them late it finds what was there before.
#[must_use]
pub fn missed_reads(opcode: Opcode, word: u32) -> u32 {
    let (vd, vc) = (lreg(Mad::LREG_DEST, word), lreg(Mad::LREG_SRC_C, word));
    let mode = Mad::of(word).instr_mod1;
    let read = match opcode {
        Opcode::Sfpand | Opcode::Sfpor if Bitwise::of(word).use_vb => {
            lreg(Bitwise::IMM12_MATH, word)
        }
        // With SFPIADD_MOD1_ARG_IMM the second operand is an immediate.
        Opcode::Sfpiadd if mode & 1 == 0 => vd,
        // With both SFPSHFT_MOD1_ARG_IMM and ARG_IMM_USE_VC, VC is what is shifted.
        Opcode::Sfpshft if mode & 5 != 5 => vd,
        // Where the value is no immediate, and templates of instructions, for which those have no room.
        Opcode::Sfpconfig if mode & 1 == 0 || Sfpconfig::of(word).config_dest < 4 => 1,
        Opcode::Sfpswap if mode != 0 => vc | vd,
        Opcode::Sfpshft2 => match mode {
            2 => 0b1110 | vc,
            3 | 4 => vc,
            5 | 6 => lreg(Sfpshft2::LREG_B, word),
            _ => 0,
        },
        _ => 0,
    };
    read & !known_reads(opcode, word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode;

    fn missed(word: u32) -> u32 {
        let opcode = Opcode::from_word(word).expect("an instruction");
        missed_reads(opcode, word)
    }

    #[test]
    fn register_that_is_read_twice_is_known_if_one_of_the_reads_is() {
        // SFPAND with VB is taken to read VD: here it is the same register.
        assert_eq!(missed(encode::sfpand(1, 5, 6, 7)), 1 << 7);
        assert_eq!(missed(encode::sfpand(1, 5, 6, 5)), 0);
        assert_eq!(missed(encode::sfpand(0, 5, 6, 7)), 0);
    }

    #[test]
    fn operands_that_are_no_registers_are_not_read() {
        assert_eq!(missed(encode::sfpiadd(0, 5, 3, 0)), 1 << 5);
        assert_eq!(missed(encode::sfpiadd(1, 5, 3, 7)), 0);
        assert_eq!(missed(encode::sfpshft(1, 5, 3, 7)), 1 << 5);
        assert_eq!(missed(encode::sfpshft(5, 5, 3, 7)), 0);
        assert_eq!(missed(encode::sfpconfig(0, 15, 0)), 1);
        assert_eq!(missed(encode::sfpconfig(1, 15, 0)), 0);
        assert_eq!(missed(encode::sfpconfig(1, 2, 0)), 1);
        assert_eq!(missed(encode::sfpswap(0, 2, 3, 0)), 0);
        assert_eq!(missed(encode::sfpswap(1, 2, 3, 0)), 0b1100);
    }
}
