//! One explanation over many tiles.

use observe::why::Judgement;
use observe::why::hazards::Hazard;
use serde::Serialize;

use crate::standpoint::{Standpoint, Step, TileReport};

/// Why the chip does not move, over all tiles.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Cause {
    /// In one sentence, with the line to look at.
    pub headline: String,
    /// The class of hang, if it is known.
    pub hazard: Option<Hazard>,
    /// Whether it is a circle of tiles.
    pub circle: bool,
    /// From what is seen to the cause; of a circle its members, the first once more at the end.
    pub chain: Vec<Step>,
    /// The members of the circle, the first once more at the end.
    pub ring: Vec<Step>,
}

/// Why a chip, or some of its tiles, will not move again.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `DEADLOCK` or `HOST-WAIT`.
    pub verdict: &'static str,
    /// Cycle at which it was found.
    pub found: u64,
    /// Cycle at which it became unavoidable.
    pub closed: u64,
    /// What the host does meanwhile.
    pub host: String,
    /// The cause over all tiles.
    pub cause: Cause,
    /// Tiles that are stuck, the one with the cause first; alike ones once.
    pub tiles: Vec<TileReport>,
    /// Tiles that are within a kernel and not stuck, or serve others.
    pub bystanders: Vec<(u8, u8)>,
    /// Every tile on which somebody is stuck, in the order of their numbers.
    #[serde(skip)]
    pub(crate) standpoints: Vec<Standpoint>,
    /// The wait that is the root: indices of its tile among those, and of the wait there.
    #[serde(skip)]
    pub(crate) root: Option<(usize, usize)>,
}

impl Report {
    /// What a trace says of it.
    #[must_use]
    pub fn judgement(&self) -> Judgement {
        let first = self.tiles.first();
        let own = first.and_then(|tile| tile.explanation.judgement());
        Judgement {
            verdict: self.verdict.to_owned(),
            hazard: self.cause.hazard,
            text: self.cause.headline.clone(),
            closed: self.closed,
            found: self.found,
            agent: own.as_ref().and_then(|own| own.agent),
            pc: own.and_then(|own| own.pc),
            tile: first.map(|tile| tile.tile),
        }
    }

    /// Whether somebody who waits stands at a place without a name.
    #[must_use]
    pub fn lacks_names(&self) -> bool {
        let waits = self.tiles.iter().flat_map(|tile| &tile.explanation.waits);
        waits.into_iter().any(|wait| wait.pc.is_some() && wait.code.is_none())
    }

    /// The words that a tile waits for and others write.
    pub(crate) fn awaited(&self, tile: (u8, u8)) -> Vec<u32> {
        let own = self.standpoints.iter().filter(|own| own.tile.tile == tile);
        own.flat_map(|own| own.nodes().filter_map(|wait| own.remote(wait))).collect()
    }
}
