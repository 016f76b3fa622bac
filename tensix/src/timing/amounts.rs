//! Costs that depend on how much is moved: unpacking and packing.
//!
//! Sources: `[isa-wh: TensixCoprocessor/UNPACR_Regular.md]`, `[isa-wh: TensixTile/L1.md]`.

use sim_core::Cycle;

use super::Cost;
use super::hazards::Pipelines;

/// How fast an unpacker fetches, in bytes per cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Speed {
    X1,
    X2,
    X4,
}

impl Speed {
    /// What `Throttle_mode` asks for; 3 is taken for x4 as 2 is [inferred: nothing is faster].
    pub(crate) const fn of_throttle_mode(mode: u32) -> Self {
        match mode {
            0 => Self::X1,
            1 => Self::X2,
            _ => Self::X4,
        }
    }

    /// The slower of the two.
    pub(crate) const fn at_most(self, most: Self) -> Self {
        if (self as u8) < most as u8 { self } else { most }
    }

    const fn bytes(self) -> u64 {
        16 << self as u8
    }

    /// What an unpacker gets that wants `self` while the other one wants `other`.
    const fn beside(self, unpacker: usize, other: Self) -> Self {
        match (unpacker, self, other) {
            // Unpacker 1 at x1 takes nothing from unpacker 0.
            (0, _, Self::X1) | (1, Self::X1, _) => self,
            (0, Self::X4, _) => Self::X2,
            (0, _, _) => Self::X1,
            (_, _, Self::X1) => self,
            (_, Self::X2, _) => Self::X1,
            (_, _, _) => Self::X2,
        }
    }
}

/// The fetches of both unpackers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fetch {
    /// First cycle after it.
    pub(crate) end: Cycle,
    pub(super) wanted: Speed,
}

impl Fetch {
    pub(super) const NONE: Self = Self { end: Cycle::ZERO, wanted: Speed::X1 };
}

impl Pipelines {
    /// Books an `UNPACR` that issues at `now` and fetches `bytes`; what it costs. Two cycles for the
    /// address, then the fetch, behind that of the last one; at the speed of its beginning, though
    /// the other unpacker may end or begin in between.
    pub(crate) fn unpack(
        &mut self,
        unpacker: usize,
        bytes: u64,
        wanted: Speed,
        now: Cycle,
    ) -> Cost {
        let start = (now + 2).max(self.fetches[unpacker].end);
        let other = self.fetches[1 - unpacker];
        let speed = if other.end > start { wanted.beside(unpacker, other.wanted) } else { wanted };
        let end = start + bytes.div_ceil(speed.bytes());
        self.fetches[unpacker] = Fetch { end, wanted };
        Cost { unit: 2, thread: 2, latency: (end.0 - now.0) as u32 }
    }
}

/// What a `PACR` costs that wrote `blocks` blocks of 16 bytes. Wormhole's four packers write one
/// each per cycle, or add one to what is there per five; Blackhole's packer, which has as many
/// interfaces onto Dst, is taken to do the same with four [unknown: U-084].
pub(crate) fn pack(blocks: u32, accumulates: bool) -> Cost {
    let cycles = blocks.div_ceil(4) * if accumulates { 5 } else { 1 };
    let cycles = cycles.clamp(1, u32::from(u16::MAX));
    Cost::pipelined(cycles as u16, cycles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpackers_beside_each_other_get_what_the_table_says() {
        use Speed::{X1, X2, X4};
        // [isa-wh: TensixCoprocessor/UNPACR_Regular.md]: rows by what unpacker 1 wants, columns by
        // what unpacker 0 wants; what 0 and 1 get.
        let table = [
            [(X1, X1), (X2, X1), (X4, X1)],
            [(X1, X2), (X1, X1), (X2, X1)],
            [(X1, X4), (X1, X2), (X2, X2)],
        ];
        for (row, one) in table.iter().zip([X1, X2, X4]) {
            for (&gets, zero) in row.iter().zip([X1, X2, X4]) {
                assert_eq!((zero.beside(0, one), one.beside(1, zero)), gets, "{zero:?} {one:?}");
            }
        }
    }

    #[test]
    fn fetch_takes_its_bytes_at_its_speed_behind_the_last_one() {
        let mut pipelines = Pipelines::default();
        // 256 BF16 are 512 bytes: 32, 16 or 8 cycles after two for the address.
        for (unpacker, speed, cycles) in [(0, Speed::X1, 34), (1, Speed::X1, 34)] {
            assert_eq!(pipelines.unpack(unpacker, 512, speed, Cycle(10)).latency, cycles);
        }
        let next = pipelines.unpack(0, 512, Speed::X4, Cycle(50));
        assert_eq!((next.unit, next.thread, next.latency), (2, 2, 2 + 8));
        assert_eq!(pipelines.unpack(0, 512, Speed::X2, Cycle(52)).latency, 8 + 16);
    }

    #[test]
    fn pack_writes_four_blocks_per_cycle_and_accumulates_in_five() {
        // 64 BF16 are eight blocks.
        assert_eq!((pack(8, false).unit, pack(8, true).unit, pack(0, false).unit), (2, 10, 1));
    }
}
