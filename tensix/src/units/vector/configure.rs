//! What SFPCONFIG sets, and what SFPMOV reads back of it.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPCONFIG.md]`, `[isa-wh: TensixCoprocessor/SFPMOV.md]`.

use sim_core::StateHasher;

use super::lanes::{LANE_CONFIG_BITS, LaneSets};
use super::{LANES, LReg, ops};

/// Width of `LoadMacroConfig.Misc`.
const MISC_BITS: u32 = 0xFFF;
/// The destination whose settings are kept as lane sets too.
const LANE_CONFIG: u32 = 15;

/// SFPLOADMACRO's configuration of one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LoadMacro {
    pub(crate) templates: [u32; 4],
    pub(crate) sequences: [u32; 4],
    pub(crate) misc: u16,
}

/// The configuration of all lanes.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    lanes: LReg,
    /// What `lanes` says, as lane sets.
    pub(super) sets: LaneSets,
    macros: Box<[LoadMacro; LANES]>,
}

impl Configuration {
    pub(super) fn new() -> Self {
        Self {
            lanes: [0; LANES],
            sets: LaneSets::of(&[0; LANES]),
            macros: Box::new([LoadMacro::default(); LANES]),
        }
    }

    pub(super) fn reset(&mut self) {
        self.set_lanes([0; LANES]);
        *self.macros = [LoadMacro::default(); LANES];
    }

    /// `LaneConfig` of every lane.
    pub(super) fn lanes(&self) -> &LReg {
        &self.lanes
    }

    pub(super) fn set_lanes(&mut self, lanes: LReg) {
        self.lanes = lanes;
        self.sets = LaneSets::of(&lanes);
    }

    pub(super) fn macros(&self) -> &[LoadMacro; LANES] {
        &self.macros
    }

    /// Writes an instruction template of the lanes of `set`.
    pub(super) fn set_template(&mut self, set: u32, index: usize, word: u32) {
        for lane in ops::lanes(set) {
            self.macros[lane].templates[index] = word;
        }
    }

    /// SFPCONFIG of any destination but registers, to the lanes of `set` of every row: the immediate,
    /// or the value of a lane's column.
    pub(super) fn set(&mut self, dest: u32, (mod1, imm): (u32, u32), set: u32, sources: &LReg) {
        let from_imm = mod1 & 1 != 0;
        for lane in ops::lanes(set) {
            let source = sources[lane & 7];
            let value = if from_imm { imm } else { source };
            let entry = &mut self.macros[lane];
            match dest {
                // 16 bits are not enough for an instruction: the immediate is not used.
                0..=3 => entry.templates[dest as usize] = source,
                4..=7 => entry.sequences[dest as usize - 4] = value,
                8 => {
                    let misc = ops::combine(mod1, u32::from(entry.misc), value);
                    entry.misc = (misc & MISC_BITS) as u16;
                }
                LANE_CONFIG => {
                    let old = self.lanes[lane];
                    let kept = if from_imm { old & !0xFFFF } else { 0 };
                    self.lanes[lane] = (ops::combine(mod1, old, value) | kept) & LANE_CONFIG_BITS;
                }
                // Scheduled, it can name the bonus register, which is no destination.
                _ => {}
            }
        }
        if dest == LANE_CONFIG {
            self.sets = LaneSets::of(&self.lanes);
        }
    }

    /// What SFPMOV reads with bit 3 of its mode, in the numbering of SFPCONFIG.
    pub(super) fn read(&self, index: u8) -> LReg {
        let entries = &self.macros;
        match index {
            0..=3 => std::array::from_fn(|lane| entries[lane].templates[usize::from(index)]),
            4..=7 => std::array::from_fn(|lane| entries[lane].sequences[usize::from(index - 4)]),
            8 => std::array::from_fn(|lane| u32::from(entries[lane].misc)),
            15 => self.lanes,
            _ => [0; LANES],
        }
    }

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        // The sets say what the lanes' configuration says.
        let Self { lanes, sets: _, macros } = self;
        hasher.words(lanes);
        for LoadMacro { templates, sequences, misc } in macros.iter() {
            hasher.words(templates);
            hasher.words(sequences);
            hasher.u32(u32::from(*misc));
        }
    }
}
