//! How it stood at the end of a session that nobody ended, or when its host gave up: a tape stops there because its
//! program was ended, by a time limit perhaps, and nothing hung that could be proved.

use std::fmt;

use chip::{Chip, Role};
use serde::Serialize;
use symbols::catalog::Catalog;

use crate::eye::Eye;
use crate::lens::Lens;
use crate::positions::{Positions, positions};
use crate::remote::Sender;
use crate::traffic::Traffic;
use crate::view::TileView;

/// Requests that are shown of all tiles.
const SHOWN: usize = 12;

/// How it stood.
#[derive(Clone, Debug, Serialize)]
pub struct Unfinished {
    /// The last call with which the host waited, if it gave up then.
    pub given_up: Option<u64>,
    /// Where everybody stood.
    pub positions: Positions,
    /// The last requests over the NoCs of tiles that were at work, equal ones once.
    pub requests: Vec<Sender>,
}

/// Looks how it stands.
pub(crate) fn unfinished(
    chip: &mut Chip<Eye<Lens>>,
    catalog: &Catalog,
    given_up: Option<u64>,
) -> Unfinished {
    let (grid, standing) = (chip.grid().clone(), chip.standing());
    let at_work = standing.tiles.iter().filter(|tile| tile.role != Role::Resting);
    let (traffic, names) = Traffic::gather(chip, at_work, catalog);
    let positions =
        positions(chip, |_, tile| names.get(&tile.number).map(TileView::new).unwrap_or_default());
    Unfinished { given_up, positions, requests: traffic.latest(&grid) }
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(call) = self.given_up {
            writeln!(
                f,
                "after call {call} the host gave up waiting for who was at work, and hardly any memory had changed:"
            )?;
        }
        write!(f, "{}", self.positions)?;
        if !self.requests.is_empty() {
            writeln!(f, "\nthe last requests over the NoCs:")?;
        }
        for request in self.requests.iter().take(SHOWN) {
            writeln!(f, "  {request}")?;
        }
        match self.requests.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => writeln!(f, "  and {more} more of other places or tiles"),
        }
    }
}
