//! A chip and what is asked of it, whoever hosts it: a plan, a tape or a living program.
//!
//! * [`host`] is who makes the calls, and [`second`] asks why a session hangs.
//! * [`survey`] finds out what a session is, and [`watch`] plays it again with eyes on chosen tiles.
//! * [`report()`] turns a [`chip::Hang`] into one explanation over many tiles.
//! * [`heed`] stops a host between two calls.
//! * [`positions()`] is where everybody stands, hang or not.
//! * [`unfinished`] is how it stood when the program was ended.
//! * [`mistakes`] names the place of what a kernel did wrong.
//! * [`names`] is what files say of a tile: names of code, buffers, semaphores.
//! * [`pack`] puts into a tape what explains it on another machine.
//! * [`books`] is what a watched tile has kept; an unwatched one has none and is explained from its state.
//!
//! Not here: the calls of a living program (crate `ffi`), those of a tape (`replay`), and files.

#[cfg(test)]
mod across;
pub mod books;
mod calls;
mod cause;
pub mod checks;
mod explain;
pub mod eye;
mod forms;
mod go;
mod headline;
pub mod heed;
pub mod host;
mod lacks;
pub mod lens;
mod losses;
pub mod mistakes;
pub mod names;
pub mod pack;
pub mod plan;
pub mod positions;
pub mod progress;
pub mod remote;
pub mod report;
pub mod second;
pub mod selection;
mod show;
pub mod stalls;
pub mod standpoint;
mod suppose;
pub mod survey;
mod tiles;
mod traffic;
pub mod unfinished;
mod view;
pub mod watch;
mod web;

pub use books::{Books, Kept};
pub use explain::report;
pub use host::{Host, Play, SessionError};
pub use lens::Lens;
pub use positions::{Positions, positions};
pub use progress::{Hint, Progress, progress};
pub use remote::Astray;
pub use report::{Cause, Report};
pub use standpoint::{Step, TileReport};
pub use view::TileView;
