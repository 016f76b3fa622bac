//! The registers of all lanes: their values, which lanes execute, what is written when.
//!
//! Lane sets are bit masks, bit *i* is lane *i*.

use isa::operands;
use sim_core::StateHasher;

use super::configure::Configuration;
use super::lanes::LaneSets;
use super::predicate::Predicate;
use super::{Issued, LANES, LREG_DEFAULTS, LREGS, LReg, LRegs, LoadMacro, Operands, ops, simple};
use crate::checks::Check;
use crate::units::Outcome;

pub(super) const SIGN: u32 = 0x8000_0000;

/// Lanes for which `holds` is true of the lane's value.
pub(super) fn lanes_where(values: &LReg, holds: impl Fn(u32) -> bool) -> u32 {
    vectorise::run(
        #[inline(always)]
        || {
            let mut set = 0;
            for (lane, &value) in values.iter().enumerate() {
                set |= u32::from(holds(value)) << lane;
            }
            set
        },
    )
}

pub(super) fn is_negative(value: u32) -> bool {
    value & SIGN != 0
}

/// What instructions of a cycle read, once one of them has written.
#[derive(Clone, Debug)]
struct Before {
    lregs: LRegs,
    /// Lanes that predication let execute.
    enabled: u32,
}

/// A result of a MAD-type instruction that is written at the end of the next cycle.
#[derive(Clone, Debug)]
struct Late {
    vd: u8,
    set: u32,
    value: LReg,
}

/// The registers.
#[derive(Clone, Debug)]
pub(crate) struct RegisterFile {
    pub(super) lregs: Box<LRegs>,
    pub(super) predicate: Predicate,
    pub(super) configuration: Configuration,
    prng: LReg,
    late: Vec<Late>,
    /// Set while instructions execute beside others of their cycle.
    before: Option<Box<Before>>,
    /// Registers when the cycle began, kept for what is scheduled for its end.
    kept: Option<Box<Before>>,
    /// Lanes of the scheduled instruction that executes.
    executing: u32,
}

impl RegisterFile {
    pub(super) fn new() -> Self {
        let mut file = Self {
            lregs: Box::new([[0; LANES]; LREGS]),
            predicate: Predicate::RESET,
            configuration: Configuration::new(),
            prng: [0; LANES],
            late: Vec::new(),
            before: None,
            kept: None,
            executing: 0,
        };
        file.leave_reset();
        file
    }

    /// What leaving soft reset sets.
    pub(super) fn leave_reset(&mut self) {
        for (index, lreg) in self.lregs.iter_mut().enumerate() {
            *lreg = std::array::from_fn(|lane| ops::reset_value(index, lane));
        }
        self.predicate = Predicate::RESET;
        self.configuration.reset();
        // "Reset", to what is not said [unknown: U-081]; zero in the reference.
        self.prng = [0; LANES];
        self.late.clear();
        (self.before, self.kept, self.executing) = (None, None, 0);
    }

    pub(crate) fn lregs(&self) -> &LRegs {
        &self.lregs
    }

    pub(crate) fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    /// `LaneConfig` of every lane.
    pub(crate) fn lane_config(&self) -> &LReg {
        self.configuration.lanes()
    }

    /// SFPLOADMACRO's configuration, by lane.
    pub(crate) fn load_macro(&self) -> &[LoadMacro; LANES] {
        self.configuration.macros()
    }

    /// State of every lane's generator.
    pub(crate) fn prng(&self) -> &LReg {
        &self.prng
    }

    pub(super) fn seed(&mut self, seed: u32) {
        self.prng = ops::seeded(seed);
    }

    #[inline]
    pub(super) fn sets(&self) -> &LaneSets {
        &self.configuration.sets
    }

    /// Lanes that execute: not masked by row, and not predicated off.
    #[inline]
    pub(crate) fn enabled(&self) -> u32 {
        let predicate = match &self.before {
            Some(before) => before.enabled,
            None => self.predicate.enabled(),
        };
        predicate & !self.sets().masked
    }

    /// A register as an operand.
    #[inline]
    pub(super) fn operand(&self, index: u8) -> &LReg {
        let lregs = match &self.before {
            Some(before) => &before.lregs,
            None => &self.lregs,
        };
        &lregs[usize::from(index).min(LREGS - 1)]
    }

    /// Writes the lanes of `set` of a result register; the constants and registers 11 to 14 cannot
    /// be written by anything but SFPCONFIG.
    #[inline]
    pub(super) fn write(&mut self, vd: u8, set: u32, values: &LReg) {
        if vd >= 8 && vd != super::operands::BONUS_LREG {
            return;
        }
        let lreg = &mut self.lregs[usize::from(vd).min(LREGS - 1)];
        if set == u32::MAX {
            *lreg = *values;
            return;
        }
        vectorise::run(
            #[inline(always)]
            || {
                for lane in 0..LANES {
                    lreg[lane] = if set >> lane & 1 != 0 { values[lane] } else { lreg[lane] };
                }
            },
        );
    }

    /// Lanes in which the instruction executes if they are enabled. In the others, where it names
    /// a register of 12 and above, it is written to an instruction template instead.
    #[inline]
    pub(super) fn active(&mut self, operands: &Operands) -> u32 {
        if operands.scheduled {
            return self.executing;
        }
        if operands.vd < 12 {
            return u32::MAX;
        }
        let backdoor = self.sets().backdoor;
        let set = backdoor & self.enabled();
        self.configuration.set_template(set, usize::from(operands.vd & 3), operands.word);
        !backdoor
    }

    /// Lanes in which an instruction executes: active and enabled ones.
    #[inline]
    pub(super) fn active_set(&mut self, registers: &Operands) -> u32 {
        self.active(registers) & self.enabled()
    }

    /// A result of one or two operands per lane, in the lanes of `set`.
    #[inline]
    pub(super) fn map(
        &mut self,
        registers: &Operands,
        set: u32,
        function: impl Fn(u32, u32) -> u32,
    ) {
        let (b, c) = (self.operand(registers.vb), self.operand(registers.vc));
        let result = vectorise::run(
            #[inline(always)]
            || {
                let mut result = [0; LANES];
                for lane in 0..LANES {
                    result[lane] = function(b[lane], c[lane]);
                }
                result
            },
        );
        self.write(registers.vd, set, &result);
    }

    /// An instruction of which that is all.
    #[inline]
    pub(super) fn lanewise(
        &mut self,
        registers: &Operands,
        function: impl Fn(u32, u32) -> u32,
    ) -> Outcome {
        let set = self.active_set(registers);
        self.map(registers, set, function);
        Ok(())
    }

    /// A result, and flags unless the result has no register; `invert` for their opposite, and
    /// without any as they were.
    pub(super) fn with_flags(
        &mut self,
        registers: &Operands,
        set: u32,
        (result, flags): (&LReg, Option<u32>),
        invert: bool,
    ) -> Outcome {
        self.write(registers.vd, set, result);
        if registers.vd < 8 {
            let flags = flags.unwrap_or(self.predicate.flags);
            self.predicate.set_flags(set, if invert { !flags } else { flags });
        }
        Ok(())
    }

    /// SFPLE and SFPGT: to the register, the flags and the top of the stack, as the mode says.
    pub(super) fn compare(
        &mut self,
        operands: operands::Comparison,
        registers: &Operands,
        is_greater: bool,
    ) -> Outcome {
        let active = self.active(registers);
        let set = active & self.enabled();
        let (b, c) = (self.operand(registers.vb), self.operand(registers.vc));
        let greater = simple::smaller_lanes(c, b);
        let holds = if is_greater { greater } else { !greater };
        let mod1 = operands.instr_mod1;
        if mod1 & 8 != 0 {
            let result = std::array::from_fn(|lane| (holds >> lane & 1).wrapping_neg());
            self.write(registers.vd, set, &result);
        }
        if mod1 & 1 != 0 {
            self.predicate.set_flags(set, holds);
        }
        if mod1 & 2 != 0 {
            self.predicate.mutate_top(active, mod1 & 4 != 0, holds);
        }
        Ok(())
    }

    /// Lanes for which SFPSETCC's condition holds.
    pub(super) fn condition(&self, operands: operands::Sfpsetcc, registers: &Operands) -> u32 {
        let c = self.operand(registers.vc);
        match operands.instr_mod1 {
            mod1 if mod1 & 8 != 0 => 0,
            mod1 if mod1 & 1 != 0 => u32::from(operands.imm12_math).wrapping_neg(),
            0 => lanes_where(c, is_negative),
            2 => lanes_where(c, |c| c != 0),
            4 => lanes_where(c, |c| !is_negative(c)),
            _ => lanes_where(c, |c| c == 0),
        }
    }

    /// Old generator states; those of the lanes of `set` step.
    pub(super) fn random(&mut self, set: u32) -> LReg {
        let old = self.prng;
        self.prng = vectorise::run(
            #[inline(always)]
            || {
                let mut new = old;
                for lane in 0..LANES {
                    let step = ops::prng_step(old[lane]);
                    new[lane] = if set >> lane & 1 != 0 { step } else { old[lane] };
                }
                new
            },
        );
        old
    }

    /// SFPCONFIG: eight lanes of L0 or an immediate, to every row of lanes.
    pub(super) fn configure(
        &mut self,
        operands: operands::Sfpconfig,
        registers: &Operands,
        issued: &Issued,
    ) -> Outcome {
        let (mod1, dest) = (operands.instr_mod1, u32::from(registers.vd));
        if dest == 9 || dest == 10 {
            return Err(issued.error(
                Check::SfpconfigDestination,
                format!("SFPCONFIG of destination {dest}, which configures nothing"),
            ));
        }
        let imm = operands.imm16_math;
        let sources = *self.operand(0);
        // Predication, too, is that of the first row of lanes; rows switched off take part.
        let first_row = self.predicate.enabled();
        let set = (0..LANES).fold(0, |set, lane| {
            let column = lane & 7;
            let masked = mod1 & 8 != 0 && imm >> (column * 2) & 1 == 0;
            set | u32::from(!masked && first_row >> column & 1 != 0) << lane
        });
        let Some(default) = (dest as usize).checked_sub(11).and_then(|at| LREG_DEFAULTS.get(at))
        else {
            self.configuration.set(dest, (mod1, imm), set, &sources);
            return Ok(());
        };
        for lane in ops::lanes(set) {
            let value = if mod1 & 1 != 0 { *default } else { sources[lane & 7] };
            self.lregs[dest as usize][lane] = value;
        }
        Ok(())
    }

    /// What SFPMOV reads with bit 3 of its mode, in the numbering of SFPCONFIG; 9 is the next
    /// random number, for the lanes of `set`.
    pub(super) fn special(&mut self, index: u8, set: u32) -> LReg {
        if index == 9 { self.random(set) } else { self.configuration.read(index) }
    }

    /// The lanes in which a scheduled instruction executes that is about to.
    pub(super) fn execute_in(&mut self, lanes: u32) {
        self.executing = lanes;
    }

    fn present(&self) -> Box<Before> {
        Box::new(Before { lregs: *self.lregs, enabled: self.predicate.enabled() })
    }

    /// Keeps what is there now for what is scheduled for the end of the cycle.
    pub(super) fn keep_present(&mut self) {
        self.kept = Some(self.present());
    }

    /// Instructions read what is there now.
    pub(super) fn show_present(&mut self) {
        (self.before, self.kept) = (None, None);
    }

    /// Writes a result at the end of the next cycle.
    pub(super) fn defer(&mut self, vd: u8, set: u32, value: &LReg) {
        if set != 0 {
            self.late.push(Late { vd, set, value: *value });
        }
    }

    #[inline]
    pub(super) fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// The end of a cycle: writes the results that are due, which no instruction sees until
    /// [`RegisterFile::show_present`]. Whether there were any.
    pub(super) fn begin_late(&mut self) -> bool {
        let kept = self.kept.take();
        self.before = Some(kept.unwrap_or_else(|| self.present()));
        let late = std::mem::take(&mut self.late);
        for Late { vd, set, value } in &late {
            self.write(*vd, *set, value);
        }
        !late.is_empty()
    }

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        // Late results are hashed last; the others are of the cycle that is being executed.
        let Self {
            lregs,
            predicate,
            configuration,
            prng,
            late: _,
            before: _,
            kept: _,
            executing: _,
        } = self;
        lregs.iter().for_each(|lreg| hasher.words(lreg));
        predicate.hash_state(hasher);
        configuration.hash_state(hasher);
        hasher.words(prng);
    }

    /// What is written at the end of the next cycle, for the state hash.
    pub(super) fn hash_late(&self, hasher: &mut StateHasher) {
        hasher.u32(self.late.len() as u32);
        for Late { vd, set, value } in &self.late {
            hasher.u8(*vd);
            hasher.u32(*set);
            hasher.words(value);
        }
    }
}
