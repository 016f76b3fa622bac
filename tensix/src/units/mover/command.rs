//! Commands of TDMA-RISC and the queue they wait in.
//!
//! ```text
//! word: 31 compact | 30 L1 to L1 | 29..24 count | 23..16 destination | 15..8 source | 7..0 opcode
//! ```
//! Only a compact command has fields; the others bring four parameter words.
//!
//! Source: `[isa-wh: TensixTile/TDMA-RISC.md]`.

use sim_core::l1::L1_BYTES;
use sim_core::observer::Stamp;
use sim_core::{Cycle, StateHasher, Width};

use super::{Move, Mover, fault};
use crate::checks::Check;
use crate::env::Env;
use crate::units::{Fault, Outcome};
use crate::warnings::Warnings;

/// Commands the queue holds.
const DEPTH: usize = 4;
/// Commands with parameters that may wait at a time.
const PARAMETER_CREDITS: u8 = 2;

/// A command as a core wrote it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TdmaCommand {
    /// The written word.
    pub word: u32,
    /// The parameter registers at that moment.
    pub parameters: [u32; 4],
    /// The writing core's base for compact commands, in units of 16 bytes.
    pub base: u32,
}

impl TdmaCommand {
    pub(super) const MOVE: u32 = 0x40;
    pub(super) const WAIT: u32 = 0x46;
    pub(super) const WRITE: u32 = 0x66;
    pub(super) const NOP: u32 = 0x89;

    pub(super) const fn opcode(&self) -> u32 {
        self.word & 0xFF
    }

    const fn is_compact(&self) -> bool {
        self.word >> 31 != 0
    }

    /// The move that a mover command asks for.
    pub(super) const fn task(&self) -> Move {
        let word = self.word;
        if self.is_compact() {
            let source = self.base.wrapping_add(word >> 8 & 0xFF);
            let mode = if word >> 30 & 1 != 0 { 3 } else { 1 };
            Move::of_units(word >> 16 & 0xFF, source, word >> 24 & 0x3F, mode)
        } else {
            let [source, destination, count, mode] = self.parameters;
            Move::of_units(destination, source, count, mode)
        }
    }

    /// The L1 write command: 32 or 64 bits.
    pub(super) fn write_l1<E: Env>(&self, at: Stamp, env: &mut E) -> Result<(), Fault> {
        let [addr, _, low, high] = self.parameters;
        let wide = self.word & 0x100 != 0;
        let bytes = if wide { 8 } else { 4 };
        if self.is_compact() || self.word & 0x600 != 0x600 {
            let text = format!("TDMA-RISC L1 write command {:#010x}", self.word);
            return Err(fault(at, Check::TdmaL1Write, text));
        }
        if addr >= L1_BYTES || addr % bytes != 0 {
            let text = format!("TDMA-RISC writes {bytes} bytes at {addr:#x}");
            return Err(fault(at, Check::TdmaL1Write, text));
        }
        env.l1_write(addr, low, Width::Word, at);
        if wide {
            env.l1_write(addr + 4, high, Width::Word, at);
        }
        Ok(())
    }
}

/// A command in the queue and who wrote it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Queued {
    pub(super) command: TdmaCommand,
    pub(super) at: Stamp,
}

/// The queue, oldest first.
#[derive(Clone, Debug)]
pub(super) struct CommandQueue {
    entries: [Option<Queued>; DEPTH],
    credits: u8,
}

impl CommandQueue {
    pub(super) const fn new() -> Self {
        Self { entries: [None; DEPTH], credits: PARAMETER_CREDITS }
    }

    pub(super) const fn front(&self) -> Option<&Queued> {
        self.entries[0].as_ref()
    }

    /// All commands, oldest first.
    pub(super) fn commands(&self) -> impl Iterator<Item = &TdmaCommand> {
        self.entries.iter().flatten().map(|queued| &queued.command)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.entries[0].is_none()
    }

    fn len(&self) -> usize {
        self.entries.iter().flatten().count()
    }

    /// Drops the oldest command.
    pub(super) fn pop(&mut self) {
        if self.entries[0].take().is_some_and(|entry| !entry.command.is_compact()) {
            self.credits += 1;
        }
        self.entries.rotate_left(1);
    }

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { entries, credits } = self;
        hasher.u8(*credits);
        // Who wrote a command and when is for diagnoses.
        for Queued { command, at: _ } in entries.iter().flatten() {
            let TdmaCommand { word, parameters, base } = command;
            hasher.words(&[*word, *base]);
            hasher.words(parameters);
        }
    }
}

impl Mover {
    /// Whether the command register has to wait.
    pub(crate) fn queue_is_full(&self) -> bool {
        self.queue.len() == DEPTH
    }

    /// Appends a command of TDMA-RISC.
    pub(crate) fn push(
        &mut self,
        command: TdmaCommand,
        at: Stamp,
        warnings: &mut Warnings,
    ) -> Outcome {
        let queue = &mut self.queue;
        let mut refuse = |check, text: &str| {
            let fault = fault(at, check, format!("{text} ({:#x})", command.word));
            warnings.lower(fault).map(drop)
        };
        let Some(slot) = queue.entries.iter_mut().find(|slot| slot.is_none()) else {
            return refuse(Check::TdmaQueueOverflow, "command written to the full TDMA-RISC queue");
        };
        if !command.is_compact() {
            if queue.credits == 0 {
                return refuse(
                    Check::TdmaParameters,
                    "third TDMA-RISC command with parameters while two wait; software has to \
                     enqueue a NOP command in between",
                );
            }
            queue.credits -= 1;
        }
        *slot = Some(Queued { command, at });
        Ok(())
    }

    /// The status register of TDMA-RISC at `now`.
    pub(crate) fn status(&self, now: Cycle) -> u32 {
        let (len, credits) = (self.queue.len(), self.queue.credits);
        let flags = [
            (0, self.is_busy(now)),
            (2, len == DEPTH),
            (3, len == 0),
            (4, credits == 0),
            (5, credits == PARAMETER_CREDITS),
        ];
        let flags = flags.into_iter().fold(0, |bits, (bit, set)| bits | u32::from(set) << bit);
        flags | ((DEPTH - len) as u32) << 8
    }
}
