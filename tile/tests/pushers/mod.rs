//! Random programs of cores that push instructions: recordings, playbacks, expansions and waits, with
//! some arithmetic and stores between.

use isa::asm::{addi, bne, j, li, lui, lw, store};
use isa::encode;
use isa::rv32::ttinsn_code;
use proptest::prelude::*;

/// Registers with addresses: data in L1, the core's own instruction FIFO.
const DATA: (u32, u32) = (4, 0x2_0000);
const PUSHES: (u32, u32) = (5, 0xFFE4_0000);
/// TTSync: at 4 for all of the core's thread, at 8 for its MOPs. Mailboxes: every 4 KiB another core's.
const SYNC: (u32, u32) = (9, 0xFFE8_0000);
const MAILBOXES: (u32, u32) = (10, 0xFFEC_0000);

/// Words that issue, wait for others, write L1 or GPRs, or keep a unit busy.
fn word() -> impl Strategy<Value = u32> {
    let named = prop::sample::select(vec![
        encode::dmanop(),
        encode::sempost(2),
        encode::semget(2),
        encode::sfpmad(0, 4, 1, 1, 1),
        encode::sfpload(2, 0, 0, 1),
        encode::sfpstore(6, 0, 0, 1),
        encode::setdmareg(7, 0, 5, 0),
        encode::adddmareg(1, 2, 3, 0),
        encode::setc16(1, 2),
    ]);
    let waits = prop_oneof![
        // STALLWAIT for anything, SEMWAIT for semaphores 0 to 7, ATINCGET and STOREREG.
        any::<u32>().prop_map(|bits| 0xA2 << 24 | bits & 0xFF_FFFF),
        any::<u32>().prop_map(|bits| 0xA6 << 24 | bits & 0xFF_8013 | 1),
        any::<u32>().prop_map(|bits| 0x61 << 24 | bits & 0x00_003F),
        any::<u32>().prop_map(|bits| 0x67 << 24 | bits & 0x00_FFFF),
    ];
    prop_oneof![12 => named, 8 => transfer(), 2 => vector_setting(), 1 => waits]
}

/// SFPLOADs and SFPSTOREs of all modes, registers, columns and address modifiers; few rows, so that
/// they meet.
fn transfer() -> impl Strategy<Value = u32> {
    (any::<bool>(), 0_u32..16, 0_u32..12, 0_u32..8, 0_u32..64).prop_map(
        |(store, mode, register, modifier, address)| {
            let make = if store { encode::sfpstore } else { encode::sfpload };
            make(address, modifier, mode, register)
        },
    )
}

/// What decides about lanes and addresses: predication, lane settings, address modifiers (thread
/// configuration 28 to 35 for Dst [hdr: cfg_defines.h]), window counters.
fn vector_setting() -> impl Strategy<Value = u32> {
    prop_oneof![
        (0_u32..16, 0_u32..8).prop_map(|(mode, register)| encode::sfpsetcc(mode, 0, register, 1)),
        (0_u32..16, 0_u32..4).prop_map(|(mode, imm)| encode::sfpencc(mode, 0, 0, imm)),
        any::<u32>().prop_map(|bits| encode::sfploadi(bits & 0xFFFF, 2, 0)),
        Just(encode::sfpconfig(0, 15, 0)),
        (28_u32..36, any::<u32>()).prop_map(|(word, bits)| encode::setc16(bits & 0x1F0F, word)),
        (0_u32..16).prop_map(|step| encode::incrwc(0, 0, step, 0)),
    ]
}

/// What a TRISC pushes: recordings, playbacks, expansions and other words.
fn push() -> impl Strategy<Value = u32> {
    prop_oneof![
        5 => (0_u32..32, 0_u32..33).prop_map(|(index, count)| encode::replay(0, 0, count, index)),
        1 => (0_u32..32, 1_u32..9).prop_map(|(index, count)| encode::replay(1, 1, count, index)),
        1 => (0_u32..127).prop_map(|count| 0x01 << 24 | 1 << 23 | count << 16),
        2 => word(),
    ]
}

/// One step of a program, as code words.
fn step() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![
        6 => push().prop_map(|word| vec![ttinsn_code(word).unwrap_or(addi(7, 7, 1))]),
        // By a store, so that BRISC pushes as well.
        1 => push().prop_map(|word| {
            let [high, low] = li(6, word);
            vec![high, low, store(2, 6, PUSHES.0, 0)]
        }),
        2 => (0_usize..12).prop_map(|count| vec![addi(7, 7, 1); count]),
        1 => (0_i32..8).prop_map(|slot| vec![store(2, 7, DATA.0, 4 * slot)]),
        1 => (1_i32..40)
            .prop_map(|rounds| vec![addi(8, 0, rounds), addi(8, 8, -1), bne(8, 0, -4)]),
    ]
}

/// A step that waits: for what the core's thread has in flight, or for a word of another TRISC; or that gives one.
fn wait() -> impl Strategy<Value = Vec<u32>> {
    let mailbox = (1_u32..4).prop_map(|core| lui(12, MAILBOXES.1 + 0x1000 * core));
    prop_oneof![
        3 => Just(vec![lw(11, SYNC.0, 4)]),
        1 => Just(vec![lw(11, SYNC.0, 8)]),
        2 => mailbox.clone().prop_map(|base| vec![base, lw(11, 12, 0)]),
        4 => mailbox.prop_map(|base| vec![base, store(2, 7, 12, 0)]),
    ]
}

/// A program that fills the replay buffer and then repeats its steps for ever.
fn program() -> impl Strategy<Value = Vec<u32>> {
    program_of(step())
}

fn program_of(step: impl Strategy<Value = Vec<u32>>) -> impl Strategy<Value = Vec<u32>> {
    let buffer = prop::collection::vec(word(), 32);
    (buffer, prop::collection::vec(step, 1..12)).prop_map(|(buffer, steps)| {
        let mut words = vec![lui(DATA.0, DATA.1), lui(PUSHES.0, PUSHES.1), lui(SYNC.0, SYNC.1)];
        let recorded = [encode::replay(1, 0, 0, 0)].into_iter().chain(buffer);
        words.extend(recorded.filter_map(ttinsn_code));
        let body: Vec<u32> = steps.concat();
        let back = -4 * body.len() as i32;
        words.extend(body);
        words.push(j(back));
        words
    })
}

/// The programs of some cores; the others wait in a loop, or are in reset.
pub(crate) fn programs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let idle = prop_oneof![Just(Vec::new()), Just(vec![j(0)])];
    let trisc = prop_oneof![1 => program(), 2 => idle.clone()];
    let brisc = prop_oneof![1 => program(), 5 => idle.clone()];
    (brisc, program(), trisc.clone(), trisc, idle)
        .prop_map(|(b, t0, t1, t2, nc)| vec![b, t0, t1, t2, nc])
}

/// The same, and streams of words that need no queue, beside cores that wait for answers.
#[allow(dead_code, reason = "not all that have this module try it")]
pub(crate) fn programs_that_wait() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let stream = prop::collection::vec(word(), 1..40)
        .prop_map(|words| words.into_iter().filter_map(ttinsn_code).collect());
    let trisc = program_of(prop_oneof![4 => step(), 3 => stream, 2 => wait()]).boxed();
    let some = prop_oneof![3 => trisc.clone(), 1 => Just(Vec::new())];
    let idle = prop_oneof![Just(Vec::new()), Just(vec![j(0)])];
    (idle.clone(), trisc, some.clone(), some, idle)
        .prop_map(|(b, t0, t1, t2, nc)| vec![b, t0, t1, t2, nc])
}
