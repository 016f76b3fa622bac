//! Moves and commands, worked by hand from `[isa-wh: Mover.md]` and `[isa-wh: TDMA-RISC.md]`.

use super::*;

#[test]
fn modes_follow_the_direction_names() {
    // 0 L0_TO_L1, 1 L1_TO_L0, 2 L0_TO_L0, 3 L1_TO_L1; "L0" as a source means zeroes.
    let task = |mode| Move::of_units(0, 0, 1, mode);
    assert_eq!([0, 1, 2, 3].map(|mode| task(mode).copies()), [false, true, false, true]);
    assert_eq!([0, 1, 2, 3].map(|mode| task(mode).targets_l1()), [true, false, false, true]);
}

#[test]
fn a_copy_of_eight_units_takes_eleven_cycles() {
    assert_eq!(Move::of_units(0, 0, 8, 3).cycles(), 11);
    assert_eq!(Move::of_units(0, 0, 8, 0).cycles(), 8);
}

#[test]
fn compact_command_carries_its_fields() {
    let word = 1 << 31 | 1 << 30 | 5 << 24 | 0x12 << 16 | 0x34 << 8 | 0x40;
    let command = TdmaCommand { word, parameters: [9; 4], base: 0x100 };
    let expected = Move { destination: 0x120, source: 0x1340, count: 0x50, mode: 3 };
    assert_eq!(command.task(), expected);
    let cleared = TdmaCommand { word: word & !(1 << 30), ..command };
    assert_eq!(cleared.task().mode, 1);
}

#[test]
fn command_with_parameters_takes_them() {
    let command = TdmaCommand { word: 0x40, parameters: [0x10, 0x20, 0x3_0002, 7], base: 0 };
    let expected = Move { destination: 0x200, source: 0x100, count: 0x20, mode: 3 };
    assert_eq!(command.task(), expected);
}
