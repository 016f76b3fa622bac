//! Nothing a guest or a host does ends in a panic, and whatever it does, it does the same on
//! every schedule. Random instruction words, random accesses to every region of the address map,
//! random host accesses, random Tensix words; from all five cores.

mod common;
#[path = "common/guests.rs"]
mod guests;
#[path = "common/legal.rs"]
mod legal;

use common::{ALL_HELD, RESET_BITS, RESET_PCS, SOFT_RESET_0, config, on};
use guests::{access_programs, any_address, push_programs, random_programs};
use observe::EventHash;
use proptest::prelude::*;
use sim_core::engine::EngineKind;
use sim_core::{Cycle, NullObserver, Observer};
use tensix::TimingModel;
use tile::{Stop, Tile, TileConfig};

/// Cycles of one run. Local RAM takes up to 2048 to be cleared after a reset
/// `[isa-bh: TensixTile/BabyRISCV/README.md]`.
const CYCLES: u64 = 4096;
/// A mistake takes one agent out; the others go on. Nothing here makes more than this.
const MOST_STOPS: usize = 200;

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig::with_cases(count)
}

/// A tile whose cores execute these words.
fn tile<O: Observer>(programs: &[Vec<u32>], config: TileConfig, observer: O) -> Tile<O> {
    let mut tile = Tile::new(config, observer).expect("the host can start threads");
    let mut held = ALL_HELD;
    for (core, words) in programs.iter().enumerate() {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        tile.host_write(RESET_PCS[core], &bytes).expect("L1 is mapped");
        held &= !RESET_BITS[core];
    }
    tile.host_write_word(SOFT_RESET_0, held).expect("the register is mapped");
    tile
}

/// Runs to `limit`, past up to so many mistakes; each in words, and the cycle it ended at.
fn finish<O: Observer>(tile: &mut Tile<O>, limit: u64, stops: usize) -> Vec<String> {
    let mut ends = Vec::new();
    while ends.len() < stops {
        match tile.run(Cycle(limit), None) {
            Stop::Limit => break,
            // Without parking a spinning core runs on to the limit instead.
            Stop::Quiescent(_) => {
                tile.pass_time(Cycle(limit));
                break;
            }
            Stop::Fault(fault) => ends.push(fault.to_string()),
            stop @ (Stop::Met | Stop::Halted(_)) => ends.push(format!("{stop:?}")),
        }
    }
    ends
}

/// Every schedule ends in the same words, state and events, up to the first mistake.
fn assert_schedules_agree(programs: &[Vec<u32>], epoch: u32) {
    assert_agree(programs, |engine, parking| config(engine, parking, epoch));
}

/// The same for tiles with something else chosen as well.
fn assert_agree(programs: &[Vec<u32>], config: impl Fn(EngineKind, bool) -> TileConfig) {
    let run = |config: TileConfig| {
        let mut tile = tile(programs, config, EventHash::new());
        let ends = finish(&mut tile, CYCLES, 1);
        (ends, tile.now(), tile.state_hash(), tile.observer().hash(), tile.observer().count())
    };
    let plain = run(config(EngineKind::Inline, false));
    assert_eq!(run(config(EngineKind::Inline, true)), plain, "parking");
    assert_eq!(run(config(EngineKind::Threads, true)), plain, "threads");
    // A tile that nobody observes goes through fewer commits.
    let mut unobserved = tile(programs, config(EngineKind::Inline, true), NullObserver);
    let ends = finish(&mut unobserved, CYCLES, 1);
    let (ends_observed, now, state, ..) = plain;
    assert_eq!((ends, unobserved.now(), unobserved.state_hash()), (ends_observed, now, state));
}

/// Runs, hashes, and goes on after whatever stopped the run: nothing may panic.
fn assert_survives(programs: &[Vec<u32>]) {
    let mut tile = tile(programs, on(EngineKind::Inline), NullObserver);
    finish(&mut tile, CYCLES, MOST_STOPS);
    let _ = (tile.state_hash(), tile.instructions(), tile.waits());
}

fn epochs() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1_u32, 4, 8])
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn random_programs_end_with_a_stop(programs in random_programs()) {
        assert_survives(&programs);
    }

    #[test]
    fn random_accesses_end_with_a_stop(programs in access_programs()) {
        assert_survives(&programs);
    }

    #[test]
    fn random_tensix_words_end_with_a_stop(programs in push_programs()) {
        assert_survives(&programs);
    }

    #[test]
    fn random_host_accesses_are_done_or_refused(
        accesses in prop::collection::vec(
            (any_address(), prop::collection::vec(any::<u8>(), 0..20), any::<bool>()),
            1..60,
        ),
        programs in access_programs(),
    ) {
        let mut tile = tile(&programs, on(EngineKind::Inline), NullObserver);
        for (step, (address, mut bytes, write)) in (1..).zip(accesses) {
            let address = if bytes.len().is_multiple_of(4) { address & !3 } else { address };
            let _ = if write {
                tile.host_write(address, &bytes)
            } else {
                tile.host_read(address, &mut bytes)
            };
            finish(&mut tile, 64 * step, MOST_STOPS);
        }
        let _ = tile.state_hash();
    }
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn random_programs_are_the_same_on_every_schedule(
        programs in random_programs(),
        epoch in epochs(),
    ) {
        assert_schedules_agree(&programs, epoch);
    }

    #[test]
    fn random_accesses_are_the_same_on_every_schedule(
        programs in access_programs(),
        epoch in epochs(),
    ) {
        assert_schedules_agree(&programs, epoch);
    }

    #[test]
    fn random_tensix_words_are_the_same_on_every_schedule(
        programs in push_programs(),
        epoch in epochs(),
    ) {
        assert_schedules_agree(&programs, epoch);
    }

    #[test]
    fn random_kernels_over_all_units_are_the_same_on_every_schedule(
        input in prop::collection::vec(any::<u8>(), 300..1500),
        epoch in epochs(),
        timing in prop::sample::select(vec![TimingModel::Unit, TimingModel::Documented]),
    ) {
        let warned = legal::every_check();
        assert_agree(&legal::programs(&input), |engine, parking| {
            TileConfig { warned, timing, ..config(engine, parking, epoch) }
        });
    }
}

/// The generator reaches what it is for: of a hundred kernels, each unit executes in most.
#[test]
fn random_kernels_reach_every_unit() {
    use sim_core::observer::{Event, Stamp};

    #[derive(Default)]
    struct Units([u32; 10]);
    impl Observer for Units {
        fn event(&mut self, _: Stamp, event: &Event) {
            if let Event::Issue { word, .. } = event
                && let Some(opcode) = isa::op::Opcode::from_byte((word >> 24) as u8)
            {
                self.0[opcode.unit() as usize] += 1;
            }
        }
    }
    let mut reached = [0; 10];
    let mut state = 1_u64;
    for _ in 0..100 {
        let input: Vec<u8> = (0..1200)
            .map(|_| {
                // Knuth's linear congruential generator.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        let config = TileConfig { warned: legal::every_check(), ..on(EngineKind::Inline) };
        let mut tile = tile(&legal::programs(&input), config, Units::default());
        finish(&mut tile, CYCLES, MOST_STOPS);
        for (total, count) in reached.iter_mut().zip(tile.observer().0) {
            *total += u32::from(count > 0);
        }
    }
    let frontend = isa::op::Unit::Frontend as usize;
    let few = reached.iter().enumerate().find(|&(unit, &count)| unit != frontend && count < 80);
    assert_eq!(few, None, "{reached:?}");
}
