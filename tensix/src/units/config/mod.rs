//! The configuration unit: two states of thread-agnostic configuration, three of thread
//! configuration, and every path that writes them.
//!
//! Words keep only the bits that carry a field; the rest reads as zero, as the reference does.
//!
//! Sources: `[isa-bh: TensixCoprocessor/BackendConfiguration.md]`, `ConfigurationUnit.md` and the
//! instruction pages; sizes `[hdr: cfg_defines.h]`.

mod dispatch;
pub(crate) mod ops;

use isa::config::{ConfigField, field};
use isa::operands;
use sim_core::observer::{Event, Stamp};

use super::{Fault, Issued};
use crate::checks::Check;
use crate::config_bits::CONFIG_BITS;
use crate::env::Env;
use crate::error::DoorError;
use crate::state::gprs::GPRS;
pub(crate) use dispatch::Reach;

/// Words per configuration state: `CFG_STATE_SIZE` (56) times four.
pub(crate) const STATE_WORDS: usize = isa::config::CONFIG_WORDS as usize;
/// 16-bit entries of thread configuration per thread: `THD_STATE_SIZE`.
pub(crate) const THREAD_WORDS: usize = isa::config::THREAD_WORDS as usize;
/// First word that both states share.
pub(crate) const GLOBAL_BASE: usize = isa::config::GLOBAL_BASE as usize;
/// First word of the fields named `THCON_` `[hdr: cfg_defines.h]`.
pub(crate) const THCON_BASE: usize = 64;

/// Writing anything to it zeroes the state below [`GLOBAL_BASE`].
const STATE_RESET_EN: usize = field::STATE_RESET_EN.addr32 as usize;
const IC_INVALIDATE: usize = field::RISCV_IC_INVALIDATE_InvalidateAll.addr32 as usize;
pub(crate) const PRNG_SEED: usize = field::PRNG_SEED_Seed_Val.addr32 as usize;
/// Sections 1 and 2 follow.
const SCRATCH: usize = field::SCRATCH_SEC0_val.addr32 as usize;
const STATE_ID: usize = field::CFG_STATE_ID_StateID.addr32 as usize;
/// Words that hold addresses and nothing else, as first word and count: base addresses of the unpackers' contexts,
/// the packer's output in L1 and in Dst. Every instruction reads them anew.
const ADDRESSES: [(u32, u32); 7] = [
    (field::THCON_SEC0_REG3_Base_address.addr32, 8),
    (field::THCON_SEC1_REG3_Base_address.addr32, 8),
    (field::THCON_SEC0_REG1_L1_Dest_addr.addr32, 1),
    (field::THCON_SEC0_REG8_L1_Dest_addr.addr32, 1),
    (field::THCON_SEC1_REG1_L1_Dest_addr.addr32, 1),
    (field::THCON_SEC1_REG8_L1_Dest_addr.addr32, 1),
    (field::DEST_TARGET_REG_CFG_PACK_SEC0_Offset.addr32, 4),
];
/// The words of thread configuration that kernels write before nearly every instruction, and from which neither
/// unpackers nor packer make a plan: the unpackers' context counters, where the matrix unit's Dst begins.
const THREAD_ADDRESSES: [u32; 2] = [
    field::UNPACK_MISC_CFG_CfgContextOffset_0.addr32,
    field::DEST_TARGET_REG_CFG_MATH_Offset.addr32,
];
/// By word, whether it is one of [`ADDRESSES`].
const IS_ADDRESS: [bool; STATE_WORDS] = {
    let (mut is_address, mut at) = ([false; STATE_WORDS], 0);
    while at < ADDRESSES.len() {
        let (first, count) = ADDRESSES[at];
        let mut word = first;
        while word < first + count {
            is_address[word as usize] = true;
            word += 1;
        }
        at += 1;
    }
    is_address
};
/// Sections 1 to 3 follow.
const STREAM_ID_SYNC: usize = field::STREAM_ID_SYNC_SEC0_BankSel.addr32 as usize;

/// What a configuration write asks other units to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[must_use]
pub(crate) struct SideEffects {
    /// New seed for every pseudo-random number generator.
    pub(crate) seed: Option<u32>,
}

impl SideEffects {
    /// These, and then those of a later write.
    pub(crate) const fn then(self, later: Self) -> Self {
        Self { seed: if later.seed.is_some() { later.seed } else { self.seed } }
    }
}

/// The configuration unit's state.
#[derive(Clone, Debug)]
pub(crate) struct ConfigUnit {
    pub(crate) states: [[u32; STATE_WORDS]; 2],
    pub(crate) threads: [[u16; THREAD_WORDS]; 3],
    /// THCON configuration is held in soft reset: writes to it are discarded.
    pub(crate) thcon_held: bool,
    /// Changes with every word; lets units keep what they made of the configuration. No part of the state.
    pub(crate) generation: u64,
    /// Changes with every word that is more than an address; the same for units that read addresses anew.
    pub(crate) forms: u64,
}

impl ConfigUnit {
    pub(crate) const fn new() -> Self {
        Self {
            states: [[0; STATE_WORDS]; 2],
            threads: [[0; THREAD_WORDS]; 3],
            thcon_held: false,
            generation: 0,
            forms: 0,
        }
    }

    /// The state that instructions of `thread` use.
    #[inline]
    pub(crate) fn state_id(&self, thread: usize) -> usize {
        usize::from(self.threads[thread][STATE_ID] & 1)
    }

    /// A field of the state that instructions of `thread` use.
    #[inline]
    pub(crate) fn state_field(&self, thread: usize, field: &ConfigField) -> u32 {
        field.get(&self.states[self.state_id(thread)])
    }

    /// A field of the thread configuration of `thread`.
    #[inline]
    pub(crate) fn thread_field(&self, thread: usize, field: &ConfigField) -> u32 {
        field.of_word(u32::from(self.threads[thread][field.addr32 as usize % THREAD_WORDS]))
    }

    /// Overlay stream that `STREAM_ID_SYNC_SEC[select]` of `thread` names.
    pub(crate) fn selected_stream(&self, thread: usize, select: u32) -> u8 {
        (self.threads[thread][STREAM_ID_SYNC + (select & 3) as usize] & 0x3F) as u8
    }

    /// STREAMWAIT's target: ten low bits from the instruction, the rest from thread configuration.
    pub(crate) fn stream_target(&self, thread: usize, messages: bool, low: u32) -> u32 {
        let high = if messages {
            field::STREAMWAIT_NUM_MSGS_HI_Val
        } else {
            field::STREAMWAIT_PHASE_HI_Val
        };
        self.thread_field(thread, &high) << 10 | low
    }

    pub(crate) fn setc16<E: Env>(
        &mut self,
        operands: operands::Setc16,
        issued: &Issued,
        env: &mut E,
    ) -> Result<(), Fault> {
        let index = operands.setc16_reg;
        let value = operands.setc16_value as u16;
        let thread = issued.thread.index();
        let Some(slot) = self.threads[thread].get_mut(index as usize) else {
            return Err(issued.error(
                Check::Setc16Index,
                format!("SETC16 of thread configuration word {index}; there are {THREAD_WORDS}"),
            ));
        };
        let before = u32::from(std::mem::replace(slot, value));
        let after = u32::from(value);
        if before != after {
            self.generation += 1;
            self.forms += u64::from(!THREAD_ADDRESSES.contains(&index));
            let (state, index) = (2 + thread as u8, index as u16);
            env.emit(issued.stamp(), || Event::Config { state, index, before, after });
        }
        Ok(())
    }

    /// Checks a word index of an instruction.
    pub(crate) fn checked(issued: &Issued, name: &str, index: u32) -> Result<usize, Fault> {
        if (index as usize) < STATE_WORDS {
            return Ok(index as usize);
        }
        Err(issued.error(
            Check::ConfigIndex,
            format!("{name} of configuration word {index}; there are {STATE_WORDS}"),
        ))
    }

    /// RMWCIB: replaces the bits of `mask` in one byte of a word. The only writer that does not
    /// trigger `STATE_RESET_EN`.
    pub(crate) fn rmwcib<E: Env>(
        &mut self,
        issued: &Issued,
        (byte, operands): (u32, operands::ConfigByte),
        env: &mut E,
    ) -> Result<SideEffects, Fault> {
        let word = Self::checked(issued, "RMWCIB", operands.cfg_reg_addr)?;
        let state = self.state_id(issued.thread.index());
        let mask = operands.mask << (8 * byte);
        let data = operands.data << (8 * byte);
        let value = ops::replace(self.states[state][word], mask, data);
        Ok(self.store(1 << state, word, value, false, issued.stamp(), env))
    }

    pub(crate) fn cfgshiftmask<E: Env>(
        &mut self,
        operands: operands::Cfgshiftmask,
        issued: &Issued,
        env: &mut E,
    ) -> Result<SideEffects, Fault> {
        let word = Self::checked(issued, "CFGSHIFTMASK", operands.cfg_reg)?;
        let thread = issued.thread.index();
        let state = self.state_id(thread);
        let section = match operands.scratch_sel as usize {
            3 => thread,
            section => section,
        };
        let scratch = self.states[0][SCRATCH + section];
        let value = ops::shift_mask(self.states[state][word], scratch, operands);
        Ok(self.write(state, word, value, issued.stamp(), env))
    }

    pub(crate) fn streamwrcfg<E: Env>(
        &mut self,
        operands: operands::Streamwrcfg,
        issued: &Issued,
        env: &mut E,
    ) -> Result<SideEffects, Fault> {
        let word = Self::checked(issued, "STREAMWRCFG", operands.cfg_reg)?;
        let thread = issued.thread.index();
        let stream = self.selected_stream(thread, operands.stream_id_sel);
        let value = env.stream_register(stream, operands.stream_reg_addr as u16);
        Ok(self.write(self.state_id(thread), word, value, issued.stamp(), env))
    }

    /// Whether software wants results rounded stochastically: bit 0 those of the matrix unit, bits 1
    /// and 2 those of the packer.
    #[inline]
    pub(crate) fn stochastic_modes(&self, thread: usize) -> u32 {
        let words = &self.states[self.state_id(thread)];
        words[field::ALU_ROUNDING_MODE_Fpu_srnd_en.addr32 as usize] & 7
    }

    /// Moves one GPR to one word, or an aligned group of four to four words.
    pub(crate) fn move_gprs<E: Env>(
        &mut self,
        issued: &Issued,
        word: usize,
        (gprs, gpr, wide): (&[u32; GPRS], u32, bool),
        env: &mut E,
    ) -> SideEffects {
        let state = self.state_id(issued.thread.index());
        let (first, gpr, count) =
            if wide { (word & !3, gpr as usize & !3, 4) } else { (word, gpr as usize, 1) };
        (0..count).fold(SideEffects::default(), |effects, offset| {
            let value = gprs[gpr + offset];
            effects.then(self.write(state, first + offset, value, issued.stamp(), env))
        })
    }

    /// Writes one word of one state, with all side effects.
    pub(crate) fn write<E: Env>(
        &mut self,
        state: usize,
        word: usize,
        value: u32,
        at: Stamp,
        env: &mut E,
    ) -> SideEffects {
        self.store(1 << state, word, value, true, at, env)
    }

    /// `states` is a bit mask; `word` is below [`STATE_WORDS`].
    fn store<E: Env>(
        &mut self,
        states: u8,
        word: usize,
        value: u32,
        may_reset: bool,
        at: Stamp,
        env: &mut E,
    ) -> SideEffects {
        let states = if word >= GLOBAL_BASE { 3 } else { states };
        if self.thcon_held && (THCON_BASE..GLOBAL_BASE).contains(&word) {
            return SideEffects::default();
        }
        for state in (0..2).filter(|state| states >> state & 1 != 0) {
            if word == STATE_RESET_EN && may_reset {
                for index in 0..GLOBAL_BASE {
                    self.set(state, index, 0, at, env);
                }
            } else {
                self.set(state, word, value & CONFIG_BITS[word], at, env);
            }
        }
        match word {
            IC_INVALIDATE => {
                let mask = (value & 0x1F) as u8;
                env.emit(at, || Event::IcacheInvalidate { mask });
                env.invalidate_icache(mask, at);
                SideEffects::default()
            }
            PRNG_SEED => SideEffects { seed: Some(self.states[0][PRNG_SEED]) },
            _ => SideEffects::default(),
        }
    }

    #[inline]
    fn set<E: Env>(&mut self, state: usize, word: usize, after: u32, at: Stamp, env: &mut E) {
        let before = std::mem::replace(&mut self.states[state][word], after);
        if before != after {
            self.generation += 1;
            self.forms += u64::from(!IS_ADDRESS[word]);
            let (state, index) = (state as u8, word as u16);
            env.emit(at, || Event::Config { state, index, before, after });
        }
    }

    /// A core's load from the window; `None` beyond its end. The dual-write part reads as state 0.
    pub(crate) fn read_window(&self, word: u32) -> Option<u32> {
        match ops::window(word)? {
            ops::Window::State { state, word } => Some(self.states[state][word]),
            ops::Window::Dual { word } => Some(self.states[0][word]),
            ops::Window::Thread { thread, word } => Some(u32::from(self.threads[thread][word])),
        }
    }

    /// A core's store to the window.
    pub(crate) fn write_window<E: Env>(
        &mut self,
        word: u32,
        value: u32,
        at: Stamp,
        env: &mut E,
    ) -> Result<SideEffects, DoorError> {
        match ops::window(word).ok_or(DoorError::NoConfigWord(word))? {
            ops::Window::State { state, word } => Ok(self.write(state, word, value, at, env)),
            ops::Window::Dual { word } => Ok(self.store(3, word, value, true, at, env)),
            ops::Window::Thread { .. } => Err(DoorError::ThreadConfigReadOnly(word)),
        }
    }

    /// THCON configuration enters soft reset.
    pub(crate) fn reset_thcon(&mut self) {
        self.generation += 1;
        self.forms += 1;
        for state in &mut self.states {
            state[THCON_BASE..GLOBAL_BASE].fill(0);
        }
    }
}
