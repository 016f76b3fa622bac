//! Replays recorded host sessions on a device library and compares what it reads.
//!
//! A recording (`hostlib::recording`) holds what a real host wrote and what it read back. [`replay`]
//! makes the same calls on a [`Library`] and compares the reads, by default in a way that a
//! simulator with other timing can pass: [`plan`] says which reads are a host's polling and which
//! values are as good as the recorded one. `[spec: host recordings 2]`
//!
//! A tape (`tape`) of our own machine needs no such allowance: [`exact`](exact()) and [`Player`] make its calls
//! and accept nothing else than what it has.
//!
//! Not here: the command line, and what a chip does.

pub mod bisect;
mod dma;
pub mod engine;
pub mod exact;
pub mod file;
pub mod library;
mod machine;
mod own;
pub mod plan;
mod tape_memory;
pub mod window;

pub use bisect::{Difference, bisect};
pub use engine::{Mismatch, Options, Outcome, replay};
pub use exact::{PlayError, Played, Player, What, config_of, exact};
pub use file::{FileError, MAX_BYTES, counts, read, read_up_to};
pub use library::Library;
pub use machine::Machine;
pub use own::OwnChip;
pub use plan::Plan;
pub use tape_memory::Access;
