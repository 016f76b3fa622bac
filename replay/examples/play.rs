//! Plays a tape again, watched by nobody and on one thread, and prints how long that took: a session in fast dispatch,
//! whose host polls as it likes, is the same each time, so that its host instructions can be counted.
//!
//! `cargo run --release -p replay --example play TAPE`

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use chip::{Chip, ChipConfig};
use replay::{Player, What};
use sim_core::NullObserver;
use tape::Tape;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("play: give a tape, as TILESCOPE_TAPE=FILE of a host program writes it");
        return ExitCode::from(2);
    };
    match play(Path::new(&path)) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("play: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn play(path: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let tape = Tape::open(path)?;
    let config = ChipConfig { threads: 1, ..replay::config_of(&tape)? };
    let fresh = || Chip::<NullObserver>::new(config);
    let (mut player, mut chip, mut calls) = (Player::new(&tape), fresh(), 0_u64);
    let begun = Instant::now();
    while let Some(played) = player.step(&mut chip)? {
        calls += 1;
        if played.what == What::Init {
            chip = fresh();
        }
    }
    let milliseconds = begun.elapsed().as_secs_f64() * 1e3;
    Ok(format!("{calls} calls, cycle {}, {milliseconds:.1} ms", chip.now().0))
}
