//! The matrix unit: arithmetic in all formats of SrcA and SrcB into 16-bit and 32-bit Dst, pooling,
//! integers, moves.

use serde_json::Value;

use super::bench::{BF16, BFP4, BFP8, Bench, FP8, FP16, FP32, INT8, ROWS, TF32, face};
use super::random::Random;

/// `ALU_ACC_CTRL_Fp32_enabled`, `ALU_ACC_CTRL_INT8_math_enabled`.
const WIDE: u32 = 1 << 29;
const INTEGERS: u32 = 1 << 31;
/// Formats in L1 and in the register files that may meet in one instruction.
const EIGHT: [[u32; 2]; 5] = [[BF16, BF16], [FP32, TF32], [FP32, BF16], [BFP8, BFP8], [BFP4, BFP4]];
const FIVE: [[u32; 2]; 3] = [[FP16, FP16], [FP32, FP16], [FP8, FP8]];

/// SrcA and SrcB from random faces; gives whether Dst is wide.
fn operands(bench: &mut Bench, random: &mut Random, index: u32) -> bool {
    let (a, b) = match index % 3 {
        2 => {
            let pair = random.pick(&FIVE);
            (pair, pair)
        }
        _ => (random.pick(&EIGHT), random.pick(&EIGHT)),
    };
    let wide = index % 2 == 1;
    // What Dst holds before: rows 0 to 15.
    let before = random.words(256);
    bench.fill_dst(&before);
    let input = face(random, a[0]);
    bench.fill_source(0, a, input);
    let input = face(random, b[0]);
    bench.fill_source(1, b, input);
    bench.formats(a[1], b[1], if wide { WIDE } else { 0 });
    wide
}

fn dump(mut bench: Bench, wide: bool, name: &str) -> Value {
    if wide {
        bench.dump_words(ROWS);
    } else {
        bench.dump_halves(ROWS);
    }
    bench.finish(name)
}

/// ELWADD, ELWSUB, ELWMUL with every broadcast, accumulating and not, in several phases.
pub(super) fn elementwise() -> Vec<Value> {
    let mut random = Random::new(1001);
    let vectors = (0..60).map(|index| {
        let mut bench = Bench::new();
        let wide = operands(&mut bench, &mut random, index);
        let (name, opcode) = [("add", 0x28), ("sub", 0x30), ("mul", 0x27)][index as usize / 2 % 3];
        let broadcast = index / 6 % 4;
        for round in 0..3 {
            let multiplies = opcode == 0x27;
            let accumulates = !multiplies && round > 0 && random.below(2) == 1;
            let modifier = if multiplies { 1 } else { 2 * random.below(2) };
            let row = 8 * random.below(2);
            let word = u32::from(accumulates) << 21 | broadcast << 19 | modifier << 14 | row;
            bench.list.push(opcode, word);
        }
        dump(bench, wide, &format!("recorded_elementwise/{name}/{index}"))
    });
    vectors.collect()
}

/// MVMUL in all fidelity phases.
pub(super) fn multiply() -> Vec<Value> {
    let mut random = Random::new(1002);
    let vectors = (0..36).map(|index| {
        let mut bench = Bench::new();
        let wide = operands(&mut bench, &mut random, index);
        for phase in 0..=index % 4 {
            bench.list.push(0x26, 1 << 14 | (8 * (phase & 1)));
        }
        dump(bench, wide, &format!("recorded_multiply/{index}"))
    });
    vectors.collect()
}

/// GAPOOL of sums, GMPOOL of maxima (whose SrcB is 1.0).
pub(super) fn pool() -> Vec<Value> {
    let mut random = Random::new(1003);
    let vectors = (0..32).map(|index| {
        let mut bench = Bench::new();
        let wide = index % 2 == 1;
        let maximum = index / 2 % 2 == 1;
        let pair = random.pick(&EIGHT[..4]);
        bench.fill_dst(&random.words(256));
        let input = face(&mut random, pair[0]);
        bench.fill_source(0, pair, input);
        let ones = "803f".repeat(256);
        let input = if maximum { ones } else { face(&mut random, BF16) };
        bench.fill_source(1, [BF16, BF16], input);
        bench.formats(pair[1], BF16, if wide { WIDE } else { 0 });
        let opcode = if maximum { 0x33 } else { 0x34 };
        for _ in 0..2 {
            bench.list.push(opcode, 1 << 19 | (4 * random.below(4)));
        }
        dump(bench, wide, &format!("recorded_pool/{}/{index}", if maximum { "max" } else { "sum" }))
    });
    vectors.collect()
}

/// INT8 arithmetic into INT32.
pub(super) fn int8() -> Vec<Value> {
    let mut random = Random::new(1004);
    let vectors = (0..24).map(|index| {
        let mut bench = Bench::new();
        bench.fill_dst(&random.words(256));
        for unpacker in 0..2 {
            let input = face(&mut random, INT8);
            bench.fill_source(unpacker, [INT8, INT8], input);
        }
        bench.formats(INT8, INT8, WIDE | INTEGERS);
        let (name, opcode) =
            [("mvmul", 0x26), ("elwmul", 0x27), ("elwadd", 0x28), ("elwsub", 0x30)]
                [index as usize % 4];
        let sums = opcode == 0x28 || opcode == 0x30;
        for round in 0..3 {
            let accumulates = u32::from(sums && round > 0);
            let modifier = u32::from(!sums);
            let row = 8 * random.below(2);
            bench.list.push(opcode, accumulates << 21 | modifier << 14 | row);
        }
        dump(bench, true, &format!("recorded_int8/{name}/{index}"))
    });
    vectors.collect()
}

/// MOVA2D, MOVB2D in every mode, MOVD2A, MOVD2B, MOVB2A, TRNSPSRCB, ZEROACC.
pub(super) fn moves() -> Vec<Value> {
    let mut random = Random::new(1005);
    let vectors = (0..96).map(|index| {
        let mut bench = Bench::new();
        let _ = operands(&mut bench, &mut random, index);
        for _ in 0..3 {
            let row = 8 * random.below(2);
            let source = 8 * random.below(2);
            let (opcode, operands) = match random.below(8) {
                0 | 1 => (0x12, source << 17 | 2 << 12 | row),
                2 | 3 => (0x13, source << 17 | random.pick(&[2, 3, 4, 5]) << 11 | row),
                4 => (0x08, source << 17 | 2 << 12 | row),
                5 => (0x0A, source << 17 | 2 << 12 | row),
                6 => (0x0B, source << 17 | 2 << 12 | source),
                _ => (random.pick(&[0x16, 0x10]), 0),
            };
            bench.list.push(opcode, operands);
        }
        // What moves left in SrcA and SrcB shows here.
        bench.list.push(0x12, 2 << 12);
        bench.list.push(0x13, 4 << 11 | 8);
        let wide = index % 4 < 2;
        dump(bench, wide, &format!("recorded_moves/{index}"))
    });
    vectors.collect()
}
