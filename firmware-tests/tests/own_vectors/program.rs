//! What a vector makes TRISC0 do: a list of stores, carried out by a few instructions of our own,
//! then everything the vector compares is in L1.
//!
//! The list holds pairs of address and value; address 0 ends it. Instructions for the coprocessor
//! are stores to the instruction FIFO. Then the core waits until its thread is idle and copies its
//! general-purpose registers and the semaphores to L1. The layout is that of the golden harness: TRISC0 starts at 0x10
//! and raises a flag at 0x448.

use isa::asm::{addi, beq, bne, j, lui, lw, sw};

/// Where the list is.
pub(crate) const LIST: u32 = 0x9000;
/// Where input faces are, 4 KiB apart.
pub(crate) const INPUT: u32 = 0x4_0000;
/// Where the packer writes.
pub(crate) const OUT: u32 = 0x6_0000;
/// Where GPRs 0 to 63 of thread 0 are copied to.
pub(crate) const GPRS: u32 = 0x7_0000;
/// Where the values of semaphores 0 to 7 are copied to.
pub(crate) const SEMAPHORES: u32 = GPRS + 0x100;
const CODE: u32 = 0x8000;
const FIFO: u32 = 0xFFE4_0000;
const CONFIG: u32 = 0xFFEF_0000;

/// The code: address and words of each piece.
pub(crate) fn code() -> [(u32, Vec<u32>); 2] {
    let main = vec![
        lui(5, LIST),
        lw(6, 5, 0),
        beq(6, 0, 20),
        lw(7, 5, 4),
        addi(5, 5, 8),
        sw(7, 6, 0),
        j(-20),
        // Idle: store, load, use [isa-bh: ManualTTSync.md].
        lui(5, 0xFFE8_0000),
        sw(0, 5, 4),
        lw(6, 5, 4),
        addi(6, 6, 0),
        // GPRs.
        lui(5, 0xFFE0_0000),
        lui(6, GPRS),
        addi(7, 0, 64),
        lw(8, 5, 0),
        sw(8, 6, 0),
        addi(5, 5, 4),
        addi(6, 6, 4),
        addi(7, 7, -1),
        bne(7, 0, -20),
        // Semaphores; x6 goes on where the registers end.
        lui(5, 0xFFE8_0000),
        addi(7, 0, 8),
        lw(8, 5, 0x20),
        sw(8, 6, 0),
        addi(5, 5, 4),
        addi(6, 6, 4),
        addi(7, 7, -1),
        bne(7, 0, -20),
        addi(5, 0, 1),
        sw(5, 0, 0x448),
        j(0),
    ];
    [(0x10, vec![j((CODE - 0x10) as i32)]), (CODE, main)]
}

/// A list under construction.
#[derive(Default)]
pub(crate) struct List(Vec<u32>);

impl List {
    pub(crate) fn store(&mut self, address: u32, value: u32) {
        self.0.extend([address, value]);
    }

    /// A word of configuration state 0.
    pub(crate) fn config(&mut self, word: u32, value: u32) {
        self.store(CONFIG + 4 * word, value);
    }

    /// A Tensix instruction of thread 0.
    pub(crate) fn push(&mut self, opcode: u32, operands: u32) {
        self.store(FIFO, opcode << 24 | operands);
    }

    /// `SETC16`.
    pub(crate) fn thread(&mut self, word: u32, value: u32) {
        self.push(0xB2, word << 16 | value);
    }

    /// The finished list.
    pub(crate) fn words(mut self) -> Vec<u32> {
        self.0.extend([0, 0]);
        self.0
    }
}

/// Format codes `[spec: numerics 1.1]`.
pub(crate) mod format {
    pub(crate) const FP32: u32 = 0;
    pub(crate) const FP16: u32 = 1;
    pub(crate) const BF16: u32 = 5;
    pub(crate) const BFP8: u32 = 6;
    pub(crate) const FP8: u32 = 10;
}

/// Unpackers, matrix unit and packer for faces of 256 datums: `from` in L1, `src` in SrcA and SrcB,
/// `to` in L1; `dst` is what the packer takes 16-bit Dst for.
pub(crate) fn set_up(list: &mut List, from: u32, src: u32, dst: u32, to: u32) {
    for unpacker in 0..2 {
        let at = 48 * unpacker;
        list.config(64 + at, 256 << 16 | 0x10 | from);
        list.config(65 + at, 1 << 16 | 1);
        list.config(72 + at, src);
        list.config(73 + at, 1);
        list.config(86 + at, 256);
        list.config(76 + at, (INPUT + 0x1000 * unpacker) / 16 - 1);
    }
    list.config(84, 64);
    list.config(1, dst << 25 | src << 21 | src << 17);
    // A row of Dst in bytes, counted in datums as wide as `dst` says.
    list.config(12, (if dst & 3 == 2 { 16 } else { 32 }) << 16);
    for section in 0..4 {
        list.config(24 + section, 0xFFFF);
    }
    list.config(68, if to & 2 != 0 { 1 << 16 } else { 0 });
    list.config(69, OUT / 16 - 1);
    list.config(70, dst << 8 | to << 4 | 1);
    list.thread(5, 4);
    // Address modifiers 0: nothing; 1: next fidelity phase; 2: eight rows further, phase 0;
    // 3: back to row 0, phase 0; 4: SrcB alone eight rows further, phase 0.
    for (slot, ab, dst) in [
        (0, 0, 0),
        (1, 0, 1 << 13),
        (2, 8 << 8 | 8, 1 << 15),
        (3, 1 << 15 | 1 << 7, 1 << 15),
        (4, 8 << 8, 1 << 15),
        (7, 0, 0),
    ] {
        list.thread(12 + slot, ab);
        list.thread(28 + slot, dst);
    }
    list.thread(37, 4);
    list.push(0x5E, 3 << 21 | 255 << 10); // SETADCXX, unpackers
    list.push(0x5E, 4 << 21 | 15 << 10); // SETADCXX, packers
    list.push(0x37, 0xF); // SETRWC, all to 0
    list.push(0x10, 3 << 19); // ZEROACC, all
}

/// `UNPACR` of both unpackers, each handing its bank over.
pub(crate) fn unpack(list: &mut List, both: bool) {
    list.push(0x42, 1 << 7 | 1 << 6);
    if both {
        list.push(0x42, 1 << 23 | 1 << 7 | 1 << 6);
    }
}

/// SrcA to rows `row` to `row + 15` of Dst; the bank goes back.
pub(crate) fn move_to_dst(list: &mut List, row: u32) {
    list.push(0x12, 2 << 12 | row);
    list.push(0x12, 8 << 17 | 2 << 12 | (row + 8));
    list.push(0x36, 1 << 22);
}

/// Packs `groups` of four rows from row 0 on, once the matrix and vector units are idle.
pub(crate) fn pack(list: &mut List, groups: u32) {
    list.push(0xA2, 4 << 15 | 0x810); // STALLWAIT
    for group in 0..groups {
        list.push(0x41, 0xF << 8 | u32::from(group + 1 == groups));
    }
}
