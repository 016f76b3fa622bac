//! Dispatch: an instruction to its unit, where it has a method of its own.
//!
//! The methods are those of the traits in [`isa::execute`], one per instruction: one that is missing does
//! not compile.

use isa::config::field;
use isa::execute::{self, FrontendOps};
use isa::op::{OPCODE, Opcode, Unit};
use isa::operands;
use sim_core::{Cycle, ThreadId};

use super::config::SideEffects;
use super::vector::Surroundings;
use super::{At, Fault, Issued, Outcome};
use crate::backend::Backend;
use crate::checks::{self, Check};
use crate::decode::Decoded;
use crate::env::Env;
use crate::gate::Gate;

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
            Unit::Sync => execute::sync(self, opcode, word, at),
            Unit::Config => execute::config(self, opcode, word, at),
            Unit::Unpacker => execute::unpacker(self, opcode, word, at),
            Unit::Packer => execute::packer(self, opcode, word, at),
            Unit::Scalar => execute::scalar(self, opcode, word, at),
            Unit::Mover => execute::mover(self, opcode, word, at),
            Unit::Misc => execute::misc(self, opcode, word, issued),
            Unit::Frontend => execute::frontend(self, opcode, word, issued),
        };
        outcome.expect("unit and opcode are of one row")
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

    /// Notes arithmetic and packing that software wants rounded stochastically: of which numbers is
    /// not public.
    #[inline]
    pub(crate) fn note_stochastic(&mut self, arithmetic: bool, issued: &Issued) {
        let words = &self.config.states[self.config.state_id(issued.thread.index())];
        let modes = words[field::ALU_ROUNDING_MODE_Fpu_srnd_en.addr32 as usize] & 7;
        if modes != 0 {
            self.note_rounding(arithmetic, modes, issued);
        }
    }

    #[cold]
    fn note_rounding(&mut self, arithmetic: bool, modes: u32, issued: &Issued) {
        if arithmetic && modes & 1 != 0 {
            self.warnings.note(issued, checks::FPU_STOCHASTIC);
        }
        if !arithmetic && modes & 6 != 0 {
            self.warnings.note(issued, checks::PACK_STOCHASTIC);
        }
    }

    /// Carries a configuration write's effects to the units they concern.
    pub(crate) fn apply(&mut self, effects: SideEffects) {
        if let Some(seed) = effects.seed {
            self.vector.seed(seed);
            self.packer.dither.seed(seed);
        }
    }
}

/// What reaches the back end of what the expanders take.
impl FrontendOps<&Issued> for Backend {
    type Outcome = Outcome;

    #[inline(always)]
    fn resourcedecl(&mut self, operands: operands::Resourcedecl, issued: &Issued) -> Outcome {
        self.declarations.declare(operands, issued);
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
