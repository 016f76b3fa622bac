//! What comes to a tile from outside: accesses of the host and messages of other NoC endpoints.
//!
//! A tile is a pure function of these. Given them, it does again what it did,
//! alone, without the chip around it.

use crate::config::TileConfig;
use crate::message::Input;
use crate::snapshot::TileSnapshot;

/// A tile at a moment and all that came to it since.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// What was chosen of the tile.
    pub config: TileConfig,
    /// The tile when it began.
    pub first: TileSnapshot,
    /// What came, the oldest first.
    pub inputs: Vec<Input>,
}
