//! The vector unit (SFPU): 32 lanes of 32 bits, and all its instructions.
//!
//! # Rooms
//!
//! `file` the registers, and which lanes execute; `operands` registers of an instruction; `dispatch` one method per instruction, with `multiply` for the MAD
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
mod file;
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

use sim_core::{Cycle, StateHasher, ThreadId};

use super::{Fault, Issued};
pub(crate) use configure::LoadMacro;
pub(crate) use file::RegisterFile;
use isa::op::{Opcode, SubUnit};
pub(crate) use memory::Surroundings;
use memory::Transfers;
use operands::Operands;
use schedule::{Entry, Schedule};

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

/// The vector unit's state.
#[derive(Clone, Debug)]
pub(crate) struct VectorUnit {
    file: RegisterFile,
    transfers: Transfers,
    schedule: Schedule,
    /// No instruction takes whole registers ([`sim_core::Shortcut::WholeRegisters`]).
    by_operands: bool,
}

impl VectorUnit {
    pub(crate) fn new() -> Self {
        Self {
            file: RegisterFile::new(),
            transfers: Transfers::new(),
            schedule: Schedule::default(),
            by_operands: false,
        }
    }

    /// Whether whole registers may be taken where that gives the same.
    pub(crate) fn take_whole_registers(&mut self, may: bool) {
        self.by_operands = !may;
    }

    /// What leaving soft reset sets.
    pub(crate) fn leave_reset(&mut self) {
        self.file.leave_reset();
        self.schedule = Schedule::default();
    }

    pub(crate) fn file(&self) -> &RegisterFile {
        &self.file
    }

    /// Stack pointers of mode `INT32_ALL` per thread, ten bits.
    pub(crate) fn stack_pointers(&self) -> [u16; 3] {
        self.transfers.stack_pointers()
    }

    /// Seeds the generator of every lane.
    pub(crate) fn seed(&mut self, seed: u32) {
        self.file.seed(seed);
    }

    /// Whether anything is scheduled or waits to be written.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        !self.schedule.is_empty() || self.file.has_late()
    }

    /// Whether time alone will execute something of `thread`.
    pub(crate) fn runs(&self, thread: ThreadId) -> bool {
        self.schedule.runs(thread)
    }

    /// Forgets what `thread` has scheduled.
    pub(crate) fn drop_thread(&mut self, thread: ThreadId) {
        self.schedule.drop_thread(thread);
        self.file.show_present();
    }

    /// The row of Dst that an SFPSTORE names.
    pub(crate) fn store_row(&self, issued: &Issued, at: &Surroundings<'_>) -> u32 {
        self.transfers.store_row(issued, at)
    }

    /// Whether an SFPLOAD reads cells of 32 bits.
    pub(crate) fn loads_word(&self, issued: &Issued, at: &Surroundings<'_>) -> bool {
        self.transfers.loads_word(issued, at)
    }

    /// Executes the first of `words`, issued by `thread` in consecutive cycles, that are SFPLOAD or
    /// SFPSTORE as software nearly always means them: beside nothing scheduled, without a stack or
    /// a captured index, of registers 0 to 7. How many those are; 0 if the first is none of them.
    #[inline]
    pub(crate) fn transfer(
        &mut self,
        words: &[u32],
        thread: usize,
        at: &mut Surroundings<'_>,
    ) -> usize {
        if self.is_active() { 0 } else { self.transfers.run(&mut self.file, words, thread, at) }
    }

    /// SFPMAD, SFPADD and SFPMUL as software nearly always issues them: registers named by the word,
    /// nothing scheduled. False, with nothing done, for all others.
    #[inline]
    pub(crate) fn mad_plainly(&mut self, word: u32) -> bool {
        !self.is_active() && self.file.mad_plainly(word)
    }

    /// Executes an instruction that a thread issues.
    ///
    /// # Errors
    /// `UndefinedBehavior` where the page of the instruction says so.
    #[inline]
    pub(crate) fn issue(
        &mut self,
        opcode: Opcode,
        issued: &Issued,
        at: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let plain = match opcode {
            _ if self.by_operands => false,
            Opcode::Sfpload | Opcode::Sfpstore => {
                self.transfer(&[issued.word], issued.thread.index(), at) != 0
            }
            Opcode::Sfpmad | Opcode::Sfpadd | Opcode::Sfpmul => self.mad_plainly(issued.word),
            _ => false,
        };
        if plain { Ok(()) } else { self.issue_any(opcode, issued, at) }
    }

    /// Executes any instruction that a thread issues.
    #[inline(never)]
    fn issue_any(
        &mut self,
        opcode: Opcode,
        issued: &Issued,
        at: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        if self.is_active() && !self.share_cycle(opcode, issued.now) {
            return Ok(());
        }
        let operands = Operands::parse(opcode, issued.word);
        self.execute(opcode, &operands, issued, at)
    }

    /// Notes that a thread issues while something is scheduled; whether the instruction executes:
    /// one for a sub-unit that executes a scheduled instruction in this cycle is lost.
    #[cold]
    fn share_cycle(&mut self, opcode: Opcode, now: Cycle) -> bool {
        self.file.keep_present();
        self.schedule.share_cycle(opcode, now)
    }

    /// The end of a cycle while anything is scheduled: executes what is due, then counts down.
    /// Whether anything changed.
    ///
    /// # Errors
    /// Those of the scheduled instructions that `lower` does not take for warnings.
    #[cold]
    pub(crate) fn finish_cycle(
        &mut self,
        now: Cycle,
        at: &mut Surroundings<'_>,
        lower: &mut dyn FnMut(Fault) -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        let mut progress = self.file.begin_late();
        let mut outcome = Ok(());
        for index in 0..self.schedule.len() {
            if outcome.is_ok()
                && let Some(entry) = self.schedule.due(index, now)
            {
                progress = true;
                outcome = self.execute_entry(&entry, at).or_else(&mut *lower);
            }
        }
        self.file.show_present();
        outcome?;
        Ok(progress | self.schedule.count_down(now))
    }

    fn execute_entry(&mut self, entry: &Entry, at: &mut Surroundings<'_>) -> Result<(), Fault> {
        let thread = entry.issued.thread.index();
        if entry.sub_unit == SubUnit::Store {
            let (operands, lanes) = (&entry.operands, entry.lanes);
            self.transfers.store(&self.file, operands, lanes, entry.address, thread, at);
            return Ok(());
        }
        self.file.execute_in(entry.lanes);
        self.execute(entry.opcode, &entry.operands, &entry.issued, at)
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        // The last is a switch.
        let Self { file, transfers, schedule, by_operands: _ } = self;
        file.hash_state(hasher);
        transfers.hash_state(hasher);
        schedule.hash_state(hasher);
        file.hash_late(hasher);
    }
}
