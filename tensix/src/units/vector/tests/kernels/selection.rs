//! `where`, maxima and minima, the sorting network of `topk`, the columns of `reduce`.

use super::*;

/// `where`, onto the condition or to a place of its own. Lanes are predicated by the condition in
/// one cycle only.
fn choose(mode: u32, [condition, yes, no, out]: [u32; 4]) -> Kernel {
    let mut kernel = Kernel::new(&[encode::sfpsetcc(6, 12, 0, 0), encode::sfpencc(0, 13, 0, 0)]);
    kernel.sequence(0, [template(0, 0), 0, 0, store(2)]);
    kernel.push(encode::sfpconfig(1, 5, template(0, 0)));
    kernel.push(encode::sfpconfig(1, 6, template(1, 0)));
    kernel.misc(0x770);
    kernel.back_to_back = true;
    let in_place = out == condition;
    for _ in 0..8 {
        kernel.load_macro((u32::from(!in_place), 0), mode, STAY, condition);
        kernel.load_macro((2, 0), mode, STAY, yes);
        if in_place {
            kernel.load(0, mode, NEXT, no);
        } else {
            kernel.load(0, mode, STAY, no);
            kernel.store(0, mode, NEXT, out);
        }
    }
    kernel
}

#[test]
fn where_takes_the_second_operand_where_the_first_is_not_zero() {
    let condition = words(3).map(|bits| if bits & 0x400 == 0 { 0 } else { bits & 0xFFFF });
    for (dst, mode, mask) in [(Dst::Wide, INT32, u32::MAX), (Dst::Half, LO16, 0xFFFF)] {
        let [yes, no] = [1, 2].map(|seed| words(seed).map(|bits| bits & mask));
        let faces = [condition, yes, no];
        let inputs: [_; 3] = std::array::from_fn(|i| (at(tile(i as u32), mode), faces[i]));
        for out in [0, 3] {
            let kernel = choose(mode, [0, 1, 2, out].map(tile));
            let expected = |i: usize| if condition[i] == 0 { no[i] } else { yes[i] };
            exactly(&kernel, dst, &inputs, at(tile(out), mode), expected);
        }
    }
}

/// Mode of SFPSWAP that leaves the maximum, or the minimum, in VD.
const fn direction(maximum: bool) -> u32 {
    if maximum { 9 } else { 1 }
}

/// `maximum` and `minimum` of floats.
fn extremum(maximum: bool) -> Kernel {
    let (b, c) = (2, 3);
    let mut kernel = Kernel::new(&[
        encode::sfpswap(direction(maximum), 12, b, 0),
        encode::sfpshft2(6, 13, 0, 0),
    ]);
    kernel.sequence(0, [VB | template(0, 1), 0, VB | BONUS | template(1, 3), 0]);
    kernel.sequence(1, [0, 0, 0, BONUS | store(2)]);
    kernel.misc(0x330);
    for row in 0..8 {
        kernel.load_macro((0, row & 1), DEFAULT, STAY, tile(0));
        kernel.load(b, DEFAULT, STAY, tile(1));
        kernel.load_macro((1, c), DEFAULT, NEXT, tile(2));
    }
    kernel.nops(3);
    kernel
}

#[test]
fn extremum_of_floats_is_one_of_them() {
    for (dst, mode, numbers) in
        [(Dst::Wide, FP32, floats as fn(u32) -> Face), (Dst::Half, FP16B, halves)]
    {
        let (a, b) = (numbers(1), numbers(2));
        let inputs = [(at(tile(0), mode), a), (at(tile(1), mode), b)];
        for maximum in [false, true] {
            exactly(&extremum(maximum), dst, &inputs, at(tile(2), mode), |i| {
                let (a, b) = (float(a[i]), float(b[i]));
                if maximum { a.max(b) } else { a.min(b) }.to_bits()
            });
        }
    }
}

/// `maximum` and `minimum` of int32 and uint32: SFPSWAP compares signs and magnitudes, so that two
/// negative numbers are not stored; the other way round for unsigned ones.
fn extremum_int32(maximum: bool, unsigned: bool) -> Kernel {
    let (a0, b0, a1, b1, c) = (0, 1, 2, 3, 7);
    let mode = direction(maximum != unsigned);
    let condition = if unsigned { 4 } else { 0 };
    let mut kernel = Kernel::new(&[
        encode::sfpswap(mode, 12, b0, 0),
        encode::sfpswap(mode, 13, b1, 0),
        encode::sfpsetcc(condition, 14, 0, 0),
        encode::sfpshft2(6, 15, 0, 0),
    ]);
    kernel.sequence(0, [VB | template(0, 3), 0, VB | BONUS | template(3, 5), 0]);
    kernel.sequence(1, [VB | template(1, 3), 0, VB | BONUS | template(3, 5), 0]);
    kernel.sequence(2, [template(2, 4), 0, VB | BONUS | template(3, 6), 0]);
    kernel.sequence(3, [0, 0, 0, BONUS | store(4)]);
    kernel.misc(0xFF0);
    kernel.back_to_back = true;
    let other = |row: u32| encode::sfpsetcc(condition, 0, if row & 1 == 0 { a1 } else { a0 }, 0);
    for row in 0..8 {
        let (index, a, b) = if row & 1 == 0 { (0, a0, b0) } else { (1, a1, b1) };
        kernel.load_macro((index, a), INT32, STAY, tile(0));
        kernel.load_macro((2, b), INT32, STAY, tile(1));
        kernel.push(other(row));
        kernel.push(encode::sfpencc(0, 0, 0, 0));
        kernel.load_macro((3, c), INT32, NEXT, tile(2));
    }
    kernel.nops(2);
    kernel.push(other(8));
    kernel.push(encode::sfpencc(0, 0, 0, 0));
    kernel.nops(1);
    kernel
}

#[test]
fn extremum_of_integers_is_one_of_them() {
    let (a, b) = (words(1), words(2));
    let inputs = [(at(tile(0), INT32), a), (at(tile(1), INT32), b)];
    for (maximum, unsigned) in [(false, false), (true, false), (false, true), (true, true)] {
        let kernel = extremum_int32(maximum, unsigned);
        exactly(&kernel, Dst::Wide, &inputs, at(tile(2), INT32), |i| {
            let first_is_greater = if unsigned { a[i] > b[i] } else { a[i] as i32 > b[i] as i32 };
            if first_is_greater == maximum { a[i] } else { b[i] }
        });
    }
}

/// `maximum` and `minimum` with a scalar in L12.
fn extremum_with(maximum: bool, scalar: u32) -> Kernel {
    let mut kernel = Kernel::new(&[encode::sfpswap(direction(maximum), 12, 12, 0)]);
    kernel.sequence(0, [VB | template(0, 0), 0, 0, store(2)]);
    kernel.misc(0x110);
    kernel.configure(12, scalar);
    for row in 0..8 {
        kernel.load_macro((0, row & 1), DEFAULT, NEXT, 0);
        kernel.nops(1);
    }
    kernel.nops(2);
    kernel
}

#[test]
fn extremum_with_a_scalar() {
    for (dst, mode, x) in [(Dst::Wide, FP32, floats(1)), (Dst::Half, FP16B, halves(1))] {
        for maximum in [false, true] {
            let kernel = extremum_with(maximum, 0.5_f32.to_bits());
            exactly(&kernel, dst, &[(at(0, mode), x)], at(0, mode), |i| {
                let x = float(x[i]);
                if maximum { x.max(0.5) } else { x.min(0.5) }.to_bits()
            });
        }
    }
}

/// The same for integers; what SFPSWAP would not order is complemented, the scalar, too.
fn extremum_with_int32(maximum: bool, unsigned: bool, scalar: u32) -> Kernel {
    let largest = maximum != unsigned;
    let mut kernel =
        Kernel::new(&[encode::sfpswap(direction(largest), 12, 12, 0), encode::sfpnot(0, 13, 0, 0)]);
    kernel.sequence(0, [VB | template(0, 0), 0, 0, store(2)]);
    kernel.sequence(1, [BONUS | template(1, 3), 0, 0, BONUS | store(4)]);
    kernel.misc(0x330);
    let complement = unsigned == (scalar as i32 >= 0);
    kernel.configure(12, if complement { !scalar } else { scalar });
    for row in 0..8 {
        if complement {
            kernel.load_macro((1, 0), INT32, NEXT, 0);
            kernel.push(encode::sfpnot(0, 0, 0, 0));
            kernel.push(encode::sfpswap(direction(!largest), 0, 12, 0));
        } else {
            kernel.load_macro((0, row & 1), INT32, NEXT, 0);
        }
        kernel.nops(1);
    }
    kernel.nops(2);
    kernel
}

#[test]
fn extremum_with_a_scalar_integer() {
    let x = words(1);
    let inputs = [(at(0, INT32), x)];
    for scalar in [1000, -1000_i32 as u32, 0x4000_0000, 0x9000_0000] {
        for maximum in [false, true] {
            let kernel = extremum_with_int32(maximum, false, scalar);
            exactly(&kernel, Dst::Wide, &inputs, at(0, INT32), |i| {
                let (x, scalar) = (x[i] as i32, scalar as i32);
                (if maximum { x.max(scalar) } else { x.min(scalar) }) as u32
            });
            let kernel = extremum_with_int32(maximum, true, scalar);
            exactly(&kernel, Dst::Wide, &inputs, at(0, INT32), |i| {
                if maximum { x[i].max(scalar) } else { x[i].min(scalar) }
            });
        }
    }
}

/// One comparison of `topk`: rows 0 and 4 with rows 64 and 68, indices 128 rows further.
fn compare_exchange(ascending: bool) -> Kernel {
    let (there, here) = if ascending { (2, 0) } else { (0, 2) };
    let mut kernel = Kernel::new(&[]);
    for index in 0..2 {
        kernel.sequence(index, [VB | template(index, 0), 2, 0, store(2)]);
    }
    kernel.misc(0xBF0);
    kernel.nops(2);
    // SFPSWAP takes the indices along.
    kernel.push(encode::sfpconfig(1, 15, 4));
    kernel.push(encode::sfpswap(1, 12, there, 0));
    kernel.push(encode::sfpswap(1, 13, there + 1, 0));
    let rows = [0, 4, tile(1), tile(1) + 4];
    let indices = rows.map(|row| row + tile(2));
    for (register, row) in (4..).zip(indices) {
        kernel.load(register, INT32, STAY, row);
    }
    for pair in 0..2 {
        kernel.load(there + pair, FP32, STAY, rows[(there + pair) as usize]);
        kernel.load_macro((pair, here + pair), FP32, STAY, rows[(here + pair) as usize]);
    }
    for pair in 0..2 {
        kernel.nops(1);
        kernel.store(there + pair, FP32, STAY, rows[(there + pair) as usize]);
    }
    for (register, row) in (4..).zip(indices) {
        kernel.store(register, INT32, STAY, row);
    }
    kernel
}

#[test]
fn comparison_of_topk_moves_numbers_with_their_indices() {
    let faces = [floats(1), floats(2), words(3), words(4)];
    let places: [_; 4] =
        std::array::from_fn(|i| at(tile(i as u32), if i < 2 { FP32 } else { INT32 }));
    let inputs: [_; 4] = std::array::from_fn(|i| (places[i], faces[i]));
    for ascending in [false, true] {
        let kernel = compare_exchange(ascending);
        compare(&kernel, Dst::Wide, &inputs, &places, |face, datum, value| {
            // Even columns of eight rows: addresses 0 and 4.
            let sorts = matches!(datum / LANES, 0 | 2);
            let in_order = (float(faces[0][datum]) < float(faces[1][datum])) == ascending;
            let from = if sorts && !in_order { face ^ 1 } else { face };
            value == faces[from][datum]
        });
    }
}

/// `max` and `min` of columns of a tile, into its first row.
fn columns(maximum: bool) -> Kernel {
    let mut kernel = Kernel::new(&[]);
    kernel.push(encode::sfpconfig(1, 15, if maximum { 0 } else { 0x100 }));
    for index in 0..2 {
        kernel.push(encode::sfpswap(1, 12 + index, 4 + index, 0));
        kernel.sequence(index, [VB | template(index, 0), 0, 0, 0]);
    }
    kernel.steps = [0, 16, 0];
    let mut four_rows = Kernel::new(&[encode::incrwc(0, 0, 4, 0)]);
    four_rows.load_macro((1, 1), DEFAULT, STAY, 2);
    four_rows.load(0, DEFAULT, STAY, 16);
    four_rows.load(1, DEFAULT, STAY, 18);
    four_rows.push(encode::sfpswap(1, 1, 7, 0));
    four_rows.nops(1);
    four_rows.push(encode::sfpswap(1, 0, 6, 0));
    four_rows.nops(1);
    four_rows.load_macro((0, 0), DEFAULT, STAY, 0);
    four_rows.load(8, DEFAULT, NEXT, 0);
    four_rows.load(8, DEFAULT, 5, 0);
    let places = [(4, 0), (5, 2), (6, 16), (7, 18)];
    for (register, address) in places {
        kernel.load(register, DEFAULT, STAY, address);
    }
    for count in [9, 9, 10, 9, 9, 9, 11] {
        kernel.words.extend(&four_rows.words[..count]);
    }
    kernel.push(encode::setrwc(4, 0, 0, 0, 0, 0));
    kernel.push(encode::sfptransp(0, 0, 0, 0));
    for register in [6, 5, 4] {
        kernel.push(encode::sfpswap(1, register + 1, register, 0));
    }
    kernel.push(encode::sfptransp(0, 0, 0, 0));
    for (register, address) in places {
        kernel.store(register, DEFAULT, STAY, address);
    }
    kernel
}

#[test]
fn extremum_of_columns_is_in_the_first_row() {
    let faces = [floats(1), floats(2), floats(3), floats(4)];
    let inputs: [_; 4] = std::array::from_fn(|i| (at(16 * i as u32, FP32), faces[i]));
    for maximum in [false, true] {
        let places = [inputs[0].0, inputs[1].0];
        compare(&columns(maximum), Dst::Wide, &inputs, &places, |face, datum, value| {
            // The first row: eight lanes of addresses 0 and 2, for even and for odd columns.
            let (address, lane) = (datum / LANES, datum % LANES);
            let column = [face, face + 2].into_iter().flat_map(|face| {
                let lanes = faces[face].chunks(LANES).skip(address).step_by(2);
                lanes.flat_map(move |lanes| lanes.iter().skip(lane).step_by(8))
            });
            let numbers = column.map(|&bits| float(bits));
            let expected = numbers.reduce(if maximum { f32::max } else { f32::min });
            address > 1 || lane > 7 || expected == Some(float(value))
        });
    }
}
