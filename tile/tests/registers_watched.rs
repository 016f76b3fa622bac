//! Cores that poll registers of NIUs and streams while others make requests and store to streams: each is
//! taken out of its loop for what concerns itself (`tile/src/commit.rs`, `run_device_watchers`), may look again at what
//! it looked at (`riscv/src/park.rs`, `again`), and a lone one is answered on the spot (`tile/src/alone.rs`). None of
//! that must show.

mod bare;

use bare::tile;
use isa::asm::{addi, beq, bne, i, j, lui, lw, store, sw};
use memory_map::reg::{noc_niu, overlay};
use proptest::prelude::*;
use sim_core::{CoreId, Cycle, Shortcut, Shortcuts};
use tile::Stop;

/// Registers with addresses: data in L1, a stream of the overlay, an initiator of an NIU, and both NIUs.
const DATA: (u32, u32) = (4, 0x2_0000);
const STREAM: (u32, u32) = (5, 0xFFB4_8000);
const OWN: u32 = 6;
const NIUS: [(u32, u32); 2] = [(12, 0xFFB2_0000), (13, 0xFFB3_0000)];
/// What was read, what was seen last, and how often something new was.
const READ: u32 = 7;
const SEEN: u32 = 9;
const TIMES: u32 = 10;

/// By core the NIU and the initiator that it makes requests with: no two share one.
const INITIATORS: [(usize, u32); CoreId::COUNT] = [(1, 0), (0, 2), (1, 2), (0, 3), (0, 0)];

/// Registers of a stream that any value may be written to.
const COUNTERS: [u32; 2] =
    [overlay::REMOTE_DEST_BUF_START_OFFSET, overlay::REMOTE_DEST_BUF_SIZE_OFFSET];
/// What answers to requests change, what requests do, and what nothing does.
const SHOWN: [u32; 6] = [
    noc_niu::NIU_MST_WR_ACK_RECEIVED_OFFSET,
    noc_niu::NIU_MST_NONPOSTED_WR_REQ_SENT_OFFSET,
    noc_niu::NIU_MST_NONPOSTED_WR_REQ_STARTED_OFFSET,
    noc_niu::NOC_AT_LEN_BE_OFFSET,
    noc_niu::NOC_CMD_CTRL_OFFSET,
    noc_niu::NIU_MST_ATOMIC_RESP_RECEIVED_OFFSET,
];
/// Most of what is polled are answers.
const POLLED: [u32; 8] =
    [SHOWN[0], SHOWN[0], SHOWN[0], SHOWN[0], SHOWN[1], SHOWN[2], SHOWN[3], SHOWN[4]];

/// A write with a response `[isa-bh: NoC/MemoryMap.md]`; one without, of a value in a register of the NIU.
const WRITE: i32 = 1 << 1 | 1 << 4;
const INLINE: i32 = 1 << 1 | 1 << 3;
/// Where another tile is.
const ELSEWHERE: i32 = 5 | 7 << 6;

fn setup(core: usize) -> Vec<u32> {
    let (niu, initiator) = INITIATORS[core];
    let far = |(register, address): (u32, u32)| lui(register, address);
    let mut words = vec![far(DATA), far(STREAM), far(NIUS[0]), far(NIUS[1])];
    // Two initiators fill what `lui` counts in.
    words.push(lui(OWN, NIUS[niu].1 + (initiator / 2) * 0x1000));
    if initiator % 2 == 1 {
        words.extend([addi(OWN, OWN, 0x400), addi(OWN, OWN, 0x400)]);
    }
    let registers = [
        (noc_niu::NOC_TARG_ADDR_LO_OFFSET, 0x400),
        (noc_niu::NOC_TARG_ADDR_MID_OFFSET, 0),
        (noc_niu::NOC_RET_ADDR_LO_OFFSET, 0x600),
        (noc_niu::NOC_RET_ADDR_MID_OFFSET, 0),
        (noc_niu::NOC_RET_ADDR_HI_OFFSET, ELSEWHERE),
        (noc_niu::NOC_PACKET_TAG_OFFSET, 0),
        (noc_niu::NOC_CTRL_OFFSET, WRITE),
        (noc_niu::NOC_AT_LEN_BE_OFFSET, 64),
    ];
    for (register, value) in registers {
        words.extend([addi(READ, 0, value), sw(READ, OWN, register as i32)]);
    }
    // The tile's own place is in the low twelve bits of NOC_ID_LOGICAL `[isa-bh: NoC/MemoryMap.md]`.
    let (base, _) = NIUS[niu];
    words.extend([
        lw(READ, base, noc_niu::NOC_ID_LOGICAL_OFFSET as i32),
        i(0x13, 1, READ, READ, 20),
        i(0x13, 5, READ, READ, 20),
        sw(READ, OWN, noc_niu::NOC_TARG_ADDR_HI_OFFSET as i32),
    ]);
    words
}

/// Polls until a register shows something new, with a look at others in each round, and writes down what it shows and
/// how often that was.
fn poll(base: u32, offset: u32, others: &[u32]) -> Vec<u32> {
    let round: Vec<u32> = others.iter().copied().chain([lw(READ, base, offset as i32)]).collect();
    let back = -4 * round.len() as i32;
    let seen = [
        beq(READ, SEEN, back),
        addi(SEEN, READ, 0),
        addi(TIMES, TIMES, 1),
        store(2, SEEN, DATA.0, (offset & 0xFF) as i32),
        store(2, TIMES, DATA.0, 0x100),
    ];
    round.into_iter().chain(seen).collect()
}

/// Waits until the own initiator is free, and makes a request of that length.
fn request(bytes: i32) -> Vec<u32> {
    let command = noc_niu::NOC_CMD_CTRL_OFFSET as i32;
    vec![
        lw(READ, OWN, command),
        bne(READ, 0, -4),
        addi(READ, 0, bytes),
        sw(READ, OWN, noc_niu::NOC_AT_LEN_BE_OFFSET as i32),
        addi(READ, 0, 1),
        sw(READ, OWN, command),
    ]
}

/// As [`request`], to write a value that is new each time into a register of the own tile, with so many instructions in
/// between.
fn write_to_itself((base, offset): (u32, u32), pause: usize) -> Vec<u32> {
    let command = noc_niu::NOC_CMD_CTRL_OFFSET as i32;
    let mut words = vec![lw(READ, OWN, command), bne(READ, 0, -4), addi(TIMES, TIMES, 1)];
    words.extend([lui(8, base), addi(8, 8, offset as i32), addi(11, 0, INLINE)]);
    let registers = [
        (noc_niu::NOC_TARG_ADDR_LO_OFFSET, 8),
        (noc_niu::NOC_CTRL_OFFSET, 11),
        (noc_niu::NOC_AT_DATA_OFFSET, TIMES),
    ];
    words.extend(registers.map(|(register, value)| sw(value, OWN, register as i32)));
    let be = noc_niu::NOC_AT_LEN_BE_OFFSET as i32;
    // All bytes of the first word, and off with it.
    words.extend([addi(READ, 0, 0xF), sw(READ, OWN, be), addi(READ, 0, 1)]);
    words.extend(vec![addi(READ, READ, 0); pause]);
    words.push(sw(READ, OWN, command));
    // As requests want it.
    words.extend([lw(READ, OWN, command), bne(READ, 0, -4), addi(READ, 0, 0x400)]);
    words.push(sw(READ, OWN, noc_niu::NOC_TARG_ADDR_LO_OFFSET as i32));
    words.extend([addi(READ, 0, WRITE), sw(READ, OWN, noc_niu::NOC_CTRL_OFFSET as i32)]);
    words
}

/// A look at a register without consequences.
fn look() -> impl Strategy<Value = u32> {
    prop_oneof![
        (0_usize..2, prop::sample::select(SHOWN.to_vec())).prop_map(|(niu, at)| lw(
            11,
            NIUS[niu].0,
            at as i32
        )),
        prop::sample::select(COUNTERS.to_vec()).prop_map(|at| lw(11, STREAM.0, at as i32)),
    ]
}

fn step() -> impl Strategy<Value = Vec<u32>> {
    let counter = prop::sample::select(COUNTERS.to_vec());
    let looks = || prop::collection::vec(look(), 0..3);
    prop_oneof![
        3 => prop::sample::select(vec![4, 64, 256, 1500]).prop_map(request),
        1 => (prop_oneof![
            counter.clone().prop_map(|at| (STREAM.1, at)),
            Just((NIUS[0].1, noc_niu::NOC_AT_LEN_BE_OFFSET)),
        ], 0_usize..16).prop_map(|(at, pause)| write_to_itself(at, pause)),
        2 => (0_usize..2, prop::sample::select(POLLED.to_vec()), looks())
            .prop_map(|(niu, at, looks)| poll(NIUS[niu].0, at, &looks)),
        2 => (counter.clone(), looks()).prop_map(|(at, looks)| poll(STREAM.0, at, &looks)),
        2 => counter.prop_map(|at| vec![addi(TIMES, TIMES, 1), sw(TIMES, STREAM.0, at as i32)]),
        1 => (1_i32..60).prop_map(|rounds| vec![addi(8, 0, rounds), addi(8, 8, -1), bne(8, 0, -4)]),
        1 => (0_usize..9).prop_map(|count| vec![addi(TIMES, TIMES, 1); count]),
        1 => look().prop_map(|load| vec![load]),
    ]
}

/// Some steps over and over.
fn program(core: usize) -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![
        5 => prop::collection::vec(step(), 1..8).prop_map(move |steps| {
            let mut words = setup(core);
            let body: Vec<u32> = steps.concat();
            let back = -4 * body.len() as i32;
            words.extend(body);
            words.push(j(back));
            words
        }),
        1 => Just(vec![j(0)]),
        1 => Just(Vec::new()),
    ]
}

fn programs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (program(0), program(1), program(2), program(3), program(4))
        .prop_map(|(b, t0, t1, t2, nc)| vec![b, t0, t1, t2, nc])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn cores_that_watch_registers_end_as_those_that_go_round(
        programs in programs(),
        epoch in prop::sample::select(vec![1_u32, 4, 8, 12, 16]),
        limits in prop::collection::vec(1_u64..3000, 1..5),
    ) {
        let ends = limits.iter().scan(0, |sum, cycles| { *sum += cycles; Some(*sum) });
        let outcome = |shortcuts| bare::states(tile(&programs, shortcuts, epoch), ends.clone());
        let plain = outcome(Shortcuts::NONE);
        prop_assert_eq!(&outcome(Shortcuts::ALL), &plain);
        for left_out in [Shortcut::DeviceWatchers, Shortcut::LoneAnswers, Shortcut::Polls] {
            prop_assert_eq!(&outcome(Shortcuts::ALL.set(left_out, false)), &plain);
        }
    }
}

/// NCRISC polls a counter of one NIU, BRISC makes requests with the other and waits for each.
#[test]
fn core_stays_parked_while_another_waits_for_answers_of_the_other_niu() {
    let mut requester = setup(0);
    let body = [request(64), poll(NIUS[1].0, SHOWN[0], &[])].concat();
    let back = -4 * body.len() as i32;
    requester.extend(body);
    requester.push(j(back));
    let mut watcher = setup(4);
    watcher.extend(poll(NIUS[0].0, SHOWN[0], &[]));
    watcher.push(j(0));
    let programs = [requester, vec![], vec![], vec![], watcher];
    for spared in [false, true] {
        let shortcuts = Shortcuts::ALL.set(Shortcut::DeviceWatchers, spared);
        let mut tile = tile(&programs, shortcuts, 8);
        let (mut parked, mut epochs) = (std::collections::BTreeSet::new(), 0);
        for epoch in 100..1000 {
            let stop = tile.run(Cycle(8 * epoch), None);
            assert!(matches!(stop, Stop::Limit), "{stop:?}");
            if let Some(spin) = tile.core(CoreId::Ncrisc).spin() {
                epochs += 1;
                parked.insert(spin.parked_at());
            }
        }
        let answered = tile.l1().word(DATA.1 + 0x100);
        assert!(answered > 20, "requests are answered: {answered}");
        // Otherwise it goes on whenever any device may have changed.
        assert_eq!((epochs, parked.len()) == (900, 1), spared, "{epochs} epochs, {parked:?}");
    }
}

/// In an epoch that is longer than a packet takes to the own tile, a core may be shown what another one sends in it.
#[test]
fn core_sees_what_is_sent_to_a_register_within_a_long_epoch() {
    let targets = [(STREAM, COUNTERS[0]), (NIUS[0], noc_niu::NOC_AT_LEN_BE_OFFSET)];
    for ((register, base), offset) in targets {
        let mut watcher = setup(4);
        let body = poll(register, offset, &[]);
        let back = -4 * body.len() as i32;
        watcher.extend(body);
        watcher.push(j(back));
        for pause in 0..16 {
            let mut sender = setup(0);
            let rest = vec![addi(READ, 0, 0); 250];
            let body = [write_to_itself((base, offset), pause), rest].concat();
            let back = -4 * body.len() as i32;
            sender.extend(body);
            sender.push(j(back));
            let programs = [sender, vec![], vec![], vec![], watcher.clone()];
            let outcome = |shortcuts| {
                let mut tile = tile(&programs, shortcuts, 16);
                assert!(matches!(tile.run(Cycle(20_000), None), Stop::Limit));
                (tile.l1().word(DATA.1 + 0x100), tile.state_hash())
            };
            let (seen, plain) = outcome(Shortcuts::NONE);
            assert!(seen > 20, "{seen} values are seen");
            assert_eq!(outcome(Shortcuts::ALL), (seen, plain), "behind {pause} instructions");
        }
    }
}
