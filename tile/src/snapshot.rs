//! A tile at a moment between two epochs, to go back to.
//!
//! Complete by construction: the tile is taken apart without `..`, and all state below it derives
//! `Clone`, so that a new field is in the snapshot or does not compile. Not in it are who looks
//! (the observer, what is kept of what came from outside) and who executes (the engine and the configuration): a snapshot may be restored
//! into a tile with another observer or engine. It does not tell what the observer has seen.

use std::sync::Arc;

use sim_core::{Cycle, L1Image};

use crate::bus::BusState;
use crate::trials::Trials;

/// A tile at a moment between two epochs ([`crate::Tile::snapshot`]). A copy costs next to nothing.
#[derive(Clone, Debug)]
pub struct TileSnapshot(pub(crate) Arc<State>);

/// What a tile has of state.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) quiescent_since: Option<Cycle>,
    pub(crate) trials: Trials,
    pub(crate) bus: BusState,
}

impl TileSnapshot {
    /// When it was taken.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.0.bus.now
    }

    pub(crate) fn l1(&self) -> &L1Image {
        self.0.bus.cores.l1()
    }

    /// Bytes of L1 pages that it does not share with `other`.
    #[must_use]
    pub fn bytes_beyond(&self, other: Option<&Self>) -> usize {
        let none = L1Image::default();
        self.l1().bytes_beyond(other.map_or(&none, Self::l1))
    }
}
