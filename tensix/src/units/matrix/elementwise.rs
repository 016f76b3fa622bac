//! ELWADD, ELWSUB and ELWMUL.
//!
//! Sources: `[isa-wh: TensixCoprocessor/ELWADD.md]`, `ELWSUB.md`, `ELWMUL.md`; arithmetic
//! `[spec: numerics 3.4, 3.5]`.

use vectorise::Level;

use super::accumulate::{Bf16, Fp16, Fp32, Patterns, Target, Term, accumulate, choose};
use super::multiply::exponent_bias;
use super::operands::Bits;
use super::setup::Setup;
use super::unflushed::{self, Magnitude};
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
    let level = Level::best();
    match (setup.int8, setup.wide, setup.style_a.is_narrow()) {
        (true, ..) => {
            for i in 0..ROWS {
                let (row, pairs) = (setup.dst_row + i, Pairs::of(a, b, setup, mode, i));
                super::integer::row(dst, setup, row, &pairs, operation, mode.accumulate);
            }
        }
        (_, true, _) => float_at::<Fp32>(level, dst, [a, b], setup, (operation, mode)),
        (_, false, true) => float_at::<Fp16>(level, dst, [a, b], setup, (operation, mode)),
        (_, false, false) => float_at::<Bf16>(level, dst, [a, b], setup, (operation, mode)),
    }
}

impl Pairs {
    /// The operands of row `i` of the block.
    #[inline(always)]
    fn of(a: &SrcCells, b: &SrcCells, setup: &Setup, mode: Mode, i: u32) -> Self {
        let from = setup.src_b_row + if mode.broadcast_row { 0 } else { i };
        let mut pairs = Self {
            a: a[(setup.src_a_row + i) as usize % SRC_ROWS],
            b: b[from as usize % SRC_ROWS],
        };
        if mode.broadcast_column {
            pairs.b = [pairs.b[0]; DST_COLUMNS];
        }
        pairs
    }
}

/// [`block`] of floating-point formats, compiled for a level of the host.
pub(super) fn float_at<T: Target>(
    level: Level,
    dst: &mut Dst,
    sources: [&SrcCells; 2],
    setup: &Setup,
    (operation, mode): (Operation, Mode),
) {
    if operation == Operation::Multiply {
        let product = Product::new(setup);
        return vectorise::run_at(
            level,
            #[inline(always)]
            || {
                rows::<T>(
                    dst,
                    sources,
                    setup,
                    mode,
                    #[inline(always)]
                    move |a, b, old| accumulate::<T>(product.of(a, b), Term::default(), old),
                );
            },
        );
    }
    let sum = Addition {
        mask_a: setup.style_a.mask(),
        mask_b: setup.style_b.mask(),
        flip: u32::from(operation == Operation::Subtract) << 18,
        rebias: T::PRECISION == 24 && setup.style_a.is_narrow(),
    };
    if !setup.flush {
        return rows::<T>(dst, sources, setup, mode, |a, b, old| {
            unflushed::accumulate::<T>(sum.unflushed(a, b), old)
        });
    }
    vectorise::run_at(
        level,
        #[inline(always)]
        || {
            rows::<T>(
                dst,
                sources,
                setup,
                mode,
                #[inline(always)]
                move |a, b, old| accumulate::<T>(sum.of(a, b), Term::default(), old),
            );
        },
    );
}

#[inline(always)]
fn rows<T: Target>(
    dst: &mut Dst,
    [a, b]: [&SrcCells; 2],
    setup: &Setup,
    mode: Mode,
    datum: impl Fn(u32, u32, u32) -> u32,
) {
    for i in 0..ROWS {
        let row = setup.dst_row + i;
        let pairs = Pairs::of(a, b, setup, mode, i);
        let mut values: Patterns =
            if mode.accumulate { T::load(dst, setup.map, row) } else { [0; DST_COLUMNS] };
        for (column, value) in values.iter_mut().enumerate() {
            *value = datum(pairs.a[column], pairs.b[column], *value);
        }
        T::store(dst, setup.map, row, &values);
    }
}

#[inline(always)]
const fn exponent(cell: u32) -> i32 {
    (cell >> 10 & 0xFF) as i32
}

/// `-value` if bit 18 of `cell` is set.
#[inline(always)]
const fn signed(value: u32, cell: u32) -> i32 {
    let mask = -((cell >> 18 & 1) as i32);
    (value as i32 ^ mask) - mask
}

/// What one product of ELWMUL needs to know.
#[derive(Clone, Copy, Debug)]
struct Product {
    mask_a: u32,
    mask_b: u32,
    bits_a: Bits,
    bits_b: Bits,
    bias: i32,
    /// SrcB's exponents below this count as zero.
    least_b: i32,
}

impl Product {
    fn new(setup: &Setup) -> Self {
        Self {
            mask_a: setup.style_a.mask(),
            mask_b: setup.style_b.mask(),
            bits_a: Bits::of_a(setup.phase),
            bits_b: Bits::of_b(setup.phase),
            bias: exponent_bias(setup),
            least_b: i32::from(setup.flush),
        }
    }

    /// A zero operand or an exponent of zero or less leaves no magnitude, but an exponent that
    /// still aligns Dst.
    #[inline(always)]
    fn of(&self, a: u32, b: u32) -> Term {
        let (a, b) = (a & self.mask_a, b & self.mask_b);
        let sum = exponent(a) + exponent(b) + self.bias;
        let none = (exponent(a) == 0) | (exponent(b) < self.least_b) | (sum <= 0);
        let left = self.bits_a.of(a & 0x3FF | 0x400);
        let right = self.bits_b.of(b & 0x3FF | 0x400);
        Term {
            exponent: if none { self.bias.max(0) } else { sum },
            value: signed(choose(none, 0, (left * right) << 13), a ^ b),
        }
    }
}

/// What one sum of ELWADD and ELWSUB needs to know.
#[derive(Clone, Copy, Debug)]
struct Addition {
    mask_a: u32,
    mask_b: u32,
    /// SrcB's sign, if it is to be flipped.
    flip: u32,
    /// Five-bit exponents become those of an FP32.
    rebias: bool,
}

impl Addition {
    #[inline(always)]
    fn of(&self, a: u32, b: u32) -> Term {
        let (a, b) = (flushed(a & self.mask_a), flushed((b ^ self.flip) & self.mask_b));
        let sum = self.add(a, b);
        Term { exponent: sum.exponent, value: signed(sum.magnitude, sum.negative << 18) }
    }

    /// Denormals of SrcB are not flushed: any set bit, even of -0, brings the hidden bit with it.
    fn unflushed(&self, a: u32, b: u32) -> Magnitude {
        self.add(flushed(a & self.mask_a), (b ^ self.flip) & self.mask_b)
    }

    /// The two operands are aligned without guard bits.
    #[inline(always)]
    fn add(&self, a: u32, b: u32) -> Magnitude {
        let b_leads = (a & 0x3_FFFF) < (b & 0x3_FFFF);
        let (big, small) = (choose(b_leads, b, a), choose(b_leads, a, b));
        let distance = ((exponent(big) - exponent(small)) as u32).min(12);
        // Half up. Eleven bits and half of 2^12 do not reach 2^12: a distance of 12 leaves nothing.
        let aligned = (((significand(small) << 1) >> (distance & 31)) + 1) >> 1;
        let sum = significand(big).wrapping_add_signed(signed(aligned, big ^ small));
        let exponent = exponent(big);
        let rebiased = if exponent == 0 { 97 } else { exponent + 112 };
        Magnitude {
            negative: big >> 18 & 1,
            exponent: if self.rebias { rebiased } else { exponent },
            magnitude: sum << 13,
        }
    }
}

/// A cell, or zero if its exponent is.
#[inline(always)]
const fn flushed(cell: u32) -> u32 {
    choose(cell >> 10 & 0xFF == 0, 0, cell)
}

#[inline(always)]
const fn significand(cell: u32) -> u32 {
    choose(cell == 0, 0, cell & 0x3FF | 0x400)
}
