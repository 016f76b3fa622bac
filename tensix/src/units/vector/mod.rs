//! The vector unit (SFPU): LReg, lane predication and configuration, and the instructions that
//! firmware uses to initialise them.
//!
//! Sources: `[isa-bh: TensixCoprocessor/VectorUnit.md]`, `SFPENCC.md`, `SFPCONFIG.md`, `LReg.md`,
//! `[isa-wh: TensixCoprocessor/SFPLOADI.md]`, `[isa-bh: TensixTile/SoftReset.md]`.

pub(crate) mod ops;

use sim_core::Category;

use super::{Fault, Issued};

/// Lanes of a vector register.
pub(crate) const LANES: usize = 32;
/// Vector registers 0 to 15; register 16 exists only for SFPLOADMACRO.
pub(crate) const LREGS: usize = 17;
/// Values that leaving soft reset gives LReg 11 to 14, which are also what SFPCONFIG writes in
/// immediate mode: -1.0, 1/65536, -0.67487759, -0.34484843.
pub(crate) const LREG_DEFAULTS: [u32; 4] = [0xBF80_0000, 0x3780_0000, 0xBF2C_C4C7, 0xBEB0_8FF9];

/// `LaneConfig` bit: instructions with VD of 12 and above execute normally.
const DISABLE_BACKDOOR_LOAD: u32 = 2;
/// `LaneConfig.ROW_MASK` starts at this bit.
const ROW_MASK: u32 = 12;
/// Implemented bits of `LaneConfig`.
const LANE_CONFIG_BITS: u32 = 0x3_FFFF;

/// SFPLOADMACRO's configuration of one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LoadMacro {
    pub(crate) templates: [u32; 4],
    pub(crate) sequences: [u32; 4],
    pub(crate) misc: u16,
}

/// The vector unit's state. Lane sets are bit masks, bit *i* is lane *i*.
#[derive(Clone, Debug)]
pub(crate) struct VectorUnit {
    pub(crate) lregs: Box<[[u32; LANES]; LREGS]>,
    pub(crate) lane_flags: u32,
    pub(crate) use_lane_flags: u32,
    pub(crate) lane_config: [u32; LANES],
    pub(crate) load_macro: Box<[LoadMacro; LANES]>,
    pub(crate) prng: [u32; LANES],
}

impl VectorUnit {
    pub(crate) fn new() -> Self {
        let mut unit = Self {
            lregs: Box::new([[0; LANES]; LREGS]),
            lane_flags: 0,
            use_lane_flags: 0,
            lane_config: [0; LANES],
            load_macro: Box::new([LoadMacro::default(); LANES]),
            prng: [0; LANES],
        };
        unit.leave_reset();
        unit
    }

    /// What leaving soft reset sets.
    pub(crate) fn leave_reset(&mut self) {
        for (index, lreg) in self.lregs.iter_mut().enumerate() {
            *lreg = std::array::from_fn(|lane| ops::reset_value(index, lane));
        }
        (self.lane_flags, self.use_lane_flags) = (0, 0);
        self.lane_config = [0; LANES];
        *self.load_macro = [LoadMacro::default(); LANES];
        self.prng = ops::seeded(0);
    }

    /// Seeds the generator of every lane.
    pub(crate) fn seed(&mut self, seed: u32) {
        self.prng = ops::seeded(seed);
    }

    /// Lanes that execute: not masked by row, and not predicated off.
    pub(crate) fn enabled(&self) -> u32 {
        let mut masked = 0;
        for lane in 0..LANES {
            let rows = self.lane_config[lane & 7] >> ROW_MASK;
            masked |= (rows >> (lane / 8) & 1) << lane;
        }
        !masked & (self.lane_flags | !self.use_lane_flags)
    }

    /// Lanes in which an instruction with that VD is a write of its own word to
    /// `InstructionTemplate[VD - 12]`.
    fn backdoor(&self, vd: u32) -> u32 {
        if vd < 12 {
            return 0;
        }
        (0..LANES).fold(0, |lanes, lane| {
            lanes | u32::from(self.lane_config[lane] & DISABLE_BACKDOOR_LOAD == 0) << lane
        })
    }

    fn write_template(&mut self, vd: u32, lanes: u32, word: u32) {
        for lane in ops::lanes(lanes) {
            self.load_macro[lane].templates[(vd & 3) as usize] = word;
        }
    }

    pub(crate) fn sfpencc(&mut self, issued: &Issued) {
        let vd = issued.field(4, 4);
        let backdoor = self.backdoor(vd);
        self.write_template(vd, backdoor & self.enabled(), issued.word);
        let lanes = !backdoor;
        let (mod1, imm) = (issued.field(0, 4), issued.field(12, 2));
        if mod1 & 2 != 0 {
            self.use_lane_flags = ops::blend(self.use_lane_flags, lanes, imm & 1 != 0);
        } else if mod1 & 1 != 0 {
            self.use_lane_flags ^= lanes;
        }
        let flags = mod1 & 8 == 0 || imm & 2 != 0;
        self.lane_flags = ops::blend(self.lane_flags, lanes, flags);
    }

    pub(crate) fn sfploadi(&mut self, issued: &Issued) -> Result<(), Fault> {
        let vd = issued.field(20, 4);
        let (mode, imm) = (issued.field(16, 4), issued.field(0, 16) as u16);
        if !ops::is_load_mode(mode) {
            return Err(issued.error(
                Category::UndefinedBehavior,
                "tensix-sfploadi-mode",
                format!("SFPLOADI with mode {mode}"),
            ));
        }
        let enabled = self.enabled();
        let backdoor = self.backdoor(vd);
        self.write_template(vd, backdoor & enabled, issued.word);
        if vd < 8 {
            for lane in ops::lanes(enabled) {
                let old = &mut self.lregs[vd as usize][lane];
                *old = ops::load_immediate(mode, imm, *old);
            }
        }
        Ok(())
    }

    pub(crate) fn sfpconfig(&mut self, issued: &Issued) -> Result<(), Fault> {
        let (mod1, dest, imm) = (issued.field(0, 4), issued.field(4, 4), issued.field(8, 16));
        if dest == 9 || dest == 10 {
            return Err(issued.error(
                Category::NonContractual,
                "tensix-sfpconfig-destination",
                format!("SFPCONFIG of destination {dest}, which configures nothing"),
            ));
        }
        let from_imm = mod1 & 1 != 0;
        let sources = self.lregs[0];
        let (use_flags, flags) = (self.use_lane_flags, self.lane_flags);
        for lane in 0..LANES {
            // Predication, too, is that of the first row of lanes.
            let column = lane & 7;
            let masked = mod1 & 8 != 0 && imm >> (column * 2) & 1 == 0;
            if masked || use_flags >> column & 1 != 0 && flags >> column & 1 == 0 {
                continue;
            }
            let value = if from_imm { imm } else { sources[column] };
            let entry = &mut self.load_macro[lane];
            match dest {
                0..=3 => entry.templates[dest as usize] = sources[column],
                4..=7 => entry.sequences[dest as usize - 4] = value,
                8 => {
                    let misc = ops::combine(mod1, u32::from(entry.misc), value);
                    entry.misc = (misc & 0xFFF) as u16;
                }
                15 => {
                    let old = self.lane_config[lane];
                    let kept = if from_imm { old & !0xFFFF } else { 0 };
                    self.lane_config[lane] =
                        (ops::combine(mod1, old, value) | kept) & LANE_CONFIG_BITS;
                }
                _ => {
                    self.lregs[dest as usize][lane] = if from_imm {
                        LREG_DEFAULTS[(dest as usize).saturating_sub(11) & 3]
                    } else {
                        sources[column]
                    };
                }
            }
        }
        Ok(())
    }
}
