//! The chip as a host sees it: PCI accesses in, time by host clocks.
//!
//! Everything is a pure function of the calls made: same calls, same answers, whatever the number
//! of host threads.

use std::sync::Arc;

use devices::NocTiming;
use devices::niu::Coordinate;
use memory_map::mailbox::Layout;
use sim_core::l1::L1_BYTES;
use sim_core::{Cycle, NullObserver, Observer, StateHasher};
use tile::{AgentWait, Departure, HostWait, Inputs, Quiescence};

use crate::asked::Asked;
use crate::config::{ChipConfig, ClockStep};
use crate::endpoint::{Endpoints, HostMemory, Loss};
use crate::error::HostError;
use crate::field::Field;
use crate::grid::{Grid, Other, Place, TensixTile};
use crate::pci::{NocPort as _, Pci};
use crate::port::Port;
use crate::post::Post;
use crate::report::{Mistake, Reports};
use crate::snapshot::{ChipSnapshot, State};

/// Cycles that all tiles may advance before they look at each other's messages. The nearest tile
/// is one hop away: 5 + 9 + 5 cycles after the last flit has left `[isa-bh: NoC/README.md]`, and a
/// flit leaves at least a cycle after its command. A power of two, so that it is a whole number of
/// epochs.
pub const LOOKAHEAD: u64 = 16;

/// One Blackhole chip behind a PCI Express interface.
#[derive(Debug)]
pub struct Chip<O: Observer = NullObserver> {
    pub(crate) config: ChipConfig,
    pub(crate) grid: Grid,
    pub(crate) field: Field<O>,
    pub(crate) pci: Pci,
    pub(crate) endpoints: Endpoints,
    pub(crate) post: Post,
    pub(crate) timing: NocTiming,
    /// Messages that have just left tiles, by their numbers; empty but while they are given to the receivers.
    pub(crate) departures: Vec<(u16, Departure)>,
    pub(crate) now: Cycle,
    pub(crate) reports: Reports,
    /// What the host has just asked of the debug hardware of a tile.
    pub(crate) asked: Asked,
    /// The host has used the debug interface of some core: it may have placed an `ebreak`.
    pub(crate) attended: bool,
    /// Where firmware keeps what in its mailbox block, if that has been said.
    pub(crate) mailbox: Option<Arc<Layout>>,
}

impl Chip {
    /// A chip as its own firmware leaves it after power-on: all Tensix cores in reset.
    #[must_use]
    pub fn new(config: ChipConfig) -> Self {
        Self::watched(config, |_| NullObserver)
    }
}

impl<O: Observer + Send + 'static> Chip<O> {
    /// A chip whose tiles are watched: `watch` makes the observer of a tile when it is first touched.
    /// Who watches changes nothing.
    #[must_use]
    pub fn watched(
        config: ChipConfig,
        watch: impl Fn(TensixTile) -> O + Send + Sync + 'static,
    ) -> Self {
        let grid = Grid::new(config.product, config.harvest());
        let places: Vec<TensixTile> = grid.tensix().collect();
        let watch = Box::new(move |number: u16| watch(places[usize::from(number)]));
        let tiles = grid
            .tensix()
            .map(|tile| {
                let pair = |at: Coordinate| (at.x, at.y);
                config.tile(pair(tile.physical), pair(tile.logical))
            })
            .collect();
        Self {
            field: Field::new(tiles, config.threads, watch),
            pci: Pci::new(),
            endpoints: Endpoints::new(&grid),
            post: Post::default(),
            timing: NocTiming::documented(),
            departures: Vec::new(),
            now: Cycle::ZERO,
            reports: Reports::default(),
            asked: Asked::Nothing,
            attended: false,
            mailbox: None,
            config,
            grid,
        }
    }

    /// What was chosen.
    #[must_use]
    pub fn config(&self) -> &ChipConfig {
        &self.config
    }

    /// Ends the worker threads, for a process that is about to fork: new ones are started when they are
    /// needed, in the parent and in the child.
    pub fn dismiss_threads(&mut self) {
        self.field.dismiss();
    }

    /// Cycles since power-on.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Through what the PCIe tile reaches the host's memory.
    pub fn set_host_memory(&mut self, memory: Box<dyn HostMemory>) {
        self.endpoints.pcie.set_memory(memory);
    }

    /// Reads an aligned word of PCI configuration space; all ones where there is no device.
    pub fn config_read(&mut self, bdf: u32, offset: u32) -> u32 {
        self.pci.config_read(bdf, offset)
    }

    /// Writes an aligned word of PCI configuration space.
    pub fn config_write(&mut self, bdf: u32, offset: u32, value: u32) {
        self.pci.config_write(bdf, offset, value);
    }

    /// Reads through a BAR.
    ///
    /// # Errors
    /// Nothing is there, or what is there refuses; the bytes are then all ones.
    pub fn mem_read(&mut self, paddr: u64, bytes: &mut [u8]) -> Result<(), HostError> {
        let (pci, mut port) = self.split();
        let result = pci.read(paddr, bytes, &mut port);
        if result.is_err() {
            bytes.fill(0xFF);
        }
        result
    }

    /// Writes through a BAR.
    ///
    /// # Errors
    /// Nothing is there, or what is there refuses; nothing is written then, or a part.
    pub fn mem_write(&mut self, paddr: u64, bytes: &[u8]) -> Result<(), HostError> {
        let (pci, mut port) = self.split();
        let result = pci.write(paddr, bytes, &mut port);
        self.let_debugger_see();
        result
    }

    /// Reads from an endpoint by its translated coordinate, without a window.
    ///
    /// # Errors
    /// As [`Chip::mem_read`].
    pub fn tile_read(
        &mut self,
        x: u32,
        y: u32,
        addr: u64,
        bytes: &mut [u8],
    ) -> Result<(), HostError> {
        let at = coordinate(x, y, addr)?;
        let result = self.split().1.noc_read(0, at, addr, bytes);
        if result.is_err() {
            bytes.fill(0xFF);
        }
        result
    }

    /// Writes to an endpoint by its translated coordinate, without a window.
    ///
    /// # Errors
    /// As [`Chip::mem_write`].
    pub fn tile_write(&mut self, x: u32, y: u32, addr: u64, bytes: &[u8]) -> Result<(), HostError> {
        let at = coordinate(x, y, addr)?;
        let result = self.split().1.noc_write(0, at, addr, bytes);
        self.let_debugger_see();
        result
    }

    /// Lets time pass.
    pub fn clock(&mut self, clocks: u32) {
        let ahead = |now, cycles| self.config.epoch.round_up(now + cycles);
        match self.config.clock {
            ClockStep::Cycles(cycles) => {
                let target = ahead(self.now, u64::from(clocks) * u64::from(cycles));
                self.advance(target);
            }
            ClockStep::Auto => {
                let (least, most) = (u64::from(ClockStep::LEAST), u64::from(ClockStep::MOST));
                let target = ahead(self.now, u64::from(clocks).max(least));
                let latest = ahead(self.now, most);
                self.advance(target);
                // Who asks for many clocks means cycles; else somebody polls.
                let is_poll = u64::from(clocks) < least;
                while is_poll && self.now < latest && self.field.is_computing() {
                    let target = latest.min(self.config.epoch.round_up(self.now + least));
                    self.advance(target);
                }
            }
        }
    }

    /// Until when certainly nothing happens without the host, in which time [`Chip::clock`] lets the same
    /// number of cycles pass each time it is asked for the same number of clocks. `None`: something is
    /// going on.
    #[must_use]
    pub fn rests_until(&self) -> Option<Cycle> {
        let rests = self.field.is_resting() && self.post.is_empty();
        rests.then(|| self.field.alarm().unwrap_or(Cycle(u64::MAX)))
    }

    /// Lets time pass, most likely over a chip in which nothing happens ([`Chip::rests_until`]): so many
    /// cycles as [`Chip::clock`] let pass, in one go.
    pub fn rest(&mut self, cycles: u64) {
        if cycles == 0 {
            return;
        }
        let target = self.config.epoch.round_up(self.now + cycles);
        if self.rests_until().is_none_or(|until| until < target) {
            self.advance(target);
        }
        self.now = target;
    }

    /// Whether a read of some bytes through a BAR shows memory, L1 or DRAM: it changes nothing, and
    /// gives the same until something is written there.
    #[must_use]
    pub fn is_memory(&self, paddr: u64, bytes: usize) -> bool {
        self.pci.target(paddr, bytes).is_some_and(|(noc, at, addr)| {
            match self.grid.locate(noc, at, true) {
                Some(Place::Tensix(_)) => addr + bytes as u64 <= u64::from(L1_BYTES),
                Some(Place::Endpoint(other)) => matches!(other, Other::Dram(_)),
                None => false,
            }
        })
    }

    /// Guest mistakes since last asked, in words.
    pub fn take_reports(&mut self) -> Vec<String> {
        self.take_mistakes().iter().map(ToString::to_string).collect()
    }

    /// Guest mistakes since last asked, each with its place, for who has names for it.
    pub fn take_mistakes(&mut self) -> Vec<Mistake> {
        self.reports.take()
    }

    /// Whether [`Chip::take_mistakes`] or [`Chip::take_notes`] would give any.
    #[inline]
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.reports.has_news()
    }

    /// What happened since last asked that its host should know, and that is no mistake.
    pub fn take_notes(&mut self) -> Vec<Mistake> {
        self.reports.take_notes()
    }

    /// Keeps books from now on of data in DRAM that are written over before anybody has read them.
    pub fn watch_losses(&mut self) {
        self.endpoints.lost = Some(Box::default());
    }

    /// What was lost so since last asked; nothing without [`Chip::watch_losses`].
    pub fn take_losses(&mut self) -> Vec<Loss> {
        self.endpoints.lost.as_mut().map(|lost| lost.take()).unwrap_or_default()
    }

    /// How often tiles were ahead of the others and had to come back because of a message.
    pub fn recalls(&mut self) -> u64 {
        let (mut sum, now) = (0, self.now);
        self.field.for_each(now, |_, tile| sum += tile.recalls());
        sum
    }

    /// What would have been guest mistakes if [`ChipConfig::warned`] did not name their checks, each
    /// once per check and Tensix thread of a tile.
    pub fn warnings(&mut self) -> Vec<String> {
        let (grid, now, mut lines) = (&self.grid, self.now, Vec::new());
        self.field.for_each(now, |number, tile| {
            let place = grid.tile(number);
            let lowered =
                tile.warnings().iter().filter(|warning| tensix::Check::by_id(warning.id).is_ok());
            lines.extend(lowered.map(|warning| format!("{place}: {warning}")));
        });
        lines
    }

    /// Whether nothing can happen any more without the host.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.field.are_all_still() && self.field.alarm().is_none() && self.post.is_empty()
    }

    /// Who waits for what, tile by tile, by translated coordinate. Complete when nothing moves.
    pub fn waits(&mut self) -> Vec<(Coordinate, Vec<AgentWait>)> {
        let (grid, now) = (&self.grid, self.now);
        let mut all = Vec::new();
        self.field.for_each(now, |number, tile| all.push((grid.logical(number), tile.waits())));
        all
    }

    /// What it means, tile by tile, that nothing moves; nothing while something can. `host` is what
    /// the host waits for on each tile, if it does nothing before that.
    pub fn verdicts(&mut self, host: Option<HostWait>) -> Vec<(Coordinate, Quiescence)> {
        let mut all = Vec::new();
        if self.is_quiet() {
            let (grid, now) = (&self.grid, self.now);
            self.field.for_each(now, |number, tile| {
                all.extend(tile.verdict(host).map(|verdict| (grid.logical(number), verdict)));
            });
        }
        all
    }

    /// Keeps what comes to those tiles from outside, by their numbers ([`Grid::tensix`]): so each of them can
    /// do again what it did, alone.
    pub fn keep_inputs(&mut self, numbers: &[u16]) {
        self.field.keep_inputs(numbers);
    }

    /// Whether that is done for any tile.
    #[must_use]
    pub fn keeps_inputs(&self) -> bool {
        self.field.keeps_inputs()
    }

    /// What has come to a tile since it is kept; `None` if it was never touched.
    pub fn take_inputs(&mut self, number: u16) -> Option<Inputs> {
        self.field.take_inputs(number)
    }

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
            departures: _,
            now,
            reports,
            asked,
            attended,
            mailbox: _,
        } = self;
        ChipSnapshot::of(State {
            field: field.snapshot(like.map(|like| &like.state().field)),
            pci: pci.clone(),
            endpoints: endpoints.snapshot(),
            post: post.clone(),
            now: *now,
            reports: reports.clone(),
            asked: *asked,
            attended: *attended,
        })
    }

    /// Goes back, or forward, to where a snapshot was taken of this chip or of one with equal
    /// [`ChipConfig`] but for threads and shortcuts. Observers are told nothing of it; the
    /// host's memory stays as it is.
    pub fn restore(&mut self, snapshot: &ChipSnapshot) {
        let old = snapshot.state();
        let Self {
            config: _,
            grid: _,
            field,
            pci,
            endpoints,
            post,
            timing: _,
            departures: _,
            now,
            reports,
            asked,
            attended,
            mailbox: _,
        } = self;
        field.restore(&old.field);
        pci.clone_from(&old.pci);
        endpoints.restore(&old.endpoints);
        post.clone_from(&old.post);
        *now = old.now;
        reports.clone_from(&old.reports);
        *asked = old.asked;
        *attended = old.attended;
    }

    /// The PCI front and what is behind it.
    fn split(&mut self) -> (&mut Pci, Port<'_, O>) {
        let Self { pci, grid, field, endpoints, asked, now, reports, .. } = self;
        (pci, Port { grid, field, endpoints, asked, now: *now, reports })
    }

    /// A hash of everything that determines the future.
    pub fn state_hash(&mut self) -> u64 {
        // Configuration, grid and timing define the machine; reports are what was said; a debugger that
        // was seen and the names of firmware change what is said.
        let Self {
            config: _,
            grid: _,
            field,
            pci,
            endpoints,
            post,
            timing: _,
            departures: _,
            now,
            reports: _,
            asked: _,
            attended: _,
            mailbox: _,
        } = self;
        let mut hasher = StateHasher::default();
        hasher.u64(now.0);
        field.for_each(*now, |number, tile| {
            hasher.u32(u32::from(number));
            hasher.u64(tile.state_hash());
        });
        pci.hash_state(&mut hasher);
        endpoints.hash_state(&mut hasher);
        post.hash_state(&mut hasher);
        hasher.finish()
    }
}

/// A coordinate given as two words.
fn coordinate(x: u32, y: u32, addr: u64) -> Result<Coordinate, HostError> {
    match (u8::try_from(x), u8::try_from(y)) {
        (Ok(x), Ok(y)) => Ok(Coordinate { x, y }),
        _ => Err(HostError::NoTile { noc: 0, x: x.min(255) as u8, y: y.min(255) as u8, addr }),
    }
}
