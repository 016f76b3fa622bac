//! A chip and what is asked of it, whoever hosts it: a plan, a tape or a living program.
//!
//! * [`report()`] turns a [`chip::Hang`] into one explanation over many tiles.
//! * [`positions()`] is where everybody stands, hang or not.
//! * [`names`] is what files say of a tile: names of code, buffers, semaphores.
//! * [`books`] is what a watched tile has kept; an unwatched one has none and is explained from its state.
//!
//! Not here: driving a host's calls (crates `ffi`, `replay`), and files.

pub mod books;
mod forms;
pub mod lens;
pub mod names;
pub mod positions;
pub mod report;
pub mod second;
mod show;
mod traffic;

pub use books::{Books, Kept};
pub use lens::Lens;
pub use positions::{Positions, positions};
pub use report::{Report, TileReport, TileView, report};
