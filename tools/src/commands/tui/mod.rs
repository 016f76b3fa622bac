//! `tilescope tui`: a session to look at, forwards and backwards.
//!
//! [`view`] says what there is to see of a tile, `seen` has a tile at any moment with the handshakes before it,
//! `travels` goes from moment to moment with the engine of `tilescope debug`, `places` finds code by name, `draw` puts
//! it all on a terminal, and `screen` reads keys and the mouse. What needs a terminal is built with the feature `tui`.

#[cfg(feature = "tui")]
mod draw;
#[cfg(feature = "tui")]
mod places;
#[cfg(feature = "tui")]
mod screen;
#[cfg(feature = "tui")]
mod seen;
#[cfg(feature = "tui")]
mod travels;
pub mod view;

#[cfg(feature = "tui")]
pub use screen::{TuiArgs, run};
