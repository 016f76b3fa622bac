//! The vector unit: every instruction and mode on 128 lanes of FP32 or integers, with and without
//! predication; lookup tables; random programs; loads and stores of all formats.
//!
//! Rows 0 to 3 of Dst come in LReg 0, rows 4 to 7 in LReg 1, and so on; four registers go back.

use serde_json::Value;

use super::bench::{Bench, ROWS};
use super::random::Random;

/// SFPLOAD and SFPSTORE of 32 bits as they are.
const RAW: u32 = 4;
const LOAD: u32 = 0x70;
const STORE: u32 = 0x72;
/// Word of the configuration that seeds the generator.
const PRNG_SEED: u32 = 186;

/// Opcode, name, modes. `lreg_c` is 0 and `lreg_dest` 2; three-operand ones take 0, 1 and 2.
const OPERATIONS: [(u32, &str, &[u32]); 34] = [
    (0x84, "mad", &[0, 1, 2, 3]),
    (0x85, "add", &[0, 1, 2, 3]),
    (0x86, "mul", &[0, 1, 2, 3]),
    (0x74, "muli", &[0]),
    (0x75, "addi", &[0]),
    (0x76, "divp2", &[0, 1]),
    (0x77, "exexp", &[0, 1, 2, 3, 8, 9, 10, 11]),
    (0x78, "exman", &[0, 1]),
    (0x79, "iadd", &[0, 1, 2, 4, 5, 6, 8, 9, 10]),
    (0x7A, "shft", &[0, 1, 2, 3]),
    (0x7C, "mov", &[0, 1, 2]),
    (0x7D, "abs", &[0, 1]),
    (0x7E, "and", &[0]),
    (0x7F, "or", &[0]),
    (0x80, "not", &[0]),
    (0x8D, "xor", &[0]),
    (0x81, "lz", &[0, 2, 4, 6, 8, 10]),
    (0x82, "setexp", &[0, 1, 2]),
    (0x83, "setman", &[0, 1]),
    (0x89, "setsgn", &[0, 1]),
    (0x90, "cast", &[0, 3]),
    (0x8E, "stoch_rnd", &[1, 2, 3, 6, 7]),
    (0x92, "swap", &[0, 1, 2, 3]),
    (0x94, "shft2", &[3, 4, 5]),
    (0x96, "le", &[0, 1, 8, 9]),
    (0x97, "gt", &[0, 1, 8, 9]),
    (0x98, "mul24", &[0, 1]),
    (0x99, "arecip", &[0]),
    (0x7B, "setcc", &[0, 2, 4, 6]),
    (0x8C, "transp", &[0]),
    (0x8B, "compc", &[0]),
    (0x87, "pushc", &[0]),
    (0x8A, "encc", &[0, 2, 10]),
    (0x71, "loadi", &[0, 1, 2, 4, 8, 10]),
];

/// The operand bits of an instruction of the vector unit with an immediate `bits`. LReg 9 is 0.0,
/// LReg 10 is 1.0.
fn operands(opcode: u32, mode: u32, bits: u32) -> u32 {
    let bits = if mode & 1 == 1 { bits & 0xFFF } else { 0 };
    match opcode {
        0x84 => 1 << 12 | 2 << 8 | 3 << 4 | mode,
        0x85 => 10 << 16 | 1 << 12 | 2 << 8 | 3 << 4 | mode,
        0x86 | 0x98 => 1 << 12 | 9 << 8 | 3 << 4 | mode,
        0x74 | 0x75 => (bits | 0x3F80) << 8 | 2 << 4 | mode,
        0x71 => 3 << 20 | mode << 16 | bits | 0x4000,
        0x8E => 3 << 4 | mode,
        0x8A => 3 << 12 | mode,
        0x76 => (bits & 0xFF | 3) << 12 | 1 << 8 | 2 << 4 | mode,
        0x79 | 0x7A | 0x82 | 0x83 | 0x89 | 0x94 => bits << 12 | 1 << 8 | 2 << 4 | mode,
        0x7B | 0x92 => 1 << 8 | mode,
        _ => 1 << 8 | 2 << 4 | mode,
    }
}

fn load(bench: &mut Bench, half: u32) {
    for register in 0..4 {
        bench.list.push(LOAD, register << 20 | RAW << 16 | (4 * register + 2 * half));
    }
}

fn store(bench: &mut Bench, half: u32) {
    for register in 0..4 {
        bench.list.push(STORE, register << 20 | RAW << 16 | (4 * register + 2 * half));
    }
}

fn lane_values(random: &mut Random, integers: bool) -> Vec<u32> {
    (0..256).map(|_| if integers { random.integer() } else { random.word() }).collect()
}

/// Every instruction and mode.
pub(super) fn operations() -> Vec<Value> {
    let mut random = Random::new(2001);
    let mut vectors = Vec::new();
    for (opcode, name, modes) in OPERATIONS {
        for &mode in modes {
            let mut bench = Bench::new();
            let integers = random.below(3) == 0;
            let values = lane_values(&mut random, integers);
            bench.fill_dst(&values);
            bench.list.push(0x8A, 3 << 12 | 10); // SFPENCC: in use, all lanes
            for half in 0..2 {
                load(&mut bench, half);
                if half == 1 {
                    bench.list.push(0x7B, 3 << 8); // SFPSETCC: lanes with LReg 3 below zero
                }
                let bits = random.next();
                bench.list.push(opcode, operands(opcode, mode, bits));
                bench.list.push(0x8F, 0);
                bench.list.push(0x8F, 0);
                store(&mut bench, half);
                bench.list.push(0x8A, 3 << 12 | 10);
            }
            bench.dump_words(ROWS);
            vectors.push(bench.finish(&format!("recorded_vector/{name}/{mode}")));
        }
    }
    vectors
}

/// SFPLUT and SFPLUTFP32 with random coefficients.
pub(super) fn tables() -> Vec<Value> {
    let mut random = Random::new(2002);
    let vectors = (0..12).map(|index| {
        let mut bench = Bench::new();
        bench.fill_dst(&lane_values(&mut random, false));
        bench.list.push(0x8A, 3 << 12 | 10);
        for register in [0, 1, 2, 4, 5, 6] {
            bench.list.push(0x71, register << 20 | 8 << 16 | random.next() & 0xFFFF);
            bench.list.push(0x71, register << 20 | 10 << 16 | random.next() & 0xFFFF);
        }
        for row in (0..16).step_by(2) {
            bench.list.push(LOAD, 3 << 20 | RAW << 16 | row);
            match index % 2 {
                0 => bench.list.push(0x73, 7 << 20 | 4 << 16),
                _ => bench.list.push(0x95, 7 << 4 | 2),
            }
            bench.list.push(0x8F, 0);
            bench.list.push(STORE, 7 << 20 | RAW << 16 | row);
        }
        bench.dump_words(ROWS);
        bench.finish(&format!("recorded_lut/{index}"))
    });
    vectors.collect()
}

/// The generator of random numbers as it is after reset, and after a seed.
pub(super) fn generator() -> Vec<Value> {
    let vectors = [None, Some(0), Some(1), Some(0x1234_5678)].into_iter().map(|seed| {
        let mut bench = Bench::new();
        bench.fill_dst(&[0; 256]);
        if let Some(seed) = seed {
            bench.list.config(PRNG_SEED, seed);
        }
        bench.list.push(0x8A, 3 << 12 | 10);
        for row in (0..16).step_by(2) {
            bench.list.push(0x7C, 9 << 8 | 8); // SFPMOV of the next numbers
            bench.list.push(STORE, RAW << 16 | row);
        }
        bench.dump_words(ROWS);
        let name = seed.map_or("reset".to_owned(), |seed| format!("{seed:x}"));
        bench.finish(&format!("recorded_prng/{name}"))
    });
    vectors.collect()
}

/// Instructions without immediates that take any registers, with their modes.
const STEPS: [(u32, &[u32]); 14] = [
    (0x84, &[0, 1, 2, 3]), // SFPMAD
    (0x84, &[0]),
    (0x77, &[0, 1]),    // SFPEXEXP
    (0x78, &[0, 1]),    // SFPEXMAN
    (0x79, &[4, 6]),    // SFPIADD
    (0x7C, &[0, 1, 2]), // SFPMOV
    (0x7D, &[0, 1]),    // SFPABS
    (0x7E, &[0]),       // SFPAND
    (0x7F, &[0]),       // SFPOR
    (0x80, &[0]),       // SFPNOT
    (0x8D, &[0]),       // SFPXOR
    (0x81, &[0, 4]),    // SFPLZ
    (0x90, &[0, 3]),    // SFPCAST
    (0x92, &[0, 1]),    // SFPSWAP
];

/// Programs of twelve random instructions on four registers.
pub(super) fn programs() -> Vec<Value> {
    let mut random = Random::new(2003);
    let vectors = (0..40).map(|index| {
        let mut bench = Bench::new();
        bench.fill_dst(&lane_values(&mut random, index % 2 == 0));
        bench.list.push(0x8A, 3 << 12 | 10);
        for half in 0..2 {
            load(&mut bench, half);
            for _ in 0..12 {
                let (opcode, modes) = random.pick(&STEPS);
                let registers = random.below(4) << 12 | random.below(4) << 8 | random.below(4) << 4;
                let word = match opcode {
                    0x84 => random.below(4) << 16 | registers,
                    _ => registers & 0xFF0,
                };
                bench.list.push(opcode, word | random.pick(modes));
                bench.list.push(0x8F, 0);
                bench.list.push(0x8F, 0);
            }
            bench.list.push(0x8A, 3 << 12 | 10);
            store(&mut bench, half);
        }
        bench.dump_words(ROWS);
        bench.finish(&format!("recorded_vector_program/{index}"))
    });
    vectors.collect()
}

/// SFPLOAD in one format, SFPSTORE in another.
pub(super) fn memory() -> Vec<Value> {
    let mut random = Random::new(2004);
    let mut vectors = Vec::new();
    for from in 0..16 {
        for to in (0..16).filter(|to| (from + to) % 3 != 0) {
            let mut bench = Bench::new();
            bench.fill_dst(&lane_values(&mut random, false));
            bench.list.push(0x8A, 3 << 12 | 10);
            for row in (0..16).step_by(2) {
                bench.list.push(LOAD, from << 16 | row);
                bench.list.push(STORE, to << 16 | row);
            }
            bench.dump_words(ROWS);
            vectors.push(bench.finish(&format!("recorded_vector_memory/{from}_{to}")));
        }
    }
    vectors
}
