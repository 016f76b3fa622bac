//! Disassembly: Tensix words and RV32 words to text.
//!
//! The text is for people and logs; nothing parses it back.

mod aliases;
mod operands;
mod tensix;

pub use operands::{csr_name, freg, xreg};
pub use tensix::tensix;

use crate::rv32;

/// Text of a code word of a baby core, in the manner of GNU objdump: aliases such as `li`, `mv` and
/// `ret`, ABI register names, absolute targets. A `.ttinsn` word prints as its Tensix instruction, an
/// unknown word as `.word`.
///
/// # Units and shapes
/// `pc` is the byte address of the word; it is needed for targets of branches and jumps.
#[must_use]
pub fn rv32(word: u32, pc: u32) -> String {
    let alias = || rv32::decode(word).and_then(|instr| aliases::text(instr, word, pc));
    if word == UNIMP { plain(word, pc) } else { alias().unwrap_or_else(|| plain(word, pc)) }
}

/// `csrrw zero,cycle,zero`: the word assemblers emit for "must not be reached".
const UNIMP: u32 = 0xC000_1073;

/// Like [`rv32()`], without aliases: `addi a0,zero,1` instead of `li a0,1`.
#[must_use]
pub fn rv32_plain(word: u32, pc: u32) -> String {
    plain(word, pc)
}

fn plain(word: u32, pc: u32) -> String {
    if let Some(pushed) = rv32::ttinsn(word) {
        return format!("ttinsn {}", tensix(pushed));
    }
    match rv32::decode(word) {
        Some(_) if word == UNIMP => "unimp".to_owned(),
        Some(instr) => operands::text(instr, word, pc),
        None => format!(".word {word:#010x}"),
    }
}
