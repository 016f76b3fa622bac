//! A slow model of the matrix unit's floating-point arithmetic, one datum at a time, with the
//! branches that the fast one must not have, and the comparison of both on every level of the
//! host.
//!
//! Source: `[spec: numerics 3.1 to 3.5]`, step by step.

use vectorise::Level;

use super::accumulate::{Bf16, Fp16, Fp32, Target};
use super::elementwise::{self, Mode, Operation};
use super::multiply::{self, Shape, exponent_bias};
use super::setup::{Setup, Style};
use crate::state::dst::{DST_COLUMNS, Dst, DstMap};
use crate::state::src::{SRC_ROWS, SrcCells};

/// Sign (0 or 1), exponent, magnitude with 1.0 = 2^23.
#[derive(Clone, Copy, Default)]
struct Term {
    negative: u32,
    exponent: i32,
    magnitude: u32,
}

/// Bits kept, and whether the exponent has five bits.
type Kind = (u32, bool);

/// 3.2, steps 2 and 3.
fn align((precision, _): Kind, term: Term, toward: u32, top: i32) -> i64 {
    let distance = top - term.exponent;
    let mut magnitude = u64::from(term.magnitude);
    if distance >= 31 {
        magnitude = 0;
    } else if distance > 0 {
        magnitude += (1 << (distance - 1)) - u64::from(toward);
        magnitude = u64::from(magnitude as u32) >> distance;
    }
    if precision != 24 {
        magnitude = (magnitude + (1 << 12) - u64::from(toward)) & !0x1FFF;
    }
    if term.negative != 0 { -(magnitude as i64) } else { magnitude as i64 }
}

/// 3.2: up to two sums and Dst.
fn accumulate(kind: Kind, first: Term, second: Term, dst: u32) -> u32 {
    let (precision, narrow) = kind;
    let exponent = (dst >> 23 & 0xFF) as i32;
    let magnitude = if exponent == 0 { 0 } else { dst & 0x7F_FFFF | 0x80_0000 };
    let old = Term { negative: dst >> 31, exponent, magnitude };
    let top = first.exponent.max(second.exponent).max(exponent);
    if top <= 0 {
        return 0;
    }
    let sum = align(kind, first, first.negative, top)
        + align(kind, second, second.negative, top)
        + align(kind, old, 0, top);
    let sum = i64::from(sum as i32);
    if sum == 0 {
        return 0;
    }
    let (sign, magnitude) = (u32::from(sum < 0) << 31, sum.unsigned_abs());
    let lead = 63 - magnitude.leading_zeros() as i32;
    let mut exponent = top + lead - 23;
    let keep = precision as i32;
    let mut rounded = magnitude << 32;
    let drop = lead + 32 - (keep - 1);
    rounded = (rounded + (1 << (drop - 1))) >> drop;
    if rounded >> keep != 0 {
        rounded >>= 1;
        exponent += 1;
    }
    if exponent <= 0 {
        0
    } else if narrow && exponent >= 32 {
        sign | 31 << 23 | 0x3FF << 13
    } else if !narrow && exponent >= 255 {
        sign | 255 << 23
    } else {
        sign | (exponent as u32) << 23 | (rounded as u32) << (24 - keep) & 0x7F_FFFF
    }
}

const fn exponent(cell: u32) -> i32 {
    (cell >> 10 & 0xFF) as i32
}

/// 3.1: exponent and magnitude of a product; nothing if an operand counts as zero.
fn product(a: u32, b: u32, setup: &Setup) -> Option<(i32, u32)> {
    if exponent(a) == 0 || setup.flush && exponent(b) == 0 {
        return None;
    }
    let (a_bits, b_bits) = (a & 0x3FF | 0x400, b & 0x3FF | 0x400);
    let left = if setup.phase & 1 == 0 { a_bits >> 6 } else { a_bits >> 1 & 31 };
    let right = if setup.phase & 2 == 0 { b_bits >> 4 } else { (b_bits & 15) << 3 };
    Some((exponent(a) + exponent(b) + exponent_bias(setup), left * right))
}

/// 3.3: eight products of one datum.
fn group(a: [u32; 8], b: [u32; 8], setup: &Setup) -> Term {
    let products: [_; 8] = std::array::from_fn(|k| product(a[k], b[k], setup));
    let floor = exponent_bias(setup).max(0);
    let exponents = products.map(|product| product.map_or(floor, |product| product.0));
    let top = exponents.into_iter().max().expect("eight products");
    if top <= 0 {
        return Term::default();
    }
    let mut sum = 0;
    for (k, product) in products.into_iter().enumerate() {
        let Some((exponent, magnitude)) = product else { continue };
        let distance = (top - exponent).min(30);
        let aligned = ((2 * i64::from(magnitude) + (1 << distance)) >> (distance + 1)) as i32;
        sum += if (a[k] ^ b[k]) >> 18 & 1 != 0 { -aligned } else { aligned };
    }
    Term { negative: u32::from(sum < 0), exponent: top, magnitude: sum.unsigned_abs() << 13 }
}

/// 3.5: one sum of two operands.
fn addition(a: u32, b: u32, setup: &Setup, words: bool) -> Term {
    let a = if exponent(a) == 0 { 0 } else { a };
    let b = if setup.flush && exponent(b) == 0 { 0 } else { b };
    let (big, small) = if a & 0x3_FFFF < b & 0x3_FFFF { (b, a) } else { (a, b) };
    let significand = |cell: u32| if cell == 0 { 0 } else { cell & 0x3FF | 0x400 };
    let distance = exponent(big) - exponent(small);
    let aligned = match distance {
        0 => significand(small),
        1..12 => (significand(small) + (1 << (distance - 1))) >> distance,
        _ => 0,
    };
    // +0 less a -0 that has a hidden bit is taken modulo 2^32.
    let magnitude = if (big ^ small) >> 18 & 1 == 0 {
        significand(big) + aligned
    } else {
        significand(big).wrapping_sub(aligned)
    };
    let exponent = match (words && setup.style_a.is_narrow(), exponent(big)) {
        (false, exponent) => exponent,
        (true, 0) => 97,
        (true, exponent) => exponent + 112,
    };
    Term { negative: big >> 18 & 1, exponent, magnitude: magnitude << 13 }
}

fn masked(cells: &SrcCells, style: Style) -> SrcCells {
    cells.map(|row| row.map(|cell| cell & style.mask()))
}

/// The block of an element-wise operation.
fn slow_elementwise<T: Target>(
    dst: &mut Dst,
    [a, b]: [&SrcCells; 2],
    setup: &Setup,
    (operation, mode): (Operation, Mode),
) {
    let kind = (T::PRECISION, T::NARROW);
    let flip = if operation == Operation::Subtract { 1 << 18 } else { 0 };
    let (a, b) = (masked(a, setup.style_a), masked(b, setup.style_b));
    for i in 0..8 {
        let mut values =
            if mode.accumulate { T::load(dst, setup.map, setup.dst_row + i) } else { [0; 16] };
        for column in 0..DST_COLUMNS {
            let from = setup.src_b_row + if mode.broadcast_row { 0 } else { i };
            let left = a[(setup.src_a_row + i) as usize % SRC_ROWS][column];
            let right = b[from as usize % SRC_ROWS][if mode.broadcast_column { 0 } else { column }];
            let term = if operation == Operation::Multiply {
                match product(left, right, setup) {
                    Some((exponent, magnitude)) if exponent > 0 => Term {
                        negative: (left ^ right) >> 18 & 1,
                        exponent,
                        magnitude: magnitude << 13,
                    },
                    _ => Term { exponent: exponent_bias(setup).max(0), ..Term::default() },
                }
            } else {
                addition(left, right ^ flip, setup, T::PRECISION == 24)
            };
            values[column] = accumulate(kind, term, Term::default(), values[column]);
        }
        T::store(dst, setup.map, setup.dst_row + i, &values);
    }
}

/// A matrix multiplication.
fn slow_multiply<T: Target>(dst: &mut Dst, [a, b]: [&SrcCells; 2], setup: &Setup, shape: Shape) {
    let (a, b) = (masked(a, setup.style_a), masked(b, setup.style_b));
    for i in (0..shape.rows).step_by(shape.step as usize) {
        let mut values = T::load(dst, setup.map, setup.dst_row + i);
        let from = (setup.src_b_row + if shape.broadcast { 0 } else { i }) as usize % SRC_ROWS;
        for (column, value) in values.iter_mut().enumerate() {
            let [first, second] = [0, 8].map(|k| {
                let left = std::array::from_fn(|n| {
                    a[(setup.src_a_row as usize + k + n) % SRC_ROWS][column]
                });
                group(left, std::array::from_fn(|n| b[from][k + n]), setup)
            });
            *value = accumulate((T::PRECISION, T::NARROW), first, second, *value);
        }
        T::store(dst, setup.map, setup.dst_row + i, &values);
    }
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 32) as u32
    }

    /// A cell whose exponent lies about `middle`, or at an end of the range, or anywhere.
    fn cell(&mut self, middle: u32, spread: u32) -> u32 {
        let (bits, choice) = (self.next(), self.next());
        let exponent = match choice & 31 {
            0 | 1 => 0,
            2 => 1,
            3 => 255,
            4 => bits >> 10 & 0xFF,
            _ => middle + (bits >> 10) % spread,
        };
        let mantissa = match choice >> 5 & 7 {
            0 => 0,
            1 => 0x3FF,
            _ => bits & 0x3FF,
        };
        bits & 1 << 18 | (exponent & 0xFF) << 10 | mantissa
    }

    fn cells(&mut self, middle: u32, spread: u32) -> SrcCells {
        std::array::from_fn(|_| std::array::from_fn(|_| self.cell(middle, spread)))
    }

    fn dst(&mut self) -> Dst {
        let mut dst = Dst::default();
        for row in dst.cells.iter_mut().take(64) {
            // Exponents of half-words, rotated to the low bits, are mostly in the middle.
            *row = std::array::from_fn(|_| {
                let bits = self.next();
                let near = bits & 0xFF00 | 0x70 | bits & 0x1F;
                (if bits >> 29 == 0 { bits } else { near }) as u16
            });
        }
        if self.next() & 3 == 0 {
            dst.invalidate(self.next() & 15);
        }
        dst
    }

    /// Formats, phase and rows of an instruction; where the middle of exponents lies.
    fn setup(&mut self, wide: bool, narrow: bool) -> (Setup, u32) {
        let bits = self.next();
        let of = |bits: u32| match (narrow, bits & 1) {
            (true, _) => Style::Fp16,
            (false, 0) => Style::Bf16,
            (false, _) => Style::Tf32,
        };
        let setup = Setup {
            format_a: 0,
            format_b: 0,
            style_a: of(bits),
            style_b: of(bits >> 1),
            int8: false,
            forced: false,
            wide,
            flush: bits >> 2 & 3 != 0,
            phase: bits >> 4 & 3,
            dst_row: bits >> 6 & 0x18,
            src_a_row: bits >> 8 & 0x38,
            src_b_row: bits >> 12 & 0x38,
            map: DstMap { remap: bits >> 18 & 7 == 0, swizzle: bits >> 21 & 7 == 0 },
        };
        let middle = if narrow { 12 } else { [118, 60, 180][(bits >> 24) as usize % 3] };
        (setup, middle)
    }
}

fn compare<T: Target>(wide: bool, narrow: bool, rounds: u32) {
    let mut random = Random(0x5469_6C65 + u64::from(wide) * 2 + u64::from(narrow));
    for round in 0..rounds {
        let (setup, middle) = random.setup(wide, narrow);
        let spread = [2, 6, 16][round as usize % 3];
        let sources = [random.cells(middle, spread), random.cells(middle, spread)];
        let sources = [&sources[0], &sources[1]];
        let start = random.dst();
        let bits = random.next();
        let check = |what: &str, expected: &Dst, run: &dyn Fn(Level, &mut Dst)| {
            for level in Level::ALL {
                let mut dst = start.clone();
                run(level, &mut dst);
                assert!(dst == *expected, "{what}, {level:?}, round {round}, {setup:?}");
            }
        };

        let broadcast = bits & 7 == 0;
        let (rows, step) = if broadcast { (7, 2) } else { (8, 1) };
        let shape = Shape { rows, step, broadcast };
        let mut expected = start.clone();
        slow_multiply::<T>(&mut expected, sources, &setup, shape);
        check("multiply", &expected, &|level, dst| {
            multiply::float_at::<T>(level, dst, sources, &setup, shape);
        });

        for operation in [Operation::Add, Operation::Subtract, Operation::Multiply] {
            let mode = Mode {
                broadcast_row: bits >> 3 & 3 == 0,
                broadcast_column: bits >> 5 & 3 == 0,
                accumulate: operation == Operation::Multiply || bits >> 7 & 1 != 0,
            };
            let mut expected = start.clone();
            slow_elementwise::<T>(&mut expected, sources, &setup, (operation, mode));
            check(&format!("{operation:?}"), &expected, &|level, dst| {
                elementwise::float_at::<T>(level, dst, sources, &setup, (operation, mode));
            });
        }
    }
}

#[test]
fn bf16_and_tf32_into_words_equal_the_slow_model_on_every_level() {
    compare::<Fp32>(true, false, 300);
}

#[test]
fn bf16_and_tf32_into_half_words_equal_the_slow_model_on_every_level() {
    compare::<Bf16>(false, false, 300);
}

#[test]
fn fp16_into_words_equals_the_slow_model_on_every_level() {
    compare::<Fp32>(true, true, 300);
}

#[test]
fn fp16_into_half_words_equals_the_slow_model_on_every_level() {
    compare::<Fp16>(false, true, 300);
}
