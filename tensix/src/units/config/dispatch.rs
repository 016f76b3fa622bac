//! The configuration unit's door: one method per instruction.

use isa::config::field;
use isa::execute::ConfigOps;
use isa::operands;

use super::{ConfigUnit, SideEffects};
use crate::env::Env;
use crate::state::gprs::GPRS;
use crate::units::unpacker::Unpackers;
use crate::units::{At, Issued, Outcome};

/// Thread configuration word that controls the unpackers' context counters.
const UNPACK_MISC_CFG: u32 = field::UNPACK_MISC_CFG_CfgContextOffset_0.addr32;

/// What the instructions of this unit reach.
pub(crate) struct Reach<'a> {
    pub(crate) config: &'a mut ConfigUnit,
    pub(crate) gprs: &'a mut [[u32; GPRS]; 3],
    pub(crate) unpackers: &'a mut Unpackers,
    /// What other units have to hear.
    pub(crate) effects: SideEffects,
}

impl Reach<'_> {
    /// RMWCIB0 to RMWCIB3, by the byte that they change.
    fn rmwcib<E: Env>(
        &mut self,
        issued: &Issued,
        change: (u32, operands::ConfigByte),
        env: &mut E,
    ) -> Outcome {
        self.effects = self.config.rmwcib(issued, change, env)?;
        Ok(())
    }
}

impl<E: Env> ConfigOps<At<'_, E>> for Reach<'_> {
    type Outcome = Outcome;

    #[inline(always)]
    fn setc16(&mut self, operands: operands::Setc16, at: At<'_, E>) -> Outcome {
        self.config.setc16(operands, at.issued, at.env)?;
        if operands.setc16_reg == UNPACK_MISC_CFG {
            let (thread, value) = (at.issued.thread, operands.setc16_value);
            self.unpackers.misc_written(thread, value, self.config);
        }
        Ok(())
    }

    #[inline(always)]
    fn wrcfg(&mut self, operands: operands::Wrcfg, at: At<'_, E>) -> Outcome {
        let word = ConfigUnit::checked(at.issued, "WRCFG", operands.cfg_reg)?;
        let gprs = &self.gprs[at.issued.thread.index()];
        let source = (gprs, operands.gpr_address, operands.wr128b);
        self.effects = self.config.move_gprs(at.issued, word, source, at.env);
        Ok(())
    }

    #[inline(always)]
    fn rdcfg(&mut self, operands: operands::Rdcfg, at: At<'_, E>) -> Outcome {
        let word = ConfigUnit::checked(at.issued, "RDCFG", operands.cfg_reg)?;
        let thread = at.issued.thread.index();
        let value = self.config.states[self.config.state_id(thread)][word];
        self.gprs[thread][operands.gpr_address as usize] = value;
        Ok(())
    }

    #[inline(always)]
    fn rmwcib0(&mut self, operands: operands::Rmwcib0, at: At<'_, E>) -> Outcome {
        self.rmwcib(at.issued, (0, operands), at.env)
    }

    #[inline(always)]
    fn rmwcib1(&mut self, operands: operands::Rmwcib1, at: At<'_, E>) -> Outcome {
        self.rmwcib(at.issued, (1, operands), at.env)
    }

    #[inline(always)]
    fn rmwcib2(&mut self, operands: operands::Rmwcib2, at: At<'_, E>) -> Outcome {
        self.rmwcib(at.issued, (2, operands), at.env)
    }

    #[inline(always)]
    fn rmwcib3(&mut self, operands: operands::Rmwcib3, at: At<'_, E>) -> Outcome {
        self.rmwcib(at.issued, (3, operands), at.env)
    }

    #[inline(always)]
    fn cfgshiftmask(&mut self, operands: operands::Cfgshiftmask, at: At<'_, E>) -> Outcome {
        self.effects = self.config.cfgshiftmask(operands, at.issued, at.env)?;
        Ok(())
    }

    #[inline(always)]
    fn streamwrcfg(&mut self, operands: operands::Streamwrcfg, at: At<'_, E>) -> Outcome {
        self.effects = self.config.streamwrcfg(operands, at.issued, at.env)?;
        Ok(())
    }
}
