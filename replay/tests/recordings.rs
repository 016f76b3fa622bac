//! Recorded sessions of real hosts on our own chip: every read comes out as recorded, and a second
//! replay in the same process, with any number of threads, ends in the same state.
//!
//! The recordings are not part of the repository; without them there is nothing to test.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chip::ChipConfig;
use hostlib::Recording;
use replay::{Options, Outcome, OwnChip, Plan};

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
