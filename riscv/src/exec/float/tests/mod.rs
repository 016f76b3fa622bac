//! Expected values come from the host's own IEEE arithmetic, from exact models in [`model`], from
//! GNU as (encodings) and from the reference simulator's vectors.

mod arithmetic;
mod compare;
mod convert;
mod decode;
mod fused;
mod golden;
mod half;
mod model;

use super::{FloatMode, FloatOp, FloatResult, execute};

const FP16: FloatMode = FloatMode { bfloat: false, bfloat_rne: false, rm: 0 };
const BF16_NEAREST: FloatMode = FloatMode { bfloat: true, bfloat_rne: true, rm: 0 };
const BF16_TRUNCATED: FloatMode = FloatMode { bfloat: true, bfloat_rne: false, rm: 0 };

/// Zeros, denormals, the edges of the normal range, ones, integers' edges, infinities, NaNs.
const SINGLES: [u32; 40] = [
    0x0000_0000,
    0x8000_0000,
    0x0000_0001,
    0x8000_0001,
    0x0040_0000,
    0x007F_FFFF,
    0x807F_FFFF,
    0x0080_0000,
    0x8080_0000,
    0x0080_0001,
    0x00FF_FFFF,
    0x3300_0000,
    0x3380_0000,
    0x33D6_BF95,
    0x3800_0000,
    0x387F_E000,
    0x3EFF_FFFF,
    0x3F00_0000,
    0xBF00_0000,
    0x3F00_0001,
    0x3F80_0000,
    0xBF80_0000,
    0x3FC0_0000,
    0x4020_0000,
    0xC020_0000,
    0x477F_E000,
    0x477F_F000,
    0x4B00_0001,
    0x4EFF_FFFF,
    0x4F00_0000,
    0xCF00_0000,
    0xCF00_0001,
    0x4F7F_FFFF,
    0x4F80_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_1234,
    0xFF80_0001,
];

/// The same kinds of values in 16 bits, for either format.
const NARROW: [u16; 26] = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x0080, 0x0081, 0x03FF, 0x83FF, 0x0400, 0x8400, 0x3800,
    0x3BFF, 0x3C00, 0xBC00, 0x3F00, 0x3F80, 0xBF81, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7D01, 0x7F7F,
    0x7F80, 0xFFC1,
];

fn single(op: FloatOp, a: u32, b: u32, c: u32) -> FloatResult {
    execute(op, a, b, c, FP16)
}

/// Executes on boxed 16-bit operands.
fn narrow(op: FloatOp, mode: FloatMode, [a, b, c]: [u16; 3]) -> FloatResult {
    let boxed = |bits: u16| 0xFFFF_0000 | u32::from(bits);
    execute(op, boxed(a), boxed(b), boxed(c), mode)
}
