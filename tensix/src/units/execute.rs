//! Dispatch: an instruction to its unit, where it has a method of its own.
//!
//! The methods are those of the traits in [`isa::execute`], one per instruction: one that is missing does
//! not compile.

use isa::execute::{self, FrontendOps};
use isa::op::{OPCODE, Opcode, Unit};
use isa::operands;
use sim_core::{Cycle, ThreadId};

use super::config::{self, SideEffects};
use super::vector::Surroundings;
use super::{At, Fault, Issued, Outcome, matrix, misc, mover, packer, scalar, sync, unpacker};
use crate::backend::Backend;
use crate::checks::{Check, Then};
use crate::decode::Decoded;
use crate::env::Env;
use crate::gate::Gate;
use crate::timing::hazards::{Block, Operands};
use crate::ttsync::Declarations;

impl Backend {
    /// Executes an instruction that has passed `gate`, where a wait instruction is latched.
    ///
    /// # Errors
    /// `UndefinedBehavior` for words that the documents give no meaning; `MissingSpecification` for
    /// modes of which there is nothing that could be done.
    #[inline(always)]
    pub(crate) fn execute<E: Env>(
        &mut self,
        decoded: &Decoded,
        issued: &Issued,
        gate: &mut Gate,
        env: &mut E,
    ) -> Result<(), Fault> {
        let (opcode, word) = (decoded.opcode, issued.word);
        let at = At { issued, gate, env };
        let outcome = match decoded.unit {
            Unit::Matrix => return self.matrix_op(opcode, issued),
            Unit::Vector => return self.vector_op(opcode, issued),
            Unit::Sync => {
                let mut reach = sync::Reach { sync: &mut self.sync, config: &self.config };
                execute::sync(&mut reach, opcode, word, at)
            }
            Unit::Config => {
                let mut reach = self.config_reach();
                let outcome = execute::config(&mut reach, opcode, word, at);
                let effects = reach.effects;
                self.apply(effects);
                outcome
            }
            Unit::Unpacker => execute::unpacker(&mut self.unpacker_reach(), opcode, word, at),
            Unit::Packer => execute::packer(&mut self.packer_reach(), opcode, word, at),
            Unit::Scalar => {
                let mut reach = self.scalar_reach();
                let outcome = execute::scalar(&mut reach, opcode, word, at);
                let effects = reach.effects;
                self.apply(effects);
                if self.scalar.blocking.is_some() {
                    self.update_restricted();
                }
                outcome
            }
            Unit::Mover => {
                let mut reach = self.mover_reach();
                let outcome = execute::mover(&mut reach, opcode, word, at);
                let effects = reach.effects;
                self.apply(effects);
                outcome
            }
            Unit::Misc => execute::misc(&mut self.misc_reach(), opcode, word, issued),
            Unit::Frontend => execute::frontend(&mut self.declarations, opcode, word, issued),
        };
        outcome.expect("unit and opcode are of one row")
    }

    #[inline(always)]
    fn config_reach(&mut self) -> config::Reach<'_> {
        let Self { config, scalar, unpackers, .. } = self;
        let effects = SideEffects::default();
        config::Reach { config, gprs: &mut scalar.gprs, unpackers, effects }
    }

    #[inline(always)]
    fn unpacker_reach(&mut self) -> unpacker::Reach<'_> {
        let Self { unpackers, config, src, adcs, matrix, warnings, pipelines, occupancy, .. } =
            self;
        let banks = unpacker::Banks { config, src, held: self.held };
        let pipelines = occupancy.timed().then_some(pipelines);
        unpacker::Reach { unpackers, banks, adcs, dst: &mut matrix.dst, warnings, pipelines }
    }

    #[inline(always)]
    fn packer_reach(&mut self) -> packer::Reach<'_> {
        let Self { packer, config, adcs, matrix, warnings, pipelines, occupancy, .. } = self;
        let pipelines = occupancy.timed().then_some(pipelines);
        packer::Reach { packer, config, adcs, dst: &matrix.dst, warnings, pipelines }
    }

    #[inline(always)]
    pub(crate) fn scalar_reach(&mut self) -> scalar::Reach<'_> {
        let Self { scalar, config, adcs, src, unpackers, packer, occupancy, .. } = self;
        let effects = SideEffects::default();
        scalar::Reach { scalar, config, adcs, src, unpackers, packer, occupancy, effects }
    }

    #[inline(always)]
    pub(crate) fn mover_reach(&mut self) -> mover::Reach<'_> {
        let Self { mover, config, warnings, occupancy, .. } = self;
        let (timed, effects) = (occupancy.timed(), SideEffects::default());
        mover::Reach { mover, config, warnings, timed, effects }
    }

    #[inline(always)]
    pub(crate) fn misc_reach(&mut self) -> misc::Reach<'_> {
        let Self { adcs, unpackers, config, src, packer, warnings, .. } = self;
        let banks = unpacker::Banks { config, src, held: self.held };
        misc::Reach { adcs, unpackers, banks, packer, warnings }
    }

    /// What instructions name their operands by.
    pub(crate) fn operands(&self) -> Operands<'_> {
        let Self { matrix, config, src, packer, adcs, .. } = self;
        Operands { matrix, config, src, packer, adcs }
    }

    /// What an instruction is about to write to Dst.
    #[cold]
    pub(crate) fn dst_target(&mut self, opcode: Opcode, issued: &Issued) -> Option<Block> {
        if opcode == Opcode::Sfpstore {
            return Some((self.vector_store_row(issued) >> 3) as Block);
        }
        self.operands().dst_target(opcode, issued)
    }

    /// Executes a matrix-unit instruction.
    #[inline]
    pub(crate) fn matrix_op(&mut self, opcode: Opcode, issued: &Issued) -> Outcome {
        let Self { matrix, config, src, packer, vector, warnings, .. } = self;
        let lane_config = vector.file().lane_config();
        let mut reach = matrix::Reach { matrix, config, src, packer, lane_config, warnings };
        execute::matrix(&mut reach, opcode, issued.word, issued)
            .expect("the opcode is of this unit")
    }

    /// Executes the first of `words`, issued by `thread` in consecutive cycles, of which each does
    /// what its opcode nearly always does ([`Decoded::in_stretches`]), nobody hears of it and nothing
    /// can hold it: how many those are. `decoded` is what the first of them is.
    #[inline]
    pub(crate) fn execute_stretch(
        &mut self,
        decoded: &Decoded,
        words: &[u32],
        thread: ThreadId,
    ) -> usize {
        let is_alike = |word: u32| OPCODE.get(word) == decoded.opcode as u32;
        let done = match decoded.opcode {
            Opcode::Sfpload | Opcode::Sfpstore => {
                let mut at = Surroundings { matrix: &mut self.matrix, config: &self.config };
                self.vector.transfer(words, thread.index(), &mut at)
            }
            Opcode::Sfpmad | Opcode::Sfpadd | Opcode::Sfpmul => words
                .iter()
                .take_while(|&&word| is_alike(word) && self.vector.mad_plainly(word))
                .count(),
            Opcode::Sempost | Opcode::Semget => self.sync.adjust(words),
            Opcode::Nop | Opcode::Dmanop => {
                words.iter().take_while(|&&word| is_alike(word)).count()
            }
            _ => 0,
        };
        if done != 0 {
            self.last_served[decoded.unit as usize] = thread as u8;
        }
        done
    }

    #[inline]
    fn vector_op(&mut self, opcode: Opcode, issued: &Issued) -> Result<(), Fault> {
        let mut at = Surroundings { matrix: &mut self.matrix, config: &self.config };
        self.vector.issue(opcode, issued, &mut at)
    }

    /// The row of Dst that an SFPSTORE names.
    pub(crate) fn vector_store_row(&mut self, issued: &Issued) -> u32 {
        let at = Surroundings { matrix: &mut self.matrix, config: &self.config };
        self.vector.store_row(issued, &at)
    }

    /// The end of a cycle in which SFPLOADMACRO has something scheduled; whether anything changed.
    pub(crate) fn finish_vector_cycle(&mut self, now: Cycle) -> Result<bool, Fault> {
        let mut at = Surroundings { matrix: &mut self.matrix, config: &self.config };
        let warnings = &mut self.warnings;
        self.vector.finish_cycle(now, &mut at, &mut |fault| warnings.lower(fault).map(drop))
    }

    /// An instruction that a unit refused for `fault`. With the check lowered it ends there, or is
    /// executed again and told that this is allowed.
    #[cold]
    #[inline(never)]
    pub(crate) fn unit_refused<E: Env>(
        &mut self,
        mut fault: Fault,
        decoded: &Decoded,
        issued: &Issued,
        gate: &mut Gate,
        env: &mut E,
    ) -> Result<(), Fault> {
        let mut issued = *issued;
        loop {
            let row = self.warnings.lower(fault)?;
            // A check that is raised although it is allowed knows no way to go on.
            if row.then == Then::Ends || issued.allows(row.check) {
                return Ok(());
            }
            issued.allowed = issued.allowed.with(row.check);
            match self.execute(decoded, &issued, gate, env) {
                Ok(()) => return Ok(()),
                Err(next) => fault = next,
            }
        }
    }

    /// Carries a configuration write's effects to the units they concern.
    #[inline(always)]
    pub(crate) fn apply(&mut self, effects: SideEffects) {
        if let Some(seed) = effects.seed {
            self.vector.seed(seed);
            self.packer.dither.seed(seed);
        }
    }
}

/// What reaches the back end of what the expanders take.
impl FrontendOps<&Issued> for Declarations {
    type Outcome = Outcome;

    #[inline(always)]
    fn resourcedecl(&mut self, operands: operands::Resourcedecl, issued: &Issued) -> Outcome {
        self.declare(operands, issued);
        Ok(())
    }

    #[inline(always)]
    fn mop(&mut self, _: operands::Mop, issued: &Issued) -> Outcome {
        Err(expander_word("MOP", issued))
    }

    #[inline(always)]
    fn mop_cfg(&mut self, _: operands::MopCfg, issued: &Issued) -> Outcome {
        Err(expander_word("MOP_CFG", issued))
    }

    #[inline(always)]
    fn replay(&mut self, _: operands::Replay, issued: &Issued) -> Outcome {
        Err(issued
            .error(Check::ReplayNested, "REPLAY inside a recorded sequence is not expanded again"))
    }
}

#[cold]
fn expander_word(name: &str, issued: &Issued) -> Fault {
    issued.error(
        Check::MopAfterExpander,
        format!("{name} behind the MOP expander, where BRISC pushes, is never expanded"),
    )
}
