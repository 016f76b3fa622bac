//! Guest mistakes, in the vocabulary of the public ISA glossary.
//!
//! A guest mistake is a value: it stops the run with a diagnosis, it never panics.

use std::fmt;

use crate::ids::AgentId;
use crate::time::Cycle;

/// Whose fault it is, and of what kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Category {
    /// The guest did something whose outcome the documents leave undefined.
    UndefinedBehavior,
    /// The guest depends on a value the documents leave open.
    UnpredictableValue,
    /// Works on some silicon, promised by nobody.
    NonContractual,
    /// Documented, not built into this simulator yet.
    Unimplemented,
    /// Deliberately not simulated.
    Unsupported,
    /// The public sources do not say.
    MissingSpecification,
}

impl Category {
    /// The glossary's word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UndefinedBehavior => "UndefinedBehavior",
            Self::UnpredictableValue => "UnpredictableValue",
            Self::NonContractual => "NonContractual",
            Self::Unimplemented => "Unimplemented",
            Self::Unsupported => "Unsupported",
            Self::MissingSpecification => "MissingSpecification",
        }
    }

    /// Whether the guest (and not the simulator) is to blame.
    #[must_use]
    pub const fn is_guest_fault(self) -> bool {
        matches!(self, Self::UndefinedBehavior | Self::UnpredictableValue | Self::NonContractual)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where a guest mistake happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context {
    /// When.
    pub cycle: Cycle,
    /// Who.
    pub agent: AgentId,
    /// The RISC-V instruction that did it or pushed it, if there is one.
    pub pc: Option<u32>,
    /// The RISC-V or Tensix word, if there is one.
    pub word: Option<u32>,
}

/// A guest mistake with everything needed to explain it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuestError {
    /// Kind of mistake.
    pub category: Category,
    /// Stable id of the check, such as `unmapped-store`; checks are named by it.
    pub id: &'static str,
    /// One sentence: what was done and why it is wrong.
    pub message: String,
    /// Where.
    pub at: Context,
}

impl GuestError {
    /// A mistake of an agent with no word attached.
    #[must_use]
    pub fn new(
        category: Category,
        id: &'static str,
        message: impl Into<String>,
        at: Context,
    ) -> Self {
        Self { category, id, message: message.into(), at }
    }
}

impl fmt::Display for GuestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]: {}", self.category, self.id, self.message)?;
        write!(f, " (cycle {}, {}", self.at.cycle, self.at.agent)?;
        if let Some(pc) = self.at.pc {
            write!(f, ", pc {pc:#x}")?;
        }
        if let Some(word) = self.at.word {
            write!(f, ", word {word:#010x}")?;
        }
        f.write_str(")")
    }
}

impl std::error::Error for GuestError {}
