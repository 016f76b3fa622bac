//! What the frontends and the gates diagnose, and how they go on where a check is lowered to a
//! warning ([`crate::checks`]).

use sim_core::{AgentId, Context, Cycle, GuestError, ThreadId};

use crate::checks::Check;
use crate::error::DoorError;
use crate::frontend::mop::Unexpandable;
use crate::frontend::{Frontend, FrontendFault, Refusal};
use crate::queue::{Origin, Queued};
use crate::units::{Fault, Issued};
use crate::warnings::Warnings;
use isa::op::OPCODE;
use sim_core::observer::Stamp;

impl Refusal {
    const fn check(self) -> Check {
        match self {
            Self::Full => Check::PushOverflow,
            Self::Collision => Check::PushCollision,
        }
    }
}

impl FrontendFault {
    const fn check(self) -> Check {
        match self {
            Self::Collision => Check::PushCollision,
            Self::ReplayTooLong => Check::ReplayCount,
            Self::Mop(Unexpandable::CountOverride) => Check::MopCountOverride,
            Self::Mop(Unexpandable::OuterBug) => Check::MopOuterBug,
        }
    }
}

/// What a check of the frontend says.
const fn words(check: Check) -> &'static str {
    match check {
        Check::PushOverflow => "instruction pushed into a full instruction FIFO",
        Check::ReplayCount => {
            "REPLAY of more than 32 instructions; hardware does not follow the documents then"
        }
        Check::MopCountOverride => {
            "MOP template 1 with bits in 19:0: the public documents do not define the override"
        }
        Check::MopOuterBug => {
            "MOP template 1 with one outer iteration, no start, no inner loop and an end \
             instruction: hardware runs additional iterations"
        }
        _ => {
            "BRISC and the thread's own TRISC (or its MOP expander) delivered an instruction in \
             the same cycle; hardware loses the TRISC's"
        }
    }
}

impl Warnings {
    /// A refused push. With the check lowered, whether the instruction is to be taken all the same.
    #[cold]
    pub(crate) fn push_refused(
        &mut self,
        (thread, word): (ThreadId, u32),
        origin: Origin,
        now: Cycle,
        refusal: Refusal,
    ) -> Result<bool, GuestError> {
        let check = refusal.check();
        let at = Context {
            cycle: now,
            agent: AgentId::Core(origin.core),
            pc: Some(origin.pc),
            word: Some(word),
        };
        let fault = check.fault(format!("{} (Tensix {thread})", words(check)), at);
        self.lower(fault).map_err(|fault| *fault)?;
        Ok(refusal == Refusal::Collision)
    }

    /// An instruction that an expander cannot take. With the check lowered it does what it can.
    #[cold]
    pub(crate) fn expander_refused(
        &mut self,
        frontend: &mut Frontend,
        (fault, entry): (FrontendFault, Queued),
        thread: ThreadId,
        now: Cycle,
    ) -> Result<(), Fault> {
        let check = fault.check();
        self.lower(Issued::new(&entry, thread, now).error(check, words(check)))?;
        match fault {
            // It is lost.
            FrontendFault::Collision => {}
            FrontendFault::ReplayTooLong => frontend.replay.begin_wrapped(entry),
            FrontendFault::Mop(_) => frontend.begin_mop_anyway(entry),
        }
        Ok(())
    }

    /// The word without a meaning at the front of a gate. With the check lowered it is dropped.
    #[cold]
    pub(crate) fn unassigned(
        &mut self,
        frontend: &mut Frontend,
        entry: &Queued,
        thread: ThreadId,
        now: Cycle,
    ) -> Result<(), Fault> {
        let text = format!("no Tensix instruction has opcode {:#04x}", OPCODE.get(entry.word()));
        let fault = Issued::new(entry, thread, now).error(Check::UnassignedOpcode, text);
        self.lower(fault)?;
        frontend.third.drop_front();
        frontend.untrack(entry);
        Ok(())
    }

    /// A core's access that a front door refused, made `at` there and then.
    ///
    /// # Errors
    /// The refusal, unless its check is lowered.
    #[cold]
    pub(crate) fn door_refused(&mut self, error: DoorError, at: Stamp) -> Result<(), DoorError> {
        let Stamp { cycle, agent, pc } = at;
        let at = Context { cycle, agent, pc: Some(pc), word: None };
        let fault = Box::new(error.into_guest_error(at));
        self.lower(fault).map(drop).map_err(|_| error)
    }
}
