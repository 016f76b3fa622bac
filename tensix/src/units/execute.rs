//! Dispatch: an instruction to its unit, where it has a method of its own.
//!
//! The methods are those of the traits in [`isa::execute`], one per instruction: one that is missing does
//! not compile.
//!
//! A unit's function makes what its instructions reach and finds the method, and is not inlined itself: so
//! what a method does not use is not made. Made before the call, it cost each scalar instruction 25 host
//! instructions (bench `issue`, callgrind).

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

/// Why the unit of an instruction knows its opcode.
const OF_ONE_ROW: &str = "unit and opcode are of one row";

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
    ) -> Outcome {
        let opcode = decoded.opcode;
        match decoded.unit {
            Unit::Matrix => self.matrix_op(opcode, issued),
            Unit::Vector => self.vector_op(opcode, issued),
            Unit::Sync => self.sync_op(opcode, issued, gate, env),
            Unit::Config => self.config_op(opcode, issued, gate, env),
            Unit::Unpacker => self.unpacker_op(opcode, issued, gate, env),
            Unit::Packer => self.packer_op(opcode, issued, gate, env),
            Unit::Scalar => self.scalar_op(opcode, issued, gate, env),
            Unit::Mover => self.mover_op(opcode, issued, gate, env),
            Unit::Misc => self.misc_op(opcode, issued),
            Unit::Frontend => self.frontend_op(opcode, issued),
        }
    }

    #[inline(never)]
    fn sync_op<E: Env>(
        &mut self,
        opcode: Opcode,
        issued: &Issued,
        gate: &mut Gate,
        env: &mut E,
    ) -> Outcome {
        let at = At { issued, gate, env };
        let mut reach = sync::Reach { sync: &mut self.sync, config: &self.config };
        execute::sync(&mut reach, opcode, issued.word, at).expect(OF_ONE_ROW)
    }

    #[inline(never)]
    fn config_op<E: Env>(
        &mut self,
        opcode: Opcode,
        issued: &Issued,
        gate: &mut Gate,
        env: &mut E,
    ) -> Outcome {
        let at = At { issued, gate, env };
        let Self { config, scalar, unpackers, .. } = self;
        let (gprs, effects) = (&mut scalar.gprs, SideEffects::default());
        let mut reach = config::Reach { config, gprs, unpackers, effects };
        let outcome = execute::config(&mut reach, opcode, issued.word, at);
        let effects = reach.effects;
        self.apply(effects);
        outcome.expect(OF_ONE_ROW)
    }

    #[inline(never)]
    fn unpacker_op<E: Env>(
        &mut self,
        opcode: Opcode,
        issued: &Issued,
        gate: &mut Gate,
        env: &mut E,
    ) -> Outcome {
        let at = At { issued, gate, env };
        let Self { unpackers, config, src, adcs, matrix, warnings, pipelines, occupancy, .. } =
            self;
        let banks = unpacker::Banks { config, src, held: self.held };
        let (dst, pipelines) = (&mut matrix.dst, occupancy.timed().then_some(pipelines));
        let mut reach = unpacker::Reach { unpackers, banks, adcs, dst, warnings, pipelines };
        execute::unpacker(&mut reach, opcode, issued.word, at).expect(OF_ONE_ROW)
    }

    #[inline(never)]
    fn packer_op<E: Env>(
        &mut self,
        opcode: Opcode,
        issued: &Issued,
        gate: &mut Gate,
        env: &mut E,
    ) -> Outcome {
        let at = At { issued, gate, env };
        let Self { packer, config, adcs, matrix, warnings, pipelines, occupancy, .. } = self;
        let (dst, pipelines) = (&matrix.dst, occupancy.timed().then_some(pipelines));
        let mut reach = packer::Reach { packer, config, adcs, dst, warnings, pipelines };
        execute::packer(&mut reach, opcode, issued.word, at).expect(OF_ONE_ROW)
    }

    #[inline(never)]
    fn scalar_op<E: Env>(
        &mut self,
        opcode: Opcode,
        issued: &Issued,
        gate: &mut Gate,
        env: &mut E,
    ) -> Outcome {
        let at = At { issued, gate, env };
        let Self { scalar, config, adcs, src, unpackers, packer, occupancy, .. } = self;
        let effects = SideEffects::default();
        let mut reach =
            scalar::Reach { scalar, config, adcs, src, unpackers, packer, occupancy, effects };
        let outcome = execute::scalar(&mut reach, opcode, issued.word, at);
        let effects = reach.effects;
        self.apply(effects);
        if self.scalar.blocking.is_some() {
            self.update_restricted();
        }
        outcome.expect(OF_ONE_ROW)
    }

    #[inline(never)]
    fn mover_op<E: Env>(
        &mut self,
        opcode: Opcode,
        issued: &Issued,
        gate: &mut Gate,
        env: &mut E,
    ) -> Outcome {
        let at = At { issued, gate, env };
        let mut reach = self.mover_reach();
        let outcome = execute::mover(&mut reach, opcode, issued.word, at);
        let effects = reach.effects;
        self.apply(effects);
        outcome.expect(OF_ONE_ROW)
    }

    #[inline(never)]
    pub(crate) fn misc_op(&mut self, opcode: Opcode, issued: &Issued) -> Outcome {
        let Self { adcs, unpackers, config, src, packer, warnings, .. } = self;
        let banks = unpacker::Banks { config, src, held: self.held };
        let mut reach = misc::Reach { adcs, unpackers, banks, packer, warnings };
        execute::misc(&mut reach, opcode, issued.word, issued).expect(OF_ONE_ROW)
    }

    #[inline(never)]
    fn frontend_op(&mut self, opcode: Opcode, issued: &Issued) -> Outcome {
        execute::frontend(&mut self.declarations, opcode, issued.word, issued).expect(OF_ONE_ROW)
    }

    #[inline(always)]
    pub(crate) fn mover_reach(&mut self) -> mover::Reach<'_> {
        let Self { mover, config, warnings, occupancy, .. } = self;
        let (timed, effects) = (occupancy.timed(), SideEffects::default());
        mover::Reach { mover, config, warnings, timed, effects }
    }

    /// What instructions that occupy the scalar unit reach.
    pub(crate) fn scalar_attempts(&mut self) -> scalar::Attempts<'_> {
        let Self { scalar, src, occupancy, .. } = self;
        scalar::Attempts { scalar, src, occupancy }
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
    #[inline(never)]
    pub(crate) fn matrix_op(&mut self, opcode: Opcode, issued: &Issued) -> Outcome {
        let Self { matrix, config, src, packer, vector, warnings, .. } = self;
        let lane_config = vector.file().lane_config();
        let mut reach = matrix::Reach { matrix, config, src, packer, lane_config, warnings };
        execute::matrix(&mut reach, opcode, issued.word, issued).expect(OF_ONE_ROW)
    }

    /// Executes the first of `words`, issued by `thread` in consecutive cycles, of which each does
    /// what its opcode nearly always does ([`Decoded::in_stretches`]), no observer hears of it and nothing
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

    /// Whether an SFPLOAD reads cells of 32 bits.
    pub(crate) fn vector_loads_word(&mut self, issued: &Issued) -> bool {
        let at = Surroundings { matrix: &mut self.matrix, config: &self.config };
        self.vector.loads_word(issued, &at)
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
