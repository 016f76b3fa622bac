//! Cores that wait by the wall clock are parked until their wait may end (`riscv/src/poll/clock.rs`).
//! Whether they are must not show: random waits, in all ways software compares times, alone and
//! beside each other, around the moments at which the clock's words wrap.

mod bare;
mod waits;

use isa::asm::{addi, j, lui, store};
use proptest::prelude::*;
use sim_core::{CoreId, Cycle, EpochLength, NullObserver, Observer, Shortcut, Shortcuts};
use tile::{Stop, Tile, TileConfig};
use waits::{
    BEGAN, CLOCK, CLOCK_H, CLOCK_L, DATA, END, LENGTH, LOCAL, SEEN, decision, looks, nested,
    program, start, word,
};

fn tile<O: Observer>(
    programs: &[Vec<u32>],
    start: u64,
    config: TileConfig,
    observer: O,
) -> Tile<O> {
    let mut tile = Tile::new(config, observer).expect("no threads to start");
    tile.pass_time(Cycle(start));
    bare::start(&mut tile, programs);
    tile
}

/// State and instructions after each stretch of that many cycles; the host writes in between.
fn outcome<O: Observer>(mut tile: Tile<O>, stretches: &[u64]) -> Vec<(u64, [u64; CoreId::COUNT])> {
    let mut seen = Vec::new();
    for (value, &cycles) in (1..).zip(stretches) {
        let limit = tile.now() + cycles;
        loop {
            match tile.run(limit, None) {
                Stop::Limit => break,
                Stop::Quiescent(_) => tile.pass_time(limit),
                stop => panic!("a test program went wrong: {stop:?}"),
            }
        }
        seen.push((tile.state_hash(), tile.instructions()));
        tile.host_write_word(DATA.1, value).expect("L1 is mapped");
    }
    seen
}

fn config(parking: bool, ahead: bool, epoch: u32) -> TileConfig {
    let epoch = EpochLength::new(epoch).expect("the tests use valid lengths");
    let shortcuts = Shortcuts::ALL.set(Shortcut::Parking, parking).set(Shortcut::Trials, ahead);
    TileConfig { shortcuts, epoch, ..TileConfig::default() }
}

/// Told of everything, remembers nothing: what matters is that the tile has to tell.
struct Attentive;

impl Observer for Attentive {
    fn event(&mut self, _: sim_core::Stamp, _: &sim_core::Event) {}
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn waits_by_the_clock_parked_or_not_end_in_the_same_state(
        programs in prop::collection::vec(program(), 1..=3),
        start in start(),
        stretches in prop::collection::vec(1_u64..2000, 1..4),
        epoch in prop::sample::select(vec![1_u32, 4, 8, 16]),
    ) {
        let after = |config| outcome(tile(&programs, start, config, NullObserver), &stretches);
        let spinning = after(config(false, false, epoch));
        prop_assert_eq!(&after(config(true, false, epoch)), &spinning);
        prop_assert_eq!(&after(config(true, true, epoch)), &spinning);
        let observed = tile(&programs, start, config(true, true, epoch), Attentive);
        prop_assert_eq!(&outcome(observed, &stretches), &spinning);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn loops_with_waits_within_end_in_the_same_state(
        programs in prop::collection::vec(nested(), 1..=3),
        start in start(),
        stretches in prop::collection::vec(1_u64..9000, 1..6),
        epoch in prop::sample::select(vec![1_u32, 4, 8, 16]),
    ) {
        let after = |config| outcome(tile(&programs, start, config, NullObserver), &stretches);
        let spinning = after(config(false, false, epoch));
        prop_assert_eq!(&after(config(true, true, epoch)), &spinning);
        let mut single = config(true, false, epoch);
        single.shortcuts = single.shortcuts.set(Shortcut::ClockNests, false);
        prop_assert_eq!(&after(single), &spinning);
    }
}

/// How often a core is parked anew in so many epochs in which it looks at a word from time to time.
fn parkings(before: &[u32], kind: usize) -> usize {
    let wait = [
        vec![
            word(BEGAN, CLOCK.0, CLOCK_L),
            word(END.1, CLOCK.0, CLOCK_H),
            addi(LENGTH, 0, 1000),
            addi(END.0, BEGAN, 1000),
        ],
        decision(kind, 0),
    ];
    let mut tile = tile(&[looks(before, &wait.concat())], 0, config(true, true, 8), NullObserver);
    let (mut times, mut last) = (0, None);
    for epoch in 1..=2000 {
        assert!(matches!(tile.run(Cycle(8 * epoch), None), Stop::Limit));
        if let Some(spin) = tile.core(CoreId::Brisc).spin() {
            times += usize::from(last.replace(spin.parked_at()) != Some(spin.parked_at()));
        }
    }
    times
}

#[test]
fn loop_that_looks_at_a_word_from_time_to_time_is_parked_over_its_waits() {
    for kind in 0..9 {
        let times = parkings(&[], kind);
        assert!(times <= 3, "decision {kind}: parked {times} times");
    }
    // A store is an event, and a count is another one in each round.
    for more in [store(2, 0, DATA.0, 12), addi(17, 17, 1)] {
        assert!(parkings(&[more], 0) > 10, "{more:#x}");
    }
}

/// For how many of the epochs of a wait the core is parked with an alarm.
fn parked_epochs(words: Vec<u32>) -> usize {
    let mut program = vec![lui(DATA.0, DATA.1), lui(LOCAL.0, LOCAL.1), lui(CLOCK.0, CLOCK.1)];
    program.extend([word(BEGAN, CLOCK.0, CLOCK_L), word(END.1, CLOCK.0, CLOCK_H)]);
    program.extend([addi(LENGTH, 0, 1000), addi(END.0, BEGAN, 1000)]);
    program.extend(words);
    program.push(j(0));
    let mut tile = tile(&[program], 0, config(true, true, 8), NullObserver);
    let mut parked = 0;
    for epoch in 1..=125 {
        assert!(matches!(tile.run(Cycle(8 * epoch), None), Stop::Limit));
        parked += usize::from(tile.core(CoreId::Brisc).spin().is_some_and(|spin| {
            assert!(tile.waits().is_empty(), "it waits for nobody");
            spin.leaves_at().is_some_and(|leaves| leaves >= tile.now())
        }));
    }
    parked
}

#[test]
fn every_common_way_to_wait_is_parked_nearly_to_its_end() {
    for kind in (0..9).chain([11]) {
        let parked = parked_epochs(decision(kind, 0));
        assert!(parked > 110, "decision {kind}: parked in {parked} of 125 epochs");
    }
}

#[test]
fn loop_that_does_more_than_wait_is_not_parked() {
    let more = [
        // An event in each round; a word that shows the last look; a count of the looks.
        store(2, 0, DATA.0, 8),
        store(2, SEEN.0, LOCAL.0, 4),
        addi(17, 17, 1),
    ];
    for word in more {
        for kind in 0..9 {
            let words = [vec![word], decision(kind, 1)].concat();
            assert_eq!(parked_epochs(words), 0, "decision {kind} with {word:#x}");
        }
    }
}
