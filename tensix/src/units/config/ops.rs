//! Pure functions on configuration words.

use super::{STATE_WORDS, THREAD_WORDS};
use isa::operands::Cfgshiftmask;

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

/// CFGSHIFTMASK on the old value of its target `[isa-bh: TensixCoprocessor/CFGSHIFTMASK.md]`.
pub(crate) const fn shift_mask(old: u32, scratch: u32, operands: Cfgshiftmask) -> u32 {
    let rotation = operands.right_cshift_amt;
    let mask = u32::MAX >> (31 - operands.mask_width);
    let operand = (scratch & mask).rotate_right(rotation);
    let keeps = operands.disable_mask_on_old_val;
    let old = if keeps { old } else { old & !mask.rotate_right(rotation) };
    match operands.operation {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// CFGSHIFTMASK with its fields: keep old bits, operation, mask width, rotation.
    fn word(keep: u32, operation: u32, width: u32, rotation: u32) -> u32 {
        keep << 23 | operation << 20 | width << 15 | rotation << 10
    }

    #[test]
    fn shift_mask_follows_the_functional_model() {
        // Worked by hand from [isa-bh: CFGSHIFTMASK.md]: mask of width + 1 bits, rotated right.
        for (old, scratch, word, expected) in [
            (0xFFFF_FFFF, 0x0000_0012, word(0, 0, 7, 0), 0xFFFF_FF12),
            (0xFFFF_FFFF, 0x0000_0012, word(0, 0, 7, 24), 0xFFFF_12FF),
            (0x0000_00F0, 0x0000_003C, word(1, 1, 31, 0), 0x0000_0030),
            (0x0000_00F0, 0x0000_003C, word(1, 2, 31, 0), 0x0000_00CC),
            (0xFFFF_FFFF, 0x0000_0001, word(1, 3, 31, 0), 0x0000_0000),
            (0x0000_0000, 0x0000_00FF, word(1, 4, 31, 0), 0xFFFF_FF00),
            (0x0000_0FFF, 0x0000_00FF, word(1, 5, 31, 0), 0x0000_0F00),
            (0x0000_0000, 0xFFFF_FFF0, word(1, 6, 31, 0), 0x0000_000F),
            (0x0000_0000, 0x0000_0001, word(1, 7, 31, 0), 0xFFFF_FFFF),
        ] {
            let operands = Cfgshiftmask::of(word);
            assert_eq!(
                shift_mask(old, scratch, operands),
                expected,
                "{old:#x} {scratch:#x} {word:#x}"
            );
        }
    }

    #[test]
    fn window_has_three_parts_of_224_words_and_three_of_68() {
        assert_eq!(window(0xA80 / 4), Some(Window::Thread { thread: 0, word: 0 }));
        assert_eq!(window(0x700 / 4), Some(Window::Dual { word: 0 }));
        assert_eq!(window(0x380 / 4), Some(Window::State { state: 1, word: 0 }));
        assert_eq!(window(0xA80 / 4 + 3 * 68), None);
    }
}
