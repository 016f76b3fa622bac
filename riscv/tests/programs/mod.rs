//! Random small programs: arithmetic, loads and stores of every width to L1 and local RAM,
//! branches, counters, and stores into the program itself.
//!
//! Encodings: `[riscv: RV32I base instruction formats, M extension, Zicsr]`.

#![allow(dead_code, reason = "every test crate uses a part of it")]

use proptest::prelude::*;

/// Register that holds the address of the program.
pub(crate) const CODE_REGISTER: u8 = 2;
/// Register that holds the address of local RAM.
pub(crate) const LOCAL_REGISTER: u8 = 3;
/// Register that holds the address of the data in L1.
pub(crate) const DATA_REGISTER: u8 = 4;
/// Registers that hold instructions a program may store into itself.
pub(crate) const PATCH_REGISTERS: std::ops::Range<u8> = 16..19;
/// Registers programs compute in.
const WORK_REGISTERS: std::ops::Range<u32> = 5..16;

pub(crate) use isa::asm::{branch, i, jal, r, store};

/// Words of a program.
pub(crate) const LENGTH: usize = 24;

/// One instruction before it knows where it lies.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A word that means the same everywhere.
    Word(u32),
    /// A branch: funct3, rs1, rs2, target as a word of the program.
    Branch(u32, u32, u32, usize),
    /// `jal` to a word of the program.
    Jump(u32, usize),
}

impl Step {
    fn encode(&self, at: usize) -> u32 {
        let offset = |target: usize| (target as i32 - at as i32) * 4;
        match *self {
            Self::Word(word) => word,
            Self::Branch(funct3, rs1, rs2, target) => branch(funct3, rs1, rs2, offset(target)),
            Self::Jump(rd, target) => jal(rd, offset(target)),
        }
    }
}

/// The words of a program.
pub(crate) fn encode(steps: &[Step]) -> Vec<u32> {
    steps.iter().enumerate().map(|(at, step)| step.encode(at)).collect()
}

fn computing() -> impl Strategy<Value = u32> {
    let (rd, rs1, rs2) = (WORK_REGISTERS, WORK_REGISTERS, WORK_REGISTERS);
    // funct7 and funct3 of RV32I and M.
    let codes = prop::sample::select(vec![
        (0, 0),
        (0x20, 0),
        (0, 1),
        (0, 2),
        (0, 3),
        (0, 4),
        (0, 5),
        (0x20, 5),
        (0, 6),
        (0, 7),
        (1, 0),
        (1, 1),
        (1, 3),
        (1, 4),
        (1, 5),
        (1, 7),
    ]);
    prop_oneof![
        (codes, rd.clone(), rs1.clone(), rs2)
            .prop_map(|((funct7, funct3), rd, rs1, rs2)| r(funct7, funct3, rd, rs1, rs2)),
        (prop::sample::select(vec![0, 2, 3, 4, 6, 7]), rd, rs1, -2048..2048)
            .prop_map(|(funct3, rd, rs1, imm)| i(0x13, funct3, rd, rs1, imm)),
    ]
}

/// Loads and stores to the first 64 bytes of the data or of local RAM.
fn memory() -> impl Strategy<Value = u32> {
    let base = prop::sample::select(vec![u32::from(DATA_REGISTER), u32::from(LOCAL_REGISTER)]);
    let load = prop::sample::select(vec![(0, 1), (1, 2), (2, 4), (4, 1), (5, 2)]);
    let stores = prop::sample::select(vec![(0, 1), (1, 2), (2, 4)]);
    prop_oneof![
        (load, WORK_REGISTERS, base.clone(), 0..64).prop_map(|((funct3, bytes), rd, base, imm)| i(
            0x03,
            funct3,
            rd,
            base,
            imm & !(bytes - 1)
        )),
        (stores, WORK_REGISTERS, base, 0..64).prop_map(|((funct3, bytes), rs2, base, imm)| {
            store(funct3, rs2, base, imm & !(bytes - 1))
        }),
    ]
}

/// A read of mcycle or minstret.
fn counter() -> impl Strategy<Value = u32> {
    (prop::sample::select(vec![0xB00, 0xB02]), WORK_REGISTERS)
        .prop_map(|(csr, rd)| i(0x73, 2, rd, 0, csr))
}

/// A store of one of the patch registers over a word of the program.
fn patch() -> impl Strategy<Value = u32> {
    (PATCH_REGISTERS, 0..LENGTH as i32 - 1)
        .prop_map(|(rs2, at)| store(2, u32::from(rs2), u32::from(CODE_REGISTER), at * 4))
}

fn step(patches: bool) -> impl Strategy<Value = Step> {
    let target = 0..LENGTH;
    let condition = prop::sample::select(vec![0u32, 1, 4, 5, 6, 7]);
    prop_oneof![
        6 => computing().prop_map(Step::Word),
        5 => memory().prop_map(Step::Word),
        1 => counter().prop_map(Step::Word),
        3 => (condition, WORK_REGISTERS, WORK_REGISTERS, target.clone())
            .prop_map(|(funct3, rs1, rs2, to)| Step::Branch(funct3, rs1, rs2, to)),
        1 => (WORK_REGISTERS, target).prop_map(|(rd, to)| Step::Jump(rd, to)),
        u32::from(patches) => patch().prop_map(Step::Word),
    ]
}

/// A program that never leaves its words.
pub(crate) fn program(patches: bool) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(patches), LENGTH - 1).prop_map(|mut steps| {
        steps.push(Step::Jump(0, 0));
        steps
    })
}

/// What the patch registers hold.
pub(crate) fn patches() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(computing(), PATCH_REGISTERS.len())
}
