//! What cores wait for, and what ends it.

use sim_core::{CoreId, Cycle, WaitReason};

/// The answer to a request, given to the core at the end of the epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) value: u32,
    /// Whether it stays the same until some device changes.
    pub(crate) steady: bool,
}

/// What a device says to a request of a core. Who has to wait is told for what.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Served {
    /// The access is done.
    Done(Answer),
    /// It is not, and is to be tried again when a device has changed.
    Wait(WaitReason),
}

/// A request that a device has left unanswered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreWait {
    /// The reason of the first refusal, which observers are told of at both ends.
    pub(crate) told: WaitReason,
    /// The reason of the last refusal.
    pub(crate) reason: WaitReason,
    /// When the first refusal was.
    pub(crate) since: Cycle,
}

/// A push into a full FIFO that waits, or the first of several that waited one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PushWait {
    pub(crate) reason: WaitReason,
    pub(crate) since: Cycle,
    /// Where it began. Where the core is when it ends depends on whether it is parked by then.
    pub(crate) pc: u32,
}

/// A core has executed `ebreak` or `ecall` and stands behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ebreak {
    /// The core.
    pub core: CoreId,
    /// The instruction.
    pub pc: u32,
    /// End of the epoch in which it was executed.
    pub cycle: Cycle,
}
