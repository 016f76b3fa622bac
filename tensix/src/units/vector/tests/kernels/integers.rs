//! Integer multiplication, sign bits.

use super::*;

/// `multiply` of int32: four 23-bit products of halves of the operands, two macros for the shifts.
fn multiply_int32(in0: u32, in1: u32, out: u32) -> Kernel {
    let (a1, b1, b2, c) = (1, 2, 3, 4);
    let mut kernel = Kernel::new(&[
        encode::sfpshft2(6, 12, 0, 0xFE9),
        encode::sfpmul24(0, 13, ZERO, 0, 0),
        encode::sfpshft(5, 14, b1, 23),
        encode::sfpiadd(4, 15, c, 0),
    ]);
    let (product, shift) = (VB | template(1, 1), VB | template(0, 0));
    kernel.sequence(0, [0, product, shift, 0]);
    kernel.sequence(1, [VB | template(3, 4), product, shift, 0]);
    kernel.push(encode::sfpconfig(1, 6, product << 8 | VB | BONUS | template(3, 4)));
    kernel.sequence(3, [VB | template(2, 0), 0, 0, BONUS | store(2)]);
    kernel.misc(0xFF0);
    for _ in 0..8 {
        kernel.load(0, INT32, STAY, in1);
        kernel.load_macro((0, a1), INT32, STAY, in0);
        kernel.load_macro((1, b1), INT32, STAY, in1);
        kernel.load(0, INT32, STAY, in0);
        kernel.load_macro((2, b2), INT32, STAY, in1);
        kernel.push(encode::sfpmul24(1, c, ZERO, b2, 0));
        kernel.push(encode::sfpiadd(4, b1, a1, 0));
        kernel.load_macro((3, c), INT32, NEXT, out);
    }
    kernel.nops(3);
    kernel
}

#[test]
fn int32_product_keeps_32_bits() {
    let (a, b) = (words(1), words(2));
    let inputs = [(at(tile(0), INT32), a), (at(tile(1), INT32), b)];
    for out in [0, 2] {
        let kernel = multiply_int32(tile(0), tile(1), tile(out));
        exactly(&kernel, Dst::Wide, &inputs, at(tile(out), INT32), |i| a[i].wrapping_mul(b[i]));
    }
}

/// `multiply` of uint16, with one, two or three instructions per row.
fn multiply_uint16(in0: u32, in1: u32, out: u32) -> Kernel {
    let mut kernel = Kernel::new(&[encode::sfpmul24(0, 12, ZERO, 0, 0)]);
    kernel.sequence(0, [0, VB | BONUS | template(0, 0), 0, BONUS | store(2)]);
    kernel.sequence(1, [0, VB | BONUS | template(0, 1), 0, BONUS | store(3)]);
    kernel.misc(0x330);
    let (a, b) = (0, 1);
    for _ in 0..8 {
        if out == in0 && out == in1 {
            kernel.load_macro((0, a), LO16, NEXT, in1);
        } else if out == in0 || out == in1 {
            kernel.load(a, LO16, STAY, if out == in0 { in1 } else { in0 });
            kernel.load_macro((0, b), LO16, NEXT, out);
        } else {
            kernel.load(a, LO16, STAY, in0);
            kernel.load_macro((1, b), LO16, STAY, out);
            kernel.load(b, LO16, NEXT, in1);
        }
    }
    kernel.nops(3);
    kernel
}

#[test]
fn uint16_product_keeps_16_bits() {
    let [a, b] = [1, 2].map(|seed| words(seed).map(|bits| bits & 0xFFFF));
    let inputs = [(at(tile(0), LO16), a), (at(tile(1), LO16), b)];
    for (in1, out) in [(1, 0), (1, 1), (1, 2), (0, 0)] {
        let kernel = multiply_uint16(tile(0), tile(in1), tile(out));
        let right = if in1 == 0 { a } else { b };
        let expected = |i: usize| (a[i] * right[i]) & 0xFFFF;
        exactly(&kernel, Dst::Half, &inputs, at(tile(out), LO16), expected);
    }
}

/// `signbit` of floats: one instruction per row.
fn sign_of_float() -> Kernel {
    let shift = encode::sfpshft2(6, 12, 0, 0xFE1);
    let mut kernel = Kernel::new(&[shift, encode::sfpcast(0, 13, 0)]);
    kernel.sequence(0, [BONUS | template(1, 1), 0, VB | template(0, 0), BONUS | store(2)]);
    kernel.misc(0x110);
    for row in 0..8 {
        kernel.load_macro((0, row & 1), DEFAULT, NEXT, 0);
    }
    kernel.nops(3);
    kernel
}

#[test]
fn sign_of_a_float_is_one_or_zero() {
    for (dst, mode, x) in [(Dst::Wide, FP32, floats(1)), (Dst::Half, FP16B, halves(1))] {
        exactly(&sign_of_float(), dst, &[(at(0, mode), x)], at(0, mode), |i| {
            if float(x[i]) < 0.0 { 1.0_f32.to_bits() } else { 0 }
        });
    }
}

/// `signbit` of int32.
fn sign_of_int32() -> Kernel {
    let mut kernel = Kernel::new(&[encode::sfpshft2(6, 12, 0, 0xFE1)]);
    kernel.sequence(0, [0, 0, VB | BONUS | template(0, 0), BONUS | store(1)]);
    kernel.misc(0x110);
    for _ in 0..8 {
        kernel.load_macro((0, 0), INT32, NEXT, 0);
    }
    kernel.nops(2);
    kernel
}

#[test]
fn sign_of_an_integer_is_one_or_zero() {
    let x = words(1);
    exactly(&sign_of_int32(), Dst::Wide, &[(at(0, INT32), x)], at(0, INT32), |i| {
        u32::from((x[i] as i32) < 0)
    });
}
