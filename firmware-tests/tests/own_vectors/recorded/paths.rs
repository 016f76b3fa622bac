//! The ways of data: every pair of formats of the unpackers, every conversion of the packer with
//! ReLU and edge masks, accumulation in L1.

use serde_json::Value;

use super::bench::{
    BF16, BFP2, BFP4, BFP8, Bench, FACE, FP8, FP16, FP32, INT8, INT16, INT32, ROWS, TF32, face,
    words,
};
use super::random::Random;
use crate::program::OUT;

/// Formats in L1 and in SrcA or SrcB `[spec: numerics 2]`.
const UNPACKED: [[u32; 2]; 11] = [
    [FP32, FP16],
    [FP32, TF32],
    [FP32, BF16],
    [FP16, FP16],
    [BF16, BF16],
    [BFP8, BFP8],
    [BFP4, BFP4],
    [BFP2, BFP2],
    [INT16, INT16],
    [FP8, FP8],
    [INT8, INT8],
];

/// BFP8a as the packer's intermediate format.
const BFP8A: u32 = 2;

/// `PCK_DEST_RD_CTRL`, intermediate format, format in L1 `[spec: numerics 4.3]`.
const PACKED: [(u32, [u32; 2]); 25] = [
    (0, [FP16, FP32]),
    (0, [FP16, FP16]),
    (0, [FP16, BF16]),
    (0, [FP16, FP8]),
    (0, [BFP8A, BFP8]),
    (0, [BF16, FP32]),
    (0, [BF16, BF16]),
    (0, [BF16, BFP8]),
    (0, [BF16, BFP4]),
    (0, [BF16, BFP2]),
    (0, [BFP8, BFP8]),
    (0, [BFP8, BFP4]),
    (0, [INT16, INT16]),
    (1, [FP32, FP32]),
    (1, [FP32, FP16]),
    (1, [FP32, BFP8]),
    (1, [FP32, BFP4]),
    (1, [FP32, BFP2]),
    (9, [FP16, FP16]),
    (1, [BF16, BF16]),
    (1, [BFP8, BFP8]),
    (1, [BFP8, BFP4]),
    (1, [INT32, INT32]),
    (1, [INT8, INT8]),
    (3, [INT8, INT8]),
];

/// Both unpackers, every pair, seen through Dst as TF32 (all 19 bits) with flushing off.
pub(super) fn unpack() -> Vec<Value> {
    let mut random = Random::new(3001);
    let mut vectors = Vec::new();
    for unpacker in 0..2 {
        for pair in UNPACKED {
            let mut bench = Bench::new();
            bench.fill_dst(&vec![0; FACE]);
            let input = face(&mut random, pair[0]);
            bench.fill_source(unpacker, pair, input);
            // The other bank belongs to the matrix unit as well then.
            let input = face(&mut random, BF16);
            bench.fill_source(1 - unpacker, [BF16, BF16], input);
            bench.formats(TF32, TF32, 1 << 29);
            bench.config(2, 1);
            for row in [0, 8] {
                match unpacker {
                    0 => bench.list.push(0x12, row << 17 | 2 << 12 | row),
                    _ => {
                        bench.list.push(0x13, row << 17 | 4 << 11 | row);
                        bench.list.push(0x13, (row + 4) << 17 | 4 << 11 | (row + 4));
                    }
                }
            }
            bench.dump_words(ROWS);
            let name = format!("recorded_unpack/{unpacker}/{}_{}", pair[0], pair[1]);
            vectors.push(bench.finish(&name));
        }
    }
    vectors
}

/// Bytes that the packer writes for `datums` of a format, with exponents in front.
const fn packed_bytes(format: u32, datums: usize) -> usize {
    match format {
        FP32 | INT32 => 4 * datums,
        FP16 | BF16 | INT16 => 2 * datums,
        BFP4 => 16 + datums / 2,
        BFP2 => 16 + datums / 4,
        _ => 16 + datums,
    }
}

/// Every conversion, plain, with ReLU, with edge masks.
pub(super) fn pack() -> Vec<Value> {
    let mut random = Random::new(3002);
    let mut vectors = Vec::new();
    for (read, [dst, to]) in PACKED {
        for variant in 0..3_u32 {
            let mut bench = Bench::new();
            let values: Vec<u32> = match dst {
                INT32 | INT8 => (0..FACE).map(|_| random.integer()).collect(),
                _ => random.words(FACE),
            };
            bench.fill_dst(&values);
            bench.plain_packer();
            // Eight-bit and narrower formats have one unit of 16 bytes for exponents in front.
            let exponents = packed_bytes(to, 0) as u32 / 16;
            bench.config(68, exponents << 16);
            // FP8 with four exponent bits.
            bench.config(71, 1 << 23);
            if variant == 1 {
                let eight = !matches!(dst, FP16 | BFP8A);
                let threshold = u32::from(random.half(if eight { 8 } else { 5 })) & 0x7FFF;
                let modes: &[u32] =
                    if matches!(dst, INT32 | INT8 | INT16) { &[1] } else { &[2, 3] };
                bench.config(2, threshold << 6 | random.pick(modes) << 2);
            }
            if variant == 2 {
                // The first column alone.
                bench.config(24, 1);
            }
            bench.pack(ROWS, read, [dst, to]);
            bench.compare(OUT, packed_bytes(to, FACE));
            vectors.push(bench.finish(&format!("recorded_pack/{read}_{dst}_{to}/{variant}")));
        }
    }
    vectors
}

/// Accumulation in L1 of the three formats that have it.
pub(super) fn accumulate() -> Vec<Value> {
    let mut random = Random::new(3003);
    let conversions = [(1, [FP32, FP32]), (1, [BF16, BF16]), (0, [BF16, BF16]), (0, [FP16, FP16])];
    let vectors = (0..16).map(|index| {
        let (read, [dst, to]) = conversions[index % 4];
        let mut bench = Bench::new();
        bench.fill_dst(&random.words(FACE));
        bench.plain_packer();
        bench.config(71, 1 << 19);
        let old = if to == FP32 { words(&random.words(FACE)) } else { face(&mut random, to) };
        bench.output_before(old);
        bench.pack(ROWS, read, [dst, to]);
        bench.compare(OUT, packed_bytes(to, FACE));
        bench.finish(&format!("recorded_accumulate/{index}"))
    });
    vectors.collect()
}
