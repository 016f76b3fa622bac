//! Tensix opcode rows, fields, encoders and text against words with a known meaning.

use isa::op::{Opcode, ROWS, Unit};
use isa::{config, disasm, encode, names, operands, rv32};

/// The nine words the vendor's firmware pushes at boot, with their decoded fields
/// [spec: boot-and-sync 4].
#[test]
fn tensix_boot_words_decode_as_observed() {
    assert_eq!(Opcode::from_word(0x1018_0000), Some(Opcode::Zeroacc));
    assert_eq!(operands::Zeroacc::of(0x1018_0000).clear_mode, 3);
    assert_eq!(Opcode::from_word(0x8A00_300A), Some(Opcode::Sfpencc));
    assert_eq!(operands::Sfpencc::of(0x8A00_300A).imm12_math, 3);
    assert_eq!(operands::Sfpencc::of(0x8A00_300A).instr_mod1, 0xA);
    assert_eq!(Opcode::from_word(0x0200_0000), Some(Opcode::Nop));
    assert_eq!(operands::Sfploadi::of(0x7100_BF80).imm16, 0xBF80);
    assert_eq!(operands::Sfpconfig::of(0x9100_00B0).config_dest, 11);
    assert_eq!(operands::Seminit::of(0xA310_0008).sem_sel, 0x02);
    assert_eq!(operands::Seminit::of(0xA310_0200).max_value, 1);
    assert_eq!(operands::Seminit::of(0xA310_0200).sem_sel, 0x80);
}

#[test]
fn tensix_encoder_gives_observed_boot_words() {
    assert_eq!(encode::zeroacc(0, 0, 0, 0, 3), 0x1018_0000);
    assert_eq!(encode::seminit(0x10, 0, 1), 0xA310_0040);
    assert_eq!(encode::sfploadi(0xBF80, 0, 0), 0x7100_BF80);
    assert_eq!(encode::nop(), 0x0200_0000);
}

#[test]
fn tensix_semwait_text_names_block_and_semaphore() {
    // Fields by [isa-bh: TensixCoprocessor/SEMWAIT.md]: block 23:15, semaphores from bit 2, condition 1:0.
    let word = 0xA600_0000 | 0x40 << 15 | 0x02 << 2 | 1;
    assert_eq!(
        disasm::tensix(word),
        "SEMWAIT stall_res=0x40 sem_sel=0x2 wait_sem_cond=1 ; block MATH while MATH_PACK ON_ZERO"
    );
}

#[test]
fn tensix_stallwait_without_masks_shows_the_documented_defaults() {
    // Block mask 0 means B6, condition mask 0 means 0x0F [isa-bh: TensixCoprocessor/STALLWAIT.md].
    let text = disasm::tensix(0xA200_0000);
    assert!(text.ends_with("block MATH until THCON|UNPACK0|UNPACK1|PACK"), "{text}");
}

#[test]
fn tensix_setc16_text_names_the_field() {
    // ThreadConfig word 0 holds CFG_STATE_ID_StateID [hdr: cfg_defines.h].
    assert!(disasm::tensix(0xB200_0001).ends_with("; CFG_STATE_ID_StateID"));
}

#[test]
fn tensix_unknown_word_prints_and_never_panics() {
    assert_eq!(disasm::tensix(0xFF00_0000), ".ttword 0xff000000");
    for byte in 0..=255_u32 {
        assert!(!disasm::tensix(byte << 24 | 0x00FF_FFFF).is_empty());
        assert!(!disasm::rv32(byte << 24 | 0x00FF_FFFF, 0).is_empty());
    }
}

#[test]
fn tensix_rows_number_137_and_cover_every_backend_unit() {
    // 137 entries in the vendor's assembly list [llk: instructions/assembly.yaml].
    assert_eq!(ROWS.len(), 137);
    for unit in Unit::ALL {
        assert!(ROWS.iter().any(|row| row.unit == unit), "{unit} has no instruction");
    }
}

/// Rows of the table "exact set of instructions blocked" [isa-bh: TensixCoprocessor/STALLWAIT.md].
#[test]
fn tensix_block_bits_follow_the_stallwait_page() {
    let bits = |op: Opcode| op.row().blocked_by;
    assert_eq!(bits(Opcode::Adddmareg), 0x21);
    assert_eq!(bits(Opcode::Addrcrxy), 0x01);
    assert_eq!(bits(Opcode::Atgetm), 0x02);
    assert_eq!(bits(Opcode::Pacr), 0x05);
    assert_eq!(bits(Opcode::UnpacrNop), 0x09);
    assert_eq!(bits(Opcode::Xmov), 0x11);
    assert_eq!(bits(Opcode::Mvmul), 0x40);
    assert_eq!(bits(Opcode::Setc16), 0x80);
    assert_eq!(bits(Opcode::Sfpnop), 0x100);
    assert_eq!(bits(Opcode::Streamwait), 0x1FF);
    assert_eq!(bits(Opcode::Rstdma), 0x01);
    assert_eq!(bits(Opcode::Mop), 0);
}

#[test]
fn tensix_nop_is_blocked_only_by_all_bits() {
    let nop = Opcode::Nop.row();
    assert!(nop.is_blocked(0x1FF));
    assert!(!nop.is_blocked(0x0FF));
    assert!(Opcode::Semwait.row().is_blocked(0x004));
}

#[test]
fn config_fields_match_header_constants() {
    // [hdr: hw/inc/internal/tt-1xx/blackhole/cfg_defines.h]
    let field = config::field::DEST_TARGET_REG_CFG_MATH_Offset;
    assert_eq!((field.scope, field.addr32, field.mask()), (config::Scope::Thread, 1, 0xFFF));
    assert_eq!(field.insert(0xFFFF_FFFF, 0x5), 0xFFFF_F005);
    assert_eq!(field.get(&[0, 0xABCD]), 0xBCD);
    assert_eq!(field.get(&[]), 0);
    assert_eq!(config::by_name("fidelity_base_phase").map(|f| f.addr32), Some(11));
    assert_eq!(config::with_prefix("ADDR_MOD_AB_SEC0_").count(), 6);
    assert!(config::ALL.len() > 800);
}

#[test]
fn config_words_list_their_fields_in_bit_order() {
    // Word 12 of ThreadConfig: six fields from bit 0 [hdr: cfg_defines.h].
    let lows: Vec<u8> = config::in_word(config::Scope::Thread, 12).map(|f| f.lo).collect();
    assert_eq!(lows, [0, 6, 7, 8, 14, 15]);
    // The 128-bit tile descriptor covers words 64 to 67 [hdr: cfg_defines.h].
    assert!(
        config::in_word(config::Scope::Config, 67)
            .any(|f| f.name == "THCON_SEC0_REG0_TileDescriptor")
    );
}

#[test]
fn ttinsn_code_is_the_word_rotated_left_by_two() {
    // [isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md]
    assert_eq!(rv32::ttinsn_code(0x0200_0000), Some(0x0800_0000));
    assert_eq!(rv32::ttinsn(0x0800_0000), Some(0x0200_0000));
    assert_eq!(rv32::ttinsn_code(0xC000_0000), None);
    assert_eq!(disasm::rv32(0x0800_0000, 0), "ttinsn NOP");
}

#[test]
fn names_of_masks_and_indices_are_found() {
    assert_eq!(names::semaphore(1), Some("MATH_PACK"));
    assert_eq!(names::mutex(4), Some("SFPU"));
    assert_eq!(names::mutex(1), None);
    assert_eq!(names::bits(names::STALL_CONDITIONS, 0x180), "SRCA_VLD|SRCB_VLD");
    assert_eq!(names::format(5).map(|f| f.name), Some("Float16_b"));
}

#[test]
fn csr_rows_match_the_page() {
    // [isa-bh: TensixTile/BabyRISCV/CSRs.md]
    let misa = isa::csr::find(0x301).expect("misa is on the page");
    assert_eq!((misa.reset, misa.writable), (Some(0x4020_1123), false));
    let cfg0 = isa::csr::by_name("cfg0").expect("cfg0 is on the page");
    let timer = cfg0.fields.iter().find(|f| f.name == "StMergeTimer").expect("a field of cfg0");
    assert_eq!(cfg0.reset.map(|v| timer.get(v)), Some(16));
    assert_eq!(isa::csr::address::CFG0, 0x7C0);
}

macro_rules! count_ops {
    ($(($variant:ident, $function:ident, $name:literal, $opcode:literal, $unit:ident))*) => {
        [$((Opcode::$variant, $name, $opcode, Unit::$unit)),*]
    };
}

#[test]
fn list_macro_visits_every_row_once() {
    let list = isa::for_each_tensix_op!(count_ops);
    assert_eq!(list.len(), ROWS.len());
    for ((opcode, name, byte, unit), row) in list.iter().zip(&ROWS) {
        assert_eq!((*opcode, *name, *unit), (row.opcode, row.name, row.unit));
        assert_eq!(Opcode::from_byte(*byte), Some(*opcode));
    }
}
