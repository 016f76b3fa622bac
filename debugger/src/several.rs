//! A session over a chip, recorded tile by tile.
//!
//! The session is played once with a list kept of what comes to each chosen tile from outside: accesses
//! of the host, messages of other endpoints. Then each of them can do again what it did, alone and at
//! the speed of one tile, whatever the size of the chip.

use std::collections::BTreeMap;
use std::sync::Arc;

use session::eye::Sink;
use session::names::title;
use session::watch::{Course, Run};
use session::{Host, SessionError};
use sim_core::sync::Mutex;
use sim_core::{AgentId, CoreId, Cycle, Observer};
use symbols::tile_names::TileNames;
use tile::{Inputs, Tile};

use crate::recording::{Code, End, Recording, Stage};

type Book = Arc<Mutex<BTreeMap<u16, Vec<Stage>>>>;

/// Notes what is launched on a tile, and when.
#[derive(Debug)]
pub struct Clerk {
    number: u16,
    launches: u64,
    book: Book,
}

impl Observer for Clerk {}

impl Sink for Clerk {
    fn launched(&mut self, cycle: Cycle, names: &Arc<TileNames>, is_launch: bool) {
        self.launches += u64::from(is_launch);
        let title = title(names).map_or_else(String::new, |title| format!(": {title}"));
        let name = match is_launch {
            true => format!("launch {}{title}", self.launches),
            false => format!("start{title}"),
        };
        let stage = Stage { name, began: cycle, code: Code::Names(Arc::clone(names)) };
        self.book.lock().entry(self.number).or_default().push(stage);
    }
}

/// A core of a tile that waits for what cannot come, to be looked at first.
fn stuck<O: Observer>(tile: &Tile<O>) -> Option<CoreId> {
    let waits = tile.verdict(None)?.waits;
    let core = |agent| match agent {
        AgentId::Core(core) => Some(core),
        AgentId::Thread(thread) => Some(thread.core()),
        _ => None,
    };
    // A core that waits for something says more than firmware that waits for a launch.
    let waits = waits.iter().filter(|wait| wait.stuck).chain(&waits);
    waits.filter_map(|wait| core(wait.agent)).next()
}

/// How a session ends, in a line.
fn told(course: &Course<'_>) -> String {
    let survey = course.survey;
    let text = match survey.verdict {
        "DEADLOCK" => "DEADLOCK: nothing can move any more",
        "HOST-WAIT" => "HOST-WAIT: only the host can go on",
        _ => "DONE: the host makes no more calls",
    };
    match survey.errors.split_first() {
        None => text.to_owned(),
        Some((first, [])) => format!("{text}; a mistake on the way: {first}"),
        Some((first, more)) => {
            format!("{text}; {} mistakes on the way, the first: {first}", more.len() + 1)
        }
    }
}

/// Plays a session and records its chosen tiles, in their order. `goes_on` is asked after each call of
/// the host; what was recorded up to there is the session then.
///
/// # Errors
/// What the host does cannot be read.
pub fn record<H: Host>(
    host: &H,
    course: &Course<'_>,
    mut goes_on: impl FnMut() -> bool,
) -> Result<Vec<Arc<Recording>>, SessionError> {
    let numbers: Vec<u16> = course.tiles.iter().map(|tile| tile.number).collect();
    let book = Book::default();
    let mut run = Run::begin(host, course, {
        let book = Arc::clone(&book);
        move |tile| Clerk { number: tile.number, launches: 0, book: Arc::clone(&book) }
    });
    loop {
        // A host that opens the device finds another chip.
        if run.is_begun() && !run.chip().keeps_inputs() {
            run.chip().keep_inputs(&numbers);
            book.lock().clear();
        }
        if !run.step()? || !goes_on() {
            break;
        }
    }
    let mut chip = run.into_chip();
    let (is_hung, told) = (course.survey.verdict != "DONE", told(course));
    let text: Arc<str> = told.into();
    let mut recordings = Vec::new();
    for tile in course.tiles {
        let ((until, hash), core) = chip.examine(tile.number, |tile| {
            ((tile.now(), tile.state_hash()), if is_hung { stuck(tile) } else { None })
        });
        let Some(kept) = chip.take_inputs(tile.number) else { continue };
        let mut stages =
            vec![Stage { name: "boot".to_owned(), began: Cycle::ZERO, code: Code::none() }];
        stages.extend(book.lock().remove(&tile.number).unwrap_or_default());
        let Inputs { config, first, inputs } = kept;
        let end = End::Session(Arc::clone(&text), core);
        let (place, number) = (tile.worker, tile.number);
        recordings.push(Arc::new(Recording {
            place,
            number,
            config,
            first,
            inputs,
            stages,
            until,
            end,
            hash,
        }));
    }
    Ok(recordings)
}
