//! The back end: one folder per execution unit, and what they share.
//!
//! `mod.rs` of a unit holds its state; `dispatch.rs`, or `mod.rs` of those with few instructions, has
//! its trait of [`isa::execute`] with a method per instruction, which takes the operands by name.
//! [`execute`] finds the unit.

pub(crate) mod config;
pub(crate) mod execute;
pub(crate) mod matrix;
pub(crate) mod misc;
pub(crate) mod mover;
pub(crate) mod packer;
pub(crate) mod scalar;
pub(crate) mod sync;
pub(crate) mod unpacker;
pub(crate) mod vector;

use sim_core::observer::Stamp;
use sim_core::{AgentId, Context, Cycle, GuestError, ThreadId};

use crate::checks::{Check, Warned};
use crate::gate::Gate;
use crate::queue::{Origin, Queued};

/// A diagnosis inside the crate: boxed, so that the successful path returns in a register.
pub(crate) type Fault = Box<GuestError>;

/// What comes of an instruction.
pub(crate) type Outcome = Result<(), Fault>;

/// What executing an instruction takes besides its operands, where the unit needs all of it.
pub(crate) struct At<'a, E> {
    pub(crate) issued: &'a Issued,
    /// Where a wait instruction is latched.
    pub(crate) gate: &'a mut Gate,
    pub(crate) env: &'a mut E,
}

/// One instruction on its way into a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Issued {
    pub(crate) word: u32,
    pub(crate) thread: ThreadId,
    pub(crate) origin: Origin,
    pub(crate) now: Cycle,
    /// Checks that it has been refused for and is now allowed to break.
    pub(crate) allowed: Warned,
}

impl Issued {
    pub(crate) fn new(entry: &Queued, thread: ThreadId, now: Cycle) -> Self {
        let (word, origin) = (entry.word(), entry.origin());
        Self { word, thread, origin, now, allowed: Warned::NONE }
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { cycle: self.now, agent: AgentId::Thread(self.thread), pc: self.origin.pc }
    }

    /// Who, when and what, for a diagnosis.
    pub(crate) fn context(&self) -> Context {
        Context {
            cycle: self.now,
            agent: AgentId::Thread(self.thread),
            pc: Some(self.origin.pc),
            word: Some(self.word),
        }
    }

    /// A diagnosis of this instruction.
    #[cold]
    pub(crate) fn error(&self, check: Check, message: impl Into<String>) -> Fault {
        check.fault(message, self.context())
    }

    /// Whether it may go on in spite of `check`.
    #[cold]
    pub(crate) fn allows(&self, check: Check) -> bool {
        self.allowed.contains(check)
    }

    /// Diagnoses it, unless it may go on in spite of `check`.
    #[cold]
    pub(crate) fn refuse(&self, check: Check, message: impl Into<String>) -> Result<(), Fault> {
        if self.allows(check) { Ok(()) } else { Err(self.error(check, message)) }
    }
}
