//! Warnings: where the model had to choose what hardware does, and mistakes that somebody has
//! lowered to warnings ([`crate::checks`]).
//!
//! Some instructions and modes exist of which no public source says what they do. The model takes
//! the most plausible behaviour, says which in `docs/unknowns.md`, and notes here that a program
//! relied on it. A warning changes nothing and is no part of the state; what hardware declares
//! undefined is not a warning but a mistake, and ends the run unless its check is lowered.

use sim_core::{Category, GuestError};

use crate::checks::{self, Assumption, Check, CheckRow, Warned};
use crate::units::{Fault, Issued};

/// What was assumed so far: the first use of every check by every thread, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warnings {
    /// Checks that do not end the run.
    pub(crate) lowered: Warned,
    list: Vec<GuestError>,
}

impl Warnings {
    /// Notes that `issued` relies on an assumption.
    #[cold]
    pub(crate) fn note(&mut self, issued: &Issued, assumed: &Assumption) {
        let Assumption { id, text } = *assumed;
        let at = issued.context();
        self.push(GuestError::new(Category::MissingSpecification, id, text, at));
    }

    /// Notes `fault` as a warning and returns its check, if that is lowered.
    ///
    /// # Errors
    /// `fault`, if its check is not lowered.
    #[cold]
    pub(crate) fn lower(&mut self, fault: Fault) -> Result<&'static CheckRow, Fault> {
        match Check::by_id(fault.id) {
            Ok(check) if self.lowered.contains(check) => {
                self.push(*fault);
                Ok(check.row())
            }
            _ => Err(fault),
        }
    }

    /// Notes arithmetic or packing that software wants rounded stochastically, as `modes` of the
    /// configuration say: of which numbers is not public.
    #[inline]
    pub(crate) fn note_stochastic(&mut self, modes: u32, arithmetic: bool, issued: &Issued) {
        if modes != 0 {
            self.note_rounding(modes, arithmetic, issued);
        }
    }

    #[cold]
    fn note_rounding(&mut self, modes: u32, arithmetic: bool, issued: &Issued) {
        if arithmetic && modes & 1 != 0 {
            self.note(issued, checks::FPU_STOCHASTIC);
        }
        if !arithmetic && modes & 6 != 0 {
            self.note(issued, checks::PACK_STOCHASTIC);
        }
    }

    /// All of them, in order.
    pub(crate) fn list(&self) -> &[GuestError] {
        &self.list
    }

    fn push(&mut self, warning: GuestError) {
        let known = |old: &GuestError| old.id == warning.id && old.at.agent == warning.at.agent;
        if !self.list.iter().any(known) {
            self.list.push(warning);
        }
    }
}
