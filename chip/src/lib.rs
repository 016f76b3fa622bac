//! A whole Blackhole chip: Tensix tiles at their NoC coordinates, DRAM, PCIe, ARC and ethernet
//! endpoints as far as hosts touch them, and the PCI Express interface in front.
//!
//! * [`Chip`] is the machine as a host sees it.
//! * `field` keeps the tiles and advances the active ones; `time` is the loop of rounds and
//!   messages; `post` holds requests to endpoints.

mod asked;
mod chip;
mod config;
mod endpoint;
mod error;
mod field;
mod grid;
mod hang;
mod pci;
mod port;
mod post;
mod report;
mod roster;
mod snapshot;
mod time;

pub use chip::{Chip, LOOKAHEAD};
pub use config::{ChipConfig, ClockStep};
pub use endpoint::{Deed, HostMemory, Loss};
pub use error::HostError;
pub use grid::{Grid, Harvest, Other, Place, Product, TensixTile};
pub use hang::{Hang, HostPoll, HungTile, Likeness, Moving, Pulse, Role, Stance, Witness};
pub use pci::{WINDOW_WORDS, window_register};
pub use report::Mistake;
pub use snapshot::ChipSnapshot;
