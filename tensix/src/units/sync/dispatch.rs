//! The sync unit's door: one method per instruction, and what wait instructions latch.

use isa::execute::SyncOps;
use isa::operands;

use super::SyncUnit;
use crate::checks::Check;
use crate::env::Env;
use crate::gate::{Condition, Latch};
use crate::units::config::ConfigUnit;
use crate::units::{At, Issued, Outcome};

/// Block bit that a mask of 0 stands for: B6.
const DEFAULT_BLOCK: u16 = 1 << 6;
/// Conditions that a mask of 0 stands for: C0 to C3.
const DEFAULT_CONDITIONS: u16 = 0x0F;

/// What a wait instruction latches.
fn latch(condition: Condition, block: u32, issued: &Issued) -> Latch {
    let block = if block == 0 { DEFAULT_BLOCK } else { block as u16 };
    let (word, origin, since) = (issued.word, issued.origin, issued.now);
    Latch { condition, block, word, origin, since, unmet: None }
}

/// What the instructions of this unit reach.
pub(crate) struct Reach<'a> {
    pub(crate) sync: &'a mut SyncUnit,
    pub(crate) config: &'a ConfigUnit,
}

impl<E: Env> SyncOps<At<'_, E>> for Reach<'_> {
    type Outcome = Outcome;

    #[inline(always)]
    fn stallwait(&mut self, operands: operands::Stallwait, at: At<'_, E>) -> Outcome {
        let mask = match operands.wait_res as u16 {
            0 => DEFAULT_CONDITIONS,
            mask => mask,
        };
        at.gate.latch = Some(latch(Condition::Stall { mask }, operands.stall_res, at.issued));
        Ok(())
    }

    #[inline(always)]
    fn semwait(&mut self, operands: operands::Semwait, at: At<'_, E>) -> Outcome {
        let condition = operands.wait_sem_cond as u8;
        if condition == 0 {
            at.issued.refuse(Check::SemwaitCondition, "SEMWAIT with no condition selected")?;
        }
        let condition = Condition::Semaphores { mask: operands.sem_sel as u8, condition };
        at.gate.latch = Some(latch(condition, operands.stall_res, at.issued));
        Ok(())
    }

    #[inline(always)]
    fn streamwait(&mut self, operands: operands::Streamwait, at: At<'_, E>) -> Outcome {
        let messages = operands.target_sel;
        let thread = at.issued.thread.index();
        let target = self.config.stream_target(thread, messages, operands.target_value);
        let select = operands.wait_stream_sel as u8;
        let condition = Condition::Stream { select, target, messages };
        at.gate.latch = Some(latch(condition, operands.stall_res, at.issued));
        Ok(())
    }

    #[inline(always)]
    fn seminit(&mut self, operands: operands::Seminit, at: At<'_, E>) -> Outcome {
        self.sync.seminit(operands, at.issued, at.env);
        Ok(())
    }

    #[inline(always)]
    fn sempost(&mut self, operands: operands::Sempost, at: At<'_, E>) -> Outcome {
        self.sync.sempost(operands.sem_sel, at.issued, at.env);
        Ok(())
    }

    #[inline(always)]
    fn semget(&mut self, operands: operands::Semget, at: At<'_, E>) -> Outcome {
        self.sync.semget(operands.sem_sel, at.issued, at.env);
        Ok(())
    }

    #[inline(always)]
    fn atgetm(&mut self, operands: operands::Atgetm, at: At<'_, E>) -> Outcome {
        self.sync.atgetm(operands.mutex_index, at.issued, at.env);
        Ok(())
    }

    #[inline(always)]
    fn atrelm(&mut self, operands: operands::Atrelm, at: At<'_, E>) -> Outcome {
        self.sync.atrelm(operands.mutex_index, at.issued, at.env);
        Ok(())
    }
}
