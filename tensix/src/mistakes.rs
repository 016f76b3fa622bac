//! What the frontends and the gates diagnose, in words.

use sim_core::{AgentId, Category, Context, Cycle, GuestError, ThreadId};

use crate::frontend::mop::Unexpandable;
use crate::frontend::{FrontendFault, Refusal};
use crate::queue::{Origin, Queued};
use crate::units::{Fault, Issued};

type Mistake = (Category, &'static str, &'static str);

const OVERFLOW: Mistake = (
    Category::UndefinedBehavior,
    "tensix-push-overflow",
    "instruction pushed into a full instruction FIFO",
);
const COLLISION: Mistake = (
    Category::NonContractual,
    "tensix-push-collision",
    "BRISC and the thread's own TRISC (or its MOP expander) delivered an instruction in the same \
     cycle; hardware loses the TRISC's",
);

/// A refused push.
#[cold]
pub(crate) fn push_error(
    thread: ThreadId,
    word: u32,
    origin: Origin,
    now: Cycle,
    refusal: Refusal,
) -> GuestError {
    let (category, id, message) = match refusal {
        Refusal::Full => OVERFLOW,
        Refusal::Collision => COLLISION,
    };
    let at = Context {
        cycle: now,
        agent: AgentId::Core(origin.core),
        pc: Some(origin.pc),
        word: Some(word),
    };
    GuestError::new(category, id, format!("{message} (Tensix {thread})"), at)
}

/// An instruction that an expander cannot take.
#[cold]
pub(crate) fn frontend_error(
    fault: FrontendFault,
    entry: &Queued,
    thread: ThreadId,
    now: Cycle,
) -> Fault {
    let (category, id, message) = match fault {
        FrontendFault::Collision => COLLISION,
        FrontendFault::ReplayTooLong => (
            Category::Unsupported,
            "tensix-replay-count",
            "REPLAY of more than 32 instructions; hardware does not follow the documents then",
        ),
        FrontendFault::Mop(Unexpandable::CountOverride) => (
            Category::MissingSpecification,
            "tensix-mop-count-override",
            "MOP template 1 with bits in 19:0: the public documents do not define the override",
        ),
        FrontendFault::Mop(Unexpandable::OuterBug) => (
            Category::NonContractual,
            "tensix-mop-outer-bug",
            "MOP template 1 with one outer iteration, no start, no inner loop and an end \
             instruction: hardware runs additional iterations",
        ),
    };
    Issued::new(entry, thread, now).error(category, id, message)
}

/// A word without a meaning at the gate.
#[cold]
pub(crate) fn unassigned(entry: &Queued, thread: ThreadId, now: Cycle) -> Fault {
    Issued::new(entry, thread, now).error(
        Category::UndefinedBehavior,
        "tensix-unassigned-opcode",
        format!("no Tensix instruction has opcode {:#04x}", entry.word() >> 24),
    )
}
