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
    if let Some(pushed) = rv32::ttinsn(word) {
        return format!("ttinsn {}", tensix(pushed));
    }
    match rv32::decode(word) {
        Some(instr) => {
            aliases::text(instr, word, pc).unwrap_or_else(|| operands::text(instr, word, pc))
        }
        None => format!(".word {word:#010x}"),
    }
}

/// Like [`rv32`], without aliases: `addi a0,zero,1` instead of `li a0,1`.
#[must_use]
pub fn rv32_plain(word: u32, pc: u32) -> String {
    if let Some(pushed) = rv32::ttinsn(word) {
        return format!("ttinsn {}", tensix(pushed));
    }
    match rv32::decode(word) {
        Some(instr) => operands::text(instr, word, pc),
        None => format!(".word {word:#010x}"),
    }
}
