//! A session played again with eyes on chosen tiles.
//!
//! [`play`] has an observer of any kind on each of them. [`record`] hands on what they see to one listener, in
//! the order of cycles over all tiles: calls are kept for as long as one call of the host lasts, which is all
//! the memory that is needed.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use chip::{Chip, TensixTile};
use observe::{Episode, Polls};
use replay::What;
use sim_core::observer::ParkedSpan;
use sim_core::sync::Mutex;
use sim_core::{CoreId, CoreSet, Cycle, Event, Jump, Observer, Retire, Stamp};
use symbols::catalog::Catalog;
use symbols::tile_names::TileNames;

use crate::eye::{Eye, Sink};
use crate::host::{Host, Play, SessionError, Stage};
use crate::survey::{Survey, TileSeen};

/// What of a session is looked at.
#[derive(Clone, Debug)]
pub struct Course<'a> {
    /// The session.
    pub survey: &'a Survey,
    /// Its names.
    pub catalog: &'a Arc<Catalog>,
    /// The tiles that are watched.
    pub tiles: &'a [TileSeen],
    /// It is not played further than the call that comes to this cycle.
    pub until: Option<Cycle>,
}

/// A chip of which some tiles are watched.
pub type Watched<S> = Chip<Option<Eye<S>>>;

/// A session under way, with an observer on each chosen tile.
pub struct Run<P, S: Sink> {
    stage: Stage<P, Option<Eye<S>>>,
    session: usize,
    last_call: u64,
    until: Option<Cycle>,
    /// How often the host has opened the device.
    opened: usize,
}

impl<P, S: Sink> std::fmt::Debug for Run<P, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("stage", &self.stage).finish_non_exhaustive()
    }
}

impl<'h, S: Sink> Run<(), S> {
    /// A session before the host's first call. `sink` makes the observers.
    pub fn begin<H: Host>(
        host: &'h H,
        course: &Course<'_>,
        sink: impl Fn(&TileSeen) -> S + Send + Sync + 'static,
    ) -> Run<H::Play<'h>, S> {
        let (config, session) = (course.survey.config, course.survey.session);
        let tiles: BTreeMap<(u8, u8), TileSeen> =
            course.tiles.iter().map(|tile| (tile.worker, tile.clone())).collect();
        let (tiles, sink) = (Arc::new(tiles), Arc::new(sink));
        let catalog = Arc::clone(course.catalog);
        let made = Cell::new(0_usize);
        let stage = Stage::new(host.play(), move || {
            // The first chip is the one before any session.
            let number = made.replace(made.get() + 1).saturating_sub(1);
            let (tiles, sink) = (Arc::clone(&tiles), Arc::clone(&sink));
            let catalog = Arc::clone(&catalog);
            Chip::watched(config, move |tile: TensixTile| {
                let chosen = tiles.get(&tile.worker()).filter(|_| number == session)?;
                Some(Eye::new(sink(chosen), Arc::clone(&catalog)))
            })
        });
        let (last_call, until) = (course.survey.last_call, course.until);
        Run { stage, session, last_call, until, opened: 0 }
    }
}

impl<P: Play, S: Sink> Run<P, S> {
    /// One call of the host. `false`: there are no more, or the session has come to where it is to end.
    ///
    /// # Errors
    /// What the host does cannot be read.
    pub fn step(&mut self) -> Result<bool, SessionError> {
        let Some(played) = self.stage.step()? else { return Ok(false) };
        self.opened += usize::from(played.what == What::Init);
        let is_over =
            self.is_begun() && self.until.is_some_and(|until| self.stage.chip.now() >= until);
        Ok(played.index < self.last_call && !is_over)
    }

    /// Whether the host has come to the session that is looked at.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        self.opened.saturating_sub(1) == self.session
    }

    /// The chip.
    pub fn chip(&mut self) -> &mut Watched<S> {
        &mut self.stage.chip
    }

    /// The chip as it stands.
    #[must_use]
    pub fn into_chip(self) -> Watched<S> {
        self.stage.chip
    }
}

/// Plays a session with an observer on each chosen tile, which `sink` makes. `each` is called after each call
/// of the host and ends it there with `false`. Gives the chip as it stands at the end.
///
/// # Errors
/// What the host does cannot be read.
pub fn play<H: Host, S: Sink>(
    host: &H,
    course: &Course<'_>,
    sink: impl Fn(&TileSeen) -> S + Send + Sync + 'static,
    mut each: impl FnMut(&mut Watched<S>) -> Result<bool, SessionError>,
) -> Result<Watched<S>, SessionError> {
    let mut run = Run::begin(host, course, sink);
    while {
        let goes_on = run.step()?;
        each(run.chip())? && goes_on
    } {}
    Ok(run.into_chip())
}

/// Something that a tile did.
#[derive(Clone, Debug)]
pub enum Call {
    /// An event.
    Event(Stamp, Event),
    /// An executed jump.
    Jump(CoreId, Jump),
    /// An executed instruction.
    Retire(CoreId, Retire),
    /// A loop that polled, when it ended; or, at the end of all, one that has not.
    Poll(Box<Episode>),
    /// What runs from now on has those names; whether it was launched.
    Launched(Cycle, Arc<TileNames>, bool),
    /// What is started before its go signal has those names.
    Announced(Arc<TileNames>),
}

/// Who is told of all tiles.
pub trait Listener {
    /// A tile, by its place in the list of the chosen ones, did that.
    ///
    /// # Errors
    /// One line: what was seen cannot be kept. Nothing more is played then.
    fn call(&mut self, tile: usize, call: &Call) -> Result<(), String>;

    /// Whether more is wanted. Asked after each call of the host.
    fn goes_on(&self) -> bool {
        true
    }
}

/// Which calls of a tile are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Nothing before this cycle.
    pub from: Option<Cycle>,
    /// Nothing after it.
    pub to: Option<Cycle>,
    /// Executed jumps, which tell functions.
    pub jumps: bool,
    /// Executed instructions of these cores.
    pub retires: CoreSet,
    /// Loops that poll.
    pub polls: bool,
}

/// What one tile has done since last asked; by cycle, of which a call that comes late has that of the call
/// before it.
type Tray = Arc<Mutex<Vec<(u64, Call)>>>;

/// Keeps the calls of one tile.
#[derive(Debug)]
pub struct Recorder {
    tray: Tray,
    wanted: Wanted,
    polls: Option<Polls>,
    now: u64,
}

impl Recorder {
    /// Tells of polls that have ended.
    fn ended(&mut self) {
        if self.polls.as_ref().is_none_or(Polls::is_empty) {
            return;
        }
        let ended: Vec<_> = self.polls.iter_mut().flat_map(Polls::ended).collect();
        for episode in ended {
            self.polled(episode);
        }
    }

    fn polled(&mut self, episode: Episode) {
        if self.is_wanted(Cycle(episode.since), Cycle(episode.until)) {
            self.put(Cycle(episode.until), Call::Poll(Box::new(episode)));
        }
    }

    /// Polls that go on at that cycle, of which nobody has been told.
    #[must_use]
    pub fn open(&self, now: Cycle, parked: &[(CoreId, ParkedSpan)]) -> Vec<Episode> {
        self.polls.as_ref().map_or_else(Vec::new, |polls| polls.open(now.0, parked))
    }

    fn put(&mut self, cycle: Cycle, call: Call) {
        self.now = self.now.max(cycle.0);
        self.tray.lock().push((self.now, call));
    }

    fn is_wanted(&self, from: Cycle, to: Cycle) -> bool {
        self.wanted.from.is_none_or(|first| to >= first)
            && self.wanted.to.is_none_or(|last| from <= last)
    }
}

impl Observer for Recorder {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Some(polls) = &mut self.polls {
            polls.event(stamp, event);
            self.ended();
        }
        if self.is_wanted(stamp.cycle, stamp.cycle) {
            self.put(stamp.cycle, Call::Event(stamp, *event));
        }
    }

    fn wants_jumps(&self, _: CoreId) -> bool {
        self.wanted.jumps
    }

    fn jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        let wanted = jumps.iter().filter(|jump| self.is_wanted(jump.cycle, jump.cycle));
        let calls: Vec<_> = wanted.map(|&jump| (jump.cycle, Call::Jump(core, jump))).collect();
        calls.into_iter().for_each(|(cycle, call)| self.put(cycle, call));
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        self.polls.is_some() || self.wanted.retires.contains(core)
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        if let Some(polls) = &mut self.polls {
            polls.retire(core, retire);
        }
        // Core by core, a slice each: by their own cycles those of all cores and tiles come in one order.
        if self.wanted.retires.contains(core) && self.is_wanted(retire.cycle, retire.cycle) {
            self.tray.lock().push((retire.cycle.0, Call::Retire(core, *retire)));
        }
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        retires.iter().for_each(|retire| self.retire(core, retire));
        self.ended();
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        if let Some(polls) = &mut self.polls {
            polls.parked(core, span);
            self.ended();
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![observe::DEFAULT_L1]
    }
}

impl Sink for Recorder {
    fn launched(&mut self, cycle: Cycle, names: &Arc<TileNames>, is_launch: bool) {
        self.put(cycle, Call::Launched(cycle, Arc::clone(names), is_launch));
    }

    fn announced(&mut self, names: &Arc<TileNames>) {
        self.put(Cycle::ZERO, Call::Announced(Arc::clone(names)));
    }
}

/// Plays a session and tells a listener what the chosen tiles do, in the order of cycles. Gives the chip as it
/// stands at the end.
///
/// # Errors
/// What the host does cannot be read, or the listener has an error.
pub fn record<H: Host>(
    host: &H,
    course: &Course<'_>,
    wanted: Wanted,
    listener: &mut dyn Listener,
) -> Result<Watched<Recorder>, SessionError> {
    let trays: Vec<Tray> = course.tiles.iter().map(|_| Tray::default()).collect();
    let own: BTreeMap<u16, Tray> = course
        .tiles
        .iter()
        .zip(&trays)
        .map(|(tile, tray)| (tile.number, Arc::clone(tray)))
        .collect();
    let sink = move |tile: &TileSeen| Recorder {
        tray: own.get(&tile.number).cloned().unwrap_or_default(),
        wanted,
        polls: wanted.polls.then(Polls::default),
        now: 0,
    };
    let mut calls: Vec<(u64, usize, Call)> = Vec::new();
    let course = Course { until: course.until.or(wanted.to), ..course.clone() };
    play(host, &course, sink, |_| {
        for (tile, tray) in trays.iter().enumerate() {
            calls.extend(tray.lock().drain(..).map(|(cycle, call)| (cycle, tile, call)));
        }
        // What one tile did stays in its order.
        calls.sort_by_key(|(cycle, tile, _)| (*cycle, *tile));
        let told = calls.drain(..).try_for_each(|(_, tile, call)| listener.call(tile, &call));
        told.map(|()| listener.goes_on()).map_err(SessionError::Host)
    })
}

/// Where requests on the NoC of a chip go, for those who draw arrows between its tiles.
#[derive(Clone, Debug)]
pub struct Map {
    /// Tiles by translated coordinate.
    places: BTreeMap<(u8, u8), u16>,
    watched: Vec<u16>,
}

impl Map {
    /// The map of a session of which those tiles are watched.
    #[must_use]
    pub fn new(survey: &Survey, tiles: &[TileSeen]) -> Self {
        let chip = Chip::new(survey.config);
        let places = (0..).zip(chip.grid().tensix());
        let places = places.map(|(number, tile)| ((tile.logical.x, tile.logical.y), number));
        let mut watched: Vec<u16> = tiles.iter().map(|tile| tile.number).collect();
        watched.sort_unstable();
        Self { places: places.collect(), watched }
    }
}

impl observe::ChipMap for Map {
    fn receivers(&self, control: u32, coordinate: u32) -> Vec<u16> {
        let sent = crate::lens::Target { control, coordinate };
        if !sent.is_multicast() {
            return self.places.get(&sent.corner()).copied().into_iter().collect();
        }
        let reached = self.places.iter().filter(|(at, _)| sent.reaches(**at));
        reached.map(|(_, number)| *number).collect()
    }

    fn is_watched(&self, number: u16) -> bool {
        self.watched.binary_search(&number).is_ok()
    }
}
