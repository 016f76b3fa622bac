//! `PACR` of 64 datums, in instructions per second of host time.

mod surroundings;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isa::config::{ConfigField, field};
use sim_core::observer::Stamp;
use sim_core::{AgentId, CoreId, Cycle, ThreadId};
use tensix::{Coprocessor, Origin, TimingModel};

use surroundings::Memory;

const INSTRUCTIONS: u64 = 1_000;
const ORIGIN: Origin = Origin { core: CoreId::Trisc0, pc: 0x1000 };

/// Four rows per instruction to address 0x10010, a new tile with each.
fn packer(wide: bool, input: u32, output: u32) -> (Coprocessor, Memory) {
    let (mut tensix, mut memory) = (Coprocessor::new(TimingModel::Unit), Memory::default());
    let at = Stamp { cycle: Cycle(0), agent: AgentId::Host, pc: 0 };
    let mut set = |fields: &[(&ConfigField, u32)]| {
        let word = fields.iter().fold(0, |word, (field, value)| field.insert(word, *value));
        tensix.write_config(fields[0].0.addr32, word, at, &mut memory).expect("inside the window");
    };
    set(&[(&field::ALU_FORMAT_SPEC_REG2_Dstacc, input)]);
    set(&[(&field::PCK_DEST_RD_CTRL_Read_32b_data, u32::from(wide))]);
    set(&[(&field::THCON_SEC0_REG1_L1_Dest_addr, 0x1000)]);
    set(&[
        (&field::THCON_SEC0_REG1_In_data_format, input),
        (&field::THCON_SEC0_REG1_Out_data_format, output),
    ]);
    set(&[(&field::PCK_EDGE_OFFSET_SEC0_mask, 0xFFFF)]);
    let counters = isa::encode::setadcxx(0, 15, 4);
    let push = tensix.push(ThreadId::T0, false, counters, ORIGIN, Cycle(0), &mut memory);
    push.expect("there is room");
    for cycle in 0..8 {
        tensix.step(Cycle(cycle), &mut memory).expect("defined");
    }
    (tensix, memory)
}

fn pack(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pack");
    group.throughput(Throughput::Elements(INSTRUCTIONS));
    for (name, wide, input, output) in [
        ("bf16", false, 5, 5),
        ("fp32", true, 0, 0),
        ("bf16_to_bfp8", false, 5, 6),
        ("fp32_to_fp16", true, 0, 1),
    ] {
        let (mut tensix, mut memory) = packer(wide, input, output);
        let mut now = 8;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut pushed = 0;
                while pushed < INSTRUCTIONS {
                    if tensix.push_credit(ThreadId::T0, false) > 0 {
                        // PACR with Last.
                        let word = black_box(0x4100_0001);
                        let at = Cycle(now);
                        let push = tensix.push(ThreadId::T0, false, word, ORIGIN, at, &mut memory);
                        push.expect("there is room");
                        pushed += 1;
                    }
                    tensix.step(Cycle(now), &mut memory).expect("defined");
                    now += 1;
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, pack);
criterion_main!(benches);
