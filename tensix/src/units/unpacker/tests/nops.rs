//! `UNPACR_NOP`, `SETDVALID` and waiting for banks.

use isa::config::field;
use sim_core::{ThreadId, WaitReason};

use super::{FLIP, Fixture, UNPACR_A, UNPACR_B, setc16};

/// `UNPACR_NOP` of unpacker 0.
const NOP_A: u32 = 0x4300_0000;
const NOP_B: u32 = 0x4380_0000;
const CLEAR: u32 = 1;
const BOTH: u32 = 1 << 4;
const WAIT_LIKE_UNPACR: u32 = 1 << 5;
const SET_DVALID: u32 = 1 << 8;

fn owners(fixture: &Fixture, operand: usize) -> ([bool; 2], bool) {
    let banks = &fixture.tensix.backend.src[operand];
    ([false, true].map(|bank| banks.owned_by_matrix(bank)), banks.unpacker_bank())
}

#[test]
fn clear_fills_the_own_bank_or_both() {
    // [llk: assembly.yaml#UNPACR_NOP] clear values; the immediate in physical order.
    for (select, cell) in [(0, 0), (1, 0x7_FFFF), (2, 15 << 10), (3, 0x4_0000 | 0x81 << 10 | 3)] {
        let mut fixture = Fixture::new();
        fixture.set(&field::UNP0_NOP_REG_CLR_VAL_nop_reg_clr_val, 0x4_0000 | 3 << 8 | 0x81);
        fixture.run(&[NOP_A | CLEAR | select << 2]);
        assert_eq!(*fixture.bank(0, 0), [[cell; 16]; 64], "select {select}");
        assert_eq!(*fixture.bank(0, 1), [[0; 16]; 64]);
        fixture.run(&[NOP_A | CLEAR | BOTH | select << 2]);
        assert_eq!(*fixture.bank(0, 1), [[cell; 16]; 64], "select {select}, both");
    }
}

#[test]
fn clear_sets_dvalid_with_the_configured_format() {
    let mut fixture = Fixture::new();
    fixture.formats(1, 6, 6);
    fixture.run(&[NOP_B | CLEAR | WAIT_LIKE_UNPACR | SET_DVALID]);
    assert_eq!(owners(&fixture, 1), ([true, false], true));
    assert_eq!(fixture.tensix.backend.src[1].implied_format[0], 6);
}

#[test]
fn set_dvalid_flavour_does_nothing_else() {
    for word in [NOP_A | 3 << 6, NOP_A | 3 << 6 | CLEAR | 1 << 2, NOP_A | 7] {
        let mut fixture = Fixture::new();
        fixture.run(&[word]);
        assert_eq!(owners(&fixture, 0), ([true, false], true), "{word:#x}");
        assert_eq!(*fixture.bank(0, 0), [[0; 16]; 64]);
    }
}

#[test]
fn clear_waits_for_the_bank_its_wait_mode_names() {
    // [isa-wh: UNPACR_NOP_ZEROSRC.md]: the matrix unit's bank, or the unpacker's own.
    let mut fixture = Fixture::new();
    fixture.run(&[NOP_A | CLEAR | SET_DVALID, NOP_A | CLEAR | WAIT_LIKE_UNPACR]);
    assert!(fixture.tensix.wait_state(ThreadId::T0).is_none(), "bank 1 is free");
    fixture.run(&[NOP_A | CLEAR]);
    let wait = fixture.tensix.wait_state(ThreadId::T0).expect("bank 0 belongs to the matrix unit");
    assert_eq!(wait.reason, WaitReason::SrcBank { operand: 0, bank: 0, for_matrix: false });
}

#[test]
fn unpacr_waits_for_its_bank_without_side_effects() {
    let mut fixture = Fixture::new();
    fixture.halves([0x3F80; 16]);
    fixture.extent(0, 0, 15);
    let step_z = 1 << 15;
    fixture.run(&[UNPACR_A | FLIP, UNPACR_A | FLIP, UNPACR_A | FLIP | step_z]);
    let wait = fixture.tensix.wait_state(ThreadId::T0).expect("both banks are handed over");
    assert_eq!(wait.reason, WaitReason::SrcBank { operand: 0, bank: 0, for_matrix: false });
    assert!(fixture.tensix.is_asleep());
    assert_eq!(fixture.tensix.backend.adcs[0].0[0][0].z.value, 0);
    // The matrix unit gives bank 0 back.
    fixture.tensix.backend.src[0].matrix_release(true, true);
    fixture.tensix.wake();
    fixture.steps(8);
    assert!(fixture.tensix.wait_state(ThreadId::T0).is_none());
    assert_eq!(fixture.tensix.backend.adcs[0].0[0][0].z.value, 1);
    assert_eq!(owners(&fixture, 0).0, [true, true]);
}

#[test]
fn unpackers_wait_for_their_own_operand_only() {
    let mut fixture = Fixture::new();
    fixture.extent(1, 0, 15);
    fixture.run(&[NOP_A | 3 << 6, NOP_A | 3 << 6, UNPACR_B | FLIP]);
    assert!(fixture.tensix.wait_state(ThreadId::T0).is_none());
    assert_eq!(owners(&fixture, 1), ([true, false], true));
}

#[test]
fn counting_and_flushing_do_not_wait() {
    let mut fixture = Fixture::new();
    fixture.run(&[NOP_A | 3 << 6, NOP_A | 3 << 6, 0x4200_2000, 0x4200_0002]);
    assert!(fixture.tensix.wait_state(ThreadId::T0).is_none());
}

#[test]
fn setdvalid_hands_over_the_selected_banks() {
    // [spec: boot-and-sync 6]: bit 0 SrcA, bit 1 SrcB; resets the row counter of the thread.
    let mut fixture = Fixture::new();
    fixture.run(&[setc16(&field::SRCB_SET_Base, 2), 0x5700_0002]);
    assert_eq!(
        (owners(&fixture, 0), owners(&fixture, 1)),
        (([false; 2], false), ([true, false], true))
    );
    assert_eq!(fixture.tensix.backend.unpackers.units[1].src_row, [32, 0, 0]);
    fixture.run(&[0x5700_0001]);
    assert_eq!(owners(&fixture, 0), ([true, false], true));
}

#[test]
fn overlay_clear_writes_the_stream_register() {
    // STREAM_MSG_DATA_CLEAR is register 266 of the stream, 0x1000 bytes each.
    let mut fixture = Fixture::new();
    fixture.run(&[
        setc16(&field::NOC_OVERLAY_MSG_CLEAR_StreamId_0, 9),
        NOP_A,
        NOP_A | 5 << 16 | 1 << 12 | 3,
        NOP_A | 5 << 16 | 3,
    ]);
    let at = |stream: u32| (0xFFB4_0000 + stream * 0x1000 + 266 * 4, 1);
    assert_eq!(fixture.memory.stores, [at(9), at(5), at(9)]);
}

#[test]
fn register_write_stores_or_accumulates() {
    // [isa-wh: UNPACR_NOP_SETREG.md]; sets of twelve bits, two per section: two high address bits,
    // ten low ones.
    let mut fixture = Fixture::new();
    let set = |high: u32, word: u32| high << 10 | word;
    fixture.set(&field::THCON_SEC0_REG10_Unpacker_Reg_Wr_Addr, set(1, 297) << 12 | set(1, 8));
    fixture.thcon(1, &field::THCON_SEC0_REG10_Unpacker_Reg_Wr_Addr, set(0, 0x24) << 12);
    let write = |select: u32, address: u32, value: u32, accumulate: u32| {
        let select = (select & 1) << 15 | (select >> 1) << 22;
        NOP_A | 7 | select | address << 16 | value << 4 | accumulate << 3
    };
    fixture.run(&[
        write(0, 5, 0x7FF, 0),
        write(1, 3, 2, 1),
        write(1, 3, 5, 1),
        write(1, 3, 0, 1),
        write(1, 3, 4, 1),
        write(3, 0x11, 1, 0),
        // Wormhole's operation code for the same.
        NOP_A | 4 | 5 << 16 | 0x123 << 4,
    ]);
    let stream = |stream: u32, register: u32| 0xFFB4_0000 + stream * 0x1000 + register * 4;
    assert_eq!(
        fixture.memory.stores,
        [
            (stream(5, 8), 0x7FF),
            (stream(3, 297), 2),
            (stream(3, 297), 7),
            (stream(3, 297), 4),
            (0xFFB1_1090, 1),
            (stream(5, 8), 0x123),
        ]
    );
}
