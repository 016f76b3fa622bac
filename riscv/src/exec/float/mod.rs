//! The scalar floating-point instructions of the baby RISCV cores: F and Zfh as far as the cores
//! have them, as pure functions on register values. Integers only; no host arithmetic.
//!
//! # What the cores do
//!
//! * `fadd`, `fsub`, `fmul` and the fused instructions share one multiply-add that treats
//!   denormals as zero and is not quite fused `[isa-bh: TensixTile/BabyRISCV/InstructionSet.md]`
//!   `[spec: numerics 5.1, 6]`.
//! * Rounding is always to nearest even: the `rm` field of the word and the one in `fcsr` are
//!   ignored `[isa-bh: TensixTile/BabyRISCV/InstructionSet.md]`. That includes conversions to
//!   integers, so a C cast compiled with `rtz` rounds to nearest.
//! * While `cfg0.EnBFloat` is set, Zfh operates on BF16, rounded to nearest even if
//!   `cfg0.EnBFloatRTNE` is set, else towards zero `[isa-bh: TensixTile/BabyRISCV/CSRs.md]`.
//! * There is no division and no square root
//!   `[isa-bh: TensixTile/BabyRISCV/InstructionSet.md]`.
//!
//! # What is not published
//!
//! The reference simulator has neither Zfh nor flags, so these follow IEEE 754 and the RISC-V
//! standard:
//!
//! * `[unknown: U-066]` which flags `fcsr` collects, above all for flushed operands;
//! * `[unknown: U-065]` the inner widths of the 16-bit multiply-add;
//! * `[unknown: U-067]` whether a 16-bit operand without its box of ones reads as NaN;
//! * `[unknown: U-068]` whether conversions between formats flush denormals;
//! * `[unknown: U-069]` whether `EnBFloat` and its rounding apply to all of Zfh,
//!   conversions and moves included (assumed), and what a BF16 overflow towards zero gives
//!   (assumed: the largest finite value).
//!
//! # Not here
//!
//! Loads and stores, registers, `fcsr` itself, time, and the vector extension of TRISC2.

mod compare;
mod convert;
mod fma;
mod format;
mod op;
#[cfg(test)]
mod tests;

pub use op::{FloatOp, decode};

use compare::{Relation, SignFrom};
use format::{BFLOAT, Format, HALF, Rounding, SINGLE};

/// `fflags` bit NX: the result is rounded.
pub const INEXACT: u8 = 1 << 0;
/// `fflags` bit UF: the result is rounded and below the normal range.
pub const UNDERFLOW: u8 = 1 << 1;
/// `fflags` bit OF: the result is beyond the largest finite value.
pub const OVERFLOW: u8 = 1 << 2;
/// `fflags` bit NV: the operation has no meaning for its operands.
pub const INVALID: u8 = 1 << 4;

/// What an instruction computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatResult {
    /// For the destination register; 16-bit floating-point values are boxed in ones.
    pub value: u32,
    /// To be OR-ed into `fflags`: [`INVALID`], [`OVERFLOW`], [`UNDERFLOW`], [`INEXACT`]. Bit 3,
    /// division by zero, cannot happen.
    pub flags: u8,
}

/// The configuration that floating-point instructions depend on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FloatMode {
    /// `cfg0.EnBFloat` (bit 30): Zfh operates on BF16.
    pub bfloat: bool,
    /// `cfg0.EnBFloatRTNE` (bit 31): BF16 results are rounded to nearest even, else towards zero.
    pub bfloat_rne: bool,
    /// The `rm` field of the word. It changes nothing, whatever it asks for
    /// `[isa-bh: TensixTile/BabyRISCV/InstructionSet.md]`.
    pub rm: u8,
}

impl FloatMode {
    const fn format(self, op: FloatOp) -> (Format, Rounding) {
        match (op.is_half(), self.bfloat, self.bfloat_rne) {
            (false, _, _) => (SINGLE, Rounding::NearestEven),
            (true, false, _) => (HALF, Rounding::NearestEven),
            (true, true, true) => (BFLOAT, Rounding::NearestEven),
            (true, true, false) => (BFLOAT, Rounding::TowardZero),
        }
    }
}

/// Executes `op` on register values: `a` is rs1 (an integer register if
/// [`FloatOp::reads_integer`]), `b` is rs2, `c` is rs3; those an instruction lacks are ignored.
#[must_use]
pub fn execute(op: FloatOp, a: u32, b: u32, c: u32, mode: FloatMode) -> FloatResult {
    let (format, rounding) = mode.format(op);
    // Moves copy bits, boxed or not [riscv: F, NaN boxing].
    let raw = op.reads_integer() || matches!(op, FloatOp::FcvtHS | FloatOp::FmvXH);
    let x = if raw { a } else { format.unboxed(a) };
    let mut result = compute(op, format, rounding, [x, format.unboxed(b), format.unboxed(c)]);
    if op.is_half() && !op.writes_integer() && op != FloatOp::FcvtSH {
        result.value = format.boxed(result.value);
    }
    result
}

/// Executes `op` on values taken out of their boxes; the result is not boxed.
fn compute(op: FloatOp, format: Format, rounding: Rounding, [x, y, z]: [u32; 3]) -> FloatResult {
    use FloatOp::*;
    let minus = |bits: u32| bits ^ format.sign_bit();
    let fma = |x, y, z| fma::multiply_add(format, rounding, x, y, z);
    match op {
        FaddS | FaddH => fma::add(format, rounding, x, y),
        FsubS | FsubH => fma::add(format, rounding, x, minus(y)),
        FmulS | FmulH => fma::multiply(format, rounding, x, y),
        FmaddS | FmaddH => fma(x, y, z),
        FmsubS | FmsubH => fma(x, y, minus(z)),
        FnmsubS | FnmsubH => fma(minus(x), y, z),
        FnmaddS | FnmaddH => fma(minus(x), y, minus(z)),
        FsgnjS | FsgnjH => compare::inject_sign(format, SignFrom::Second, x, y),
        FsgnjnS | FsgnjnH => compare::inject_sign(format, SignFrom::SecondInverted, x, y),
        FsgnjxS | FsgnjxH => compare::inject_sign(format, SignFrom::Both, x, y),
        FminS | FminH => compare::select(format, false, x, y),
        FmaxS | FmaxH => compare::select(format, true, x, y),
        FleS | FleH => compare::compare(format, Relation::LessOrEqual, x, y),
        FltS | FltH => compare::compare(format, Relation::Less, x, y),
        FeqS | FeqH => compare::compare(format, Relation::Equal, x, y),
        FclassS | FclassH => compare::classify(format, x),
        FcvtWS | FcvtWH => convert::to_integer(format, rounding, true, x),
        FcvtWuS | FcvtWuH => convert::to_integer(format, rounding, false, x),
        FcvtSW | FcvtHW => convert::from_integer(format, rounding, true, x),
        FcvtSWu | FcvtHWu => convert::from_integer(format, rounding, false, x),
        FcvtHS => convert::between(SINGLE, format, rounding, x),
        FcvtSH => convert::between(format, SINGLE, rounding, x),
        FmvXH => FloatResult { value: i32::from(x as i16) as u32, flags: 0 },
        FmvXW | FmvWX | FmvHX => FloatResult { value: x, flags: 0 },
    }
}
