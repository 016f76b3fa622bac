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

use super::operands::{BONUS_LREG, SCHEDULED, takes};
use super::{Fault, Issued, LANES, LoadMacro, Operands, ops};
use crate::checks::Check;
use crate::decode::decode;

/// A scheduled instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) opcode: Opcode,
    pub(super) operands: Operands,
    /// Lanes whose configuration scheduled it.
    pub(super) lanes: u32,
    pub(super) sub_unit: SubUnit,
    delay: u8,
    counts_instructions: bool,
    /// Dst address for a store.
    pub(super) address: u32,
    /// The SFPLOADMACRO, with the template's word.
    pub(super) issued: Issued,
}

/// Everything that SFPLOADMACRO has scheduled.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    entries: Vec<Entry>,
    /// Cycle in which a thread last issued while anything was scheduled.
    issued_at: Option<Cycle>,
}

impl Schedule {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// An entry, if it executes at the end of this cycle.
    pub(super) fn due(&self, index: usize, now: Cycle) -> Option<Entry> {
        let entry = self.entries[index];
        Self::is_due(&entry, now).then_some(entry)
    }

    /// Whether time alone will execute something of `thread`.
    pub(super) fn runs(&self, thread: ThreadId) -> bool {
        let counting =
            self.entries.iter().any(|entry| entry.counts_instructions && entry.delay != 0);
        self.entries
            .iter()
            .any(|entry| entry.issued.thread == thread && (!counting || entry.delay == 0))
    }

    /// Forgets what `thread` has scheduled.
    pub(super) fn drop_thread(&mut self, thread: ThreadId) {
        self.entries.retain(|entry| entry.issued.thread != thread);
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

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        // The other is of the cycle that is being executed.
        let Self { entries, issued_at: _ } = self;
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
    }
}

impl Schedule {
    /// Notes that a thread issues while something is scheduled; whether the instruction executes:
    /// one for a sub-unit that executes a scheduled instruction in this cycle is lost.
    pub(super) fn share_cycle(&mut self, opcode: Opcode, now: Cycle) -> bool {
        let sub_unit = opcode.row().sub_unit;
        let mut due = self.entries.iter().filter(|entry| Self::is_due(entry, now));
        let lost = due.any(|entry| entry.sub_unit == sub_unit);
        self.issued_at = Some(now);
        !lost
    }

    /// Schedules what the macro's sequence says, lane by lane; lanes with equal configuration
    /// together.
    pub(super) fn schedule_macro(
        &mut self,
        lanes_configured: &[LoadMacro; LANES],
        load: &Operands,
        issued: &Issued,
        address: u32,
    ) -> Result<(), Fault> {
        let mut left = u32::MAX;
        while left != 0 {
            let config = lanes_configured[left.trailing_zeros() as usize];
            let lanes = ops::lanes(left)
                .filter(|&lane| lanes_configured[lane] == config)
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
                self.forget(sub_unit, delay, lanes);
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
        self.add(Entry {
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

    /// Removes what was due and counts the rest down; whether anything of the rest changed.
    pub(super) fn count_down(&mut self, now: Cycle) -> bool {
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
