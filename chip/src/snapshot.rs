//! A chip at a moment between two calls of its host, to go back to.
//!
//! Complete by construction, as a tile's is (`tile/src/snapshot.rs`). Not in it is the memory of the
//! host, which is the host's, and who looks at the tiles.

use std::sync::Arc;

use sim_core::{Cycle, Observer};
use tile::TileSnapshot;

use crate::chip::Chip;
use crate::endpoint::EndpointsSnapshot;
use crate::field::FieldSnapshot;
use crate::pci::Pci;
use crate::post::Post;
use crate::report::Reports;

/// A chip at a moment between two calls of its host ([`Chip::snapshot`]). A copy costs next to
/// nothing.
#[derive(Clone, Debug)]
pub struct ChipSnapshot(Arc<State>);

#[derive(Clone, Debug)]
struct State {
    field: FieldSnapshot,
    pci: Pci,
    endpoints: EndpointsSnapshot,
    post: Post,
    now: Cycle,
    reports: Reports,
    debugged: bool,
    attended: bool,
}

impl ChipSnapshot {
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

impl<O: Observer + Send + 'static> Chip<O> {
    /// The chip as it is now. What has not changed since `like` is shared with it.
    #[must_use]
    pub fn snapshot(&self, like: Option<&ChipSnapshot>) -> ChipSnapshot {
        let Self {
            config: _,
            grid: _,
            field,
            pci,
            endpoints,
            post,
            timing: _,
            now,
            reports,
            debugged,
            attended,
        } = self;
        ChipSnapshot(Arc::new(State {
            field: field.snapshot(like.map(|like| &like.0.field)),
            pci: pci.clone(),
            endpoints: endpoints.snapshot(),
            post: post.clone(),
            now: *now,
            reports: reports.clone(),
            debugged: *debugged,
            attended: *attended,
        }))
    }

    /// Goes back, or forward, to where a snapshot was taken of this chip or of one with equal
    /// [`crate::ChipConfig`] but for threads and shortcuts. Observers are told nothing of it; the
    /// host's memory stays as it is.
    pub fn restore(&mut self, snapshot: &ChipSnapshot) {
        let old = &*snapshot.0;
        let Self {
            config: _,
            grid: _,
            field,
            pci,
            endpoints,
            post,
            timing: _,
            now,
            reports,
            debugged,
            attended,
        } = self;
        field.restore(&old.field);
        pci.clone_from(&old.pci);
        endpoints.restore(&old.endpoints);
        post.clone_from(&old.post);
        *now = old.now;
        reports.clone_from(&old.reports);
        *debugged = old.debugged;
        *attended = old.attended;
    }
}
