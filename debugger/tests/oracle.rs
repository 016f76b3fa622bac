//! `who` against a slow oracle: the whole of what is asked about, looked at after every cycle, also within epochs, and
//! a full log of events. Thousands of random questions on random programs, with epochs of several lengths.
//! `PROPTEST_CASES=150` asks more than 10,000.

#[path = "../../tile/tests/bare/mod.rs"]
mod bare;
#[path = "../../firmware-tests/tests/common/legal.rs"]
mod legal;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use debugger::recording::{Code, End, Limits, Stage};
use debugger::who::{self, Cells, What};
use debugger::{Machine, Moment, Recording};
use loader::firmware::BootOptions;
use loader::plan::LaunchPlan;
use sim_core::engine::EngineKind;
use sim_core::l1::L1_BYTES;
use sim_core::observer::{Cell, ShowsCells as _};
use sim_core::{
    CoreId, Cycle, EpochLength, Event, NullObserver, Observer, Retire, Shortcut, Stamp, ThreadId,
    Width,
};
use tensix::Coprocessor;
use tile::{Stop, Tile, TileConfig};

/// All that events tell of, and all instructions of the cores.
#[derive(Default)]
struct Log(Vec<(Stamp, Event)>, [Vec<Retire>; CoreId::COUNT]);

impl Observer for Log {
    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        self.1[core.index()].push(*retire);
    }

    fn event(&mut self, stamp: Stamp, event: &Event) {
        let is_kept = matches!(
            event,
            Event::L1Store { .. }
                | Event::L1Atomic { .. }
                | Event::Semaphore { .. }
                | Event::Config { .. }
        );
        if is_kept {
            self.0.push((stamp, *event));
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![(0, L1_BYTES)]
    }
}

/// Every cell there is, a row or LReg at a time.
fn all_cells() -> Vec<(Cells, Vec<Cell>)> {
    let mut all = Vec::new();
    for row in 0..1024_u16 {
        let cells = (0..16).map(|column| Cell::Dst { wide: false, row, column });
        all.push((Cells::Dst { wide: false, row, column: None }, cells.collect()));
    }
    for (operand, bank) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        for row in 0..64_u8 {
            let cells = (0..16).map(|column| Cell::Src { operand, bank, row, column });
            all.push((Cells::Src { operand, bank, row: Some(row), column: None }, cells.collect()));
        }
    }
    for register in 0..17_u8 {
        let cells = (0..32).map(|lane| Cell::LReg { register, lane });
        all.push((Cells::LReg { register, lane: None }, cells.collect()));
    }
    for thread in ThreadId::ALL {
        for index in 0..64_u8 {
            all.push((Cells::Gpr(thread, index), vec![Cell::Gpr { thread, index }]));
        }
    }
    all
}

/// When each row was changed, in order; only of those that ever were.
type Changes = BTreeMap<usize, Vec<Cycle>>;

struct Oracle {
    rows: Vec<(Cells, Vec<Cell>)>,
    changes: Changes,
    retired: [Vec<Retire>; CoreId::COUNT],
    log: Vec<(Stamp, Event)>,
}

impl Oracle {
    fn last_event(
        &self,
        from: Cycle,
        before: Cycle,
        is_meant: impl Fn(&Event) -> bool,
    ) -> Option<Stamp> {
        let mut earlier =
            self.log.iter().filter(|(stamp, _)| (from..before).contains(&stamp.cycle));
        earlier.rfind(|(_, event)| is_meant(event)).map(|(stamp, _)| *stamp)
    }
}

/// All cells, as they were when they were last looked at.
struct CellsSeen {
    rows: Vec<(Cells, Vec<Cell>)>,
    held: Vec<Vec<u32>>,
    changes: Changes,
}

impl CellsSeen {
    fn new(tensix: &Coprocessor) -> Self {
        let rows = all_cells();
        let held = |(_, cells): &(Cells, Vec<Cell>)| -> Vec<u32> {
            cells.iter().map(|&cell| tensix.cell(cell)).collect()
        };
        Self { held: rows.iter().map(held).collect(), rows, changes: Changes::new() }
    }

    /// What has changed since belongs to that cycle.
    fn look(&mut self, tensix: &Coprocessor, cycle: Cycle) {
        for (number, ((_, cells), held)) in self.rows.iter().zip(&mut self.held).enumerate() {
            let mut is_changed = false;
            for (&cell, held) in cells.iter().zip(held) {
                let now = tensix.cell(cell);
                is_changed |= std::mem::replace(held, now) != now;
            }
            if is_changed {
                self.changes.entry(number).or_default().push(cycle);
            }
        }
    }
}

fn last(changes: Option<&Vec<Cycle>>, before: Cycle) -> Option<Cycle> {
    changes?.iter().rev().find(|cycle| **cycle < before).copied()
}

fn run<O: Observer>(tile: &mut Tile<O>, until: Cycle) {
    while tile.now() < until {
        if let Stop::Quiescent(_) = tile.run(until, None) {
            tile.pass_time(until);
        }
    }
}

fn config(epoch: u32) -> TileConfig {
    TileConfig {
        engine: EngineKind::Inline,
        warned: legal::every_check(),
        epoch: EpochLength::new(epoch).expect("a length"),
        ..TileConfig::default()
    }
}

/// All that happens in a session from a cycle on.
fn oracle(recording: &Recording, from: Cycle) -> Oracle {
    // A core that is parked retires nothing.
    let parking = [Shortcut::Parking, Shortcut::Polls, Shortcut::ClockWaits];
    let shortcuts = recording.config.shortcuts;
    let shortcuts = parking.into_iter().fold(shortcuts, |set, one| set.set(one, false));
    let unparked = TileConfig { shortcuts, ..recording.config };
    let mut log = Tile::new(unparked, Log::default()).expect("no threads to start");
    log.restore(&recording.first);
    let mut given = 0;
    recording.run(&mut log, &mut given, from);
    let mut cells = CellsSeen::new(log.coprocessor());
    // Within an epoch another tile is looked at, in which the epoch is cut at the cycle.
    let mut cut = Tile::new(unparked, NullObserver).expect("no threads to start");
    while log.now() < recording.until {
        recording.give(&mut log, &mut given);
        let (start, end) = (log.now(), log.epoch_end().min(recording.until));
        let before = log.snapshot(None);
        for cycle in start.0 + 1..end.0 {
            cut.restore(&before);
            if cut.begin_epoch() {
                cut.show_cycle(Cycle(cycle), false);
                cells.look(cut.coprocessor(), Cycle(cycle - 1));
            }
        }
        recording.run(&mut log, &mut given, end);
        cells.look(log.coprocessor(), Cycle(end.0 - 1));
    }
    let CellsSeen { rows, changes, .. } = cells;
    assert_eq!(log.state_hash(), recording.hash, "who looks changes nothing");
    let Log(log, retired) = std::mem::take(log.observer_mut());
    Oracle { rows, changes, retired, log }
}

/// A session of random programs.
fn session(programs: &[Vec<u32>], cycles: u64, epoch: u32) -> Recording {
    let config = config(epoch);
    let mut tile = Tile::new(config, NullObserver).expect("no threads to start");
    bare::start(&mut tile, programs);
    let first = tile.snapshot(None);
    let until = config.epoch.round_up(Cycle(cycles));
    run(&mut tile, until);
    let stage = Stage { name: "boot".to_owned(), began: Cycle::ZERO, code: Code::none() };
    Recording {
        place: (0, 0),
        number: 0,
        config,
        first,
        inputs: Vec::new(),
        stages: vec![stage],
        until,
        end: End::Limit,
        hash: tile.state_hash(),
    }
}

/// A session of a kernel that computes, on the embedded firmware.
fn kernel(name: &str, epoch: u32) -> Recording {
    let plan = format!("../firmware-tests/programs/kernels/{name}/case.toml");
    let set = firmware_tests::embedded::set().expect("the embedded firmware");
    let launches = LaunchPlan::read(Path::new(&plan)).expect("the plan").launches;
    let limits = Limits { max_cycles: 1_000_000, stop: None };
    let recorded =
        Recording::of_plan(config(epoch), &set, &BootOptions::default(), &launches, limits);
    recorded.expect("the plan can be carried out")
}

/// Numbers that follow no rule.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Dst, SrcA and SrcB, LRegs, GPRs.
const fn kind_of(cells: Cells) -> usize {
    match cells {
        Cells::Dst { .. } => 0,
        Cells::Src { .. } => 1,
        Cells::LReg { .. } => 2,
        Cells::Gpr(..) => 3,
    }
}

/// One of what has a key.
fn one<K: Copy, V>(numbers: &mut Numbers, all: &BTreeMap<K, V>) -> Option<K> {
    let index = numbers.below(all.len());
    all.keys().nth(index).copied()
}

/// Asks about what is written from a cycle on, and counts the answers that name somebody, by what was asked about.
fn assert_answers(
    recording: Recording,
    from: Cycle,
    (questions, seed): (usize, u64),
    answers: &mut [usize; 8],
) {
    let oracle = oracle(&recording, from);
    let recording = Arc::new(recording);
    let machine = Machine::new(Arc::clone(&recording)).expect("memory");
    let mut numbers = Numbers(seed);
    let cycles = recording.until.0 - from.0;
    for _ in 0..questions {
        let at = Cycle(from.0 + numbers.below(cycles as usize + 1) as u64);
        // What was written before is not known here.
        let ask = |what: What, at: Cycle| {
            let found = who::last_before(&machine, what, Moment::at(at)).expect("memory");
            found.filter(|written| written.cycle >= from)
        };
        let kind = numbers.below(8);
        match kind {
            0..=3 => {
                // Of what has ever been changed, of Dst as often as of the others, and now and then of anything.
                let of_kind: BTreeMap<usize, ()> = oracle
                    .changes
                    .keys()
                    .filter(|row| kind_of(oracle.rows[**row].0) == kind)
                    .map(|row| (*row, ()))
                    .collect();
                let row = match one(&mut numbers, &of_kind).filter(|_| numbers.0 >> 40 & 7 != 0) {
                    Some(row) => row,
                    None => numbers.below(oracle.rows.len()),
                };
                let (cells, _) = oracle.rows[row];
                // Mostly just before or just behind one of the changes.
                let at = match oracle.changes.get(&row) {
                    Some(changes) if numbers.below(4) != 0 => {
                        changes[numbers.below(changes.len())] + numbers.below(2) as u64
                    }
                    _ => at,
                };
                let wanted = last(oracle.changes.get(&row), at);
                let found = ask(What::Cells(cells), at);
                let told = found.as_ref().map(|written| written.cycle);
                assert_eq!(told, wanted, "seed {seed}: {cells} before {at}: {found:?}");
                answers[kind_of(cells)] += usize::from(told.is_some());
            }
            4 => {
                let core = CoreId::ALL[numbers.below(CoreId::COUNT)];
                let retired = &oracle.retired[core.index()];
                if retired.is_empty() {
                    continue;
                }
                let register = retired[numbers.below(retired.len())].rd;
                if register == 0 {
                    continue;
                }
                let mut writers =
                    retired.iter().filter(|retire| retire.rd == register && retire.cycle >= from);
                let wanted = writers.clone().rev().find(|retire| retire.cycle < at);
                // One that has begun, and ends later.
                let pending = writers.find(|retire| retire.cycle >= at).map(|retire| retire.pc);
                let found = ask(What::Register(core, register), at);
                let told = found.as_ref().and_then(|written| written.pc);
                let is_wanted = told == wanted.map(|retire| retire.pc);
                let is_pending = told.is_some() && told == pending;
                assert!(
                    is_wanted || is_pending,
                    "seed {seed}: {core} x{register} before {at}: {found:?}, not {wanted:?}"
                );
                answers[kind] += usize::from(told.is_some());
            }
            5 => {
                let stores: Vec<u32> = oracle
                    .log
                    .iter()
                    .filter_map(|(_, event)| match *event {
                        Event::L1Store { addr, .. } | Event::L1Atomic { addr, .. } => {
                            Some(addr & !3)
                        }
                        _ => None,
                    })
                    .collect();
                if stores.is_empty() {
                    continue;
                }
                let word = stores[numbers.below(stores.len())];
                let covers = |addr: u32, bytes: u32| {
                    addr.wrapping_sub(word) < 4 || word.wrapping_sub(addr) < bytes
                };
                let wanted = oracle.last_event(from, at, |event| match *event {
                    Event::L1Store { addr, width, .. } => covers(addr, width.bytes()),
                    Event::L1Atomic { addr, .. } => covers(addr, Width::Word.bytes()),
                    _ => false,
                });
                let found = ask(What::L1(word), at).map(|written| (written.cycle, written.agent));
                let wanted = wanted.map(|stamp| (stamp.cycle, stamp.agent));
                assert_eq!(found, wanted, "seed {seed}: {word:#x} before {at}");
                answers[kind] += usize::from(found.is_some());
            }
            6 => {
                let wanted_index = numbers.below(8) as u8;
                let wanted = oracle.last_event(
                    from,
                    at,
                    |event| matches!(event, Event::Semaphore { index, .. } if *index == wanted_index),
                );
                let found = ask(What::Semaphore(wanted_index), at);
                let found = found.map(|written| (written.cycle, written.agent));
                let wanted = wanted.map(|stamp| (stamp.cycle, stamp.agent));
                assert_eq!(found, wanted, "seed {seed}: semaphore {wanted_index} before {at}");
                answers[kind] += usize::from(found.is_some());
            }
            _ => {
                let fields = isa::config::ALL;
                let field = &fields[numbers.below(fields.len())];
                let is_thread = field.scope == isa::config::Scope::Thread;
                let words = field.addr32..=field.last_word();
                let wanted = oracle.last_event(from, at, |event| match *event {
                    Event::Config { state, index, before, after } => {
                        let mask = if field.width > 32 { u32::MAX } else { field.mask() };
                        (state >= 2) == is_thread
                            && words.contains(&u32::from(index))
                            && (before ^ after) & mask != 0
                    }
                    _ => false,
                });
                let found = ask(What::Field(field, None), at);
                let found = found.map(|written| (written.cycle, written.agent));
                let wanted = wanted.map(|stamp| (stamp.cycle, stamp.agent));
                assert_eq!(found, wanted, "seed {seed}: {} before {at}", field.name);
                answers[kind] += usize::from(found.is_some());
            }
        }
    }
}

#[test]
fn who_agrees_with_a_full_log_of_random_programs() {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let mut found = [0_usize; 8];
    for seed in 1..=asked.unwrap_or(16_u64) {
        let mut numbers = Numbers(seed);
        let length = 600 + numbers.below(1400);
        let input: Vec<u8> = (0..length).map(|_| numbers.below(256) as u8).collect();
        let epoch = [1, 8, 3, 32][seed as usize % 4];
        let cycles = 300 + numbers.below(1200) as u64;
        let recording = session(&legal::programs(&input), cycles, epoch);
        assert_answers(recording, Cycle::ZERO, (60, seed), &mut found);
    }
    assert!(found.iter().sum::<usize>() > 100, "{found:?}");
}

/// Kernels that unpack, compute and pack: whatever they write is found.
#[test]
fn who_agrees_with_a_full_log_of_kernels() {
    let mut found = [0_usize; 8];
    for (name, epoch, seed) in
        [("matmul", 8, 1), ("sfpu", 1, 2), ("reduce", 4, 3), ("tilize", 1, 4)]
    {
        let recording = kernel(name, epoch);
        let from = recording.stages.last().expect("stages").began;
        assert_answers(recording, from, (400, seed), &mut found);
    }
    // Of every kind but GPRs, which these kernels leave alone.
    let kinds = [0, 1, 2, 4, 5, 6];
    assert!(kinds.iter().all(|kind| found[*kind] > 5), "{found:?}");
    assert!(found.iter().sum::<usize>() > 200, "{found:?}");
}
