//! Instructions per second of a single core: in epochs, and as a lone runner.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use isa::asm::{i, j, r, sw};
use riscv::{Core, CoreConfig};
use sim_core::{Agent, CoreId, Cycle, EpochLength, Shared};

const CYCLES: u64 = 100_000;

fn programs() -> Vec<(&'static str, Vec<u32>)> {
    let alu = vec![
        i(0x13, 0, 5, 5, 1),
        r(0, 4, 6, 6, 5),
        i(0x13, 1, 7, 5, 3),
        r(0, 0, 8, 8, 7),
        r(0x20, 0, 9, 8, 6),
        r(1, 0, 10, 9, 5),
        i(0x13, 7, 11, 10, 0x7F),
    ];
    let load_store = vec![
        i(0x03, 2, 5, 4, 0),
        i(0x13, 0, 5, 5, 1),
        sw(5, 4, 0),
        i(0x03, 2, 6, 4, 16),
        r(0, 0, 6, 6, 5),
        sw(6, 4, 32),
        i(0x13, 0, 7, 7, 1),
    ];
    [("alu", alu), ("load-store", load_store)]
        .into_iter()
        .map(|(name, mut words)| {
            words.push(j(words.len() as i32 * -4));
            (name, words)
        })
        .collect()
}

fn core_with(words: &[u32], epoch: EpochLength) -> (Core, Shared) {
    let shared = Shared::new();
    for (index, &word) in words.iter().enumerate() {
        shared.l1.set_word(index as u32 * 4, word);
    }
    let mut core = Core::new(CoreId::Brisc, CoreConfig { epoch, ..CoreConfig::default() });
    core.release(0, Cycle::ZERO, false);
    core.set_register(4, 0x10000);
    (core, shared)
}

fn commit(core: &mut Core, shared: &Shared) {
    for store in &core.batch.stores {
        shared.l1.write(store.addr, store.value, store.width);
    }
    core.clear_posted();
}

fn instructions(c: &mut Criterion) {
    let mut group = c.benchmark_group("core");
    group.throughput(Throughput::Elements(CYCLES));
    for (name, words) in programs() {
        for cycles in [1, 8] {
            let epoch = EpochLength::new(cycles).expect("1 and 8 are valid");
            group.bench_function(BenchmarkId::new(name, format!("epoch-{cycles}")), |b| {
                let (mut core, shared) = core_with(&words, epoch);
                b.iter(|| {
                    let end = core.cycle() + CYCLES;
                    while core.cycle() < end {
                        let until = epoch.end_of_epoch(core.cycle());
                        core.run(&shared, until);
                        commit(&mut core, &shared);
                    }
                    black_box(core.pc())
                });
            });
        }
        group.bench_function(BenchmarkId::new(name, "alone"), |b| {
            let epoch = EpochLength::default();
            let (mut core, shared) = core_with(&words, epoch);
            b.iter(|| {
                let end = core.cycle() + CYCLES;
                while core.cycle() < end {
                    core.run_alone(&shared, end, epoch);
                    commit(&mut core, &shared);
                }
                black_box(core.pc())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, instructions);
criterion_main!(benches);
