//! Dst: 1,024 rows of 16 half-words, or 512 rows of 16 words, and a valid bit per row.
//!
//! Sources: `[isa-bh: TensixCoprocessor/Dst.md]`, `[spec: numerics 1.3, 1.4]`.

use isa::config::field;
use sim_core::StateHasher;
use zero_pages::ZeroPages;

/// 16-bit rows of Dst.
pub(crate) const DST_ROWS: usize = 1024;
/// Columns of Dst.
pub(crate) const DST_COLUMNS: usize = 16;

/// Cells of four rows whose numbers differ in the last two bits only: a vector register's worth of
/// even and of odd columns. No mapping of rows parts them.
pub(crate) const GROUP_CELLS: usize = 4 * DST_COLUMNS;

/// Dst. A row that is not valid holds whatever it held before and reads as zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Dst {
    /// Cells as stored (fields rotated, see the numerics sheet), by physical row.
    pub(crate) cells: ZeroPages<[[u16; DST_COLUMNS]; DST_ROWS]>,
    /// Valid bit per physical row, 64 rows per word.
    pub(crate) valid: [u64; DST_ROWS / 64],
}

impl Default for Dst {
    fn default() -> Self {
        // Most tiles of a chip never touch it.
        Self { cells: ZeroPages::new(), valid: [u64::MAX; DST_ROWS / 64] }
    }
}

impl Dst {
    /// Whether a physical row is valid.
    #[inline(always)]
    pub(crate) fn is_valid(&self, row: u32) -> bool {
        let row = row as usize % DST_ROWS;
        self.valid[row / 64] >> (row % 64) & 1 != 0
    }

    /// Marks a physical row valid.
    #[inline(always)]
    pub(crate) fn validate(&mut self, row: u32) {
        let row = row as usize % DST_ROWS;
        self.valid[row / 64] |= 1 << (row % 64);
    }

    /// Marks a physical row invalid.
    pub(crate) fn invalidate(&mut self, row: u32) {
        let row = row as usize % DST_ROWS;
        self.valid[row / 64] &= !(1 << (row % 64));
    }

    /// The four physical rows that `row` is one of, whether valid or not.
    #[inline(always)]
    pub(crate) fn group(&self, row: u32) -> &[u16; GROUP_CELLS] {
        let groups = self.cells.as_flattened().as_chunks().0;
        &groups[row as usize % DST_ROWS / 4]
    }

    #[inline(always)]
    pub(crate) fn group_mut(&mut self, row: u32) -> &mut [u16; GROUP_CELLS] {
        let groups = self.cells.as_flattened_mut().as_chunks_mut().0;
        &mut groups[row as usize % DST_ROWS / 4]
    }

    /// Whether all four rows are valid.
    #[inline(always)]
    pub(crate) fn has_valid_group(&self, row: u32) -> bool {
        let first = (row as usize % DST_ROWS) & !3;
        self.valid[first / 64] >> (first % 64) & 0xF == 0xF
    }

    /// Which of the four rows are valid: eight bits for each.
    #[inline(always)]
    pub(crate) fn valid_in_group(&self, row: u32) -> u32 {
        let first = (row as usize % DST_ROWS) & !3;
        let valid = (self.valid[first / 64] >> (first % 64)) as u32 & 0xF;
        (valid & 1 | (valid & 2) << 7 | (valid & 4) << 14 | (valid & 8) << 21) * 0xFF
    }

    /// Makes all four rows valid.
    #[inline(always)]
    pub(crate) fn validate_group(&mut self, row: u32) {
        let first = (row as usize % DST_ROWS) & !3;
        self.valid[first / 64] |= 0xF << (first % 64);
    }

    /// Makes those of the four rows valid that have any of their eight bits in `set`.
    #[inline(always)]
    pub(crate) fn validate_in_group(&mut self, row: u32, set: u32) {
        let first = (row as usize % DST_ROWS) & !3;
        let written =
            (0..4).fold(0, |rows, place| rows | u64::from(set >> (8 * place) & 0xFF != 0) << place);
        self.valid[first / 64] |= written << (first % 64);
    }

    /// A 16-bit row as stored; all zero if the row is not valid. It and the other three that access
    /// whole rows are inlined into loops that `vectorise` compiles.
    #[inline(always)]
    pub(crate) fn read16(&self, map: DstMap, row: u32) -> [u16; DST_COLUMNS] {
        let physical = map.row16(row);
        let valid = u16::from(self.is_valid(physical)).wrapping_neg();
        let mut values = self.cells[physical as usize % DST_ROWS];
        for value in &mut values {
            *value &= valid;
        }
        values
    }

    /// Writes a 16-bit row as stored and makes it valid.
    #[inline(always)]
    pub(crate) fn write16(&mut self, map: DstMap, row: u32, values: &[u16; DST_COLUMNS]) {
        let physical = map.row16(row);
        self.cells[physical as usize % DST_ROWS] = *values;
        self.validate(physical);
    }

    /// A 32-bit row as stored, high half from the physical row and low half from eight rows
    /// further; all zero if the row is not valid.
    #[inline(always)]
    pub(crate) fn read32(&self, map: DstMap, row: u32) -> [u32; DST_COLUMNS] {
        let physical = map.row32(row);
        let valid = u32::from(self.is_valid(physical)).wrapping_neg();
        let physical = physical as usize;
        let (high, low) =
            (&self.cells[physical % DST_ROWS], &self.cells[(physical + 8) % DST_ROWS]);
        let mut values = [0; DST_COLUMNS];
        for column in 0..DST_COLUMNS {
            values[column] = (u32::from(high[column]) << 16 | u32::from(low[column])) & valid;
        }
        values
    }

    /// Writes a 32-bit row as stored and makes it valid.
    #[inline(always)]
    pub(crate) fn write32(&mut self, map: DstMap, row: u32, values: &[u32; DST_COLUMNS]) {
        let physical = map.row32(row);
        let (mut high, mut low) = ([0; DST_COLUMNS], [0; DST_COLUMNS]);
        for column in 0..DST_COLUMNS {
            high[column] = (values[column] >> 16) as u16;
            low[column] = values[column] as u16;
        }
        self.cells[physical as usize % DST_ROWS] = high;
        self.cells[(physical as usize + 8) % DST_ROWS] = low;
        self.validate(physical);
    }

    /// Writes one cell of a 16-bit row; the row becomes valid, its other cells keep what they held.
    #[inline]
    pub(crate) fn set16(&mut self, map: DstMap, row: u32, column: usize, value: u16) {
        let physical = map.row16(row);
        self.cells[physical as usize][column % DST_COLUMNS] = value;
        self.validate(physical);
    }

    /// Writes one cell of a 32-bit row; the row becomes valid, its other cells keep what they held.
    #[inline]
    pub(crate) fn set32(&mut self, map: DstMap, row: u32, column: usize, value: u32) {
        let physical = map.row32(row);
        self.cells[physical as usize][column % DST_COLUMNS] = (value >> 16) as u16;
        self.cells[physical as usize + 8][column % DST_COLUMNS] = value as u16;
        self.validate(physical);
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { cells, valid } = self;
        for row in cells.iter() {
            for &cell in row {
                hasher.bytes(&cell.to_le_bytes());
            }
        }
        valid.iter().for_each(|&word| hasher.u64(word));
    }
}

/// How rows map to physical rows: the two permutations of `DEST_ACCESS_CFG`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct DstMap {
    pub(crate) remap: bool,
    pub(crate) swizzle: bool,
}

impl DstMap {
    /// The mapping that a configuration state asks for; both states share the word.
    #[inline]
    pub(crate) fn of(state: &[u32]) -> Self {
        Self {
            remap: field::DEST_ACCESS_CFG_remap_addrs.get(state) != 0,
            swizzle: field::DEST_ACCESS_CFG_swizzle_32b.get(state) != 0,
        }
    }

    /// Physical row of 16-bit row `row` (modulo 1,024).
    #[inline(always)]
    pub(crate) const fn row16(self, row: u32) -> u32 {
        adj16(row & 0x3FF, self.remap)
    }

    /// Physical row of the high half of 32-bit row `row` (modulo 1,024, of which 512 differ); the
    /// low half is eight rows further.
    #[inline(always)]
    pub(crate) const fn row32(self, row: u32) -> u32 {
        adj32(row & 0x3FF, self.remap, self.swizzle) & 0x3F7
    }
}

/// BF16 `s e8 m7` of a stored half-word `s m7 e8` `[isa-bh: TensixCoprocessor/Dst.md]`.
#[inline(always)]
pub(crate) const fn decode_bf16(stored: u16) -> u16 {
    stored & 0x8000 | (stored & 0xFF) << 7 | stored >> 8 & 0x7F
}

/// Stored half-word of a BF16.
#[inline(always)]
pub(crate) const fn encode_bf16(value: u16) -> u16 {
    value & 0x8000 | (value & 0x7F) << 8 | value >> 7 & 0xFF
}

/// FP16 `s e5 m10` of a stored half-word `s m10 e5`.
#[inline(always)]
pub(crate) const fn decode_fp16(stored: u16) -> u16 {
    stored & 0x8000 | (stored & 0x1F) << 10 | stored >> 5 & 0x3FF
}

/// Stored half-word of an FP16.
#[inline(always)]
pub(crate) const fn encode_fp16(value: u16) -> u16 {
    value & 0x8000 | (value & 0x3FF) << 5 | value >> 10 & 0x1F
}

/// FP32 (or sign-magnitude integer) of a stored word, whose high half is rotated like a BF16.
#[inline(always)]
pub(crate) const fn decode_fp32(stored: u32) -> u32 {
    stored & 0x8000_FFFF | (stored & 0x00FF_0000) << 7 | (stored & 0x7F00_0000) >> 8
}

/// Stored word of an FP32 (or sign-magnitude integer).
#[inline(always)]
pub(crate) const fn encode_fp32(value: u32) -> u32 {
    value & 0x8000_FFFF | (value & 0x7F80_0000) >> 7 | (value & 0x007F_0000) << 8
}

/// Physical row of a 16-bit row `[isa-bh: TensixCoprocessor/Dst.md]`.
#[inline(always)]
pub(crate) const fn adj16(row: u32, remap: bool) -> u32 {
    if remap { (row & 0x3C7) ^ (row & 0x030) >> 1 ^ (row & 0x008) << 2 } else { row }
}

/// Physical row of the high half of a 32-bit row; the low half is 8 rows further.
#[inline(always)]
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

    #[test]
    fn stored_half_words_decode_and_encode_back() {
        // [isa-bh: Dst.md] 1.0 is exponent 127 (BF16) or 15 (FP16) in the low bits.
        assert_eq!((encode_bf16(0x3F80), encode_fp16(0x3C00)), (127, 15));
        for value in 0..=u16::MAX {
            assert_eq!(encode_bf16(decode_bf16(value)), value);
            assert_eq!(encode_fp16(decode_fp16(value)), value);
            let word = u32::from(value) << 16 | 0xBEEF;
            let high = u32::from(decode_bf16(value)) << 16;
            assert_eq!(decode_fp32(word), high | 0xBEEF);
            assert_eq!(encode_fp32(decode_fp32(word)), word);
        }
    }

    #[test]
    fn word_row_is_two_half_word_rows() {
        // [isa-bh: Dst.md]: Dst32b[9] is physical rows 17 (high) and 25 (low); only row 17's valid
        // bit counts.
        let (map, mut dst) = (DstMap::default(), Dst::default());
        dst.invalidate(17);
        assert_eq!(dst.read32(map, 9), [0; 16]);
        dst.invalidate(25);
        dst.write32(map, 9, &[0x1234_5678; 16]);
        assert_eq!((dst.read16(map, 17), dst.read16(map, 25)), ([0x1234; 16], [0; 16]));
        assert_eq!(dst.read32(map, 9), [0x1234_5678; 16]);
    }
}
