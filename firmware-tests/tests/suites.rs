//! The suites read back as their format says, and a few rows hold by the text of the RISC-V specifications.

use firmware_tests::suites::{self, Form};

/// Results of the row with these operands.
fn lookup(suite: &str, asm: &str, operands: &[u32]) -> Vec<u32> {
    let suite = suites::load(suite).expect("the suite reads back");
    let form = suite.forms.iter().find(|form| form.asm == asm).unwrap_or_else(|| panic!("{asm}"));
    form.rows
        .iter()
        .filter_map(|row| form.split(row))
        .find(|(inputs, _)| inputs == operands)
        .unwrap_or_else(|| panic!("{asm} {operands:x?}"))
        .1
}

fn all_rows(form: &Form) -> impl Iterator<Item = &String> {
    form.rows.iter().chain(&form.subnormal).chain(&form.partly_fused)
}

#[test]
fn every_row_of_every_suite_splits_into_its_named_values() {
    for name in suites::RV {
        let suite = suites::load(name).unwrap();
        assert_eq!(suite.suite, name);
        assert!(!suite.forms.is_empty());
        for form in &suite.forms {
            assert_eq!(form.instruction().map(|word| word & 3), Some(3), "{}", form.asm);
            assert!(all_rows(form).count() > 0, "{}", form.asm);
            for row in all_rows(form) {
                assert!(form.split(row).is_some(), "{}: {row}", form.asm);
            }
        }
    }
}

#[test]
fn division_corner_cases_follow_the_m_specification() {
    let (min, minus_one) = (0x8000_0000, 0xFFFF_FFFF);
    assert_eq!(lookup("m", "div x10, x11, x12", &[1, 0]), [minus_one]);
    assert_eq!(lookup("m", "divu x10, x11, x12", &[1, 0]), [minus_one]);
    assert_eq!(lookup("m", "rem x10, x11, x12", &[min, 0]), [min]);
    assert_eq!(lookup("m", "div x10, x11, x12", &[min, minus_one]), [min]);
    assert_eq!(lookup("m", "rem x10, x11, x12", &[min, minus_one]), [0]);
}

#[test]
fn shift_amounts_use_five_bits() {
    assert_eq!(lookup("i", "sll x10, x11, x12", &[1, 33]), [2]);
    assert_eq!(lookup("i", "sra x10, x11, x12", &[0x8000_0000, 0xFFFF_FFFF]), [0xFFFF_FFFF]);
}

#[test]
fn minimum_and_maximum_prefer_the_number_over_the_quiet_nan() {
    let (one, nan) = (0x3F80_0000, 0x7FC0_0000);
    assert_eq!(lookup("f", "fmin.s f10, f11, f12", &[nan, one])[0], one);
}
