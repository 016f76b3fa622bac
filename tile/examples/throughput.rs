//! Prints how fast a whole tile executes some loops, as a table.
//!
//! `cargo run --profile dist -p tile --example throughput [CYCLES [LOOP CORES]]`
//!
//! A *step* is one instruction of one core. With `LOOP` (a name of the table) and `CORES` only
//! that row is run: the form to put under a profiler.

#[path = "../benches/workload/mod.rs"]
mod workload;

use std::time::Instant;

use workload::Loop;

const ROWS: [(Loop, usize); 9] = [
    (Loop::Alu, 1),
    (Loop::LoadStore, 1),
    (Loop::Memcpy, 1),
    (Loop::Local, 1),
    (Loop::Alu, 5),
    (Loop::LoadStore, 5),
    (Loop::Memcpy, 5),
    (Loop::Local, 5),
    (Loop::Poll, 5),
];

/// Best of this many runs: the others were disturbed by somebody else on the host.
const RUNS: u32 = 5;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let cycles = arguments.next().map_or(4_000_000, |n| n.parse().expect("CYCLES is a number"));
    let chosen = arguments.next();
    let cores = arguments.next().map(|n| n.parse().expect("CORES is a number"));
    let runs = if chosen.is_some() { 1 } else { RUNS };
    println!("{:<12} {:>5} {:>12} {:>14}", "loop", "cores", "M steps/s", "ns per epoch");
    for (body, busy) in ROWS {
        if chosen.as_ref().is_some_and(|name| name != body.name())
            || cores.is_some_and(|count: usize| count != busy)
        {
            continue;
        }
        row(body, busy, cycles, runs);
    }
}

fn row(body: Loop, busy: usize, cycles: u64, runs: u32) {
    let config = workload::inline();
    let mut best = f64::INFINITY;
    let mut steps = 0;
    for _ in 0..runs {
        let mut tile = workload::tile(body, busy, config);
        let begin = Instant::now();
        workload::run(&mut tile, cycles);
        best = best.min(begin.elapsed().as_secs_f64());
        steps = tile.instructions().iter().sum::<u64>();
    }
    let epochs = cycles as f64 / config.epoch.cycles() as f64;
    println!(
        "{:<12} {:>5} {:>12.1} {:>14.2}",
        body.name(),
        busy,
        steps as f64 / best / 1e6,
        best / epochs * 1e9
    );
}
