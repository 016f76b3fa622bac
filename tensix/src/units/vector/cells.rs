//! The 32 cells of Dst that SFPLOAD and SFPSTORE touch: where they are, and moving all of them at
//! once.
//!
//! A vector is the even or the odd columns of four consecutive rows: lane *l* is row *l*/8, column
//! 2 * (*l* mod 8) or the one after it. What a cell means is in [`super::dst_format`]. The loops
//! here have no branches and know the conversion as a constant, so that they become operations on
//! whole rows: a lane at a time took 55 ns per instruction, a row at a time a fourth of it.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPLOAD.md]`, `SFPSTORE.md`, `Dst.md`.

use vectorise::Level;

use super::dst_format::{self, with_known};
use super::{LANES, LReg};
use crate::state::dst::{DST_ROWS, Dst, DstMap};

/// Lanes in one row.
const ROW_LANES: usize = 8;
/// From the high half of a 32-bit cell to the low one, in physical rows.
const TO_LOW_HALF: usize = 8;
/// Ten-bit Dst address: bits 9:2 a group of four rows, bit 1 odd columns.
const ADDRESS: u32 = 0x3FF;
const COLUMN: u32 = 2;

/// Where the cells of a vector are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// First of the four rows, as addressed.
    first: u32,
    /// Physical rows; of 32-bit cells those of the high halves.
    rows: [usize; 4],
    /// Lanes of a row, bits 7:0, that use the odd column.
    odd: u32,
    /// Whether cells have 32 bits.
    wide: bool,
}

impl Place {
    /// The cells at `address`; `odd` are the lanes that configuration sends to odd columns.
    #[inline]
    pub(super) fn new(map: DstMap, wide: bool, address: u32, odd: u32) -> Self {
        let first = address & ADDRESS & !3;
        let rows = [0, 1, 2, 3].map(|offset| {
            let row = first + offset;
            if wide { map.row32(row) } else { map.row16(row) }
        });
        let odd = if address & COLUMN != 0 { u32::MAX } else { odd };
        Self { first, rows: rows.map(|row| row as usize), odd, wide }
    }

    /// Row and column of every lane's cell, as SFPLOAD captures them.
    pub(super) fn indices(&self) -> LReg {
        std::array::from_fn(|lane| {
            let (row, pair) = (self.first + (lane / ROW_LANES) as u32, lane % ROW_LANES);
            let column = 2 * pair as u32 + (self.odd >> pair & 1);
            row << 4 | column
        })
    }

    /// SFPLOAD: the lanes of `set` of a register; `infinities` are those that read the largest FP16
    /// as infinity.
    #[inline]
    pub(super) fn load(&self, dst: &Dst, mode: u32, set: u32, lreg: &mut LReg, infinities: u32) {
        self.load_at(Level::best(), dst, (mode, set, infinities), lreg);
    }

    #[inline]
    fn load_at(
        &self,
        level: Level,
        dst: &Dst,
        (mode, set, infinities): (u32, u32, u32),
        lreg: &mut LReg,
    ) {
        vectorise::run_at(
            level,
            #[inline(always)]
            || {
                let mut values = [0; LANES];
                let cells = self.gather(dst, 0);
                if self.wide {
                    let low = self.gather(dst, TO_LOW_HALF);
                    for lane in 0..LANES {
                        values[lane] = dst_format::load_word(cells[lane] << 16 | low[lane]);
                    }
                } else {
                    with_known(
                        mode,
                        #[inline(always)]
                        |mode| {
                            for lane in 0..LANES {
                                let infinity = infinities >> lane & 1 != 0;
                                let (cell, old) = (cells[lane] as u16, lreg[lane]);
                                values[lane] = dst_format::load_half(mode, cell, old, infinity);
                            }
                        },
                    );
                }
                for lane in 0..LANES {
                    lreg[lane] = if set >> lane & 1 != 0 { values[lane] } else { lreg[lane] };
                }
            },
        );
    }

    /// SFPSTORE: the values of the lanes of `set`.
    #[inline]
    pub(super) fn store(&self, dst: &mut Dst, mode: u32, set: u32, values: &LReg) {
        self.store_at(Level::best(), dst, mode, set, values);
    }

    #[inline]
    fn store_at(&self, level: Level, dst: &mut Dst, mode: u32, set: u32, values: &LReg) {
        vectorise::run_at(
            level,
            #[inline(always)]
            || {
                let mut cells = [0; LANES];
                with_known(
                    mode,
                    #[inline(always)]
                    |mode| {
                        for lane in 0..LANES {
                            cells[lane] = if self.wide {
                                dst_format::store_word(mode, values[lane])
                            } else {
                                u32::from(dst_format::store_half(mode, values[lane]))
                            };
                        }
                    },
                );
                if self.wide {
                    self.scatter(dst, TO_LOW_HALF, set, &cells);
                    self.scatter(dst, 0, set, &cells.map(|cell| cell >> 16));
                } else {
                    self.scatter(dst, 0, set, &cells);
                }
            },
        );
        for (row, &physical) in self.rows.iter().enumerate() {
            if lanes_of_row(set, row) != 0 {
                dst.validate(physical as u32);
            }
        }
    }

    /// The half-words of all lanes, `offset` rows further; zero in rows that are not valid.
    #[inline(always)]
    fn gather(&self, dst: &Dst, offset: usize) -> LReg {
        let mut cells = [0; LANES];
        for (row, &physical) in self.rows.iter().enumerate() {
            let valid = u32::from(dst.is_valid(physical as u32)).wrapping_neg();
            let pairs = &dst.cells[(physical + offset) % DST_ROWS];
            for column in 0..ROW_LANES {
                let (even, odd) = (pairs[2 * column], pairs[2 * column + 1]);
                let cell = if self.odd >> column & 1 != 0 { odd } else { even };
                cells[row * ROW_LANES + column] = u32::from(cell) & valid;
            }
        }
        cells
    }

    /// Puts the lower half-words of the lanes of `set` in their cells, `offset` rows further.
    #[inline(always)]
    fn scatter(&self, dst: &mut Dst, offset: usize, set: u32, cells: &LReg) {
        for (row, &physical) in self.rows.iter().enumerate() {
            let lanes = lanes_of_row(set, row);
            let (to_even, to_odd) = (lanes & !self.odd, lanes & self.odd);
            let pairs = &mut dst.cells[(physical + offset) % DST_ROWS];
            for column in 0..ROW_LANES {
                let cell = cells[row * ROW_LANES + column] as u16;
                let (even, odd) = (pairs[2 * column], pairs[2 * column + 1]);
                pairs[2 * column] = if to_even >> column & 1 != 0 { cell } else { even };
                pairs[2 * column + 1] = if to_odd >> column & 1 != 0 { cell } else { odd };
            }
        }
    }
}

/// The lanes of `set` in a row, from bit 0 on.
#[inline(always)]
const fn lanes_of_row(set: u32, row: usize) -> u32 {
    set >> (row * ROW_LANES) & 0xFF
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cell, old register and stored value of every lane: patterns of all classes.
    fn numbers(seed: u32) -> impl FnMut() -> u32 {
        let mut state = u64::from(seed) << 1 | 1;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let bits = (state >> 32) as u32;
            match state >> 29 & 7 {
                0 => bits & 0x807F_FFFF,
                1 => bits | 0x7F80_0000,
                2 => bits | 0x03FF_001F,
                3 => bits & 0xFF00_FFE0,
                _ => bits,
            }
        }
    }

    /// Dst with something in every row, one in five rows invalid.
    fn filled(next: &mut impl FnMut() -> u32) -> Dst {
        let mut dst = Dst::default();
        for row in 0..DST_ROWS {
            dst.cells[row] = std::array::from_fn(|_| next() as u16);
            if next().is_multiple_of(5) {
                dst.invalidate(row as u32);
            }
        }
        dst
    }

    /// Physical row of a lane, and its column, by the formula of the page.
    fn cell_of(map: DstMap, wide: bool, address: u32, odd: u32, lane: usize) -> (usize, usize) {
        let row = (address & 0x3FC) + lane as u32 / 8;
        let physical = if wide { map.row32(row) } else { map.row16(row) };
        let odd = address & 2 != 0 || odd >> (lane & 7) & 1 != 0;
        (physical as usize, (lane & 7) * 2 + usize::from(odd))
    }

    #[test]
    fn whole_rows_equal_single_cells_on_every_level() {
        // `dst_format` is tested against the pages cell by cell; the places are those of
        // [isa-bh: SFPLOAD.md, SFPSTORE.md].
        let mut next = numbers(7);
        let maps = [(false, false), (true, false), (false, true), (true, true)];
        for round in 0..400_u32 {
            let (remap, swizzle) = maps[round as usize % 4];
            let map = DstMap { remap, swizzle };
            let (mode, address) = (round % 16, next());
            let (odd, set, infinities) = match round % 3 {
                0 => (0, u32::MAX, 0),
                1 => (u32::MAX, next() & next(), next()),
                _ => (next(), next() & 0xFF00_FFFF, next()),
            };
            let dst = filled(&mut next);
            let old: LReg = std::array::from_fn(|_| next());
            let at = |wide, lane| cell_of(map, wide, address, odd, lane);

            let wide = dst_format::loads_word(mode);
            let expected: LReg = std::array::from_fn(|lane| {
                if set >> lane & 1 == 0 {
                    return old[lane];
                }
                let (row, column) = at(wide, lane);
                let valid = dst.is_valid(row as u32);
                let cell = |row: usize| if valid { dst.cells[row][column] } else { 0 };
                if wide {
                    let word = u32::from(cell(row)) << 16 | u32::from(cell(row + 8));
                    dst_format::load_word(word)
                } else {
                    let infinity = infinities >> lane & 1 != 0;
                    dst_format::load_half(mode, cell(row), old[lane], infinity)
                }
            });
            for level in Level::ALL {
                let place = Place::new(map, wide, address, odd);
                let mut loaded = old;
                place.load_at(level, &dst, (mode, set, infinities), &mut loaded);
                assert_eq!(loaded, expected, "{level:?} load in mode {mode}");
            }

            let wide = dst_format::stores_word(mode);
            let mut expected = dst.clone();
            for lane in (0..LANES).filter(|lane| set >> lane & 1 != 0) {
                let (row, column) = at(wide, lane);
                expected.validate(row as u32);
                if wide {
                    let word = dst_format::store_word(mode, old[lane]);
                    expected.cells[row][column] = (word >> 16) as u16;
                    expected.cells[row + 8][column] = word as u16;
                } else {
                    expected.cells[row][column] = dst_format::store_half(mode, old[lane]);
                }
            }
            for level in Level::ALL {
                let mut stored = dst.clone();
                let place = Place::new(map, wide, address, odd);
                place.store_at(level, &mut stored, mode, set, &old);
                assert!(stored == expected, "{level:?} store in mode {mode}");
            }
        }
    }
}
