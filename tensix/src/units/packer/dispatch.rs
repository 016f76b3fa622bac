//! The packer's door: one method per instruction.

use isa::execute::PackerOps;
use isa::operands;

use super::Packer;
use crate::checks::Check;
use crate::env::Env;
use crate::state::adc::ThreadAdcs;
use crate::state::dst::Dst;
use crate::timing::hazards::Pipelines;
use crate::units::config::ConfigUnit;
use crate::units::{At, Outcome};
use crate::warnings::Warnings;

/// What the instructions of this unit reach.
pub(crate) struct Reach<'a> {
    pub(crate) packer: &'a mut Packer,
    pub(crate) config: &'a ConfigUnit,
    pub(crate) adcs: &'a mut [ThreadAdcs; 3],
    pub(crate) dst: &'a Dst,
    pub(crate) warnings: &'a mut Warnings,
    /// Where the cost is booked, if there are any.
    pub(crate) pipelines: Option<&'a mut Pipelines>,
}

impl<E: Env> PackerOps<At<'_, E>> for Reach<'_> {
    type Outcome = Outcome;

    /// The packer reads the word itself: it keeps plans by word.
    #[inline(always)]
    fn pacr(&mut self, operands: operands::Pacr, at: At<'_, E>) -> Outcome {
        let At { issued, env, .. } = at;
        let thread = issued.thread.index();
        self.warnings.note_stochastic(self.config.stochastic_modes(thread), false, issued);
        let accumulates =
            self.pipelines.is_some() && self.packer.accumulates(operands, thread, self.config);
        self.packer.pacr(issued, self.config, self.adcs, self.dst, env)?;
        if let Some(pipelines) = &mut self.pipelines {
            pipelines.book_pack(self.packer.written_blocks, accumulates);
        }
        Ok(())
    }

    #[inline(always)]
    fn pacr_setreg(&mut self, operands: operands::PacrSetreg, at: At<'_, E>) -> Outcome {
        self.packer.pacr_setreg(operands, at.issued, self.config, at.env)
    }

    /// Reserved for future use `[llk: instructions/assembly.yaml]`.
    #[inline(always)]
    fn tbufcmd(&mut self, at: At<'_, E>) -> Outcome {
        Err(at.issued.error(Check::Reserved, "TBUFCMD is reserved"))
    }
}
