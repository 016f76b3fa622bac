//! The books that an explanation looks things up in, if somebody has kept them.

use observe::Ledger;
use observe::why::{Finding, Loops, Polled};
use sim_core::{NullObserver, Observer};
use tile::Tile;

use crate::eye::{Eye, Sink};

/// What the observer of a tile has written down.
#[derive(Clone, Copy, Debug)]
pub struct Books<'a> {
    /// Operations on resources.
    pub ledger: &'a Ledger,
    /// Who read and wrote the words that are polled at the end.
    pub polled: &'a Polled,
    /// What the cores did last.
    pub loops: &'a Loops,
}

/// An observer that keeps books, or none.
pub trait Kept: Observer {
    /// The books; `None` if nobody kept any.
    fn books(&self) -> Option<Books<'_>>;

    /// Contract violations that were seen, oldest first.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
}

impl Kept for NullObserver {
    fn books(&self) -> Option<Books<'_>> {
        None
    }
}

impl<S: Kept + Sink> Kept for Eye<S> {
    fn books(&self) -> Option<Books<'_>> {
        self.sink().books()
    }

    fn findings(&self) -> Vec<Finding> {
        self.sink().findings()
    }
}

/// Books in which nothing stands.
#[derive(Debug)]
pub(crate) struct Blank {
    ledger: Ledger,
    polled: Polled,
    loops: Loops,
}

impl Blank {
    pub(crate) fn new() -> Self {
        Self { ledger: Ledger::new(Vec::new()), polled: Polled::default(), loops: Loops::default() }
    }

    /// Of a tile, with what its parked cores execute.
    pub(crate) fn of<O: Observer>(tile: &Tile<O>) -> Self {
        Self { loops: Loops::of_parked(tile), ..Self::new() }
    }

    pub(crate) fn books(&self) -> Books<'_> {
        Books { ledger: &self.ledger, polled: &self.polled, loops: &self.loops }
    }
}
