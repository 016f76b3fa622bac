//! Throughput of the matrix unit in simulated instructions per second of host time.

mod surroundings;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isa::op::Opcode;
use sim_core::observer::Stamp;
use sim_core::{AgentId, CoreId, Cycle, ThreadId, Width};
use tensix::{Coprocessor, Origin, TimingModel};

use surroundings::Quiet;

const ORIGIN: Origin = Origin { core: CoreId::Trisc1, pc: 0x1000 };
const INSTRUCTIONS: u64 = 1_000;

fn issue(tensix: &mut Coprocessor, word: u32, count: u64, now: &mut u64) {
    let mut pushed = 0;
    while pushed < count || !tensix.is_asleep() {
        if pushed < count && tensix.push_credit(ThreadId::T1, false) > 0 {
            tensix
                .push(ThreadId::T1, false, word, ORIGIN, Cycle(*now), &mut Quiet)
                .expect("there is room");
            pushed += 1;
        }
        tensix.step(Cycle(*now), &mut Quiet).expect("the words are modelled");
        *now += 1;
    }
}

const fn word(opcode: Opcode, operands: u32) -> u32 {
    (opcode as u32) << 24 | operands
}

/// FP32 in Dst, BF16 in both sources, banks given to the matrix unit, irregular contents.
fn prepared(now: &mut u64) -> Coprocessor {
    let mut tensix = Coprocessor::new(TimingModel::Unit);
    let agent = AgentId::Core(CoreId::Trisc1);
    let at = Stamp { cycle: Cycle::ZERO, agent, pc: 0 };
    tensix
        .write_config(1, 5 << 17 | 5 << 21 | 1 << 29, at, &mut Quiet)
        .expect("a configuration word");
    for datum in 0..1024u32 {
        let value = (1.0 + (datum % 97) as f32 * 0.37) * if datum % 3 == 0 { -1.0 } else { 1.0 };
        tensix
            .write_dst_window(ThreadId::T1, datum * 4, value.to_bits(), Width::Word)
            .expect("a datum of Dst");
    }
    // Formats from the register, then four rows at a time into both sources.
    issue(&mut tensix, word(Opcode::Setc16, 2 << 16 | 1), 1, now);
    issue(&mut tensix, word(Opcode::Setc16, 3 << 16 | 1), 1, now);
    for row in (0..64).step_by(4) {
        for opcode in [Opcode::Movd2a, Opcode::Movd2b] {
            issue(&mut tensix, word(opcode, row | 2 << 12 | row << 17), 1, now);
        }
    }
    issue(&mut tensix, word(Opcode::Setdvalid, 3), 1, now);
    tensix
}

fn matrix(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("matrix");
    group.throughput(Throughput::Elements(INSTRUCTIONS));
    for (name, word) in [
        ("mvmul", word(Opcode::Mvmul, 0)),
        ("elwadd", word(Opcode::Elwadd, 1 << 21)),
        ("elwmul", word(Opcode::Elwmul, 0)),
        ("gmpool", word(Opcode::Gmpool, 1 << 19)),
        ("mova2d", word(Opcode::Mova2d, 2 << 12)),
    ] {
        let mut now = 0;
        let mut tensix = prepared(&mut now);
        group.bench_function(name, |bencher| {
            bencher.iter(|| issue(black_box(&mut tensix), word, INSTRUCTIONS, &mut now));
        });
    }
    group.finish();
}

criterion_group!(benches, matrix);
criterion_main!(benches);
