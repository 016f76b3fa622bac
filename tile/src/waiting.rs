//! What cores wait for, and what ends it.

use sim_core::{CoreId, CoreSet, Cycle, ThreadId, WaitReason};

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
    /// The thread that it waits for if it is the load of TTSync.
    pub(crate) syncs: Option<ThreadId>,
}

impl CoreWait {
    /// Whether only what other cores do can end it.
    pub(crate) const fn is_for_cores(&self) -> bool {
        matches!(
            self.reason,
            WaitReason::MailboxEmpty { .. }
                | WaitReason::MailboxFull { .. }
                | WaitReason::PcBufEmpty { .. }
                | WaitReason::PcBufFull { .. }
        )
    }
}

/// A push into a full FIFO that waits, or the first of several that waited one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PushWait {
    pub(crate) reason: WaitReason,
    pub(crate) since: Cycle,
    /// Where it began. Where the core is when it ends depends on whether it is parked by then.
    pub(crate) pc: u32,
}

/// What of the cores' waits has been found, and told to observers. By core. None of it is hashed: answers are given
/// within the epoch, and the waits follow from the cores' requests and the devices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    /// Answers found in this commit.
    pub(crate) answers: [Option<Answer>; CoreId::COUNT],
    /// Unanswered requests that have been announced.
    pub(crate) requests: [Option<CoreWait>; CoreId::COUNT],
    /// Pushes into full FIFOs that have been announced.
    pub(crate) pushes: [Option<PushWait>; CoreId::COUNT],
}

impl Waits {
    /// The core has been reset.
    pub(crate) fn forget(&mut self, core: CoreId) {
        let Self { answers, requests, pushes } = self;
        answers[core.index()] = None;
        requests[core.index()] = None;
        pushes[core.index()] = None;
    }

    /// The cores that wait for room in an instruction FIFO.
    pub(crate) fn pushing(&self) -> CoreSet {
        let mut pushing = CoreSet::EMPTY;
        for id in CoreId::ALL {
            if self.pushes[id.index()].is_some() {
                pushing.insert(id);
            }
        }
        pushing
    }

    /// Whether no core waits for room in an instruction FIFO.
    #[inline]
    pub(crate) fn no_push_waits(&self) -> bool {
        self.pushes.iter().all(Option::is_none)
    }
}

/// When devices have changed: what has to be asked again. Not hashed, because asking in vain changes nothing.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    /// Something changed in the current cycle that could answer an unanswered request.
    pub(crate) this_cycle: bool,
    /// Behind the last cycle in which a device may have changed. Asking for a value that stays is no
    /// change.
    pub(crate) steady_since: Cycle,
    /// `this_cycle` of the last cycle of the last epoch.
    pub(crate) retry: bool,
    /// As of this epoch boundary no request is unanswered because of something that a core or a packet has changed
    /// since it was tried.
    pub(crate) settled: Option<Cycle>,
    /// Cores that dozed until a register store of the coprocessor: they take part in the rest of the epoch.
    pub(crate) woken: CoreSet,
}

impl Changes {
    pub(crate) fn new() -> Self {
        Self {
            this_cycle: false,
            steady_since: Cycle::ZERO,
            retry: false,
            settled: None,
            woken: CoreSet::EMPTY,
        }
    }
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
