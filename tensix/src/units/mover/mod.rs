//! The mover: copies from L1, or zeroes, to L1 or to the configuration, in units of 16 bytes; and
//! the TDMA-RISC command processor that drives it for cores.
//!
//! A move has its whole effect when it starts; what it costs keeps the mover busy afterwards.
//!
//! Not modelled: the instruction RAM of NCRISC, which Blackhole does not document; moves there
//! stop with `tensix-mover-iram`.
//!
//! Sources: `[isa-wh: TensixTile/Mover.md]`, `[isa-wh: TensixTile/TDMA-RISC.md]`,
//! `[isa-wh: TensixCoprocessor/XMOV.md]`.

mod command;
#[cfg(test)]
mod tests;

use isa::config::field;
use isa::execute::MoverOps;
use isa::operands;
use sim_core::l1::L1_BYTES;
use sim_core::observer::Stamp;
use sim_core::{Context, Cycle, StateHasher, Width};

use super::config::{ConfigUnit, SideEffects};
use super::{At, Fault, Issued, Outcome};
use crate::checks::{self, Check};
use crate::env::Env;
use crate::warnings::Warnings;
pub use command::TdmaCommand;
use command::{CommandQueue, Queued};

/// Bytes of a unit.
const UNIT_BYTES: u32 = 16;
/// Configuration is the first 64 KiB of the mover's other address space.
const CONFIG_LIMIT: u32 = 0x1_0000;
/// Instruction RAM of NCRISC on Wormhole.
const IRAM: std::ops::Range<u32> = 0x4_0000..0x5_0000;

/// A move as TDMA-RISC or XMOV asks for it, all in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Move {
    pub(crate) destination: u32,
    pub(crate) source: u32,
    pub(crate) count: u32,
    /// Bit 0: the destination is not L1 unless both bits are set; see [`Move::copies`] and
    /// [`Move::targets_l1`].
    pub(crate) mode: u32,
}

impl Move {
    /// Units of 16 bytes as registers and commands count them.
    pub(crate) const fn of_units(destination: u32, source: u32, count: u32, mode: u32) -> Self {
        Self {
            destination: destination.wrapping_mul(UNIT_BYTES),
            source: source.wrapping_mul(UNIT_BYTES),
            count: (count & 0xFFFF) * UNIT_BYTES,
            mode: mode & 3,
        }
    }

    /// Modes 1 and 3 copy from L1; 0 and 2 write zeroes.
    const fn copies(&self) -> bool {
        self.mode & 1 != 0
    }

    /// Modes 0 and 3 write to L1.
    const fn targets_l1(&self) -> bool {
        matches!(self.mode, 0 | 3)
    }

    /// Cycles under ideal conditions: eight units in 11 cycles to copy, one per cycle to zero.
    const fn cycles(&self) -> u64 {
        let units = (self.count / UNIT_BYTES) as u64;
        if self.copies() { (units * 11).div_ceil(8) } else { units }
    }
}

/// The mover's state.
#[derive(Clone, Debug)]
pub(crate) struct Mover {
    /// First cycle in which it can start a move.
    free: Cycle,
    queue: CommandQueue,
}

impl Mover {
    pub(crate) const fn new() -> Self {
        Self { free: Cycle::ZERO, queue: CommandQueue::new() }
    }

    /// Whether a move is going on at `now`.
    #[inline]
    pub(crate) fn is_busy(&self, now: Cycle) -> bool {
        self.free > now
    }

    /// Whether the command processor has anything to do.
    #[inline]
    pub(crate) const fn has_commands(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether time alone still changes something after `now`.
    pub(crate) fn has_work(&self, now: Cycle) -> bool {
        self.has_commands() || self.is_busy(now)
    }

    /// First cycle in which it can start a move.
    pub(crate) const fn free_at(&self) -> Cycle {
        self.free
    }

    /// Commands of TDMA-RISC that wait, oldest first.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &TdmaCommand> {
        self.queue.commands()
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { free, queue } = self;
        hasher.u64(free.0);
        queue.hash_state(hasher);
    }
}

/// A diagnosis of whoever asked for a move.
fn fault(at: Stamp, check: Check, text: String) -> Fault {
    let context = Context { cycle: at.cycle, agent: at.agent, pc: Some(at.pc), word: None };
    check.fault(text, context)
}

/// What moves reach.
pub(crate) struct Reach<'a> {
    pub(crate) mover: &'a mut Mover,
    pub(crate) config: &'a mut ConfigUnit,
    pub(crate) warnings: &'a mut Warnings,
    /// Whether moves have costs.
    pub(crate) timed: bool,
    /// What other units have to hear.
    pub(crate) effects: SideEffects,
}

impl Reach<'_> {
    /// A move as the configuration describes it.
    fn configured_move(&mut self, second: bool, issued: &Issued) -> Move {
        let get = |field| self.config.state_field(issued.thread.index(), field);
        if !second {
            return Move::of_units(
                get(&field::THCON_SEC0_REG6_Destination_address),
                get(&field::THCON_SEC0_REG6_Source_address),
                get(&field::THCON_SEC0_REG6_Buffer_size),
                get(&field::THCON_SEC0_REG6_Transfer_direction),
            );
        }
        // "Select between two move blocks" [llk: instructions/assembly.yaml]: the fields have a
        // second set, in THCON's section 1 [unknown: U-078].
        self.warnings.note(issued, checks::XMOV_BLOCK);
        Move::of_units(
            get(&field::THCON_SEC1_REG6_Destination_address),
            get(&field::THCON_SEC1_REG6_Source_address),
            get(&field::THCON_SEC1_REG6_Buffer_size),
            get(&field::THCON_SEC1_REG6_Transfer_direction),
        )
    }

    /// Performs a move and books its time.
    fn start_move<E: Env>(
        &mut self,
        task: Move,
        now: Cycle,
        at: Stamp,
        env: &mut E,
    ) -> Result<(), Fault> {
        check(&task, at)?;
        if task.copies() && env.wants_l1_reads() {
            env.l1_read(task.source, task.count, at);
        }
        for offset in (0..task.count).step_by(4) {
            let value = if task.copies() { env.l1_word(task.source + offset) } else { 0 };
            if task.targets_l1() {
                env.l1_write(task.destination + offset, value, Width::Word, at);
            } else if task.destination < CONFIG_LIMIT {
                let word = (task.destination + offset) / 4;
                match self.config.write_window(word, value, at, env) {
                    Ok(effects) => self.effects = self.effects.then(effects),
                    Err(door) => {
                        let text = format!("mover: {door}");
                        return Err(fault(at, door.check(), text));
                    }
                }
            }
        }
        let cycles = if self.timed { task.cycles().max(1) } else { 1 };
        self.mover.free = now + cycles;
        Ok(())
    }

    /// A cycle of the command processor, which takes at most one command; whether it did.
    pub(crate) fn step_tdma<E: Env>(&mut self, now: Cycle, env: &mut E) -> Result<bool, Fault> {
        let Some(&Queued { command, at }) = self.mover.queue.front() else { return Ok(false) };
        let opcode = command.opcode();
        if matches!(opcode, TdmaCommand::MOVE | TdmaCommand::WAIT) && self.mover.is_busy(now) {
            return Ok(false);
        }
        // Before it is carried out: a mistake must not be met again.
        self.mover.queue.pop();
        match opcode {
            TdmaCommand::MOVE => self.start_move(command.task(), now, at, env)?,
            TdmaCommand::WRITE => command.write_l1(at, env)?,
            TdmaCommand::WAIT | TdmaCommand::NOP => {}
            opcode => {
                let text = format!("no TDMA-RISC command has opcode {opcode:#x}");
                return Err(fault(at, Check::TdmaCommand, text));
            }
        }
        Ok(true)
    }
}

impl<E: Env> MoverOps<At<'_, E>> for Reach<'_> {
    type Outcome = Outcome;

    /// The gate waits until the mover is free.
    #[inline(always)]
    fn xmov(&mut self, operands: operands::Xmov, at: At<'_, E>) -> Outcome {
        let task = self.configured_move(operands.mov_block_selection, at.issued);
        self.start_move(task, at.issued.now, at.issued.stamp(), at.env)
    }
}

/// Refuses what the page leaves undefined.
fn check(task: &Move, at: Stamp) -> Result<(), Fault> {
    let undefined = |text| Err(fault(at, Check::MoverAddress, text));
    let beyond = |start: u32| u64::from(start) + u64::from(task.count) > u64::from(L1_BYTES);
    let Move { destination, source, count, .. } = *task;
    if task.copies() && beyond(source) {
        let text = format!("mover reads {count:#x} bytes at {source:#x}, beyond L1");
        return undefined(text);
    }
    if task.targets_l1() {
        if beyond(destination) {
            let text = format!("mover writes {count:#x} bytes at {destination:#x}, beyond L1");
            return undefined(text);
        }
        return Ok(());
    }
    if (destination & 0xFFFF) + count > 0x1_0000 {
        let text = format!("mover writes {count:#x} bytes at {destination:#x}, over two regions");
        return undefined(text);
    }
    if IRAM.contains(&destination) {
        let text = format!("mover writes instruction RAM at {destination:#x}");
        return Err(fault(at, Check::MoverIram, text));
    }
    Ok(())
}
