//! Issue throughput of the coprocessor in simulated instructions per second of host time.

mod surroundings;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim_core::{CoreId, Cycle, ThreadId};
use tensix::{Coprocessor, Origin, TimingModel};

use surroundings::Quiet;

const ORIGIN: Origin = Origin { core: CoreId::Trisc0, pc: 0x1000 };
const INSTRUCTIONS: u64 = 10_000;

/// Pushes `words` round and round, one per cycle where there is room, until enough have issued.
fn stream(tensix: &mut Coprocessor, words: &[u32], now: &mut u64) {
    let mut pushed = 0;
    while pushed < INSTRUCTIONS {
        if tensix.push_credit(ThreadId::T0, false) > 0 {
            let word = words[pushed as usize % words.len()];
            tensix
                .push(ThreadId::T0, false, word, ORIGIN, Cycle(*now), &mut Quiet)
                .expect("there is room");
            pushed += 1;
        }
        tensix.step(Cycle(*now), &mut Quiet).expect("the words are modelled");
        *now += 1;
    }
}

fn pushed_streams(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("issue");
    group.throughput(Throughput::Elements(INSTRUCTIONS));
    let post_get = [isa::encode::sempost(2), isa::encode::semget(2)];
    for (name, words) in [
        ("sempost_semget", &post_get[..]),
        ("dmanop", &[isa::encode::dmanop()][..]),
        ("adddmareg", &[isa::encode::adddmareg(1, 2, 3, 0)][..]),
    ] {
        let mut tensix = Coprocessor::new(TimingModel::Unit);
        let mut now = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| stream(black_box(&mut tensix), words, &mut now));
        });
    }
    group.finish();
}

/// One push per ten thousand instructions, on one thread and on all three.
fn expanded(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("expand");
    for threads in [1, 3] {
        let mut tensix = Coprocessor::new(TimingModel::Unit);
        let words = [isa::encode::dmanop(), isa::encode::sempost(2), isa::encode::nop()];
        for (thread, word) in ThreadId::ALL.into_iter().zip(words).take(threads) {
            let nop = isa::encode::nop();
            for (index, value) in
                [100, 100, nop, nop, nop, word, nop, word, word].into_iter().enumerate()
            {
                tensix.write_mop_config(thread, index as u32, value).expect("there are nine");
            }
        }
        let mut now = 0;
        group.throughput(Throughput::Elements(INSTRUCTIONS * threads as u64));
        group.bench_function(format!("mop_{threads}_threads"), |bencher| {
            bencher.iter(|| {
                for thread in ThreadId::ALL.into_iter().take(threads) {
                    let mop = isa::encode::mop(0, 0, 1);
                    let _ = tensix.push(thread, false, mop, ORIGIN, Cycle(now), &mut Quiet);
                }
                while !tensix.is_asleep() {
                    tensix.step(Cycle(now), &mut Quiet).expect("the words are modelled");
                    now += 1;
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, pushed_streams, expanded);
criterion_main!(benches);
