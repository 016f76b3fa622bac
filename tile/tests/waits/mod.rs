//! Random programs of cores that wait by the wall clock, in all ways software compares times, around
//! the moments at which the clock's words wrap.

#![allow(dead_code, reason = "every test crate uses a part of it")]

use isa::asm::{addi, branch, j, lui, lw, r, store};
use proptest::prelude::*;

/// Data in L1, the stack in local data RAM, and the block with the wall clock: registers that hold the
/// addresses, and those.
pub(crate) const DATA: (u32, u32) = (4, 0x2_0000);
pub(crate) const LOCAL: (u32, u32) = (2, 0xFFB0_0000);
pub(crate) const CLOCK: (u32, u32) = (8, 0xFFB1_2000);
/// The words of the clock there `[isa-wh: TensixTile/DebugTimestamper.md]`.
pub(crate) const CLOCK_L: i32 = 0x1F0;
const CLOCK_1: i32 = 0x1F4;
pub(crate) const CLOCK_H: i32 = 0x1F8;
/// When the wait began, how long it shall be, and when it shall end, both words.
pub(crate) const BEGAN: u32 = 11;
pub(crate) const LENGTH: u32 = 12;
pub(crate) const END: (u32, u32) = (13, 14);
/// What a round reads of the clock, and what it computes.
pub(crate) const SEEN: (u32, u32) = (5, 6);
const RESULT: u32 = 7;

const BEQ: u32 = 0;
const BNE: u32 = 1;
const BLT: u32 = 4;
const BGE: u32 = 5;
const BLTU: u32 = 6;
const BGEU: u32 = 7;
const SLT: u32 = 2;
const SLTU: u32 = 3;
const SUB: u32 = 0x20;

pub(crate) fn word(rd: u32, base: u32, offset: i32) -> u32 {
    lw(rd, base, offset)
}

/// One look at the clock and the decision to go round again, which ends in a branch back by so many
/// words as come before it in the loop.
pub(crate) fn decision(kind: usize, before: i32) -> Vec<u32> {
    let low = word(SEEN.0, CLOCK.0, CLOCK_L);
    let back = |words: i32| -4 * (before + words);
    match kind {
        // now - began < length
        0 => vec![low, r(SUB, 0, RESULT, SEEN.0, BEGAN), branch(BLTU, RESULT, LENGTH, back(2))],
        // now < end, with and without sign
        1 => vec![low, branch(BLTU, SEEN.0, END.0, back(1))],
        2 => vec![low, branch(BLT, SEEN.0, END.0, back(1))],
        // end >= now
        3 => vec![low, branch(BGEU, END.0, SEEN.0, back(1))],
        // end - now > 0
        4 => vec![low, r(SUB, 0, RESULT, END.0, SEEN.0), branch(BLT, 0, RESULT, back(2))],
        5 => vec![low, r(SUB, 0, RESULT, END.0, SEEN.0), branch(BGE, RESULT, 0, back(2))],
        // both words
        6 => vec![
            low,
            word(SEEN.1, CLOCK.0, CLOCK_H),
            branch(BLTU, SEEN.1, END.1, back(2)),
            branch(BNE, SEEN.1, END.1, 8),
            branch(BLTU, SEEN.0, END.0, back(4)),
        ],
        // the same without branches but the last
        7 => vec![
            low,
            word(SEEN.1, CLOCK.0, CLOCK_1),
            r(0, SLTU, 9, SEEN.1, END.1),
            r(SUB, 0, 10, SEEN.1, END.1),
            r(0, SLTU, RESULT, SEEN.0, END.0),
            branch(BNE, 9, 0, back(5)),
            branch(BNE, 10, 0, 8),
            branch(BNE, RESULT, 0, back(7)),
        ],
        // two looks, compared with each other and with the end
        8 => vec![
            low,
            word(SEEN.1, CLOCK.0, CLOCK_L),
            r(0, SLT, 9, SEEN.0, SEEN.1),
            branch(BLTU, SEEN.1, END.0, back(3)),
        ],
        // the high word first: what is latched is from the round before
        9 => vec![
            word(SEEN.1, CLOCK.0, CLOCK_H),
            low,
            branch(BNE, SEEN.1, END.1, 8),
            branch(BLTU, SEEN.0, END.0, back(3)),
        ],
        // equal: may never come true
        10 => vec![low, branch(BNE, SEEN.0, END.0, back(1))],
        // until the word in L1 changes, or the time is up
        _ => vec![
            low,
            word(RESULT, DATA.0, 0),
            branch(BNE, RESULT, 10, 12),
            r(SUB, 0, 9, SEEN.0, BEGAN),
            branch(BLTU, 9, LENGTH, back(4)),
            addi(10, RESULT, 0),
        ],
    }
}

/// What a loop may do besides: most of it changes nothing from round to round.
fn besides() -> impl Strategy<Value = u32> {
    let registers = prop::sample::select(vec![SEEN.0, SEEN.1, RESULT, 9, BEGAN, LENGTH, END.0, 15]);
    let temporary = prop::sample::select(vec![9_u32, 15, 16]);
    prop_oneof![
        4 => (temporary.clone(), -8_i32..8).prop_map(|(rd, value)| addi(rd, 0, value)),
        3 => (temporary.clone(), registers.clone(), -8_i32..8).prop_map(|(d, a, v)| addi(d, a, v)),
        3 => (temporary.clone(), registers.clone(), registers.clone(),
              prop::sample::select(vec![(0, 0), (SUB, 0), (0, SLT), (0, SLTU), (0, 4), (0, 7)]))
            .prop_map(|(rd, a, b, (high, low))| r(high, low, rd, a, b)),
        1 => temporary.clone().prop_map(|rd| word(rd, DATA.0, 4)),
        1 => temporary.clone().prop_map(|rd| word(rd, LOCAL.0, 4)),
        1 => registers.clone().prop_map(|value| store(2, value, LOCAL.0, 4)),
        1 => registers.clone().prop_map(|value| store(2, value, DATA.0, 8)),
        2 => (registers.clone(), registers, 0_usize..6).prop_map(|(a, b, kind)| {
            branch([BEQ, BNE, BLT, BGE, BLTU, BGEU][kind], a, b, 8)
        }),
        1 => Just(addi(17, 17, 1)),
    ]
}

/// A wait: how it is decided, what else a round does, how long it is.
fn wait() -> impl Strategy<Value = Vec<u32>> {
    (0_usize..12, prop::collection::vec(besides(), 0..4), 0_i32..1500).prop_map(
        |(kind, besides, cycles)| {
            let mut words = vec![
                word(BEGAN, CLOCK.0, CLOCK_L),
                word(END.1, CLOCK.0, CLOCK_H),
                addi(LENGTH, 0, cycles),
                r(0, 0, END.0, BEGAN, LENGTH),
                r(0, SLTU, RESULT, END.0, BEGAN),
                r(0, 0, END.1, END.1, RESULT),
            ];
            words.extend(&besides);
            words.extend(decision(kind, besides.len() as i32));
            words
        },
    )
}

/// What a core does between its waits.
fn pause() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![
        2 => (0_usize..9).prop_map(|count| vec![addi(18, 18, 1); count]),
        1 => (0_i32..4).prop_map(|slot| vec![store(2, SEEN.0, DATA.0, 4 * slot)]),
        1 => (1_i32..60).prop_map(|rounds| {
            vec![addi(18, 0, rounds), addi(18, 18, -1), branch(BNE, 18, 0, -4)]
        }),
    ]
}

/// A program that waits and does something else, over and over.
pub(crate) fn program() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec((wait(), pause()), 1..3).prop_map(|parts| {
        let mut words = vec![lui(DATA.0, DATA.1), lui(LOCAL.0, LOCAL.1), lui(CLOCK.0, CLOCK.1)];
        let body: Vec<u32> =
            parts.into_iter().flat_map(|(wait, pause)| [wait, pause]).flatten().collect();
        let back = -4 * body.len() as i32;
        words.extend(body);
        words.push(j(back));
        words
    })
}

/// What a loop with a wait within has seen of the word that it looks at.
const KNOWN: u32 = 19;

/// A program that looks at a word from time to time, waits in between, and tells others when it has changed: with
/// what a round of the loop does before its wait.
pub(crate) fn looks(before: &[u32], wait: &[u32]) -> Vec<u32> {
    let mut words = vec![lui(DATA.0, DATA.1), lui(LOCAL.0, LOCAL.1), lui(CLOCK.0, CLOCK.1)];
    let body = [before, wait, &[word(16, DATA.0, 0)]].concat();
    let back = -4 * body.len() as i32;
    words.extend(body);
    words.extend([branch(BEQ, 16, KNOWN, back), addi(KNOWN, 16, 0), store(2, KNOWN, DATA.0, 8)]);
    words.push(j(back - 12));
    words
}

/// Such programs, which may do more than that in a round.
pub(crate) fn nested() -> impl Strategy<Value = Vec<u32>> {
    let before = prop_oneof![
        3 => Just(Vec::new()),
        2 => prop::collection::vec(besides(), 1..4),
        // A wait before the wait.
        1 => wait(),
        1 => (1_i32..60).prop_map(|rounds| {
            vec![addi(18, 0, rounds), addi(18, 18, -1), branch(BNE, 18, 0, -4)]
        }),
    ];
    (before, wait()).prop_map(|(before, wait)| looks(&before, &wait))
}

/// When the cores begin: not long before a word of the clock wraps, or changes its sign.
pub(crate) fn start() -> impl Strategy<Value = u64> {
    let moments = prop::sample::select(vec![0_u64, 1 << 31, 1 << 32, 3 << 32]);
    (moments, 0_u64..300).prop_map(|(moment, before)| moment.saturating_sub(before * 8))
}
