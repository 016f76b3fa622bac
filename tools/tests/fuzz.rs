//! A short fuzz run with the ordinary toolchain: what the targets in `fuzz/` are fed, from files of this
//! repository, bent in ways that follow from a seed. `cargo fuzz` does the same guided by coverage.
//!
//! `FUZZ_SEED` is any text, `FUZZ_TIMES` multiplies the number of inputs. An input that panics is kept in a file, and
//! `FUZZ_INPUT=FILE` feeds that file alone.

#![cfg(feature = "debug")]

#[path = "../../fuzz/subjects/gdb.rs"]
mod gdb;
#[path = "../../fuzz/subjects/image.rs"]
mod image;
#[path = "../../fuzz/subjects/kernel.rs"]
mod kernel;
#[path = "../../firmware-tests/tests/common/legal.rs"]
mod legal;
#[path = "../../fuzz/subjects/plan.rs"]
mod plan;
#[path = "../../fuzz/subjects/tape.rs"]
mod taped;

use std::any::Any;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use tape::{Call, Header, Options, TapeWriter};

/// Most bytes of an input. Longer ones find nothing that these do not, later.
const MOST_BYTES: usize = 1 << 16;

/// Numbers that follow from a seed: an xorshift generator.
struct Numbers(u64);

impl Numbers {
    /// Other ones for each text.
    fn of(seed: &str) -> Self {
        let mixed = seed.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        Self(mixed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound.max(1)
    }
}

/// An input made of another: a few bytes, words or stretches of it are different.
fn bent(from: &[u8], other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = from[..from.len().min(MOST_BYTES)].to_vec();
    for _ in 0..=numbers.below(6) {
        let at = numbers.below(bytes.len());
        let length = numbers.below(16).min(bytes.len() - at);
        match numbers.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let again = bytes[at..at + length].to_vec();
                drop(bytes.splice(at..at, again));
            }
            3 => {
                let there = numbers.below(other.len());
                let piece = &other[there..other.len().min(there + 4 * length)];
                drop(bytes.splice(at..at + length, piece.iter().copied()));
            }
            // What lengths, counts and offsets are wrong with.
            4 | 5 => {
                let words = [0, 1, 4, 0x20, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, u32::MAX];
                let word = words[numbers.below(words.len())].to_le_bytes();
                let at = at & !3;
                let end = bytes.len().min(at + 4);
                bytes[at..end].copy_from_slice(&word[..end - at]);
            }
            6 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = numbers.next() as u8),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << numbers.below(8)),
        }
    }
    bytes
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Feeds the examples themselves and then so many inputs bent from them.
fn fuzz(
    name: &str,
    count: usize,
    examples: &[Vec<u8>],
    wrap: impl Fn(Vec<u8>) -> Vec<u8>,
    feed: impl Fn(&[u8]),
) {
    assert!(examples.iter().any(|example| !example.is_empty()), "nothing to begin with");
    if let Some(file) = variable("FUZZ_INPUT") {
        return feed(&fs::read(&file).expect("FUZZ_INPUT is a file"));
    }
    let seed = variable("FUZZ_SEED").unwrap_or_default();
    let times: usize = variable("FUZZ_TIMES").map_or(1, |text| text.parse().expect("a number"));
    let mut numbers = Numbers::of(&format!("{name} {seed}"));
    for number in 0..examples.len() + count * times {
        let input = match examples.get(number) {
            Some(example) => example.clone(),
            None => {
                let (one, other) = (numbers.below(examples.len()), numbers.below(examples.len()));
                bent(&examples[one], &examples[other], &mut numbers)
            }
        };
        let input = wrap(input);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| feed(&input))) {
            keep(name, &seed, number, &input, panic);
        }
    }
    println!("{name}: {} examples, {} inputs, seed {seed:?}", examples.len(), count * times);
}

fn keep(name: &str, seed: &str, number: usize, input: &[u8], panic: Box<dyn Any + Send>) -> ! {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
    fs::write(&path, input).expect("written");
    eprintln!(
        "{name}: input {number} of seed {seed:?}; FUZZ_INPUT={} feeds it again",
        path.display()
    );
    resume_unwind(panic)
}

/// Files with an ending below a folder of the workspace, in order, as many as asked for at most.
fn files(folder: &str, ending: &str, most: usize) -> Vec<Vec<u8>> {
    fn below(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
        let entries = fs::read_dir(folder).expect("a folder of the workspace");
        for path in entries.map(|entry| entry.expect("readable").path()) {
            if path.is_dir() {
                below(&path, ending, found);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder), ending, &mut found);
    found.sort();
    // Spread over all of them.
    let step = found.len().div_ceil(most).max(1);
    found.iter().step_by(step).map(|path| fs::read(path).expect("readable")).collect()
}

#[test]
fn images_never_panic() {
    let examples = files("firmware-tests/programs", ".elf", 24);
    fuzz("image", 600, &examples, |bytes| bytes, image::feed);
}

#[test]
fn plans_never_panic() {
    let examples = files("firmware-tests/programs", "case.toml", 60);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned().into_bytes();
    fuzz("plan", 1500, &examples, text, |bytes| {
        plan::feed(std::str::from_utf8(bytes).expect("made text"));
    });
}

#[test]
fn tapes_never_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.tstape");
    let header = Header {
        settings: vec![("TILESCOPE_THREADS".to_owned(), "1".to_owned())],
        program: vec!["python3".to_owned(), "prog.py".to_owned()],
        directory: "/".into(),
        pid: 1,
        version: "0".to_owned(),
        environment: Vec::new(),
    };
    let mut writer = TapeWriter::create(&path, &header, &Options::default()).expect("created");
    writer.call(&Call::Init);
    for number in 0..40_u32 {
        let bytes = number.to_le_bytes().repeat(20);
        writer.call(&Call::TileWrite { x: 1, y: 2, addr: u64::from(number) * 64, bytes: &bytes });
        writer.call(&Call::Clock { clocks: number });
        if number % 10 == 0 {
            writer.flush();
        }
    }
    writer.call(&Call::Exit);
    drop(writer);
    let tape = fs::read(&path).expect("readable");
    let examples = [tape, b"TTREC01\n\0\0\0\0\x01\0\0\0".to_vec()];
    fuzz("tape", 1500, &examples, |bytes| bytes, taped::feed);
}

#[test]
fn programs_never_panic_and_end_alike_with_and_without_shortcuts() {
    let mut numbers = Numbers::of("programs to begin with");
    let examples: Vec<Vec<u8>> =
        (0..8).map(|_| (0..160).map(|_| numbers.next() as u8).collect()).collect();
    fuzz("kernel", 60, &examples, |bytes| bytes, kernel::feed);
}

#[test]
fn debugger_clients_never_panic_nor_change_what_is_debugged() {
    // Bytes of several packets, separated by a byte that no packet has in clear.
    const SAID: [&str; 8] = [
        "qSupported:multiprocess+;vContSupported+\n?\ng\nHg0\nvCont?\nvCont;s:1\nvCont;c",
        "m0,40\nM0,4:deadbeef\nX20,0:\nm1000,8\nP0=01000000\np20\np0",
        "Z0,4,4\nc\nbs\nbc\nz0,4,4\nZ2,20000,4\nc\nz2,20000,4",
        "qXfer:features:read:target.xml:0,ffb\nqXfer:threads:read::0,1000\nqfThreadInfo\nqsThreadInfo",
        "qRcmd,776879\nqRcmd,68656c70\nqRcmd,74696c6573",
        "vMustReplyEmpty\nqC\nqAttached\nT1\nT9\nHc-1\nvKill;1\nD",
        "qOffsets\nqSymbol::\nvCont;r0,8:1\nvCont;t\ns\nR00\n!",
        "qTStatus\nqThreadExtraInfo,1\nQStartNoAckMode\nqXfer:memory-map:read::0,100\nk",
    ];
    let packets = |bytes: Vec<u8>| {
        let mut said = Vec::new();
        for payload in bytes.split(|&byte| byte == b'\n') {
            let sum = payload.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
            said.extend([b"+$", payload, format!("#{sum:02x}").as_bytes()].concat());
        }
        said
    };
    let examples = SAID.map(|text| text.as_bytes().to_vec());
    fuzz("gdb", 120, &examples, packets, gdb::feed);
}
