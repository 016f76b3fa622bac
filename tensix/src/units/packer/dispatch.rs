//! The packer's door: one method per instruction.

use isa::execute::PackerOps;
use isa::operands;

use crate::backend::Backend;
use crate::checks::Check;
use crate::env::Env;
use crate::units::{At, Outcome};

impl<E: Env> PackerOps<At<'_, E>> for Backend {
    type Outcome = Outcome;

    /// The packer reads the word itself: it keeps plans by word.
    #[inline(always)]
    fn pacr(&mut self, operands: operands::Pacr, at: At<'_, E>) -> Outcome {
        let At { issued, env, .. } = at;
        self.note_stochastic(false, issued);
        let thread = issued.thread.index();
        let accumulates = self.timed && self.packer.accumulates(operands, thread, &self.config);
        let Self { packer, config, adcs, matrix, .. } = self;
        packer.pacr(issued, config, adcs, &matrix.dst, env)?;
        if self.timed {
            self.book_pack(self.packer.written_blocks, accumulates);
        }
        Ok(())
    }

    #[inline(always)]
    fn pacr_setreg(&mut self, operands: operands::PacrSetreg, at: At<'_, E>) -> Outcome {
        self.packer.pacr_setreg(operands, at.issued, &self.config, at.env)
    }

    /// Reserved for future use `[llk: instructions/assembly.yaml]`.
    #[inline(always)]
    fn tbufcmd(&mut self, at: At<'_, E>) -> Outcome {
        Err(at.issued.error(Check::Reserved, "TBUFCMD is reserved"))
    }
}
