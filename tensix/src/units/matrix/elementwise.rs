//! ELWADD, ELWSUB and ELWMUL.
//!
//! Sources: `[isa-wh: TensixCoprocessor/ELWADD.md]`, `ELWSUB.md`, `ELWMUL.md`; arithmetic
//! `[spec: numerics 3.4, 3.5]`.

use super::accumulate::{Bf16, Fp16, Fp32, Patterns, Target, Term, accumulate};
use super::multiply::{bits_of_a, bits_of_b, exponent_bias};
use super::setup::Setup;
use crate::state::dst::{DST_COLUMNS, Dst};
use crate::state::src::{SRC_ROWS, SrcCells};

/// Rows that one instruction covers.
const ROWS: u32 = 8;

/// What is done to each pair of datums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
}

/// How SrcB is spread over the block, and whether Dst is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mode {
    pub(crate) broadcast_row: bool,
    pub(crate) broadcast_column: bool,
    pub(crate) accumulate: bool,
}

/// One row of operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairs {
    pub(super) a: [u32; DST_COLUMNS],
    pub(super) b: [u32; DST_COLUMNS],
}

/// The whole block. Rows in `setup` are aligned by the caller.
pub(crate) fn block(
    dst: &mut Dst,
    a: &SrcCells,
    b: &SrcCells,
    setup: &Setup,
    operation: Operation,
    mode: Mode,
) {
    for i in 0..ROWS {
        let from = setup.src_b_row + if mode.broadcast_row { 0 } else { i };
        let mut pairs = Pairs {
            a: a[(setup.src_a_row + i) as usize % SRC_ROWS],
            b: b[from as usize % SRC_ROWS],
        };
        if mode.broadcast_column {
            pairs.b = [pairs.b[0]; DST_COLUMNS];
        }
        let row = setup.dst_row + i;
        let sum = mode.accumulate;
        match (setup.int8, setup.wide, setup.style_a.is_narrow()) {
            (true, ..) => super::integer::row(dst, setup, row, &pairs, operation, sum),
            (_, true, _) => float::<Fp32>(dst, setup, row, &pairs, operation, sum),
            (_, false, true) => float::<Fp16>(dst, setup, row, &pairs, operation, sum),
            (_, false, false) => float::<Bf16>(dst, setup, row, &pairs, operation, sum),
        }
    }
}

#[inline(always)]
fn float<T: Target>(
    dst: &mut Dst,
    setup: &Setup,
    row: u32,
    pairs: &Pairs,
    operation: Operation,
    sum: bool,
) {
    let mut values: Patterns = if sum { T::load(dst, setup.map, row) } else { [0; DST_COLUMNS] };
    let (mask_a, mask_b) = (setup.style_a.mask(), setup.style_b.mask());
    let flip = u32::from(operation == Operation::Subtract) << 18;
    let bias = exponent_bias(setup);
    let rebias = T::PRECISION == 24 && setup.style_a.is_narrow();
    for (column, value) in values.iter_mut().enumerate() {
        let (a, b) = (pairs.a[column] & mask_a, (pairs.b[column] ^ flip) & mask_b);
        let term = match operation {
            Operation::Multiply => product(a, b, setup, bias),
            Operation::Add | Operation::Subtract => addition(a, b, setup.flush, rebias),
        };
        *value = accumulate::<T>(term, Term::default(), *value);
    }
    T::store(dst, setup.map, row, &values);
}

const fn exponent(cell: u32) -> i32 {
    (cell >> 10 & 0xFF) as i32
}

/// One product. A zero operand or an exponent of zero or less leaves no magnitude, but an
/// exponent that still aligns Dst.
#[inline(always)]
fn product(a: u32, b: u32, setup: &Setup, bias: i32) -> Term {
    let zero = exponent(a) == 0 || setup.flush && exponent(b) == 0;
    let sum = exponent(a) + exponent(b) + bias;
    if zero || sum <= 0 {
        return Term { exponent: bias.max(0), ..Term::default() };
    }
    let left = bits_of_a(a & 0x3FF | 0x400, setup.phase);
    let right = bits_of_b(b & 0x3FF | 0x400, setup.phase);
    Term { negative: (a ^ b) >> 18 & 1, exponent: sum, magnitude: (left * right) << 13 }
}

/// One sum of two operands, aligned without guard bits. `rebias` turns five-bit exponents into
/// those of an FP32.
#[inline(always)]
fn addition(a: u32, b: u32, flush: bool, rebias: bool) -> Term {
    let a = if exponent(a) == 0 { 0 } else { a };
    let b = if flush && exponent(b) == 0 { 0 } else { b };
    let (big, small) = if a & 0x3_FFFF < b & 0x3_FFFF { (b, a) } else { (a, b) };
    // Any set bit, even of -0, brings the hidden bit with it.
    let significand = |cell: u32| if cell == 0 { 0 } else { cell & 0x3FF | 0x400 };
    let distance = ((exponent(big) - exponent(small)) as u32).min(12);
    let half = (1u32 << distance) >> 1;
    let aligned = (significand(small) + half) >> distance;
    // Eleven bits and half of 2^12 do not reach 2^12, so a distance of 12 leaves nothing.
    let magnitude = if (big ^ small) >> 18 & 1 == 0 {
        significand(big) + aligned
    } else {
        significand(big) - aligned
    };
    let exponent = match (rebias, exponent(big)) {
        (false, exponent) => exponent,
        (true, 0) => 97,
        (true, exponent) => exponent + 112,
    };
    Term { negative: big >> 18 & 1, exponent, magnitude: magnitude << 13 }
}
