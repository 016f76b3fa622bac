//! GMPOOL: the largest of sixteen rows of SrcA and one row of Dst, per column.
//!
//! Source: `[isa-wh: TensixCoprocessor/GMPOOL.md]`, whose quirks are kept: five- and eight-bit
//! exponents are summed with SrcB's and only brought back on the way out, integers keep 13 bits of
//! magnitude, and the index of the largest is tracked over the first eight rows only.

use super::setup::{Setup, Style, TF32};
use crate::state::dst::{DST_COLUMNS, Dst};
use crate::state::src::{SRC_COLUMNS, SRC_ROWS, SrcCells};

/// Rows compared, as documented.
pub(crate) const ROWS: usize = 16;
/// What the index of a row is returned as.
const INDEX_CODES: [u32; 8] = [0, 3, 6, 1, 4, 7, 2, 5];

/// What an instruction compares and returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    /// Rows of SrcA, at most [`ROWS`].
    pub(crate) rows: usize,
    /// The index of the largest is wanted.
    pub(crate) argmax: bool,
}

/// How a datum lies in a word as Dst stores it; half-words are the high half.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layout {
    Int32,
    Fp16,
    Bf16,
    Tf32,
}

/// A row of values on their way through the comparators: the sign at bit 31, nine bits of exponent from 10 on, ten
/// of magnitude.
type Row = [u32; DST_COLUMNS];

const SIGN: u32 = 1 << 31;
const EXPONENT: u32 = 10;
/// Below everything else.
const LOWEST: u32 = SIGN | 0x1FF << EXPONENT | 0x3FF;

#[inline(always)]
const fn value(sign: u32, exponent: u32, magnitude: u32) -> u32 {
    sign & SIGN | exponent << EXPONENT | magnitude
}

/// What values are compared by; both zeros are equal.
#[inline(always)]
const fn key(value: u32) -> i32 {
    let (magnitude, negative) = ((value & !SIGN).cast_signed(), value.cast_signed() >> 31);
    (magnitude ^ negative) - negative
}

/// All bits, or none.
#[inline(always)]
const fn all_if(condition: bool) -> u32 {
    (condition as u32).wrapping_neg()
}

/// A row, column by column.
#[inline(always)]
fn row_of(column: impl Fn(usize) -> u32) -> Row {
    let mut row = [0; DST_COLUMNS];
    for (number, cell) in row.iter_mut().enumerate() {
        *cell = column(number);
    }
    row
}

/// Values of a row of Dst.
#[inline(always)]
fn from_dst(words: &Row, layout: Layout) -> Row {
    let row = |exponent: fn(u32) -> u32, magnitude: fn(u32) -> u32| {
        row_of(|i| value(words[i], exponent(words[i]), magnitude(words[i])))
    };
    match layout {
        Layout::Int32 => row(|word| word >> 10 & 0x3F | (word >> 24 & 7) << 6, |word| word & 0x3FF),
        Layout::Fp16 => row(|word| (word >> 16 & 0x1F) + 15, |word| word >> 21 & 0x3FF),
        Layout::Bf16 => row(|word| (word >> 16 & 0xFF) + 127, |word| (word >> 24 & 0x7F) << 3),
        Layout::Tf32 => {
            row(|word| (word >> 16 & 0xFF) + 127, |word| (word >> 24 & 0x7F) << 3 | word >> 13 & 7)
        }
    }
}

/// A row of Dst from values.
#[inline(always)]
fn to_dst(values: &Row, layout: Layout) -> Row {
    let row = |write: fn(u32, u32, u32) -> u32| {
        row_of(|i| write(values[i] & SIGN, values[i] >> EXPONENT & 0x1FF, values[i] & 0x3FF))
    };
    let float = |low: u32| {
        row_of(|i| {
            let (exponent, magnitude) = (values[i] >> EXPONENT & 0x1FF, values[i] & 0x3FF);
            let word = values[i] & SIGN
                | (magnitude & 0x3F8) << 21
                | (exponent.wrapping_sub(127) & 0xFF) << 16
                | (magnitude & low) << 13;
            word & all_if(exponent != 0)
        })
    };
    match layout {
        Layout::Int32 => row(|sign, exponent, magnitude| sign | (exponent & 7) << 10 | magnitude),
        Layout::Fp16 => row(|sign, exponent, magnitude| {
            let word = sign | magnitude << 21 | (exponent.wrapping_sub(15) & 0x1F) << 16;
            word & all_if(exponent & 0x3F != 0)
        }),
        Layout::Bf16 => float(0),
        Layout::Tf32 => float(7),
    }
}

/// How cells of SrcA and SrcB become values.
#[derive(Clone, Copy)]
struct Scaling {
    /// Bits of either exponent that are summed,
    exponent: u32,
    /// and of SrcA's mantissa.
    magnitude: u32,
}

impl Scaling {
    const fn of(setup: &Setup) -> Self {
        match setup.style_a {
            _ if setup.int8 => Self { exponent: 0, magnitude: 0x3FF },
            Style::Fp16 => Self { exponent: 0x1F, magnitude: 0x3FF },
            Style::Tf32 => Self { exponent: 0xFF, magnitude: 0x3FF },
            Style::Bf16 => Self { exponent: 0xFF, magnitude: 0x3F8 },
        }
    }

    /// A row of SrcA, scaled by the exponent of a cell of SrcB.
    #[inline(always)]
    fn scaled(self, a: &Row, b: u32) -> Row {
        let exponent_b = b >> 10 & 0xFF;
        if exponent_b == 0 {
            return [LOWEST; DST_COLUMNS];
        }
        row_of(|i| {
            let exponent = a[i] >> 10 & 0xFF;
            let sum = (exponent & self.exponent) + (exponent_b & self.exponent);
            value(a[i] << 13, sum, a[i] & self.magnitude) & all_if(exponent != 0)
        })
    }
}

fn layout(setup: &Setup, argmax: bool) -> Layout {
    let with_index = argmax && setup.wide;
    match setup.style_a {
        _ if setup.int8 => Layout::Int32,
        Style::Tf32 if argmax && setup.format_a == TF32 => Layout::Int32,
        Style::Fp16 if with_index || !setup.wide => Layout::Fp16,
        Style::Bf16 if with_index => Layout::Bf16,
        Style::Bf16 | Style::Tf32 if !setup.wide => Layout::Bf16,
        Style::Bf16 | Style::Tf32 | Style::Fp16 => Layout::Tf32,
    }
}

/// A row of Dst as stored; an invalid one reads as the lowest value.
fn load(dst: &Dst, setup: &Setup, row: u32) -> Row {
    let physical = if setup.wide { setup.map.row32(row) } else { setup.map.row16(row) };
    match (dst.is_valid(physical), setup.wide) {
        (false, _) => [u32::MAX; DST_COLUMNS],
        (true, true) => dst.read32(setup.map, row),
        (true, false) => dst.read16(setup.map, row).map(|cell| u32::from(cell) << 16),
    }
}

fn store(dst: &mut Dst, setup: &Setup, row: u32, values: &Row) {
    if setup.wide {
        dst.write32(setup.map, row, values);
    } else {
        dst.write16(setup.map, row, &values.map(|value| (value >> 16) as u16));
    }
}

/// The largest of each column of `before`, as Dst has it, and so many rows of SrcA; with `argmax`, where it is.
#[inline(always)]
fn largest(before: &Row, a: &SrcCells, b: &SrcCells, setup: &Setup, shape: Shape) -> Row {
    let Shape { rows, argmax } = shape;
    let (layout, scaling) = (layout(setup, argmax), Scaling::of(setup));
    let scale = &b[setup.src_b_row as usize % SRC_ROWS];
    let mut largest = from_dst(before, layout);
    let phase = row_of(|i| before[i].wrapping_add(0x100) & 0xF00);
    let mut index = row_of(|i| before[i] & 0xFF);
    for step in 0..rows {
        // The order matters only where the index of equal values is asked for.
        let number = if step < 8 && rows == ROWS { step ^ 4 } else { step };
        let cells = &a[(setup.src_a_row as usize + number) % SRC_ROWS];
        let values = scaling.scaled(cells, scale[number % SRC_COLUMNS]);
        let code = INDEX_CODES.get(number).copied();
        for i in 0..DST_COLUMNS {
            let is_largest = key(values[i]) >= key(largest[i]);
            let taken = all_if(is_largest);
            largest[i] = values[i] & taken | largest[i] & !taken;
            if let Some(code) = code {
                index[i] = ((phase[i] >> 4) + code) & taken | index[i] & !taken;
            }
        }
    }
    let values = to_dst(&largest, layout);
    match (argmax, layout) {
        (false, _) => values,
        (true, Layout::Int32) => row_of(|i| phase[i] | index[i]),
        (true, _) => row_of(|i| values[i] | phase[i] | index[i]),
    }
}

/// The reduction. Rows in `setup` are aligned by the caller.
pub(crate) fn maximum(dst: &mut Dst, a: &SrcCells, b: &SrcCells, setup: &Setup, shape: Shape) {
    let before = load(dst, setup, setup.dst_row);
    let values = vectorise::run(
        #[inline(always)]
        || largest(&before, a, b, setup, shape),
    );
    for i in 1..4 {
        let row = setup.dst_row + i;
        let rest = if shape.argmax && setup.wide {
            load(dst, setup, row).map(|value| value.wrapping_add(0x100) & 0xF00)
        } else {
            [0; DST_COLUMNS]
        };
        store(dst, setup, row, &rest);
    }
    store(dst, setup, setup.dst_row, &values);
}
