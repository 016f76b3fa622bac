//! Time travel over a session: any moment can be reached, forwards and backwards.
//!
//! A tile is a pure function of what comes to it from outside, so a session is recorded once, as that
//! ([`recording`], of a chip [`several`]), and then any part of it can be carried out again, tile by tile. [`machine`] stands at a
//! [`moment`] between two instructions; it keeps snapshots ([`history`]) to go back to. [`travel`]
//! (over several tiles [`party`]) finds the moment of a step, a breakpoint or a watchpoint in either direction, at the wait
//! gates of the Tensix threads too ([`gate`]), [`who`] that of the last writer. [`server`] is a gdb remote server over all of this.
//!
//! Nothing here changes what a tile does: a session that is looked at ends in the state in which it
//! ends unobserved. Record: `docs/decisions/0012-time-travel.md`.

pub mod bisect;
mod frame;
pub mod gate;
mod gates;
pub mod history;
pub mod machine;
pub mod moment;
pub mod monitor;
pub mod naming;
pub mod party;
pub mod recording;
pub mod script;
pub mod server;
pub mod several;
mod shown;
mod target;
pub mod travel;
mod watched;
pub mod who;

pub use gate::{GateStop, Passing};
pub use history::History;
pub use machine::Machine;
pub use moment::{Moment, Turn};
pub use naming::Naming;
pub use party::{Party, Seat};
pub use recording::Recording;
pub use travel::{Hit, Stops, Traveller, Watch};
