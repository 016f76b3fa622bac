//! `tilescope sim`, `record` and `replay` as a shell sees them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn run(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(args)
        .current_dir(dir)
        .output()
        .expect("the program runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The rows of a list in the descriptor.
fn list<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let row = text.lines().find_map(|line| line.strip_prefix(&format!("{key}: [")));
    row.expect("the key is there").trim_end_matches(']').split(", ").collect()
}

#[test]
fn sim_install_writes_library_and_descriptor() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("libany.so"), b"not loaded here").expect("written");
    for _ in 0..2 {
        let output = run(dir.path(), &["sim", "install", "made/sim", "--lib", "libany.so"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let path = dir.path().canonicalize().expect("there").join("made/sim/libany.so");
        assert_eq!(stdout(&output), format!("export TT_METAL_SIMULATOR={}\n", path.display()));
        assert_eq!(fs::read(path).expect("installed"), b"not loaded here");
    }
    let text = fs::read_to_string(dir.path().join("made/sim/soc_descriptor.yaml")).expect("there");
    assert!(text.contains("arch_name: BLACKHOLE\n"), "{text}");
    assert_eq!(list(&text, "functional_workers").len(), 140);
    assert_eq!(list(&text, "eth").len(), 14);
    assert_eq!(list(&text, "arc"), ["8-0"]);
}

#[test]
fn sim_install_of_a_missing_library_is_a_host_error() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = run(dir.path(), &["sim", "install", "sim", "--lib", "libnone.so"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot read libnone.so"), "{}", stderr(&output));
}

#[test]
fn record_needs_a_program_or_a_directory() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = run(dir.path(), &["record", "--lib", "libnone.so"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--dir"), "{}", stderr(&output));
    let output = run(dir.path(), &["record", "--lib", "libnone.so", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot find libnone.so"), "{}", stderr(&output));
}

#[test]
fn replay_refuses_what_is_no_recording() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("text.rec"), "hello").expect("written");
    fs::write(dir.path().join("libany.so"), "no library").expect("written");
    let output = run(dir.path(), &["replay", "--lib", "libany.so", "text.rec"]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("text.rec: not a recording"), "{text}");
    let output = run(dir.path(), &["replay", "--lib", "libnone.so", "text.rec"]);
    assert_eq!(output.status.code(), Some(2));
}

/// The one line of a command that refused what it was given.
fn refusal(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, args);
    let text = stderr(&output);
    assert_eq!((output.status.code(), text.lines().count()), (Some(2), 1), "{args:?}: {text}");
    text
}

#[test]
fn replay_refuses_devices_and_directories() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for path in ["/dev/zero", "."] {
        let text = refusal(dir.path(), &["replay", path]);
        assert_eq!(text, format!("error: {path}: not a regular file\n"));
    }
}

/// A file of 64 GiB of nothing, and one that begins as a recording does: neither is read on.
#[test]
fn replay_stops_at_the_first_wrong_record() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (head, expected) in [
        (&b""[..], "nothing.rec: not a recording"),
        (b"TTREC01\n", "nothing.rec: damaged recording: record 0 at byte 8 has operation 0"),
    ] {
        let path = dir.path().join("nothing.rec");
        fs::write(&path, head).expect("written");
        let file = fs::File::options().write(true).open(&path).expect("there");
        file.set_len(64 << 30).expect("a sparse file");
        let text = refusal(dir.path(), &["replay", "nothing.rec"]);
        assert!(text.contains(expected), "{text}");
    }
}

/// Clocks without end are a recording, as far as one can tell: there the limit speaks.
#[test]
fn replay_keeps_no_more_than_it_is_allowed() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut file = b"TTREC01\n".to_vec();
    let clock = [7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    file.extend(clock.iter().cycle().take(24 << 16));
    fs::write(dir.path().join("long.rec"), &file).expect("written");
    let text = refusal(dir.path(), &["replay", "--max-size", "1", "long.rec"]);
    assert!(text.contains("long.rec: a recording of more than 1 MiB"), "{text}");
    assert!(text.contains("--max-size"), "{text}");
    // What a host that was killed leaves is a recording, and may be replayed.
    fs::write(dir.path().join("cut.rec"), &file[..file.len() - 1]).expect("written");
    let output = run(dir.path(), &["replay", "--max-size", "2", "cut.rec"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
