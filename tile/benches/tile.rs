//! Steps per second of a whole tile: one core, five cores, and cores that only poll.

mod workload;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sim_core::{Cycle, Observer};
use workload::Loop;

const CYCLES: u64 = 100_000;

fn busy(c: &mut Criterion) {
    let mut group = c.benchmark_group("tile");
    for (body, cores) in [
        (Loop::Alu, 1),
        (Loop::LoadStore, 1),
        (Loop::Local, 1),
        (Loop::Alu, 5),
        (Loop::LoadStore, 5),
        (Loop::Memcpy, 5),
    ] {
        group.throughput(Throughput::Elements(CYCLES * cores as u64));
        group.bench_function(BenchmarkId::new(body.name(), format!("{cores}-cores")), |b| {
            let mut tile = workload::tile(body, cores, workload::inline());
            b.iter(|| workload::run(&mut tile, CYCLES));
        });
    }
    group.finish();
}

/// All five cores poll and are parked: an element is an epoch that passes.
fn parked(c: &mut Criterion) {
    let mut group = c.benchmark_group("parked");
    let mut tile = workload::tile(Loop::Poll, 5, workload::inline());
    workload::run(&mut tile, CYCLES);
    group.throughput(Throughput::Elements(CYCLES / tile.config().epoch.cycles()));
    group.bench_function("epochs", |b| {
        b.iter(|| {
            workload::run(&mut tile, CYCLES);
            tile.pass_time(Cycle(tile.now().0 + CYCLES));
        });
    });
    group.finish();
}

/// Somebody who could watch.
#[derive(Debug)]
struct Watcher;

impl Observer for Watcher {}

/// What observation costs when it is off: in the first tile its call sites do not exist, in the second
/// they do, and nobody is attached.
fn unobserved(c: &mut Criterion) {
    const CORES: usize = 5;
    let mut group = c.benchmark_group("unobserved");
    group.throughput(Throughput::Elements(CYCLES * CORES as u64));
    let (body, config) = (Loop::LoadStore, workload::inline());
    group.bench_function("compiled-away", |b| {
        let mut tile = workload::tile(body, CORES, config);
        b.iter(|| workload::run(&mut tile, CYCLES));
    });
    group.bench_function("nobody-attached", |b| {
        let mut tile = workload::watched(body, CORES, config, None::<Watcher>);
        b.iter(|| workload::run(&mut tile, CYCLES));
    });
    group.finish();
}

criterion_group!(benches, busy, parked, unobserved);
criterion_main!(benches);
