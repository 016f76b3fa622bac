//! A host played a few calls at a time, with a look at one of its tiles after the other.

use std::sync::Arc;

use anyhow::Result;
use observe::DEFAULT_L1;
use observe::why::CircularBuffer;
use session::eye::Sink;
use session::heed::{Heeding, HeedingPlay};
use session::host::Host;
use session::names::LiveNames;
use session::survey::{Survey, TileSeen};
use session::watch::{Course, Run};
use sim_core::{Cycle, Event, Observer, Stamp};
use symbols::tile_names::TileNames;

use super::lines::Lines;
use super::screen::Model;
use super::view::{View, view};
use crate::commands::asked::Asked;

/// Calls of a host that lets no time pass, after which it is said how far it is.
const CALLS: usize = 4096;

/// The last handshakes of a tile, in words.
#[derive(Debug)]
pub(super) struct Handshakes {
    names: LiveNames,
    lines: Lines,
    buffers: Vec<CircularBuffer>,
}

impl Observer for Handshakes {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::L1Store { addr, .. } = *event
            && addr >= DEFAULT_L1.1
        {
            return;
        }
        self.lines.take(stamp, event, &self.names);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![DEFAULT_L1]
    }
}

impl Sink for Handshakes {
    fn launched(&mut self, _: Cycle, names: &Arc<TileNames>, _: bool) {
        self.names.set(names);
        self.buffers = session::checks::circular(names);
    }
}

/// A session under way.
pub(super) struct Playing<'t, H: Host> {
    run: Run<HeedingPlay<'t, H>, Handshakes>,
    tiles: &'t [TileSeen],
    survey: &'t Survey,
    verdict: &'static str,
    /// The tile on the screen.
    at: usize,
    over: bool,
}

impl<'t, H: Host> Playing<'t, H> {
    /// A host at the beginning of its session.
    ///
    /// # Errors
    /// It cannot be read, or nothing runs on any tile.
    pub(super) fn new(session: &'t Asked<H>) -> Result<Self> {
        let Asked { host, catalog, looked, chosen, verdict, .. } = session;
        let survey = &looked.survey;
        if chosen.is_empty() {
            anyhow::bail!("nothing runs on any tile; --tiles all shows those that were touched");
        }
        let course = Course { survey, catalog, tiles: chosen, until: None };
        let workers = Arc::clone(&survey.workers);
        let sink = move |_: &TileSeen| Handshakes {
            names: LiveNames::new(Arc::clone(&workers)),
            lines: Lines::default(),
            buffers: Vec::new(),
        };
        let mut run = Run::begin::<Heeding<H>>(host, &course, sink);
        let mut over = false;
        while !over && !run.is_begun() {
            over = !run.step()?;
        }
        Ok(Self { run, tiles: chosen, survey, verdict, at: 0, over })
    }

    fn count(&mut self) -> u64 {
        let number = self.tiles[self.at].number;
        self.run.chip().inspect(number, |tile| {
            tile.observer().as_ref().map_or(0, |eye| eye.sink().lines.count)
        })
    }
}

impl<H: Host> Model for Playing<'_, H> {
    fn picture(&mut self) -> View {
        let number = self.tiles[self.at].number;
        self.run.chip().inspect(number, |tile| match tile.observer() {
            Some(eye) => view(tile, &eye.sink().names, &eye.sink().buffers),
            None => view(tile, &observe::BuiltInNames, &[]),
        })
    }

    fn status(&self) -> String {
        let place =
            format!("{} ({} of {})", self.tiles[self.at].name(), self.at + 1, self.tiles.len());
        match self.over {
            true => format!("{place}  {} at cycle {}", self.verdict, self.survey.cycle),
            false => place,
        }
    }

    fn events(&mut self) -> Vec<String> {
        let number = self.tiles[self.at].number;
        self.run.chip().inspect(number, |tile| {
            tile.observer().as_ref().map_or_else(Vec::new, |eye| eye.sink().lines.all())
        })
    }

    fn step(&self) -> u64 {
        1
    }

    fn advance(&mut self, cycles: u64) -> Result<bool> {
        let limit = self.run.chip().now().0.saturating_add(cycles);
        for _ in 0..CALLS {
            if self.over || self.run.chip().now().0 >= limit {
                break;
            }
            self.over = !self.run.step()?;
        }
        Ok(!self.over)
    }

    fn advance_to_event(&mut self, cycles: u64) -> Result<bool> {
        let before = self.count();
        let limit = self.run.chip().now().0.saturating_add(cycles);
        while !self.over && self.run.chip().now().0 < limit && self.count() == before {
            self.over = !self.run.step()?;
        }
        Ok(self.count() != before)
    }

    fn turn(&mut self, by: isize) {
        self.at = (self.at as isize + by).rem_euclid(self.tiles.len() as isize) as usize;
    }
}
