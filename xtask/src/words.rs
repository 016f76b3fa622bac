//! Where words may be taken apart: an instruction's operands have names, which its row gives them.

use crate::Findings;
use crate::files::Tree;

/// Rooms that work on instruction words.
const ROOMS: &[&str] = &["tensix/src/units/", "tensix/src/frontend/", "tensix/src/decode.rs"];

/// Files there whose words are something else, and what.
const DATA: &[(&str, &str)] = &[
    ("tensix/src/units/matrix/moves.rs", "words of Dst"),
    ("tensix/src/units/matrix/pool.rs", "words of Dst"),
    ("tensix/src/units/mover/command.rs", "commands of TDMA-RISC"),
    ("tensix/src/units/packer/accumulate.rs", "words of L1"),
    ("tensix/src/units/unpacker/block.rs", "words of L1"),
    ("tensix/src/units/vector/mad.rs", "entries of SFPLUT's table"),
];

/// No literal bit position of an instruction word.
pub(crate) fn check(tree: &Tree) -> Findings {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| ROOMS.iter().any(|room| file.path.starts_with(room))) {
        let found: Vec<String> = file
            .shipped_code()
            .lines()
            .enumerate()
            .filter(|(_, line)| takes_apart(line))
            .map(|(number, line)| format!("{}:{}: {}", file.path, number + 1, line.trim()))
            .collect();
        match DATA.iter().find(|(path, _)| *path == file.path) {
            None => findings.extend(found),
            Some((path, what)) if found.is_empty() => {
                findings.push(format!("{path}: takes no {what} apart; it need not be listed"));
            }
            Some(_) => {}
        }
    }
    Ok(findings)
}

/// Whether a line shifts or masks something called a word by a literal, or asks for a field by one.
fn takes_apart(line: &str) -> bool {
    let by_literal = |rest: &str| rest.trim_start().starts_with(|next: char| next.is_ascii_digit());
    let shifts = line.match_indices("word").any(|(at, _)| {
        let rest = &line[at + "word".len()..];
        let rest = rest.strip_prefix("()").unwrap_or(rest).trim_start();
        [">>", "<<", "&"].iter().any(|operator| rest.strip_prefix(operator).is_some_and(by_literal))
    });
    shifts || line.match_indices(".field(").any(|(at, name)| by_literal(&line[at + name.len()..]))
}

#[cfg(test)]
mod tests {
    use super::takes_apart;

    #[test]
    fn literal_position_is_found_however_the_word_is_called() {
        for line in [
            "let mode = word >> 16 & 0xF;",
            "match issued.word & 7 {",
            "if entry.word() >> 24 == MOP {",
            "let gpr = issued.field(6, 6);",
        ] {
            assert!(takes_apart(line), "{line}");
        }
    }

    #[test]
    fn named_position_is_fine() {
        for line in [
            "let mode = DstTransfer::INSTR_MOD0.get(word);",
            "word & TRANSFER == LOAD",
            "let first = words[0] >> 4;",
            "if holds(word) && 1 < 2 {",
            "self.config.state_field(thread, field)",
        ] {
            assert!(!takes_apart(line), "{line}");
        }
    }
}
