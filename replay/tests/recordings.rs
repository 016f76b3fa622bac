//! Recorded sessions of real hosts on our own chip: every read comes out as recorded, and a second
//! replay in the same process, with any number of threads, ends in the same state.
//!
//! The recordings are not part of the repository; without them there is nothing to test.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chip::{ChipConfig, HostPoll, Stance, Witness};
use hostlib::Recording;
use hostlib::abi::HostMemory;
use hostlib::recording::Op;
use replay::{Library, Options, Outcome, OwnChip, Plan};

/// Files whose name ends so, in order.
fn recordings(ends: &[&str]) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/host/recordings");
    let entries = std::fs::read_dir(dir).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| ends.iter().any(|end| path.to_string_lossy().ends_with(end)))
        .collect();
    files.sort();
    if files.is_empty() {
        // Not through the harness, which keeps what a test that passes says: it is counted.
        let _ = std::io::stderr().write_all(b"skipped: no recordings of host programs here\n");
    }
    files
}

fn run(recording: &Arc<Recording>, threads: usize) -> Outcome {
    let config = ChipConfig { threads, ..ChipConfig::default() };
    let options = Options { max_mismatches: 1, ..Options::default() };
    let mut chip = OwnChip::new(config);
    replay::replay(&mut chip, recording, &Plan::of(recording), &options).expect("a chip begins")
}

#[test]
fn recordings_replay_with_no_differing_read() {
    let mut failures = Vec::new();
    for file in recordings(&[".rec.xz"]) {
        let recording = Arc::new(replay::read(&file).expect("a recording"));
        let outcome = run(&recording, 1);
        if !outcome.passed() || !outcome.reports.is_empty() {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            failures.push((name, outcome.mismatches, outcome.reports));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn threads_and_repetition_change_nothing() {
    for file in recordings(&["llk_matmul.rec.xz", "ttnn_add.rec.xz"]) {
        let recording = Arc::new(replay::read(&file).expect("a recording"));
        let first = run(&recording, 1);
        assert!(!first.state_hashes.is_empty());
        for threads in [1, 2, 4] {
            let other = run(&recording, threads);
            assert_eq!(first.state_hashes, other.state_hashes, "{threads} threads");
            assert_eq!(first.extra_clocks, other.extra_clocks, "{threads} threads");
        }
    }
}

/// Looks for a hang, as a library does whose host waits for long, at many moments of a session.
#[derive(Debug)]
struct Looker {
    own: OwnChip,
    /// Calls that let time pass from one look to the next.
    apart: usize,
    clocks: usize,
    /// What the host has read since it last wrote.
    words: Vec<HostPoll>,
    looks: usize,
    found: Vec<String>,
}

impl Looker {
    fn new(apart: usize) -> Self {
        let own = OwnChip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
        Self { own, apart, clocks: 0, words: Vec::new(), looks: 0, found: Vec::new() }
    }

    fn look(&mut self) {
        let Some(chip) = self.own.chip() else { return };
        self.looks += 1;
        for stance in [Stance::Free, Stance::Waits, Stance::Polls] {
            if let Some(hang) = chip.hang(stance, &self.words, &Witness::default()) {
                let stuck = hang.stuck().flat_map(|tile| &tile.waits).filter(|wait| wait.stuck);
                let waits: Vec<String> = stuck.map(ToString::to_string).collect();
                self.found.push(format!("{stance:?} at cycle {}: {waits:?}", hang.found));
            }
        }
    }
}

impl Library for Looker {
    fn init(&mut self) -> Result<(), String> {
        self.words.clear();
        self.own.init()
    }
    fn exit(&mut self) {
        self.own.exit();
    }
    fn set_host_memory(&mut self, memory: Box<dyn HostMemory>) {
        self.own.set_host_memory(memory);
    }
    fn config_read(&mut self, bdf: u32, offset: u32) -> u32 {
        self.own.config_read(bdf, offset)
    }
    fn config_write(&mut self, bdf: u32, offset: u32, value: u32) {
        self.own.config_write(bdf, offset, value);
    }
    fn mem_read(&mut self, paddr: u64, bytes: &mut [u8]) {
        let word = self.own.chip().and_then(|chip| chip.polled(paddr, bytes.len()));
        self.words.extend(word.filter(|word| !self.words.contains(word)));
        self.own.mem_read(paddr, bytes);
    }
    fn mem_write(&mut self, paddr: u64, bytes: &[u8]) {
        if self.own.chip().is_some() && chip::window_register(paddr).is_none() {
            self.words.clear();
        }
        self.own.mem_write(paddr, bytes);
    }
    fn tile_read(&mut self, x: u32, y: u32, address: u64, bytes: &mut [u8]) {
        self.own.tile_read(x, y, address, bytes);
    }
    fn tile_write(&mut self, x: u32, y: u32, address: u64, bytes: &[u8]) {
        self.own.tile_write(x, y, address, bytes);
    }
    fn clock(&mut self, clocks: u32) {
        self.own.clock(clocks);
        self.clocks += 1;
        if self.clocks.is_multiple_of(self.apart) {
            self.look();
        }
    }
}

/// These programs came to their ends, so none of them hung on the way.
#[test]
fn no_look_at_any_moment_finds_a_hang() {
    const LOOKS: usize = 60;
    let mut failures = Vec::new();
    for file in recordings(&[".rec.xz"]) {
        let recording = Arc::new(replay::read(&file).expect("a recording"));
        let clocks = recording.records().filter(|record| record.op == Op::Clock).count();
        let mut looker = Looker::new((clocks / LOOKS).max(1));
        let options = Options { max_mismatches: 1, ..Options::default() };
        let outcome = replay::replay(&mut looker, &recording, &Plan::of(&recording), &options)
            .expect("a chip begins");
        assert!(outcome.passed(), "a look changes nothing");
        assert!(looker.looks >= LOOKS.min(clocks), "{} looks, {clocks} clocks", looker.looks);
        if let Some(first) = looker.found.first() {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            failures.push(format!("{name}: {} of {}, {first}", looker.found.len(), looker.looks));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
