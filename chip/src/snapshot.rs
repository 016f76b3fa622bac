//! A chip at a moment between two calls of its host, to go back to.
//!
//! Complete by construction, as a tile's is (`tile/src/snapshot.rs`). Not in it is the memory of the
//! host, which is the host's, and who looks at the tiles.

use std::sync::Arc;

use sim_core::Cycle;
use tile::TileSnapshot;

use crate::asked::Asked;
use crate::endpoint::EndpointsSnapshot;
use crate::field::FieldSnapshot;
use crate::pci::Pci;
use crate::post::Post;
use crate::report::Reports;

/// A chip at a moment between two calls of its host ([`crate::Chip::snapshot`]). A copy costs next to
/// nothing.
#[derive(Clone, Debug)]
pub struct ChipSnapshot(Arc<State>);

/// The parts of a chip that change.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) field: FieldSnapshot,
    pub(crate) pci: Pci,
    pub(crate) endpoints: EndpointsSnapshot,
    pub(crate) post: Post,
    pub(crate) now: Cycle,
    pub(crate) reports: Reports,
    pub(crate) asked: Asked,
    pub(crate) attended: bool,
}

impl ChipSnapshot {
    pub(crate) fn of(state: State) -> Self {
        Self(Arc::new(state))
    }

    pub(crate) fn state(&self) -> &State {
        &self.0
    }

    /// When it was taken.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.0.now
    }

    /// Bytes of L1 pages that it does not share with `other`.
    #[must_use]
    pub fn bytes_beyond(&self, other: Option<&Self>) -> usize {
        let others: Vec<(u16, &TileSnapshot)> =
            other.map(|other| other.0.field.tiles().collect()).unwrap_or_default();
        let same =
            |number| others.iter().find(|(other, _)| *other == number).map(|(_, tile)| *tile);
        self.0.field.tiles().map(|(number, tile)| tile.bytes_beyond(same(number))).sum()
    }
}
