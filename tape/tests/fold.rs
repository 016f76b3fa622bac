//! What repeats costs next to nothing, for as long as it repeats.

mod common;

use std::fs;

use common::{Owned, assert_same, canonical, create, read};
use proptest::prelude::*;
use tape::{Call, TapeWriter};

const WINDOW: u64 = 0x1_1FC0_0000;
const WORD: u64 = 0x1_2000_0040;

/// Numbers that follow no rule.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    }
}

fn poll(writer: &mut TapeWriter) {
    writer.call(&Call::MemRead { paddr: WORD, bytes: &[0, 0, 0, 0x80] });
    writer.call(&Call::Clock { clocks: 1 });
}

/// A host that looks at each tile in turn through one window.
fn poll_tiles(writer: &mut TapeWriter, tiles: u64) {
    for tile in 0..tiles {
        for (word, value) in [(0, tile), (4, tile / 14)] {
            let bytes = (value as u32).to_le_bytes();
            writer.call(&Call::MemWrite { paddr: WINDOW + word, bytes: &bytes });
        }
        poll(writer);
    }
}

/// Bytes of a tape to which `body` adds `rounds` times.
fn size(rounds: u64, mut body: impl FnMut(&mut TapeWriter, u64)) -> u64 {
    let folder = tempfile::tempdir().expect("there is room");
    let mut writer = create(&folder.path().join("a.tape"));
    (0..rounds).for_each(|round| body(&mut writer, round));
    writer.flush();
    writer.written()
}

#[test]
fn million_polls_of_one_word_cost_some_bytes() {
    assert!(size(1_000_000, |writer, _| poll(writer)) < size(1, |writer, _| poll(writer)) + 40);
}

#[test]
fn thousand_rounds_of_140_tiles_cost_some_bytes() {
    let once = size(1, |writer, _| poll_tiles(writer, 140));
    assert!(size(1000, |writer, _| poll_tiles(writer, 140)) < once + 40);
}

/// Ten minutes in which nothing happens any more, flushed four times a second: less than 40 bytes a
/// flush, and less than a megabyte more than one second. Whatever the host does there.
#[test]
fn ten_minutes_of_a_hang_are_less_than_a_megabyte_more_than_a_second() {
    type Round = fn(&mut TapeWriter, u64);
    let one_word: Round = |writer, _| (0..500).for_each(|_| poll(writer));
    let many_tiles: Round = |writer, _| (0..3).for_each(|_| poll_tiles(writer, 140));
    let at_rest: Round = |writer, round| {
        writer.call(&Call::Rest { cycles: (10_000_000 + numbers(round)(1_000_000)) * 64 });
    };
    let polls_at_rest: Round = |writer, round| {
        poll(writer);
        writer.call(&Call::Rest { cycles: (10_000_000 + numbers(round)(1_000_000)) * 64 });
    };
    // Where a flush falls has nothing to do with where a round ends.
    let torn: Round = |writer, round| {
        let tile = round % 140;
        poll_tiles(writer, 140);
        poll_tiles(writer, tile);
        writer.flush();
        (tile..140).for_each(|tile| {
            for (word, value) in [(0, tile), (4, tile / 14)] {
                let bytes = (value as u32).to_le_bytes();
                writer.call(&Call::MemWrite { paddr: WINDOW + word, bytes: &bytes });
            }
            poll(writer);
        });
    };
    for (name, body, flushes) in [
        ("one word", one_word, 1),
        ("many tiles", many_tiles, 1),
        ("at rest", at_rest, 1),
        ("polls at rest", polls_at_rest, 1),
        ("torn", torn, 2),
    ] {
        let seconds = |seconds: u64| {
            size(seconds * 4 / flushes, |writer, round| {
                body(writer, round);
                writer.flush();
            })
        };
        let (short, long) = (seconds(2), seconds(600));
        let flushes = (600 - 2) * 4;
        assert!(long - short < flushes * 40, "{name}: {} a flush", (long - short) / flushes);
        assert!(long - short < 1 << 20, "{name}: {}", long - short);
    }
}

/// The number of cycles between two polls follows no rule; it costs what a number costs, and what is
/// around it nothing.
#[test]
fn rests_that_vary_cost_their_differences() {
    const ROUNDS: u64 = 100_000;
    let mut number = numbers(1);
    let varying = size(ROUNDS, |writer, _| {
        poll(writer);
        writer.call(&Call::Rest { cycles: (5000 + number(60)) * 64 });
    });
    assert!(varying < ROUNDS * 2 + 10_000, "{varying}");
    let periodic = size(ROUNDS, |writer, round| {
        poll(writer);
        writer.call(&Call::Rest { cycles: (5000 + round % 7 * round % 5) * 64 });
    });
    assert!(periodic < 1000, "{periodic}");
}

/// One word of many changes now and then: what is around it stays folded.
#[test]
fn change_within_a_pattern_costs_only_itself() {
    let plain = size(1000, |writer, _| poll_tiles(writer, 140));
    let changing = size(1000, |writer, round| {
        poll_tiles(writer, 70);
        let bytes = (round as u32).to_le_bytes();
        writer.call(&Call::MemRead { paddr: WORD + 4, bytes: &bytes });
        poll_tiles(writer, 140);
    });
    assert!(changing < plain + 1000 * 20, "{plain}, {changing}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    /// Whatever the period consists of: few different calls in any order, runs of one, runs of runs.
    #[test]
    fn any_period_folds(
        runs in prop::collection::vec((0_u64..4, 1_usize..30), 1..40),
        again in 1_usize..4,
    ) {
        let mut period = Vec::new();
        for _ in 0..again {
            for &(word, times) in &runs {
                (0..times).for_each(|_| period.push(WORD + word * 4));
            }
        }
        period.push(WORD);
        let play = |rounds: usize| {
            let mut calls = period.iter().cycle().take(rounds * period.len());
            size(1, move |writer, _| {
                calls.by_ref().for_each(|&paddr| writer.call(&Call::MemRead { paddr, bytes: &[1; 4] }));
            })
        };
        // Some rounds to find out, then nothing: rounds enough for two deep searches.
        let found = 3 + 12_000 / period.len();
        let (some, many) = (play(found), play(found * 10));
        prop_assert!(many < some + 16, "period of {}: {some}, {many}", period.len());
    }
}

#[test]
fn what_is_folded_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape");
    let mut number = numbers(3);
    let mut calls = Vec::new();
    for round in 0..4000_u64 {
        for tile in 0..number(20) {
            let bytes = if tile == 7 { round / 50 } else { tile }.to_le_bytes();
            calls.push(Owned::of(&Call::MemWrite { paddr: WINDOW, bytes: &bytes }));
            calls.push(Owned::of(&Call::MemRead { paddr: WORD, bytes: &bytes[..4] }));
            calls.push(Owned::of(&Call::Rest { cycles: number(3) * 64 }));
        }
        // More different calls than a dictionary holds, now and then.
        if round % 1000 == 999 {
            let many = (0..9000_u32).map(|clocks| Owned::of(&Call::Clock { clocks }));
            calls.extend(many);
        }
    }
    let mut writer = create(&path);
    for (at, call) in calls.iter().enumerate() {
        writer.call(&call.call());
        if at % 7777 == 0 {
            writer.flush();
        }
    }
    drop(writer);
    assert_same(&read(&path), &canonical(&calls)).unwrap();
    assert!(fs::metadata(&path).unwrap().len() < calls.len() as u64 * 4);
}
