//! Which way to the same result the coprocessor takes: decided here and nowhere else.
//!
//! Each of them is a [`Shortcut`]. Whoever listens to events decides about one of them only: a run of
//! instructions that execute in one go has no place for the events of each.

use sim_core::{Shortcut, Shortcuts, ThreadId};

use crate::backend::Backend;
use crate::env::Env;
use crate::frontend::set::{ThreadSet, lone};
use crate::timing::TimingModel;

/// The only thread with anything to do, if its cycles may go without arbitration.
#[inline]
pub(crate) fn alone(active: ThreadSet, shortcuts: Shortcuts) -> Option<ThreadId> {
    if shortcuts.has(Shortcut::LoneThread) { lone(active) } else { None }
}

/// Whether a playback of the only thread with anything to do may be carried out as one: nothing has a
/// cost, and nothing goes on behind the gates.
#[inline]
pub(crate) fn playing(timing: TimingModel, backend: &Backend) -> bool {
    backend.shortcuts.has(Shortcut::Playback)
        && timing == TimingModel::Unit
        && !backend.acts_by_itself()
}

/// Whether a thread may be left out of cycles in which it certainly goes on waiting: nothing has a cost,
/// and nothing goes on behind the gates that could end a wait by itself.
#[inline]
pub(crate) fn may_stand_still(timing: TimingModel, backend: &Backend) -> bool {
    backend.shortcuts.has(Shortcut::StillThreads)
        && timing == TimingModel::Unit
        && backend.waits_by_sight()
}

/// Whether cycles in which the only thread with anything to do passes instructions on may go without asking what else
/// there is: nothing has a cost, and nothing goes on behind the gates.
#[inline]
pub(crate) fn flowing(timing: TimingModel, backend: &Backend) -> bool {
    backend.shortcuts.has(Shortcut::StraightPushes)
        && timing == TimingModel::Unit
        && !backend.acts_by_itself()
}

/// Whether instructions of a playback that are alike may execute in one go.
#[inline]
pub(crate) fn by_runs<E: Env>(shortcuts: Shortcuts) -> bool {
    !E::OBSERVED && shortcuts.has(Shortcut::Runs)
}
