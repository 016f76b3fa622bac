//! Prints what snapshots of a tile cost: time, memory, and how much slower a run is that takes one
//! every 65,536 cycles.
//!
//! `cargo run --profile dist -p tile --example snapshots [CYCLES]`

#[expect(dead_code, reason = "shared with the benches, which use all of it")]
#[path = "../benches/workload/mod.rs"]
mod workload;

use std::time::Instant;

use tile::TileSnapshot;
use workload::Loop;

/// Cycles between two snapshots.
const DISTANCE: u64 = 1 << 16;
/// Best of this many runs: the others were disturbed by somebody else on the host.
const RUNS: u32 = 5;

fn main() {
    let cycles =
        std::env::args().nth(1).map_or(1 << 22, |n| n.parse().expect("CYCLES is a number"));
    println!(
        "{:<12} {:>12} {:>12} {:>10} {:>10} {:>8}",
        "loop", "us/snapshot", "us/restore", "first KiB", "each KiB", "slower"
    );
    for body in [Loop::Alu, Loop::LoadStore, Loop::Memcpy, Loop::Poll] {
        row(body, cycles);
    }
}

/// Seconds of the fastest of some runs.
fn best(mut run: impl FnMut() -> f64) -> f64 {
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn row(body: Loop, cycles: u64) {
    let tile = || workload::tile(body, 5, workload::inline());
    let plain = best(|| {
        let (mut tile, begin) = (tile(), Instant::now());
        (0..cycles / DISTANCE).for_each(|_| workload::run(&mut tile, DISTANCE));
        begin.elapsed().as_secs_f64()
    });
    let mut kept: Vec<TileSnapshot> = Vec::new();
    let with = best(|| {
        let mut tile = tile();
        kept = vec![tile.snapshot(None)];
        let begin = Instant::now();
        for _ in 0..cycles / DISTANCE {
            workload::run(&mut tile, DISTANCE);
            kept.push(tile.snapshot(kept.last()));
        }
        begin.elapsed().as_secs_f64()
    });
    let mut other = tile();
    let restore = best(|| {
        let begin = Instant::now();
        kept.iter().for_each(|snapshot| other.restore(snapshot));
        begin.elapsed().as_secs_f64() / kept.len() as f64
    });
    let snapshot = best(|| {
        let begin = Instant::now();
        for _ in 0..64 {
            drop(other.snapshot(kept.last()));
        }
        begin.elapsed().as_secs_f64() / 64.0
    });
    let each: usize = kept.windows(2).map(|two| two[1].bytes_beyond(Some(&two[0]))).sum();
    println!(
        "{:<12} {:>12.1} {:>12.1} {:>10} {:>10.1} {:>7.2}x",
        body.name(),
        snapshot * 1e6,
        restore * 1e6,
        kept[0].bytes_beyond(None) / 1024,
        each as f64 / 1024.0 / (kept.len() - 1) as f64,
        with / plain
    );
}
