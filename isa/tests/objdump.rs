//! Our RV32 disassembly beside what GNU objdump 2.40 prints (`fixtures/objdump.txt`).

/// Our targets carry `0x`, objdump's do not; everything else must be equal.
fn without_target_prefix(ours: &str) -> String {
    let jumps = [
        "beq", "bne", "blt", "bge", "bltu", "bgeu", "jal", "j", "beqz", "bnez", "bgez", "bltz",
        "blez", "bgtz",
    ];
    let mnemonic = ours.split(' ').next().unwrap_or_default();
    if jumps.contains(&mnemonic) { ours.replace("0x", "") } else { ours.to_owned() }
}

fn rows() -> impl Iterator<Item = (u32, u32, &'static str, &'static str)> {
    include_str!("fixtures/objdump.txt").lines().filter(|l| !l.starts_with('#')).map(|line| {
        let mut parts = line.split('\t');
        let mut next = || parts.next().expect("four columns");
        let hex = |text: &str| u32::from_str_radix(text, 16).expect("hexadecimal column");
        (hex(next()), hex(next()), next(), next())
    })
}

/// Columns that differ, printed as one text so that all are seen at once.
fn differences(
    column: impl Fn((u32, u32, &'static str, &'static str)) -> (String, &'static str),
) -> String {
    rows()
        .map(|row| (row, column(row)))
        .filter(|(_, (ours, theirs))| without_target_prefix(ours) != *theirs)
        .map(|((pc, word, ..), (ours, theirs))| {
            format!("{pc:x}: {word:08x} `{ours}` is `{theirs}`\n")
        })
        .collect()
}

#[test]
fn rv32_plain_text_equals_objdump_no_aliases() {
    let found = differences(|(pc, word, plain, _)| (isa::disasm::rv32_plain(word, pc), plain));
    assert!(found.is_empty(), "{found}");
}

/// objdump 2.40 prints immediate forms under the short name (`and a0,a0,1` for `andi`); we keep the
/// `i`, which says more.
fn without_immediate_suffix(text: &str) -> String {
    text.replacen("i ", " ", 1)
}

#[test]
fn rv32_text_equals_objdump_default() {
    let found = differences(|(pc, word, plain, alias)| {
        let ours = isa::disasm::rv32(word, pc);
        let shortened = without_immediate_suffix(&ours) == alias && plain != alias;
        (if shortened { alias.to_owned() } else { ours }, alias)
    });
    assert!(found.is_empty(), "{found}");
}
