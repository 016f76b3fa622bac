//! Who runs when, who is parked and who watches must not show in the state of a tile: five cores
//! with random programs on shared words, and the cases in which a lone runner meets a parked core.

#[path = "../../riscv/tests/programs/mod.rs"]
mod programs;

mod bare;

use isa::asm::lui;
use proptest::prelude::*;
use sim_core::engine::EngineKind;
use sim_core::{
    Cycle, EpochLength, Event, NullObserver, Observer, Shortcut, Shortcuts, Stamp, Width,
};
use tile::{Stop, Tile, TileConfig};

const DATA: u32 = 0x2_0000;
/// Words before a program that set its base registers.
const PROLOGUE_WORDS: u32 = 3;

/// Counts the stores it is told of, all over L1.
#[derive(Debug, Default)]
struct Watcher {
    stores: Vec<(Stamp, u32, u32)>,
}

impl Observer for Watcher {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::L1Store { addr, value, .. } = event {
            self.stores.push((stamp, *addr, *value));
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![(DATA, DATA + 0x1000)]
    }
}

/// A tile whose cores execute these words; an empty program stays in reset.
fn tile<O: Observer>(programs: &[Vec<u32>], config: TileConfig, observer: O) -> Tile<O> {
    let mut tile = Tile::new(config, observer).expect("the host can start threads");
    let whole = |(core, words): (usize, &Vec<u32>)| {
        let code = bare::ENTRIES[core] + PROLOGUE_WORDS * 4;
        let prologue = vec![
            lui(u32::from(programs::DATA_REGISTER), DATA),
            lui(u32::from(programs::LOCAL_REGISTER), 0xFFB0_0000),
            lui(u32::from(programs::CODE_REGISTER), code),
        ];
        if words.is_empty() { Vec::new() } else { [prologue, words.clone()].concat() }
    };
    bare::start(&mut tile, &programs.iter().enumerate().map(whole).collect::<Vec<_>>());
    tile
}

/// Runs to that cycle, through quiescence too.
fn run<O: Observer>(tile: &mut Tile<O>, until: u64) {
    match tile.run(Cycle(until), None) {
        Stop::Limit => {}
        Stop::Quiescent(_) => tile.pass_time(Cycle(until)),
        stop => panic!("a test program went wrong: {stop:?}"),
    }
}

fn config(engine: EngineKind, parking: bool, epoch: u32) -> TileConfig {
    let epoch = EpochLength::new(epoch).expect("the tests use valid lengths");
    let shortcuts = Shortcuts::ALL.set(Shortcut::Parking, parking);
    TileConfig { engine, shortcuts, epoch, ..TileConfig::default() }
}

fn hash_after(programs: &[Vec<u32>], config: TileConfig, cycles: u64) -> u64 {
    let mut tile = tile(programs, config, NullObserver);
    run(&mut tile, cycles);
    tile.state_hash()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn racing_cores_any_schedule_ends_in_the_same_state(
        steps in prop::collection::vec(programs::program(false), 1..=5),
        epoch in prop::sample::select(vec![1u32, 4, 8, 12]),
    ) {
        let programs: Vec<Vec<u32>> = steps.iter().map(|steps| programs::encode(steps)).collect();
        let cycles = 960;
        let plain = hash_after(&programs, config(EngineKind::Inline, false, epoch), cycles);
        let parking = hash_after(&programs, config(EngineKind::Inline, true, epoch), cycles);
        prop_assert_eq!(parking, plain);
        let threads = hash_after(&programs, config(EngineKind::Threads, true, epoch), cycles);
        prop_assert_eq!(threads, plain);
        let mut together = config(EngineKind::Inline, false, epoch);
        together.shortcuts = together.shortcuts.without(Shortcut::Trials);
        prop_assert_eq!(hash_after(&programs, together, cycles), plain);
        // Observed stores are applied one by one in (cycle, agent) order.
        let mut observed =
            tile(&programs, config(EngineKind::Inline, true, epoch), Watcher::default());
        run(&mut observed, cycles);
        prop_assert_eq!(observed.state_hash(), plain);
        let keys: Vec<_> = observed
            .observer()
            .stores
            .iter()
            .map(|(stamp, ..)| (stamp.cycle, stamp.agent.code()))
            .collect();
        prop_assert!(keys.is_sorted(), "events are not in (cycle, agent) order");
    }
}

/// A core that begins to spin in the epoch of its mistake has spun to the end of that epoch.
#[test]
fn core_that_parks_after_its_mistake_is_as_far_as_one_that_spins() {
    let program = vec![
        lui(5, 0xFFB4_0000),
        programs::i(0x13, 0, 6, 0, -1),
        // A stream's configuration that the overlay model refuses.
        programs::store(2, 6, 5, 0),
        programs::jal(0, 0),
    ];
    let hash = |parking| {
        let config = config(EngineKind::Inline, parking, 8);
        let mut tile = tile(&[Vec::new(), program.clone()], config, NullObserver);
        assert!(matches!(tile.run(Cycle(64), None), Stop::Fault(_)));
        (tile.now(), tile.instructions(), tile.state_hash())
    };
    assert_eq!(hash(true), hash(false));
}

/// Counts down, then stores 1 to the first data word, then counts for ever.
fn late_writer(rounds: i32) -> Vec<u32> {
    vec![
        programs::i(0x13, 0, 5, 0, rounds),
        programs::i(0x13, 0, 5, 5, -1),
        programs::branch(1, 5, 0, -4),
        programs::i(0x13, 0, 6, 0, 1),
        programs::store(2, 6, 4, 0),
        programs::i(0x13, 0, 7, 7, 1),
        programs::jal(0, -4),
    ]
}

/// Polls the first data word until it is not zero, then stores what it saw to the second.
fn poller() -> Vec<u32> {
    vec![
        programs::i(0x03, 2, 5, 4, 0),
        programs::branch(0, 5, 0, -4),
        programs::store(2, 5, 4, 4),
        programs::i(0x13, 0, 7, 7, 1),
        programs::jal(0, -4),
    ]
}

#[test]
fn poller_parked_while_nobody_stores_sees_the_lone_runners_store() {
    for rounds in [100, 1000, 2000] {
        let programs = [late_writer(rounds), vec![], poller()];
        let mut parking = tile(&programs, config(EngineKind::Inline, true, 8), NullObserver);
        run(&mut parking, 8000);
        assert_eq!(parking.l1_value(DATA + 4, Width::Word), 1, "after {rounds} rounds");
        let spinning = hash_after(&programs, config(EngineKind::Inline, false, 8), 8000);
        assert_eq!(parking.state_hash(), spinning);
    }
}

/// GPR 0 of Tensix thread 0, as BRISC and as TRISC0 reach it `[isa-bh: TensixTile/BabyRISCV/
/// README.md]`.
const GPR: u32 = 0xFFE0_0000;

#[test]
fn poller_of_a_device_sees_a_change_at_any_moment() {
    // The change may come after the poller's last look and before it is parked.
    let writer = |rounds: i32| {
        vec![
            programs::i(0x13, 0, 5, 0, rounds),
            programs::i(0x13, 0, 5, 5, -1),
            programs::branch(1, 5, 0, -4),
            programs::i(0x13, 0, 6, 0, 1),
            lui(8, GPR),
            programs::store(2, 6, 8, 0),
            programs::jal(0, 0),
        ]
    };
    let poller = vec![
        lui(8, GPR),
        programs::i(0x03, 2, 5, 8, 0),
        programs::branch(0, 5, 0, -4),
        programs::store(2, 5, 4, 4),
        programs::jal(0, 0),
    ];
    for rounds in 1..300 {
        let programs = [writer(rounds), poller.clone()];
        let mut parking = tile(&programs, config(EngineKind::Inline, true, 8), NullObserver);
        run(&mut parking, 2000);
        assert_eq!(parking.l1_value(DATA + 4, Width::Word), 1, "after {rounds} rounds");
        let spinning = hash_after(&programs, config(EngineKind::Inline, false, 8), 2000);
        assert_eq!(parking.state_hash(), spinning, "after {rounds} rounds");
    }
}

#[test]
fn same_word_in_one_cycle_belongs_to_the_last_core_in_order() {
    // Every core stores its number to the same word in its fifth cycle; (cycle, agent) order
    // says that NCRISC is last.
    let program = |value: i32| {
        vec![programs::i(0x13, 0, 5, 0, value), programs::store(2, 5, 4, 0), programs::jal(0, 0)]
    };
    let programs: Vec<Vec<u32>> = (1..=5).map(program).collect();
    let mut tile = tile(&programs, config(EngineKind::Inline, true, 8), NullObserver);
    run(&mut tile, 64);
    assert_eq!(tile.l1_value(DATA, Width::Word), 5);
}

/// A core that waits by the wall clock is answered on the way while it is alone, and by commits while
/// others are at work, or when it has to stop there: it finds the same at the same time.
#[test]
fn waits_by_the_wall_clock_do_not_depend_on_company() {
    const CLOCK: i32 = 0x1F0;
    const LATCHED_HIGH: i32 = 0x1F8;
    // Waits 300 cycles and stores the time it has then, over and over.
    let waiter = vec![
        lui(10, 0xFFB1_2000),
        lui(11, DATA),
        programs::i(0x03, 2, 5, 10, CLOCK),
        programs::i(0x03, 2, 6, 10, LATCHED_HIGH),
        programs::i(0x13, 0, 7, 5, 300),
        programs::i(0x03, 2, 8, 10, CLOCK),
        programs::i(0x03, 2, 9, 10, LATCHED_HIGH),
        programs::branch(6, 8, 7, -8),
        programs::store(2, 8, 11, 0),
        programs::i(0x13, 0, 11, 11, 4),
        programs::jal(0, -32),
    ];
    // Counts in its own words.
    let company = vec![
        lui(11, DATA + 0x8000),
        programs::i(0x13, 0, 5, 5, 1),
        programs::store(2, 5, 11, 0),
        programs::jal(0, -8),
    ];
    let times = |tile: &Tile<NullObserver>| -> Vec<u32> {
        (0..20).map(|index| tile.l1_value(DATA + 4 * index, Width::Word)).collect()
    };
    for epoch in [1, 8, 16] {
        let config = config(EngineKind::Inline, true, epoch);
        let mut alone = tile(std::slice::from_ref(&waiter), config, NullObserver);
        run(&mut alone, 4096);
        let mut stepped = tile(std::slice::from_ref(&waiter), config, NullObserver);
        (1..=4096 / 16).for_each(|step| run(&mut stepped, 16 * step));
        let mut accompanied = tile(&[waiter.clone(), company.clone()], config, NullObserver);
        run(&mut accompanied, 4096);
        let found = times(&alone);
        assert!(found.iter().take(8).all(|&time| time >= 300), "{found:?}");
        assert_eq!(found, times(&stepped), "epoch {epoch}");
        assert_eq!(found, times(&accompanied), "epoch {epoch}");
        assert_eq!(alone.state_hash(), stepped.state_hash(), "epoch {epoch}");
    }
}

/// A jump to where nothing can be fetched is a mistake of the cycle behind the jump, and is reported at
/// the end of that one's epoch, whether the core runs alone or beside others.
#[test]
fn jump_into_nowhere_is_reported_at_the_end_of_the_epoch_of_the_fetch() {
    let counting = vec![programs::i(0x13, 0, 7, 7, 1), programs::jal(0, -4)];
    for before in 1..24_u64 {
        let mut jumper = vec![programs::i(0x13, 0, 5, 5, 1); before as usize];
        // To address 2.
        jumper.push(programs::i(0x67, 0, 0, 0, 2));
        for others in [Vec::new(), counting.clone()] {
            for epoch in [1, 4, 8] {
                let config = config(EngineKind::Inline, true, epoch);
                let mut tile = tile(&[jumper.clone(), others.clone()], config, NullObserver);
                let stop = tile.run(Cycle(512), None);
                let Stop::Fault(fault) = stop else { panic!("{stop:?}") };
                // Three words of the prologue, those before the jump, and the jump.
                let cycle = 3 + before + 1;
                assert_eq!((fault.id, fault.at.cycle), ("misaligned-fetch", Cycle(cycle)));
                let end = (cycle / u64::from(epoch) + 1) * u64::from(epoch);
                assert_eq!(tile.now(), Cycle(end), "{before} before, epoch {epoch}");
            }
        }
    }
}

/// A host writes kernels that are there already with each launch: nothing changes but what it writes anew.
#[test]
fn code_written_again_goes_on_and_code_that_differs_is_executed() {
    // Counts in x5 by one, over and over, in a loop of 40 instructions.
    let step = |by| programs::i(0x13, 0, 5, 5, by);
    let words: Vec<u32> = (0..39).map(|_| step(1)).chain([programs::jal(0, -39 * 4)]).collect();
    let bytes =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let count = |again: Option<&[u32]>| {
        let mut tile = tile(std::slice::from_ref(&words), TileConfig::default(), NullObserver);
        run(&mut tile, 8000);
        if let Some(again) = again {
            let code = bare::ENTRIES[0] + PROLOGUE_WORDS * 4;
            tile.host_write(code, &bytes(again)).expect("L1 is mapped");
        }
        run(&mut tile, 16000);
        (tile.core(sim_core::CoreId::Brisc).register(5), tile.state_hash())
    };
    let plain = count(None);
    assert_eq!(count(Some(&words)), plain, "the same words");
    assert_eq!(count(Some(&words[..20])), plain, "some of them");
    for place in [0, 17, 38] {
        let mut other = words.clone();
        other[place] = step(2);
        let (counted, _) = count(Some(&other));
        // One more in each of the 200 rounds that are left, but for the one under way.
        assert!((199..=200).contains(&(counted - plain.0)), "word {place}: {counted}");
    }
}
