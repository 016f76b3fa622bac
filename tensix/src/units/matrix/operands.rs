//! Operands of the multipliers, taken apart and laid out for a step of both groups of products.
//!
//! A step multiplies row `k` of each group of SrcA with column `k` of each group of SrcB. The lanes
//! of both groups lie side by side, as the halves of a [`Pair`]: what a row of SrcB brings to a
//! step is then one pair, the same for all columns, which a host loads into all lanes at once.
//!
//! Sources: `[isa-wh: TensixCoprocessor/SrcASrcB.md#fidelity-phases]`; cells
//! `[spec: numerics 1.1]`.

use super::accumulate::choose;
use crate::state::dst::DST_COLUMNS;

/// Inner dimension.
pub(super) const INNER: usize = 16;
/// Products that are aligned to one another.
pub(super) const GROUP: usize = 8;
/// Lanes of a step: both groups of every column.
pub(super) const LANES: usize = 2 * DST_COLUMNS;

/// Exponent that stands for a zero operand; no sum of real exponents comes near it.
const ZERO: i16 = -4096;
/// Below any sum of real exponents.
pub(super) const ZERO_LIMIT: i16 = -2048;

/// What turns the order of signed numbers of 16 bits into that of unsigned ones.
pub(super) const SIGN_OFFSET: u16 = 0x8000;

/// Two lanes of 16 bits: the first group's comes first in memory.
pub(super) type Pair = u32;

#[inline(always)]
const fn pair(first: u32, second: u32) -> Pair {
    let ([a, b], [c, d]) = ((first as u16).to_ne_bytes(), (second as u16).to_ne_bytes());
    u32::from_ne_bytes([a, b, c, d])
}

/// Both lanes of a pair, signed.
#[inline(always)]
pub(super) const fn halves(pair: Pair) -> [i32; 2] {
    let [a, b, c, d] = pair.to_ne_bytes();
    [i16::from_ne_bytes([a, b]) as i32, i16::from_ne_bytes([c, d]) as i32]
}

/// `N` pairs of operands: exponent, the multiplier's bits of the significand, sign as 0 or -1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands<const N: usize> {
    pub(super) exponent: [Pair; N],
    pub(super) significand: [Pair; N],
    pub(super) sign: [Pair; N],
}

impl<const N: usize> Operands<N> {
    pub(super) const EMPTY: Self = Self { exponent: [0; N], significand: [0; N], sign: [0; N] };
}

impl Operands<DST_COLUMNS> {
    /// Takes apart what SrcA brings to a step: a row of each group, a pair per column, with [`SIGN_OFFSET`] in the
    /// signs.
    #[inline(always)]
    pub(super) fn take_rows(
        &mut self,
        first: &[u32; DST_COLUMNS],
        second: &[u32; DST_COLUMNS],
        factor: &Factor,
    ) {
        for (column, (&first, &second)) in first.iter().zip(second).enumerate() {
            let (first, second) = (factor.part(first), factor.part(second));
            self.exponent[column] = pair(first.exponent, second.exponent);
            self.significand[column] = pair(first.significand, second.significand);
            let offset = u32::from(SIGN_OFFSET);
            self.sign[column] = pair(first.sign ^ offset, second.sign ^ offset);
        }
    }
}

impl Operands<GROUP> {
    /// Takes a row of SrcB apart: a pair per step.
    #[inline(always)]
    pub(super) fn take_halves(&mut self, row: &[u32; INNER], factor: &Factor) {
        // The whole row first: half of it is too short for the compiler to vectorise.
        let parts = row.map(
            #[inline(always)]
            |cell| factor.part(cell),
        );
        for k in 0..GROUP {
            let (first, second) = (parts[k], parts[GROUP + k]);
            self.exponent[k] = pair(first.exponent, second.exponent);
            self.significand[k] = pair(first.significand, second.significand);
            self.sign[k] = pair(first.sign, second.sign);
        }
    }
}

/// One operand; the low 16 bits of each count.
#[derive(Clone, Copy, Debug)]
struct Part {
    exponent: u32,
    significand: u32,
    sign: u32,
}

/// How cells become operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    /// Bits of a cell that take part.
    pub(super) mask: u32,
    /// Exponent zero counts as zero.
    pub(super) flush: bool,
    /// Added to the exponent.
    pub(super) offset: i16,
    pub(super) bits: Bits,
}

impl Factor {
    #[inline(always)]
    const fn part(&self, cell: u32) -> Part {
        let cell = cell & self.mask;
        let exponent = cell >> 10 & 0xFF;
        let zero = exponent < self.flush as u32;
        let sum = exponent.wrapping_add(self.offset as u32);
        Part {
            exponent: choose(zero, ZERO as u32, sum),
            significand: choose(zero, 0, self.bits.of(cell & 0x3FF | 0x400)),
            sign: (cell >> 18 & 1).wrapping_neg(),
        }
    }
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

    /// Twice their value.
    #[inline(always)]
    pub(super) const fn doubled(self) -> Self {
        Self { left: self.left + 1, ..self }
    }

    #[inline(always)]
    pub(super) const fn of(self, significand: u32) -> u32 {
        ((significand & self.mask) >> (self.right & 31)) << (self.left & 31)
    }
}
