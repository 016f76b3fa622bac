//! Pure functions on configuration words.

use super::{STATE_WORDS, THREAD_WORDS};

/// A place in the MMIO window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Window {
    /// `Config[state][word]`.
    State { state: usize, word: usize },
    /// `ConfigDualWrite[word]`.
    Dual { word: usize },
    /// `ThreadConfig[thread][word]`.
    Thread { thread: usize, word: usize },
}

/// What the 32-bit word with that number in the window is:
/// `Config[0]`, `Config[1]`, `ConfigDualWrite`, `ThreadConfig[3]`, one after the other.
pub(crate) const fn window(word: u32) -> Option<Window> {
    let word = word as usize;
    match word / STATE_WORDS {
        state @ 0..2 => Some(Window::State { state, word: word % STATE_WORDS }),
        2 => Some(Window::Dual { word: word % STATE_WORDS }),
        _ => {
            let word = word - 3 * STATE_WORDS;
            if word < 3 * THREAD_WORDS {
                Some(Window::Thread { thread: word / THREAD_WORDS, word: word % THREAD_WORDS })
            } else {
                None
            }
        }
    }
}

/// `old` with the bits of `mask` taken from `data`.
pub(crate) const fn replace(old: u32, mask: u32, data: u32) -> u32 {
    data & mask | old & !mask
}

/// CFGSHIFTMASK on the old value of its target. Fields of `instruction`: rotation at bit 10, mask
/// width at 15, operation at 20, keep-old-bits at 23 `[isa-bh: TensixCoprocessor/CFGSHIFTMASK.md]`.
pub(crate) const fn shift_mask(old: u32, scratch: u32, instruction: u32) -> u32 {
    let rotation = instruction >> 10 & 0x1F;
    let mask = u32::MAX >> (31 - (instruction >> 15 & 0x1F));
    let operand = (scratch & mask).rotate_right(rotation);
    let old = if instruction >> 23 & 1 == 0 { old & !mask.rotate_right(rotation) } else { old };
    match instruction >> 20 & 7 {
        0 => old | operand,
        1 => old & operand,
        2 => old ^ operand,
        3 => old.wrapping_add(operand),
        4 => old | !operand,
        5 => old & !operand,
        6 => old ^ !operand,
        _ => old.wrapping_sub(operand),
    }
}

/// Whether a value of `TENSIX_TRISC_SYNC` makes Auto TTSync track anything: bit 4 and one of the
/// bits 0, 2 and 3 `[spec: boot-and-sync 5.12]`.
pub(crate) const fn enables_auto_ttsync(value: u16) -> bool {
    value & 0x10 != 0 && value & 0x0D != 0
}
