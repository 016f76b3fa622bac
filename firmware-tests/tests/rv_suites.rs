//! The instruction suites under `suites/rv` on the five cores of a tile. Each instruction form
//! becomes a small program that walks through a table of rows in L1: load the operands, execute
//! the word, store the results. Expected values: `qemu-riscv32`, see `suites/rv/README.md`.

mod common;

use common::{ALL_HELD, RESET_BITS, RESET_PCS, SOFT_RESET_0, on};
use firmware_tests::suites::{Form, Suite, load};
use isa::asm::{addi, bne, csrrw, flw, fsw, jal, li, lw, store};
use sim_core::engine::EngineKind;
use sim_core::{CoreId, Cycle, NullObserver, WaitReason, Width};
use tile::{Stop, Tile};

/// Where a core's rows lie, and how far those of the next core.
const ROWS: u32 = 0x4_0000;
const ROWS_OF_NEXT_CORE: u32 = 0x2_0000;
/// A row: operands, results, and 64 bytes of memory.
const ROW_BYTES: u32 = 128;
const RESULTS: u32 = 32;
const MEMORY: u32 = 64;
/// x10 and f10 before each row `suites/rv/README.md`.
const BEFORE: u32 = 0xDEAD_0000;
const FCSR: u32 = 3;
/// Landing pads after the instruction: one every eight bytes from the next instruction on.
const PADS: i32 = 8;

/// A program, and where in it the tested instruction is.
struct Program {
    words: Vec<u32>,
    instruction: u32,
}

/// x5 points to the row, x6 counts rows, x8 becomes the distance from the instruction to where
/// execution went on.
fn program(word: u32, table: u32, rows: u32) -> Program {
    let mut words = [li(5, table), li(6, rows)].concat();
    let top = words.len();
    words.extend([lw(11, 5, 0), lw(12, 5, 4), flw(11, 5, 8), flw(12, 5, 12), flw(13, 5, 16)]);
    words.extend([lw(7, 5, 20), csrrw(0, FCSR, 7), lw(10, 5, 24), flw(10, 5, 24)]);
    // A branch backwards lands 8 bytes before the instruction, with nothing between.
    words.push(jal(0, 12));
    let to_end_of_pads = |distance: i32| 4 + 8 * PADS - (distance + 4);
    words.extend([addi(8, 0, -8), jal(0, to_end_of_pads(-8))]);
    let instruction = words.len();
    words.push(word);
    for distance in (0..PADS).map(|pad| 4 + 8 * pad) {
        words.extend([addi(8, 0, distance), jal(0, to_end_of_pads(distance))]);
    }
    words.extend([store(2, 10, 5, 32), store(2, 11, 5, 36), store(2, 12, 5, 40)]);
    words.extend([fsw(10, 5, 44), csrrw(7, FCSR, 0), store(2, 7, 5, 48), store(2, 8, 5, 52)]);
    words.extend([addi(5, 5, ROW_BYTES as i32), addi(6, 6, -1)]);
    let back = (words.len() - top) as i32 * 4;
    words.extend([bne(6, 0, -back), jal(0, 0)]);
    Program { words, instruction: instruction as u32 * 4 }
}

/// Address of the tested instruction on one core.
struct Place {
    instruction: u32,
}

fn place(core: CoreId, program: &Program) -> Place {
    Place { instruction: RESET_PCS[core.index()] + program.instruction }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The block of a row before it runs.
fn operands(form: &Form, values: &[u32], memory: &[u8], row: u32, place: &Place) -> Vec<u8> {
    let mut words = [0; RESULTS as usize / 4];
    words[6] = BEFORE;
    let mut memory = memory.to_vec();
    for (name, &value) in form.inputs.iter().zip(values) {
        let (slot, value) = match name.as_str() {
            "x11" => (0, value),
            "x12" => (1, value),
            "f11" => (2, value),
            "f12" => (3, value),
            "f13" => (4, value),
            "fcsr" => (5, value),
            "x11-memory" => (0, value.wrapping_add(row + MEMORY)),
            "x11-pc" => (0, value.wrapping_add(place.instruction)),
            "word" => {
                memory[..4].copy_from_slice(&value.to_le_bytes());
                (0, row + MEMORY)
            }
            other => panic!("{}: operand {other}", form.asm),
        };
        words[slot] = value;
    }
    let mut block = bytes(&words);
    block.resize(MEMORY as usize, 0);
    block.extend(memory);
    block
}

/// The first aligned word of the memory that changed, else the first.
fn changed(tile: &Tile, row: u32, before: &[u8]) -> (u32, u32) {
    let old = |offset: usize| u32::from_le_bytes(before[offset..offset + 4].try_into().expect("4"));
    let now = |offset: u32| tile.l1_value(row + MEMORY + offset, Width::Word);
    let offset = (0..64).step_by(4).find(|&offset| now(offset) != old(offset as usize));
    (offset.unwrap_or(0), now(offset.unwrap_or(0)))
}

fn result(name: &str, tile: &Tile, row: u32, place: &Place, memory: &[u8]) -> u32 {
    let slot = |index: u32| tile.l1_value(row + RESULTS + 4 * index, Width::Word);
    match name {
        "x10" => slot(0),
        "x11" => slot(1),
        "x12" => slot(2),
        "f10" => slot(3),
        "fcsr" => slot(4),
        "fflags" => slot(4) & 0x1F,
        "x10-pc" => slot(0).wrapping_sub(place.instruction),
        "x11-pc" => slot(1).wrapping_sub(place.instruction),
        "landing" => slot(5),
        "taken" => u32::from(slot(5) != 4),
        "word" => tile.l1_value(row + MEMORY, Width::Word),
        "memory_offset" => changed(tile, row, memory).0,
        "memory_word" => changed(tile, row, memory).1,
        other => panic!("result {other}"),
    }
}

fn memory_of(suite: &Suite) -> Vec<u8> {
    let digits = suite.memory_init.as_bytes();
    let text = |pair: &[u8]| String::from_utf8(pair.to_vec()).expect("ASCII");
    digits.chunks(2).map(|pair| u8::from_str_radix(&text(pair), 16).expect("digits")).collect()
}

/// A tile on which all given cores have executed all given rows of a form.
fn execute(form: &Form, rows: &[String], memory: &[u8], cores: &[CoreId]) -> Tile {
    let word = form.instruction().expect("a word");
    let mut tile = Tile::new(on(EngineKind::Inline), NullObserver).expect("no threads needed");
    let mut held = ALL_HELD;
    for &core in cores {
        let table = ROWS + core.index() as u32 * ROWS_OF_NEXT_CORE;
        let program = program(word, table, rows.len() as u32);
        let place = place(core, &program);
        let mut blocks = Vec::new();
        for (row, address) in rows.iter().zip((table..).step_by(ROW_BYTES as usize)) {
            let (values, _) = form.split(row).expect("as many values as names");
            blocks.extend(operands(form, &values, memory, address, &place));
        }
        assert!(blocks.len() < ROWS_OF_NEXT_CORE as usize, "{}: too many rows", form.asm);
        tile.host_write(table, &blocks).expect("L1 is mapped");
        let pc = RESET_PCS[core.index()];
        tile.host_write(pc, &bytes(&program.words)).expect("L1 is mapped");
        held &= !RESET_BITS[core.index()];
    }
    tile.host_write_word(SOFT_RESET_0, held).expect("the register is mapped");
    match tile.run(Cycle(10_000_000), None) {
        Stop::Quiescent(end) => {
            assert!(end.waits.iter().all(|wait| wait.reason == WaitReason::Ended), "{end:?}");
        }
        stop => panic!("{}: {stop:?}", form.asm),
    }
    tile
}

/// Runs the rows that `select` gives for each form; every row that is not as expected, in words.
fn failures<'a>(
    suite: &'a Suite,
    cores: &[CoreId],
    select: impl Fn(&'a Form) -> &'a [String],
) -> Vec<String> {
    let memory = memory_of(suite);
    let mut wrong = Vec::new();
    for form in &suite.forms {
        let rows = select(form);
        if rows.is_empty() {
            continue;
        }
        let tile = execute(form, rows, &memory, cores);
        for &core in cores {
            let place = place(core, &program(0, 0, 0));
            let table = ROWS + core.index() as u32 * ROWS_OF_NEXT_CORE;
            for (row, address) in rows.iter().zip((table..).step_by(ROW_BYTES as usize)) {
                let (values, wanted) = form.split(row).expect("as many values as names");
                let before = operands(form, &values, &memory, address, &place);
                let before = &before[MEMORY as usize..];
                let got: Vec<u32> = form
                    .outputs
                    .iter()
                    .map(|name| result(name, &tile, address, &place, before))
                    .collect();
                if got != wanted {
                    wrong.push(format!("{core} {}: {row}: got {got:08x?}", form.asm));
                }
            }
        }
    }
    wrong
}

fn assert_none(wrong: &[String]) {
    let shown: Vec<_> = wrong.iter().take(20).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), shown.join("\n"));
}

fn assert_suite_holds_on_all_cores(name: &str) {
    let suite = load(name).expect("a suite");
    assert_none(&failures(&suite, &CoreId::ALL, |form| &form.rows));
}

#[test]
fn base_instructions_are_as_in_qemu() {
    assert_suite_holds_on_all_cores("i");
    assert_suite_holds_on_all_cores("i_memory");
}

#[test]
fn multiplication_and_atomics_are_as_in_qemu() {
    assert_suite_holds_on_all_cores("m");
    assert_suite_holds_on_all_cores("zaamo");
}

#[test]
fn csr_instructions_are_as_in_qemu() {
    assert_suite_holds_on_all_cores("zicsr");
}

#[test]
fn bit_manipulation_is_as_in_qemu() {
    assert_suite_holds_on_all_cores("zba");
    assert_suite_holds_on_all_cores("zbb");
    assert_suite_holds_on_all_cores("zbkb");
}

#[test]
fn float_arithmetic_is_as_in_qemu() {
    assert_suite_holds_on_all_cores("f");
    assert_suite_holds_on_all_cores("zfh");
}

/// Compare, classify, move and select see subnormal numbers as they are
/// `[spec: numerics 6]`, `suites/rv/README.md`.
#[test]
fn subnormal_numbers_are_compared_and_moved_exactly() {
    let exact = ["fsgnj", "fclass", "feq", "flt", "fle", "fmv", "fmin", "fmax"];
    for name in ["f", "zfh"] {
        let suite = load(name).expect("a suite");
        let wrong = failures(&suite, &CoreId::ALL, |form| {
            let is_exact = exact.iter().any(|prefix| form.asm.starts_with(prefix));
            if is_exact { &form.subnormal } else { &[] }
        });
        assert_none(&wrong);
    }
}

/// Additions and multiplications of single precision flush `[spec: numerics 6]`.
#[test]
fn subnormal_results_of_arithmetic_are_flushed() {
    let suite = load("f").expect("a suite");
    let memory = memory_of(&suite);
    for form in &suite.forms {
        let flushes =
            ["fadd.s", "fsub.s", "fmul.s"].iter().any(|prefix| form.asm.starts_with(prefix));
        if !flushes || form.subnormal.is_empty() {
            continue;
        }
        let tile = execute(form, &form.subnormal, &memory, &[CoreId::Trisc1]);
        let table = ROWS + CoreId::Trisc1.index() as u32 * ROWS_OF_NEXT_CORE;
        for (row, address) in form.subnormal.iter().zip((table..).step_by(ROW_BYTES as usize)) {
            let value = tile.l1_value(address + RESULTS + 12, Width::Word);
            let subnormal = value & 0x7F80_0000 == 0 && value & 0x007F_FFFF != 0;
            assert!(!subnormal, "{}: {row}: {value:#x}", form.asm);
        }
    }
}
