//! MVMUL, DOTPV and GAPOOL: sixteen products per datum of Dst, in two groups of eight.
//!
//! Sources: `[isa-wh: TensixCoprocessor/MVMUL.md]`, `DOTPV.md`, `GAPOOL.md`,
//! `SrcASrcB.md#fidelity-phases`; arithmetic `[spec: numerics 3.1, 3.3]`.

use super::accumulate::{Bf16, Fp16, Fp32, Patterns, Target, Term, accumulate};
use super::setup::{Setup, Style};
use crate::state::dst::{DST_COLUMNS, Dst};
use crate::state::src::{SRC_ROWS, SrcCells};

/// Inner dimension.
pub(super) const INNER: usize = 16;
/// Products that are aligned to one another.
const GROUP: usize = 8;
/// Exponent that stands for a zero operand; no sum of real exponents comes near it.
const ZERO: i16 = -4096;
/// Below any sum of real exponents.
const ZERO_LIMIT: i16 = -2048;

/// Operands taken apart: exponent, the multiplier's bits of the significand, sign as 0 or -1.
#[derive(Clone, Copy, Debug)]
struct Row {
    exponent: [i16; INNER],
    significand: [u16; INNER],
    sign: [i16; INNER],
}

impl Row {
    const EMPTY: Self = Self { exponent: [0; INNER], significand: [0; INNER], sign: [0; INNER] };

    /// Takes a row of cells apart. `bits` selects the multiplier's bits of an 11-bit significand.
    #[inline(always)]
    fn of(
        cells: &[u32; DST_COLUMNS],
        style: Style,
        flush: bool,
        offset: i16,
        bits: impl Fn(u32) -> u32,
    ) -> Self {
        let mut row = Self::EMPTY;
        for (column, &cell) in cells.iter().enumerate() {
            let cell = cell & style.mask();
            let exponent = (cell >> 10 & 0xFF) as i16;
            let zero = flush && exponent == 0;
            row.exponent[column] = if zero { ZERO } else { exponent + offset };
            let significand = if zero { 0 } else { cell & 0x3FF | 0x400 };
            row.significand[column] = bits(significand) as u16;
            row.sign[column] = -((cell >> 18 & 1) as i16);
        }
        row
    }
}

/// The five bits of SrcA's significand that a phase multiplies.
#[inline(always)]
pub(crate) const fn bits_of_a(significand: u32, phase: u32) -> u32 {
    if phase & 1 == 0 { significand >> 6 } else { significand >> 1 & 31 }
}

/// The seven bits of SrcB's significand that a phase multiplies.
#[inline(always)]
pub(crate) const fn bits_of_b(significand: u32, phase: u32) -> u32 {
    if phase & 2 == 0 { significand >> 4 } else { (significand & 15) << 3 }
}

/// What is added to the sum of both exponents `[spec: numerics 3.1]`.
pub(crate) const fn exponent_bias(setup: &Setup) -> i32 {
    let base = match (setup.style_a.is_narrow(), setup.wide) {
        (false, _) => -127,
        (true, false) => -15,
        (true, true) => 97,
    };
    base - 5 * (setup.phase & 1) as i32 - 7 * (setup.phase >> 1 & 1) as i32
}

/// Sums of one group for all columns.
#[derive(Clone, Copy, Debug)]
struct Sums {
    exponent: [i16; DST_COLUMNS],
    sum: [i16; DST_COLUMNS],
}

impl Sums {
    #[inline(always)]
    fn term(&self, column: usize) -> Term {
        let sum = i32::from(self.sum[column]);
        Term {
            negative: u32::from(sum < 0),
            exponent: i32::from(self.exponent[column]),
            magnitude: sum.unsigned_abs() << 13,
        }
    }
}

/// Adds eight products per column: each is rounded, half away from zero, to the exponent of the
/// largest. `floor` is the exponent that a product with a zero operand has.
#[inline(always)]
fn group(a: &[Row; GROUP], b: &Row, first: usize, floor: i16) -> Sums {
    let mut exponents = [[0i16; DST_COLUMNS]; GROUP];
    let (mut top, mut low) = ([i16::MIN; DST_COLUMNS], [i16::MAX; DST_COLUMNS]);
    for (k, row) in a.iter().enumerate() {
        let right = b.exponent[first + k];
        for column in 0..DST_COLUMNS {
            let exponent = row.exponent[column] + right;
            exponents[k][column] = exponent;
            top[column] = top[column].max(exponent);
            low[column] = low[column].min(exponent);
        }
    }
    for column in 0..DST_COLUMNS {
        let least = if low[column] < ZERO_LIMIT { floor } else { i16::MIN };
        top[column] = top[column].max(least);
    }
    let mut sum = [0i16; DST_COLUMNS];
    for (k, row) in a.iter().enumerate() {
        let (right, flip) = (b.significand[first + k], b.sign[first + k]);
        for column in 0..DST_COLUMNS {
            let distance = (top[column] - exponents[k][column]).min(15) as u16;
            let product = row.significand[column].wrapping_mul(right) << 1;
            let rounded = ((product >> distance) + 1) >> 1;
            let sign = row.sign[column] ^ flip;
            sum[column] += (rounded as i16 ^ sign) - sign;
        }
    }
    for column in 0..DST_COLUMNS {
        let keep = -i16::from(top[column] > 0);
        top[column] &= keep;
        sum[column] &= keep;
    }
    Sums { exponent: top, sum }
}

/// Row `k` of the SrcA operand, wrapping at the end of the bank [unknown: U-059].
pub(super) fn row_of_a<'a>(a: &'a SrcCells, setup: &Setup, k: usize) -> &'a [u32; DST_COLUMNS] {
    &a[(setup.src_a_row as usize + k) % SRC_ROWS]
}

/// Which rows a multiplication covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Rows of Dst, from `setup.dst_row` on, in steps of `step`.
    pub(crate) rows: u32,
    pub(crate) step: u32,
    /// Every row of Dst uses the same row of SrcB.
    pub(crate) broadcast: bool,
}

impl Shape {
    /// The row of SrcB that row `i` of Dst uses.
    pub(super) fn row_of_b<'a>(
        &self,
        b: &'a SrcCells,
        setup: &Setup,
        i: u32,
    ) -> &'a [u32; DST_COLUMNS] {
        let row = setup.src_b_row + if self.broadcast { 0 } else { i };
        &b[row as usize % SRC_ROWS]
    }
}

/// `Dst += SrcB @ SrcA`. Rows in `setup` are aligned by the caller.
pub(crate) fn multiply(dst: &mut Dst, a: &SrcCells, b: &SrcCells, setup: &Setup, shape: Shape) {
    match (setup.int8, setup.wide, setup.style_a.is_narrow()) {
        (true, ..) => super::integer::multiply(dst, a, b, setup, shape),
        (_, true, _) => float::<Fp32>(dst, a, b, setup, shape),
        (_, false, true) => float::<Fp16>(dst, a, b, setup, shape),
        (_, false, false) => float::<Bf16>(dst, a, b, setup, shape),
    }
}

fn float<T: Target>(dst: &mut Dst, a: &SrcCells, b: &SrcCells, setup: &Setup, shape: Shape) {
    let bias = exponent_bias(setup) as i16;
    let floor = bias.max(0);
    let phase = setup.phase;
    let mut left = [[Row::EMPTY; GROUP]; 2];
    for k in 0..INNER {
        let cells = row_of_a(a, setup, k);
        left[k / GROUP][k % GROUP] =
            Row::of(cells, setup.style_a, true, 0, |bits| bits_of_a(bits, phase));
    }
    let mut i = 0;
    while i < shape.rows {
        let cells = shape.row_of_b(b, setup, i);
        let right = Row::of(cells, setup.style_b, setup.flush, bias, |bits| bits_of_b(bits, phase));
        let first = group(&left[0], &right, 0, floor);
        let second = group(&left[1], &right, GROUP, floor);
        let mut values: Patterns = T::load(dst, setup.map, setup.dst_row + i);
        for (column, value) in values.iter_mut().enumerate() {
            *value = accumulate::<T>(first.term(column), second.term(column), *value);
        }
        T::store(dst, setup.map, setup.dst_row + i, &values);
        i += shape.step;
    }
}
