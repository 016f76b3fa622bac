//! GMPOOL: the largest of sixteen rows of SrcA and one row of Dst, per column.
//!
//! Source: `[isa-wh: TensixCoprocessor/GMPOOL.md]`, whose quirks are kept: five- and eight-bit
//! exponents are summed with SrcB's and only brought back on the way out, integers keep 13 bits of
//! magnitude, and the index of the largest is tracked over the first eight rows only.

use super::setup::{Setup, Style, TF32};
use crate::state::dst::{DST_COLUMNS, Dst};
use crate::state::src::{SRC_ROWS, SrcCells};

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

/// A value on the way through the comparators. The exponent has nine bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Datum {
    negative: bool,
    exponent: u32,
    magnitude: u32,
}

impl Datum {
    /// Below everything else.
    const LOWEST: Self = Self { negative: true, exponent: 0x1FF, magnitude: 0x3FF };
    const ZERO: Self = Self { negative: false, exponent: 0, magnitude: 0 };

    const fn key(self) -> i32 {
        let magnitude = (self.exponent << 10 | self.magnitude) as i32;
        if self.negative { -magnitude } else { magnitude }
    }

    fn read(word: u32, layout: Layout) -> Self {
        let (exponent, magnitude) = match layout {
            Layout::Int32 => (word >> 10 & 0x3F | (word >> 24 & 7) << 6, word & 0x3FF),
            Layout::Fp16 => ((word >> 16 & 0x1F) + 15, word >> 21 & 0x3FF),
            Layout::Bf16 => ((word >> 16 & 0xFF) + 127, (word >> 24 & 0x7F) << 3),
            Layout::Tf32 => ((word >> 16 & 0xFF) + 127, (word >> 24 & 0x7F) << 3 | word >> 13 & 7),
        };
        Self { negative: word >> 31 != 0, exponent, magnitude }
    }

    fn write(self, layout: Layout) -> u32 {
        let sign = u32::from(self.negative) << 31;
        match layout {
            Layout::Int32 => sign | (self.exponent & 7) << 10 | self.magnitude,
            Layout::Fp16 if self.exponent & 0x3F == 0 => 0,
            Layout::Fp16 => {
                sign | self.magnitude << 21 | (self.exponent.wrapping_sub(15) & 0x1F) << 16
            }
            Layout::Bf16 | Layout::Tf32 if self.exponent == 0 => 0,
            Layout::Bf16 | Layout::Tf32 => {
                let exponent = (self.exponent.wrapping_sub(127) & 0xFF) << 16;
                let low = if layout == Layout::Tf32 { (self.magnitude & 7) << 13 } else { 0 };
                sign | (self.magnitude & 0x3F8) << 21 | exponent | low
            }
        }
    }
}

/// A cell of SrcA, scaled by the exponent of a cell of SrcB.
fn scaled(a: u32, b: u32, setup: &Setup) -> Datum {
    let (exponent_a, exponent_b) = (a >> 10 & 0xFF, b >> 10 & 0xFF);
    if exponent_b == 0 {
        return Datum::LOWEST;
    }
    if exponent_a == 0 {
        return Datum::ZERO;
    }
    let (exponent, mask) = match setup.style_a {
        _ if setup.int8 => (0, 0x3FF),
        Style::Fp16 => ((exponent_a & 0x1F) + (exponent_b & 0x1F), 0x3FF),
        Style::Tf32 => (exponent_a + exponent_b, 0x3FF),
        Style::Bf16 => (exponent_a + exponent_b, 0x3F8),
    };
    Datum { negative: a >> 18 & 1 != 0, exponent, magnitude: a & mask }
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
fn load(dst: &Dst, setup: &Setup, row: u32) -> [u32; DST_COLUMNS] {
    let physical = if setup.wide { setup.map.row32(row) } else { setup.map.row16(row) };
    match (dst.is_valid(physical), setup.wide) {
        (false, _) => [u32::MAX; DST_COLUMNS],
        (true, true) => dst.read32(setup.map, row),
        (true, false) => dst.read16(setup.map, row).map(|cell| u32::from(cell) << 16),
    }
}

fn store(dst: &mut Dst, setup: &Setup, row: u32, values: &[u32; DST_COLUMNS]) {
    if setup.wide {
        dst.write32(setup.map, row, values);
    } else {
        dst.write16(setup.map, row, &values.map(|value| (value >> 16) as u16));
    }
}

/// The reduction. Rows in `setup` are aligned by the caller.
pub(crate) fn maximum(dst: &mut Dst, a: &SrcCells, b: &SrcCells, setup: &Setup, shape: Shape) {
    let Shape { rows, argmax } = shape;
    let layout = layout(setup, argmax);
    let scale = &b[setup.src_b_row as usize % SRC_ROWS];
    let mut values = load(dst, setup, setup.dst_row);
    for (column, value) in values.iter_mut().enumerate() {
        let mut largest = Datum::read(*value, layout);
        let (mut index, phase) = (*value & 0xFF, value.wrapping_add(0x100) & 0xF00);
        for step in 0..rows {
            // The order matters only where the index of equal values is asked for.
            let i = if step < 8 && rows == ROWS { step ^ 4 } else { step };
            let cell = a[(setup.src_a_row as usize + i) % SRC_ROWS][column];
            let datum = scaled(cell, scale[i], setup);
            if datum.key() >= largest.key() {
                largest = datum;
                if let Some(code) = INDEX_CODES.get(i) {
                    index = (phase >> 4) + code;
                }
            }
        }
        *value = match (argmax, layout) {
            (false, _) => largest.write(layout),
            (true, Layout::Int32) => phase | index,
            (true, _) => largest.write(layout) | phase | index,
        };
    }
    for i in 1..4 {
        let row = setup.dst_row + i;
        let rest = if argmax && setup.wide {
            load(dst, setup, row).map(|value| value.wrapping_add(0x100) & 0xF00)
        } else {
            [0; DST_COLUMNS]
        };
        store(dst, setup, row, &rest);
    }
    store(dst, setup, setup.dst_row, &values);
}
