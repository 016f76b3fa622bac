//! Throughput of the vector unit in simulated instructions per second of host time: instructions
//! from the replay buffer, coprocessor stepped in runs of eight cycles, as a tile does it.

mod surroundings;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isa::encode;
use sim_core::{CoreId, Cycle, ThreadId};
use tensix::{Coprocessor, Origin, TimingModel};

use surroundings::Quiet;

const ORIGIN: Origin = Origin { core: CoreId::Trisc1, pc: 0x1000 };
/// Instructions that the replay buffer holds.
const SLOTS: u32 = 32;
const REPLAYS: u32 = 100;

fn run(tensix: &mut Coprocessor, now: &mut u64) {
    tensix.run(Cycle(*now), Cycle(*now + 8), &mut Quiet).expect("the words are modelled");
    *now += 8;
}

fn push(tensix: &mut Coprocessor, word: u32, now: &mut u64) {
    while tensix.push_credit(ThreadId::T1, false) == 0 {
        run(tensix, now);
    }
    tensix.push(ThreadId::T1, false, word, ORIGIN, Cycle(*now), &mut Quiet).expect("there is room");
    run(tensix, now);
}

fn vector(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("vector");
    group.throughput(Throughput::Elements(u64::from(SLOTS * REPLAYS)));
    let mads = [4, 3, 5, 6].map(|vd| encode::sfpmad(0, vd, 1, 2, 0));
    let moves = |mode| {
        [(0, 0), (0, 2), (1, 4), (1, 6)].map(|(lreg, address)| {
            if address % 4 == 0 {
                encode::sfpload(address, 0, mode, lreg)
            } else {
                encode::sfpstore(address, 0, mode, lreg)
            }
        })
    };
    for (name, words) in [
        ("sfpmad", mads),
        ("sfpload_sfpstore", moves(0)),
        ("sfpload_sfpstore_fp32", moves(3)),
        ("dmanop", [encode::dmanop(); 4]),
    ] {
        let mut now = 0;
        let mut tensix = Coprocessor::new(TimingModel::Unit);
        for (lreg, value) in [(0, 0x3FC0), (1, 0x3FA0), (2, 0x3E99)] {
            push(&mut tensix, encode::sfploadi(value, 0, lreg), &mut now);
        }
        push(&mut tensix, encode::replay(1, 0, SLOTS, 0), &mut now);
        for slot in 0..SLOTS as usize {
            push(&mut tensix, words[slot % words.len()], &mut now);
        }
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let tensix = black_box(&mut tensix);
                for _ in 0..REPLAYS {
                    push(tensix, encode::replay(0, 0, SLOTS, 0), &mut now);
                }
                while !tensix.is_asleep() {
                    run(tensix, &mut now);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, vector);
criterion_main!(benches);
