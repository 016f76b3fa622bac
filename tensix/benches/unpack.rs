//! Unpack throughput in simulated instructions per second of host time.

mod surroundings;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim_core::observer::Stamp;
use sim_core::{AgentId, CoreId, Cycle, ThreadId};
use tensix::{Coprocessor, Origin, TimingModel};

use surroundings::Memory;

const ORIGIN: Origin = Origin { core: CoreId::Trisc0, pc: 0x1000 };
const INSTRUCTIONS: u64 = 1_000;
/// UNPACR of unpacker 0 in multi-context mode, without handing the bank over.
const UNPACR: u32 = 0x4200_0081;
/// SETADCXX of unpacker 0: X from 0 to 255.
const X_255: u32 = 0x5E23_FC00;
/// SETC16 of SRCA_SET: the address alone says which row.
const BY_ADDRESS: u32 = 0xB205_0004;

fn unpacker(format: u32, output: u32) -> (Coprocessor, Memory) {
    let mut tensix = Coprocessor::new(TimingModel::Unit);
    let mut memory = Memory::default();
    for word in 0..0x1000 {
        memory.0.set_word(word * 4, word.wrapping_mul(0x9E37_79B9));
    }
    let at = Stamp { cycle: Cycle(0), agent: AgentId::Core(CoreId::Trisc0), pc: 0 };
    for (word, value) in [
        (64, 0x100_0010 | format),
        (65, 0x1_0001),
        (72, output),
        (73, 3),
        (76, 0x0F),
        (84, 64),
        (86, 256),
    ] {
        tensix.write_config(word, value, at, &mut memory).expect("the words exist");
    }
    for word in [X_255, BY_ADDRESS] {
        tensix
            .push(ThreadId::T0, false, word, ORIGIN, Cycle(0), &mut memory)
            .expect("there is room");
        while !tensix.is_asleep() {
            tensix.step(Cycle(0), &mut memory).expect("the words are modelled");
        }
    }
    (tensix, memory)
}

fn unpack(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("unpack_256");
    group.throughput(Throughput::Elements(INSTRUCTIONS));
    for (name, format, output) in
        [("bf16", 5, 5), ("tf32", 0, 4), ("fp16", 1, 1), ("bfp8", 6, 6), ("bfp4", 7, 7)]
    {
        let (mut tensix, mut memory) = unpacker(format, output);
        let mut now = 1;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut pushed = 0;
                while pushed < INSTRUCTIONS {
                    if tensix.push_credit(ThreadId::T0, false) > 0 {
                        tensix
                            .push(ThreadId::T0, false, UNPACR, ORIGIN, Cycle(now), &mut memory)
                            .expect("there is room");
                        pushed += 1;
                    }
                    black_box(&mut tensix).step(Cycle(now), &mut memory).expect("modelled");
                    now += 1;
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, unpack);
criterion_main!(benches);
