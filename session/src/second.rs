//! A session asked why it hangs.
//!
//! It is played twice. The first time the moment is found at which the host waits and the chip hangs, and who
//! does anything; the second run is the same, call by call, and the books are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use chip::{Chip, Hang, HostPoll, HungTile, Likeness, Pulse, Stance, TensixTile, Witness};
use replay::{Played, What};
use sim_core::{AgentId, CoreId, Cycle, Observer};
use symbols::catalog::Catalog;
use tile::Verdict;

use crate::books::Kept as _;
use crate::checks::{LaunchChecks, Warning, merge};
use crate::explain::report;
use crate::eye::Eye;
use crate::host::{Host, Play, SessionError, Stage};
use crate::lens::Lens;
use crate::names::learn_mailbox;
use crate::report::Report;
use crate::selection::Selection;
use crate::suppose::what_if;
use crate::survey::{Counts, Looked, Survey, TileSeen, look};
use crate::traffic::Traffic;
use crate::unfinished::{Unfinished, unfinished};
use crate::view::TileView;

/// Calls of a wait after which the chip is looked at.
const LOOKS: [u64; 4] = [256, 4096, 65536, 1 << 20];
/// Who has not moved for so many cycles when the host gives up has come to its end.
const LATELY: u64 = 1 << 14;
/// Calls of a wait after which the host may be said to give up.
const PATIENCE: u64 = LOOKS[2];
/// Cycles at rest that count as a long wait.
const LONG_REST: u64 = 1 << 16;

/// How a session ends, as far as hangs go.
#[derive(Clone, Debug)]
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
    /// Contract violations; of the tile with the cause they are in the report.
    pub warnings: Vec<Warning>,
    /// How it stood at the end, if nothing hangs and the host has not closed the device; or when it gave up.
    pub unfinished: Option<Unfinished>,
}

/// What a question needs besides the session.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// More directories with ELF files.
    pub elf: Vec<PathBuf>,
    /// Host threads; as many as CPUs if not given.
    pub threads: Option<usize>,
    /// Tiles whose contracts are checked.
    pub tiles: Selection,
    /// Ids of checks that are not reported.
    pub suppressed: Vec<String>,
}

/// What the host has done since it last changed anything.
#[derive(Default, Debug)]
struct Wait {
    calls: u64,
    rest: u64,
    words: Vec<HostPoll>,
    looks: usize,
    /// How it stood at the first look, or at a later one.
    witness: Option<Witness>,
    /// When it stood so, if that was not the first look.
    stood: Option<Cycle>,
    /// The last pulse, and when it was taken.
    pulse: Option<(Pulse, Cycle)>,
    /// Whether its memory was like that of the one before.
    is_alike: bool,
}

/// What a call is to a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    /// It goes on.
    Waits,
    /// It is time for a look at the chip.
    Looks,
    /// The host does something else.
    Ends,
}

/// Tiles that do not hang and whose waits for counts are looked at: they cost a log of executed instructions.
const COUNTING: usize = 8;
/// Words of a wait that are remembered.
const WORDS: usize = 1024;

impl Wait {
    /// Remembers a word of a tile that the host has read.
    fn reads(&mut self, word: Option<HostPoll>) {
        if let Some(word) = word
            && self.words.len() < WORDS
            && !self.words.contains(&word)
        {
            self.words.push(word);
        }
    }

    fn takes<O: Observer + Send + 'static>(&mut self, played: &Played, chip: &Chip<O>) -> Turn {
        match played.what {
            What::Clock { .. } => self.calls += 1,
            What::Rest { cycles } => {
                self.calls += 1;
                self.rest += cycles;
            }
            What::MemRead { paddr, size } => {
                self.calls += 1;
                self.reads(chip.polled(paddr, size));
            }
            What::TileRead { at, addr, size } => self.reads(chip.polled_at(at, addr, size)),
            What::ConfigRead { .. } | What::State => {}
            What::MemWrite { paddr, .. } if chip::window_register(paddr).is_some() => {}
            _ => return Turn::Ends,
        }
        let due = LOOKS.get(self.looks).is_some_and(|calls| self.calls >= *calls);
        let rested = self.looks == 0 && self.rest >= LONG_REST;
        if due || rested {
            self.looks += 1;
            return Turn::Looks;
        }
        Turn::Waits
    }

    /// Takes a pulse of a chip that does not hang, of who has moved since the one before and within so many cycles.
    /// Gives whether its memory is like that of the one before.
    fn beats<O: Observer + Send + 'static>(&mut self, chip: &mut Chip<O>, within: u64) -> bool {
        let (before, now) = (self.pulse.take(), chip.now());
        let since = before.as_ref().map_or(Cycle(0), |(_, when)| *when);
        let since = since.max(Cycle(now.0.saturating_sub(within)));
        let pulse = chip.pulse(&self.words, since).map(|(pulse, _)| pulse);
        let pairs = before.zip(pulse.as_ref());
        let is_alike =
            pairs.is_some_and(|((before, _), now)| before.likeness(now) >= Likeness::Memory);
        self.is_alike = is_alike;
        self.pulse = pulse.map(|pulse| (pulse, now));
        is_alike
    }

    /// Whether the host gives up: it has waited for long, somebody is at work, and memory is as it was.
    fn is_given_up<O: Observer + Send + 'static>(&mut self, chip: &mut Chip<O>) -> bool {
        self.calls >= PATIENCE && self.is_alike && self.beats(chip, LATELY)
    }

    /// Whether the chip hangs, with what may be taken of the host.
    fn look<O: Observer + Send + 'static>(&mut self, chip: &mut Chip<O>) -> Option<Hang> {
        let stances = [Stance::Free, Stance::Waits, Stance::Polls];
        let known = self.witness.take().unwrap_or_default();
        // Who sleeps until an alarm has done nothing for a moment, and that says nothing.
        let now = chip.now();
        let is_young = self.stood.is_some_and(|stood| now.0 - stood.0 < LONG_REST);
        let usable = if is_young { Witness::default() } else { known.clone() };
        let mut look = |stance| chip.full_hang(stance, &self.words, &usable);
        let hang = stances.into_iter().find_map(&mut look);
        self.witness = Some(match (self.looks, is_young) {
            (0 | 1, _) => chip.witness(),
            (_, true) => known,
            // Somebody was at work at the look before. Who has hung since is found at the next one.
            (_, false) => {
                self.stood = Some(now);
                chip.witness()
            }
        });
        hang
    }
}

/// The call at which the chip hangs, and how.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) index: u64,
    wait: Wait,
    pub(crate) hang: Hang,
}

/// Plays to the hang, or to the end. `each` sees the chip after each call.
pub(crate) fn first_run<P: Play, O: Observer + Send + 'static>(
    stage: &mut Stage<P, O>,
    catalog: &Arc<Catalog>,
    mut each: impl FnMut(&mut Chip<O>, &Played),
) -> Result<First, SessionError> {
    let mut wait = Wait::default();
    let (mut last, mut given_up) = (0, None);
    while let Some(played) = stage.step()? {
        last = played.index;
        each(&mut stage.chip, &played);
        if played.what == What::Init {
            given_up = None;
        }
        match wait.takes(&played, &stage.chip) {
            Turn::Waits => {}
            Turn::Looks => {
                learn_mailbox(&mut stage.chip, || &**catalog);
                if let Some(hang) = wait.look(&mut stage.chip) {
                    let answer = answer(stage, last);
                    return Ok(First {
                        found: Some(Found { index: last, wait, hang }),
                        given_up: None,
                        answer,
                    });
                }
                wait.beats(&mut stage.chip, u64::MAX);
            }
            Turn::Ends => {
                if wait.is_given_up(&mut stage.chip) {
                    // As it stood before: the call may be the first of those that take the chip apart.
                    given_up = Some(last.saturating_sub(1));
                }
                wait = Wait::default();
            }
        }
    }
    // A tape that was cut in a hang may be shorter than a long wait.
    let answer = answer(stage, last);
    learn_mailbox(&mut stage.chip, || &**catalog);
    let hang = if stage.is_open() { last_look(&mut wait, &mut stage.chip) } else { None };
    let found = hang.map(|hang| Found { index: last, wait, hang });
    Ok(First { found, given_up, answer })
}

/// What the first run has found.
pub(crate) struct First {
    /// The hang.
    pub(crate) found: Option<Found>,
    /// The last call with which the host waited for who is at work before it gave up, of the last time that the device
    /// was opened.
    pub(crate) given_up: Option<u64>,
    pub(crate) answer: Answer,
}

/// A look at the end of a session. Where cores wait by the clock one alone tells nothing: time then passes as
/// it would have, and the next one tells.
fn last_look<O: Observer + Send + 'static>(wait: &mut Wait, chip: &mut Chip<O>) -> Option<Hang> {
    let first = wait.look(chip);
    let is_clocked = wait.witness.as_ref().is_some_and(|witness| !witness.is_empty());
    if first.is_some() || !is_clocked {
        return first;
    }
    chip.rest(LONG_REST);
    wait.look(chip)
}

fn answer<P: Play, O: Observer + Send + 'static>(stage: &Stage<P, O>, last: u64) -> Answer {
    Answer {
        report: None,
        calls: last + 1,
        cycle: stage.chip.now().0,
        differences: stage.differences().to_vec(),
        notes: Vec::new(),
        warnings: Vec::new(),
        unfinished: None,
    }
}

/// What the cores of a tile poll.
#[derive(Clone, Debug)]
struct Polls {
    /// Words of L1: byte address and bytes.
    words: Vec<(u32, u32)>,
    /// The loads: core, pc and address.
    loads: Vec<(CoreId, u32, u32)>,
}

fn polled(tile: &HungTile) -> Polls {
    let (mut words, mut loads) = (Vec::new(), Vec::new());
    for wait in &tile.waits {
        for load in wait.reads.iter().filter(|load| !load.device) {
            words.push((load.addr, load.width.bytes()));
            if let AgentId::Core(core) = wait.agent {
                loads.push((core, load.pc, load.addr));
            }
        }
    }
    words.sort_unstable();
    words.dedup();
    Polls { words, loads }
}

/// Why a session hangs, if it does, and what its kernels do against their contracts.
///
/// # Errors
/// What the host does cannot be read, or it names a machine that there is not.
pub fn why<H: Host>(host: &H, question: &Question) -> Result<Answer, SessionError> {
    let catalog = Arc::new(host.catalog(&question.elf));
    let looked = look(host, &catalog, question.threads)?;
    why_of(host, question, &catalog, &looked)
}

/// As [`why`], of a session that was played once.
///
/// # Errors
/// What the host does cannot be read.
pub fn why_of<H: Host>(
    host: &H,
    question: &Question,
    catalog: &Arc<Catalog>,
    looked: &Looked,
) -> Result<Answer, SessionError> {
    let Looked { survey, counts, found, given_up, answer } = looked;
    let (found, mut answer) = (found.as_ref(), answer.clone());
    let chosen: Vec<TileSeen> = survey.chosen(&question.tiles).cloned().collect();
    if found.is_none() && chosen.is_empty() {
        return Ok(answer);
    }
    let mut stage = second_run(host, question, (survey, counts), found, catalog);
    let given_up = *given_up;
    let last = found.map(|found| found.index).or(given_up).unwrap_or(survey.last_call);
    while let Some(played) = stage.step()? {
        if played.index == last {
            break;
        }
    }
    let chip = &mut stage.chip;
    if let Some(found) = found {
        answer.report = Some(tell(chip, found, catalog, host.only_polls()));
        answer.notes = catalog.notes();
    } else if survey.is_open || given_up.is_some() {
        learn_mailbox(chip, || &**catalog);
        answer.unfinished = Some(unfinished(chip, catalog, given_up));
    }
    let told = |worker: (u8, u8)| {
        let first = answer.report.as_ref().and_then(|report| report.tiles.first());
        first.is_some_and(|tile| tile.tile == worker)
    };
    let others: Vec<_> = chosen.iter().filter(|tile| !told(tile.worker)).collect();
    answer.warnings = merge(others.into_iter().map(|tile| {
        (tile.worker, chip.inspect(tile.number, |machine| machine.observer().findings()))
    }));
    Ok(answer)
}

/// The run in which books are kept: on tiles that hang, of what all send, and of contracts where asked.
fn second_run<'h, H: Host>(
    host: &'h H,
    question: &Question,
    (survey, counts): (&Survey, &Counts),
    found: Option<&Found>,
    catalog: &Arc<Catalog>,
) -> Stage<H::Play<'h>, Eye<Lens>> {
    let hung = found.into_iter().flat_map(|found| found.hang.stuck());
    let polls: BTreeMap<(u8, u8), Polls> =
        hung.map(|tile| (tile.place.worker(), polled(tile))).collect();
    let checked: BTreeSet<(u8, u8)> =
        survey.chosen(&question.tiles).map(|tile| tile.worker).collect();
    let (stuck, others): (Vec<_>, Vec<_>) =
        counts.iter().partition(|(worker, _)| polls.contains_key(*worker));
    let others = others.into_iter().take(if found.is_some() { COUNTING } else { 0 });
    let counts: Counts =
        stuck.into_iter().chain(others).map(|(worker, words)| (*worker, words.clone())).collect();
    let (suppressed, workers) = (question.suppressed.clone(), Arc::clone(&survey.workers));
    let grid = Chip::new(survey.config).grid().clone();
    let tiles: Vec<_> = grid.tensix().map(|tile| (tile.logical.x, tile.logical.y)).collect();
    let known = Arc::new((polls, checked, counts, suppressed, workers, tiles));
    let (config, catalog) = (survey.config, Arc::clone(catalog));
    Stage::new(host.play(), move || {
        let (known, catalog) = (Arc::clone(&known), Arc::clone(&catalog));
        Chip::watched(config, move |tile: TensixTile| {
            let (polls, checked, counts, suppressed, workers, tiles) = &*known;
            let mut lens = match polls.get(&tile.worker()) {
                Some(polls) => Lens::new(Some(polls.words.clone())).with_loads(polls.loads.clone()),
                None => Lens::new(None),
            };
            if let Some(words) = counts.get(&tile.worker()) {
                lens = lens.with_counts(words.clone());
            }
            if checked.contains(&tile.worker()) {
                let own = (tile.logical.x, tile.logical.y);
                let workers = Arc::clone(workers);
                let checks = LaunchChecks::new(own, tiles, workers, suppressed.clone());
                lens = lens.with_checks(checks);
            }
            Eye::new(lens, Arc::clone(&catalog))
        })
    })
}

/// The hang, told by the books.
fn tell(
    chip: &mut Chip<Eye<Lens>>,
    found: &Found,
    catalog: &Arc<Catalog>,
    only_polls: bool,
) -> Report {
    learn_mailbox(chip, || &**catalog);
    let witness = chip.witness();
    // The same machine at the same cycle: the same hang.
    let again = chip.hang(found.hang.stance, &found.wait.words, &witness);
    let mut hang = again.unwrap_or_else(|| found.hang.clone());
    if only_polls {
        hang.verdict = Verdict::Deadlock;
    }
    let (traffic, names) = Traffic::gather(chip, &hang.tiles, catalog);
    let view = |_: &_, tile: &HungTile| {
        let own = names.get(&tile.number);
        own.map(TileView::new).unwrap_or_default()
    };
    let mut told = report(chip, &hang, view);
    traffic.tell(chip, &hang, &mut told);
    what_if(chip, &hang, &names, &mut told);
    told
}

#[cfg(test)]
mod tests {
    use chip::{ChipConfig, ClockStep};
    use isa::asm::{addi, bne, branch, j, li, lw, r, sw};

    use super::*;

    /// SOFT_RESET_0 and its value with BRISC and NCRISC released; the wall clock; where NCRISC starts
    /// `[isa-bh: TensixTile/SoftReset.md]` `[spec: boot-and-sync 1.3]`.
    const SOFT_RESET_0: u64 = 0xFFB1_21B0;
    const BOTH_RUN: u32 = 0x7000;
    const WALL_CLOCK: u32 = 0xFFB1_21F0;
    const NCRISC_ENTRY: u64 = 0x1_2000;
    /// What BRISC looks at every 300 cycles, what NCRISC waits for, and what the host polls.
    const COMMAND: u32 = 0x3_0000;
    const NEVER: u32 = 0x4_0000;
    const DONE: u64 = 0x5_0000;
    const AT: (u32, u32) = (1, 2);
    const STEP: u32 = 64;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Waits by the wall clock, looks for a command that never comes, and does so again.
    fn clocked() -> Vec<u32> {
        let mut words = [li(13, WALL_CLOCK), li(9, COMMAND), li(14, 300)].concat();
        words.extend([lw(10, 13, 0), lw(11, 13, 0), r(0x20, 0, 11, 11, 10)]);
        words.extend([branch(6, 11, 14, -8), lw(15, 9, 0), bne(15, 0, 8), j(-24)]);
        words
    }

    /// Counts down in L1, then waits for a word that nobody writes.
    fn works_first(rounds: u32) -> Vec<u32> {
        let mut words = [li(5, NEVER), li(7, rounds)].concat();
        words.extend([sw(7, 5, 0x100), addi(7, 7, -1), bne(7, 0, -8)]);
        words.extend([lw(6, 5, 0), addi(0, 0, 0), branch(0, 6, 0, -8)]);
        words
    }

    /// A host that starts both cores and polls so many times, and then may give up and close the device.
    struct Polling {
        rounds: u32,
        polls: u64,
        gives_up: bool,
    }

    struct Under<'h> {
        host: &'h Polling,
        index: u64,
    }

    impl Host for Polling {
        type Play<'h> = Under<'h>;

        fn config(&self) -> Result<ChipConfig, SessionError> {
            let clock = ClockStep::Cycles(STEP);
            Ok(ChipConfig { clock, threads: 1, ..ChipConfig::default() })
        }

        fn play(&self) -> Under<'_> {
            Under { host: self, index: 0 }
        }

        fn catalog(&self, _: &[PathBuf]) -> Catalog {
            Catalog::from_items(Vec::new())
        }
    }

    impl Play for Under<'_> {
        fn step<O: Observer + Send + 'static>(
            &mut self,
            chip: &mut Chip<O>,
        ) -> Result<Option<Played>, SessionError> {
            let index = self.index;
            self.index += 1;
            let (x, y) = AT;
            let what = match index {
                0 => What::Init,
                1 => {
                    let ncrisc = bytes(&works_first(self.host.rounds));
                    let parts = [(0, bytes(&clocked())), (NCRISC_ENTRY, ncrisc)];
                    for (addr, bytes) in parts {
                        chip.tile_write(x, y, addr, &bytes).expect("L1");
                    }
                    chip.tile_write(x, y, SOFT_RESET_0, &BOTH_RUN.to_le_bytes()).expect("reset");
                    What::TileWrite { at: AT, addr: SOFT_RESET_0, size: 4 }
                }
                index if index > 2 * self.host.polls => {
                    match (self.host.gives_up, index - 2 * self.host.polls) {
                        (true, 1) => What::TileWrite { at: AT, addr: DONE + 4, size: 4 },
                        (true, 2) => What::Exit,
                        _ => return Ok(None),
                    }
                }
                index if index % 2 == 0 => {
                    chip.clock(1);
                    What::Clock { clocks: 1 }
                }
                _ => What::TileRead { at: AT, addr: DONE, size: 4 },
            };
            Ok(Some(Played { index, cycle: chip.now().0, what }))
        }

        fn is_open(&self) -> bool {
            !self.host.gives_up
        }
    }

    fn asked(rounds: u32, polls: u64, gives_up: bool) -> Answer {
        why(&Polling { rounds, polls, gives_up }, &Question::default()).expect("it plays")
    }

    fn headline(rounds: u32, polls: u64) -> Option<String> {
        asked(rounds, polls, false).report.map(|report| report.cause.headline)
    }

    #[test]
    fn who_is_at_work_is_told_at_the_end_of_a_session_and_when_the_host_gives_up() {
        let long = LOOKS[2] + 100;
        for (polls, gives_up, call) in [
            (LOOKS[1], false, Some(None)),
            (LOOKS[1], true, None),
            (long, true, Some(Some(2 * long))),
        ] {
            let answer = asked(u32::MAX, polls, gives_up);
            assert!(answer.report.is_none());
            let unfinished = answer.unfinished;
            assert_eq!(unfinished.as_ref().map(|told| told.given_up), call);
            let text = unfinished.map(|told| told.to_string()).unwrap_or_default();
            assert_eq!(text.contains("NCRISC    runs in pc 0x"), call.is_some(), "{text}");
        }
    }

    /// NCRISC hangs before the first look, or long after it. BRISC, which waits by the clock, is never stuck; that it
    /// does nothing else is seen by comparing two looks.
    #[test]
    fn a_hang_that_closes_after_the_first_look_is_found() {
        let waits = |headline: Option<String>| {
            let headline = headline.expect("a hang");
            assert!(headline.contains("NCRISC polls L1 word 0x40000"), "{headline}");
        };
        let first = LOOKS[0] * u64::from(STEP);
        let second = LOOKS[1];
        waits(headline(10, second));
        let long = u32::try_from(first).expect("small") * 2;
        waits(headline(long, second + 2 * LONG_REST / u64::from(STEP)));
        // At the end NCRISC is still at work.
        assert_eq!(headline(u32::MAX, second), None);
    }
}
