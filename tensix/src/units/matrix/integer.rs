//! Integer arithmetic: INT8 operands (ten magnitude bits), INT32 in Dst, all sign-magnitude.
//!
//! Sources: `[isa-wh: TensixCoprocessor/ELWMUL.md]`, `MVMUL.md`; which operands with exponent
//! zero count as zero `[spec: numerics 3.6]`.

use super::elementwise::{Operation, Pairs};
use super::multiply::{Shape, row_of_a};
use super::operands::INNER;
use super::setup::Setup;
use crate::state::dst::{DST_COLUMNS, Dst, decode_fp32, encode_fp32};
use crate::state::src::SrcCells;

/// Sign-magnitude to two's complement; -0 becomes 0.
const fn from_sign_magnitude(value: u32) -> i32 {
    let magnitude = (value & 0x7FFF_FFFF) as i32;
    if value >> 31 != 0 { -magnitude } else { magnitude }
}

/// Two's complement to sign-magnitude; never sees `i32::MIN`.
const fn to_sign_magnitude(value: i32) -> u32 {
    (value as u32 & 0x8000_0000) | value.unsigned_abs()
}

/// Adds, clamping to what sign-magnitude can hold.
const fn saturating(left: i32, right: i32) -> i32 {
    let sum = left.saturating_add(right);
    if sum == i32::MIN { -i32::MAX } else { sum }
}

/// A cell as an integer; `bits` selects magnitude bits, `flush` makes exponent zero a zero.
#[inline(always)]
const fn integer(cell: u32, bits: u32, flush: bool) -> i32 {
    if flush && cell >> 10 & 0xFF == 0 {
        return 0;
    }
    let magnitude = (cell & bits) as i32;
    if cell >> 18 & 1 != 0 { -magnitude } else { magnitude }
}

/// Magnitude bits of SrcA that a phase multiplies.
const fn bits_of_a(phase: u32) -> u32 {
    if phase & 1 != 0 { 0x01F } else { 0x0E0 }
}

/// Magnitude bits of SrcB that a phase multiplies.
const fn bits_of_b(phase: u32) -> u32 {
    if phase & 2 != 0 { 0x00F } else { 0x3F0 }
}

fn load(dst: &Dst, setup: &Setup, row: u32) -> [i32; DST_COLUMNS] {
    dst.read32(setup.map, row).map(|word| from_sign_magnitude(decode_fp32(word)))
}

fn store(dst: &mut Dst, setup: &Setup, row: u32, values: &[i32; DST_COLUMNS]) {
    dst.write32(setup.map, row, &values.map(|value| encode_fp32(to_sign_magnitude(value))));
}

/// `Dst += SrcB @ SrcA`, saturating.
pub(super) fn multiply(dst: &mut Dst, a: &SrcCells, b: &SrcCells, setup: &Setup, shape: Shape) {
    let (left_bits, right_bits) = (bits_of_a(setup.phase), bits_of_b(setup.phase));
    let left: [[i32; DST_COLUMNS]; INNER] =
        std::array::from_fn(|k| row_of_a(a, setup, k).map(|cell| integer(cell, left_bits, true)));
    let mut i = 0;
    while i < shape.rows {
        let cells = shape.row_of_b(b, setup, i);
        let mut sums = [0i32; DST_COLUMNS];
        for (row, &cell) in left.iter().zip(cells) {
            let right = integer(cell, right_bits, setup.flush);
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum += value * right;
            }
        }
        let old = load(dst, setup, setup.dst_row + i);
        let values = std::array::from_fn(|column| saturating(old[column], sums[column]));
        store(dst, setup, setup.dst_row + i, &values);
        i += shape.step;
    }
}

/// One row of an element-wise operation; `accumulate` adds the result to Dst.
pub(super) fn row(
    dst: &mut Dst,
    setup: &Setup,
    row: u32,
    pairs: &Pairs,
    operation: Operation,
    accumulate: bool,
) {
    let (bits_a, bits_b) = match operation {
        Operation::Multiply => (bits_of_a(setup.phase), bits_of_b(setup.phase)),
        Operation::Add | Operation::Subtract => (0x3FF, 0x3FF),
    };
    let old = if accumulate { load(dst, setup, row) } else { [0; DST_COLUMNS] };
    let values = std::array::from_fn(|column| {
        let a = integer(pairs.a[column], bits_a, true);
        let b = integer(pairs.b[column], bits_b, setup.flush);
        let result = match operation {
            Operation::Multiply => a * b,
            Operation::Add => a + b,
            Operation::Subtract => a - b,
        };
        saturating(old[column], result)
    });
    store(dst, setup, row, &values);
}
