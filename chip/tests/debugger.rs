//! The debug interface of the cores as a host reaches it, where time passes only with its calls.

use chip::{Chip, ChipConfig};

const CNTL_0: u64 = 0xFFB1_2080;
const CNTL_1: u64 = 0xFFB1_2084;
const STATUS_1: u64 = 0xFFB1_208C;
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
/// A Tensix tile.
const AT: (u32, u32) = (1, 2);

fn write(chip: &mut Chip, addr: u64, value: u32) {
    chip.tile_write(AT.0, AT.1, addr, &value.to_le_bytes()).expect("mapped");
}

fn read(chip: &mut Chip, addr: u64) -> u32 {
    let mut bytes = [0; 4];
    chip.tile_read(AT.0, AT.1, addr, &mut bytes).expect("mapped");
    u32::from_le_bytes(bytes)
}

/// A debug register of BRISC, as tt-exalens writes it `[exalens: hardware/baby_risc_debug.py]`.
fn debug(chip: &mut Chip, register: u32, value: u32) {
    write(chip, CNTL_1, value);
    write(chip, CNTL_0, 0x8001_0000 + register);
    write(chip, CNTL_0, 0);
}

fn status(chip: &mut Chip) -> u32 {
    write(chip, CNTL_0, 0x8000_0000);
    write(chip, CNTL_0, 0);
    read(chip, STATUS_1)
}

/// `ebreak`, a store of 0x87654000 to 0x10000, an endless loop.
fn chip_at_ebreak() -> Chip {
    let mut chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
    for (addr, word) in
        (0..).step_by(4).zip([0x0010_0073_u32, 0x0001_0537, 0x8765_45B7, 0x00B5_2023, 0x0000_006F])
    {
        write(&mut chip, addr, word);
    }
    write(&mut chip, SOFT_RESET_0, 0x4_7000);
    chip.clock(1);
    // Nobody has been seen who could let it go on.
    let reports = chip.take_reports();
    assert_eq!(reports.len(), 1);
    for part in
        ["tile (0, 0) [NoC (1, 2)]", "[ebreak]", "BRISC", "pc 0x0", "no debugger has been seen"]
    {
        assert!(reports[0].contains(part), "{part} in {}", reports[0]);
    }
    chip
}

#[test]
fn command_shows_in_the_next_access() {
    let mut chip = chip_at_ebreak();
    assert_eq!(status(&mut chip), 0x9, "halted by ebreak");
    assert_eq!(read(&mut chip, 0x1_0000), 0);
    debug(&mut chip, 1, 0x8000_0004);
    assert_eq!(read(&mut chip, 0x1_0000), 0x8765_4000, "continued, with no clock in between");
    assert_eq!(status(&mut chip), 0);
    debug(&mut chip, 1, 0x8000_0001);
    assert_eq!(status(&mut chip), 1);
    assert_eq!(chip.take_reports(), Vec::<String>::new());
    assert_eq!(chip.take_notes(), []);
}

/// Who uses the debug interface may have placed the `ebreak`: that is worth a line, and no mistake.
#[test]
fn ebreak_under_a_debugger_is_no_mistake() {
    let mut chip = chip_at_ebreak();
    write(&mut chip, 0x10, 0x0010_0073);
    debug(&mut chip, 1, 0x8000_0004);
    assert_eq!(status(&mut chip), 0x9);
    assert_eq!(chip.take_reports(), Vec::<String>::new());
    let notes = chip.take_notes();
    assert!(notes.len() == 1 && notes[0].text.contains("pc 0x10"), "{notes:?}");
}

const DBG_BUS_CTRL: u64 = 0xFFB1_2054;
const DBG_L1_MEM: [u64; 3] = [0xFFB1_2048, 0xFFB1_204C, 0xFFB1_2050];
/// Group B of BRISC, of which word 1 has the pc `[isa-wh: TensixTile/DebugDaisychain.md]`.
const BRISC_B: u32 = 1 << 29 | 7 << 16 | 11;
const SAMPLES: u32 = 0x2_0000;

/// A chip whose BRISC executes one `nop` in each cycle, from pc 0 on.
fn running() -> Chip {
    let mut chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
    for addr in (0..0x1_0000).step_by(4) {
        write(&mut chip, addr, 0x13);
    }
    write(&mut chip, SOFT_RESET_0, 0x4_7000);
    chip.clock(1);
    chip
}

/// What a debugger writes before the trigger, as tt-exalens does `[exalens: debug_bus_signal_store.py]`.
fn prepare(chip: &mut Chip, group: u32, end: u32, mode: u32) {
    write(chip, DBG_BUS_CTRL, group);
    write(chip, DBG_L1_MEM[2], 0xF);
    write(chip, DBG_L1_MEM[0], SAMPLES >> 4);
    write(chip, DBG_L1_MEM[1], end >> 4);
    write(chip, DBG_L1_MEM[2], mode);
    for addr in (SAMPLES..SAMPLES + 0x100).step_by(4) {
        write(chip, addr.into(), 0xBADC_0FFE);
    }
}

#[test]
fn group_of_the_debug_bus_comes_into_l1_when_asked_for() {
    let mut chip = running();
    prepare(&mut chip, BRISC_B, 0, 1);
    write(&mut chip, DBG_L1_MEM[2], 1 << 12 | 1);
    let words = [0, 4, 8, 12].map(|at| read(&mut chip, u64::from(SAMPLES) + at));
    write(&mut chip, DBG_BUS_CTRL, BRISC_B | 1 << 25);
    assert_eq!(words[1], read(&mut chip, 0xFFB1_205C), "no time has passed since");
    assert_eq!(words[0], 0);
    assert_eq!(read(&mut chip, u64::from(SAMPLES) + 16), 0xBADC_0FFE, "one sample");
}

#[test]
fn series_of_samples_takes_its_time() {
    let mut chip = running();
    let count = 8;
    // Every 25 cycles, in whole epochs: 32 each.
    let mode = 24 << 4 | 4;
    prepare(&mut chip, BRISC_B, SAMPLES + 16 * count, mode);
    let before = chip.now();
    write(&mut chip, DBG_L1_MEM[2], 1 << 12 | mode);
    assert_eq!(chip.now() - before, 32 * u64::from(count - 1));
    let pcs: Vec<u32> = (0..count)
        .map(|at| read(&mut chip, u64::from(SAMPLES + 16 * at + 4)) & 0x3FFF_FFFF)
        .collect();
    assert!(pcs.windows(2).all(|pair| pair[1] == pair[0] + 4 * 32), "{pcs:x?}");
    assert_eq!(read(&mut chip, u64::from(SAMPLES + 16 * count)), 0xBADC_0FFE);
}

#[test]
fn samples_of_what_is_not_modelled_are_refused_and_zero() {
    let mut chip = running();
    prepare(&mut chip, 1 << 29 | 0xFF << 16, 0, 1);
    let refused = chip.tile_write(AT.0, AT.1, DBG_L1_MEM[2], &(1_u32 << 12 | 1).to_le_bytes());
    let error = refused.expect_err("nothing is known there").to_string();
    assert!(error.contains("[debug-bus]") && error.contains("L1 0x20000 gets zeroes"), "{error}");
    // Who waits for the sample goes on, and who waits for the last one of a series.
    assert_eq!(read(&mut chip, SAMPLES.into()), 0);
    prepare(&mut chip, 1 << 29 | 0xFF << 16, SAMPLES + 16 * 4, 4);
    assert!(chip.tile_write(AT.0, AT.1, DBG_L1_MEM[2], &(1_u32 << 12 | 4).to_le_bytes()).is_err());
    assert_eq!(read(&mut chip, u64::from(SAMPLES) + 16 * 3), 0);
    // The low 1 MiB is all that there is.
    prepare(&mut chip, BRISC_B, 2 << 20, 4);
    write(&mut chip, DBG_L1_MEM[0], (1 << 16) - 2);
    let before = chip.now();
    write(&mut chip, DBG_L1_MEM[2], 1 << 12 | 4);
    assert!(chip.now() - before <= 2 * 8, "two of them, and no more");
}

#[test]
fn core_that_samples_gets_a_series_of_one_moment() {
    use isa::asm::{j, li, sw};
    let mut chip = Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() });
    prepare(&mut chip, BRISC_B, SAMPLES + 16 * 0x1000, 4);
    let program = [&li(5, DBG_L1_MEM[2] as u32)[..], &li(6, 1 << 12 | 4), &[sw(6, 5, 0), j(0)]];
    for (addr, word) in (0..).step_by(4).zip(program.concat()) {
        write(&mut chip, addr, word);
    }
    write(&mut chip, SOFT_RESET_0, 0x4_7000);
    chip.clock(64);
    let pc = |at: u64| u64::from(SAMPLES) + 16 * at + 4;
    let first = read(&mut chip, pc(0));
    assert_ne!(first, 0xBADC_0FFE);
    assert_eq!(read(&mut chip, pc(0xFFF)), first);
    assert_eq!(read(&mut chip, pc(0x1000)), 0);
    assert_eq!(chip.take_reports(), Vec::<String>::new());
}

#[test]
fn same_calls_give_the_same_chip() {
    let session = || {
        let mut chip = chip_at_ebreak();
        for _ in 0..4 {
            debug(&mut chip, 1, 0x8000_0002);
            status(&mut chip);
        }
        (chip.now(), chip.state_hash())
    };
    assert_eq!(session(), session());
}
