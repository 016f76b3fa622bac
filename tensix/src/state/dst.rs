//! Dst: 1,024 rows of 16 half-words, or 512 rows of 16 words, and a valid bit per row.
//!
//! Sources: `[isa-bh: TensixCoprocessor/Dst.md]`, `[spec: numerics 1.3, 1.4]`.

use sim_core::StateHasher;

/// 16-bit rows of Dst.
pub(crate) const DST_ROWS: usize = 1024;
/// Columns of Dst.
pub(crate) const DST_COLUMNS: usize = 16;

/// Dst. A row that is not valid holds whatever it held before and reads as zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Dst {
    /// Cells as stored (fields rotated, see the numerics sheet), by physical row.
    pub(crate) cells: Box<[[u16; DST_COLUMNS]; DST_ROWS]>,
    /// Valid bit per physical row, 64 rows per word.
    pub(crate) valid: [u64; DST_ROWS / 64],
}

impl Default for Dst {
    fn default() -> Self {
        Self { cells: Box::new([[0; DST_COLUMNS]; DST_ROWS]), valid: [u64::MAX; DST_ROWS / 64] }
    }
}

impl Dst {
    /// Whether a physical row is valid.
    pub(crate) fn is_valid(&self, row: u32) -> bool {
        let row = row as usize % DST_ROWS;
        self.valid[row / 64] >> (row % 64) & 1 != 0
    }

    /// Marks a physical row valid.
    pub(crate) fn validate(&mut self, row: u32) {
        let row = row as usize % DST_ROWS;
        self.valid[row / 64] |= 1 << (row % 64);
    }

    /// Marks a physical row invalid.
    pub(crate) fn invalidate(&mut self, row: u32) {
        let row = row as usize % DST_ROWS;
        self.valid[row / 64] &= !(1 << (row % 64));
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        for row in self.cells.iter() {
            for &cell in row {
                hasher.bytes(&cell.to_le_bytes());
            }
        }
        self.valid.iter().for_each(|&word| hasher.u64(word));
    }
}

/// Physical row of a 16-bit row `[isa-bh: TensixCoprocessor/Dst.md]`.
pub(crate) const fn adj16(row: u32, remap: bool) -> u32 {
    if remap { (row & 0x3C7) ^ (row & 0x030) >> 1 ^ (row & 0x008) << 2 } else { row }
}

/// Physical row of the high half of a 32-bit row; the low half is 8 rows further.
pub(crate) const fn adj32(row: u32, remap: bool, swizzle: bool) -> u32 {
    let mut row = adj16(row, remap);
    if swizzle {
        row = (row & 0x3F3) ^ (row & 0x018) >> 1 ^ (row & 0x004) << 1;
    }
    (row & 0x1F8) << 1 | row & 0x207
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adj32_spreads_rows_over_blocks_of_eight() {
        // [isa-bh: Dst.md] without remap or swizzle: 8 rows high halves, 8 rows low halves.
        assert_eq!([0, 7, 8, 15, 511].map(|row| adj32(row, false, false)), [0, 7, 16, 23, 0x3F7]);
    }

    #[test]
    fn adj16_remap_rotates_bits_three_to_five() {
        assert_eq!([8, 16, 32].map(|row| adj16(row, true)), [32, 8, 16]);
    }
}
