//! Atomic operations a request can ask for.
//!
//! Source: `[isa-wh: NoC/Atomics.md]`; the Blackhole page is not public, opcodes agree with
//! `[hdr: hw/inc/internal/tt-1xx/blackhole/noc/noc_parameters.h]`.

/// An atomic operation on the aligned 16 bytes around its address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicOp {
    /// Adds `value` to the low `width` + 1 bits of word `word`; higher bits stay.
    Increment {
        /// Word within the 16 bytes.
        word: u8,
        /// Width minus one, 0 to 31.
        width: u8,
        /// Addend.
        value: u32,
    },
    /// Sets word `word` to `set` if it equals `compare`; both are four bits wide.
    CompareSwap {
        /// Word within the 16 bytes.
        word: u8,
        /// Expected value.
        compare: u8,
        /// New value.
        set: u8,
    },
    /// Replaces the 16-bit lanes whose mask bit is set, even lanes by the low half of `value` and
    /// odd ones by the high half.
    SwapMask {
        /// Lanes.
        mask: u8,
        /// New halves.
        value: u32,
    },
    /// Replaces word `word`.
    SwapIndex {
        /// Word within the 16 bytes.
        word: u8,
        /// New value.
        value: u32,
    },
}

impl AtomicOp {
    /// The 16 bytes after the operation, given as four words in address order.
    #[must_use]
    pub fn apply(self, mut block: [u32; 4]) -> [u32; 4] {
        match self {
            Self::Increment { word, width, value } => {
                let cell = &mut block[usize::from(word & 3)];
                let mask = (2_u32 << (width & 31)).wrapping_sub(1);
                *cell = cell.wrapping_add(value) & mask | *cell & !mask;
            }
            Self::CompareSwap { word, compare, set } => {
                let cell = &mut block[usize::from(word & 3)];
                if *cell == u32::from(compare) {
                    *cell = u32::from(set);
                }
            }
            Self::SwapMask { mask, value } => {
                for lane in (0..8_u32).filter(|lane| mask >> lane & 1 != 0) {
                    let half = value >> (16 * (lane & 1)) & 0xFFFF;
                    let cell = &mut block[(lane / 2) as usize];
                    let shift = 16 * (lane & 1);
                    *cell = *cell & !(0xFFFF << shift) | half << shift;
                }
            }
            Self::SwapIndex { word, value } => block[usize::from(word & 3)] = value,
        }
        block
    }
}
