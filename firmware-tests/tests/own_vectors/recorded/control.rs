//! Frontends, general-purpose registers, configuration and semaphores: loops of MOP, recordings of
//! REPLAY, moves between registers.

use serde_json::Value;

use super::bench::Bench;
use super::random::Random;

/// The MOP configuration of the core's own thread, nine words.
const MOP: u32 = 0xFFB8_0000;

fn set_gprs(bench: &mut Bench, random: &mut Random) {
    for gpr in 0..64 {
        let value = random.integer();
        bench.gpr(gpr, value);
    }
}

/// ADDDMAREG or MULDMAREG of registers, which shows how often and in which order it ran.
fn step(random: &mut Random) -> u32 {
    let opcode = random.pick(&[0x58, 0x58, 0x5A]);
    let registers = random.below(8) << 12 | random.below(8) << 6 | random.below(8);
    opcode << 24 | registers
}

/// MOP of both templates, REPLAY that records, executes, and does both.
pub(super) fn frontend() -> Vec<Value> {
    let mut random = Random::new(4001);
    let vectors = (0..32).map(|index| {
        let mut bench = Bench::new();
        for gpr in 0..64 {
            let value = random.next();
            bench.gpr(gpr, value);
        }
        match index % 3 {
            0 => {
                let words: Vec<u32> = (0..7)
                    .map(|_| if random.below(4) == 0 { 0x02 << 24 } else { step(&mut random) })
                    .collect();
                let counts = [1 + random.below(6), 1 + random.below(6)];
                for (at, value) in (0..).zip(counts.into_iter().chain(words)) {
                    bench.list.store(MOP + 4 * at, value);
                }
                bench.list.push(0x01, 1 << 23);
            }
            1 => {
                let flags = random.below(4);
                let words = (0..7).map(|_| step(&mut random)).collect::<Vec<_>>();
                for (at, value) in (1..).zip([flags].into_iter().chain(words)) {
                    bench.list.store(MOP + 4 * at, value);
                }
                let mask = random.next();
                bench.list.push(0x03, mask >> 16);
                bench.list.push(0x01, random.below(32) << 16 | mask & 0xFFFF);
            }
            _ => {
                let (start, length) = (random.below(32), 1 + random.below(8));
                let execute = random.below(2);
                bench.list.push(0x04, start << 14 | length << 4 | execute << 1 | 1);
                for _ in 0..length {
                    let word = step(&mut random);
                    bench.list.push(word >> 24, word & 0xFF_FFFF);
                }
                bench.list.push(0x04, start << 14 | length << 4);
                bench.list.push(0x04, start << 14 | length << 4);
            }
        }
        bench.compare_gprs();
        bench.finish(&format!("recorded_frontend/{index}"))
    });
    vectors.collect()
}

/// WRCFG, RDCFG, RMWCIB, CFGSHIFTMASK on scratch-like words, semaphores one at a time.
pub(super) fn config() -> Vec<Value> {
    let mut random = Random::new(4002);
    let vectors = (0..32).map(|index| {
        let mut bench = Bench::new();
        set_gprs(&mut bench, &mut random);
        for semaphore in 0..8 {
            bench.list.push(0xA3, 15 << 20 | (5 + random.below(6)) << 16 | 4 << semaphore);
        }
        // Strides of the packer, base addresses of unpacker 0: words of which every bit is kept.
        let registers = [12, 13, 76, 77];
        for scratch in 180..184 {
            bench.config(scratch, random.next());
        }
        for _ in 0..12 {
            let (register, gpr) = (random.pick(&registers), random.below(60));
            match random.below(6) {
                0 => bench.list.push(0xB0, gpr << 16 | register),
                1 => bench.list.push(0xB1, gpr << 16 | register),
                2 => {
                    let byte = random.below(4);
                    bench.list.push(0xB3 + byte, (random.next() & 0xFFFF) << 8 | register);
                }
                // CFGSHIFTMASK as kernels use it: adds a scratch word.
                3 => {
                    let scratch = random.below(4) << 8;
                    bench.list.push(0xB8, 1 << 23 | 3 << 20 | 31 << 15 | scratch | register);
                }
                4 => bench.list.push(0xA4, 4 << random.below(8)),
                _ => bench.list.push(0xA5, 4 << random.below(8)),
            }
            bench.settle();
        }
        for (at, register) in (60..).zip(registers) {
            bench.list.push(0xB1, at << 16 | register);
            bench.settle();
        }
        bench.compare_gprs();
        bench.compare_semaphores();
        bench.finish(&format!("recorded_config/{index}"))
    });
    vectors.collect()
}
