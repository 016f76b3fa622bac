//! Our RV32 decoder beside the crate `riscv-decode`, on seeded random words.

use std::collections::BTreeSet;

/// Letters and digits of a name, lower case.
fn bare(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Name of the other crate's variant.
fn theirs(word: u32) -> Option<String> {
    let text = format!("{:?}", riscv_decode::decode(word).ok()?);
    Some(bare(text.split('(').next().unwrap_or_default()))
}

/// Seeded words: every row with random operands (xorshift, seed in the text).
fn words() -> impl Iterator<Item = u32> {
    let mut state = 0x2026_1121_u32;
    isa::rv32::ROWS.iter().flat_map(move |row| {
        (0..64)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                (state & !row.mask) | row.value
            })
            .collect::<Vec<_>>()
    })
}

#[test]
fn rv32_decoder_agrees_with_riscv_decode_where_both_know_a_word() {
    let mut compared = BTreeSet::new();
    for word in words() {
        let (Some(ours), Some(theirs)) = (isa::rv32::decode(word), theirs(word)) else { continue };
        assert_eq!(bare(ours.name()), theirs, "{word:#010x}");
        compared.insert(ours.name());
    }
    // RV32I without the shared spellings of fence.i, M, Zicsr and Zaamo at the least.
    assert!(compared.len() > 60, "only {} instructions compared: {compared:?}", compared.len());
}

#[test]
fn rv32_decoder_finds_the_row_that_made_the_word() {
    for row in &isa::rv32::ROWS {
        // Operand registers 31: with x0, pack would be the special case zext.h.
        let word = row.value | (!row.mask & 0x01FF_8F80);
        assert_eq!(isa::rv32::decode(word), Some(row.instr), "{}", row.name);
        assert_eq!(row.instr.row().name, row.name);
    }
}

#[test]
fn rv32_decoder_refuses_words_these_cores_lack() {
    // c.nop, ld, lr.w, fdiv.s, fsqrt.s, fadd.d, wfi, addiw: encodings of the RISC-V specifications.
    for word in
        [0x0001, 0x3003, 0x1000_252F, 0x1800_0053, 0x5800_0053, 0x0200_0053, 0x1050_0073, 0x1B]
    {
        assert_eq!(isa::rv32::decode(word), None, "{word:#010x}");
    }
}
