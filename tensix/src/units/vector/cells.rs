//! The 32 cells of Dst that SFPLOAD and SFPSTORE touch: where they are, and moving all of them at
//! once.
//!
//! A vector is the even or the odd columns of four consecutive rows: lane *l* is row *l*/8, column
//! 2 * (*l* mod 8) or the one after it. No permutation of rows parts the four, so that lane *l* is
//! one of the half-words 2 *l* and 2 *l* + 1 of 64 that follow each other. What a cell means is in
//! [`super::dst_format`]. The loops here have no branches and know the conversion as a constant, so
//! that they become operations on whole rows; nearly always all lanes are alike, which has a loop
//! of its own. A lane at a time took 55 ns per instruction.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SFPLOAD.md]`, `SFPSTORE.md`, `Dst.md`.

use super::LReg;
use super::dst_format::{self, with_known};
use crate::state::dst::{Dst, DstMap, GROUP_CELLS};

/// Lanes in one row.
const ROW_LANES: u32 = 8;
/// From the high half of a 32-bit cell to the low one, in physical rows.
const TO_LOW_HALF: u32 = 8;
/// Ten-bit Dst address: bits 9:2 a group of four rows, bit 1 odd columns.
const ADDRESS: u32 = 0x3FF;
pub(super) const COLUMN: u32 = 2;

/// The half-words of four rows.
type Group = [u16; GROUP_CELLS];

/// Where the cells of a vector are. Lane sets are bit masks, bit *i* is lane *i*.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// First of the four rows, as addressed.
    first: u32,
    /// First of the four physical rows; of 32-bit cells those of the high halves.
    rows: u32,
    /// Lanes that use the odd column.
    odd: u32,
    /// Whether cells have 32 bits.
    wide: bool,
}

impl Place {
    /// The cells at `address`; `odd` are the lanes that configuration sends to odd columns.
    #[inline(always)]
    pub(super) fn new(map: DstMap, wide: bool, address: u32, odd: u32) -> Self {
        let first = address & ADDRESS & !3;
        let rows = if wide { map.row32(first) } else { map.row16(first) };
        let odd = if address & COLUMN != 0 { u32::MAX } else { odd };
        Self { first, rows, odd, wide }
    }

    /// Row and column of every lane's cell, as SFPLOAD captures them.
    pub(super) fn indices(&self) -> LReg {
        std::array::from_fn(|lane| {
            let lane = lane as u32;
            let column = 2 * (lane % ROW_LANES) + (self.odd >> lane & 1);
            (self.first + lane / ROW_LANES) << 4 | column
        })
    }

    /// SFPLOAD: the lanes of `set` of a register; `infinities` are those that read the largest FP16
    /// as infinity.
    #[inline(never)]
    pub(super) fn load(&self, dst: &Dst, mode: u32, set: u32, lreg: &mut LReg, infinities: u32) {
        let (cells, valid) = (dst.group(self.rows), dst.valid_in_group(self.rows));
        vectorise::run(
            #[inline(always)]
            || {
                if self.wide {
                    let low = dst.group(self.rows + TO_LOW_HALF);
                    load_words((cells, low), (set, valid, self.odd), lreg);
                } else {
                    load_halves(mode, cells, (set, valid, self.odd, infinities), lreg);
                }
            },
        );
    }

    /// SFPSTORE: the values of the lanes of `set`.
    #[inline(never)]
    pub(super) fn store(&self, dst: &mut Dst, mode: u32, set: u32, values: &LReg) {
        dst.validate_in_group(self.rows, set);
        let lanes = (set, self.odd);
        vectorise::run(
            #[inline(always)]
            || {
                if self.wide {
                    store_words(mode, dst, self.rows, lanes, values);
                } else {
                    store_halves(mode, dst.group_mut(self.rows), lanes, values);
                }
            },
        );
    }
}

/// If all lanes of a set do the same with columns of one kind: how far up in a pair the column is.
#[inline(always)]
pub(super) const fn alike(set: u32, odd: u32) -> Option<u32> {
    match (set, odd) {
        (u32::MAX, 0) => Some(0),
        (u32::MAX, u32::MAX) => Some(16),
        _ => None,
    }
}

/// SFPSTORE of all lanes, all to columns of one kind, in a mode of half-words.
#[inline(always)]
pub(super) fn store_each<const MODE: u32>(cells: &mut Group, shift: u32, values: &LReg) {
    for (lane, &value) in values.iter().enumerate() {
        let half = u32::from(dst_format::store_half(MODE, value));
        let kept = pair(cells, lane) & !(0xFFFF << shift);
        set_pair(cells, lane, kept | half << shift);
    }
}

/// Half-words of some lanes.
#[inline(always)]
fn store_halves(mode: u32, cells: &mut Group, lanes: (u32, u32), values: &LReg) {
    with_known(
        mode,
        #[inline(always)]
        |mode| {
            let half = |value| u32::from(dst_format::store_half(mode, value));
            put(cells, lanes, values, half);
        },
    );
}

/// Words of some lanes: high halves to the group of `row`, low ones eight rows further.
#[inline(always)]
fn store_words(mode: u32, dst: &mut Dst, row: u32, lanes: (u32, u32), values: &LReg) {
    with_known(
        mode,
        #[inline(always)]
        |mode| {
            let word = |value| dst_format::store_word(mode, value);
            put(dst.group_mut(row + TO_LOW_HALF), lanes, values, |value| word(value) & 0xFFFF);
            put(dst.group_mut(row), lanes, values, |value| word(value) >> 16);
        },
    );
}

/// What `convert` makes of the values of the lanes of `set`, 16 bits, to their cells.
#[inline(always)]
fn put(cells: &mut Group, (set, odd): (u32, u32), values: &LReg, convert: impl Fn(u32) -> u32) {
    for (lane, &value) in values.iter().enumerate() {
        let shift = (odd >> lane & 1) * 16;
        let written = ((set >> lane & 1) * 0xFFFF) << shift;
        let kept = pair(cells, lane) & !written;
        set_pair(cells, lane, kept | convert(value) << shift & written);
    }
}

/// The even column of a lane below the odd one.
#[inline(always)]
fn pair(cells: &Group, lane: usize) -> u32 {
    u32::from(cells[2 * lane]) | u32::from(cells[2 * lane + 1]) << 16
}

#[inline(always)]
fn set_pair(cells: &mut Group, lane: usize, pair: u32) {
    cells[2 * lane] = pair as u16;
    cells[2 * lane + 1] = (pair >> 16) as u16;
}

/// SFPLOAD of all lanes, all from columns of one kind and valid rows, in a mode of half-words; none
/// of the lanes reads an FP16 infinity.
#[inline(always)]
pub(super) fn load_each<const MODE: u32>(cells: &Group, shift: u32, lreg: &mut LReg) {
    for (lane, value) in lreg.iter_mut().enumerate() {
        let cell = pair(cells, lane) >> shift & 0xFFFF;
        *value = dst_format::load_half(MODE, cell, *value, false);
    }
}

/// Half-words to the lanes of `set`; zero from rows that are not valid.
#[inline(always)]
fn load_halves(
    mode: u32,
    cells: &Group,
    (set, valid, odd, infinities): (u32, u32, u32, u32),
    lreg: &mut LReg,
) {
    with_known(
        mode,
        #[inline(always)]
        |mode| {
            for (lane, value) in lreg.iter_mut().enumerate() {
                let has = |set: u32| set >> lane & 1;
                let cell = (pair(cells, lane) >> (has(odd) * 16)) & (has(valid) * 0xFFFF);
                let new = dst_format::load_half(mode, cell, *value, has(infinities) != 0);
                *value = if has(set) != 0 { new } else { *value };
            }
        },
    );
}

/// Words of high and low halves to the lanes of `set`; zero from rows that are not valid.
#[inline(always)]
fn load_words((high, low): (&Group, &Group), (set, valid, odd): (u32, u32, u32), lreg: &mut LReg) {
    for (lane, value) in lreg.iter_mut().enumerate() {
        let has = |set: u32| set >> lane & 1;
        let half = |cells: &Group| pair(cells, lane) >> (has(odd) * 16) & 0xFFFF;
        let cell = (half(high) << 16 | half(low)) & has(valid).wrapping_neg();
        let new = dst_format::load_word(cell);
        *value = if has(set) != 0 { new } else { *value };
    }
}

#[cfg(test)]
mod tests {
    use vectorise::Level;

    use super::super::LANES;
    use super::super::dst_format::{mode, with_half_mode};
    use super::*;
    use crate::state::dst::DST_ROWS;

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

    /// The loops of SFPLOAD give on `level` what [`Place::load`] gives.
    fn assert_loads_agree(
        level: Level,
        place: &Place,
        dst: &Dst,
        (mode, set, infinities): (u32, u32, u32),
        old: &LReg,
    ) {
        let run = |set, valid, infinities| {
            let (cells, mut lreg) = (dst.group(place.rows), *old);
            let low = dst.group(place.rows + TO_LOW_HALF);
            vectorise::run_at(
                level,
                #[inline(always)]
                || {
                    if place.wide {
                        load_words((cells, low), (set, valid, place.odd), &mut lreg);
                    } else {
                        load_halves(mode, cells, (set, valid, place.odd, infinities), &mut lreg);
                    }
                },
            );
            lreg
        };
        let mut expected = *old;
        place.load(dst, mode, set, &mut expected, infinities);
        assert_eq!(run(set, dst.valid_in_group(place.rows), infinities), expected, "{level:?}");
        if let Some(shift) = alike(u32::MAX, place.odd).filter(|_| !place.wide && mode != 0) {
            let mut all = *old;
            let cells = dst.group(place.rows);
            vectorise::run_at(
                level,
                #[inline(always)]
                || {
                    with_half_mode!(mode, MODE => load_each::<MODE>(cells, shift, &mut all),
                        else unreachable!("mode {mode} loads words"));
                },
            );
            assert_eq!(all, run(u32::MAX, u32::MAX, 0), "{level:?} load in mode {mode}");
        }
    }

    /// The loops of SFPSTORE give on `level` what [`Place::store`] gives.
    fn assert_stores_agree(
        level: Level,
        place: &Place,
        dst: &Dst,
        (mode, set): (u32, u32),
        values: &LReg,
    ) {
        let run = |set| {
            let mut dst = dst.clone();
            vectorise::run_at(
                level,
                #[inline(always)]
                || {
                    let lanes = (set, place.odd);
                    if place.wide {
                        store_words(mode, &mut dst, place.rows, lanes, values);
                    } else {
                        store_halves(mode, dst.group_mut(place.rows), lanes, values);
                    }
                },
            );
            dst.cells
        };
        let mut expected = dst.clone();
        place.store(&mut expected, mode, set, values);
        assert!(run(set) == expected.cells, "{level:?} store in mode {mode}");
        if let Some(shift) = alike(u32::MAX, place.odd).filter(|_| !place.wide && mode != 0) {
            let mut all = dst.clone();
            let cells = all.group_mut(place.rows);
            vectorise::run_at(
                level,
                #[inline(always)]
                || {
                    with_half_mode!(mode, MODE => store_each::<MODE>(cells, shift, values),
                        else unreachable!("mode {mode} stores words"));
                },
            );
            assert!(all.cells == run(u32::MAX), "{level:?} store in mode {mode}");
        }
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
                // Rows of lanes are alike.
                _ => ((next() & 0xFF) * 0x0101_0101, next() & 0xFF00_FFFF, next()),
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
                    dst_format::load_half(mode, u32::from(cell(row)), old[lane], infinity)
                }
            });
            let place = Place::new(map, wide, address, odd);
            let mut loaded = old;
            place.load(&dst, mode, set, &mut loaded, infinities);
            assert_eq!(loaded, expected, "load in mode {mode}");
            for level in Level::ALL {
                assert_loads_agree(level, &place, &dst, (mode, set, infinities), &old);
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
            let mut stored = dst.clone();
            let place = Place::new(map, wide, address, odd);
            place.store(&mut stored, mode, set, &old);
            assert!(stored == expected, "store in mode {mode}");
            for level in Level::ALL {
                assert_stores_agree(level, &place, &dst, (mode, set), &old);
            }
        }
    }
}
