//! The catalogue of what the coprocessor refuses: one row per check, with its id, the glossary's
//! category, what is wrong, and what happens when the check is lowered to a warning.
//!
//! A check that is raised ends the run with its category, cycle, thread, pushing pc and word. A
//! check in [`Warned`] does not: it is noted once per thread, and the simulation goes on with what
//! the row says, the most plausible thing that hardware could do. `docs/checks.md` is this table.
//!
//! Not here: mistakes at devices outside the coprocessor, which end the run in any case, and
//! modes that do something plausible without being asked to ([`ASSUMPTIONS`] lists those).

use std::fmt::{self, Write as _};

use sim_core::{Category, Context, GuestError};

use crate::units::Fault;

mod table;

pub use table::{ASSUMPTIONS, CHECKS, Check};
pub(crate) use table::{
    FPU_STOCHASTIC, GMPOOL_SHAPE, MPOOL, PACK_STOCHASTIC, RSTDMA, SETIBRWC, TRNSPSRCA,
    UNPACK_BROADCAST, WITHOUT_EFFECT, XMOV_BLOCK,
};

/// What is done with an instruction whose check is lowered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Then {
    /// What it had done when the check was raised stays, and that is all.
    Ends,
    /// It is executed again, and told that this is allowed. Such a check is raised before anything
    /// has happened that could not happen twice.
    Again,
}

/// One check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckRow {
    /// Which it is.
    pub check: Check,
    /// Stable name.
    pub id: &'static str,
    /// Kind of mistake.
    pub category: Category,
    pub(crate) then: Then,
    /// What is wrong.
    pub what: &'static str,
    /// What happens when it is lowered to a warning.
    pub lowered: &'static str,
    /// Where the rule is from.
    pub source: &'static str,
}

/// A mode that no public source describes and that is simulated all the same: the model does the
/// most plausible thing and warns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// Stable name of the warning.
    pub id: &'static str,
    /// What is assumed, with its number in `docs/unknowns.md`.
    pub text: &'static str,
}

impl Check {
    /// Its row.
    #[must_use]
    pub const fn row(self) -> &'static CheckRow {
        &CHECKS[self as usize]
    }

    /// Stable name.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.row().id
    }

    /// A diagnosis by this check.
    #[cold]
    pub(crate) fn fault(self, message: impl Into<String>, at: Context) -> Fault {
        let CheckRow { category, id, .. } = *self.row();
        Box::new(GuestError::new(category, id, message, at))
    }

    /// The check of that name.
    ///
    /// # Errors
    /// [`UnknownCheck`]: there is none.
    pub fn by_id(id: &str) -> Result<Self, UnknownCheck> {
        let row = CHECKS.iter().find(|row| row.id.eq_ignore_ascii_case(id));
        row.map(|row| row.check).ok_or_else(|| UnknownCheck(id.to_owned()))
    }
}

/// There is no check of that name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownCheck(pub String);

impl fmt::Display for UnknownCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no check that could be lowered has the id {:?}", self.0)?;
        let alike = |row: &&CheckRow| !self.0.is_empty() && row.id.contains(self.0.as_str());
        let alike: Vec<_> = CHECKS.iter().filter(alike).take(4).map(|row| row.id).collect();
        if alike.is_empty() {
            f.write_str("; docs/checks.md lists them, such as tensix-pack-row")
        } else {
            write!(f, "; did you mean {}?", alike.join(", "))
        }
    }
}

impl std::error::Error for UnknownCheck {}

/// Checks that are lowered to warnings, as a set.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Warned(u64);

const _: () = assert!(CHECKS.len() <= 64, "a set of checks is a word of 64 bits");

impl Warned {
    /// No check.
    pub const NONE: Self = Self(0);

    /// The set and one more.
    #[must_use]
    pub const fn with(self, check: Check) -> Self {
        Self(self.0 | 1 << check as u64)
    }

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the check is one of them.
    #[must_use]
    #[inline]
    pub const fn contains(self, check: Check) -> bool {
        self.0 >> check as u64 & 1 != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The checks that `ids` names, separated by commas.
    ///
    /// # Errors
    /// [`UnknownCheck`] for the first name that is none.
    pub fn parse(ids: &str) -> Result<Self, UnknownCheck> {
        let mut ids = ids.split(',').map(str::trim).filter(|id| !id.is_empty());
        ids.try_fold(Self::NONE, |set, id| Ok(set.with(Check::by_id(id)?)))
    }
}

impl fmt::Debug for Warned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = CHECKS.iter().filter(|row| self.contains(row.check));
        f.debug_set().entries(all.map(|row| row.id)).finish()
    }
}

/// The catalogue as a page of Markdown, without its introduction.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from("| id | category | what is refused | as a warning | source |\n");
    page.push_str("|---|---|---|---|---|\n");
    for row in CHECKS {
        let CheckRow { id, category, what, lowered, source, .. } = row;
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| `{id}` | {category} | {what} | {lowered} | {source} |");
    }
    page.push_str("\n## What is assumed\n\n| id | what is taken to be so |\n|---|---|\n");
    for Assumption { id, text } in ASSUMPTIONS {
        let _ = writeln!(page, "| `{id}` | {text} |");
    }
    page
}
