//! No shortcut shows (`docs/shortcuts.md`): random programs of every generator there is, with random
//! subsets of the shortcuts, end as they do with none: in state, instruction counts, cycles, mistakes
//! in words and events, on a core, the coprocessor, a tile and a chip, with and without an observer.
//!
//! `PROPTEST_CASES` says how many cases each test tries. Seeds of failures are kept in
//! `shortcuts.proptest-regressions`.

#[path = "../../tile/tests/bare/mod.rs"]
mod bare;
#[path = "../../tensix/tests/common/mod.rs"]
mod common;
#[path = "../../chip/tests/fetchers/mod.rs"]
mod fetchers;
#[path = "common/guests.rs"]
mod guests;
#[path = "common/legal.rs"]
mod legal;
#[path = "../../riscv/tests/machine/mod.rs"]
mod machine;
#[path = "../../chip/tests/neighbours/mod.rs"]
mod neighbours;
#[path = "../../tensix/tests/playbacks/mod.rs"]
mod playbacks;
#[path = "../../riscv/tests/programs/mod.rs"]
mod programs;
#[path = "../../tile/tests/pushers/mod.rs"]
mod pushers;
#[path = "../../chip/tests/sleepers/mod.rs"]
mod sleepers;
#[path = "../../tile/tests/talkers/mod.rs"]
mod talkers;
#[path = "../../chip/tests/waiters/mod.rs"]
mod waiters;
#[path = "../../tile/tests/waits/mod.rs"]
mod waits;

use std::fmt::Debug;

use chip::{Chip, ChipConfig, ClockStep};
use common::{Recorder, Surrounding, Unheard};
use isa::asm::lui;
use machine::Machine;
use observe::EventHash;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use riscv::IcacheModel;
use sim_core::engine::EngineKind;
use sim_core::shortcuts::blame;
use sim_core::{
    CoreId, Cycle, EpochLength, Event, NullObserver, Observer, Shortcuts, Stamp, ThreadId,
};
use sleepers::{Deed, Request, Sleeper};
use tensix::{TimingModel, Warned};
use tile::{Stop, Tile, TileConfig};

/// So many cases per test, unless `PROPTEST_CASES` says how many.
fn cases(count: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let persistence = FileFailurePersistence::WithSource("proptest-regressions");
    ProptestConfig {
        failure_persistence: Some(Box::new(persistence)),
        // A program is more use than a short one that takes an hour to find.
        max_shrink_time: 60_000,
        max_shrink_iters: u32::MAX,
        ..ProptestConfig::with_cases(asked.unwrap_or(count))
    }
}

/// Any subset; all, or all but a few, where shortcuts meet that need each other; a few of them.
fn subset() -> impl Strategy<Value = Shortcuts> {
    let few = (any::<u32>(), any::<u32>(), any::<u32>()).prop_map(|(a, b, c)| a & b & c);
    prop_oneof![
        1 => Just(u32::MAX),
        3 => any::<u32>(),
        3 => few.clone().prop_map(|bits| !bits),
        1 => few,
    ]
    .prop_map(Shortcuts::from_bits)
}

/// All of them, and another subset.
fn subsets() -> impl Strategy<Value = Vec<Shortcuts>> {
    subset().prop_map(|set| vec![Shortcuts::ALL, set])
}

/// Fails unless `run` gives with each of the sets what it gives with none; says who is to blame.
fn assert_same<T: PartialEq + Debug>(
    sets: &[Shortcuts],
    run: impl Fn(Shortcuts) -> T,
) -> Result<(), TestCaseError> {
    let plain = run(Shortcuts::NONE);
    for &set in sets {
        let outcome = run(set);
        if outcome != plain {
            let guilty = blame(|some| {
                let both = Shortcuts::parse(
                    &set.iter()
                        .filter(|&one| some.has(one))
                        .fold(String::from("none"), |list, one| format!("{list},{one}")),
                );
                both.map(&run) != Ok(run(Shortcuts::NONE))
            });
            let guilty = guilty.map_or_else(|| "nobody".to_owned(), |set| set.to_string());
            let reason = format!("{set} differs, by {guilty}:\n{outcome:?}\nnone:\n{plain:?}");
            return Err(TestCaseError::fail(reason));
        }
    }
    Ok(())
}

/// Hears all events, stores to the words that programs share among them.
#[derive(Default)]
struct Listener(EventHash);

impl Observer for Listener {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.0.event(stamp, event);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![(waits::DATA.1, waits::DATA.1 + 0x1000)]
    }
}

/// Goes past so many mistakes.
const MOST_STOPS: usize = 12;

/// Everything that can be told of a tile's run: mistakes, cycle, state and instructions at several
/// points, between which the host writes. What the observer has to say comes at the end.
fn outcome<O: Observer>(
    programs: &[Vec<u32>],
    (config, start): (TileConfig, u64),
    observer: O,
    heard: impl Fn(&O) -> Vec<String>,
) -> (Vec<String>, Vec<String>) {
    let mut tile = Tile::new(config, observer).expect("no threads to start");
    tile.pass_time(Cycle(start));
    bare::start(&mut tile, programs);
    let mut seen = Vec::new();
    for (value, cycles) in (1..).zip([96, 400, 1000, 1048, 3000]) {
        let limit = tile.now() + cycles;
        while seen.len() < MOST_STOPS {
            match tile.run(limit, None) {
                Stop::Limit => break,
                // Where polling loops are executed a tile is never quiescent.
                Stop::Quiescent(_) => tile.pass_time(limit),
                stop => seen.push(format!("{:?}: {stop:?}", tile.now())),
            }
        }
        if seen.len() >= MOST_STOPS {
            break;
        }
        let end = tile.now();
        seen.push(format!("{end:?} {:x} {:?}", tile.state_hash(), tile.instructions()));
        tile.host_write_word(waits::DATA.1, value).expect("L1 is mapped");
    }
    (seen, heard(tile.observer()))
}

/// What tiles differ in.
fn machines() -> impl Strategy<Value = TileConfig> {
    let epoch = prop::sample::select(vec![1_u32, 4, 8, 8, 12, 16]);
    let icache = prop_oneof![7 => Just(IcacheModel::Coherent), 1 => Just(IcacheModel::Stale)];
    let timing = prop_oneof![3 => Just(TimingModel::Unit), 1 => Just(TimingModel::Documented)];
    let warned = prop_oneof![Just(Warned::NONE), Just(legal::every_check())];
    (epoch, icache, timing, warned).prop_map(|(epoch, icache, timing, warned)| TileConfig {
        engine: EngineKind::Inline,
        epoch: EpochLength::new(epoch).expect("the lengths are valid"),
        icache,
        timing,
        warned,
        ..TileConfig::default()
    })
}

/// The same outcome with each of the sets, for whoever listens and for nobody; and the same for both.
fn assert_tile_same(
    programs: &[Vec<u32>],
    (config, start): (TileConfig, u64),
    sets: &[Shortcuts],
) -> Result<(), TestCaseError> {
    let of = |shortcuts| (TileConfig { shortcuts, ..config }, start);
    let unheard = |set| outcome(programs, of(set), NullObserver, |_| Vec::new());
    let told =
        |listener: &Listener| vec![format!("{:x} {}", listener.0.hash(), listener.0.count())];
    let heard = |set| outcome(programs, of(set), Listener::default(), told);
    prop_assert_eq!(unheard(Shortcuts::NONE).0, heard(Shortcuts::NONE).0, "who listens");
    assert_same(sets, heard)?;
    assert_same(sets, unheard)
}

/// Programs with the base registers that they take for granted.
fn with_bases(programs: &[Vec<programs::Step>]) -> Vec<Vec<u32>> {
    let whole = |(core, steps): (usize, &Vec<programs::Step>)| {
        let mut words = vec![
            lui(u32::from(programs::DATA_REGISTER), waits::DATA.1),
            lui(u32::from(programs::LOCAL_REGISTER), 0xFFB0_0000),
            lui(u32::from(programs::CODE_REGISTER), bare::ENTRIES[core] + 12),
        ];
        words.extend(programs::encode(steps));
        words
    };
    programs.iter().enumerate().map(whole).collect()
}

fn cores_with(program: impl Strategy<Value = Vec<u32>>) -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(program, 1..=CoreId::COUNT)
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn core_alone(
        steps in programs::program(true),
        patches in programs::patches(),
        epoch in prop::sample::select(vec![1_u32, 4, 8, 24]),
        sets in subsets(),
        trace: bool,
    ) {
        let words = programs::encode(&steps);
        let run = |alone: bool| {
            let (words, patches) = (&words, &patches);
            move |set| {
                let mut machine = Machine::new(words, patches, epoch, set);
                machine.core.set_trace(trace);
                if alone { machine.run_alone(960) } else { machine.run_epochs(960) }
                machine.state()
            }
        };
        assert_same(&sets, run(false))?;
        assert_same(&sets, run(true))?;
        prop_assert_eq!(run(true)(Shortcuts::NONE), run(false)(Shortcuts::NONE));
    }

    #[test]
    fn coprocessor(
        buffer in prop::collection::vec(playbacks::word(), 1..32),
        pushes in prop_oneof![
            prop::collection::vec((Just(ThreadId::T1), playbacks::push(), 0_u8..16), 1..60),
            prop::collection::vec(
                (prop::sample::select(&ThreadId::ALL[..]), playbacks::push(), 0_u8..16), 1..60),
        ],
        chunk in 1_u64..70,
        timing in prop::sample::select(&[TimingModel::Unit, TimingModel::Documented][..]),
        sets in subsets(),
    ) {
        assert_same(&sets, played::<Recorder>(&buffer, &pushes, timing, chunk))?;
        assert_same(&sets, played::<Unheard>(&buffer, &pushes, timing, chunk))?;
    }

    #[test]
    fn coprocessor_of_threads_that_wait_for_each_other(
        buffer in prop::collection::vec(playbacks::handshake_buffer(), 1..32),
        pushes in prop::collection::vec(
            (
                prop::sample::select(&ThreadId::ALL[..]),
                playbacks::handshake_push(),
                prop_oneof![4 => 0_u8..2, 1 => 0_u8..20],
            ),
            20..200,
        ),
        chunk in 1_u64..70,
        sets in subsets(),
    ) {
        assert_same(&sets, played::<Recorder>(&buffer, &pushes, TimingModel::Unit, chunk))?;
        assert_same(&sets, played::<Unheard>(&buffer, &pushes, TimingModel::Unit, chunk))?;
    }
}

/// What becomes of a coprocessor whose threads push such words, by the shortcuts it takes.
fn played<'a, E: Surrounding>(
    buffer: &'a [u32],
    pushes: &'a [(ThreadId, u32, u8)],
    timing: TimingModel,
    chunk: u64,
) -> impl Fn(Shortcuts) -> playbacks::Outcome {
    move |set| playbacks::run::<E>(buffer, pushes, (timing, set), Some(chunk))
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn tile_of_racing_cores(
        steps in prop::collection::vec(programs::program(false), 1..=CoreId::COUNT),
        config in machines(),
        sets in subsets(),
    ) {
        assert_tile_same(&with_bases(&steps), (config, 0), &sets)?;
    }

    #[test]
    fn tile_of_cores_that_wait_for_each_other(
        programs in talkers::programs(),
        config in machines(),
        sets in subsets(),
    ) {
        assert_tile_same(&programs, (config, 0), &sets)?;
    }

    #[test]
    fn tile_of_cores_that_push(
        programs in pushers::programs(),
        config in machines(),
        sets in subsets(),
    ) {
        assert_tile_same(&programs, (config, 0), &sets)?;
    }

    #[test]
    fn tile_of_cores_that_push_and_wait(
        programs in pushers::programs_that_wait(),
        config in machines(),
        sets in subsets(),
    ) {
        assert_tile_same(&programs, (config, 0), &sets)?;
    }

    #[test]
    fn tile_of_cores_that_wait_by_the_clock(
        programs in cores_with(waits::program()),
        start in waits::start(),
        config in machines(),
        sets in subsets(),
    ) {
        assert_tile_same(&programs, (config, start), &sets)?;
    }

    #[test]
    fn tile_of_random_instructions(
        programs in guests::random_programs(),
        config in machines(),
        sets in subsets(),
    ) {
        assert_tile_same(&programs, (config, 0), &sets)?;
    }

    #[test]
    fn tile_of_random_accesses(
        programs in guests::access_programs(),
        config in machines(),
        sets in subsets(),
    ) {
        assert_tile_same(&programs, (config, 0), &sets)?;
    }

    #[test]
    fn tile_of_random_tensix_words(
        programs in guests::push_programs(),
        config in machines(),
        sets in subsets(),
    ) {
        assert_tile_same(&programs, (config, 0), &sets)?;
    }

    #[test]
    fn tile_of_kernels_over_all_units(
        input in prop::collection::vec(any::<u8>(), 300..1500),
        config in machines(),
        sets in subsets(),
    ) {
        let config = TileConfig { warned: legal::every_check(), ..config };
        assert_tile_same(&legal::programs(&input), (config, 0), &sets)?;
    }
}

/// Everything a host can tell of a chip whose time it lets pass in such steps.
fn chip_outcome(mut chip: Chip, steps: &[u32]) -> Vec<String> {
    let mut seen = Vec::new();
    for (number, &clocks) in (0_u32..).zip(steps) {
        chip.clock(clocks);
        let mut words = [0; 8];
        chip.tile_read(1 + number % 7, 2, waiters::ROUNDS, &mut words).expect("L1");
        let reports = chip.take_reports();
        seen.push(format!("{:?} {words:?} {reports:?}", chip.now()));
        // To look at the whole state takes every core out of its loop: not each time.
        if number % 3 == 2 {
            seen.push(format!("{:x}", chip.state_hash()));
            chip.tile_write(1 + number % 7, 2, waiters::MAILBOX, &number.to_le_bytes())
                .expect("L1");
        }
    }
    seen.push(format!("{:x}", chip.state_hash()));
    seen
}

/// A host that makes fewer and longer steps, or more and shorter ones.
fn steps() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop_oneof![1_u32..8, 1_u32..64, 64_u32..200], 1..12)
}

fn chips() -> impl Strategy<Value = ChipConfig> {
    (1_usize..=3, prop::sample::select(vec![1_u32, 8, 8, 16])).prop_map(|(threads, epoch)| {
        ChipConfig {
            threads,
            clock: ClockStep::Cycles(16),
            epoch: EpochLength::new(epoch).expect("the lengths are valid"),
            ..ChipConfig::default()
        }
    })
}

/// What a tile does that gets requests.
fn sleeper() -> impl Strategy<Value = Sleeper> {
    prop_oneof![
        Just(Sleeper::Reset),
        (0_u32..32).prop_map(Sleeper::Word),
        Just(Sleeper::Counter),
        Just(Sleeper::Register),
        (200_u32..3000, 0_u32..32).prop_map(|(cycles, word)| Sleeper::Clock(cycles, word)),
        Just(Sleeper::Code),
    ]
}

/// A request to one of those, or to all.
fn request() -> impl Strategy<Value = Request> {
    let deed = prop_oneof![
        4 => (1_u32..300).prop_map(Deed::Write),
        3 => (1_u32..300).prop_map(Deed::Multicast),
        1 => Just(Deed::Inline),
        2 => any::<bool>().prop_map(Deed::Add),
        1 => (1_u32..300).prop_map(Deed::Read),
    ];
    let pause = prop_oneof![0_u32..8, 8_u32..400];
    let rest = (0_u32..7, 0_u32..32, prop::bool::weighted(0.25), any::<bool>(), pause);
    (deed, rest).prop_map(|(deed, (to, word, in_code, marked, pause))| {
        // Into the loop go words that are instructions, to one that it executes or to one behind it.
        let deed = match deed {
            Deed::Write(_) if in_code => Deed::Write(4),
            Deed::Multicast(_) if in_code => Deed::Multicast(4),
            deed => deed,
        };
        let in_code = in_code && matches!(deed, Deed::Write(_) | Deed::Multicast(_));
        let word = if in_code { 1 + word % 2 * 40 } else { word };
        Request { deed, to, word, in_code, marked, pause }
    })
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn chip_of_tiles_that_sleep_while_others_write_to_them(
        asleep in prop::collection::vec(sleeper(), 0..8),
        senders in prop::collection::vec(prop::collection::vec(request(), 1..6), 1..4),
        config in chips(),
        steps in steps(),
        sets in subsets(),
    ) {
        assert_same(&sets, |shortcuts| {
            let mut chip = Chip::new(ChipConfig { shortcuts, ..config });
            sleepers::start(&mut chip, &asleep, &senders);
            chip_outcome(chip, &steps)
        })?;
    }
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn chip_of_tiles_that_wait(
        tiles in 1_usize..9,
        config in chips(),
        steps in steps(),
        sets in subsets(),
    ) {
        assert_same(&sets, |shortcuts| {
            chip_outcome(waiters::chip(ChipConfig { shortcuts, ..config }, tiles), &steps)
        })?;
    }

    #[test]
    fn chip_of_tiles_that_write_to_each_other(
        pauses in prop::collection::vec(prop_oneof![Just(0_u32), 1_u32..900], 14),
        // Besides BRISC, on some tiles: cores that race, or push, or wait.
        others in prop::collection::vec(
            (1_u32..8, prop_oneof![
                prop::collection::vec(programs::program(false), 5).prop_map(|all| with_bases(&all)),
                pushers::programs(),
                prop::collection::vec(waits::program(), 5),
            ]),
            0..4,
        ),
        // On some tiles BRISC fetches from DRAM instead of writing to the next one.
        fetching in prop::collection::vec((10_u32..17, 1_u32..900), 0..4),
        config in chips(),
        steps in steps(),
        sets in subsets(),
    ) {
        assert_same(&sets, |shortcuts| {
            let mut chip = Chip::new(ChipConfig { shortcuts, ..config });
            neighbours::start(&mut chip, 1, |x, _| pauses[x as usize % pauses.len()]);
            fetchers::start(&mut chip, &fetching);
            for (x, programs) in &others {
                let mut held = 0_u32;
                for core in 1..CoreId::COUNT {
                    let Some(words) = programs.get(core) else { continue };
                    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                    let entry = u64::from(bare::ENTRIES[core]);
                    chip.tile_write(*x, 2, entry, &bytes).expect("L1");
                    held |= if words.is_empty() { bare::RESET_BITS[core] } else { 0 };
                }
                chip.tile_write(*x, 2, 0xFFB1_21B0, &held.to_le_bytes()).expect("a register");
            }
            chip_outcome(chip, &steps)
        })?;
    }
}

/// One tile goes ahead to the end of the call; then the other one, which waits by the clock, is left alone until its
/// alarm, which is before that.
#[test]
fn tile_that_is_ahead_takes_no_other_one_past_its_alarm() {
    let request =
        |deed, to, word, marked, pause| Request { deed, to, word, in_code: false, marked, pause };
    let sends = vec![
        request(Deed::Write(1), 0, 0, false, 0),
        request(Deed::Write(1), 0, 25, true, 203),
        request(Deed::Multicast(69), 6, 7, true, 305),
        request(Deed::Add(false), 6, 0, false, 6),
    ];
    let outcome = |shortcuts| {
        let clock = ClockStep::Cycles(16);
        let mut chip =
            Chip::new(ChipConfig { shortcuts, clock, threads: 1, ..ChipConfig::default() });
        sleepers::start(&mut chip, &[Sleeper::Clock(709, 0)], std::slice::from_ref(&sends));
        chip_outcome(chip, &[4, 73, 133, 52, 172, 62, 141, 86, 3, 4])
    };
    assert_eq!(outcome(Shortcuts::ALL), outcome(Shortcuts::NONE));
}
