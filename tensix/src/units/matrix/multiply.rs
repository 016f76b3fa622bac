//! MVMUL, DOTPV and GAPOOL: sixteen products per datum of Dst, in two groups of eight.
//!
//! Sources: `[isa-wh: TensixCoprocessor/MVMUL.md]`, `DOTPV.md`, `GAPOOL.md`; arithmetic
//! `[spec: numerics 3.1, 3.3]`.

use bytemuck::Pod;
use vectorise::Level;

use super::accumulate::{Bf16, Fp16, Fp32, Patterns, Target, Term, accumulate};
use super::operands::{
    Bits, Factor, GROUP, LANES, Operands, Pair, SIGN_OFFSET, ZERO_LIMIT, halves,
};
use super::setup::Setup;
use crate::state::dst::{DST_COLUMNS, Dst};
use crate::state::src::{SRC_ROWS, SrcCells};

/// Rows of Dst that one instruction covers at most.
const ROWS: usize = 8;

/// What is added to the sum of both exponents `[spec: numerics 3.1]`.
pub(crate) const fn exponent_bias(setup: &Setup) -> i32 {
    let base = match (setup.style_a.is_narrow(), setup.wide) {
        (false, _) => -127,
        (true, false) => -15,
        (true, true) => 97,
    };
    base - 5 * (setup.phase & 1) as i32 - 7 * (setup.phase >> 1 & 1) as i32
}

/// Sums of both groups, a pair per column.
#[derive(Clone, Copy, Debug)]
struct Sums {
    exponent: [Pair; DST_COLUMNS],
    sum: [Pair; DST_COLUMNS],
}

impl Sums {
    const EMPTY: Self = Self { exponent: [0; DST_COLUMNS], sum: [0; DST_COLUMNS] };

    #[inline(always)]
    fn terms(&self, column: usize) -> [Term; 2] {
        let (exponents, sums) = (halves(self.exponent[column]), halves(self.sum[column]));
        [0, 1].map(|group| Term { exponent: exponents[group], value: sums[group] << 13 })
    }
}

/// Adds eight products per lane: each is rounded, half away from zero, to the exponent of the
/// largest. `floor` is the exponent that a product with a zero operand has; without magnitude it
/// matters only above zero.
#[inline(always)]
fn sums(a: &[Operands<DST_COLUMNS>; GROUP], b: &Operands<GROUP>, floor: i16) -> Sums {
    let mut exponents = [[0i16; LANES]; GROUP];
    for (k, (sums, row)) in exponents.iter_mut().zip(a).enumerate() {
        let (left, right) = (lanes::<i16>(&row.exponent), splat::<i16>(b.exponent[k]));
        for lane in 0..LANES {
            sums[lane] = left[lane] + right[lane];
        }
    }
    let mut top = extreme(&exponents, i16::max);
    if floor > 0 {
        let low = extreme(&exponents, i16::min);
        for (top, &low) in top.iter_mut().zip(&low) {
            *top = if low < ZERO_LIMIT { (*top).max(floor) } else { *top };
        }
    }
    // Each term is above what it should be by an offset; those of all come to nothing.
    let mut sum = [0u16; LANES];
    for (k, row) in a.iter().enumerate() {
        let (left, right) = (lanes::<u16>(&row.significand), splat::<u16>(b.significand[k]));
        let (sign, flip) = (lanes::<u16>(&row.sign), splat::<u16>(b.sign[k]));
        for lane in 0..LANES {
            // The doubled product is below 2^13.
            let distance = ((top[lane] - exponents[k][lane]) as u16).min(15);
            let shifted = left[lane].wrapping_mul(right[lane]) >> distance;
            // Half up of the magnitude and then the sign: -((x + 1) >> 1) is (!x + 1) >> 1.
            let halved = mean_up(shifted ^ sign[lane] ^ flip[lane], SIGN_OFFSET);
            sum[lane] = sum[lane].wrapping_add(halved);
        }
    }
    let mut sum = sum.map(u16::cast_signed);
    for (sum, top) in sum.iter_mut().zip(&mut top) {
        let keep = -i16::from(*top > 0);
        *top &= keep;
        *sum &= keep;
    }
    Sums { exponent: bytemuck::cast(top), sum: bytemuck::cast(sum) }
}

const _: () =
    assert!(SIGN_OFFSET.wrapping_mul(GROUP as u16) == 0, "offsets of a sum come to nothing");

/// Half of a sum, rounded up: an instruction of every host's vector unit.
#[inline(always)]
const fn mean_up(a: u16, b: u16) -> u16 {
    ((a as u32 + b as u32 + 1) >> 1) as u16
}

/// What all columns bring to a step, lane by lane.
#[inline(always)]
fn lanes<T: Pod>(pairs: &[Pair; DST_COLUMNS]) -> [T; LANES] {
    bytemuck::cast(*pairs)
}

/// What a row of SrcB brings to a step, the same in all columns.
#[inline(always)]
fn splat<T: Pod>(pair: Pair) -> [T; LANES] {
    bytemuck::cast([pair; DST_COLUMNS])
}

/// The largest or least of eight per lane, in pairs: a chain from row to row is vectorised along
/// the wrong dimension.
#[inline(always)]
fn extreme(values: &[[i16; LANES]; GROUP], of: impl Fn(i16, i16) -> i16) -> [i16; LANES] {
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

/// Which rows a multiplication covers, [`ROWS`] at most.
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
    let (mask, bits) = (setup.style_a.mask(), Bits::of_a(setup.phase).doubled());
    let factor_a = Factor { mask, flush: true, offset: 0, bits };
    let (mask, bits) = (setup.style_b.mask(), Bits::of_b(setup.phase));
    let factor_b = Factor { mask, flush: setup.flush, offset: bias, bits };
    let mut left = [Operands::EMPTY; GROUP];
    for (k, left) in left.iter_mut().enumerate() {
        left.take_rows(row_of_a(a, setup, k), row_of_a(a, setup, GROUP + k), &factor_a);
    }
    // All of SrcB before the first sum: pairs have to be in memory to be loaded into all lanes.
    let mut right = [Operands::EMPTY; ROWS];
    for (right, i) in right.iter_mut().zip((0..).step_by(shape.step as usize)) {
        right.take_halves(shape.row_of_b(b, setup, i), &factor_b);
    }
    // All sums before the first of them is added: what adds one is a long chain, and a host takes several at a time
    // if they follow each other.
    let mut terms = [Sums::EMPTY; ROWS];
    let numbers = || (0..shape.rows).step_by(shape.step as usize);
    for ((terms, right), _) in terms.iter_mut().zip(&right).zip(numbers()) {
        *terms = sums(&left, right, floor);
    }
    for (sums, i) in terms.iter().zip(numbers()) {
        let mut values: Patterns = T::load(dst, setup.map, setup.dst_row + i);
        for (column, value) in values.iter_mut().enumerate() {
            let [first, second] = sums.terms(column);
            *value = accumulate::<T>(first, second, *value);
        }
        T::store(dst, setup.map, setup.dst_row + i, &values);
    }
}
