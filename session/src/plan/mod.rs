//! Plans of several tiles as sessions: their host, and how they end.

pub mod host;
pub mod play;
mod wrong;

use std::sync::Arc;

use chip::Chip;
use sim_core::NullObserver;
use symbols::catalog::Catalog;

use crate::checks::Warning;
use crate::host::{Host, SessionError, Stage as HostStage};
use crate::names::read_names;
use crate::positions::{Positions, positions};
use crate::report::Report;
use crate::second::{self, Question};
use crate::survey::{Looked, look};
use crate::view::TileView;

pub use host::{Mismatch, Outcome, PlanHost, Seen, Stage};
pub use wrong::tell_writers;

/// How a plan ended, the worst of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// All launches are done and memory is as expected.
    Done,
    /// They are done, and memory is not as expected.
    WrongResult,
    /// Tiles wait for each other, for nobody, or for the host, which waits for them.
    Deadlock,
    /// A kernel did what the hardware forbids.
    GuestError,
    /// The limit was reached.
    NoProgress,
}

impl End {
    /// The name that reports print.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::WrongResult => "WRONG-RESULT",
            Self::Deadlock => "DEADLOCK",
            Self::GuestError => "GUEST-ERROR",
            Self::NoProgress => "NO-PROGRESS",
        }
    }
}

/// What came of a plan, and why.
#[derive(Debug)]
pub struct Answer {
    /// How it ended.
    pub end: End,
    /// Stages, what was read, what was wrong.
    pub outcome: Outcome,
    /// The hang, if there is one.
    pub report: Option<Report>,
    /// Where everybody stood when the limit was reached.
    pub positions: Option<Positions>,
    /// Cycle of the chip at the end, or at the hang.
    pub cycle: u64,
    /// Contract violations; of the tile with the cause they are in the report.
    pub warnings: Vec<Warning>,
    /// What is worth saying and no mistake, each in a line.
    pub notes: Vec<String>,
}

/// How a plan ended that was played once, with that outcome.
#[must_use]
pub fn end(outcome: &Outcome, looked: &Looked) -> End {
    match looked.found {
        _ if !outcome.faults.is_empty() => End::GuestError,
        Some(_) => End::Deadlock,
        None if !outcome.is_done => End::NoProgress,
        None if outcome.wrong.is_empty() => End::Done,
        None => End::WrongResult,
    }
}

/// Carries out a plan and explains how it ends.
///
/// # Errors
/// The chip refuses an access that the plan asks for.
pub fn why(host: &PlanHost, question: &Question) -> Result<Answer, SessionError> {
    let catalog = Arc::new(host.catalog(&question.elf));
    let looked = look(host, &catalog, question.threads)?;
    // The run that keeps books ends at the last call that is looked at, this one went to the end.
    let outcome = host.outcome();
    why_of(host, question, &catalog, &looked, outcome)
}

/// As [`why`], of a plan that was played once, with that outcome. The host may be one that heeds a flag.
///
/// # Errors
/// As [`why`].
pub fn why_of<H: Host>(
    host: &H,
    question: &Question,
    catalog: &Arc<Catalog>,
    looked: &Looked,
    mut outcome: Outcome,
) -> Result<Answer, SessionError> {
    let answer = second::why_of(host, question, catalog, looked)?;
    let end = end(&outcome, looked);
    tell_writers(host, catalog, looked.survey.config, &mut outcome)?;
    let positions = match end {
        End::NoProgress => Some(stand(host)?),
        _ => None,
    };
    let second::Answer { report, cycle, warnings, .. } = answer;
    let notes = looked.survey.notes.clone();
    Ok(Answer { end, outcome, report, positions, cycle, warnings, notes })
}

/// Where everybody stands when the host gives up.
///
/// # Errors
/// As [`why`].
pub fn stand<H: Host>(host: &H) -> Result<Positions, SessionError> {
    let config = host.config()?;
    let mut stage = HostStage::<_, NullObserver>::new(host.play(), move || Chip::new(config));
    while stage.step()?.is_some() {}
    let catalog = host.catalog(&[]);
    Ok(positions(&mut stage.chip, |tile, _| TileView::new(&read_names(tile, &catalog))))
}
