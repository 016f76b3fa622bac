//! Time travel over a session of one tile: any moment can be reached, forwards and backwards.
//!
//! A tile is a pure function of what its host writes, so a session is recorded once, as those writes
//! ([`recording`]), and then any part of it can be carried out again. [`machine`] stands at a
//! [`moment`] between two instructions; it keeps snapshots ([`history`]) to go back to. [`travel`]
//! finds the moment of a step, a breakpoint or a watchpoint in either direction, [`who`] that of
//! the last writer. [`server`] is a gdb remote server over all of this.
//!
//! Nothing here changes what a tile does: a session that is looked at ends in the state in which it
//! ends unobserved. Record: `docs/decisions/0012-time-travel.md`.

pub mod history;
pub mod machine;
pub mod moment;
pub mod monitor;
pub mod recording;
pub mod script;
pub mod server;
mod target;
pub mod travel;
pub mod who;

pub use history::History;
pub use machine::Machine;
pub use moment::Moment;
pub use recording::Recording;
pub use travel::{Hit, Stops, Traveller, Watch};
