//! The reference simulator's `rv_float` vectors, if `TILESCOPE_SHARED` names the folder that
//! holds `golden/public`. Each vector is a straight program of loads, one floating-point
//! instruction and a store; this follows exactly those words.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use super::super::{FloatMode, FloatOp, decode, execute};

const DATA: u32 = 0x30000;
const CODE: u32 = 0x30180;

/// The bytes of the first `[addr, "hex"]` pair with this address.
fn bytes_at(text: &str, addr: u32) -> Vec<u8> {
    let marker = format!("[{addr},");
    let tail = &text[text.find(&marker).expect("the pair exists")..];
    let hex = tail.split('"').nth(1).expect("the pair has a string");
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// The registers a vector's program uses: ft0..ft3 and t0.
#[derive(Default)]
struct Registers {
    f: [u32; 4],
    t0: u32,
}

impl Registers {
    fn float(&mut self, op: FloatOp, word: u32) {
        let f = |index: u32| self.f[(index & 31) as usize];
        let a = if op.reads_integer() { self.t0 } else { f(word >> 15) };
        let (b, c) = match word & 0x7F {
            0x53 if word >> 28 >= 0xC => (0, 0),
            0x53 => (f(word >> 20), 0),
            _ => (f(word >> 20), f(word >> 27)),
        };
        let result = execute(op, a, b, c, FloatMode::default()).value;
        if op.writes_integer() {
            self.t0 = result;
        } else {
            self.f[(word >> 7 & 31) as usize] = result;
        }
    }
}

/// Runs the program on `data`; returns what it stores, with the instruction that made it.
fn run(code: &[u32], data: &[u32]) -> Vec<(FloatOp, u32)> {
    let mut registers = Registers::default();
    let mut stores = Vec::new();
    let mut last = FloatOp::FmvXW;
    for &word in code {
        let loaded = || data[(word >> 20) as usize / 4];
        match word & 0x7F {
            0x07 => registers.f[(word >> 7 & 31) as usize] = loaded(),
            0x03 => registers.t0 = loaded(),
            0x27 => stores.push((last, registers.f[(word >> 20 & 31) as usize])),
            0x23 => stores.push((last, registers.t0)),
            // xori t0, t0, -1
            0x13 if word == 0xFFF2_C293 => registers.t0 = !registers.t0,
            // lui, addi of pointers, ret
            0x37 | 0x13 | 0x67 => {}
            _ => {
                last = decode(word).expect("an instruction of the cores");
                registers.float(last, word);
            }
        }
    }
    stores
}

#[test]
fn reference_vectors_are_reproduced() {
    let Ok(shared) = std::env::var("TILESCOPE_SHARED") else {
        // Not through the harness, which keeps what a test that passes says: it is counted.
        let _ = std::io::stderr().write_all(b"skipped: TILESCOPE_SHARED is not set\n");
        return;
    };
    let path = Path::new(&shared).join("golden/public/rv_float.json.gz");
    let output = Command::new("gzip").arg("-dc").arg(&path).output().expect("gzip runs");
    assert!(output.status.success(), "{} cannot be unpacked", path.display());
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let mut compared = 0;
    for vector in text.split("\"name\"").skip(1) {
        let (data, code) = (words(&bytes_at(vector, DATA)), words(&bytes_at(vector, CODE)));
        let expect = &vector[vector.find("\"expect\"").expect("vectors have results")..];
        let hex = expect.split('"').nth(3).expect("one result area");
        let result_area = format!("[0,\"{hex}\"");
        let expected = words(&bytes_at(&result_area, 0));
        let stores = run(&code, &data);
        assert_eq!(stores.len(), expected.len());
        for (index, (&(op, value), &expected)) in stores.iter().zip(&expected).enumerate() {
            assert_eq!(value, expected, "store {index}, {op:?}, of {}", &vector[..30]);
        }
        compared += expected.len();
    }
    assert!(compared > 2000, "only {compared} results found");
}
