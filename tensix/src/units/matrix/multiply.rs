//! MVMUL, DOTPV and GAPOOL: sixteen products per datum of Dst, in two groups of eight.
//!
//! Sources: `[isa-wh: TensixCoprocessor/MVMUL.md]`, `DOTPV.md`, `GAPOOL.md`,
//! `SrcASrcB.md#fidelity-phases`; arithmetic `[spec: numerics 3.1, 3.3]`.

use vectorise::Level;

use super::accumulate::{Bf16, Fp16, Fp32, Patterns, Target, Term, accumulate, choose};
use super::setup::Setup;
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

    /// Takes a row of cells apart, as the operand that `factor` describes.
    #[inline(always)]
    fn take(&mut self, cells: &[u32; DST_COLUMNS], factor: &Factor) {
        let least = u32::from(factor.flush);
        for (column, &cell) in cells.iter().enumerate() {
            let cell = cell & factor.mask;
            let exponent = cell >> 10 & 0xFF;
            let zero = exponent < least;
            let sum = exponent as i16 + factor.offset;
            self.exponent[column] = if zero { ZERO } else { sum };
            let significand = factor.bits.of(cell & 0x3FF | 0x400);
            self.significand[column] = choose(zero, 0, significand) as u16;
            self.sign[column] = -((cell >> 18 & 1) as i16);
        }
    }
}

/// How cells become operands.
#[derive(Clone, Copy, Debug)]
struct Factor {
    /// Bits of a cell that take part.
    mask: u32,
    /// Exponent zero counts as zero.
    flush: bool,
    /// Added to the exponent.
    offset: i16,
    bits: Bits,
}

/// The bits of an 11-bit significand that a fidelity phase multiplies, as a mask and two shifts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    mask: u32,
    right: u32,
    left: u32,
}

impl Bits {
    /// Five bits of SrcA's.
    #[inline(always)]
    pub(super) const fn of_a(phase: u32) -> Self {
        if phase & 1 == 0 {
            Self { mask: 0x7C0, right: 6, left: 0 }
        } else {
            Self { mask: 0x03E, right: 1, left: 0 }
        }
    }

    /// Seven bits of SrcB's.
    #[inline(always)]
    pub(super) const fn of_b(phase: u32) -> Self {
        if phase & 2 == 0 {
            Self { mask: 0x7F0, right: 4, left: 0 }
        } else {
            Self { mask: 0x00F, right: 0, left: 3 }
        }
    }

    #[inline(always)]
    pub(super) const fn of(self, significand: u32) -> u32 {
        ((significand & self.mask) >> (self.right & 31)) << (self.left & 31)
    }
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
        let exponent = i32::from(self.exponent[column]);
        Term { exponent, value: i32::from(self.sum[column]) << 13 }
    }
}

/// Adds eight products per column: each is rounded, half away from zero, to the exponent of the
/// largest. `floor` is the exponent that a product with a zero operand has; without magnitude it
/// matters only above zero.
#[inline(always)]
fn group(a: &[Row; GROUP], b: &Row, first: usize, floor: i16) -> Sums {
    let mut exponents = [[0i16; DST_COLUMNS]; GROUP];
    for (k, (sums, row)) in exponents.iter_mut().zip(a).enumerate() {
        let right = b.exponent[first + k];
        for (sum, left) in sums.iter_mut().zip(&row.exponent) {
            *sum = left + right;
        }
    }
    let mut top = extreme(&exponents, i16::max);
    if floor > 0 {
        let low = extreme(&exponents, i16::min);
        for (top, &low) in top.iter_mut().zip(&low) {
            *top = if low < ZERO_LIMIT { (*top).max(floor) } else { *top };
        }
    }
    let mut sum = [0i16; DST_COLUMNS];
    for (k, row) in a.iter().enumerate() {
        let (doubled, flip) = (b.significand[first + k] << 1, b.sign[first + k]);
        for column in 0..DST_COLUMNS {
            let distance = (top[column] - exponents[k][column]) as u16;
            let product = row.significand[column].wrapping_mul(doubled);
            let shifted = if distance > 15 { 0 } else { product >> (distance & 15) };
            // Half up of the magnitude and then the sign: -((x + 1) >> 1) is (!x + 1) >> 1.
            sum[column] += ((shifted as i16 ^ row.sign[column] ^ flip) + 1) >> 1;
        }
    }
    for (sum, top) in sum.iter_mut().zip(&mut top) {
        let keep = -i16::from(*top > 0);
        *top &= keep;
        *sum &= keep;
    }
    Sums { exponent: top, sum }
}

/// The largest or least of eight per column, in pairs: a chain from row to row is vectorised along
/// the wrong dimension.
#[inline(always)]
fn extreme(
    values: &[[i16; DST_COLUMNS]; GROUP],
    of: impl Fn(i16, i16) -> i16,
) -> [i16; DST_COLUMNS] {
    let mut values = *values;
    for half in [4, 2, 1] {
        let (left, right) = values.split_at_mut(half);
        for (left, right) in left.iter_mut().zip(right) {
            for (left, &mut right) in left.iter_mut().zip(right) {
                *left = of(*left, right);
            }
        }
    }
    values[0]
}

/// Row `k` of the SrcA operand, wrapping at the end of the bank [unknown: U-059].
#[inline(always)]
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
    #[inline(always)]
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
    float_at::<T>(Level::best(), dst, [a, b], setup, shape);
}

/// [`multiply`] of floating-point formats, compiled for a level of the host.
pub(super) fn float_at<T: Target>(
    level: Level,
    dst: &mut Dst,
    [a, b]: [&SrcCells; 2],
    setup: &Setup,
    shape: Shape,
) {
    vectorise::run_at(
        level,
        #[inline(always)]
        || rows::<T>(dst, a, b, setup, shape),
    );
}

#[inline(always)]
fn rows<T: Target>(dst: &mut Dst, a: &SrcCells, b: &SrcCells, setup: &Setup, shape: Shape) {
    let bias = exponent_bias(setup) as i16;
    let floor = bias.max(0);
    let (mask, bits) = (setup.style_a.mask(), Bits::of_a(setup.phase));
    let factor_a = Factor { mask, flush: true, offset: 0, bits };
    let (mask, bits) = (setup.style_b.mask(), Bits::of_b(setup.phase));
    let factor_b = Factor { mask, flush: setup.flush, offset: bias, bits };
    let mut left = [[Row::EMPTY; GROUP]; 2];
    for k in 0..INNER {
        left[k / GROUP][k % GROUP].take(row_of_a(a, setup, k), &factor_a);
    }
    let mut right = Row::EMPTY;
    let mut i = 0;
    while i < shape.rows {
        right.take(shape.row_of_b(b, setup, i), &factor_b);
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
