//! What a call costs the session that is recorded.

use std::hint::black_box;
use std::path::PathBuf;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tape::{Call, Header, Options, TapeWriter};

/// A tape that goes where nothing is kept, so that the disk is not measured.
fn writer() -> TapeWriter {
    let path = PathBuf::from("/dev/null");
    TapeWriter::create(&path, &Header::default(), &Options::default()).expect("it can be written")
}

fn calls(c: &mut Criterion) {
    let mut group = c.benchmark_group("call");
    group.throughput(Throughput::Elements(1));
    let word = 0_u32.to_le_bytes();
    let mut tape = writer();
    let mut turn = 0_u64;
    group.bench_function("poll of one word", |b| {
        b.iter(|| {
            turn += 1;
            if turn.is_multiple_of(2) {
                tape.call(black_box(&Call::Clock { clocks: 1 }));
            } else {
                tape.call(black_box(&Call::MemRead { paddr: 0x1_2000_0040, bytes: &word }));
            }
        });
    });
    let mut tape = writer();
    group.bench_function("poll of 140 tiles in turn", |b| {
        b.iter(|| {
            turn += 1;
            let window = (turn / 3 % 140).to_le_bytes();
            tape.call(black_box(&match turn % 3 {
                0 => Call::MemWrite { paddr: 0x1_1FC0_0000, bytes: &window },
                1 => Call::MemRead { paddr: 0x1_2000_0040, bytes: &word },
                _ => Call::Clock { clocks: 1 },
            }));
        });
    });
    let mut tape = writer();
    group.bench_function("words that never repeat", |b| {
        b.iter(|| {
            turn += 1;
            let bytes = (turn as u32).wrapping_mul(0x9E37_79B9).to_le_bytes();
            tape.call(black_box(&Call::MemWrite {
                paddr: 0x1_2000_0000 + turn * 4,
                bytes: &bytes,
            }));
        });
    });
    let mut tape = writer();
    group.bench_function("eight words in any order", |b| {
        b.iter(|| {
            turn += 1;
            let any = turn.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61;
            tape.call(black_box(&Call::MemRead { paddr: 0x1_2000_0000 + any * 4, bytes: &word }));
        });
    });
    group.finish();
}

fn payloads(c: &mut Criterion) {
    const BYTES: usize = 1 << 20;
    let mut group = c.benchmark_group("payload of 1 MiB");
    group.throughput(Throughput::Bytes(BYTES as u64));
    let mut bytes: Vec<u8> = (0..BYTES).map(|at| (at as u32).wrapping_mul(77) as u8 & 15).collect();
    let mut tape = writer();
    group.bench_function("seen before", |b| {
        b.iter(|| tape.call(&Call::MemWrite { paddr: 0, bytes: black_box(&bytes) }));
    });
    let mut tape = writer();
    let mut turn = 0_u64;
    group.bench_function("new", |b| {
        b.iter(|| {
            turn += 1;
            for piece in bytes.chunks_mut(1 << 12) {
                piece[..8].copy_from_slice(&turn.to_le_bytes());
            }
            tape.call(&Call::MemWrite { paddr: 0, bytes: black_box(&bytes) });
        });
    });
    group.finish();
}

criterion_group!(benches, calls, payloads);
criterion_main!(benches);
