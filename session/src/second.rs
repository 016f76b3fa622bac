//! A tape asked why it hangs.
//!
//! It is played twice. The first time nobody watches, and the moment is found at which the host waits
//! and the chip hangs; the second run is the same, call by call, and the books are kept.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use chip::{Chip, ChipConfig, Hang, HostPoll, HungTile, Stance, TensixTile, Witness};
use replay::{PlayError, Played, Player, What, config_of};
use sim_core::{NullObserver, Observer};
use symbols::catalog::{Catalog, Item, ItemKind, Places};
use symbols::tile_names::TileNames;
use tape::{AttachmentKind, Tape};

use crate::lens::Lens;
use crate::names::read_names;
use crate::report::{Report, TileView, report};
use crate::traffic::Traffic;

/// Calls of a wait after which the chip is looked at.
const LOOKS: [u64; 4] = [256, 4096, 65536, 1 << 20];
/// Cycles at rest that count as a long wait.
const LONG_REST: u64 = 1 << 16;

/// How a tape ends, as far as hangs go.
#[derive(Debug)]
pub struct Answer {
    /// The hang, if there is one.
    pub report: Option<Report>,
    /// Calls that were played.
    pub calls: u64,
    /// Cycle of the chip at the end, or at the hang.
    pub cycle: u64,
    /// What the machine did otherwise than the tape has it: none for a tape of this version.
    pub differences: Vec<String>,
    /// What was looked for and not found, of names.
    pub notes: Vec<String>,
}

/// What a question needs besides the tape.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// More directories with ELF files.
    pub elf: Vec<PathBuf>,
    /// Host threads; as many as CPUs if not given.
    pub threads: Option<usize>,
}

/// What the host has done since it last changed anything.
#[derive(Default)]
struct Wait {
    calls: u64,
    rest: u64,
    words: Vec<HostPoll>,
    looks: usize,
    /// How it stood at the first look.
    witness: Option<Witness>,
}

/// Differences that are told.
const TOLD: usize = 5;
/// Words of a wait that are remembered.
const WORDS: usize = 1024;

impl Wait {
    /// Takes a call; whether it is time for a look at the chip.
    fn takes<O: Observer + Send + 'static>(&mut self, played: &Played, chip: &Chip<O>) -> bool {
        match played.what {
            What::Clock { .. } => self.calls += 1,
            What::Rest { cycles } => {
                self.calls += 1;
                self.rest += cycles;
            }
            What::MemRead { paddr, size } => {
                self.calls += 1;
                if let Some(word) = chip.polled(paddr, size)
                    && self.words.len() < WORDS
                    && !self.words.contains(&word)
                {
                    self.words.push(word);
                }
            }
            What::ConfigRead { .. } | What::TileRead { .. } | What::State => {}
            What::MemWrite { paddr, .. } if chip.aims(paddr) => {}
            _ => *self = Self::default(),
        }
        let due = LOOKS.get(self.looks).is_some_and(|calls| self.calls >= *calls);
        let rested = self.looks == 0 && self.rest >= LONG_REST;
        if due || rested {
            self.looks += 1;
        }
        due || rested
    }

    /// Whether the chip hangs, with what may be taken of the host.
    fn look<O: Observer + Send + 'static>(&mut self, chip: &mut Chip<O>) -> Option<Hang> {
        let stances = [Stance::Free, Stance::Waits, Stance::Polls];
        let known = self.witness.take().unwrap_or_default();
        let hang = stances.into_iter().find_map(|stance| chip.hang(stance, &self.words, &known));
        self.witness = Some(if self.looks <= 1 { chip.witness() } else { known });
        hang
    }
}

/// Plays a tape, with a fresh chip for each session.
struct Stage<'t, O: Observer + Send + 'static> {
    player: Player<'t>,
    chip: Chip<O>,
    make: Box<dyn Fn() -> Chip<O>>,
    differences: Vec<String>,
}

impl<'t, O: Observer + Send + 'static> Stage<'t, O> {
    fn new(tape: &'t Tape, make: impl Fn() -> Chip<O> + 'static) -> Self {
        Self {
            player: Player::new(tape),
            chip: make(),
            make: Box::new(make),
            differences: Vec::new(),
        }
    }

    /// One call; what differs is noted and played on.
    fn step(&mut self) -> Result<Option<Played>, PlayError> {
        let played = match self.player.step(&mut self.chip) {
            Ok(played) => played,
            Err(PlayError::Differs(difference)) => {
                if self.differences.len() < TOLD {
                    self.differences.push(difference.to_string());
                }
                Some(difference.played)
            }
            Err(error) => return Err(error),
        };
        let played = played.filter(|played| played.what != What::End);
        if played.is_some_and(|played| played.what == What::Init) {
            self.chip = (self.make)();
        }
        Ok(played)
    }
}

/// The call at which the chip hangs, and how.
struct Found {
    index: u64,
    wait: Wait,
    hang: Hang,
}

fn first_run(tape: &Tape, config: ChipConfig) -> Result<(Option<Found>, Answer), PlayError> {
    let mut stage = Stage::<NullObserver>::new(tape, move || Chip::new(config));
    let mut wait = Wait::default();
    let mut last = 0;
    while let Some(played) = stage.step()? {
        last = played.index;
        if wait.takes(&played, &stage.chip)
            && let Some(hang) = wait.look(&mut stage.chip)
        {
            let answer = answer(&stage, last);
            return Ok((Some(Found { index: last, wait, hang }), answer));
        }
    }
    // A tape that was cut in a hang may be shorter than a long wait.
    let hang = if stage.player.is_open() { wait.look(&mut stage.chip) } else { None };
    let answer = answer(&stage, last);
    Ok((hang.map(|hang| Found { index: last, wait, hang }), answer))
}

fn answer<O: Observer + Send + 'static>(stage: &Stage<'_, O>, last: u64) -> Answer {
    Answer {
        report: None,
        calls: last + 1,
        cycle: stage.chip.now().0,
        differences: stage.differences.clone(),
        notes: Vec::new(),
    }
}

/// The words of L1 that the cores of a tile poll.
fn polled(tile: &HungTile) -> Vec<(u32, u32)> {
    let loads = tile.waits.iter().flat_map(|wait| wait.reads.iter().filter(|load| !load.device));
    let mut words: Vec<_> = loads.map(|load| (load.addr, load.width.bytes())).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Names for a tape: what it carries, else what its host has left behind.
#[must_use]
pub fn catalog(tape: &Tape, elf: &[PathBuf]) -> Catalog {
    let mut items = Vec::new();
    for attached in tape.attachments() {
        let kind = match attached.kind() {
            AttachmentKind::Elf => ItemKind::Elf,
            AttachmentKind::Text => ItemKind::Text,
            AttachmentKind::Names => ItemKind::Names,
        };
        let path = attached.name().to_owned();
        // A piece that cannot be read gives fewer names.
        items.extend(attached.bytes().ok().map(|bytes| Item {
            kind,
            path: path.to_string_lossy().into_owned(),
            bytes: bytes.into(),
        }));
    }
    if !items.is_empty() && elf.is_empty() {
        return Catalog::from_items(items);
    }
    let header = tape.header();
    Catalog::gather(&Places {
        directory: header.map(|header| header.directory.clone()).unwrap_or_default(),
        environment: header.map(|header| header.environment.clone()).unwrap_or_default(),
        extra: elf.to_vec(),
    })
}

/// Why the session of a tape hangs, if it does.
///
/// # Errors
/// The tape cannot be read, or names a machine that there is not.
pub fn why(tape: &Tape, question: &Question) -> Result<Answer, PlayError> {
    let mut config = config_of(tape)?;
    if let Some(threads) = question.threads {
        config.threads = threads;
    }
    let (found, mut answer) = first_run(tape, config)?;
    let Some(found) = found else { return Ok(answer) };
    let words: BTreeMap<(u8, u8), Vec<(u32, u32)>> =
        found.hang.stuck().map(|tile| (tile.place.worker(), polled(tile))).collect();
    let words = Arc::new(words);
    let mut stage = Stage::<Lens>::new(tape, move || {
        let words = Arc::clone(&words);
        Chip::watched(config, move |tile: TensixTile| Lens::new(words.get(&tile.worker()).cloned()))
    });
    while let Some(played) = stage.step()? {
        if played.index == found.index {
            break;
        }
    }
    let chip = &mut stage.chip;
    let witness = chip.witness();
    // The same machine at the same cycle: the same hang.
    let hang = chip.hang(found.hang.stance, &found.wait.words, &witness).unwrap_or(found.hang);
    let catalog = catalog(tape, &question.elf);
    let mut names: BTreeMap<u16, Arc<TileNames>> = BTreeMap::new();
    let mut traffic = Traffic::default();
    for tile in &hang.tiles {
        let (own, sent) = chip.inspect(tile.number, |machine| {
            (read_names(machine, &catalog), machine.observer().sent().copied().collect::<Vec<_>>())
        });
        traffic.add(tile, &own, sent);
        names.insert(tile.number, own);
    }
    let view =
        |_: &_, tile: &HungTile| names.get(&tile.number).map(TileView::new).unwrap_or_default();
    let mut told = report(chip, &hang, view);
    traffic.tell(chip, &hang, &mut told);
    answer.report = Some(told);
    answer.notes = catalog.notes();
    Ok(answer)
}
