//! Programs for the measured cores, written by hand: loops that start at address 0 and touch
//! nothing but their own words of L1, so that all five cores of a tile may run one.
//!

use isa::asm::{addi, beq, bne, i, j, lui, lw, r, sw};

/// What a loop is, as a function to its words.
pub(crate) type Program = fn() -> Vec<u32>;

/// Word that nobody writes.
const NEVER: u32 = 0x2_0000;
/// Where [`NOC_WRITES`] and kernels count.
pub(crate) const COUNT: u32 = 0x2_0100;
/// What it writes, and where to.
const SOURCE: u32 = 0x3_0000;
const TARGET: u32 = 0x4_0000;

/// Eight instructions: additions, shifts, a multiplication, a jump.
pub(crate) const ALU: Program = || {
    vec![
        addi(5, 5, 1),
        r(0, 4, 6, 6, 5),
        i(0x13, 1, 7, 5, 3),
        r(0, 0, 8, 8, 7),
        r(0x20, 0, 9, 8, 6),
        r(1, 0, 10, 9, 5),
        i(0x13, 7, 11, 10, 0x7F),
        j(-28),
    ]
};

/// Eight instructions: two loads and two stores to words of L1, a jump.
pub(crate) const LOAD_STORE: Program = || {
    vec![
        lui(4, SOURCE),
        lw(5, 4, 0),
        addi(5, 5, 1),
        sw(5, 4, 0),
        lw(6, 4, 16),
        r(0, 0, 6, 6, 5),
        sw(6, 4, 32),
        addi(7, 7, 1),
        j(-28),
    ]
};

/// Polls a word of L1 that never changes.
pub(crate) const POLL: Program = || vec![lui(4, NEVER), lw(5, 4, 0), bne(5, 0, 8), j(-8), j(0)];

/// Where NoC 0 finds a tile, or a rectangle of them: the last one, with the first one above it.
const fn coordinate(x: i32, y: i32) -> i32 {
    x | y << 6
}

/// A request of tile (1, 2) over NoC 0. Registers and fields: `[isa-bh: NoC/MemoryMap.md]`.
struct Request {
    control: i32,
    /// Address and coordinate of what is read, written from, or changed by an atomic,
    target: (u32, i32),
    /// and of where data go.
    back: (u32, i32),
    /// Bytes, or what an atomic is.
    length: i32,
    /// The counter of responses to wait for, if they are waited for.
    counter: Option<i32>,
}

/// Carries a request out, waits until the command is taken or the response is there, and counts, over and over.
fn requests(request: &Request) -> Vec<u32> {
    const NIU: u32 = 0xFFB2_0000;
    let &Request { control, target, back, length, counter } = request;
    // Any 32 bits into register 6.
    let number = |value: i32| {
        let value = value as u32;
        [lui(6, value.wrapping_add(0x800) & !0xFFF), addi(6, 6, (value << 20) as i32 >> 20)]
    };
    let mut program = vec![lui(4, NIU)];
    let registers = [
        (0x00, target.0 as i32),
        (0x04, 0),
        (0x08, target.1),
        (0x0C, back.0 as i32),
        (0x10, 0),
        (0x14, back.1),
        (0x18, 0),
        (0x1C, control),
        // Some libraries know no high half of the length.
        (0x20, length),
        (0x28, 1),
    ];
    for (register, value) in registers {
        program.extend(number(value));
        program.push(sw(6, 4, register));
    }
    program.extend([addi(7, 0, 1), lui(8, COUNT & !0xFFF)]);
    match counter {
        None => program.extend([
            // The loop: go, wait until the command is taken, count.
            sw(7, 4, 0x40),
            lw(9, 4, 0x40),
            bne(9, 0, -4),
            addi(10, 10, 1),
            sw(10, 8, (COUNT & 0xFFF) as i32),
            j(-20),
        ]),
        Some(counter) => program.extend([
            // The loop: go, wait until the counter of responses has moved, count.
            lw(11, 4, counter),
            sw(7, 4, 0x40),
            lw(9, 4, counter),
            beq(9, 11, -4),
            addi(10, 10, 1),
            sw(10, 8, (COUNT & 0xFFF) as i32),
            j(-24),
        ]),
    }
    program
}

/// Control bits: a write, with a response; an atomic; to a rectangle, whose path is reserved.
const WRITE: i32 = 1 << 1;
const ATOMIC: i32 = 1;
const RESPONSE: i32 = 1 << 4;
const RECTANGLE: i32 = 1 << 5 | 1 << 8;
/// Counters of responses to reads and to atomics.
const READS_ANSWERED: i32 = 0x208;
const ATOMICS_ANSWERED: i32 = 0x200;
/// An atomic that adds to 32 bits of L1.
const ADD_32: i32 = 1 << 12 | 31 << 2;

/// Writes of so many bytes to tile (2, 2).
fn writes(length: i32) -> Vec<u32> {
    requests(&Request {
        control: WRITE | RESPONSE,
        target: (SOURCE, coordinate(1, 2)),
        back: (TARGET, coordinate(2, 2)),
        length,
        counter: None,
    })
}

/// Writes of 1 KiB.
pub(crate) const NOC_WRITES: Program = || writes(1024);
/// Writes of 16 KiB.
pub(crate) const NOC_LONG_WRITES: Program = || writes(16 << 10);

/// Reads of 1 KiB of tile (2, 2), each awaited.
pub(crate) const NOC_READS: Program = || {
    requests(&Request {
        control: RESPONSE,
        target: (SOURCE, coordinate(2, 2)),
        back: (TARGET, coordinate(1, 2)),
        length: 1024,
        counter: Some(READS_ANSWERED),
    })
};

/// Writes of 1 KiB to the 69 other tiles of the left half of a chip.
pub(crate) const NOC_MULTICASTS: Program = || {
    requests(&Request {
        control: WRITE | RESPONSE | RECTANGLE,
        target: (SOURCE, coordinate(1, 2)),
        back: (TARGET, coordinate(7, 11) | coordinate(1, 2) << 12),
        length: 1024,
        counter: None,
    })
};

/// Additions to a word of tile (2, 2), each awaited.
pub(crate) const NOC_ATOMICS: Program = || {
    requests(&Request {
        control: ATOMIC | RESPONSE,
        target: (TARGET, coordinate(2, 2)),
        back: (SOURCE, coordinate(1, 2)),
        length: ADD_32,
        counter: Some(ATOMICS_ANSWERED),
    })
};

/// TTSync: a load of the second word waits for the core's thread `[isa-bh: TensixTile/BabyRISCV/ManualTTSync.md]`.
const SYNC: u32 = 0xFFE8_0000;
/// Instructions in a kernel's replay buffer, all there are.
const RECORDED: u32 = 32;
/// How often a kernel plays them in a round.
const PLAYS: u32 = 1024;
/// Instructions that a kernel counts as one.
pub(crate) const PLAYED: u32 = RECORDED * PLAYS;

/// A Tensix instruction as a word of a TRISC's program
/// `[isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md]`.
const fn ttinsn(word: u32) -> u32 {
    word.rotate_left(2)
}

/// A kernel for a TRISC: fills the replay buffer with eight times these four instructions, plays it
/// [`PLAYS`] times, waits until all is done, and counts, over and over. Some libraries go on within
/// one clock as long as a core pushes, and never come back from it without that wait
/// `[isa-bh: TensixTile/BabyRISCV/ManualTTSync.md]`. LReg 0 to 2 are 1.5, 1.25 and 0.3, semaphore 0 is free.
/// Encodings: `[llk: instructions/assembly.yaml]`.
fn kernel(words: [u32; 4]) -> Vec<u32> {
    const SFPLOADI: u32 = 0x71 << 24;
    const SEMINIT: u32 = 0xA3 << 24;
    const REPLAY: u32 = 0x04 << 24;
    let mut program = vec![
        ttinsn(SFPLOADI | 0x3FC0),
        ttinsn(SFPLOADI | 1 << 20 | 0x3FA0),
        ttinsn(SFPLOADI | 2 << 20 | 0x3E99),
        ttinsn(SEMINIT | 8 << 20 | 1 << 2),
        ttinsn(REPLAY | RECORDED << 4 | 1),
    ];
    program.extend(words.iter().cycle().take(RECORDED as usize).map(|&word| ttinsn(word)));
    program.extend([lui(8, COUNT & !0xFFF), lui(9, SYNC)]);
    program.extend([
        // The loop: play so many times, wait, count.
        addi(5, 0, PLAYS as i32),
        ttinsn(REPLAY | RECORDED << 4),
        addi(5, 5, -1),
        bne(5, 0, -8),
        lw(6, 9, 4),
        addi(10, 10, 1),
        sw(10, 8, (COUNT & 0xFFF) as i32),
        j(-28),
    ]);
    program
}

/// A kernel like that which pushes each instruction itself, as compiled kernels of the vector unit do.
fn pushing_kernel(words: [u32; 4]) -> Vec<u32> {
    let mut program = vec![lui(8, COUNT & !0xFFF), lui(9, SYNC)];
    // The loop: push so many times, wait, count.
    program.push(addi(5, 0, PLAYS as i32));
    program.extend(words.iter().cycle().take(RECORDED as usize).map(|&word| ttinsn(word)));
    program.extend([
        addi(5, 5, -1),
        bne(5, 0, -4 * (RECORDED as i32 + 1)),
        lw(6, 9, 4),
        addi(10, 10, 1),
        sw(10, 8, (COUNT & 0xFFF) as i32),
        j(-4 * (RECORDED as i32 + 6)),
    ]);
    program
}

/// LReg 3 to 6 each become LReg 1 times LReg 2 plus LReg 0.
fn multiply_add() -> [u32; 4] {
    [3, 4, 5, 6].map(|vd| 0x84 << 24 | 1 << 16 | 2 << 12 | vd << 4)
}

/// That, played.
pub(crate) const SFPMAD: Program = || kernel(multiply_add());
/// That, pushed.
pub(crate) const SFPMAD_PUSHED: Program = || pushing_kernel(multiply_add());

/// SFPMAD of a register with itself: soon there is nothing but infinities.
pub(crate) const SFPMAD_GROWING: Program =
    || kernel([3, 4, 5, 6].map(|vd| 0x84 << 24 | vd << 16 | vd << 12 | vd << 4));

/// Loads and stores of two registers.
pub(crate) const SFPLOAD_SFPSTORE: Program = || {
    let (load, store) = (0x70 << 24, 0x72 << 24);
    kernel([load, store | 2, load | 1 << 20 | 4, store | 1 << 20 | 6])
};

/// Posts to semaphore 0 and gets from it.
pub(crate) const SEMPOST_SEMGET: Program = || {
    let (post, get) = (0xA4 << 24 | 1 << 2, 0xA5 << 24 | 1 << 2);
    kernel([post, get, post, get])
};

/// Nothing, by way of the scalar unit.
pub(crate) const DMANOP: Program = || kernel([0x60 << 24; 4]);
