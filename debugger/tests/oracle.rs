//! `who` against a slow oracle: the whole of what is asked about, looked at after every cycle of a machine whose
//! epochs are one cycle long, and a full log of events. Thousands of random questions on random programs.

#[path = "../../tile/tests/bare/mod.rs"]
mod bare;
#[path = "../../firmware-tests/tests/common/legal.rs"]
mod legal;

use std::collections::BTreeMap;
use std::sync::Arc;

use debugger::recording::{Code, End, Stage};
use debugger::who::{self, Cells, What};
use debugger::{Machine, Moment, Recording};
use proptest::prelude::*;
use sim_core::engine::EngineKind;
use sim_core::l1::L1_BYTES;
use sim_core::observer::{Cell, ShowsCells as _};
use sim_core::{CoreId, Cycle, EpochLength, Event, NullObserver, Observer, Stamp, ThreadId, Width};
use tile::{Stop, Tile, TileConfig};

/// Questions per program.
const QUESTIONS: usize = 100;

fn cases(count: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(asked.unwrap_or(count))
    }
}

/// All that events tell of.
#[derive(Default)]
struct Log(Vec<(Stamp, Event)>);

impl Observer for Log {
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
    /// Registers of cores, and when they were changed.
    registers: BTreeMap<(usize, u8), Vec<Cycle>>,
    log: Vec<(Stamp, Event)>,
}

impl Oracle {
    fn last_event(&self, before: Cycle, is_meant: impl Fn(&Event) -> bool) -> Option<Stamp> {
        let earlier = self.log.iter().filter(|(stamp, _)| stamp.cycle < before);
        earlier.filter(|(_, event)| is_meant(event)).next_back().map(|(stamp, _)| *stamp)
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

/// A session of those programs, and all that happens in it.
fn session(programs: &[Vec<u32>], cycles: u64) -> (Arc<Recording>, Oracle) {
    let config = TileConfig {
        engine: EngineKind::Inline,
        warned: legal::every_check(),
        epoch: EpochLength::new(1).expect("a length"),
        ..TileConfig::default()
    };
    let mut tile = Tile::new(config, NullObserver).expect("no threads to start");
    bare::start(&mut tile, programs);
    let first = tile.snapshot(None);
    let mut log = Tile::new(config, Log::default()).expect("no threads to start");
    log.restore(&first);
    let rows = all_cells();
    let mut held: Vec<Vec<u32>> = rows
        .iter()
        .map(|(_, cells)| cells.iter().map(|&cell| log.coprocessor().cell(cell)).collect())
        .collect();
    let mut registers_held = CoreId::ALL.map(|id| [0_u32; 32].map(|_| id as u32));
    for id in CoreId::ALL {
        for register in 0..32_u8 {
            registers_held[id.index()][usize::from(register)] = log.core(id).register(register);
        }
    }
    let (mut changes, mut registers) = (Changes::new(), BTreeMap::new());
    for cycle in 0..cycles {
        run(&mut log, Cycle(cycle + 1));
        // Counts of instructions take parked cores out of their loops.
        let _ = log.instructions();
        for (number, ((_, cells), held)) in rows.iter().zip(&mut held).enumerate() {
            let mut is_changed = false;
            for (&cell, held) in cells.iter().zip(held) {
                let now = log.coprocessor().cell(cell);
                is_changed |= std::mem::replace(held, now) != now;
            }
            if is_changed {
                changes.entry(number).or_default().push(Cycle(cycle));
            }
        }
        for id in CoreId::ALL {
            for register in 0..32_u8 {
                let now = log.core(id).register(register);
                let held = &mut registers_held[id.index()][usize::from(register)];
                if std::mem::replace(held, now) != now {
                    let changed: &mut Vec<Cycle> =
                        registers.entry((id.index(), register)).or_default();
                    changed.push(Cycle(cycle));
                }
            }
        }
    }
    let until = Cycle(cycles);
    run(&mut tile, until);
    assert_eq!(tile.state_hash(), log.state_hash(), "who looks changes nothing");
    let stage = Stage { name: "boot".to_owned(), began: Cycle::ZERO, code: Code::none() };
    let recording = Recording {
        place: (0, 0),
        number: 0,
        config,
        first,
        inputs: Vec::new(),
        stages: vec![stage],
        until,
        end: End::Limit,
        hash: tile.state_hash(),
    };
    let log = std::mem::take(&mut log.observer_mut().0);
    (Arc::new(recording), Oracle { rows, changes, registers, log })
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

/// One of what has a key.
fn one<K: Copy, V>(numbers: &mut Numbers, all: &BTreeMap<K, V>) -> Option<K> {
    let index = numbers.below(all.len());
    all.keys().nth(index).copied()
}

fn assert_answers(programs: &[Vec<u32>], cycles: u64, seed: u64) -> Result<(), TestCaseError> {
    let (recording, oracle) = session(programs, cycles);
    let machine = Machine::new(Arc::clone(&recording)).expect("memory");
    let mut numbers = Numbers(seed);
    for _ in 0..QUESTIONS {
        let at = Cycle(numbers.below(cycles as usize + 1) as u64);
        let ask = |what: What| who::last_before(&machine, what, Moment::at(at)).expect("memory");
        match numbers.below(8) {
            kind @ 0..=3 => {
                // Mostly of what has ever been changed.
                let row = match one(&mut numbers, &oracle.changes).filter(|_| kind != 0) {
                    Some(row) => row,
                    None => numbers.below(oracle.rows.len()),
                };
                let (cells, _) = oracle.rows[row];
                let wanted = last(oracle.changes.get(&row), at);
                let found = ask(What::Cells(cells));
                let told = found.as_ref().map(|written| written.cycle);
                prop_assert_eq!(told, wanted, "{} before {}: {:?}", cells, at, found);
            }
            4 => {
                let Some((core, register)) = one(&mut numbers, &oracle.registers) else { continue };
                let wanted = last(oracle.registers.get(&(core, register)), at);
                let found = ask(What::Register(CoreId::ALL[core], register));
                // An instruction counts from where it begins, the register changes when it ends.
                let told = found.as_ref().map(|written| written.cycle);
                prop_assert_eq!(told.is_some(), wanted.is_some(), "x{} before {}", register, at);
                prop_assert!(told <= wanted, "x{} before {}: {:?}", register, at, found);
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
                let wanted = oracle.last_event(at, |event| match *event {
                    Event::L1Store { addr, width, .. } => covers(addr, width.bytes()),
                    Event::L1Atomic { addr, .. } => covers(addr, Width::Word.bytes()),
                    _ => false,
                });
                let found = ask(What::L1(word)).map(|written| (written.cycle, written.agent));
                let wanted = wanted.map(|stamp| (stamp.cycle, stamp.agent));
                prop_assert_eq!(found, wanted, "{:#x} before {}", word, at);
            }
            6 => {
                let wanted_index = numbers.below(8) as u8;
                let wanted = oracle.last_event(
                    at,
                    |event| matches!(event, Event::Semaphore { index, .. } if *index == wanted_index),
                );
                let found = ask(What::Semaphore(wanted_index));
                let found = found.map(|written| (written.cycle, written.agent));
                prop_assert_eq!(found, wanted.map(|stamp| (stamp.cycle, stamp.agent)));
            }
            _ => {
                let fields = isa::config::ALL;
                let field = &fields[numbers.below(fields.len())];
                let is_thread = field.scope == isa::config::Scope::Thread;
                let words = field.addr32..=field.last_word();
                let wanted = oracle.last_event(at, |event| match *event {
                    Event::Config { state, index, before, after } => {
                        let mask = if field.width > 32 { u32::MAX } else { field.mask() };
                        (state >= 2) == is_thread
                            && words.contains(&u32::from(index))
                            && (before ^ after) & mask != 0
                    }
                    _ => false,
                });
                let found = ask(What::Field(field, None));
                let found = found.map(|written| (written.cycle, written.agent));
                prop_assert_eq!(found, wanted.map(|stamp| (stamp.cycle, stamp.agent)));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn who_agrees_with_a_full_log(
        input in prop::collection::vec(any::<u8>(), 600..2000),
        cycles in 300_u64..1500,
        seed in any::<u64>(),
    ) {
        assert_answers(&legal::programs(&input), cycles, seed)?;
    }
}
