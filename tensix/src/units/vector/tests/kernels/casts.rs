//! `typecast`.

use super::*;

/// One macro that runs on its own, row by row, in two registers in turn.
fn row_by_row(
    templates: &[u32],
    bytes: [u32; 4],
    misc: u32,
    mode: u32,
    nops: [usize; 2],
) -> Kernel {
    let mut kernel = Kernel::new(templates);
    kernel.sequence(0, bytes);
    kernel.misc(misc);
    for row in 0..8 {
        kernel.load_macro((0, row & 1), mode, NEXT, 0);
        kernel.nops(nops[0]);
    }
    kernel.nops(nops[1]);
    kernel
}

/// FP32 to BF16 as SFPSTOCHRND rounds: to nearest, ties away from zero.
fn rounded(value: f32) -> u32 {
    (value.to_bits() + 0x8000) & 0xFFFF_0000
}

/// Any integers, and the ends of their range.
fn integers() -> Face {
    let mut face = words(5);
    for (place, end) in [0x8000_0000, 0x8000_0001, 0x7FFF_FFFF, u32::MAX, 0, 1].iter().enumerate() {
        face[37 * place] = *end;
    }
    face
}

/// Maximum with zero, towards an unsigned integer of 16 bits.
fn to_uint16() -> [u32; 2] {
    [encode::sfpswap(15, 12, ZERO, 0), encode::sfp_stoch_rnd(6, 13, 0, 0, 0, 0)]
}

/// FP32 to uint16 in 16-bit Dst.
fn float_to_uint16() -> Kernel {
    let bytes = [VB | template(0, 0), 0, BONUS | template(1, 2), BONUS | store(3)];
    row_by_row(&to_uint16(), bytes, 0x100 | LO16, DEFAULT, [1, 3])
}

#[test]
fn float_to_uint16_saturates() {
    let kernel = float_to_uint16();
    let x = words(5).map(|bits| (bits as i32 as f32 / 20_000.0).to_bits() & 0xFFFF_0000);
    let inputs = [(at(0, FP16B), x)];
    compare(&kernel, Dst::Half, &inputs, &[at(0, LO16)], |_, i, value| {
        (float(x[i]).clamp(0.0, 65535.0) - value as f32).abs() <= 0.5
    });
}

/// int32 to uint16, which is left in the high half of a word.
fn int32_to_uint16() -> Kernel {
    let mut kernel = Kernel::new(&to_uint16());
    kernel.sequence(0, [VB | template(0, 1), 0, BONUS | template(1, 3), BONUS | store(4)]);
    kernel.misc(0x100 | SWAPPED);
    for row in 0..8 {
        let a = row & 1;
        kernel.load_macro((0, a), INT32, NEXT, 0);
        kernel.push(encode::sfpcast(0, a, a));
        kernel.nops(1);
    }
    kernel.nops(3);
    kernel
}

#[test]
fn int32_to_uint16_saturates() {
    let x = words(5).map(|bits| (bits as i32 >> 14) as u32);
    let output = Place { address: 0, mode: LO16, high: true };
    exactly(&int32_to_uint16(), Dst::Wide, &[(at(0, INT32), x)], output, |i| {
        (x[i] as i32).clamp(0, 0xFFFF) as u32
    });
}

/// uint16 to BF16.
fn uint16_to_bf16() -> Kernel {
    let templates = [encode::sfpcast(0, 12, 0), encode::sfp_stoch_rnd(1, 13, 0, 0, 0, 0)];
    let bytes = [template(0, 0), 0, BONUS | template(1, 1), BONUS | store(2)];
    row_by_row(&templates, bytes, 0x100, LO16, [0, 3])
}

#[test]
fn uint16_to_bf16_rounds() {
    let x = words(5).map(|bits| bits & 0xFFFF);
    exactly(&uint16_to_bf16(), Dst::Half, &[(at(0, LO16), x)], at(0, FP16B), |i| {
        rounded(x[i] as f32)
    });
}

/// uint16 to 32 bits: a macro that stores, after a cast for FP32. Always through L0.
fn widened(templates: &[u32], bytes: [u32; 4], mode: u32, nops: usize) -> Kernel {
    // A mask that only the other way to do it reads.
    let mut kernel = Kernel::new(&[encode::sfploadi(0xFFFF, 2, 1)]);
    kernel.words.extend(templates);
    kernel.sequence(0, bytes);
    kernel.misc(0x100 | mode);
    for _ in 0..8 {
        kernel.load_macro((0, 0), LO16, NEXT, 0);
    }
    kernel.nops(nops);
    kernel
}

fn uint16_to_uint32() -> Kernel {
    widened(&[], [0, 0, 0, store(0)], INT32, 1)
}

fn uint16_to_float() -> Kernel {
    let bytes = [BONUS | template(0, 0), 0, 0, BONUS | store(1)];
    widened(&[encode::sfpcast(0, 12, 0)], bytes, FP32, 2)
}

#[test]
fn uint16_becomes_wider() {
    let x = words(5).map(|bits| bits & 0xFFFF);
    let inputs = [(at(0, LO16), x)];
    // The rows of a 32-bit result lie over 16-bit rows still to be read, from the ninth on.
    let half = 128;
    compare(&uint16_to_uint32(), Dst::Half, &inputs, &[at(0, INT32)], |_, i, value| {
        i >= half || value == x[i]
    });
    compare(&uint16_to_float(), Dst::Half, &inputs, &[at(0, FP32)], |_, i, value| {
        i >= half || value == (x[i] as f32).to_bits()
    });
}

/// L0 = 0, L1 = `high`: what the MAD adds for integers with the sign bit, which is in L7.
fn choice(kernel: &mut Kernel, high: u32) {
    kernel.push(encode::sfploadi(0, 2, 0));
    kernel.push(encode::sfploadi(high, 0, 1));
}

/// MAD onto what the macro loads, of the register that L7 names.
fn indirect_mad() -> u32 {
    encode::sfpmad(4, 13, 0, ONE, 0)
}

/// int32 to FP32, or to BF16.
fn int32_to_float(bf16: bool) -> Kernel {
    let t = 4;
    let mut kernel = Kernel::new(&[]);
    kernel.configure(12, -31_i32 as u32);
    kernel.push(encode::sfpsetsgn(0, 12, t, 0));
    kernel.push(indirect_mad());
    let simple = VB | template(0, 3);
    if bf16 {
        kernel.push(encode::sfp_stoch_rnd(1, 14, 0, 0, 0, 0));
        let last = [BONUS | template(2, 6), BONUS | store(7)];
        kernel.sequence(0, [simple, template(1, 4), last[0], last[1]]);
        kernel.misc(0x100 | DEFAULT);
    } else {
        kernel.sequence(0, [simple, BONUS | template(1, 4), 0, BONUS | store(6)]);
        kernel.misc(0x100 | FP32);
    }
    choice(&mut kernel, 0xCF00);
    for row in 0..8 {
        let v = 2 + (row & 1);
        kernel.load_macro((0, v), INT32, NEXT, 0);
        kernel.push(encode::sfpabs(0, t, v, 0));
        kernel.push(encode::sfpshft2(5, 7, 12, t));
        kernel.push(encode::sfpcast(0, t, t));
    }
    kernel.nops(if bf16 { 5 } else { 4 });
    kernel
}

#[test]
fn int32_to_float_is_the_nearest() {
    let x = integers();
    let inputs = [(at(0, INT32), x)];
    let value = |i: usize| x[i] as i32 as f32;
    exactly(&int32_to_float(false), Dst::Wide, &inputs, at(0, FP32), |i| value(i).to_bits());
    exactly(&int32_to_float(true), Dst::Wide, &inputs, at(0, FP32), |i| rounded(value(i)));
}

/// uint32 to BF16.
fn uint32_to_bf16() -> Kernel {
    let mut kernel = Kernel::new(&[]);
    kernel.configure(12, -31_i32 as u32);
    kernel.push(encode::sfpcast(0, 12, 0));
    kernel.push(indirect_mad());
    kernel.push(encode::sfp_stoch_rnd(1, 14, 0, 0, 0, 0));
    let bytes = [template(0, 2), template(1, 3), BONUS | template(2, 5), BONUS | store(6)];
    kernel.sequence(0, bytes);
    kernel.misc(0x100 | FP32);
    choice(&mut kernel, 0x4F00);
    for row in 0..8 {
        let v = 2 + (row & 1);
        kernel.load_macro((0, v), INT32, NEXT, 0);
        kernel.push(encode::sfpshft2(5, 7, 12, v));
        kernel.push(encode::sfpsetsgn(1, v, v, 0));
    }
    kernel.nops(5);
    kernel
}

#[test]
fn uint32_to_bf16_rounds() {
    let x = integers();
    let inputs = [(at(0, INT32), x)];
    exactly(&uint32_to_bf16(), Dst::Wide, &inputs, at(0, FP32), |i| rounded(x[i] as f32));
}

/// uint32 to FP32: 2^23 times the high bits, less one, plus 2^23 and the low bits.
fn uint32_to_float() -> Kernel {
    let mut kernel = Kernel::new(&[]);
    kernel.configure(12, -23_i32 as u32);
    kernel.configure(13, 8_388_608.0_f32.to_bits());
    kernel.push(encode::sfpshft2(5, 12, 12, 0));
    kernel.push(encode::sfpcast(0, 13, 0));
    kernel.push(encode::sfpaddi(0, 14, 0xBF80));
    kernel.push(encode::sfpsetman(0, 15, 13, 0));
    let nothing = 7 << 3;
    kernel.sequence(0, [template(1, 1), template(2, 2), VB | template(0, 0), nothing]);
    kernel.sequence(1, [VB | template(3, 1), nothing, nothing, store(5)]);
    kernel.misc(0xF00 | FP32);
    let sum = |row: u32| encode::sfpmad(0, 2 + (row & 1), 2 + (row & 1), 13, row & 1);
    for row in 0..8 {
        kernel.load_macro((0, row & 1), INT32, STAY, 0);
        kernel.load_macro((1, 2 + (row & 1)), INT32, NEXT, 0);
        kernel.push(if row == 0 { encode::sfpnop() } else { sum(row - 1) });
    }
    kernel.nops(2);
    kernel.push(sum(7));
    kernel.nops(2);
    kernel
}

#[test]
fn uint32_to_float_is_the_nearest() {
    let x = integers();
    let inputs = [(at(0, INT32), x)];
    exactly(&uint32_to_float(), Dst::Wide, &inputs, at(0, FP32), |i| (x[i] as f32).to_bits());
}

/// int8 in a word to FP32: excess 128, cast, minus 128.
fn int8_to_float() -> Kernel {
    let (a, b) = (2, 3);
    let mut kernel = Kernel::new(&[]);
    kernel.configure(12, 0x80);
    kernel.push(encode::sfpxor(0, 12, 12, 0));
    kernel.push(encode::sfpcast(0, 13, a));
    kernel.push(encode::sfpmad(0, 14, 0, ONE, 0));
    kernel.push(encode::sfpconfig(1, 4, VB | template(0, 0)));
    let mad = BONUS | template(2, 2);
    kernel.push(encode::sfpconfig(1, 5, mad << 8 | VB | template(1, 0)));
    kernel.sequence(2, [0, 0, 0, BONUS | store(3)]);
    kernel.misc(0x700 | FP32);
    kernel.push(encode::sfploadi(0xC300, 0, 0));
    for _ in 0..8 {
        kernel.load_macro((0, a), INT32, STAY, 0);
        kernel.load_macro((1, b), INT32, STAY, 0);
        kernel.load_macro((2, 7), INT32, NEXT, 0);
    }
    kernel.nops(4);
    kernel
}

#[test]
fn int8_to_float_is_exact() {
    let x = words(5).map(|bits| bits & 0xFF);
    exactly(&int8_to_float(), Dst::Wide, &[(at(0, INT32), x)], at(0, FP32), |i| {
        f32::from(x[i] as i8).to_bits()
    });
}
