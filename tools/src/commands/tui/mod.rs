//! `tilescope tui`: a tile to look at while it runs.
//!
//! [`view`] says what there is to see, `stepper` carries out a plan step by step, `handshakes` listens to it, `playing`
//! plays a tape, `draw` puts the view on a terminal, and `screen` reads keys. What needs a terminal is built with the
//! feature `tui`.

#[cfg(feature = "tui")]
mod draw;
#[cfg(feature = "tui")]
mod handshakes;
#[cfg(feature = "tui")]
mod lines;
#[cfg(feature = "tui")]
mod playing;
#[cfg(feature = "tui")]
mod screen;
pub(super) mod stepper;
pub mod view;

#[cfg(feature = "tui")]
pub use screen::{TuiArgs, run};
