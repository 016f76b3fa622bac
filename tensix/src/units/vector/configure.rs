//! SFPCONFIG, and what SFPMOV reads back of it.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPCONFIG.md]`, `[isa-wh: TensixCoprocessor/SFPMOV.md]`.

use isa::operands::Sfpconfig;

use super::lanes::{LANE_CONFIG_BITS, LaneSets};
use super::{Fault, Issued, LANES, LREG_DEFAULTS, LReg, Operands, VectorUnit, ops};
use crate::checks::Check;

/// Width of `LoadMacroConfig.Misc`.
const MISC_BITS: u32 = 0xFFF;

impl VectorUnit {
    /// SFPCONFIG: eight lanes of L0 or an immediate, to every row of lanes.
    pub(super) fn configure(
        &mut self,
        operands: Sfpconfig,
        registers: &Operands,
        issued: &Issued,
    ) -> Result<(), Fault> {
        let (mod1, dest) = (operands.instr_mod1, u32::from(registers.vd));
        if dest == 9 || dest == 10 {
            return Err(issued.error(
                Check::SfpconfigDestination,
                format!("SFPCONFIG of destination {dest}, which configures nothing"),
            ));
        }
        let imm = operands.imm16_math;
        let sources = *self.operand(0);
        let predicate = self.predicate;
        for lane in 0..LANES {
            // Predication, too, is that of the first row of lanes; rows switched off take part.
            let column = lane & 7;
            let masked = mod1 & 8 != 0 && imm >> (column * 2) & 1 == 0;
            if !masked && predicate.enabled() >> column & 1 != 0 {
                self.configure_lane(lane, dest, mod1, imm, sources[column]);
            }
        }
        if dest == 15 {
            self.sets = LaneSets::of(&self.lane_config);
        }
        Ok(())
    }

    fn configure_lane(&mut self, lane: usize, dest: u32, mod1: u32, imm: u32, source: u32) {
        let from_imm = mod1 & 1 != 0;
        let value = if from_imm { imm } else { source };
        let entry = &mut self.load_macro[lane];
        match dest {
            // 16 bits are not enough for an instruction: the immediate is not used.
            0..=3 => entry.templates[dest as usize] = source,
            4..=7 => entry.sequences[dest as usize - 4] = value,
            8 => {
                let misc = ops::combine(mod1, u32::from(entry.misc), value);
                entry.misc = (misc & MISC_BITS) as u16;
            }
            11..=14 => {
                let default = LREG_DEFAULTS[dest as usize - 11];
                self.lregs[dest as usize][lane] = if from_imm { default } else { source };
            }
            15 => {
                let old = self.lane_config[lane];
                let kept = if from_imm { old & !0xFFFF } else { 0 };
                self.lane_config[lane] = (ops::combine(mod1, old, value) | kept) & LANE_CONFIG_BITS;
            }
            // Scheduled, it can name the bonus register, which is no destination.
            _ => {}
        }
    }

    /// What SFPMOV reads with bit 3 of its mode, in the numbering of SFPCONFIG; 9 is the next
    /// random number, for the lanes of `set`.
    pub(super) fn special(&mut self, index: u8, set: u32) -> LReg {
        let entries = &self.load_macro;
        match index {
            0..=3 => std::array::from_fn(|lane| entries[lane].templates[usize::from(index)]),
            4..=7 => std::array::from_fn(|lane| entries[lane].sequences[usize::from(index - 4)]),
            8 => std::array::from_fn(|lane| u32::from(entries[lane].misc)),
            9 => self.random(set),
            15 => self.lane_config,
            _ => [0; LANES],
        }
    }
}
