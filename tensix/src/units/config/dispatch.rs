//! The configuration unit's door: one method per instruction.

use isa::config::field;
use isa::execute::ConfigOps;
use isa::operands;

use super::ConfigUnit;
use crate::backend::Backend;
use crate::env::Env;
use crate::units::{At, Issued, Outcome};

/// Thread configuration word that controls the unpackers' context counters.
const UNPACK_MISC_CFG: u32 = field::UNPACK_MISC_CFG_CfgContextOffset_0.addr32;

impl Backend {
    /// RMWCIB0 to RMWCIB3, by the byte that they change.
    fn rmwcib<E: Env>(
        &mut self,
        issued: &Issued,
        change: (u32, operands::ConfigByte),
        env: &mut E,
    ) -> Outcome {
        let effects = self.config.rmwcib(issued, change, env)?;
        self.apply(effects);
        Ok(())
    }

    /// Moves one GPR to one word, or an aligned group of four to four words.
    pub(crate) fn move_to_config<E: Env>(
        &mut self,
        issued: &Issued,
        word: usize,
        (gpr, wide): (u32, bool),
        env: &mut E,
    ) {
        let thread = issued.thread.index();
        let (first, gpr, count) =
            if wide { (word & !3, gpr as usize & !3, 4) } else { (word, gpr as usize, 1) };
        for offset in 0..count {
            let value = self.scalar.gprs[thread][gpr + offset];
            let state = self.config.state_id(thread);
            let effects = self.config.write(state, first + offset, value, issued.stamp(), env);
            self.apply(effects);
        }
    }
}

impl<E: Env> ConfigOps<At<'_, E>> for Backend {
    type Outcome = Outcome;

    #[inline(always)]
    fn setc16(&mut self, operands: operands::Setc16, at: At<'_, E>) -> Outcome {
        self.config.setc16(operands, at.issued, at.env)?;
        if operands.setc16_reg == UNPACK_MISC_CFG {
            self.unpack_misc_written(at.issued.thread, operands.setc16_value);
        }
        Ok(())
    }

    #[inline(always)]
    fn wrcfg(&mut self, operands: operands::Wrcfg, at: At<'_, E>) -> Outcome {
        let word = ConfigUnit::checked(at.issued, "WRCFG", operands.cfg_reg)?;
        self.move_to_config(at.issued, word, (operands.gpr_address, operands.wr128b), at.env);
        Ok(())
    }

    #[inline(always)]
    fn rdcfg(&mut self, operands: operands::Rdcfg, at: At<'_, E>) -> Outcome {
        let word = ConfigUnit::checked(at.issued, "RDCFG", operands.cfg_reg)?;
        let thread = at.issued.thread.index();
        let value = self.config.states[self.config.state_id(thread)][word];
        self.scalar.gprs[thread][operands.gpr_address as usize] = value;
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
        let effects = self.config.cfgshiftmask(operands, at.issued, at.env)?;
        self.apply(effects);
        Ok(())
    }

    #[inline(always)]
    fn streamwrcfg(&mut self, operands: operands::Streamwrcfg, at: At<'_, E>) -> Outcome {
        let effects = self.config.streamwrcfg(operands, at.issued, at.env)?;
        self.apply(effects);
        Ok(())
    }
}
