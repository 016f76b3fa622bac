//! Time travel on the command line, over several tiles: who wrote a word and where it came from, when something
//! holds first, and gdb on two tiles.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn plan(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests").join(name).join("case.toml")
}

fn tilescope(command: &str, plan: &Path, options: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    program
        .arg(command)
        .arg(plan)
        .args(options)
        .arg("--embedded")
        .env("TILESCOPE_CACHE", "no-such-cache")
        .stdin(Stdio::null());
    program
}

fn run(command: &str, options: &[&str]) -> Output {
    let mut program = tilescope(command, &plan("demos/two-tiles"), options);
    program.output().expect("it runs")
}

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    format!("{text}{}", String::from_utf8_lossy(&output.stderr))
}

fn assert_in_order(text: &str, wanted: &[&str]) {
    let mut rest = text;
    for piece in wanted {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => panic!("no {piece:?} behind what came before in:\n{text}"),
        }
    }
}

/// The second tile doubles what the first sent it, which had added one to what it had read from DRAM: all of it is
/// found from the result, with its lines.
#[test]
fn value_is_followed_over_two_tiles_to_dram() {
    let output = run("who", &["0x30004", "--tile", "1,0", "--depth", "9"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_in_order(
        &text,
        &[
            "tile 1,0 0x30004: cycle ",
            "NCRISC stores 0x4 (4 bytes) to 0x30004",
            "two-tiles.c:22",
            "tile 1,0 0x30004: cycle ",
            "NoC 0 stores",
            "tile 0,0 sent it in cycle ",
            "from 0x30004, by BRISC at kernel_main",
            "two-tiles.c:15",
            "tile 0,0 0x30004: cycle ",
            "BRISC stores 0x2 (4 bytes) to 0x30004",
            "two-tiles.c:13",
            "tile 0,0 0x30004: cycle ",
            "read from 0x1004 at NoC ",
            ", by BRISC at kernel_main",
            "two-tiles.c:12",
        ],
    );
}

#[test]
fn bisect_says_when_a_word_is_first_as_wanted_and_who_made_it_so() {
    let output = run("bisect", &["--tile", "1,0", "--expect", "0x30004=4"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_in_order(
        &text,
        &["cycle ", ": 0x30004 is 0x4\ncycle ", "NCRISC stores 0x4", "two-tiles.c:22"],
    );
    let output = run("bisect", &["--tile", "1,0", "--expect", "0x30004=0x1234"]);
    assert_eq!((said(&output).as_str(), output.status.code()), ("never\n", Some(1)));
    let other = run("bisect", &["--tile", "1,0", "--expect", "config3=1"]);
    assert!(said(&other).contains("config3 has no value to compare"), "{}", said(&other));
}

/// The same plan with another input differs in the first tile where it reads it, and with itself nowhere.
#[test]
fn bisect_finds_where_two_sessions_begin_to_differ() {
    let original = plan("demos/two-tiles");
    let text = std::fs::read_to_string(&original).expect("a plan");
    let dir = tempfile::tempdir().expect("a directory");
    for file in ["brisc.elf", "ncrisc.elf"] {
        let from = original.with_file_name(file);
        std::fs::copy(from, dir.path().join(file)).expect("a copy");
    }
    let changed = dir.path().join("case.toml");
    std::fs::write(&changed, text.replace("words = [0, 1, 2,", "words = [0, 7, 2,"))
        .expect("a file");
    let against = |other: &Path| {
        let other = other.display().to_string();
        let output = run("bisect", &["--tile", "0,0", "--against", &other]);
        (said(&output), output.status.code())
    };
    assert_eq!(against(&original), ("never\n".to_owned(), Some(1)));
    let (told, status) = against(&changed);
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("1 words of L1, the first: 0x30004"), "{told}");
}

/// A gdb that knows RISC-V.
fn gdb() -> Option<&'static str> {
    let knows = |name: &&&str| {
        let mut command = Command::new(name);
        let asked = command.args(["-nx", "-batch", "-ex", "set architecture riscv:rv32"]).output();
        asked.is_ok_and(|answer| answer.status.success() && answer.stderr.is_empty())
    };
    let found = ["gdb-multiarch", "riscv64-unknown-elf-gdb"].iter().find(knows).copied();
    if found.is_none() {
        // Not through the harness, which keeps what a test that passes says: it is counted.
        let _ = std::io::stderr()
            .write_all(b"skipped: no gdb that knows RISC-V; apt-get install gdb-multiarch\n");
    }
    found
}

#[test]
fn gdb_sees_both_tiles_and_goes_back_from_one_to_the_other() {
    let Some(gdb) = gdb() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let script = dir.path().display().to_string();
    let mut server = tilescope("debug", &plan("demos/two-tiles"), &["--once", "--script", &script]);
    let mut server = server.stdout(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(server.stdout.take().expect("piped")).lines();
    let wanted = |line: &String| line.starts_with("connect: ");
    let found = lines.by_ref().map(|line| line.expect("text")).find(wanted);
    assert!(found.is_some(), "the server says how to connect");
    let commands = [
        "break kernel_main",
        "echo -- first\\n",
        "continue",
        "info threads",
        "echo -- second\\n",
        "continue",
        "info threads",
        "echo -- back\\n",
        "reverse-continue",
        "info threads",
        "monitor tiles",
        "monitor from 0x30000 2",
    ];
    let mut client = Command::new(gdb);
    client.args(["-nx", "-batch", "-x"]).arg(dir.path().join("tilescope.gdb"));
    for command in commands {
        client.args(["-ex", command]);
    }
    let answer = client.output().expect("gdb runs");
    // What `monitor` says is among the errors.
    let text = said(&answer);
    // Who is looked at in each part.
    let current = |part: &str| {
        let rest = text.split_once(&format!("-- {part}\n")).map(|(_, rest)| rest);
        let line = rest.and_then(|rest| rest.lines().find(|line| line.starts_with("* ")));
        let line = line.unwrap_or_else(|| panic!("nobody in {part}:\n{text}"));
        line.split(['(', ')']).nth(1).unwrap_or_default().to_owned()
    };
    // All firmware is known, and the kernels, on both tiles.
    let script = std::fs::read_to_string(dir.path().join("symbols.gdb")).expect("the script");
    for file in ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"] {
        assert!(script.contains(&format!("firmware-{file}.elf\n")), "{script}");
    }
    assert!(script.contains("/brisc-two-tiles.elf") && script.contains("/ncrisc-two-tiles.elf"));
    let first = text.split("-- second").next().unwrap_or_default();
    let cores: Vec<&str> = first.lines().filter(|line| line.contains("RISC")).collect();
    let named = |line: &&&str| line.contains(" () at ") || line.contains(") at ");
    assert_eq!(cores.iter().filter(named).count(), 10, "{text}");
    let mut both = [current("first"), current("second")];
    assert_eq!(current("back"), both[0], "{text}");
    both.sort();
    assert!(both[0].starts_with("0,0 BRISC") && both[1].starts_with("1,0 NCRISC"), "{text}");
    assert_in_order(&text, &["-- back", " instructions ", "0x30000: "]);
    assert!(server.wait().expect("it ends with its client").success());
}

#[test]
fn gdb_started_here_is_connected_and_its_end_is_the_end() {
    let Some(gdb) = gdb() else { return };
    let chosen = format!("--gdb={gdb}");
    let commands = "break kernel_main\ncontinue\nreverse-stepi\nmonitor tiles\nquit 7\n";
    let mut session = tilescope("debug", &plan("demos/two-tiles"), &[&chosen]);
    let mut session = session
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut typed = session.stdin.take().expect("piped");
    typed.write_all(commands.as_bytes()).expect("gdb reads it");
    drop(typed);
    let answer = session.wait_with_output().expect("it ends with gdb");
    let text = said(&answer);
    assert_in_order(&text, &["session: ", "hit Breakpoint 1", "1,0"]);
    assert_eq!(answer.status.code(), Some(7), "{text}");
    // No gdb: one line that says what to do.
    let missing = tilescope("debug", &plan("demos/two-tiles"), &["--gdb=/no/gdb"]).output();
    let missing = missing.expect("it runs");
    assert_eq!(missing.status.code(), Some(2));
    let told = String::from_utf8_lossy(&missing.stderr);
    assert!(told.contains("no /no/gdb: apt-get install gdb-multiarch"), "{told}");
}
