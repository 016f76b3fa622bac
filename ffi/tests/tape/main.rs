//! Tapes that the library writes for real processes: what becomes of them when a host forks, is killed,
//! opens the device again, or has no room.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod fork;
mod host;
mod survival;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use chip::ChipConfig;
use replay::exact::Session;
use replay::{config_of, exact};
use tape::Tape;

/// The files of a folder, in order.
fn tapes(dir: &Path) -> Vec<PathBuf> {
    let mut tapes: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    tapes.sort();
    tapes
}

/// Plays a tape with so many threads; each read is compared.
fn played(path: &Path, threads: usize) -> Vec<Session> {
    let tape = Tape::open(path).unwrap();
    let config = ChipConfig { threads, ..config_of(&tape).unwrap() };
    exact(&tape, config, |_, _| ControlFlow::Continue(())).unwrap()
}
