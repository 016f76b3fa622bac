//! Wait reasons with the names of their conditions, semaphores, mutexes.

use isa::names;
use sim_core::WaitReason;

use crate::labels::mutex_name;

/// A wait reason in words; like its `Display`, with names for numbers.
pub(crate) fn reason_text(reason: &WaitReason) -> String {
    match *reason {
        WaitReason::Stall { conditions } => {
            let conditions = names::bits(names::STALL_CONDITIONS, conditions.into());
            format!("STALLWAIT on {conditions}")
        }
        WaitReason::Semaphore { mask, condition } => {
            let semaphores = names::bits(names::SEMAPHORES, mask.into());
            let condition = names::bits(names::SEMAPHORE_CONDITIONS, condition.into());
            format!("SEMWAIT on {semaphores} while {condition}")
        }
        WaitReason::Mutex { index } => format!("ATGETM of mutex {}", mutex_name(index)),
        other => other.to_string(),
    }
}
