//! One time through a plan of several tiles, call by call.

use std::collections::VecDeque;

use chip::{Chip, ClockStep};
use loader::plan::{
    Action, At, Block, ChipLaunch, GO_MESSAGE, LAUNCH_RD_PTR, MESSAGE_BYTES, Target, TileLaunch,
    Worker, launch_slot,
};
use loader::session::{GO_SIGNAL, HOST_REACTION_CYCLES, PRELOAD_LEAD_CYCLES};
use memory_map::reg::tile_control::SOFT_RESET_0;
use observe::why::WrongResult;
use replay::{Played, What};
use sim_core::Observer;

use super::host::{Mismatch, PlanHost, Seen, Stage};
use crate::host::{Host as _, Play, SessionError};
use crate::mistakes;

/// SOFT_RESET_0 with everything released but NCRISC and the TRISCs, which BRISC releases.
const ONLY_BRISC_RUNS: u32 = 0x47000;
/// Signal value "done" `[hdr: hw/inc/hostdev/dev_msgs.h]`.
const DONE: u8 = 0;

/// Cycles of the pieces of a long wait.
const PIECE_CYCLES: u64 = 1 << 16;

/// One thing to be done. Launches by index and round.
#[derive(Clone, Copy, Debug)]
enum Op {
    Boot,
    Begin(usize, u32),
    Pass(u64),
    Stage(usize),
    ClearPreload(usize),
    Go(usize),
    Meanwhile(usize, usize),
    After(usize, usize),
    /// Waits for the go signals of a launch, or of the boot.
    Await(Option<usize>),
    Check(usize, u32),
}

/// A plan under way.
#[derive(Debug)]
pub struct PlanPlay<'h> {
    host: &'h PlanHost,
    ops: VecDeque<Op>,
    /// The launch and round after those in `ops`.
    next: (usize, u32),
    /// Of a wait: tiles that have not reported done.
    pending: Vec<(Worker, (u8, u8))>,
    /// How many of them were looked at since time passed last.
    looked: usize,
    /// Of cycles that are to pass: how many have.
    passed: u64,
    /// Cycle at which the host gives up.
    deadline: u64,
    index: u64,
}

/// What came of an operation.
enum Did {
    /// A call, and the operation is done.
    Last(What),
    /// A call of several.
    More(What),
    /// Nothing: the operation is done.
    Nothing,
    /// The host gives up.
    GivesUp,
}

fn refused(at: At, error: &dyn std::fmt::Display) -> SessionError {
    SessionError::Host(format!("{}: {error}", at.target))
}

fn write<O: Observer + Send + 'static>(
    chip: &mut Chip<O>,
    at: At,
    bytes: &[u8],
) -> Result<What, SessionError> {
    let to = (at.noc.0.into(), at.noc.1.into());
    let addr = at.address.into();
    chip.tile_write(to.0, to.1, addr, bytes).map_err(|error| refused(at, &error))?;
    Ok(What::TileWrite { at: to, addr, size: bytes.len() })
}

fn read<O: Observer + Send + 'static>(
    chip: &mut Chip<O>,
    at: At,
    bytes: &mut [u8],
) -> Result<What, SessionError> {
    let from = (at.noc.0.into(), at.noc.1.into());
    let addr = at.address.into();
    chip.tile_read(from.0, from.1, addr, bytes).map_err(|error| refused(at, &error))?;
    Ok(What::TileRead { at: from, addr, size: bytes.len() })
}

/// Lets time pass, exactly as much whatever goes on.
fn pass<O: Observer + Send + 'static>(chip: &mut Chip<O>, cycles: u64) -> What {
    // Fewer than these are a poll to the chip, which may let more pass.
    let clocks = u32::try_from(cycles.max(ClockStep::LEAST.into())).unwrap_or(u32::MAX);
    chip.clock(clocks);
    What::Clock { clocks }
}

fn of_tile(tile: &TileLaunch, address: u32) -> At {
    At { target: Target::Tile(tile.worker), noc: tile.noc, address }
}

fn slot<O: Observer + Send + 'static>(
    chip: &mut Chip<O>,
    tile: &TileLaunch,
) -> Result<u32, SessionError> {
    let mut word = [0; 4];
    read(chip, of_tile(tile, LAUNCH_RD_PTR), &mut word)?;
    Ok(launch_slot(u32::from_le_bytes(word)))
}

impl<'h> PlanPlay<'h> {
    pub(super) fn new(host: &'h PlanHost) -> Self {
        Self {
            host,
            ops: VecDeque::from([Op::Boot, Op::Await(None)]),
            next: (0, 0),
            pending: Vec::new(),
            looked: 0,
            passed: 0,
            deadline: host.max_cycles,
            index: 0,
        }
    }
}

impl Play for PlanPlay<'_> {
    fn step<O: Observer + Send + 'static>(
        &mut self,
        chip: &mut Chip<O>,
    ) -> Result<Option<Played>, SessionError> {
        loop {
            if self.ops.is_empty() && !self.queue() {
                self.host.outcome.borrow_mut().is_done = true;
                return Ok(None);
            }
            let Some(&op) = self.ops.front() else { return Ok(None) };
            let did = self.act(op, chip)?;
            let mistakes = mistakes::take(chip, || Box::new(self.host.catalog(&[])));
            self.host.outcome.borrow_mut().faults.extend(mistakes);
            let what = match did {
                Did::GivesUp => return Ok(None),
                Did::More(what) => what,
                Did::Nothing => {
                    self.ops.pop_front();
                    continue;
                }
                Did::Last(what) => {
                    self.ops.pop_front();
                    what
                }
            };
            self.index += 1;
            return Ok(Some(Played { index: self.index - 1, cycle: chip.now().0, what }));
        }
    }

    fn is_open(&self) -> bool {
        !self.host.outcome.borrow().is_done
    }
}

impl PlanPlay<'_> {
    /// Queues the next round of a launch; `false` if there is none.
    fn queue(&mut self) -> bool {
        let (index, round) = self.next;
        let Some(launch) = self.host.plan().launches.get(index) else { return false };
        let reaction = Op::Pass(HOST_REACTION_CYCLES);
        self.ops.extend([reaction, Op::Begin(index, round), Op::Stage(index)]);
        if launch.tiles.iter().any(|tile| tile.launch.preload) {
            self.ops.extend([Op::Pass(PRELOAD_LEAD_CYCLES), Op::ClearPreload(index)]);
        }
        self.ops.push_back(Op::Go(index));
        self.ops.extend((0..launch.meanwhile.len()).map(|number| Op::Meanwhile(index, number)));
        self.ops.push_back(Op::Await(Some(index)));
        self.ops.extend((0..launch.after.len()).map(|number| Op::After(index, number)));
        self.ops.push_back(Op::Check(index, round));
        self.next = if round + 1 < launch.repeat { (index, round + 1) } else { (index + 1, 0) };
        true
    }

    fn act<O: Observer + Send + 'static>(
        &mut self,
        op: Op,
        chip: &mut Chip<O>,
    ) -> Result<Did, SessionError> {
        let host = self.host;
        let launch = |index: usize| &host.plan().launches[index];
        match op {
            Op::Boot => {
                self.begin("boot".to_owned(), chip.now().0);
                boot(host, chip).map(Did::Last)
            }
            Op::Begin(index, round) => {
                self.begin(launch(index).round_name(round), chip.now().0);
                Ok(Did::Nothing)
            }
            Op::Pass(cycles) => Ok(Did::Last(pass(chip, cycles))),
            Op::Stage(index) => stage(launch(index), chip).map(Did::Last),
            Op::ClearPreload(index) => {
                let each = launch(index).tiles.iter().map(|tile| {
                    let slot = slot(chip, tile)?;
                    write(chip, of_tile(tile, slot + MESSAGE_BYTES as u32 - 1), &[0])
                });
                last(each)
            }
            Op::Go(index) => {
                let each = launch(index).tiles.iter().map(|tile| {
                    write(chip, of_tile(tile, GO_MESSAGE), &tile.launch.go_word.to_le_bytes())
                });
                last(each)
            }
            Op::Meanwhile(index, number) => self.action(&launch(index).meanwhile[number], chip),
            Op::After(index, number) => self.action(&launch(index).after[number], chip),
            Op::Await(index) => self.look(index, chip),
            Op::Check(index, round) => self.check(launch(index), round, chip),
        }
    }

    fn begin(&mut self, name: String, now: u64) {
        self.deadline = now.saturating_add(self.host.max_cycles);
        self.host.outcome.borrow_mut().stages.push(Stage { name, began: now, ended: None });
    }

    /// Looks at the next tile that has not reported done; when all were looked at, time passes.
    fn look<O: Observer + Send + 'static>(
        &mut self,
        launch: Option<usize>,
        chip: &mut Chip<O>,
    ) -> Result<Did, SessionError> {
        let plan = self.host.plan();
        if self.pending.is_empty() {
            self.pending = match launch {
                Some(index) => {
                    let tiles = plan.launches[index].tiles.iter();
                    tiles.map(|tile| (tile.worker, tile.noc)).collect()
                }
                None => plan.tiles(),
            };
        }
        let Some(&(worker, noc)) = self.pending.get(self.looked) else {
            return Ok(self.wait(chip));
        };
        let at = At { target: Target::Tile(worker), noc, address: GO_MESSAGE };
        let mut word = [0; 4];
        let what = read(chip, at, &mut word)?;
        if word[(GO_SIGNAL - GO_MESSAGE) as usize] != DONE {
            self.looked += 1;
            return Ok(Did::More(what));
        }
        self.pending.remove(self.looked);
        if !self.pending.is_empty() {
            return Ok(Did::More(what));
        }
        self.looked = 0;
        if let Some(stage) = self.host.outcome.borrow_mut().stages.last_mut() {
            stage.ended = Some(chip.now().0);
        }
        Ok(Did::Last(what))
    }

    /// Time passes until the next look: a read over PCI Express takes as long.
    fn wait<O: Observer + Send + 'static>(&mut self, chip: &mut Chip<O>) -> Did {
        self.looked = 0;
        // Whoever has made a mistake stays where it is; when all others have come to rest nothing is left to see.
        let has_erred = !self.host.outcome.borrow().faults.is_empty() && chip.is_quiet();
        if has_erred || chip.now().0 >= self.deadline {
            return Did::GivesUp;
        }
        Did::More(pass(chip, HOST_REACTION_CYCLES))
    }

    fn action<O: Observer + Send + 'static>(
        &mut self,
        action: &Action,
        chip: &mut Chip<O>,
    ) -> Result<Did, SessionError> {
        match action {
            Action::Write(block) => write(chip, block.at, &block.bytes).map(Did::Last),
            Action::Read(at, bytes) => {
                let mut bytes = vec![0; *bytes as usize];
                let what = read(chip, *at, &mut bytes)?;
                let mut outcome = self.host.outcome.borrow_mut();
                let launch = outcome.stages.last().map(|stage| stage.name.clone());
                let launch = launch.unwrap_or_default();
                outcome.seen.push(Seen { launch, at: *at, bytes });
                Ok(Did::Last(what))
            }
            Action::Wait(_) if self.looked != 0 => Ok(self.wait(chip)),
            Action::Wait(block) => {
                let mut found = vec![0; block.bytes.len()];
                let what = read(chip, block.at, &mut found)?;
                if found == block.bytes {
                    return Ok(Did::Last(what));
                }
                self.looked = 1;
                Ok(Did::More(what))
            }
            Action::Pass(cycles) => Ok(self.pass(*cycles, chip)),
        }
    }

    /// Lets time pass in pieces, between which whoever looks on may stop it. It is one wait all the same, and
    /// none that the host repeats until it sees something.
    fn pass<O: Observer + Send + 'static>(&mut self, cycles: u64, chip: &mut Chip<O>) -> Did {
        let left = cycles - self.passed;
        if left >= 2 * PIECE_CYCLES {
            self.passed += PIECE_CYCLES;
            pass(chip, PIECE_CYCLES);
            return Did::More(What::State);
        }
        self.passed = 0;
        Did::Last(pass(chip, left))
    }

    fn check<O: Observer + Send + 'static>(
        &self,
        launch: &ChipLaunch,
        round: u32,
        chip: &mut Chip<O>,
    ) -> Result<Did, SessionError> {
        let of_tiles = launch.tiles.iter().flat_map(|tile| {
            let expects = tile.launch.expects.iter();
            expects.map(move |expect| (of_tile(tile, expect.address), &expect.bytes))
        });
        let blocks = launch.expects.iter().map(|block| (block.at, &block.bytes));
        for (at, expected) in of_tiles.chain(blocks) {
            // Whole words, for those who are told of them.
            let before = (at.address & 3) as usize;
            let mut around = vec![0; (before + expected.len()).next_multiple_of(4)];
            read(chip, At { address: at.address - before as u32, ..at }, &mut around)?;
            let wrong = mismatch(launch.round_name(round), at, expected, &around);
            self.host.outcome.borrow_mut().wrong.extend(wrong);
        }
        Ok(Did::Nothing)
    }
}

/// Bytes that are shown of what is not as expected.
const SHOWN: usize = 16;

/// What is wrong about a block of which the words `around` are there.
fn mismatch(launch: String, at: At, expected: &[u8], around: &[u8]) -> Option<Mismatch> {
    let before = (at.address & 3) as usize;
    let found = &around[before..before + expected.len()];
    let mut wrong = (0..expected.len()).filter(|&index| expected[index] != found[index]);
    let bytes = wrong.clone().map(|index| (at.address + index as u32, expected[index]));
    let base = at.address - before as u32;
    let words = WrongResult::words(bytes, |word| {
        let at = (word - base) as usize;
        around[at..at + 4].iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
    });
    let first = wrong.next()?;
    let shown = first..expected.len().min(first + SHOWN);
    Some(Mismatch {
        launch,
        target: at.target,
        address: at.address.wrapping_add(first as u32),
        expected: expected[shown.clone()].to_vec(),
        found: found[shown].to_vec(),
        bytes: 1 + wrong.count(),
        words,
    })
}

/// The last of several calls, all of which must go well.
fn last(each: impl Iterator<Item = Result<What, SessionError>>) -> Result<Did, SessionError> {
    let mut done = Did::Nothing;
    for what in each {
        done = Did::Last(what?);
    }
    Ok(done)
}

/// L1 of a chip that nobody has touched is zero, as firmware expects it.
fn boot<O: Observer + Send + 'static>(
    host: &PlanHost,
    chip: &mut Chip<O>,
) -> Result<What, SessionError> {
    let mut what = What::State;
    for (worker, noc, image) in &host.boot {
        let at = |address| At { target: Target::Tile(*worker), noc: *noc, address };
        for (address, bytes) in &image.writes {
            write(chip, at(*address), bytes)?;
        }
        what = write(chip, at(SOFT_RESET_0), &ONLY_BRISC_RUNS.to_le_bytes())?;
    }
    Ok(what)
}

/// Everything of a launch but its go signals.
fn stage<O: Observer + Send + 'static>(
    launch: &ChipLaunch,
    chip: &mut Chip<O>,
) -> Result<What, SessionError> {
    for Block { at, bytes } in &launch.inputs {
        write(chip, *at, bytes)?;
    }
    let mut what = What::State;
    for tile in &launch.tiles {
        for (address, bytes) in &tile.launch.writes {
            write(chip, of_tile(tile, *address), bytes)?;
        }
        let slot = slot(chip, tile)?;
        what = write(chip, of_tile(tile, slot), &tile.launch.message)?;
    }
    Ok(what)
}
