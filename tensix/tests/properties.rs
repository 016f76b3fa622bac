//! Properties over random instruction streams.

mod common;

use common::Bench;
use proptest::prelude::*;
use sim_core::{StateHasher, ThreadId};
use tensix::TimingModel;

/// Opcodes that are modelled, so that streams get far.
const MODELLED: [u8; 24] = [
    0x01, 0x02, 0x03, 0x04, 0x10, 0x45, 0x46, 0x58, 0x59, 0x5A, 0x60, 0x71, 0x8A, 0x8F, 0xA0, 0xA1,
    0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xB0, 0xB1, 0xB8,
];

fn modelled() -> impl Strategy<Value = u32> {
    (prop::sample::select(&MODELLED[..]), any::<u32>()).prop_map(|(opcode, bits)| {
        let bits = match opcode {
            // Counts the hardware supports; template 0 only, so that no word is refused.
            0x01 => bits & 0x0007_FFFF,
            0x04 => bits & 0x0007_C0F3,
            0xA6 => bits | 1,
            0xB0 | 0xB1 => bits & 0x00FF_807F,
            0xB8 => bits & 0x00FF_FF7F,
            0x71 => bits & 0x00F0_FFFF,
            0x10 => bits & !(1 << 17),
            0x45 => bits & !(1 << 7),
            _ => bits,
        };
        u32::from(opcode) << 24 | bits & 0x00FF_FFFF
    })
}

fn thread() -> impl Strategy<Value = ThreadId> {
    prop::sample::select(&ThreadId::ALL[..])
}

fn timing() -> impl Strategy<Value = TimingModel> {
    prop::sample::select(&[TimingModel::Unit, TimingModel::Documented][..])
}

/// Runs pushes at their cycles for 400 cycles; `skip` leaves steps out while asleep, else the
/// machine is woken before every step. Gives events, final hash and how it ended.
fn run(
    timing: TimingModel,
    pushes: &[(ThreadId, u32, u8)],
    skip: bool,
) -> (Vec<String>, u64, String) {
    let mut bench = Bench::new(timing);
    let mut end = String::from("ran");
    let mut queue = pushes.iter();
    let mut gap = 0;
    for _ in 0..400 {
        if gap == 0 {
            if let Some(&(thread, word, next)) = queue.next()
                && bench.tensix.push_credit(thread, false) > 0
            {
                bench.push(thread, word).expect("there is room");
                gap = u32::from(next);
            }
        } else {
            gap -= 1;
        }
        if !skip {
            bench.tensix.wake();
        } else if bench.tensix.is_asleep() {
            bench.now += 1;
            continue;
        }
        if let Err(error) = bench.step() {
            end = error.to_string();
            break;
        }
    }
    let mut hasher = StateHasher::default();
    bench.tensix.hash_state(&mut hasher);
    let events = bench.env.events.iter().map(|event| format!("{event:?}")).collect();
    (events, hasher.finish(), end)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn random_words_never_panic(
        words in prop::collection::vec((thread(), any::<u32>(), 0_u8..4), 1..40),
        timing in timing(),
    ) {
        let _ = run(timing, &words, true);
    }

    #[test]
    fn sleeping_equals_stepping(
        words in prop::collection::vec((thread(), modelled(), 0_u8..12), 1..60),
        timing in timing(),
    ) {
        prop_assert_eq!(run(timing, &words, true), run(timing, &words, false));
    }
}
