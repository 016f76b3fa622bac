//! Random programs of cores that wait for each other: they store to words of L1 and to registers that
//! several of them see, and poll them until they change.

use isa::asm::{addi, beq, bne, j, li, lui, lw, sw};
use proptest::prelude::*;

/// Registers with addresses: words in L1; GPRs of thread 0, which BRISC and TRISC0 see at one
/// address `[isa-bh: TensixTile/BabyRISCV/README.md]`; semaphores of the coprocessor, which
/// the TRISCs see.
const DATA: (u32, u32) = (4, 0x2_0000);
const GPRS: (u32, u32) = (5, 0xFFE0_0000);
const SEMAPHORES: (u32, u32) = (6, 0xFFE8_0020);
/// Registers with what was seen, what is counted, and what is stored.
const SEEN: u32 = 7;
const COUNT: u32 = 8;
const STORED: u32 = 9;

/// A place to talk at: base register and offset.
type Place = (u32, i32);

fn place(core: usize) -> BoxedStrategy<Place> {
    let word = (0_i32..3).prop_map(|word| (DATA.0, 4 * word));
    let gpr = (0_i32..2).prop_map(|gpr| (GPRS.0, 4 * gpr));
    let semaphore = (0_i32..2).prop_map(|semaphore| (SEMAPHORES.0, 4 * semaphore));
    match core {
        0 => prop_oneof![2 => word, 3 => gpr].boxed(),
        1 => prop_oneof![2 => word, 3 => gpr, 1 => semaphore].boxed(),
        2 | 3 => prop_oneof![2 => word, 1 => semaphore].boxed(),
        _ => word.boxed(),
    }
}

fn step(core: usize) -> impl Strategy<Value = Vec<u32>> {
    let pause = (1_i32..120)
        .prop_map(|rounds| vec![addi(COUNT, 0, rounds), addi(COUNT, COUNT, -1), bne(COUNT, 0, -4)]);
    let say = place(core)
        .prop_map(|(base, offset)| vec![addi(STORED, STORED, 1), sw(STORED, base, offset)]);
    // Until it is another value than the last one seen anywhere.
    let hear = (place(core), 0_usize..4).prop_map(|((base, offset), rest)| {
        let mut words = vec![lw(10, base, offset)];
        words.extend(vec![addi(0, 0, 0); rest]);
        words.extend([beq(10, SEEN, -4 * (1 + rest as i32)), addi(SEEN, 10, 0)]);
        words
    });
    let look = place(core).prop_map(|(base, offset)| vec![lw(11, base, offset)]);
    prop_oneof![2 => pause, 4 => say, 3 => hear, 1 => look]
}

fn program(core: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(step(core), 1..8).prop_map(move |steps| {
        let mut words = vec![lui(DATA.0, DATA.1)];
        words.extend(li(GPRS.0, GPRS.1));
        words.extend(li(SEMAPHORES.0, SEMAPHORES.1));
        // Nobody stores what another does.
        words.push(addi(STORED, 0, 256 * core as i32));
        let body = steps.concat();
        let back = -4 * body.len() as i32;
        words.extend(body);
        words.push(j(back));
        words
    })
}

/// A program for each core; some are in reset.
pub(crate) fn programs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let each = (0..5)
        .map(|core| prop_oneof![3 => program(core).boxed(), 1 => Just(Vec::new()).boxed()].boxed());
    each.collect::<Vec<_>>()
}
