//! A vector under construction: faces go into Dst, SrcA and SrcB, instructions follow, Dst or memory
//! is compared.
//!
//! All configuration is written by `WRCFG`, so that its order with the other instructions is that
//! of the list. Field positions: `isa/tables/backend_config.toml`.

use serde_json::{Value, json};

use super::random::Random;
use crate::program::{GPRS, INPUT, LIST, List, OUT, SEMAPHORES};

/// Datums of a face, and its rows of 16.
pub(super) const FACE: usize = 256;
pub(super) const ROWS: u32 = 16;

/// Format codes `[spec: numerics 1.1]`.
pub(super) const FP32: u32 = 0;
pub(super) const FP16: u32 = 1;
pub(super) const TF32: u32 = 4;
pub(super) const BF16: u32 = 5;
pub(super) const BFP8: u32 = 6;
pub(super) const BFP4: u32 = 7;
pub(super) const INT32: u32 = 8;
pub(super) const INT16: u32 = 9;
pub(super) const FP8: u32 = 10;
pub(super) const INT8: u32 = 14;
pub(super) const BFP2: u32 = 15;

/// Waits, with everything behind it, for the scalar unit, unpackers, packer, matrix and vector unit.
const ALL_IDLE: u32 = 0x1FF << 15 | 0x81F;

pub(super) fn hex(bytes: impl IntoIterator<Item = u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn words(values: &[u32]) -> String {
    hex(values.iter().flat_map(|value| value.to_le_bytes()))
}

/// A list with its input and what of L1 is compared.
pub(super) struct Bench {
    pub(super) list: List,
    inputs: Vec<(u32, String)>,
    compared: Vec<(u32, usize)>,
    next_input: u32,
    /// Word 1 of the configuration: formats of the arithmetic.
    formats: u32,
}

impl Bench {
    /// Counters at zero, implied formats off, address modifiers: 0 nothing, 1 next fidelity phase,
    /// 2 eight rows further in SrcA and SrcB, 3 back to the start, 4 eight rows further in SrcB, 5
    /// sixteen rows further in SrcA, 6 eight rows further in Dst.
    pub(super) fn new() -> Self {
        let mut list = List::default();
        list.push(0x51, 7 << 21 | 0xF); // SETADCXY
        list.push(0x54, 7 << 21 | 0xF); // SETADCZW
        list.push(0x37, 0xF); // SETRWC
        list.thread(41, 0);
        list.thread(2, 1);
        list.thread(3, 1);
        let modifiers = [
            (0, 0),
            (0, 1 << 13),
            (8 << 8 | 8, 1 << 15),
            (1 << 15 | 1 << 7, 1 << 15 | 1 << 11),
            (8 << 8, 0),
            (16, 0),
            (0, 8),
            (0, 0),
        ];
        for (slot, (ab, dst)) in (0..).zip(modifiers) {
            list.thread(12 + slot, ab);
            list.thread(28 + slot, dst);
        }
        list.thread(37, 4);
        Self { list, inputs: Vec::new(), compared: Vec::new(), next_input: INPUT, formats: 0 }
    }

    /// `SETDMAREG` of both halves of a general-purpose register.
    pub(super) fn gpr(&mut self, gpr: u32, value: u32) {
        self.list.push(0x45, (value & 0xFFFF) << 8 | (2 * gpr));
        self.list.push(0x45, (value >> 16) << 8 | (2 * gpr + 1));
    }

    /// A configuration word, by way of GPR 63.
    pub(super) fn config(&mut self, word: u32, value: u32) {
        self.gpr(63, value);
        self.list.push(0xA2, 0x1FF << 15 | 1);
        self.list.push(0xB0, 63 << 16 | word);
    }

    /// Waits until nothing is under way.
    pub(super) fn settle(&mut self) {
        self.list.push(0xA2, ALL_IDLE);
    }

    /// Bytes in L1; gives their address.
    pub(super) fn input(&mut self, bytes: String) -> u32 {
        let at = self.next_input;
        self.next_input += (bytes.len() as u32 / 2 + 15) & !15;
        self.inputs.push((at, bytes));
        at
    }

    /// Bytes that are in L1 where the packer writes.
    pub(super) fn output_before(&mut self, bytes: String) {
        self.inputs.push((OUT, bytes));
    }

    /// Compares `bytes` of L1 from `at` on.
    pub(super) fn compare(&mut self, at: u32, bytes: usize) {
        self.compared.push((at, bytes));
    }

    /// Compares the general-purpose registers of thread 0.
    pub(super) fn compare_gprs(&mut self) {
        self.compare(GPRS, 256);
    }

    /// Compares the values of the semaphores.
    pub(super) fn compare_semaphores(&mut self) {
        self.compare(SEMAPHORES, 32);
    }

    /// A face of 32-bit patterns to rows 0 to 15 of Dst.
    pub(super) fn fill_dst(&mut self, face: &[u32]) {
        let at = self.input(words(face));
        for (word, value) in [
            (64, 256 << 16 | 0x10 | INT32),
            (65, 1 << 16 | 1),
            (72, INT32),
            (73, 0x33),
            (84, 64),
            (50, 0),
            (76, at / 16 - 1),
            (92, 0),
            (86, 256),
            (1, 0),
        ] {
            self.config(word, value);
        }
        self.list.thread(5, 0);
        self.list.push(0x5E, 1 << 21 | (FACE as u32 - 1) << 10);
        self.list.push(0x42, 1 << 7 | 1);
        self.settle();
    }

    /// A face to SrcA (`unpacker` 0) or SrcB (1), from a format in L1 to one in the register file;
    /// the bank is handed over.
    pub(super) fn fill_source(&mut self, unpacker: u32, [from, to]: [u32; 2], face: String) {
        let at = self.input(face);
        let section = 48 * unpacker;
        for (word, value) in [
            (64 + section, 256 << 16 | 0x10 | from),
            (65 + section, 1 << 16 | 1),
            (72 + section, to),
            (73 + section, 3),
            (76 + section, at / 16 - 1),
        ] {
            self.config(word, value);
        }
        if unpacker == 0 {
            self.config(84, 64);
            self.config(86, 256);
            self.config(50, 0);
        }
        self.list.thread(5, 4);
        self.list.push(0x5E, 1 << (21 + unpacker) | (FACE as u32 - 1) << 10);
        self.list.push(0x42, unpacker << 23 | 1 << 7 | 1 << 6 | 1);
        self.settle();
    }

    /// Formats of SrcA and SrcB for the arithmetic, with further bits of the same word.
    pub(super) fn formats(&mut self, a: u32, b: u32, more: u32) {
        self.formats = a << 17 | b << 21 | more;
        self.config(1, self.formats);
    }

    /// Packs `rows` of Dst from row 0 on; `read` is `PCK_DEST_RD_CTRL`, `formats` those of the
    /// intermediate and in L1. Gives nothing to compare yet.
    pub(super) fn pack(&mut self, rows: u32, read: u32, [dst, to]: [u32; 2]) {
        self.settle();
        let formats = self.formats & !(0xF << 25) | dst << 25;
        for (word, value) in [
            (1, formats),
            (70, dst << 8 | to << 4),
            (18, read),
            (69, OUT / 16 - 1),
            (12, if read & 1 != 0 { 64 << 16 } else { 32 << 16 }),
            (13, 0),
            (14, 0),
            (20, 0),
            (28, 0x1000),
        ] {
            self.config(word, value);
        }
        self.list.push(0x51, 4 << 21 | 0xF);
        self.list.push(0x54, 4 << 21 | 0xF);
        self.list.push(0x5E, 4 << 21 | 15 << 10);
        for group in 0..rows / 4 {
            self.list.push(0x41, u32::from(4 * (group + 1) >= rows));
        }
        self.settle();
    }

    /// No edge masks, no ReLU, no accumulation.
    pub(super) fn plain_packer(&mut self) {
        for (word, value) in [(24, 0xFFFF), (25, 0), (68, 0), (71, 0), (2, 0)] {
            self.config(word, value);
        }
    }

    /// Packs `rows` of 32-bit Dst as they are and compares them.
    pub(super) fn dump_words(&mut self, rows: u32) {
        self.plain_packer();
        self.pack(rows, 1, [INT32, INT32]);
        self.compare(OUT, 64 * rows as usize);
    }

    /// Packs `rows` of 16-bit Dst as they are and compares them.
    pub(super) fn dump_halves(&mut self, rows: u32) {
        self.plain_packer();
        self.pack(rows, 0, [INT16, INT16]);
        self.compare(OUT, 32 * rows as usize);
    }

    /// The vector.
    pub(super) fn finish(mut self, name: &str) -> Value {
        self.inputs.push((LIST, words(&self.list.words())));
        let expect: Vec<_> =
            self.compared.iter().map(|&(at, bytes)| (at, "00".repeat(bytes))).collect();
        json!({ "name": name, "l1_init": self.inputs, "scripts": { "t0": [] }, "expect": expect })
    }
}

/// A face in a format of L1, with numbers that suit it.
pub(super) fn face(random: &mut Random, format: u32) -> String {
    let halves = |random: &mut Random, bits| {
        hex((0..FACE).flat_map(|_| random.half(bits).to_le_bytes()).collect::<Vec<_>>())
    };
    let block = |random: &mut Random, bytes| {
        let exponents: Vec<u8> = (0..16).map(|_| 110 + random.below(30) as u8).collect();
        hex(exponents.into_iter().chain(random.bytes(bytes)))
    };
    match format {
        FP32 => words(&random.words(FACE)),
        INT32 => words(&(0..FACE).map(|_| random.integer()).collect::<Vec<_>>()),
        FP16 | INT16 => halves(random, 5),
        BF16 => halves(random, 8),
        BFP8 => block(random, FACE),
        BFP4 => block(random, FACE / 2),
        BFP2 => block(random, FACE / 4),
        _ => hex(random.bytes(FACE)),
    }
}
