//! Host programs that load the library: this test binary, run once more with [`ACT`] set.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hostlib::DynamicLibrary;
use hostlib::abi::{BAR0, WINDOW_REGISTERS};
use isa::asm::{addi, bne, j, li, lw, r, sw};

#[path = "../common/mod.rs"]
mod common;
pub(crate) use common::library;

/// What the program is to do.
const ACT: &str = "TILESCOPE_TEST_ACT";
/// Columns of Tensix tiles `[spec: host-abi 2.6]`.
const COLUMNS: [u32; 14] = [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16];
const ROW: u32 = 2;
/// SOFT_RESET_0, and its value with BRISC released `[isa-bh: TensixTile/SoftReset.md]`.
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
const BRISC: u32 = 0x4_7000;
/// Where a tile counts and where it receives.
const COUNT: u64 = 0x2_0000;
const RECEIVED: u64 = 0x3_0000;
/// A hung child is killed.
const PATIENCE_SECONDS: u32 = 120;

/// BRISC counts, adds up what it has received, and sends both to the next tile of its row, over and over;
/// registers as firmware programs them `[isa-bh: NoC/MemoryMap.md]`.
fn program(x: u32, to: u32) -> Vec<u8> {
    let mut words = li(5, 0xFFB2_0000).to_vec();
    words.extend(li(6, COUNT as u32));
    words.extend(li(9, RECEIVED as u32));
    let (own, next) = (x | ROW << 6, to | ROW << 6);
    for (register, value) in
        [(0x08, own), (0x14, next), (0x20, 8), (0x1C, 0x2092), (0x00, COUNT as u32)]
    {
        words.extend(li(8, value));
        words.push(sw(8, 5, register));
    }
    let head = words.len();
    words.push(lw(10, 9, 0));
    words.push(r(0, 0, 11, 11, 10));
    words.push(sw(11, 6, 4));
    words.push(addi(7, 7, 1));
    words.push(sw(7, 6, 0));
    words.push(sw(9, 5, 0x0C));
    words.push(addi(8, 0, 1));
    words.push(sw(8, 5, 0x40));
    // Until the command register is free again.
    words.push(lw(8, 5, 0x40));
    words.push(bne(8, 0, -4));
    words.push(j(-4 * (words.len() - head) as i32));
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn start(library: &DynamicLibrary) {
    for (index, &x) in COLUMNS.iter().enumerate() {
        library.tile_write(x, ROW, 0, &program(x, COLUMNS[(index + 1) % COLUMNS.len()]));
        library.tile_write(x, ROW, SOFT_RESET_0, &BRISC.to_le_bytes());
    }
}

/// Goes on in one of two ways, and gives what all tiles have come to.
fn finish(library: &DynamicLibrary, way: u32) -> String {
    for round in 0..20 {
        let x = COLUMNS[(round * 5 + way as usize * 3) % COLUMNS.len()];
        library.tile_write(x, ROW, RECEIVED, &(way * 1000 + round as u32).to_le_bytes());
        library.clock(7 + way);
    }
    let mut text = format!("way {way}:");
    for x in COLUMNS {
        let mut words = [0; 8];
        library.tile_read(x, ROW, COUNT, &mut words);
        words.iter().for_each(|byte| text += &format!("{byte:02x}"));
    }
    text
}

fn say(text: &str) {
    // One write, so that lines of two processes do not mix.
    let _ = std::io::stdout().write_all(format!("{text}\n").as_bytes());
}

/// Forks; `child` runs in the child, which then ends. Gives the child's id.
#[expect(unsafe_code, reason = "a test of fork has to fork")]
fn fork(child: impl FnOnce()) -> i32 {
    // SAFETY: the child calls what a host may call after a fork, and does not return.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork fails");
    if pid == 0 {
        // SAFETY: sets a timer that ends a child which hangs.
        unsafe { libc::alarm(PATIENCE_SECONDS) };
        child();
        // SAFETY: ends the child without what the harness does at its end.
        unsafe { libc::_exit(0) };
    }
    pid
}

/// Waits for a child to end well.
#[expect(unsafe_code, reason = "a test of fork has to wait")]
fn join(pid: i32) {
    let mut status = 0;
    // SAFETY: `status` is there for the call.
    let ended = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!((ended, status), (pid, 0), "the child ends well");
}

/// Waits as hosts do: reads a word through a window and lets a clock pass.
fn polls(library: &DynamicLibrary, times: u64) {
    let register =
        u128::from(RECEIVED >> 21) | u128::from(COLUMNS[0]) << 43 | u128::from(ROW) << 49;
    for (word, bytes) in (0..).zip(register.to_le_bytes()[..12].chunks(4)) {
        library.mem_write(WINDOW_REGISTERS + 4 * word, bytes);
    }
    for _ in 0..times {
        library.mem_read(BAR0 + RECEIVED, &mut [0; 4]);
        library.clock(1);
    }
}

/// Writes blocks of 16 KiB that no compression makes smaller.
fn writes(library: &DynamicLibrary, mut seed: u64, blocks: u64) {
    for block in 0..blocks {
        let bytes: Vec<u8> = (0..16 << 10)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 56) as u8
            })
            .collect();
        library.tile_write(1, ROW, (block % 64) << 14, &bytes);
        library.clock(1);
    }
}

/// Not a test of its own: the host programs.
#[test]
fn acts() {
    let Ok(act) = std::env::var(ACT) else { return };
    let library = DynamicLibrary::open(&library()).expect("it is our library");
    library.init();
    match act.as_str() {
        "fork" => {
            start(&library);
            library.clock(100);
            let child = fork(|| {
                say(&finish(&library, 1));
                library.exit();
            });
            say(&finish(&library, 0));
            join(child);
        }
        // The child's child, while the parent does nothing.
        "forks" => {
            start(&library);
            library.clock(100);
            let child = fork(|| {
                library.clock(1);
                let child = fork(|| {
                    say(&finish(&library, 1));
                    library.exit();
                });
                join(child);
                library.exit();
            });
            join(child);
        }
        "way 0" | "way 1" | "way 1 later" => {
            start(&library);
            library.clock(100);
            if act.ends_with("later") {
                library.clock(1);
            }
            say(&finish(&library, u32::from(act != "way 0")));
        }
        // Other threads are in the library at any moment, also at that of a fork.
        "busy forks" => {
            start(&library);
            let done = std::sync::atomic::AtomicBool::new(false);
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        while !done.load(std::sync::atomic::Ordering::Relaxed) {
                            library.clock(1);
                            library.tile_read(1, ROW, COUNT, &mut [0; 4]);
                        }
                    });
                }
                for _ in 0..30 {
                    join(fork(|| library.clock(50)));
                }
                done.store(true, std::sync::atomic::Ordering::Relaxed);
            });
        }
        "works" => {
            start(&library);
            polls(&library, u64::MAX);
        }
        "works a while" => {
            start(&library);
            polls(&library, 300);
        }
        "hangs" => polls(&library, u64::MAX),
        "hangs in clocks" => loop {
            library.clock(1);
        },
        "writes" => writes(&library, 1, 400),
        "sessions that fill" => {
            for session in 0..6 {
                if session > 0 {
                    library.exit();
                    library.init();
                }
                writes(&library, session, 6 + 3 * session);
                start(&library);
                say(&finish(&library, session as u32));
            }
        }
        "sessions" => {
            for _ in 0..2 {
                library.clock(5);
                library.exit();
                library.init();
            }
        }
        "copies" => {
            // As hosts with several chips have it: a copy of the file is another library.
            let copy = PathBuf::from(std::env::var("COPY").expect("its file"));
            let other = DynamicLibrary::open(&copy).expect("a copy is as good");
            other.init();
            start(&library);
            start(&other);
            for clocks in 1..40 {
                library.clock(clocks);
                other.clock(2 * clocks);
            }
            other.exit();
        }
        "idle" => {
            let clocks = std::env::var("CLOCKS").expect("a number").parse().expect("a number");
            library.clock(clocks);
            (0..1_000_000).for_each(|_| library.clock(1));
        }
        other => panic!("no host program {other}"),
    }
    library.exit();
}

/// A host program with a tape in `dir`.
pub(crate) fn command(act: &str, dir: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test has a file"));
    command.args(["--exact", "host::acts", "--nocapture", "--test-threads=1"]);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TILESCOPE_") {
            command.env_remove(name);
        }
    }
    command.env(ACT, act).env("TILESCOPE_TAPE", dir.join("a.tape"));
    command.env("TILESCOPE_CYCLES_PER_CLOCK", "64");
    // Cores of these hosts are at work for ever: on a slow machine they would be hinted at.
    command.env("TILESCOPE_NO_PROGRESS", "off");
    command
}

/// What a host program says that begins with `way`, sorted; it ends well.
pub(crate) fn ways(command: &mut Command) -> Vec<String> {
    let output = command.output().expect("it runs");
    let text = good(&output);
    let mut ways: Vec<_> =
        text.lines().filter_map(|line| Some(line[line.find("way ")?..].to_owned())).collect();
    ways.sort();
    ways
}

/// Standard output of a program that has ended well and had nothing to complain about.
pub(crate) fn good(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && errors.is_empty(), "{}: {text}{errors}", output.status);
    text
}
