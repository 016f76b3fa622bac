//! Warnings: where the model had to choose what hardware does.
//!
//! Some instructions and modes exist of which no public source says what they do. The model takes
//! the most plausible behaviour, says which in `docs/unknowns.md`, and notes here that a program
//! relied on it. A warning changes nothing and is no part of the state; what hardware declares
//! undefined is not a warning but a mistake, and ends the run.

use sim_core::{AgentId, Category, Context, GuestError, ThreadId};

use crate::coprocessor::Coprocessor;
use crate::units::Issued;

/// What was assumed so far: the first use of every check by every thread, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warnings(Vec<GuestError>);

impl Warnings {
    /// Notes that `issued` relies on an assumption. `text` names it and its entry in the list of
    /// open questions.
    #[cold]
    pub(crate) fn note(&mut self, issued: &Issued, id: &'static str, text: &str) {
        let at = Context {
            cycle: issued.now,
            agent: AgentId::Thread(issued.thread),
            pc: Some(issued.origin.pc),
            word: Some(issued.word),
        };
        self.push(GuestError::new(Category::MissingSpecification, id, text, at));
    }

    /// All of them, in order.
    pub(crate) fn list(&self) -> &[GuestError] {
        &self.0
    }

    fn push(&mut self, warning: GuestError) {
        let known = |old: &GuestError| old.id == warning.id && old.at.agent == warning.at.agent;
        if !self.0.iter().any(known) {
            self.0.push(warning);
        }
    }
}

impl Coprocessor {
    /// Assumptions that programs have relied on so far, at most one per check and thread: what
    /// they did is not publicly documented, and what came of it is the model's choice.
    #[must_use]
    pub fn warnings(&self) -> &[GuestError] {
        self.backend.warnings.list()
    }

    /// Whether `thread` has relied on the assumption `id`.
    #[must_use]
    pub fn has_warned(&self, thread: ThreadId, id: &str) -> bool {
        self.warnings()
            .iter()
            .any(|warning| warning.id == id && warning.at.agent == AgentId::Thread(thread))
    }
}
