//! Reciprocals and exponentials, which are as good as their kernels promise.

use super::*;

/// Whether a result is within a part `tolerance` of the number expected.
fn is_near(result: u32, expected: f64, tolerance: f64) -> bool {
    (f64::from(float(result)) - expected).abs() <= tolerance * expected.abs()
}

/// The approximation of SFPARECIP, one instruction per row.
fn reciprocal_7() -> Kernel {
    let mut kernel = Kernel::new(&[encode::sfparecip(0, 12, 0, 0)]);
    kernel.sequence(0, [BONUS | template(0, 0), 0, 0, BONUS | store(1)]);
    kernel.misc(0x110);
    for _ in 0..8 {
        kernel.load_macro((0, 0), DEFAULT, NEXT, 0);
    }
    kernel.nops(2);
    kernel
}

/// The same with one bit corrected; the macro copies x while it approximates.
fn reciprocal_8() -> Kernel {
    let (y, x) = (0, 1);
    let copy = encode::sfpmad(8, 13, 0, ZERO, ZERO);
    let mut kernel = Kernel::new(&[encode::sfparecip(0, 12, 0, 0), copy]);
    kernel.sequence(0, [template(0, 0), template(1, 0), 0, 0]);
    kernel.misc(0x300);
    kernel.push(encode::sfploadi(x, 2, 7));
    for _ in 0..8 {
        kernel.load_macro((0, y), DEFAULT, STAY, 0);
        kernel.nops(1);
        kernel.push(encode::sfploadi(0x8000, 10, y));
        kernel.push(encode::sfpmad(0, x, MINUS_ONE, y, x));
        kernel.push(encode::sfpshft(5, x, x, 0xFF0));
        kernel.push(encode::sfpiadd(4, y, x, 0));
        kernel.store(y, DEFAULT, NEXT, 0);
    }
    kernel.nops(1);
    kernel
}

/// With Newton's method to full precision: four macros, five instructions per row, steps of two
/// rows at a time.
fn reciprocal_24() -> Kernel {
    let (e, t2, z, y) = (0, 1, 2, 3);
    let before = 0x3FE;
    let mut kernel = Kernel::new(&[
        encode::sfparecip(0, 12, 0, 0),
        encode::sfpmad(0, 13, 0, 0, 0),
        encode::sfpmad(0, 14, z, 0, t2),
        encode::sfpswap(1, 15, ONE, 0),
    ]);
    kernel.sequence(0, [template(0, 0), 0, 0, BONUS | store(6)]);
    kernel.sequence(1, [BONUS | template(0, 0), template(1, 2), 0, store(2)]);
    kernel.push(encode::sfpconfig(1, 6, template(2, 0) << 8 | VB | template(3, 2)));
    kernel.sequence(3, [0, VB | template(2, 1), 0, store(3)]);
    kernel.misc(0xFF0);
    let mut row = Kernel::new(&[]);
    row.load_macro((0, y), DEFAULT, STAY, 0);
    row.load_macro((2, t2), DEFAULT, STAY, before);
    row.load_macro((1, e), DEFAULT, STAY, 0);
    row.push(encode::sfpmad(1, 0, ONE, y, 0));
    row.load_macro((3, z), DEFAULT, NEXT, before);
    row.load_macro((3, z), DEFAULT, STAY, before);
    kernel.words.extend(&row.words[..4]);
    kernel.load(7, DEFAULT, NEXT, 0);
    for _ in 1..8 {
        kernel.words.extend(&row.words[..5]);
    }
    kernel.nops(1);
    kernel.push(row.words[1]);
    kernel.nops(1);
    // The last one leaves the row where it is.
    kernel.words.extend(&row.words[3..5]);
    kernel.nops(4);
    kernel
}

#[test]
fn reciprocals_are_as_precise_as_promised() {
    let (x, half) = (floats(1), halves(1));
    for (kernel, dst, mode, x, tolerance) in [
        (reciprocal_7(), Dst::Wide, FP32, x, 1.0 / 128.0),
        (reciprocal_8(), Dst::Half, FP16B, half, 1.0 / 256.0),
        // Two units in the last place.
        (reciprocal_24(), Dst::Wide, FP32, x, 1.0 / 4_194_304.0),
    ] {
        let place = at(0, mode);
        compare(&kernel, dst, &[(place, x)], &[place], |_, i, value| {
            is_near(value, 1.0 / f64::from(float(x[i])), tolerance)
        });
    }
}

/// A = 256 / ln 2 and B - C of Schraudolph's method, in L12 and L13.
fn constants(kernel: &mut Kernel, first: bool) {
    let numbers = [(12, 369.329_93_f32), (13, 32_500.818)];
    if first {
        kernel.configure(14, (-88.5_f32).to_bits());
    }
    for (register, number) in numbers {
        kernel.configure(register, number.to_bits());
    }
    if !first {
        kernel.configure(14, 15);
    }
}

/// Multiplies and adds; the second template of both kinds.
fn multiply_and_add() -> u32 {
    encode::sfpmad(0, 13, 13, 0, 12)
}

/// `exp` of numbers from -88.5 on: one macro limits the numbers in Dst, the other computes. All
/// delays are in cycles.
fn exponential_limited() -> Kernel {
    let mut kernel = Kernel::new(&[]);
    constants(&mut kernel, true);
    kernel.configure(0, encode::sfpswap(1, 14, 0, 0));
    kernel.nops(1);
    kernel.push(multiply_and_add());
    kernel.push(encode::sfp_stoch_rnd(14, 14, 0, 0, 0, 0));
    kernel.push(encode::sfpshft(1, 15, 0, 15));
    kernel.sequence(1, [template(0, 0), 0, 0, store(2)]);
    let shift = VB | BONUS | template(3, 3);
    kernel.sequence(0, [shift, VB | template(1, 0), template(2, 2), BONUS | store(4)]);
    kernel.misc(0);
    for index in [1, 0] {
        for row in 0..8 {
            kernel.load_macro((index, row & 3), DEFAULT, STAY, 2 * row);
            if index == 1 && row != 7 {
                kernel.nops(1);
            }
        }
    }
    kernel.nops(1);
    kernel
}

/// `exp` without a limit: between the macros' instructions shifts of earlier rows, from a replay
/// buffer; for one face or for four.
fn exponential(faces: usize) -> Kernel {
    let mut kernel = Kernel::new(&[]);
    constants(&mut kernel, false);
    kernel.push(multiply_and_add());
    kernel.push(encode::sfp_stoch_rnd(7, 14, 0, 0, 0, 0));
    kernel.push(encode::sfpsetsgn(0, 15, 4, 0));
    let sign = VB | BONUS | template(3, 5);
    kernel.sequence(0, [sign, VB | template(1, 0), template(2, 3), BONUS | store(6)]);
    kernel.misc(0xF00);
    kernel.nops(1);
    kernel.steps[2] = 2;
    let shift = |row: u32| encode::sfpshft2(5, 4, 14, row & 3);
    for row in 0..8 * faces as u32 {
        kernel.load_macro((0, row & 3), DEFAULT, STAY, 0);
        kernel.push(shift(row + 2));
    }
    for row in 2..4 {
        kernel.nops(1);
        kernel.push(shift(row));
    }
    kernel.nops(2);
    kernel
}

#[test]
fn exponentials_are_within_five_percent() {
    let part = |bits: u32| f64::from(bits as i32) / f64::from(i32::MIN);
    let any = words(1).map(|bits| (80.0 * part(bits)) as f32).map(f32::to_bits);
    let place = at(0, FP32);
    compare(&exponential_limited(), Dst::Wide, &[(place, any)], &[place], |_, i, value| {
        is_near(value, f64::from(float(any[i])).exp(), 0.05)
    });
    let faces: [Face; 4] = [1, 2, 3, 4]
        .map(|seed| words(seed).map(|bits| (-80.0 * part(bits).abs()) as f32).map(f32::to_bits));
    for count in [1, 4] {
        let inputs: Vec<_> = (0..count).map(|i| (at(16 * i as u32, FP32), faces[i])).collect();
        let places: Vec<_> = inputs.iter().map(|input| input.0).collect();
        compare(&exponential(count), Dst::Wide, &inputs, &places, |face, i, value| {
            is_near(value, f64::from(float(faces[face][i])).exp(), 0.05)
        });
    }
}
