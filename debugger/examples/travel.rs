//! Prints what time travel costs: a run that keeps snapshots beside one that does not, how many snapshots and how much
//! memory, the first answer of `who` about the oldest write, a step back at the end and in the middle.
//!
//! `cargo run --profile dist -p debugger --example travel [STEPS]`

#[expect(dead_code, reason = "shared with the benches of tile, which use all of it")]
#[path = "../../tile/benches/workload/mod.rs"]
mod workload;

use std::sync::Arc;
use std::time::Instant;

use debugger::recording::{Code, End, Stage};
use debugger::who::{self, What};
use debugger::{Machine, Moment, Recording, Traveller};
use sim_core::{CoreId, Cycle, NullObserver};
use tile::Tile;
use workload::Loop;

/// Best of this many runs: the others were disturbed by somebody else on the host.
const RUNS: u32 = 3;

fn main() {
    let steps =
        std::env::args().nth(1).map_or(10_000_000, |n| n.parse().expect("a number of steps"));
    println!("{steps} instructions on five cores");
    println!(
        "{:<12} {:>10} {:>10} {:>8} {:>10} {:>8} {:>10} {:>12} {:>12}",
        "loop",
        "plain ms",
        "kept ms",
        "slower",
        "snapshots",
        "KiB",
        "who ms",
        "back, end us",
        "middle us"
    );
    for body in [Loop::Alu, Loop::LoadStore, Loop::Memcpy, Loop::Poll] {
        row(body, steps);
    }
}

fn seconds(run: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    run();
    begin.elapsed().as_secs_f64()
}

/// A session in which five cores execute so many instructions, about one in a cycle each.
fn session(body: Loop, steps: u64) -> Arc<Recording> {
    let config = workload::inline();
    let mut tile = workload::tile(body, 5, config);
    let first = tile.snapshot(None);
    let until = config.epoch.round_up(Cycle(steps / 5));
    workload::run(&mut tile, until.0);
    tile.pass_time(until);
    let stage = Stage { name: "boot".to_owned(), began: Cycle::ZERO, code: Code::none() };
    Arc::new(Recording {
        place: (0, 0),
        number: 0,
        config,
        first,
        inputs: Vec::new(),
        stages: vec![stage],
        until,
        end: End::Limit,
        hash: tile.state_hash(),
    })
}

fn row(body: Loop, steps: u64) {
    let recording = session(body, steps);
    let (mut plain, mut kept) = (f64::INFINITY, f64::INFINITY);
    let mut machine = Machine::new(Arc::clone(&recording)).expect("memory");
    for _ in 0..RUNS {
        let mut tile = Tile::new(recording.config, NullObserver).expect("memory");
        tile.restore(&recording.first);
        plain = plain.min(seconds(|| recording.run(&mut tile, &mut 0, recording.until)));
        machine = Machine::new(Arc::clone(&recording)).expect("memory");
        let end = machine.end();
        kept = kept.min(seconds(|| machine.seek(end)));
    }
    let (snapshots, bytes) = machine.kept();
    // A word that nobody stores to: all of the session is searched.
    let mut asked = Machine::new(Arc::clone(&recording)).expect("memory");
    let who = seconds(|| {
        asked.seek(asked.end());
        let found = who::last_before(&asked, What::L1(0x10_0000), asked.end()).expect("memory");
        assert_eq!(found, None, "nobody stores there");
    });
    let mut traveller = Traveller::new(machine);
    let mut back = |at: Cycle| {
        traveller.go_to(at);
        seconds(|| {
            let _ = traveller.step_back(CoreId::Brisc, &mut || true);
        })
    };
    let (end, middle) = (back(recording.until), back(Cycle(recording.until.0 / 2 + 12_345)));
    traveller.machine_mut().seek(Moment::at(recording.until));
    assert_eq!(traveller.machine_mut().state_hash(), recording.hash, "who looks changes nothing");
    println!(
        "{:<12} {:>10.1} {:>10.1} {:>7.2}x {:>10} {:>8} {:>10.1} {:>12.0} {:>12.0}",
        body.name(),
        plain * 1e3,
        kept * 1e3,
        kept / plain,
        snapshots,
        bytes / 1024,
        who * 1e3,
        end * 1e6,
        middle * 1e6
    );
}
