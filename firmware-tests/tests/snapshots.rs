//! A snapshot does not show: random programs of every generator there is, taken back to a random
//! moment, or to that moment in another tile with another engine, other shortcuts and another
//! observer, go on as they did. And an epoch that is taken by hand, cut anywhere, is as any other.
//!
//! `PROPTEST_CASES` says how many cases each test tries.

#[path = "../../tile/tests/bare/mod.rs"]
mod bare;
#[path = "../../chip/tests/fetchers/mod.rs"]
mod fetchers;
#[path = "common/guests.rs"]
mod guests;
#[path = "common/legal.rs"]
mod legal;
#[path = "../../chip/tests/neighbours/mod.rs"]
mod neighbours;
#[path = "../../riscv/tests/programs/mod.rs"]
mod programs;
#[path = "../../tile/tests/pushers/mod.rs"]
mod pushers;
#[path = "../../tile/tests/talkers/mod.rs"]
mod talkers;
#[path = "../../chip/tests/waiters/mod.rs"]
mod waiters;
#[path = "../../tile/tests/waits/mod.rs"]
mod waits;

use chip::{Chip, ChipConfig, ClockStep};
use isa::asm::lui;
use observe::EventHash;
use proptest::prelude::*;
use riscv::IcacheModel;
use sim_core::engine::EngineKind;
use sim_core::{CoreId, Cycle, EpochLength, NullObserver, Observer, Shortcuts};
use tensix::TimingModel;
use tile::{Stop, Tile, TileConfig};

/// So many cases per test, unless `PROPTEST_CASES` says how many.
fn cases(count: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig::with_cases(asked.unwrap_or(count))
}

/// Goes past so many mistakes.
const MOST_STOPS: usize = 12;

/// One part of a run, as the host of all these tests makes it: time passes, and it writes a word.
fn part<O: Observer>(tile: &mut Tile<O>, number: u32, cycles: u64) -> Vec<String> {
    let limit = tile.config().epoch.round_up(tile.now() + cycles);
    let mut seen = Vec::new();
    while seen.len() < MOST_STOPS {
        match tile.run(limit, None) {
            Stop::Limit => break,
            Stop::Quiescent(_) => tile.pass_time(limit),
            stop => seen.push(format!("{:?}: {stop:?}", tile.now())),
        }
    }
    seen.push(moment(tile));
    tile.host_write_word(waits::DATA.1, number).expect("L1 is mapped");
    seen
}

fn moment<O: Observer>(tile: &mut Tile<O>) -> String {
    format!("{:?} {:x} {:?}", tile.now(), tile.state_hash(), tile.instructions())
}

fn parts<O: Observer>(tile: &mut Tile<O>, lengths: &[u64], from: usize) -> Vec<String> {
    let rest = (0..).zip(lengths).skip(from);
    rest.flat_map(|(number, &cycles)| part(tile, number, cycles)).collect()
}

/// A part of the run by hand, cut where `cuts` say.
fn part_by_hand<O: Observer>(
    tile: &mut Tile<O>,
    number: u32,
    cycles: u64,
    cuts: &[u8],
) -> Vec<String> {
    let limit = tile.config().epoch.round_up(tile.now() + cycles);
    let (mut seen, mut cuts) = (Vec::new(), cuts.iter().cycle());
    while seen.len() < MOST_STOPS {
        if let Some(mistake) = tile.take_mistake() {
            seen.push(format!("{:?}: {:?}", tile.now(), Stop::Fault(mistake)));
        } else if tile.now() >= limit {
            break;
        } else if tile.begin_epoch() {
            // The first core is taken furthest, as an order by cycle and core demands.
            let (mut until, cut) = (tile.now(), *cuts.next().unwrap_or(&0));
            for step in 0..u64::from(cut % 4) {
                until += step;
                for id in CoreId::ALL.into_iter().take(usize::from(cut) % 6) {
                    tile.run_core(id, until);
                }
            }
            tile.end_epoch();
        } else {
            tile.pass_time(limit);
        }
    }
    seen.push(moment(tile));
    tile.host_write_word(waits::DATA.1, number).expect("L1 is mapped");
    seen
}

#[derive(Default)]
struct Listener(EventHash);

impl Observer for Listener {
    fn event(&mut self, stamp: sim_core::Stamp, event: &sim_core::Event) {
        self.0.event(stamp, event);
    }
    fn wants_retires(&self, core: CoreId) -> bool {
        core == CoreId::Trisc1
    }
    fn wants_jumps(&self, _core: CoreId) -> bool {
        true
    }
    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![(waits::DATA.1, waits::DATA.1 + 0x1000)]
    }
}

/// How one random case goes about it.
#[derive(Clone, Debug)]
struct Case {
    config: TileConfig,
    start: u64,
    lengths: Vec<u64>,
    at: usize,
    /// Of the tile that goes on in place of the first.
    engine: EngineKind,
    shortcuts: Shortcuts,
    cuts: Vec<u8>,
}

fn engines() -> impl Strategy<Value = EngineKind> {
    prop_oneof![5 => Just(EngineKind::Inline), 1 => Just(EngineKind::Threads)]
}

fn subset() -> impl Strategy<Value = Shortcuts> {
    prop_oneof![
        2 => Just(Shortcuts::ALL),
        1 => Just(Shortcuts::NONE),
        2 => any::<u32>().prop_map(Shortcuts::from_bits),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let epoch = prop::sample::select(vec![1_u32, 4, 8, 8, 8, 12, 16]);
    let icache = prop_oneof![7 => Just(IcacheModel::Coherent), 1 => Just(IcacheModel::Stale)];
    let timing = prop_oneof![3 => Just(TimingModel::Unit), 1 => Just(TimingModel::Documented)];
    let lengths = prop::collection::vec(1_u64..900, 2..7);
    let at = any::<prop::sample::Index>();
    let cuts = prop::collection::vec(any::<u8>(), 1..40);
    (epoch, icache, timing, subset(), engines(), (lengths, at, engines(), subset(), cuts)).prop_map(
        |(epoch, icache, timing, own, first, (lengths, at, engine, shortcuts, cuts))| Case {
            config: TileConfig {
                engine: first,
                epoch: EpochLength::new(epoch).expect("the lengths are valid"),
                icache,
                timing,
                shortcuts: own,
                warned: legal::every_check(),
                ..TileConfig::default()
            },
            start: 0,
            at: at.index(lengths.len()),
            lengths,
            engine,
            shortcuts,
            cuts,
        },
    )
}

fn started<O: Observer>(
    programs: &[Vec<u32>],
    config: TileConfig,
    start: u64,
    observer: O,
) -> Tile<O> {
    let mut tile = Tile::new(config, observer).expect("threads start");
    tile.pass_time(Cycle(start));
    bare::start(&mut tile, programs);
    tile
}

fn assert_goes_on<O: Observer + Default>(
    programs: &[Vec<u32>],
    case: &Case,
) -> Result<(), TestCaseError> {
    let Case { config, start, lengths, at, engine, shortcuts, cuts } = case;
    let straight = parts(&mut started(programs, *config, *start, O::default()), lengths, 0);
    let mut tile = started(programs, *config, *start, O::default());
    let mut seen = parts(&mut tile, &lengths[..*at], 0);
    let first = tile.snapshot(None);
    let here = moment(&mut tile);
    let rest = parts(&mut tile, lengths, *at);
    seen.extend(rest.iter().cloned());
    prop_assert_eq!(&seen, &straight, "to take a snapshot changes nothing");
    let last = tile.snapshot(Some(&first));
    let end = moment(&mut tile);
    tile.restore(&first);
    prop_assert_eq!(moment(&mut tile), &*here, "back");
    tile.restore(&first);
    prop_assert_eq!(&parts(&mut tile, lengths, *at), &rest, "and on again");
    tile.restore(&last);
    prop_assert_eq!(moment(&mut tile), end, "forward");

    let other = TileConfig { engine: *engine, shortcuts: *shortcuts, ..*config };
    let mut other = Tile::new(other, (Listener::default(), NullObserver)).expect("threads start");
    other.restore(&first);
    prop_assert_eq!(&parts(&mut other, lengths, *at), &rest, "in another tile");
    let back = other.snapshot(None);
    drop(other);
    tile.restore(&back);
    prop_assert_eq!(moment(&mut tile), moment_of(&last, config), "and from there");

    tile.restore(&first);
    tile.set_shortcuts(Shortcuts::NONE);
    let mut by_hand = Vec::new();
    for (number, &cycles) in (0..).zip(lengths).skip(*at) {
        by_hand.extend(part_by_hand(&mut tile, number, cycles, cuts));
    }
    prop_assert_eq!(&by_hand, &rest, "by hand");
    Ok(())
}

fn moment_of(snapshot: &tile::TileSnapshot, config: &TileConfig) -> String {
    let config = TileConfig { engine: EngineKind::Inline, ..*config };
    let mut tile = Tile::new(config, NullObserver).expect("no threads to start");
    tile.restore(snapshot);
    moment(&mut tile)
}

fn assert_all(programs: &[Vec<u32>], case: &Case) -> Result<(), TestCaseError> {
    assert_goes_on::<NullObserver>(programs, case)?;
    assert_goes_on::<Listener>(programs, case)
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

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn racing_cores(
        steps in prop::collection::vec(programs::program(false), 1..=CoreId::COUNT),
        case in case(),
    ) {
        assert_all(&with_bases(&steps), &case)?;
    }

    #[test]
    fn cores_that_wait_for_each_other(programs in talkers::programs(), case in case()) {
        assert_all(&programs, &case)?;
    }

    #[test]
    fn cores_that_push(programs in pushers::programs(), case in case()) {
        assert_all(&programs, &case)?;
    }

    #[test]
    fn cores_that_wait_by_the_clock(
        programs in prop::collection::vec(waits::program(), 1..=CoreId::COUNT),
        start in waits::start(),
        case in case(),
    ) {
        assert_all(&programs, &Case { start, ..case })?;
    }

    #[test]
    fn random_instructions(programs in guests::random_programs(), case in case()) {
        assert_all(&programs, &case)?;
    }

    #[test]
    fn random_accesses(programs in guests::access_programs(), case in case()) {
        assert_all(&programs, &case)?;
    }

    #[test]
    fn random_tensix_words(programs in guests::push_programs(), case in case()) {
        assert_all(&programs, &case)?;
    }

    #[test]
    fn kernels_over_all_units(
        input in prop::collection::vec(any::<u8>(), 300..1500),
        case in case(),
    ) {
        assert_all(&legal::programs(&input), &case)?;
    }
}

/// Everything a host can tell of a chip whose time it lets pass in such steps.
fn chip_steps(chip: &mut Chip, steps: &[u32], from: usize) -> Vec<String> {
    let mut seen = Vec::new();
    for (number, &clocks) in (0_u32..).zip(steps).skip(from) {
        chip.clock(clocks);
        let mut words = [0; 8];
        chip.tile_read(1 + number % 7, 2, waiters::ROUNDS, &mut words).expect("L1");
        let reports = chip.take_reports();
        seen.push(format!("{:?} {words:?} {reports:?}", chip.now()));
        if number % 3 == 2 {
            seen.push(format!("{:x}", chip.state_hash()));
            chip.tile_write(1 + number % 7, 2, waiters::MAILBOX, &number.to_le_bytes())
                .expect("L1");
        }
    }
    seen.push(format!("{:x}", chip.state_hash()));
    seen
}

fn chip_config() -> impl Strategy<Value = ChipConfig> {
    (1_usize..=3, prop::sample::select(vec![1_u32, 8, 8, 16]), subset()).prop_map(
        |(threads, epoch, shortcuts)| ChipConfig {
            threads,
            shortcuts,
            clock: ClockStep::Cycles(16),
            epoch: EpochLength::new(epoch).expect("the lengths are valid"),
            ..ChipConfig::default()
        },
    )
}

fn assert_chip_goes_on(
    make: impl Fn() -> Chip,
    steps: &[u32],
    at: usize,
    other: ChipConfig,
) -> Result<(), TestCaseError> {
    let straight = chip_steps(&mut make(), steps, 0);
    let mut chip = make();
    for (number, &clocks) in (0_u32..).zip(&steps[..at]) {
        // As `chip_steps` does, but for what changes nothing.
        chip.clock(clocks);
        drop(chip.take_reports());
        if number % 3 == 2 {
            chip.tile_write(1 + number % 7, 2, waiters::MAILBOX, &number.to_le_bytes())
                .expect("L1");
        }
    }
    let first = chip.snapshot(None);
    let rest = chip_steps(&mut chip, steps, at);
    prop_assert!(straight.ends_with(&rest), "{:?}\n{:?}", straight, rest);
    let last = chip.snapshot(Some(&first));
    chip.restore(&first);
    prop_assert_eq!(&chip_steps(&mut chip, steps, at), &rest, "again");
    let config =
        ChipConfig { threads: other.threads, shortcuts: other.shortcuts, ..*chip.config() };
    let mut other = Chip::new(config);
    other.restore(&first);
    prop_assert_eq!(&chip_steps(&mut other, steps, at), &rest, "in another chip");
    other.restore(&last);
    prop_assert_eq!(other.state_hash(), chip.state_hash());
    Ok(())
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn chip_of_tiles_that_wait(
        tiles in 1_usize..9,
        config in chip_config(),
        other in chip_config(),
        steps in prop::collection::vec(prop_oneof![1_u32..8, 1_u32..64, 64_u32..200], 1..12),
        at in any::<prop::sample::Index>(),
    ) {
        let at = at.index(steps.len());
        assert_chip_goes_on(|| waiters::chip(config, tiles), &steps, at, other)?;
    }

    #[test]
    fn chip_of_tiles_that_write_to_each_other(
        pauses in prop::collection::vec(prop_oneof![Just(0_u32), 1_u32..900], 14),
        fetching in prop::collection::vec((10_u32..17, 1_u32..900), 0..4),
        config in chip_config(),
        other in chip_config(),
        steps in prop::collection::vec(prop_oneof![1_u32..8, 1_u32..64, 64_u32..200], 1..12),
        at in any::<prop::sample::Index>(),
    ) {
        let make = || {
            let mut chip = Chip::new(config);
            neighbours::start(&mut chip, 1, |x, _| pauses[x as usize % pauses.len()]);
            fetchers::start(&mut chip, &fetching);
            chip
        };
        let at = at.index(steps.len());
        assert_chip_goes_on(make, &steps, at, other)?;
    }
}
