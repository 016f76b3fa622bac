//! Which ways depend on whether the tile is observed: decided here and nowhere else.
//!
//! Each of them gives the same state sooner, but has no place for the events on the way, or gives them in
//! another order.

use sim_core::{Observer, Shortcut, Shortcuts};

use crate::cores::Cores;

/// Whether cores may go ahead on trial: what is taken back must not have been told. Nothing of what a core does on
/// trial is an event: at a store to an observed page it stops.
pub(crate) fn may_try<O: Observer + ?Sized>(
    cores: &Cores<O>,
    shortcuts: Shortcuts,
    shortcut: Shortcut,
) -> bool {
    (!O::ENABLED || !cores.are_followed()) && shortcuts.has(shortcut)
}

/// Whether posted stores to different words may be applied core by core.
#[inline]
pub(crate) fn may_reorder_stores<O: Observer + ?Sized>() -> bool {
    !O::ENABLED
}

/// Whether an epoch in which no core got an answer need not be looked at for what ended with it.
#[inline]
pub(crate) fn may_skip_ends<O: Observer + ?Sized>() -> bool {
    !O::ENABLED
}

/// Whether the tile need not attend to epochs in which a core `pushes`, or none: a push is an event, and it
/// comes between those of the coprocessor.
#[inline]
pub(crate) fn may_leave_alone<O: Observer + ?Sized>(pushes: bool) -> bool {
    !O::ENABLED || !pushes
}

/// Whether messages may be left lying until somebody looks: an observer hears when each takes effect.
pub(crate) fn may_be_late<O: Observer + ?Sized>() -> bool {
    !O::ENABLED
}

/// Whether cores may stay parked on registers while the coprocessor works: an observer sees where they look.
#[inline]
pub(crate) fn may_doze<O: Observer + ?Sized>() -> bool {
    !O::ENABLED
}
