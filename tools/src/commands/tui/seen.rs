//! A tile of a recorded session at the beginning of an epoch, with the handshakes that led there.
//!
//! It is carried out again from a snapshot at full speed, so that cores are parked where they were in the session;
//! the machine of a debugger has none parked.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use debugger::{Machine, Recording};
use observe::{BuiltInNames, DEFAULT_L1, Episode, Names, Polls, describe};
use sim_core::observer::ParkedSpan;
use sim_core::{CoreId, Cycle, Event, Observer, Retire, Stamp};
use tile::Tile;

/// Handshakes that are kept.
const KEPT: usize = 200;
/// Cycles before a moment whose handshakes are shown with it, at least.
const LEAD: u64 = 4096;

/// What people follow a protocol by.
#[derive(Clone, Debug)]
pub(super) enum Handshake {
    /// Something happened.
    Event(Stamp, Event),
    /// A loop that polled has ended.
    Poll(Episode),
}

impl Handshake {
    /// When it was.
    pub(super) fn cycle(&self) -> Cycle {
        match self {
            Self::Event(stamp, _) => stamp.cycle,
            Self::Poll(episode) => episode.stamp().cycle,
        }
    }

    /// It in a line.
    pub(super) fn text(&self, names: &dyn Names) -> Option<String> {
        match self {
            Self::Event(stamp, event) => Some(describe(*stamp, event, names)?.to_string()),
            Self::Poll(episode) => Some(episode.line(names).to_string()),
        }
    }
}

/// The last handshakes.
#[derive(Default, Debug)]
pub(super) struct Handshakes {
    kept: VecDeque<Handshake>,
    polls: Polls,
    count: u64,
}

impl Handshakes {
    fn keep(&mut self, handshake: Handshake) {
        self.count += 1;
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(handshake);
    }

    fn ended(&mut self) {
        if !self.polls.is_empty() {
            let ended: Vec<Episode> = self.polls.ended().collect();
            ended.into_iter().for_each(|episode| self.keep(Handshake::Poll(episode)));
        }
    }
}

impl Observer for Handshakes {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.polls.event(stamp, event);
        self.ended();
        let is_other = match *event {
            Event::Push { .. }
            | Event::Issue { .. }
            | Event::UnitDone { .. }
            | Event::DeviceStore { .. }
            | Event::WaitEnd { .. } => true,
            Event::L1Store { addr, .. } => addr >= DEFAULT_L1.1,
            _ => false,
        };
        if is_other || describe(stamp, event, &BuiltInNames).is_none() {
            return;
        }
        self.keep(Handshake::Event(stamp, *event));
    }

    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        self.polls.retires(core, retires);
        self.ended();
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        self.polls.parked(core, span);
        self.ended();
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![DEFAULT_L1]
    }
}

/// A tile between two epochs, listened to.
#[derive(Debug)]
pub(super) struct Seen {
    recording: Arc<Recording>,
    tile: Tile<Handshakes>,
    /// How much of what came from outside has come.
    given: usize,
    /// Since when it is listened to.
    since: Cycle,
}

impl Seen {
    /// The tile at an epoch boundary of its session.
    ///
    /// # Errors
    /// The host gives no memory for a tile.
    pub(super) fn at(
        machine: &Machine,
        recording: &Arc<Recording>,
        cycle: Cycle,
    ) -> io::Result<Self> {
        let (snapshot, given) = machine.nearest(Cycle(cycle.0.saturating_sub(LEAD)));
        let mut tile = Tile::new(recording.config, Handshakes::default())?;
        tile.restore(snapshot);
        let since = tile.now();
        let mut seen = Self { recording: Arc::clone(recording), tile, given, since };
        seen.go_on(cycle);
        Ok(seen)
    }

    /// Goes on to an epoch boundary.
    pub(super) fn go_on(&mut self, cycle: Cycle) {
        self.recording.run(&mut self.tile, &mut self.given, cycle);
        self.recording.give(&mut self.tile, &mut self.given);
    }

    /// Whether it can go on to a cycle and has heard as much as one that is made for it.
    pub(super) fn leads_to(&self, cycle: Cycle) -> bool {
        self.tile.now() <= cycle && cycle.0 - self.tile.now().0 <= LEAD
    }

    pub(super) fn tile(&self) -> &Tile<Handshakes> {
        &self.tile
    }

    /// The last handshakes, the newest last.
    pub(super) fn handshakes(&self) -> impl DoubleEndedIterator<Item = &Handshake> {
        self.tile.observer().kept.iter()
    }

    /// Goes on epoch by epoch behind the next handshake, up to a cycle at most; whether there was one.
    pub(super) fn go_to_next(&mut self, until: Cycle) -> bool {
        let (before, epoch) = (self.tile.observer().count, self.recording.config.epoch.cycles());
        while self.tile.now() < until && self.tile.observer().count == before {
            self.go_on(Cycle(self.tile.now().0 + epoch).min(until));
        }
        self.tile.observer().count != before
    }

    /// When the last handshake before its cycle was; `None` if it has not been listened to for long enough.
    pub(super) fn last(&self) -> Option<Cycle> {
        self.handshakes().next_back().map(Handshake::cycle)
    }

    /// Since when it is listened to.
    pub(super) fn since(&self) -> Cycle {
        self.since
    }
}
