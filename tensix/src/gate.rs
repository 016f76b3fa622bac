//! The wait gate of one thread: the latched wait instruction and what the front waits for.
//!
//! A wait instruction is latched in one cycle and is re-evaluated from the next one on. It holds
//! matching instructions back in every cycle in which it is latched, and is forgotten at the end
//! of the first cycle in which its conditions are met: hence the instruction behind a wait always
//! loses at least one cycle.
//!
//! Sources: `[isa-bh: TensixCoprocessor/STALLWAIT.md]`, `SEMWAIT.md`, `STREAMWAIT.md`.

use isa::op::{ALL_BLOCK_BITS, Opcode};
use sim_core::observer::Slot;
use sim_core::{Cycle, WaitReason};

use crate::decode::Decoded;
use crate::queue::{Origin, Queued};

/// The condition a latched wait instruction re-evaluates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Condition {
    /// STALLWAIT: all selected conditions C0 to C12 must be clear at once.
    Stall { mask: u16 },
    /// SEMWAIT: no selected semaphore may be zero (bit 0) or at its maximum (bit 1).
    Semaphores { mask: u8, condition: u8 },
    /// STREAMWAIT: a register of the selected stream must reach the target.
    Stream { select: u8, target: u32, messages: bool },
}

/// A latched wait instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Latch {
    pub(crate) condition: Condition,
    pub(crate) block: u16,
    pub(crate) word: u32,
    pub(crate) origin: Origin,
    pub(crate) since: Cycle,
    /// What was not met at the last evaluation; `None` before the first one.
    pub(crate) unmet: Option<WaitReason>,
}

/// What a thread's front instruction, or its latched wait instruction, waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadWait {
    /// The resource and the condition.
    pub reason: WaitReason,
    /// First cycle of waiting for exactly that.
    pub since: Cycle,
    /// The waiting instruction: a wait instruction that is latched, or one that cannot issue.
    pub word: u32,
    /// Who pushed it.
    pub origin: Origin,
    /// The front instruction that a latched wait instruction holds back, and who pushed it.
    pub held: Option<(u32, Origin)>,
}

/// The instruction at the wait gate of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtGate {
    /// The instruction.
    pub word: u32,
    /// Who pushed it, or the `MOP` or `REPLAY` that it came from.
    pub origin: Origin,
    /// How the expanders produced it.
    pub slot: Slot,
}

/// The wait gate of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) latch: Option<Latch>,
    /// The front instruction's wait, if it could not issue in the last cycle.
    pub(crate) wait: Option<ThreadWait>,
    /// Why the front instruction cannot issue in this cycle; meaningful only within the cycle.
    pub(crate) reason: WaitReason,
}

impl Gate {
    pub(crate) const fn new() -> Self {
        Self { latch: None, wait: None, reason: WaitReason::WaitGateOccupied }
    }

    /// Why the latched wait instruction holds such an instruction back, if it does. Plain `NOP` is
    /// held only by all nine block bits together.
    pub(crate) fn holds(&self, decoded: &Decoded) -> Option<WaitReason> {
        let latch = self.latch.as_ref()?;
        let held = match decoded.opcode {
            Opcode::Nop => latch.block == ALL_BLOCK_BITS,
            _ => latch.block & decoded.blocked_by != 0,
        };
        // Held although everything is met: this is the release lag.
        held.then(|| latch.unmet.unwrap_or(WaitReason::WaitGateOccupied))
    }

    /// The wait that a diagnosis should show. Who holds the front instruction back waits himself: a latched
    /// wait instruction, if its condition is what the front is held for. Else it is the front's own wait,
    /// and without a front that of the latch.
    pub(crate) fn visible_wait(&self) -> Option<ThreadWait> {
        let latched = self.latch.as_ref().and_then(|latch| {
            let (reason, since) = (latch.unmet?, latch.since);
            Some(ThreadWait { reason, since, word: latch.word, origin: latch.origin, held: None })
        });
        match (self.wait, latched) {
            (Some(front), Some(latched)) if front.reason == latched.reason => {
                let held = Some((front.word, front.origin));
                Some(ThreadWait { since: front.since, held, ..latched })
            }
            (Some(front), _) => Some(front),
            (None, latched) => latched,
        }
    }
}

/// The front instruction together with its wait.
pub(crate) fn wait_of(front: &Queued, reason: WaitReason, since: Cycle) -> ThreadWait {
    ThreadWait { reason, since, word: front.word(), origin: front.origin(), held: None }
}
