//! Windows: which tile and NoC address a `paddr` means, by the registers the host has written.
//!
//! Not here: access checks, and where a multicast goes; this is for names in messages and for
//! telling one target from another. `[spec: host-abi 2.4]`

use std::fmt;

use hostlib::Record;
use hostlib::abi::{BAR0, BAR2, BAR4, BAR4_END, LARGE_WINDOWS, SMALL_WINDOWS, WINDOW_REGISTERS};
use hostlib::recording::Op;

const REGISTER_BYTES: u64 = 12;
const WINDOWS: usize = SMALL_WINDOWS + LARGE_WINDOWS;
const SMALL_SHIFT: u32 = 21;
const LARGE_SHIFT: u32 = 32;
/// BAR2 is 1 MiB `[spec: host-abi 2.3]`.
const BAR2_BYTES: u64 = 1 << 20;

/// The registers of all windows.
#[derive(Clone, Debug)]
pub struct Windows {
    words: [[u32; 3]; WINDOWS],
}

impl Default for Windows {
    fn default() -> Self {
        Self { words: [[0; 3]; WINDOWS] }
    }
}

/// Where an access goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// To one tile.
    Tile {
        /// NoC coordinate as the register has it.
        at: (u32, u32),
        /// 0 or 1.
        noc: u32,
        /// Address in the tile.
        address: u64,
    },
    /// To a rectangle of tiles.
    Multicast {
        /// One corner.
        start: (u32, u32),
        /// The other.
        end: (u32, u32),
        /// 0 or 1.
        noc: u32,
        /// Address in each tile.
        address: u64,
    },
    /// A register of a window.
    WindowRegister {
        /// Its number.
        window: u64,
        /// Word of the register, 0 to 2.
        word: u64,
    },
    /// Elsewhere in a BAR.
    Bar {
        /// 0, 2 or 4.
        bar: u32,
        /// Offset in it.
        offset: u64,
    },
    /// In no BAR.
    Nowhere(u64),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Tile { at: (x, y), noc, address } => {
                write!(f, "tile ({x},{y}) address {address:#x} over NoC {noc}")
            }
            Self::Multicast { start, end, noc, address } => write!(
                f,
                "tiles ({},{})-({},{}) address {address:#x} over NoC {noc}",
                start.0, start.1, end.0, end.1
            ),
            Self::WindowRegister { window, word } => {
                write!(f, "window register {window} word {word}")
            }
            Self::Bar { bar, offset } => write!(f, "BAR{bar}+{offset:#x}"),
            Self::Nowhere(paddr) => write!(f, "{paddr:#x}, in no BAR"),
        }
    }
}

/// Whether `paddr` is a window register.
#[must_use]
pub fn is_window_register(paddr: u64) -> bool {
    (WINDOW_REGISTERS..WINDOW_REGISTERS + WINDOWS as u64 * REGISTER_BYTES).contains(&paddr)
}

/// The window of `paddr`, with the shift of its size.
fn window_of(paddr: u64) -> Option<(usize, u32)> {
    let small_end = BAR0 + ((SMALL_WINDOWS as u64) << SMALL_SHIFT);
    let (window, shift) = if (BAR0..small_end).contains(&paddr) {
        ((paddr - BAR0) >> SMALL_SHIFT, SMALL_SHIFT)
    } else if (BAR4..BAR4_END).contains(&paddr) {
        (SMALL_WINDOWS as u64 + ((paddr - BAR4) >> LARGE_SHIFT), LARGE_SHIFT)
    } else {
        return None;
    };
    Some((usize::try_from(window).expect("210 windows"), shift))
}

impl Windows {
    /// Takes note of a write; says whether it was to window registers.
    pub fn observe(&mut self, record: &Record<'_>) -> bool {
        if record.op != Op::MemWrite || !is_window_register(record.a0) {
            return false;
        }
        let first = (record.a0 - WINDOW_REGISTERS) / 4;
        for (index, chunk) in (first..).zip(record.bytes.chunks_exact(4)) {
            let index = usize::try_from(index).expect("a small number");
            if let Some(words) = self.words.get_mut(index / 3) {
                words[index % 3] = u32::from_le_bytes(chunk.try_into().expect("four bytes"));
            }
        }
        true
    }

    /// What the register of the window says that `paddr` lies in; zeros outside windows.
    #[must_use]
    pub fn register(&self, paddr: u64) -> [u32; 3] {
        window_of(paddr).map_or([0; 3], |(window, _)| self.words[window])
    }

    /// Where an access goes.
    #[must_use]
    pub fn target(&self, paddr: u64) -> Target {
        if is_window_register(paddr) {
            let offset = paddr - WINDOW_REGISTERS;
            let (window, word) = (offset / REGISTER_BYTES, offset % REGISTER_BYTES / 4);
            return Target::WindowRegister { window, word };
        }
        let Some((window, shift)) = window_of(paddr) else {
            return match paddr {
                BAR0..BAR2 => Target::Bar { bar: 0, offset: paddr - BAR0 },
                _ if (BAR2..BAR2 + BAR2_BYTES).contains(&paddr) => {
                    Target::Bar { bar: 2, offset: paddr - BAR2 }
                }
                _ => Target::Nowhere(paddr),
            };
        };
        let [low, middle, high] = self.words[window].map(u128::from);
        let register = low | middle << 32 | high << 64;
        // Fields follow the address, which has the bits that the window does not cover.
        let address_bits = if shift == SMALL_SHIFT { 43 } else { 32 };
        let field = |from: u32, bits: u32| {
            u32::try_from(register >> (address_bits + from) & ((1 << bits) - 1)).expect("few bits")
        };
        let base = u64::try_from(register & ((1 << address_bits) - 1)).expect("at most 43 bits");
        let address = base << shift | paddr & ((1 << shift) - 1);
        let (end, start) = ((field(0, 6), field(6, 6)), (field(12, 6), field(18, 6)));
        let (noc, multicast) = (field(24, 2), field(26, 1) != 0);
        if multicast {
            Target::Multicast { start, end, noc, address }
        } else {
            Target::Tile { at: end, noc, address }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A 2 MiB register from the bit positions of `[spec: host-abi 2.4]`.
    fn small(address: u64, end: (u128, u128), noc: u128) -> [u8; 12] {
        let value = u128::from(address >> 21) | end.0 << 43 | end.1 << 49 | noc << 67;
        value.to_le_bytes()[..12].try_into().unwrap()
    }

    #[test]
    fn small_window_leads_to_its_tile() {
        let mut windows = Windows::default();
        let bytes = small(0xFFA0_0000, (16, 11), 1);
        let a0 = WINDOW_REGISTERS + 12 * 201;
        assert!(windows.observe(&Record { op: Op::MemWrite, a0, a1: 0, bytes: &bytes }));
        let target = windows.target(BAR0 + (201 << 21) + 0x11_21B0);
        assert_eq!(target, Target::Tile { at: (16, 11), noc: 1, address: 0xFFB1_21B0 });
        assert_eq!(target.to_string(), "tile (16,11) address 0xffb121b0 over NoC 1");
    }

    #[test]
    fn large_window_has_its_fields_elsewhere() {
        // addr[63:32] bits 0-31, x_end 32, y_end 38 `[spec: host-abi 2.4]`
        let value: u128 = 2 | 17 << 32 | 12 << 38;
        let mut windows = Windows::default();
        let a0 = WINDOW_REGISTERS + 12 * 209;
        let bytes = &value.to_le_bytes()[..12];
        assert!(windows.observe(&Record { op: Op::MemWrite, a0, a1: 0, bytes }));
        let target = windows.target(BAR4 + (7 << 32) + 0x1234);
        assert_eq!(target, Target::Tile { at: (17, 12), noc: 0, address: 0x2_0000_1234 });
    }

    #[test]
    fn register_written_by_words_is_the_same() {
        let whole = small(0x0020_0000, (1, 2), 0);
        let mut windows = Windows::default();
        for (word, chunk) in whole.chunks(4).enumerate() {
            let a0 = WINDOW_REGISTERS + 4 * word as u64;
            assert!(windows.observe(&Record { op: Op::MemWrite, a0, a1: 0, bytes: chunk }));
        }
        let target = windows.target(BAR0 + 4);
        assert_eq!(target, Target::Tile { at: (1, 2), noc: 0, address: 0x20_0004 });
    }

    #[test]
    fn places_outside_windows_have_names() {
        let windows = Windows::default();
        assert_eq!(windows.target(BAR0 + 0x1FD0_4044).to_string(), "BAR0+0x1fd04044");
        assert_eq!(windows.target(BAR2 + 0x1000).to_string(), "BAR2+0x1000");
        assert_eq!(windows.target(5), Target::Nowhere(5));
        assert_eq!(windows.target(u64::MAX), Target::Nowhere(u64::MAX));
        let register = Target::WindowRegister { window: 1, word: 2 };
        assert_eq!(windows.target(WINDOW_REGISTERS + 20), register);
    }
}
