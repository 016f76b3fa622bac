//! What time travel costs: `cargo run --release -p debugger --example figures [STEPS]`.
//!
//! A core counts, stores and loads for so many steps (10^8 if nothing is said). Measured are the session
//! without and with snapshots, who wrote a word last (one that is written all the time, and one that was written at
//! the very beginning only), and steps backwards. The host's clock is read here and nowhere else.

use std::sync::Arc;
use std::time::{Duration, Instant};

use debugger::recording::{Code, End, Stage};
use debugger::who::{self, What};
use debugger::{Machine, Moment, Recording, Traveller};
use isa::asm::{addi, j, lui, lw, sw};
use sim_core::engine::EngineKind;
use sim_core::{CoreId, Cycle, NullObserver};
use tile::{Stop, Tile, TileConfig};

/// SOFT_RESET_0, with BRISC released `[isa-bh: TensixTile/SoftReset.md]`.
const SOFT_RESET_0: u32 = 0xFFB1_21B0;
const BRISC: u32 = 0x4_7000;
/// A word that is written all the time, and one that is written once.
const BUSY: u32 = 0x2_0000;
const ONCE: u32 = 0x2_0100;
const STEPS: u64 = 100_000_000;

fn timed<R>(act: impl FnOnce() -> R) -> (R, Duration) {
    let began = Instant::now();
    let result = act();
    (result, began.elapsed())
}

fn run(tile: &mut Tile<NullObserver>, until: Cycle) {
    while tile.now() < until {
        if let Stop::Quiescent(_) = tile.run(until, None) {
            tile.pass_time(until);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let steps = std::env::args().nth(1).map_or(Ok(STEPS), |text| text.parse())?;
    let config = TileConfig { engine: EngineKind::Inline, ..TileConfig::default() };
    let mut tile = Tile::new(config, NullObserver)?;
    let program = [lui(4, BUSY), sw(5, 4, 0x100), addi(5, 5, 1), sw(5, 4, 0), lw(6, 4, 0), j(-12)];
    for (addr, word) in (0..).step_by(4).zip(program) {
        tile.host_write_word(addr, word)?;
    }
    tile.host_write_word(SOFT_RESET_0, BRISC)?;
    let first = tile.snapshot(None);
    let (_, plain) = timed(|| {
        while tile.instructions().iter().sum::<u64>() < steps {
            let next = tile.now() + 1_000_000;
            run(&mut tile, next);
        }
    });
    let (until, done) = (tile.now(), tile.instructions().iter().sum::<u64>());
    println!("session: {done} steps in {until}, {plain:?} without snapshots");
    let stages = vec![Stage { name: "boot".to_owned(), began: Cycle::ZERO, code: Code::none() }];
    let recording = Arc::new(Recording {
        place: (0, 0),
        number: 0,
        config,
        first,
        inputs: Vec::new(),
        stages,
        until,
        end: End::Limit,
        hash: tile.state_hash(),
    });
    let mut machine = Machine::new(recording)?;
    let end = machine.end();
    let (_, kept) = timed(|| machine.seek(end));
    let (count, bytes) = machine.kept();
    let ratio = kept.as_secs_f64() / plain.as_secs_f64();
    println!(
        "with snapshots {kept:?}, {ratio:.2} times; {count} are kept, {} KiB of L1",
        bytes / 1024
    );
    for (name, what) in [("all the time", What::L1(BUSY)), ("at the beginning", What::L1(ONCE))] {
        let (found, took) = timed(|| who::last_before(&machine, what, end));
        let when = found?.map_or(Cycle::ZERO, |written| written.cycle);
        println!("who wrote a word that is written {name}: {took:?} (cycle {when})");
    }
    let mut traveller = Traveller::new(machine);
    let (_, took) = timed(|| traveller.step_back(CoreId::Brisc, &mut || true));
    println!("a step back at the end: {took:?}");
    let (_, took) = timed(|| traveller.step_back(CoreId::Brisc, &mut || true));
    println!("the next one: {took:?}");
    let middle = Cycle(until.0 / 3 + 12_345);
    let (_, took) = timed(|| {
        traveller.go_to(middle);
        traveller.step_back(CoreId::Brisc, &mut || true)
    });
    println!("to the middle, and a step back there: {took:?}");
    debug_assert!(traveller.machine().moment() < Moment::at(middle + 8));
    Ok(())
}
