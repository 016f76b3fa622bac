//! Who wrote last what is not as a plan expects: the plan is carried out once more, which is the same, with eyes
//! on the first wrong words.
//!
//! A word of L1 has its writes in the events of its tile; what came from another tile is looked up there, by the
//! command that sent it. Of DRAM the commands are all there is.

use std::collections::VecDeque;
use std::sync::Arc;

use chip::{Chip, ChipConfig, Grid, Other, Place, TensixTile};
use loader::plan::Target;
use observe::Names as _;
use observe::why::{End, Loops, Scene, Writer, Writers, WrongResult};
use sim_core::observer::ParkedSpan;
use sim_core::{AgentId, CoreId, Cycle, Event, Jump, Observer, Retire, Stamp};
use symbols::catalog::Catalog;
use symbols::tile_names::TileNames;

use super::host::{Mismatch, Outcome};
use crate::books::Blank;
use crate::eye::{Eye, Sink};
use crate::host::{Host, SessionError, Stage};
use crate::lens::Sent;
use crate::names::CodeNames;
use crate::traffic::what;

/// Blocks whose writers are looked for.
const BLOCKS: usize = 8;
/// Commands of a tile to a word that are remembered.
const KEPT: usize = 64;

/// A word that is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Spot {
    place: Place,
    /// Of a tile its translated coordinate.
    logical: Option<(u8, u8)>,
    address: u32,
}

impl Spot {
    fn is_written_by(&self, grid: &Grid, own: u16, sent: &Sent) -> bool {
        let word = u64::from(self.address);
        let range = sent.addr..sent.addr + u64::from(sent.bytes.max(4));
        if sent.is_read() || range.start >= word + 4 || range.end <= word {
            return false;
        }
        match self.logical {
            Some(at) if sent.is_multicast() => {
                let is_left_out = self.place == Place::Tensix(own) && !sent.loops_back();
                sent.reaches(at) && !is_left_out
            }
            _ => grid.named(sent.corner()) == Some(self.place),
        }
    }
}

/// What is looked at, and on which chip.
#[derive(Debug)]
struct Search {
    grid: Grid,
    spots: Vec<Spot>,
}

/// The observer of a tile.
#[derive(Debug)]
struct Pen {
    number: u16,
    worker: (u8, u8),
    search: Arc<Search>,
    writers: Writers,
    /// Only where a word of the tile is looked at.
    loops: Option<Loops>,
    /// What the tile has sent to each spot, the last of it.
    sent: Vec<VecDeque<Sent>>,
    /// Since when what runs.
    names: Vec<(u64, Arc<TileNames>)>,
}

impl Pen {
    fn new(number: u16, tile: TensixTile, search: &Arc<Search>) -> Self {
        let spots = || search.spots.iter();
        let own = || spots().filter(|spot| spot.place == Place::Tensix(number));
        Self {
            number,
            worker: tile.worker(),
            search: Arc::clone(search),
            writers: Writers::new(own().map(|spot| spot.address)),
            loops: own().next().map(|_| Loops::default()),
            sent: spots().map(|_| VecDeque::new()).collect(),
            names: Vec::new(),
        }
    }

    /// What ran then.
    fn names(&self, cycle: u64) -> Option<CodeNames> {
        let begun = self.names.iter().rev().find(|(since, _)| *since <= cycle);
        begun.map(|(_, names)| CodeNames::new(Arc::clone(names)))
    }

    /// The last command by which the tile wrote a spot, until then.
    fn last(&self, spot: usize, until: u64) -> Option<&Sent> {
        self.sent.get(spot)?.iter().rev().find(|sent| sent.cycle <= until)
    }

    fn told(&self, sent: &Sent, launches: &[(u64, String)]) -> Writer {
        let Sent { cycle, core, pc, .. } = *sent;
        let launch = launches.iter().rev().find(|(since, _)| *since <= cycle);
        let names = self.names(cycle);
        let names = names.as_ref();
        Writer {
            tile: Some(self.worker),
            agent: AgentId::Core(core),
            cycle,
            pc: Some(pc),
            instruction: None,
            sent: Some(what(&self.search.grid, sent)),
            launch: launch.map(|(_, name)| name.clone()),
            code: names.and_then(|names| names.site(core, pc)),
            source: names.and_then(|names| names.excerpt(core, pc)),
            callers: names.map_or_else(Vec::new, |names| names.callers(core, pc)),
        }
    }
}

impl Observer for Pen {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.writers.event(stamp, event);
        if let Some(loops) = &mut self.loops {
            loops.event(stamp, event);
        }
        if let Event::NocIssue { noc, control, addr, coordinate, bytes, .. } = *event
            && let AgentId::Core(core) = stamp.agent
        {
            let (cycle, pc) = (stamp.cycle.0, stamp.pc);
            let sent = Sent { cycle, core, pc, noc, control, addr, coordinate, bytes };
            let Search { grid, spots } = &*self.search;
            for (spot, kept) in spots.iter().zip(&mut self.sent) {
                if spot.is_written_by(grid, self.number, &sent) {
                    if kept.len() == KEPT {
                        kept.pop_front();
                    }
                    kept.push_back(sent);
                }
            }
        }
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        self.loops.as_ref().is_some_and(|loops| loops.wants_retires(core))
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        if let Some(loops) = &mut self.loops {
            loops.retires(core, retires);
        }
    }

    fn wants_jumps(&self, core: CoreId) -> bool {
        self.loops.as_ref().is_some_and(|loops| loops.wants_jumps(core))
    }

    fn jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        if let Some(loops) = &mut self.loops {
            loops.jumps(core, jumps);
        }
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        if let Some(loops) = &mut self.loops {
            loops.parked(core, span);
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.writers.observed_l1()
    }
}

impl Sink for Pen {
    fn launched(&mut self, cycle: Cycle, names: &Arc<TileNames>, _: bool) {
        self.names.push((cycle.0, Arc::clone(names)));
    }
}

/// The words of some blocks, as places of a chip.
fn spots(grid: &Grid, wrong: &[Mismatch]) -> Vec<Spot> {
    let mut spots = Vec::new();
    for mismatch in wrong {
        let place = match mismatch.target {
            Target::Tile(worker) => grid.worker(worker).map(|(number, _)| Place::Tensix(number)),
            Target::Dram(channel) => Some(Place::Endpoint(Other::Dram(channel.into()))),
        };
        let Some(place) = place else { continue };
        let logical = match place {
            Place::Tensix(number) => {
                let at = grid.logical(number);
                Some((at.x, at.y))
            }
            Place::Endpoint(_) => None,
        };
        for word in &mismatch.words {
            let spot = Spot { place, logical, address: word.address };
            if !spots.contains(&spot) {
                spots.push(spot);
            }
        }
    }
    spots
}

/// Carries a plan out again and says of the first wrong words who wrote each of them last. Nothing is done if none
/// is wrong.
///
/// # Errors
/// The chip refuses an access that the plan asks for.
pub fn tell_writers<H: Host>(
    host: &H,
    catalog: &Arc<Catalog>,
    config: ChipConfig,
    outcome: &mut Outcome,
) -> Result<(), SessionError> {
    let many = outcome.wrong.len().min(BLOCKS);
    let grid = Grid::new(config.product, config.harvest());
    let spots = spots(&grid, &outcome.wrong[..many]);
    if spots.is_empty() {
        return Ok(());
    }
    let search = Arc::new(Search { grid, spots });
    let (shared, catalog) = (Arc::clone(&search), Arc::clone(catalog));
    let mut stage = Stage::new(host.play(), move || {
        let (search, catalog) = (Arc::clone(&shared), Arc::clone(&catalog));
        Chip::watched(config, move |tile: TensixTile| {
            let number = search.grid.worker(tile.worker()).map_or(u16::MAX, |(number, _)| number);
            Eye::new(Pen::new(number, tile, &search), Arc::clone(&catalog))
        })
    });
    while stage.step()?.is_some() {}
    let begun = outcome.stages.iter().map(|stage| (stage.began, stage.name.clone()));
    let launches: Vec<(u64, String)> = begun.collect();
    let ended = |name: &str| {
        let stage = outcome.stages.iter().find(|stage| stage.name == name);
        stage.and_then(|stage| stage.ended).unwrap_or(u64::MAX)
    };
    for mismatch in &mut outcome.wrong[..many] {
        let until = ended(&mismatch.launch);
        tell(&mut stage.chip, &search, mismatch, until, &launches);
    }
    Ok(())
}

/// Says of words of a tile's L1 what its own events tell.
fn tell_own(
    chip: &mut Chip<Eye<Pen>>,
    number: u16,
    mismatch: &mut Mismatch,
    until: u64,
    launches: &[(u64, String)],
) {
    let words = std::mem::take(&mut mismatch.words);
    mismatch.words = chip.inspect(number, |tile| {
        let pen = tile.observer().sink();
        let mut wrong = WrongResult {
            launch: mismatch.launch.clone(),
            address: mismatch.address,
            expected: 0,
            found: 0,
            bytes: mismatch.bytes,
            cycle: until,
            words,
        };
        let (blank, loops) = (Blank::new(), Loops::default());
        let names = pen.names(until);
        let scene = Scene {
            end: End::WrongResult,
            wrong: None,
            found: until,
            closed: None,
            waits: &[],
            ledger: blank.books().ledger,
            findings: &[],
            machine: tile,
            loops: pen.loops.as_ref().unwrap_or(&loops),
            polled: blank.books().polled,
            names: names.as_ref().map_or(&observe::BuiltInNames, |names| names),
            circular: &[],
            launches,
        };
        pen.writers.tell(&mut wrong, &scene);
        wrong.words
    });
}

/// Says who wrote the words of a block last, until then.
fn tell(
    chip: &mut Chip<Eye<Pen>>,
    search: &Search,
    mismatch: &mut Mismatch,
    until: u64,
    launches: &[(u64, String)],
) {
    let own = match mismatch.target {
        Target::Tile(worker) => search.grid.worker(worker).map(|(number, _)| number),
        Target::Dram(_) => None,
    };
    if let Some(number) = own {
        tell_own(chip, number, mismatch, until, launches);
    }
    let place = match (own, mismatch.target) {
        (Some(number), _) => Place::Tensix(number),
        (None, Target::Dram(channel)) => Place::Endpoint(Other::Dram(channel.into())),
        (None, Target::Tile(_)) => return,
    };
    let numbers: Vec<u16> = chip.standing().tiles.iter().map(|tile| tile.number).collect();
    for word in &mut mismatch.words {
        // What the tile did itself is known from its own events.
        let by_other =
            |writer: &Writer| matches!(writer.agent, AgentId::Noc(_)) && writer.pc.is_none();
        if own.is_some() && !word.writer.as_ref().is_some_and(by_other) {
            continue;
        }
        let until = word.writer.as_ref().map_or(until, |writer| writer.cycle);
        let is_it = |spot: &Spot| (spot.place, spot.address) == (place, word.address);
        let Some(spot) = search.spots.iter().position(is_it) else { continue };
        let mut last: Option<Writer> = None;
        for &number in &numbers {
            let told = chip.inspect(number, |tile| {
                let pen = tile.observer().sink();
                pen.last(spot, until).map(|sent| pen.told(sent, launches))
            });
            if told
                .as_ref()
                .is_some_and(|told| last.as_ref().is_none_or(|old| told.cycle >= old.cycle))
            {
                last = told;
            }
        }
        word.writer = last.or_else(|| word.writer.take());
    }
}
