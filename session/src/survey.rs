//! What a session is, before anybody looks closer: which tiles do anything, what is launched on them, and
//! whether it hangs.
//!
//! A host may open the device several times; each time is a session of its own, with cycles from 0.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use chip::{Chip, ChipConfig, Role, TensixTile};
use memory_map::NocControl;
use replay::What;
use sim_core::l1::L1_BYTES;
use sim_core::sync::Mutex;
use sim_core::{Cycle, Event, Observer, Stamp};
use symbols::catalog::Catalog;
use symbols::tile_names::TileNames;

use crate::eye::{Eye, Sink};
use crate::host::{Host, SessionError, Stage};
use crate::losses::{Launches, Losses};
use crate::mistakes;
use crate::names::title;
use crate::second::{Answer, First, Found, first_run};
use crate::selection::Selection;

/// Different launches of a tile that are remembered by name.
const TITLES: usize = 16;
/// Words of a tile that others raise and that are remembered.
const COUNTS: usize = 32;
/// Mistakes that are remembered.
const ERRORS: usize = 1000;

/// A tile of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileSeen {
    /// Its number, as [`chip::Grid::tensix`] counts.
    pub number: u16,
    /// Coordinates as the vendor's runtime counts workers.
    pub worker: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// Launches.
    pub launches: u64,
    /// A program without the vendor's firmware has run.
    pub is_bare: bool,
    /// What was launched, each once, in the order of the first launches.
    pub titles: Vec<String>,
}

impl TileSeen {
    /// Whether it has done anything that somebody wanted of it.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.launches > 0 || self.is_bare
    }

    /// `tile 0,0 (NoC 1-2)`.
    #[must_use]
    pub fn place(&self) -> String {
        let ((x, y), (noc_x, noc_y)) = (self.worker, self.noc);
        format!("tile {x},{y} (NoC {noc_x}-{noc_y})")
    }

    /// The same with what runs there: `tile 0,0 (NoC 1-2) reader, writer`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.titles.split_first() {
            None => self.place(),
            Some((first, [])) => format!("{} {first}", self.place()),
            Some((first, more)) => format!("{} {first} and {} more", self.place(), more.len()),
        }
    }
}

/// What a session is.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The chip.
    pub config: ChipConfig,
    /// Which of the times that the device was opened it is, from 0.
    pub session: usize,
    /// How often the device was opened.
    pub sessions: usize,
    /// Its tiles that were touched, by number.
    pub tiles: Vec<TileSeen>,
    /// Coordinates of all tiles of the chip by number, as the vendor's runtime counts workers.
    pub workers: Arc<[(u8, u8)]>,
    /// The call after which it ends: where it hangs, or where the device is closed.
    pub last_call: u64,
    /// The host has not closed the device: its program was ended, or the tape was full.
    pub is_open: bool,
    /// `DEADLOCK` or `HOST-WAIT`, if it hangs; else `DONE`.
    pub verdict: &'static str,
    /// Its last cycle.
    pub cycle: u64,
    /// What the machine did otherwise than the host knows it.
    pub differences: Vec<String>,
    /// Mistakes of kernels and firmware, each in a line, oldest first; tiles by their NoC coordinates.
    pub errors: Vec<String>,
    /// What is worth saying of it and no mistake, in the same way.
    pub notes: Vec<String>,
}

impl Survey {
    /// The tiles that are chosen.
    pub fn chosen<'a>(&'a self, selection: &'a Selection) -> impl Iterator<Item = &'a TileSeen> {
        self.tiles.iter().filter(|tile| selection.has(tile.worker, tile.is_busy()))
    }
}

/// What a tile was seen to do.
#[derive(Clone, Default, Debug)]
struct Doings {
    launches: u64,
    /// The last ones.
    last: Launches,
    /// A core has left reset.
    runs: bool,
    titles: Vec<String>,
    /// Words of L1 that atomics have come for, by byte address: the last ones.
    counts: Vec<u32>,
}

type Book = Arc<Mutex<BTreeMap<u16, Doings>>>;

/// Notes the launches of a tile.
#[derive(Debug)]
struct Scout {
    number: u16,
    book: Book,
}

impl Observer for Scout {
    fn event(&mut self, _: Stamp, event: &Event) {
        if matches!(event, Event::Reset { asserted: false, .. }) {
            self.book.lock().entry(self.number).or_default().runs = true;
        }
        if let Event::NocServe { control, addr, .. } = *event
            && NocControl(control).is_atomic()
            && let Some(addr) = u32::try_from(addr).ok().filter(|addr| *addr < L1_BYTES)
        {
            let mut book = self.book.lock();
            let counts = &mut book.entry(self.number).or_default().counts;
            if !counts.contains(&addr) {
                if counts.len() == COUNTS {
                    counts.remove(0);
                }
                counts.push(addr);
            }
        }
    }
}

impl Sink for Scout {
    fn launched(&mut self, cycle: Cycle, names: &Arc<TileNames>, is_launch: bool) {
        let mut book = self.book.lock();
        let doings = book.entry(self.number).or_default();
        doings.launches += u64::from(is_launch);
        if is_launch {
            doings.last.add(cycle, names);
        }
        let is_told = is_launch || names.launched().is_none();
        if let Some(title) = title(names).filter(|_| is_told)
            && doings.titles.len() < TITLES
            && !doings.titles.contains(&title)
        {
            doings.titles.push(title);
        }
    }
}

/// A session that has ended.
struct Ended {
    index: usize,
    call: u64,
    cycle: u64,
    tiles: Vec<TileSeen>,
    counts: Counts,
    said: Said,
}

/// What was to be said of a session: mistakes, and what is none.
#[derive(Default)]
struct Said {
    errors: Vec<String>,
    notes: Vec<String>,
    losses: Losses,
}

impl Said {
    /// Takes what is new. At once: the next launch has other names.
    fn hear<O: Observer + Send + 'static>(
        &mut self,
        chip: &mut Chip<O>,
        catalog: &Arc<Catalog>,
        book: &Book,
    ) {
        let Self { errors, notes, losses } = self;
        errors.extend(mistakes::take(chip, || Arc::clone(catalog)));
        errors.truncate(ERRORS);
        notes.extend(mistakes::notes(chip, || Arc::clone(catalog)));
        let launches = |tile: u16| {
            let book = book.lock();
            book.get(&tile).map(|doings| doings.last.clone()).unwrap_or_default()
        };
        losses.take(chip, catalog, launches);
        notes.truncate(ERRORS);
    }

    /// All of a session that has ended.
    fn close(mut self, book: &Book) -> Self {
        let is_by_device = book.lock().values().any(|doings| doings.last.is_by_device());
        self.notes.extend(std::mem::take(&mut self.losses).end(is_by_device));
        self
    }
}

/// Words of L1 that others raise, of each tile, as the vendor's runtime counts workers.
pub(crate) type Counts = BTreeMap<(u8, u8), Vec<u32>>;

fn ended<O: Observer + Send + 'static>(
    chip: &mut Chip<O>,
    book: &Book,
    index: usize,
    call: u64,
) -> Ended {
    let mut book = book.lock();
    let standing = chip.standing();
    let mut counts = Counts::new();
    let tile = |hung: &chip::HungTile| {
        let doings = book.remove(&hung.number).unwrap_or_default();
        if !doings.counts.is_empty() {
            counts.insert(hung.place.worker(), doings.counts);
        }
        TileSeen {
            number: hung.number,
            worker: hung.place.worker(),
            noc: (hung.place.logical.x, hung.place.logical.y),
            launches: doings.launches,
            is_bare: doings.runs && hung.role == Role::Bare,
            titles: doings.titles,
        }
    };
    let tiles = standing.tiles.iter().map(tile).collect();
    book.clear();
    Ended { index, call, cycle: chip.now().0, tiles, counts, said: Said::default() }
}

/// Numbers of tiles by their coordinates.
pub(crate) fn numbers(config: &ChipConfig) -> BTreeMap<(u8, u8), u16> {
    let chip = Chip::new(*config);
    let tiles = (0..).zip(chip.grid().tensix());
    tiles.map(|(number, tile)| (tile.worker(), number)).collect()
}

/// A chip whose tiles note what they do in the book.
fn scouted(
    config: ChipConfig,
    numbers: &Arc<BTreeMap<(u8, u8), u16>>,
    book: &Book,
    catalog: &Arc<Catalog>,
) -> Chip<Eye<Scout>> {
    let (numbers, book, catalog) = (Arc::clone(numbers), Arc::clone(book), Arc::clone(catalog));
    let mut chip = Chip::watched(config, move |tile: TensixTile| {
        let number = numbers.get(&tile.worker()).copied().unwrap_or(u16::MAX);
        Eye::new(Scout { number, book: Arc::clone(&book) }, Arc::clone(&catalog))
    });
    chip.watch_losses();
    chip
}

/// Plays a session and finds out what it is. Of several the one that hangs, else the last in which anything
/// runs. `threads` of the host; `elf` are more directories with ELF files.
///
/// # Errors
/// What the host does cannot be read, or it names a machine that there is not.
pub fn survey<H: Host>(
    host: &H,
    catalog: &Arc<Catalog>,
    threads: Option<usize>,
) -> Result<Survey, SessionError> {
    Ok(look(host, catalog, threads)?.survey)
}

/// A session that was played once: what is needed to be asked why it hangs.
#[derive(Debug)]
pub struct Looked {
    /// What it is.
    pub survey: Survey,
    pub(crate) counts: Counts,
    pub(crate) found: Option<Found>,
    pub(crate) given_up: Option<u64>,
    pub(crate) answer: Answer,
}

/// As [`survey`], with what is known of a hang.
///
/// # Errors
/// As [`survey`].
pub fn look<H: Host>(
    host: &H,
    catalog: &Arc<Catalog>,
    threads: Option<usize>,
) -> Result<Looked, SessionError> {
    let mut config = host.config()?;
    config.threads = threads.unwrap_or(config.threads);
    let numbers = Arc::new(numbers(&config));
    let mut workers: Vec<_> = numbers.iter().map(|(worker, number)| (*number, *worker)).collect();
    workers.sort_unstable();
    let book = Book::default();
    let make = {
        let (book, catalog) = (Arc::clone(&book), Arc::clone(catalog));
        move || scouted(config, &numbers, &book, &catalog)
    };
    let mut stage = Stage::new(host.play(), make);
    let (mut opened, mut sessions, mut said) = (0_usize, Vec::new(), Said::default());
    let First { found, given_up, answer } = first_run(&mut stage, catalog, |chip, played| {
        said.hear(chip, catalog, &book);
        match played.what {
            What::Init => opened += 1,
            What::Exit => {
                let said = std::mem::take(&mut said).close(&book);
                let session = ended(chip, &book, opened.saturating_sub(1), played.index);
                sessions.push(Ended { said, ..session });
            }
            _ => {}
        }
    })?;
    let is_open = stage.is_open();
    if is_open || sessions.is_empty() {
        let index = opened.saturating_sub(1);
        let call = answer.calls.saturating_sub(1);
        let said = said.close(&book);
        sessions.push(Ended { said, ..ended(&mut stage.chip, &book, index, call) });
    }
    let at = if found.is_some() {
        sessions.len() - 1
    } else {
        let busy = sessions.iter().rposition(|one| one.tiles.iter().any(TileSeen::is_busy));
        busy.unwrap_or(sessions.len() - 1)
    };
    let is_last = at + 1 == sessions.len();
    let (is_open, given_up) = (is_open && is_last, given_up.filter(|_| is_last));
    let Ended { index, call, cycle, tiles, counts, said } = sessions.swap_remove(at);
    let survey = Survey {
        config,
        session: index,
        sessions: opened.max(1),
        tiles,
        workers: workers.into_iter().map(|(_, worker)| worker).collect(),
        last_call: call,
        is_open,
        verdict: found.as_ref().map_or("DONE", |found| found.hang.verdict.name()),
        cycle,
        differences: answer.differences.clone(),
        errors: said.errors,
        notes: said.notes,
    };
    Ok(Looked { survey, counts, found, given_up, answer })
}

/// Where names are found for a session.
pub fn catalog<H: Host>(host: &H, elf: &[PathBuf]) -> Arc<Catalog> {
    Arc::new(host.catalog(elf))
}
