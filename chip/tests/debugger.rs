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
