//! Ctrl-C while a session runs: where everybody stands, on standard error, and a status of its own; a second one
//! ends the program whatever it is at.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hostlib::recording::{Op, Record, write_magic, write_record};
use isa::asm::{addi, j};

/// `addi t0, t0, 1` and back: a core that works for ever.
fn counts() -> Vec<u8> {
    [addi(5, 5, 1), j(-4)].iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Plans that never end: on one tile, and on two.
fn plan(dir: &Path, tiles: &str) -> String {
    fs::write(dir.join("count.bin"), counts()).expect("written");
    let path = dir.join("KERNELS.toml");
    let text = format!(
        "[[launch]]\nname = 'count'\n{tiles}\n[launch.kernel.ncrisc]\nimage = 'count.bin'\naddress = 0xC000\n"
    );
    fs::write(&path, text).expect("written");
    path.display().to_string()
}

/// A recording of BRISC at work for longer than anybody waits, in calls of so many clocks.
fn recording(dir: &Path, calls: u32, clocks: u64) -> String {
    let mut file = Vec::new();
    write_magic(&mut file).expect("memory");
    let mut put = |op, a0, a1, bytes: &[u8]| {
        write_record(&mut file, &Record { op, a0, a1, bytes }).expect("memory");
    };
    put(Op::Init, 0, 0, &[]);
    put(Op::TileWrite, 0, 1 | 2 << 32, &counts());
    // SOFT_RESET_0, with only BRISC released [isa-bh: TensixTile/SoftReset.md].
    put(Op::TileWrite, 0xFFB1_21B0, 1 | 2 << 32, &0x4_7000_u32.to_le_bytes());
    (0..calls).for_each(|_| put(Op::Clock, clocks, 0, &[]));
    let path = dir.join("long.rec");
    fs::write(&path, file).expect("written");
    path.display().to_string()
}

/// The program; it ends with the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Started {
    /// Starts it, and waits until it heeds Ctrl-C and has worked for a while.
    fn new(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
        command.args(args).env("TILESCOPE_CACHE", "no-such-cache").stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let started = Self(child.expect("it runs"));
        let status = PathBuf::from(format!("/proc/{}/status", started.0.id()));
        let begun = Instant::now();
        // The mask of caught signals [man: proc_pid_status(5)].
        while {
            let text = fs::read_to_string(&status).expect("it lives");
            let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:\t"));
            u64::from_str_radix(mask.expect("Linux says so"), 16).expect("a mask") & 2 == 0
        } {
            assert!(begun.elapsed() < Duration::from_secs(60), "{args:?}: no signal is caught");
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(500));
        started
    }

    fn signal(&self) {
        let kill = format!("kill -INT {}", self.0.id());
        let kill = Command::new("sh").args(["-c", &kill]).status();
        assert!(kill.expect("a shell is there").success());
    }

    /// Status, standard output and standard error.
    fn ended(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut error) = (String::new(), String::new());
        self.0.stdout.take().expect("piped").read_to_string(&mut out).expect("text");
        self.0.stderr.take().expect("piped").read_to_string(&mut error).expect("text");
        (self.0.wait().expect("it ends").code(), out, error)
    }
}

fn interrupted(args: &[&str]) -> (String, String) {
    let started = Started::new(args);
    started.signal();
    let (status, out, error) = started.ended();
    assert_eq!(status, Some(4), "{args:?}:\n{out}{error}");
    (out, error)
}

#[test]
fn why_of_a_plan_says_where_everybody_stands() {
    let dir = tempfile::tempdir().expect("a folder");
    for (tiles, tile) in
        [("", "tile (0, 0)"), ("tiles = [[3, 1], [4, 1]]", "tile (3, 1) [NoC (4, 3)]")]
    {
        let plan = plan(dir.path(), tiles);
        let (out, error) =
            interrupted(&["why", &plan, "--embedded", "--max-cycles", "100000000000"]);
        assert_eq!(out, "");
        for part in ["tilescope: interrupted; where everybody stands at cycle ", tile, "NCRISC"] {
            assert!(error.contains(part), "{part}:\n{error}");
        }
        // The core that counts, and one that waits for it.
        assert!(error.contains("runs") && error.contains("BRISC"), "{error}");
    }
}

#[test]
fn every_command_on_several_tiles_and_on_a_tape_stops() {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = plan(dir.path(), "tiles = [[0, 0], [1, 0]]");
    let tape = recording(dir.path(), 1_000_000, 5000);
    for command in ["launch", "report", "state"] {
        let args = [command, &plan, "--embedded", "--max-cycles", "100000000000"];
        let (_, error) = interrupted(&args);
        assert!(error.contains("where everybody stands"), "{command}: {error}");
    }
    for command in ["why", "report"] {
        let (_, error) = interrupted(&[command, &tape]);
        assert!(error.contains("where everybody stands"), "{command}: {error}");
        assert!(error.contains("tile (0, 0) [NoC (1, 2)]") && error.contains("BRISC"), "{error}");
    }
}

/// One call that takes longer than anybody waits: nobody looks at the flag meanwhile.
#[test]
fn second_one_ends_the_program_at_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let tape = recording(dir.path(), 4, u64::from(u32::MAX));
    let started = Started::new(&["why", &tape]);
    started.signal();
    std::thread::sleep(Duration::from_millis(200));
    started.signal();
    let (status, _, error) = started.ended();
    assert_eq!(status, Some(130), "{error}");
    assert!(error.contains("tilescope: ended at once"), "{error}");
}
