//! Cores that poll registers of the NIU or the overlay sleep while the coprocessor works
//! (`tile/src/commit.rs`, `run_device_watchers`), until something changes what they look at: a register store of the
//! coprocessor, a store of another core. Whether they do must not show.

mod bare;

use bare::tile;
use isa::asm::{addi, beq, bne, j, lui, lw, store};
use isa::encode;
use isa::rv32::ttinsn_code;
use memory_map::reg::{noc_niu, overlay};
use proptest::prelude::*;
use sim_core::{CoreId, Cycle, Shortcut, Shortcuts};
use tile::Stop;

/// Registers with addresses: data in L1, a stream of the overlay, NIU 0.
const DATA: (u32, u32) = (4, 0x2_0000);
const STREAM: (u32, u32) = (5, 0xFFB4_8000);
const NIU: (u32, u32) = (6, 0xFFB2_0000);
/// What a core has seen last, and how often it has seen something new.
const SEEN: u32 = 9;
const TIMES: u32 = 10;

/// Registers of the stream that any value may be written to; the last one nobody looks at.
const COUNTERS: [u32; 3] = [
    overlay::REMOTE_DEST_BUF_START_OFFSET / 4,
    overlay::REMOTE_DEST_BUF_SIZE_OFFSET / 4,
    overlay::BUF_START_OFFSET / 4,
];
/// NIU counters that stand still as no requests are made.
const STILL: [u32; 2] =
    [noc_niu::NIU_MST_ATOMIC_RESP_RECEIVED_OFFSET, noc_niu::NIU_MST_RD_RESP_RECEIVED_OFFSET];

/// STOREREG of a GPR to a register of the stream: registers are counted in words from 0xFFB0_0000
/// `[isa-wh: TensixCoprocessor/STOREREG.md]`.
fn store_register(gpr: u32, register: u32) -> u32 {
    let word = (STREAM.1 - 0xFFB0_0000) / 4 + register;
    encode::storereg(word, gpr)
}

fn setup() -> Vec<u32> {
    let far = |(register, address)| lui(register, address);
    vec![far(DATA), far(STREAM), far(NIU)]
}

/// Polls some registers, one after the other in each round, and writes down what the first shows when it is new.
fn watcher(counter: u32, others: &[u32]) -> Vec<u32> {
    let mut words = setup();
    let round: Vec<u32> =
        others.iter().copied().chain([lw(7, STREAM.0, 4 * counter as i32)]).collect();
    let length = 4 * round.len() as i32;
    words.extend(round);
    words.extend([
        beq(7, SEEN, -length),
        addi(SEEN, 7, 0),
        addi(TIMES, TIMES, 1),
        store(2, SEEN, DATA.0, 8 * counter as i32),
        store(2, TIMES, DATA.0, 8 * counter as i32 + 4),
        j(-length - 20),
    ]);
    words
}

/// Fills the replay buffer with work.
fn recording() -> impl Iterator<Item = u32> {
    let work = std::iter::repeat_n(encode::sfpmad(0, 4, 1, 1, 1), 32);
    [encode::replay(1, 0, 0, 0)].into_iter().chain(work).filter_map(ttinsn_code)
}

/// A step of a core that pushes: work, a store to a register, a pause.
fn step() -> impl Strategy<Value = Vec<u32>> {
    let push = |word: u32| vec![ttinsn_code(word).unwrap_or(addi(7, 7, 1))];
    let counter = prop::sample::select(COUNTERS.to_vec());
    let work = prop::sample::select(vec![
        encode::sfpmad(0, 4, 1, 1, 1),
        encode::sfpload(2, 0, 0, 1),
        encode::sfpstore(6, 0, 0, 1),
        encode::dmanop(),
        encode::sempost(2),
        encode::semget(2),
        encode::replay(0, 0, 16, 4),
        encode::replay(0, 0, 32, 0),
        encode::stallwait(1 << 3, 0x1),
    ]);
    prop_oneof![
        6 => work.prop_map(push),
        2 => (counter.clone(), 4_u32..8).prop_map(move |(counter, gpr)| {
            // The next value, and the store.
            [push(encode::adddmareg(gpr, 1, gpr, 1)), push(store_register(gpr, counter))].concat()
        }),
        1 => counter.prop_map(|counter| vec![store(2, TIMES, STREAM.0, 4 * counter as i32)]),
        1 => (1_i32..60).prop_map(|rounds| vec![addi(8, 0, rounds), addi(8, 8, -1), bne(8, 0, -4)]),
        1 => (0_usize..9).prop_map(|count| vec![addi(TIMES, TIMES, 1); count]),
    ]
}

/// Fills the replay buffer, and goes through some steps over and over.
fn pusher() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(step(), 1..12).prop_map(|steps| {
        let mut words = setup();
        words.extend(recording());
        let body: Vec<u32> = steps.concat();
        let back = -4 * body.len() as i32;
        words.extend(body);
        words.push(j(back));
        words
    })
}

fn watching() -> impl Strategy<Value = Vec<u32>> {
    let other = prop_oneof![
        prop::sample::select(STILL.to_vec()).prop_map(|at| lw(11, NIU.0, at as i32)),
        prop::sample::select(COUNTERS.to_vec()).prop_map(|at| lw(11, STREAM.0, 4 * at as i32)),
    ];
    let counter = prop::sample::select(COUNTERS[..2].to_vec());
    (counter, prop::collection::vec(other, 0..3))
        .prop_map(|(counter, others)| watcher(counter, &others))
}

/// By core: NCRISC and BRISC look, the others look, push or rest.
fn programs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let trisc = || prop_oneof![3 => pusher(), 2 => watching(), 1 => Just(vec![j(0)])];
    (watching(), pusher(), trisc(), trisc(), watching())
        .prop_map(|(b, t0, t1, t2, nc)| vec![b, t0, t1, t2, nc])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn cores_that_doze_end_as_those_that_go_round(
        programs in programs(),
        epoch in prop::sample::select(vec![1_u32, 4, 8, 12]),
        limits in prop::collection::vec(1_u64..3000, 1..5),
    ) {
        let ends = limits.iter().scan(0, |sum, cycles| { *sum += cycles; Some(*sum) });
        let outcome = |shortcuts| bare::states(tile(&programs, shortcuts, epoch), ends.clone());
        let awake = outcome(Shortcuts::ALL.set(Shortcut::Dozing, false));
        prop_assert_eq!(&outcome(Shortcuts::ALL), &awake);
        prop_assert_eq!(&outcome(Shortcuts::NONE), &awake);
    }
}

/// One core looks at a counter that a thread raises behind some hundred cycles of work, over and over.
#[test]
fn core_dozes_until_the_coprocessor_stores_to_what_it_looks_at() {
    let mut pusher = setup();
    pusher.extend(recording());
    let body: Vec<u32> = std::iter::repeat_n(encode::replay(0, 0, 32, 0), 20)
        .chain([encode::adddmareg(4, 1, 4, 1), store_register(4, COUNTERS[0])])
        .filter_map(ttinsn_code)
        .collect();
    let back = -4 * body.len() as i32;
    pusher.extend(body);
    pusher.push(j(back));
    let programs = [watcher(COUNTERS[0], &[]), pusher];
    let mut told = Vec::new();
    for dozing in [false, true] {
        let mut tile = tile(&programs, Shortcuts::ALL.set(Shortcut::Dozing, dozing), 8);
        let (mut dozed, mut seen) = (0, Vec::new());
        for epoch in 1..=2000 {
            assert!(matches!(tile.run(Cycle(8 * epoch), None), Stop::Limit));
            dozed +=
                usize::from(tile.core(CoreId::Brisc).spin().is_some_and(riscv::Spin::is_dozing));
            let times = tile.l1().word(DATA.1 + 8 * COUNTERS[0] + 4);
            if seen.last().is_none_or(|&(_, last)| last != times) {
                seen.push((epoch, times));
            }
        }
        assert!(seen.len() > 10, "it is told: {seen:?}");
        assert_eq!(dozed > 1500, dozing, "{dozed} epochs");
        told.push(seen);
    }
    assert_eq!(told[0], told[1]);
}
