//! The vector unit (SFPU): 32 lanes of 32 bits, and all its instructions.
//!
//! # Rooms
//!
//! `operands` registers of an instruction; `dispatch` one method per instruction, with `multiply` for the MAD
//! sub-unit and `exchange` for what moves between registers or lanes;
//! `float`, `mad`, `simple`, `round`, `tables` pure functions of one lane; `predicate` flags and
//! their stack; `lanes` what `LaneConfig` means, as lane sets; `configure` SFPCONFIG and reading it
//! back; `memory`, `transfer`, `cells` and `dst_format` SFPLOAD and SFPSTORE; `schedule` what SFPLOADMACRO schedules;
//! `ops` reset values, immediates and the random numbers.
//!
//! # Not modelled
//!
//! * Hazards: the result of an instruction that software issues is there for the next one, while
//!   silicon misses some dependencies. Only a scheduled MAD-type instruction writes a cycle later.
//! * Scheduled SFPSWAP and cross-lane SFPSHFT2 take their whole effect in their first cycle, where
//!   silicon needs two.
//!
//! Sources: `[isa-bh: TensixCoprocessor/VectorUnit.md]`, `SFP*.md`, `[isa-wh: .../LReg.md]`,
//! `[isa-bh: TensixTile/SoftReset.md]`, `[spec: numerics 5]`.

mod cells;
mod configure;
mod dispatch;
mod dst_format;
mod exchange;
#[cfg(test)]
mod float;
mod float_lanes;
mod lanes;
mod mad;
mod memory;
mod multiply;
mod operands;
pub(crate) mod ops;
mod predicate;
mod round;
pub(crate) mod schedule;
mod simple;
mod tables;
#[cfg(test)]
mod tests;
mod transfer;

use sim_core::StateHasher;

use super::{Fault, Issued};
use lanes::LaneSets;
use memory::DstAccess;
pub(crate) use memory::Surroundings;
use operands::Operands;
use predicate::Predicate;
use schedule::Schedule;

/// Lanes of a vector register.
pub(crate) const LANES: usize = 32;
/// Vector registers 0 to 15; register 16 exists only for SFPLOADMACRO.
pub(crate) const LREGS: usize = 17;
/// Values that SFPCONFIG writes to LReg 11 to 14 in immediate mode: -1.0, 1/65536, -0.67487759,
/// -0.34484843 `[isa-bh: TensixCoprocessor/SFPCONFIG.md]`.
pub(crate) const LREG_DEFAULTS: [u32; 4] = [0xBF80_0000, 0x3780_0000, 0xBF2C_C4C7, 0xBEB0_8FF9];

/// One vector register.
pub(crate) type LReg = [u32; LANES];
/// All vector registers.
pub(crate) type LRegs = [LReg; LREGS];

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
    pub(crate) lregs: Box<LRegs>,
    pub(crate) predicate: Predicate,
    pub(crate) lane_config: LReg,
    /// What `lane_config` says, as lane sets.
    sets: LaneSets,
    load_macro: Box<[LoadMacro; LANES]>,
    pub(crate) prng: LReg,
    /// Stack pointers per thread, ten bits, of SFPLOAD's and SFPSTORE's mode `INT32_ALL`.
    stack_pointers: [u16; 3],
    pub(crate) schedule: Schedule,
    accesses: [DstAccess; 3],
    /// No instruction takes whole registers ([`sim_core::Shortcut::WholeRegisters`]).
    pub(crate) by_operands: bool,
}

impl VectorUnit {
    pub(crate) fn new() -> Self {
        let mut unit = Self {
            lregs: Box::new([[0; LANES]; LREGS]),
            predicate: Predicate::RESET,
            lane_config: [0; LANES],
            sets: LaneSets::default(),
            load_macro: Box::new([LoadMacro::default(); LANES]),
            prng: [0; LANES],
            stack_pointers: [0; 3],
            schedule: Schedule::default(),
            accesses: [DstAccess::UNKNOWN; 3],
            by_operands: false,
        };
        unit.leave_reset();
        unit
    }

    /// What leaving soft reset sets.
    pub(crate) fn leave_reset(&mut self) {
        for (index, lreg) in self.lregs.iter_mut().enumerate() {
            *lreg = std::array::from_fn(|lane| ops::reset_value(index, lane));
        }
        self.predicate = Predicate::RESET;
        self.lane_config = [0; LANES];
        self.sets = LaneSets::of(&self.lane_config);
        *self.load_macro = [LoadMacro::default(); LANES];
        // "Reset", to what is not said [unknown: U-081]; zero in the reference.
        self.prng = [0; LANES];
        self.schedule = Schedule::default();
    }

    /// SFPLOADMACRO's configuration, by lane.
    pub(crate) fn load_macro(&self) -> &[LoadMacro; LANES] {
        &self.load_macro
    }

    /// Stack pointers of mode `INT32_ALL` per thread.
    pub(crate) fn stack_pointers(&self) -> [u16; 3] {
        self.stack_pointers
    }

    /// Seeds the generator of every lane.
    pub(crate) fn seed(&mut self, seed: u32) {
        self.prng = ops::seeded(seed);
    }

    /// Lanes that execute: not masked by row, and not predicated off.
    #[inline]
    pub(crate) fn enabled(&self) -> u32 {
        let predicate = match &self.schedule.before {
            Some(before) => before.enabled,
            None => self.predicate.enabled(),
        };
        predicate & !self.sets.masked
    }

    /// A register as an operand.
    #[inline]
    fn operand(&self, index: u8) -> &LReg {
        let lregs = match &self.schedule.before {
            Some(before) => &before.lregs,
            None => &self.lregs,
        };
        &lregs[usize::from(index).min(LREGS - 1)]
    }

    /// Writes the lanes of `set` of a result register; the constants and registers 11 to 14 cannot
    /// be written by anything but SFPCONFIG.
    #[inline]
    fn write(&mut self, vd: u8, set: u32, values: &LReg) {
        if vd >= 8 && vd != operands::BONUS_LREG {
            return;
        }
        let lreg = &mut self.lregs[usize::from(vd).min(LREGS - 1)];
        if set == u32::MAX {
            *lreg = *values;
            return;
        }
        for lane in 0..LANES {
            lreg[lane] = if set >> lane & 1 != 0 { values[lane] } else { lreg[lane] };
        }
    }

    /// Lanes in which the instruction executes if they are enabled. In the others, where it names
    /// a register of 12 and above, it is written to an instruction template instead.
    #[inline]
    fn active(&mut self, operands: &Operands) -> u32 {
        if operands.scheduled {
            return self.schedule.executing;
        }
        if operands.vd < 12 {
            return u32::MAX;
        }
        let backdoor = self.sets.backdoor;
        let enabled = self.enabled();
        for lane in ops::lanes(backdoor & enabled) {
            self.load_macro[lane].templates[usize::from(operands.vd & 3)] = operands.word;
        }
        !backdoor
    }

    /// Old generator states; those of the lanes of `set` step.
    fn random(&mut self, set: u32) -> LReg {
        let old = self.prng;
        for lane in ops::lanes(set) {
            self.prng[lane] = ops::prng_step(old[lane]);
        }
        old
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        // The sets say what the lane configuration says; accesses are told to whoever listens; the last
        // is a switch.
        let Self {
            lregs,
            predicate,
            lane_config,
            sets: _,
            load_macro,
            prng,
            stack_pointers,
            schedule,
            accesses: _,
            by_operands: _,
        } = self;
        lregs.iter().for_each(|lreg| hasher.words(lreg));
        predicate.hash_state(hasher);
        hasher.words(lane_config);
        for LoadMacro { templates, sequences, misc } in load_macro.iter() {
            hasher.words(templates);
            hasher.words(sequences);
            hasher.u32(u32::from(*misc));
        }
        hasher.words(prng);
        stack_pointers.iter().for_each(|&pointer| hasher.u32(u32::from(pointer)));
        schedule.hash_state(hasher);
    }
}
