//! Inbound windows: which tile and address a part of a BAR leads to.
//!
//! Source: `[spec: host-abi 2.4]`. 202 windows of 2 MiB in BAR0, then 8 of 4 GiB in BAR4; each has
//! a register of 96 bits, written as three words.

use devices::niu::Coordinate;
use sim_core::StateHasher;

const SMALL: u64 = 202;
const LARGE: u64 = 8;
const SMALL_SHIFT: u32 = 21;
const LARGE_SHIFT: u32 = 32;
/// Bytes of a window's register.
const REGISTER_BYTES: u64 = 12;
/// Words of all of them.
pub(super) const WORDS: usize = ((SMALL + LARGE) * REGISTER_BYTES / 4) as usize;

/// A window's register, decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// Address of the window's first byte in the tile.
    pub(super) base: u64,
    pub(super) end: Coordinate,
    pub(super) start: Coordinate,
    pub(super) noc: u8,
    pub(super) multicast: bool,
}

/// Where an access through a window goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) number: usize,
    pub(super) entry: Entry,
    pub(super) addr: u64,
    /// Bytes up to the window's end.
    pub(super) left: u64,
}

/// All windows.
#[derive(Clone, Debug)]
pub(super) struct Tlbs {
    words: Vec<[u32; 3]>,
    /// What the words say.
    entries: Vec<Entry>,
}

/// Where the fields behind the address begin. Static virtual channel, ordering and linkage say
/// nothing to a host whose accesses happen one after the other.
fn decode(words: [u32; 3], large: bool) -> Entry {
    let bits = u128::from(words[0]) | u128::from(words[1]) << 32 | u128::from(words[2]) << 64;
    let (address_bits, shift) =
        if large { (32, LARGE_SHIFT) } else { (64 - SMALL_SHIFT, SMALL_SHIFT) };
    let field = |at: u32, width: u32| (bits >> at & ((1 << width) - 1)) as u64;
    let coordinate = |at: u32| Coordinate {
        x: field(address_bits + at, 6) as u8,
        y: field(address_bits + at + 6, 6) as u8,
    };
    Entry {
        base: field(0, address_bits) << shift,
        end: coordinate(0),
        start: coordinate(12),
        noc: field(address_bits + 24, 2) as u8 & 1,
        multicast: field(address_bits + 26, 1) != 0,
    }
}

impl Tlbs {
    pub(super) fn new() -> Self {
        let count = (SMALL + LARGE) as usize;
        Self { words: vec![[0; 3]; count], entries: vec![decode([0; 3], false); count] }
    }

    /// The window that a place in a BAR belongs to.
    pub(super) fn window(&self, bar: u8, offset: u64) -> Option<Window> {
        let (first, shift, count) = match bar {
            0 => (0, SMALL_SHIFT, SMALL),
            4 => (SMALL, LARGE_SHIFT, LARGE),
            _ => return None,
        };
        let index = offset >> shift;
        if index >= count {
            return None;
        }
        let number = (first + index) as usize;
        let inside = offset & ((1 << shift) - 1);
        let entry = self.entries[number];
        Some(Window { number, entry, addr: entry.base | inside, left: (1 << shift) - inside })
    }

    fn slot(offset: u64) -> Option<(usize, usize)> {
        let (number, rest) = (offset / REGISTER_BYTES, offset % REGISTER_BYTES);
        (number < SMALL + LARGE && rest % 4 == 0).then_some((number as usize, (rest / 4) as usize))
    }

    /// A word of the registers.
    pub(super) fn read(&self, offset: u64) -> Option<u32> {
        Self::slot(offset).map(|(number, word)| self.words[number][word])
    }

    /// Replaces a word of the registers; `false` if there is none.
    pub(super) fn write(&mut self, offset: u64, value: u32) -> bool {
        let Some((number, word)) = Self::slot(offset) else { return false };
        self.words[number][word] = value;
        self.entries[number] = decode(self.words[number], number as u64 >= SMALL);
        true
    }

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        // The entries say what the words say.
        let Self { words, entries: _ } = self;
        words.iter().for_each(|words| hasher.words(words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Word 1 = addr[63:53] | x_end << 11 | y_end << 17 | x_start << 23 | y_start[2:0] << 29,
    /// word 2 = y_start[5:3] | noc << 3 | mcast << 5, as the sheet spells it.
    #[test]
    fn small_window_decodes_as_the_sheet_spells_it() {
        let mut tlbs = Tlbs::new();
        let base = 0x1234_5678_9AE0_0000_u64;
        let (end, start) = ((0x2A, 0x15), (0x33, 0x2C));
        let words = [
            (base >> 21) as u32,
            (base >> 53) as u32 | end.0 << 11 | end.1 << 17 | start.0 << 23 | (start.1 & 7) << 29,
            start.1 >> 3 | 1 << 3 | 1 << 5,
        ];
        for (index, word) in (0..).zip(words) {
            assert!(tlbs.write(12 * 201 + 4 * index, word));
            assert_eq!(tlbs.read(12 * 201 + 4 * index), Some(word));
        }
        let window = tlbs.window(0, 201 << 21 | 0x1234).expect("the last one");
        assert_eq!(window.entry.base, base);
        assert_eq!(window.addr, base | 0x1234);
        assert_eq!(window.left, (2 << 20) - 0x1234);
        assert_eq!(window.entry.end, Coordinate { x: 0x2A, y: 0x15 });
        assert_eq!(window.entry.start, Coordinate { x: 0x33, y: 0x2C });
        assert_eq!((window.entry.noc, window.entry.multicast), (1, true));
        assert!(tlbs.window(0, 202 << 21).is_none());
    }

    #[test]
    fn large_window_has_a_shorter_address() {
        let mut tlbs = Tlbs::new();
        // x_end at 32, y_end 38, noc 56, mcast 58.
        assert!(tlbs.write(12 * 203, 5));
        assert!(tlbs.write(12 * 203 + 4, 17 | 14 << 6 | 1 << 24));
        let window = tlbs.window(4, 0x1_0000_0010).expect("the second one");
        assert_eq!(window.addr, 5 << 32 | 0x10);
        assert_eq!(window.entry.end, Coordinate { x: 17, y: 14 });
        assert_eq!((window.entry.noc, window.entry.multicast), (1, false));
        assert!(!tlbs.write(12 * 210, 0));
    }
}
