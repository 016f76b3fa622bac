//! The one seam through which anything can be watched.
//!
//! Events are emitted by the commit phase only, in `(cycle, agent)` order, so the stream is the
//! same whatever engine ran and whoever listens. They are told of through [`Observer::tell`]: with
//! [`NullObserver`] neither the call nor its arguments exist.

mod cells;
mod encode;
mod event;
mod listener;

pub use cells::{Cell, Doing, Glimpse, ShowsCells};
pub use encode::{EventKind, SCHEMA_VERSION};
pub use event::{Event, Look, ParkedSpan, SemaphoreOp, Slot, Stamp};
pub use listener::{AnyObserver, NullObserver, Observer};
