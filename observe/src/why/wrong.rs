//! A result that is not as expected, word by word, with who wrote each of them last: what is told.

use serde::Serialize;
use sim_core::AgentId;

use crate::describe::as_text;
use crate::names::{CodeName, Excerpt};

/// Words that are told.
const WORDS: usize = 4;

/// What memory holds in place of what a launch was to leave there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WrongResult {
    /// The launch, with its round if it is repeated.
    pub launch: String,
    /// L1 address of the first wrong byte.
    pub address: u32,
    /// The byte expected there.
    pub expected: u8,
    /// The byte found there.
    pub found: u8,
    /// Wrong bytes of that launch.
    pub bytes: usize,
    /// When it was looked at.
    pub cycle: u64,
    /// The first wrong words.
    pub words: Vec<WrongWord>,
}

/// A word that is not as expected.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WrongWord {
    /// Byte address, a multiple of four.
    pub address: u32,
    /// What was expected; bytes that nobody has asked for are as found.
    pub expected: u32,
    /// What is there.
    pub found: u32,
    /// Who wrote it last; nobody has since power-on, if it is none.
    pub writer: Option<Writer>,
}

/// Who wrote a word.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Writer {
    /// Its tile as the vendor's runtime counts workers; none: the tile of the word itself.
    pub tile: Option<(u8, u8)>,
    /// Who.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// When.
    pub cycle: u64,
    /// The instruction that did it, that pushed the Tensix instruction, or that started the NoC command.
    pub pc: Option<u32>,
    /// The Tensix instruction, disassembled.
    pub instruction: Option<String>,
    /// The command by which another tile did it: `write to tile (0, 0) [NoC (1, 2)]`.
    pub sent: Option<String>,
    /// The launch in force then.
    pub launch: Option<String>,
    /// Where it is in the source.
    pub code: Option<CodeName>,
    /// The text of that line.
    pub source: Option<Excerpt>,
    /// Who called the function of that line, the innermost call first.
    pub callers: Vec<CodeName>,
}

impl WrongResult {
    /// The wrong words among bytes that differ: address, expected, found. `word` reads L1.
    #[must_use]
    pub fn words(
        bytes: impl IntoIterator<Item = (u32, u8)>,
        word: impl Fn(u32) -> u32,
    ) -> Vec<WrongWord> {
        let mut words: Vec<WrongWord> = Vec::new();
        for (address, expected) in bytes {
            let (at, shift) = (address & !3, 8 * (address & 3));
            if words.last().is_none_or(|last| last.address != at) {
                if words.len() == WORDS {
                    break;
                }
                let found = word(at);
                words.push(WrongWord { address: at, expected: found, found, writer: None });
            }
            if let Some(last) = words.last_mut() {
                last.expected = last.expected & !(0xFF << shift) | u32::from(expected) << shift;
            }
        }
        words
    }
}

/// Wrong words with their last writers, as text.
#[derive(Clone, Copy, Debug)]
pub struct WrongWords<'a> {
    /// What they are in: `L1`, `DRAM channel 5`.
    pub place: &'a str,
    /// The words.
    pub words: &'a [WrongWord],
}

impl std::fmt::Display for WrongResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { launch, address, expected, found, bytes, .. } = self;
        write!(f, "{launch}: L1 {address:#x}: expected {expected:#04x}, found {found:#04x}")?;
        match bytes {
            1 => Ok(()),
            _ => write!(f, "; {bytes} bytes are wrong in all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_differ_are_told_as_words() {
        let words = WrongResult::words([(0x1001, 7), (0x1002, 8), (0x1008, 1)], |_| 0x1122_3344);
        let told: Vec<_> = words.iter().map(|word| (word.address, word.expected)).collect();
        assert_eq!(told, [(0x1000, 0x1108_0744), (0x1008, 0x1122_3301)]);
        let many = (0..100).map(|at| (4 * at, 0));
        assert_eq!(WrongResult::words(many, |_| 1).len(), WORDS);
    }
}
