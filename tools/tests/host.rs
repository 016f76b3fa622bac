//! `tilescope sim`, `record` and `replay` as a shell sees them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use hostlib::recording::{Op, Record, write_magic, write_record};
use isa::asm::{addi, bne, j, lui, lw, sw};

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
        let printed = stdout(&output);
        let mut lines = printed.lines();
        let simulator = format!("export TT_METAL_SIMULATOR={}", path.display());
        assert_eq!(lines.next(), Some(&*simulator));
        assert_eq!(lines.next(), Some("export TT_METAL_SLOW_DISPATCH_MODE=1"));
        // What follows is for people, and a shell that evaluates it all passes it by.
        assert!(lines.next().is_some_and(|line| line.starts_with("# ")), "{printed}");
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

/// A session with tile (1, 2): NCRISC counts and stores 42, for which BRISC polls, to store 43.
fn session() -> Vec<u8> {
    let brisc = [lui(4, 0x2_0000), lw(5, 4, 0), addi(6, 0, 42), bne(5, 6, -8), addi(5, 5, 1)];
    let brisc = [&brisc[..], &[sw(5, 4, 4), j(0)]].concat();
    let ncrisc = [lui(4, 0x2_0000), addi(5, 0, 700), addi(5, 5, -1), bne(5, 0, -4)];
    let ncrisc = [&ncrisc[..], &[addi(5, 0, 42), sw(5, 4, 0), j(0)]].concat();
    let bytes = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let mut file = Vec::new();
    write_magic(&mut file).expect("memory");
    let mut write = |op, a0, bytes: &[u8]| {
        let a1 = 1 | 2 << 32;
        write_record(&mut file, &Record { op, a0, a1, bytes }).expect("memory");
    };
    write(Op::Init, 0, &[]);
    write(Op::TileWrite, 0, &bytes(&brisc));
    write(Op::TileWrite, 0x1_2000, &bytes(&ncrisc));
    // SOFT_RESET_0: the TRISCs are held [isa-bh: TensixTile/SoftReset.md].
    write(Op::TileWrite, 0xFFB1_21B0, &0x7000_u32.to_le_bytes());
    write(Op::Clock, 40, &[]);
    write(Op::TileRead, 0x2_0004, &43_u32.to_le_bytes());
    write(Op::Exit, 0, &[]);
    file
}

#[test]
fn replay_bisect_says_that_nobody_is_to_blame() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("session.rec"), session()).expect("written");
    let output = run(dir.path(), &["replay", "session.rec"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("PASS session"), "{}", stdout(&output));
    let output = run(dir.path(), &["replay", "--bisect", "session.rec"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("the same with all shortcuts and with none"), "{text}");
    let output = run(dir.path(), &["replay", "--bisect", "--json", "session.rec"]);
    assert_eq!(stdout(&output), "{\"name\":\"session\",\"same\":true}\n");
    let output = run(dir.path(), &["replay", "--bisect", "--lib", "libany.so", "session.rec"]);
    assert_eq!(output.status.code(), Some(2));
}
