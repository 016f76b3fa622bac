//! SFPLOADMACRO: a load, and up to four instructions that execute in later cycles.
//!
//! All instructions of a cycle read the registers as they were when it began; what they write is
//! there in the next cycle, what a MAD-type instruction writes one later. An entry with a delay of
//! *n* executes *n* + 1 cycles after its SFPLOADMACRO. While any entry waits for instructions
//! instead of cycles, all count down only in cycles in which a thread issues a vector instruction.
//!
//! Which entries count for that rule, and whether the SFPLOADMACRO that adds an entry counts for
//! it, is not stated: entries that execute in this cycle do not, nor do new ones
//! `[unknown: U-054]`. A sequence byte of 0 leaves its sub-unit alone `[unknown: U-085]`.
//!
//! Source: `[isa-bh: TensixCoprocessor/SFPLOADMACRO.md]`.

use isa::op::{Opcode, SubUnit};
use isa::operands::{DstTransfer, Sfploadmacro};
use sim_core::{Cycle, StateHasher, ThreadId};

use super::memory::Surroundings;
use super::operands::{BONUS_LREG, SCHEDULED, takes};
use super::{Fault, Issued, LANES, LReg, LRegs, LoadMacro, Operands, VectorUnit, ops};
use crate::checks::Check;
use crate::decode::decode;

/// A scheduled instruction.
#[derive(Clone, Copy, Debug)]
struct Entry {
    opcode: Opcode,
    operands: Operands,
    /// Lanes whose configuration scheduled it.
    lanes: u32,
    sub_unit: SubUnit,
    delay: u8,
    counts_instructions: bool,
    /// Dst address for a store.
    address: u32,
    /// The SFPLOADMACRO, with the template's word.
    issued: Issued,
}

/// What instructions of a cycle read, once one of them has written.
#[derive(Clone, Debug)]
pub(super) struct Before {
    pub(super) lregs: LRegs,
    /// Lanes that predication let execute.
    pub(super) enabled: u32,
}

/// Results of MAD-type instructions that are written at the end of the next cycle.
#[derive(Clone, Debug)]
struct Deferred {
    vd: u8,
    set: u32,
    value: LReg,
}

/// Everything that SFPLOADMACRO has scheduled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    entries: Vec<Entry>,
    deferred: Vec<Deferred>,
    /// Set while instructions execute beside others of their cycle.
    pub(super) before: Option<Box<Before>>,
    /// Lanes of the scheduled instruction that executes.
    pub(super) executing: u32,
    /// Registers when the cycle began, kept for the entries due at its end.
    snapshot: Option<Box<Before>>,
    /// Cycle in which a thread last issued while anything was scheduled.
    issued_at: Option<Cycle>,
}

impl Schedule {
    /// Whether anything is scheduled or waits to be written.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        !self.entries.is_empty() || !self.deferred.is_empty()
    }

    /// Whether time alone will execute something of `thread`.
    pub(crate) fn runs(&self, thread: ThreadId) -> bool {
        let counting =
            self.entries.iter().any(|entry| entry.counts_instructions && entry.delay != 0);
        self.entries
            .iter()
            .any(|entry| entry.issued.thread == thread && (!counting || entry.delay == 0))
    }

    /// Forgets what `thread` has scheduled.
    pub(crate) fn drop_thread(&mut self, thread: ThreadId) {
        self.entries.retain(|entry| entry.issued.thread != thread);
        self.snapshot = None;
        self.before = None;
    }

    pub(super) fn defer(&mut self, vd: u8, set: u32, value: &LReg) {
        if set != 0 {
            self.deferred.push(Deferred { vd, set, value: *value });
        }
    }

    fn is_due(entry: &Entry, now: Cycle) -> bool {
        entry.delay == 0 && entry.issued.now < now
    }

    /// Adds an entry in place of one of its lanes and sub-unit that would execute with it.
    fn add(&mut self, entry: Entry) {
        self.forget(entry.sub_unit, entry.delay, entry.lanes);
        self.entries.push(entry);
    }

    /// Forgets what a sub-unit would execute together with a new entry of that delay: older
    /// entries still have to count down for this cycle.
    fn forget(&mut self, sub_unit: SubUnit, delay: u8, lanes: u32) {
        for entry in &mut self.entries {
            if entry.sub_unit == sub_unit && entry.delay == delay + 1 {
                entry.lanes &= !lanes;
            }
        }
        self.entries.retain(|entry| entry.lanes != 0);
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        // The others are of the cycle that is being executed.
        let Self { entries, deferred, before: _, executing: _, snapshot: _, issued_at: _ } = self;
        hasher.u32(entries.len() as u32);
        for entry in entries {
            let Entry {
                opcode,
                operands: Operands { word, vd, va, vb, vc, scheduled: _ },
                lanes,
                sub_unit,
                delay,
                counts_instructions,
                address,
                issued,
            } = entry;
            hasher.words(&[*opcode as u32, *word, *lanes, *address]);
            hasher.bytes(&[*vd, *va, *vb, *vc]);
            hasher.bytes(&[*sub_unit as u8, *delay, issued.thread as u8]);
            hasher.bool(*counts_instructions);
        }
        hasher.u32(deferred.len() as u32);
        for Deferred { vd, set, value } in deferred {
            hasher.u8(*vd);
            hasher.u32(*set);
            hasher.words(value);
        }
    }
}

impl VectorUnit {
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
        if self.schedule.is_active() && !self.share_cycle(opcode, issued.now) {
            return Ok(());
        }
        let operands = Operands::parse(opcode, issued.word);
        self.execute(opcode, &operands, issued, at)
    }

    /// Notes that a thread issues while something is scheduled; whether the instruction executes:
    /// one for a sub-unit that executes a scheduled instruction in this cycle is lost.
    #[cold]
    fn share_cycle(&mut self, opcode: Opcode, now: Cycle) -> bool {
        let sub_unit = opcode.row().sub_unit;
        let mut due = self.schedule.entries.iter().filter(|entry| Schedule::is_due(entry, now));
        let lost = due.any(|entry| entry.sub_unit == sub_unit);
        self.schedule.issued_at = Some(now);
        self.schedule.snapshot = Some(Box::new(self.present()));
        !lost
    }

    fn present(&self) -> Before {
        Before { lregs: *self.lregs, enabled: self.predicate.enabled() }
    }

    /// Schedules what the macro's sequence says, lane by lane; lanes with equal configuration
    /// together.
    pub(super) fn schedule_macro(
        &mut self,
        load: &Operands,
        issued: &Issued,
        address: u32,
    ) -> Result<(), Fault> {
        let mut left = u32::MAX;
        while left != 0 {
            let config = self.load_macro[left.trailing_zeros() as usize];
            let lanes = ops::lanes(left)
                .filter(|&lane| self.load_macro[lane] == config)
                .fold(0, |set, lane| set | 1 << lane);
            left &= !lanes;
            for sub_unit in SCHEDULED {
                self.schedule_one(&config, lanes, sub_unit, load, issued, address)?;
            }
        }
        Ok(())
    }

    fn schedule_one(
        &mut self,
        config: &LoadMacro,
        lanes: u32,
        sub_unit: SubUnit,
        load: &Operands,
        issued: &Issued,
        address: u32,
    ) -> Result<(), Fault> {
        let macro_index = Sfploadmacro::of(load.word).macro_index;
        let sequence = config.sequences[macro_index as usize] >> (8 * sub_unit as u32) & 0xFF;
        // Such a byte leaves the sub-unit alone [unknown: U-085].
        if sequence == 0 {
            return Ok(());
        }
        let delay = (sequence >> 3 & 7) as u8;
        let word = match sequence & 7 {
            0 => {
                self.schedule.forget(sub_unit, delay, lanes);
                return Ok(());
            }
            1 => return Err(undefined(issued, "SFPLOADMACRO of a sequence with selector 1")),
            2 => isa::encode::sfpnop(),
            3 => isa::encode::sfpstore(0, 0, 0, 0),
            template => config.templates[template as usize - 4],
        };
        let opcode = decode(word).map_or(Opcode::Nop, |decoded| decoded.opcode);
        let opcode = if takes(sub_unit, opcode) {
            opcode
        } else if sub_unit == SubUnit::Store {
            return Err(undefined(issued, "SFPLOADMACRO that schedules no store for Store"));
        } else {
            Opcode::Sfpnop
        };
        let operands = if sub_unit == SubUnit::Store {
            stored(config, word, sequence, load)
        } else {
            Operands::scheduled(opcode, word, sequence, load.vd)
        };
        self.schedule.add(Entry {
            opcode,
            operands,
            lanes,
            sub_unit,
            delay,
            counts_instructions: config.misc >> (8 + sub_unit as u32) & 1 != 0,
            address,
            issued: Issued { word, ..*issued },
        });
        Ok(())
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
        let snapshot = self.schedule.snapshot.take();
        self.schedule.before = Some(snapshot.unwrap_or_else(|| Box::new(self.present())));
        let mut progress = !self.schedule.deferred.is_empty();
        for index in 0..self.schedule.deferred.len() {
            let Deferred { vd, set, value } = self.schedule.deferred[index].clone();
            self.write(vd, set, &value);
        }
        self.schedule.deferred.clear();
        let mut outcome = Ok(());
        for index in 0..self.schedule.entries.len() {
            let entry = self.schedule.entries[index];
            if outcome.is_ok() && Schedule::is_due(&entry, now) {
                progress = true;
                outcome = self.execute_entry(&entry, at).or_else(&mut *lower);
            }
        }
        self.schedule.before = None;
        outcome?;
        Ok(progress | self.schedule.count_down(now))
    }

    fn execute_entry(&mut self, entry: &Entry, at: &mut Surroundings<'_>) -> Result<(), Fault> {
        let thread = entry.issued.thread.index();
        if entry.sub_unit == SubUnit::Store {
            self.store(&entry.operands, entry.lanes, entry.address, thread, at);
            return Ok(());
        }
        self.schedule.executing = entry.lanes;
        self.execute(entry.opcode, &entry.operands, &entry.issued, at)
    }
}

impl Schedule {
    /// Removes what was due and counts the rest down; whether anything of the rest changed.
    fn count_down(&mut self, now: Cycle) -> bool {
        self.entries.retain(|entry| !Self::is_due(entry, now));
        let old = |entry: &Entry| entry.issued.now < now;
        let by_instructions =
            self.entries.iter().any(|entry| old(entry) && entry.counts_instructions);
        let new = self.entries.iter().any(|entry| !old(entry));
        if by_instructions && self.issued_at != Some(now) {
            return new;
        }
        for entry in self.entries.iter_mut().filter(|entry| old(entry)) {
            entry.delay -= 1;
        }
        !self.entries.is_empty()
    }
}

/// Operands of a scheduled store: the register from the load, the bonus register or the template;
/// the mode from the load or from the configuration.
fn stored(config: &LoadMacro, word: u32, sequence: u32, load: &Operands) -> Operands {
    let macro_index = Sfploadmacro::of(load.word).macro_index;
    let vd = if sequence & 0x40 != 0 {
        BONUS_LREG
    } else if sequence & 0x80 != 0 {
        DstTransfer::LREG_IND.get(word) as u8
    } else {
        load.vd
    };
    let misc = u32::from(config.misc);
    let mode = if misc >> (4 + macro_index) & 1 != 0 {
        DstTransfer::INSTR_MOD0.get(load.word)
    } else {
        misc & 0xF
    };
    let word = DstTransfer::INSTR_MOD0.set(word, mode);
    Operands { word, vd, va: 0, vb: 0, vc: 0, scheduled: true }
}

#[cold]
fn undefined(issued: &Issued, message: &'static str) -> Fault {
    issued.error(Check::SfploadmacroSequence, message)
}

const _: () = assert!(LANES == 32, "lane sets are 32-bit masks");
