//! The compute kernels on random numbers, against host floats with the error bounds of BF16, and
//! their committed inputs and goldens against the formulas in their `case.toml`.
//!
//! The goldens hold numbers that BF16 represents exactly in every intermediate step, so they are
//! what the mathematics says; `kernels.rs` compares them bit by bit.

mod common;

use common::{booted, embedded_set, on, plan};
use firmware_tests::programs_dir;
use loader::plan::Launch;
use loader::session::Outcome;
use sim_core::NullObserver;
use sim_core::engine::EngineKind;

const A: u32 = 0x4_0000;
const B: u32 = 0x4_8000;
const OUT: u32 = 0x6_0000;
/// Distance of neighbouring BF16 numbers relative to their magnitude, at most.
const ULP: f64 = 1.0 / 128.0;

fn random_bf16(state: &mut u32, exponents: u32) -> u16 {
    let mut next = || {
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        *state
    };
    let exponent = 127 - exponents / 2 + next() % exponents;
    ((next() & 0x807F) | exponent << 7) as u16
}

fn randoms(seed: u32, count: usize, exponents: u32) -> Vec<u16> {
    let mut state = seed;
    (0..count).map(|_| random_bf16(&mut state, exponents)).collect()
}

fn number(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

fn bytes(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn halves(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

/// The launch `name` of a kernel set.
fn find(folder: &str, name: &str) -> Launch {
    let plan = plan(&programs_dir().join("kernels").join(folder).join("case.toml"));
    plan.launches.into_iter().find(|launch| launch.name == name).expect("a launch of that name")
}

/// Launches with other inputs; what is at [`OUT`] then.
fn compute(folder: &str, inputs: &[(u32, &[u16])], count: usize) -> Vec<f64> {
    let mut launch = find(folder, folder);
    for &(address, values) in inputs {
        let write = launch.writes.iter_mut().find(|write| write.0 == address);
        write.expect("the set has that input").1 = bytes(values);
    }
    let mut session = booted(on(EngineKind::Inline), &embedded_set(), NullObserver);
    let outcome = session.launch(&launch, common::PLENTY).expect("the plan is good");
    assert!(matches!(outcome, Outcome::Done), "{folder}: {outcome:?}");
    let mut result = vec![0; 2 * count];
    session.tile.l1().read_bytes(OUT, &mut result);
    halves(&result).into_iter().map(number).collect()
}

fn assert_near(found: f64, exact: f64, bound: f64, what: &str) {
    assert!((found - exact).abs() <= bound, "{what}: {found}, not {exact} +- {bound}");
}

#[test]
fn add1_of_random_numbers_is_within_a_unit_of_the_last_place() {
    let (x, ones) = (randoms(1, 1024, 20), [0x3F80; 256]);
    let found = compute("add1", &[(A, &x), (B, &ones)], 1024);
    for (index, (&x, found)) in x.iter().zip(found).enumerate() {
        let exact = number(x) + 1.0;
        // Aligned to eleven bits, rounded to eight.
        let bound = exact.abs() * ULP + number(x).abs().max(1.0) * ULP / 8.0;
        assert_near(found, exact, bound, &format!("x[{index}]"));
    }
}

/// Face-major position of row `i`, column `j` of a 48 x 48 matrix.
fn at(i: usize, j: usize) -> usize {
    ((i / 16) * 3 + j / 16) * 256 + (i % 16) * 16 + j % 16
}

#[test]
fn matmul_of_random_numbers_is_near_the_exact_product() {
    let (a, b) = (randoms(2, 48 * 48, 6), randoms(3, 48 * 48, 6));
    let found = compute("matmul", &[(A, &a), (B, &b)], 48 * 48);
    for i in 0..48 {
        for j in 0..48 {
            let terms = (0..48).map(|k| number(a[at(i, k)]) * number(b[at(k, j)]));
            let (exact, sum): (f64, f64) =
                terms.fold((0.0, 0.0), |(exact, sum), term| (exact + term, sum + term.abs()));
            // Twelve accumulations (three faces, four phases) into eight bits.
            assert_near(found[at(i, j)], exact, sum * 12.0 * ULP / 2.0, &format!("C[{i}][{j}]"));
        }
    }
}

#[test]
fn reduce_of_random_numbers_is_near_the_exact_sums() {
    let (x, ones) = (randoms(4, 768, 8), [0x3F80; 256]);
    let found = compute("reduce", &[(A, &x), (B, &ones)], 64);
    for column in 0..16 {
        let terms = (0..48).map(|row| number(x[16 * row + column]));
        let (exact, sum): (f64, f64) =
            terms.fold((0.0, 0.0), |(exact, sum), term| (exact + term, sum + term.abs()));
        for row in 0..4 {
            let what = format!("column {column}, row {row}");
            assert_near(found[16 * row + column], exact, sum * 12.0 * ULP / 2.0, &what);
        }
    }
}

#[test]
fn sfpu_kernel_on_random_numbers_is_exact_before_it_is_stored() {
    let x = randoms(5, 512, 30);
    let found = compute("sfpu", &[(A, &x)], 512);
    for (&x, found) in x.iter().zip(found) {
        let x = number(x);
        let exact = if x.is_sign_negative() { x / 4.0 } else { x * x + 0.5 };
        assert_near(found, exact, exact.abs() * ULP, &format!("f({x})"));
    }
}

fn file(path: &str) -> Vec<u16> {
    let path = programs_dir().join("kernels").join(path);
    halves(&std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn numbers(path: &str) -> Vec<f64> {
    file(path).into_iter().map(number).collect()
}

#[test]
fn goldens_are_what_the_formulas_say() {
    let x: Vec<f64> =
        (0..1024_i64).map(|i| ((7 * i * i + 3 * i).rem_euclid(255) - 127) as f64).collect();
    assert_eq!(numbers("add1/input.bin"), x);
    assert_eq!(numbers("add1/golden.bin"), x.iter().map(|x| x + 1.0).collect::<Vec<_>>());

    let a = |i: usize, k: usize| ((5 * i + 3 * k + i * k) % 5) as f64 - 2.0;
    let b = |k: usize, j: usize| ((7 * k + 2 * j + k * k * j) % 5) as f64 - 2.0;
    let (left, right, product) =
        (numbers("matmul/a.bin"), numbers("matmul/b.bin"), numbers("matmul/golden.bin"));
    for i in 0..48 {
        for j in 0..48 {
            assert_eq!((left[at(i, j)], right[at(i, j)]), (a(i, j), b(i, j)));
            let sum: f64 = (0..48).map(|k| a(i, k) * b(k, j)).sum();
            assert_eq!(product[at(i, j)], sum, "C[{i}][{j}]");
        }
    }

    let x = |r: usize, c: usize| ((r * r + 3 * c + r * c) % 11) as f64 - 5.0;
    let sums = numbers("reduce/golden.bin");
    for c in 0..16 {
        let sum: f64 = (0..48).map(|r| x(r, c)).sum();
        assert!((0..4).all(|row| sums[16 * row + c] == sum), "column {c}");
    }

    let x: Vec<f64> = (0..512_i32).map(|i| f64::from(13 * i % 33 - 16) / 2.0).collect();
    assert_eq!(numbers("sfpu/input.bin"), x);
    let y: Vec<f64> = x.iter().map(|&x| if x >= 0.0 { x * x + 0.5 } else { x / 4.0 }).collect();
    assert_eq!(numbers("sfpu/golden.bin"), y);

    let matrix = |r: usize, c: usize| (0x3000 + 64 * r + c) as u16;
    let (tiles, columns) = (file("tilize/tiles.bin"), file("tilize/columns.bin"));
    for r in 0..32 {
        for c in 0..64 {
            let (tile, row, column) = (c / 32, r % 16, c % 16);
            let face = (r / 16) * 2 + c % 32 / 16;
            let place = (tile * 4 + face) * 256 + row * 16 + column;
            assert_eq!(file("tilize/matrix.bin")[64 * r + c], matrix(r, c));
            assert_eq!(tiles[place], matrix(r, c));
            assert_eq!(columns[(tile * 32 + r) * 32 + c % 32], matrix(r, c));
        }
    }
}
