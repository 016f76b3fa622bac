//! Where converted datums go: a bank of SrcA, a bank of SrcB, or Dst.
//!
//! Output positions count datums, 16 to a row. Not here: who may write, which the wait gate checks.
//!
//! Source: `[isa-wh: TensixCoprocessor/UNPACR_Regular.md]`.

use crate::state::dst::{Dst, DstMap};
use crate::state::src::{SRC_COLUMNS, SRC_ROWS, SrcCells};

/// Columns of every register file.
pub(crate) const COLUMNS: usize = SRC_COLUMNS;
/// SrcA and Dst positions begin with four rows that do not exist.
const HEADER_ROWS: u32 = 4;
/// Rows of SrcA that an `UNPACR` may reach when its thread's row register supplies the rest.
const ROWS_PER_SET: u32 = 16;

/// A row outside the part of SrcA that the instruction may write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowOutside(pub(crate) u32);

/// How SrcA rows and columns follow from the output position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SrcAShape {
    /// Row of the thread's row register, or `None` if the address alone says where
    /// (`SRCA_SET_SetOvrdWithAddr`).
    pub(crate) set_row: Option<u32>,
    /// Columns by which datums move left; those that would leave the row are dropped.
    pub(crate) column_shift: u32,
    /// Exchange column and row in blocks of 16 by 16.
    pub(crate) transpose: bool,
}

/// Where datums go.
#[derive(Debug)]
pub(crate) enum Sink<'a> {
    SrcA {
        cells: &'a mut SrcCells,
        shape: SrcAShape,
    },
    SrcB {
        cells: &'a mut SrcCells,
        row: u32,
        /// Rows of SrcB that each row goes to: 1, or 8 to broadcast.
        copies: u32,
    },
    /// With `wide`, two half-words per datum.
    Dst {
        dst: &'a mut Dst,
        map: DstMap,
        wide: bool,
    },
}

impl Sink<'_> {
    /// Writes datums to consecutive positions from `position` on; at most a row of them.
    ///
    /// # Errors
    /// [`RowOutside`] if SrcA has no such row.
    #[inline]
    pub(crate) fn write(&mut self, position: u32, datums: &[u32]) -> Result<(), RowOutside> {
        let row = position / COLUMNS as u32;
        let column = position as usize % COLUMNS;
        let room = COLUMNS - column;
        if datums.len() <= room {
            return self.write_in_row(row, column, datums);
        }
        let (here, next) = datums.split_at(room);
        self.write_in_row(row, column, here)?;
        self.write_in_row(row.wrapping_add(1), 0, next)
    }

    /// `count` whole rows from output row `row` on, where they are whole rows here and none of them
    /// is one that must not be written.
    #[inline]
    pub(crate) fn rows(&mut self, row: u32, count: u32) -> Option<Rows<'_>> {
        match self {
            Self::SrcA { cells, shape } => {
                let first = row.checked_sub(HEADER_ROWS)?;
                let fits = shape.set_row.is_none() || first.checked_add(count)? <= ROWS_PER_SET;
                let plain = shape.column_shift == 0 && !shape.transpose;
                let first = (first % SRC_ROWS as u32) + shape.set_row.unwrap_or(0);
                (fits && plain).then_some(Rows::Src(SrcRows { cells, first, count }))
            }
            Self::SrcB { cells, row: set_row, copies } => {
                let first = row % SRC_ROWS as u32 + *set_row;
                (*copies == 1).then_some(Rows::Src(SrcRows { cells, first, count }))
            }
            Self::Dst { dst, map, wide } => {
                let first = row.wrapping_sub(HEADER_ROWS);
                Some(Rows::Dst { dst, map: *map, wide: *wide, first, count })
            }
        }
    }

    /// Writes datums that lie in one row.
    #[inline]
    fn write_in_row(&mut self, row: u32, column: usize, datums: &[u32]) -> Result<(), RowOutside> {
        match self {
            Self::SrcA { cells, shape } => write_src_a(cells, *shape, row, column, datums),
            Self::SrcB { cells, row: set_row, copies } => {
                let first = row.wrapping_mul(*copies).wrapping_add(*set_row);
                for row in 0..*copies {
                    let row = first.wrapping_add(row) as usize % SRC_ROWS;
                    copy(&mut cells[row], column, datums);
                }
                Ok(())
            }
            Self::Dst { dst, map, wide } => {
                let row = row.wrapping_sub(HEADER_ROWS);
                write_dst(dst, (*map, *wide), row, column, datums);
                Ok(())
            }
        }
    }
}

/// Consecutive whole rows of a register file.
#[derive(Debug)]
pub(crate) enum Rows<'a> {
    Src(SrcRows<'a>),
    Dst { dst: &'a mut Dst, map: DstMap, wide: bool, first: u32, count: u32 },
}

/// Consecutive rows of SrcA or SrcB. They wrap; `first + count` does not overflow.
#[derive(Debug)]
pub(crate) struct SrcRows<'a> {
    pub(crate) cells: &'a mut SrcCells,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Rows<'_> {
    pub(crate) fn count(&self) -> u32 {
        match self {
            Self::Src(SrcRows { count, .. }) | Self::Dst { count, .. } => *count,
        }
    }

    /// Writes row number `row` of them.
    #[inline(always)]
    pub(crate) fn write(&mut self, row: u32, datums: &[u32; COLUMNS]) {
        match self {
            Self::Src(to) => to.cells[(to.first + row) as usize % SRC_ROWS] = *datums,
            Self::Dst { dst, map, wide, first, .. } => {
                write_dst_row(dst, (*map, *wide), first.wrapping_add(row), datums);
            }
        }
    }
}

/// Writes a whole row of Dst.
#[inline(always)]
fn write_dst_row(dst: &mut Dst, (map, wide): (DstMap, bool), row: u32, datums: &[u32; COLUMNS]) {
    if wide {
        dst.write32(map, row, datums);
    } else {
        dst.write16(map, row, &datums.map(|datum| datum as u16));
    }
}

#[inline]
fn copy(cells: &mut [u32; COLUMNS], column: usize, datums: &[u32]) {
    // Whole rows are the common case, and then the compiler knows the length.
    if let Ok(row) = <&[u32; COLUMNS]>::try_from(datums) {
        *cells = *row;
        return;
    }
    for (cell, datum) in cells.iter_mut().skip(column).zip(datums) {
        *cell = *datum;
    }
}

/// Row of SrcA that row `row` of the output goes to; `None` for the rows that do not exist.
#[inline]
fn src_a_row(shape: SrcAShape, row: u32) -> Result<Option<usize>, RowOutside> {
    let Some(row) = row.checked_sub(HEADER_ROWS) else { return Ok(None) };
    // By address, rows beyond the last wrap: the page calls that undefined, but the vendor's fast
    // tilize does it in recorded sessions whose results agree with wrapping.
    let row = match shape.set_row {
        Some(_) if row >= ROWS_PER_SET => return Err(RowOutside(row)),
        Some(base) => row + base,
        None => row,
    };
    Ok(Some(row as usize % SRC_ROWS))
}

#[inline]
fn write_src_a(
    cells: &mut SrcCells,
    shape: SrcAShape,
    row: u32,
    column: usize,
    datums: &[u32],
) -> Result<(), RowOutside> {
    let Some(row) = src_a_row(shape, row)? else { return Ok(()) };
    let shift = shape.column_shift as usize;
    if shift == 0 && !shape.transpose {
        copy(&mut cells[row], column, datums);
        return Ok(());
    }
    for (column, datum) in (column..).zip(datums) {
        let Some(column) = column.checked_sub(shift) else { continue };
        let (row, column) = if shape.transpose {
            (row & !(COLUMNS - 1) | column, row % COLUMNS)
        } else {
            (row, column)
        };
        cells[row % SRC_ROWS][column % COLUMNS] = *datum;
    }
    Ok(())
}

fn write_dst(dst: &mut Dst, (map, wide): (DstMap, bool), row: u32, column: usize, datums: &[u32]) {
    match (<&[u32; COLUMNS]>::try_from(datums), wide) {
        (Ok(datums), _) => write_dst_row(dst, (map, wide), row, datums),
        (Err(_), true) => {
            for (column, datum) in (column..).zip(datums) {
                dst.set32(map, row, column, *datum);
            }
        }
        (Err(_), false) => {
            for (column, datum) in (column..).zip(datums) {
                dst.set16(map, row, column, *datum as u16);
            }
        }
    }
}
