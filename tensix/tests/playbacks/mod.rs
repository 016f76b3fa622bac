//! Random pushes of threads that record and play replay buffers, and how they run.

use isa::encode;
use proptest::prelude::*;
use sim_core::{Cycle, Shortcuts, StateHasher, ThreadId};
use tensix::TimingModel;

use super::common::{Bench, Surrounding};

/// Words that issue, wait, change banks, schedule, access registers, or keep a unit busy.
pub(crate) fn word() -> impl Strategy<Value = u32> {
    let named = prop::sample::select(vec![
        encode::dmanop(),
        encode::nop(),
        encode::sempost(2),
        encode::semget(2),
        encode::sfploadi(0x3F80, 0, 1),
        encode::sfpmad(0, 4, 1, 1, 1),
        encode::sfpiadd(0, 3, 5, 0xFFF),
        encode::setdmareg(7, 0, 5, 0),
        encode::adddmareg(1, 2, 3, 0),
        // SFPLOADMACRO of a sequence that schedules nothing, until configuration says otherwise.
        encode::sfploadmacro(0, 0, 6, 1),
        encode::sfpconfig(0, 4, 1),
    ]);
    let waits = prop_oneof![
        // STALLWAIT for anything, SEMWAIT for semaphores 0 to 7, ATINCGET and STOREREG.
        any::<u32>().prop_map(|bits| 0xA2 << 24 | bits & 0xFF_FFFF),
        any::<u32>().prop_map(|bits| 0xA6 << 24 | bits & 0xFF_8013 | 1),
        any::<u32>().prop_map(|bits| 0x61 << 24 | bits & 0x00_003F),
        any::<u32>().prop_map(|bits| 0x67 << 24 | bits & 0x00_FFFF),
    ];
    prop_oneof![6 => named, 6 => transfer(), 2 => vector_setting(), 1 => waits]
}

/// SFPLOADs and SFPSTOREs of all modes, registers, columns and address modifiers; few rows, so that
/// they meet.
fn transfer() -> impl Strategy<Value = u32> {
    let mode = prop_oneof![3 => Just(0_u32), 2 => 0_u32..16];
    (any::<bool>(), mode, 0_u32..16, 0_u32..8, 0_u32..64).prop_map(
        |(store, mode, register, modifier, address)| {
            let make = if store { encode::sfpstore } else { encode::sfpload };
            make(address, modifier, mode, if register < 14 { register & 7 } else { register })
        },
    )
}

/// What decides about lanes, addresses and conversions: predication, lane settings, address
/// modifiers (thread configuration 28 to 35 for Dst [hdr: cfg_defines.h]), window counters, the
/// format that Dst is taken to have.
fn vector_setting() -> impl Strategy<Value = u32> {
    prop_oneof![
        (0_u32..16, 0_u32..8).prop_map(|(mode, register)| encode::sfpsetcc(mode, 0, register, 1)),
        (0_u32..16, 0_u32..4).prop_map(|(mode, imm)| encode::sfpencc(mode, 0, 0, imm)),
        (any::<u32>(), any::<bool>()).prop_map(|(bits, lanes)| {
            encode::sfploadi(bits & 0xFFFF, if lanes { 2 } else { 4 }, 0)
        }),
        Just(encode::sfpconfig(0, 15, 0)),
        (28_u32..36, any::<u32>()).prop_map(|(word, bits)| encode::setc16(bits & 0x1F0F, word)),
        (0_u32..16).prop_map(|step| encode::incrwc(0, 0, step, 0)),
        (0_u32..2).prop_map(|on| encode::rmwcib3(1, on << 6, 0x40)),
    ]
}

/// What threads push: a buffer to record, and then playbacks, expansions and other words.
pub(crate) fn push() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => (0_u32..32, 0_u32..33).prop_map(|(index, count)| encode::replay(0, 0, count, index)),
        1 => (0_u32..32, 1_u32..9).prop_map(|(index, count)| encode::replay(1, 1, count, index)),
        1 => (0_u32..127).prop_map(|count| 0x01 << 24 | 1 << 23 | count << 16),
        1 => (0_u32..16).prop_map(|mask| 0x03 << 24 | mask),
        2 => word(),
    ]
}

/// What threads push that hand each other semaphores and banks of SrcA and SrcB, and compute in between.
#[allow(dead_code, reason = "not every test that has this module asks for it")]
pub(crate) fn handshake() -> impl Strategy<Value = u32> {
    let semaphore = || (0_u32..3).prop_map(|semaphore| 1 << semaphore);
    let blocked = || prop_oneof![2 => Just(0x1FF_u32), 1 => 0_u32..0x200];
    let both = || 1_u32..4;
    prop_oneof![
        5 => semaphore().prop_map(encode::sempost),
        4 => semaphore().prop_map(encode::semget),
        1 => (semaphore(), 0_u32..3, 1_u32..4)
            .prop_map(|(semaphore, value, max)| encode::seminit(semaphore, value, max)),
        4 => (1_u32..4, semaphore(), blocked())
            .prop_map(|(condition, semaphore, block)| encode::semwait(condition, semaphore, block)),
        1 => (0_u32..16, 0_u32..32, blocked())
            .prop_map(|(banks, others, block)| encode::stallwait(banks << 5 | others, block)),
        4 => (5_u32..9, blocked()).prop_map(|(bank, block)| encode::stallwait(1 << bank, block)),
        6 => prop_oneof![1 => both(), 2 => Just(3)].prop_map(encode::setdvalid),
        2 => both().prop_map(|banks| encode::cleardvalid(banks, 0)),
        6 => (0_u32..4).prop_map(|clear| encode::elwadd(0, 0, 0, 0, clear)),
        1 => Just(encode::mova2d(0, 0, 0, 0, 0)),
        4 => Just(encode::sfpmad(0, 4, 1, 1, 1)),
        1 => Just(encode::sfpiadd(0, 3, 5, 0xFFF)),
        1 => Just(encode::nop()),
        1 => Just(encode::dmanop()),
    ]
}

/// What a playback of such a thread holds: mostly instructions that compute, and hand banks back.
#[allow(dead_code, reason = "not every test that has this module asks for it")]
pub(crate) fn handshake_buffer() -> impl Strategy<Value = u32> {
    prop_oneof![
        3 => Just(encode::sfpmad(0, 4, 1, 1, 1)),
        2 => (0_u32..4).prop_map(|clear| encode::elwadd(0, 0, 0, 0, clear)),
        2 => handshake(),
    ]
}

/// The same, played and expanded too.
#[allow(dead_code, reason = "not every test that has this module asks for it")]
pub(crate) fn handshake_push() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => (0_u32..32, 1_u32..24).prop_map(|(index, count)| encode::replay(0, 0, count, index)),
        1 => (0_u32..4).prop_map(|count| 0x01 << 24 | 1 << 23 | count << 16),
        20 => handshake(),
    ]
}

/// Events, state and mistake of a run.
#[allow(dead_code, reason = "not every test that has this module asks for it")]
pub(crate) type Outcome = (Vec<String>, u64, Option<String>);

/// Runs the pushes, one in so many cycles, `chunk` cycles at once or one by one.
#[allow(dead_code, reason = "not every test that has this module asks for it")]
pub(crate) fn run<E: Surrounding>(
    buffer: &[u32],
    pushes: &[(ThreadId, u32, u8)],
    (timing, shortcuts): (TimingModel, Shortcuts),
    chunk: Option<u64>,
) -> Outcome {
    let mut bench = Bench::<E>::within(timing);
    bench.tensix.set_shortcuts(shortcuts);
    for thread in ThreadId::ALL {
        for index in 0..9 {
            let value = if index < 2 { 3 } else { buffer[index as usize % buffer.len()] };
            bench.tensix.write_mop_config(thread, index, value).expect("there are nine");
        }
        bench.push(thread, encode::replay(1, 0, 0, 0)).expect("room");
        for &word in buffer.iter().cycle().take(32) {
            bench.push(thread, word).expect("room");
            bench.step().expect("nothing executes");
        }
        bench.settle(100).expect("nothing executes");
    }
    let mut error = None;
    for &(thread, word, gap) in pushes {
        if bench.tensix.push_credit(thread, false) > 0 {
            bench.push(thread, word).expect("room");
        }
        let until = bench.now + u64::from(gap) * 3 + 1;
        while bench.now < until && error.is_none() {
            error = advance(&mut bench, until, chunk).err();
        }
        if error.is_some() {
            break;
        }
    }
    let mut hasher = StateHasher::default();
    bench.tensix.hash_state(&mut hasher);
    let events = bench.env.recorder().events.iter().map(|event| format!("{event:?}")).collect();
    (events, hasher.finish(), error)
}

#[allow(dead_code, reason = "not every test that has this module asks for it")]
fn advance<E: Surrounding>(
    bench: &mut Bench<E>,
    until: u64,
    chunk: Option<u64>,
) -> Result<(), String> {
    let Some(chunk) = chunk else {
        return bench.step().map_err(|error| error.to_string());
    };
    let end = until.min(bench.now + chunk);
    let reached = bench.tensix.run(Cycle(bench.now), Cycle(end), &mut bench.env);
    // Asleep before the end: time passes.
    bench.now = match reached {
        Ok(cycle) if bench.env.recorder().wants_control => cycle.0,
        Ok(_) => end,
        Err((_, error)) => return Err(error.to_string()),
    };
    bench.env.recorder().wants_control = false;
    Ok(())
}
