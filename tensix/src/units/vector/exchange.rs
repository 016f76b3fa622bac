//! Instructions that move values between registers and lanes: SFPSWAP, SFPTRANSP, SFPSHFT2.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPSWAP.md]`, `SFPSHFT2.md`,
//! `[isa-wh: TensixCoprocessor/SFPTRANSP.md]`.

use isa::operands::Sfpshft2;

use super::predicate::merge;
use super::{Fault, Issued, LANES, LReg, Operands, RegisterFile, ops, simple};
use crate::checks::Check;

impl RegisterFile {
    /// SFPSWAP. The second value is VB, which is VD but where SFPLOADMACRO has set them apart; what it gives for VC and
    /// for VD then goes to one register, of which VC's stays `[unknown: U-086]`.
    pub(super) fn swap(&mut self, mod1: u32, registers: &Operands, set: u32) {
        let (vc, vd) = (registers.vc, registers.vd);
        let (c, d) = (*self.operand(vc), *self.operand(registers.vb));
        let mut swap = u32::MAX;
        if mod1 != 0 {
            let smaller = simple::smaller_lanes(&c, &d);
            swap = merge(!smaller, minimum_lanes(mod1), smaller) ^ self.sets().exchange;
        }
        let swap = swap & set;
        let indexed = swap & self.sets().dest_index;
        let plain = swap & !indexed;
        // With indices, only registers 0 to 3 hold values; 4 to 7 hold their indices.
        let values = |register: u8| if register < 4 { swap } else { plain };
        self.write(vd, values(vd), &c);
        self.write(vc, values(vc), &d);
        if indexed != 0 {
            let (vc, vd) = (4 + (vc & 3), 4 + (vd & 3));
            let (c, d) = (*self.operand(vc), *self.operand(vd));
            self.write(vc, indexed, &d);
            self.write(vd, indexed, &c);
        }
    }

    /// SFPTRANSP of four registers: exchanges rows of lanes with registers.
    pub(super) fn transpose(&mut self, base: u8, set: u32) {
        let old: [LReg; 4] = [0, 1, 2, 3].map(|index| *self.operand(base + index));
        for register in 0..4 {
            let result = std::array::from_fn(|lane| old[lane / 8][register * 8 + lane % 8]);
            self.write(base + register as u8, set, &result);
        }
    }

    pub(super) fn shift_lanes(
        &mut self,
        operands: Sfpshft2,
        registers: &Operands,
        set: u32,
        issued: &Issued,
    ) -> Result<(), Fault> {
        let c = *self.operand(registers.vc);
        let rotated = std::array::from_fn(|lane| c[lane & !7 | (lane + 7) & 7]);
        match operands.instr_mod1 {
            0 => self.copy4(set, &[0; LANES]),
            1 => {
                let first = *self.operand(0);
                let last = std::array::from_fn(|lane| first.get(lane + 8).copied().unwrap_or(0));
                self.copy4(set, &last);
            }
            2 => self.copy4(set, &rotated),
            3 => self.write(registers.vd, set, &rotated),
            4 => {
                let shifted =
                    std::array::from_fn(|lane| if lane & 7 == 0 { 0 } else { c[lane - 1] });
                self.write(registers.vd, set, &shifted);
            }
            5 => self.map(registers, set, |b, c| simple::shift(false, b, c)),
            6 => {
                let imm = ops::signed12(operands.imm12_math);
                self.map(registers, set, |b, _| simple::shift(false, b, imm));
            }
            mode => {
                return Err(issued.error(Check::Sfpshft2Mode, format!("SFPSHFT2 with mode {mode}")));
            }
        }
        Ok(())
    }

    /// L0 to L2 take the next register's value, L3 takes `last`.
    fn copy4(&mut self, set: u32, last: &LReg) {
        let next: [LReg; 3] = [1, 2, 3].map(|index| *self.operand(index));
        for (vd, value) in (0..).zip(&next) {
            self.write(vd, set, value);
        }
        self.write(3, set, last);
    }
}

/// Lanes in which SFPSWAP puts the smaller value into VD; in the others it puts the larger one.
const fn minimum_lanes(mod1: u32) -> u32 {
    match mod1 {
        1 => 0xFFFF_FFFF,
        2 => 0x0000_FFFF,
        3 => 0x00FF_00FF,
        4 => 0xFF00_00FF,
        5 => 0x0000_00FF,
        6 => 0x0000_FF00,
        7 => 0x00FF_0000,
        8 => 0xFF00_0000,
        // 9 is defined so; the rest is what silicon does.
        _ => 0,
    }
}
