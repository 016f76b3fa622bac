//! Memory instructions of the scalar unit, the mover, and what waits for them. Expected values
//! are worked by hand from the instruction pages of the Wormhole tree named at each test.

mod common;

use common::Bench;
use sim_core::{ThreadId, WaitReason, Width};
use tensix::{TdmaCommand, TimingModel};

use ThreadId::{T0, T1};

fn bench() -> Bench {
    Bench::new(TimingModel::Unit)
}

/// Registers by number, for thread 0.
fn set(bench: &mut Bench, gprs: &[(u32, u32)]) {
    for &(gpr, value) in gprs {
        bench.tensix.write_gpr(T0, gpr, value);
    }
}

fn gpr(bench: &Bench, index: u32) -> u32 {
    bench.tensix.read_gpr(T0, index)
}

fn fill(bench: &Bench, addr: u32, words: &[u32]) {
    for (offset, &word) in (0..).step_by(4).zip(words) {
        bench.env.l1.write(addr + offset, word, Width::Word);
    }
}

fn words<const N: usize>(bench: &Bench, addr: u32) -> [u32; N] {
    std::array::from_fn(|i| bench.env.l1.word(addr + 4 * i as u32))
}

/// LOADIND: size, offset half register, increment, result register, address register.
const fn loadind(size: u32, half: u32, increment: u32, result: u32, addr: u32) -> u32 {
    0x49 << 24 | size << 22 | half << 14 | increment << 12 | result << 6 | addr
}

/// STOREIND: mode and size as bits 23:21, the rest as LOADIND.
const fn storeind(mode: u32, half: u32, increment: u32, data: u32, addr: u32) -> u32 {
    0x66 << 24 | mode << 21 | half << 14 | increment << 12 | data << 6 | addr
}

#[test]
fn loadind_loads_every_size_and_advances_its_offset() {
    // [isa-wh: LOADIND.md]; base register 1 counts 16-byte units, half register 5 is the high half
    // of register 2.
    let mut bench = bench();
    fill(&bench, 0x200, &[0x1111_2222, 0x3333_4444, 0x5555_6666, 0x7777_8888]);
    set(&mut bench, &[(1, 0x20), (2, 0x0007_ABCD), (8, u32::MAX), (9, u32::MAX)]);
    bench.run(&[loadind(2, 5, 1, 8, 1), loadind(3, 5, 3, 9, 1)]).expect("modelled");
    assert_eq!(gpr(&bench, 8), 0xFFFF_3333);
    assert_eq!(gpr(&bench, 9), 0xFFFF_FF66);
    assert_eq!(gpr(&bench, 2), 0x0019_ABCD);
    bench.run(&[loadind(1, 12, 2, 10, 1), loadind(0, 12, 0, 18, 1)]).expect("modelled");
    assert_eq!((gpr(&bench, 10), gpr(&bench, 6)), (0x1111_2222, 4));
    let loaded = [16, 17, 18, 19].map(|index| gpr(&bench, index));
    assert_eq!(loaded, [0x1111_2222, 0x3333_4444, 0x5555_6666, 0x7777_8888]);
}

#[test]
fn loadind_beyond_l1_is_undefined() {
    let mut bench = bench();
    set(&mut bench, &[(1, 0x18_0000 / 16)]);
    let error = bench.run(&[loadind(1, 4, 0, 8, 1)]).expect_err("beyond L1");
    assert_eq!(error.id, "tensix-l1-address");
}

#[test]
fn storeind_stores_every_size_to_l1() {
    // [isa-wh: STOREIND_L1.md]
    let mut bench = bench();
    set(&mut bench, &[(1, 0x30), (8, 0xA0A1_A2A3), (9, 0xB0B1_B2B3), (10, 0xC0), (11, 0xD0)]);
    bench.run(&[storeind(0b100, 4, 3, 9, 1)]).expect("modelled");
    assert_eq!(words(&bench, 0x300), [0xA0A1_A2A3, 0xB0B1_B2B3, 0xC0, 0xD0]);
    let narrow = [storeind(0b101, 4, 2, 9, 1), storeind(0b110, 4, 1, 9, 1)];
    bench.run(&narrow).expect("modelled");
    bench.run(&[storeind(0b111, 4, 0, 9, 1)]).expect("modelled");
    assert_eq!(words(&bench, 0x310), [0xB0B1_B2B3, 0x00B3_B2B3]);
    assert_eq!(gpr(&bench, 2), 0x16);
}

#[test]
fn storeind_and_storereg_reach_registers() {
    // [isa-wh: STOREIND_MMIO.md]: the offset counts sixteenths; [isa-wh: STOREREG.md].
    let mut bench = bench();
    set(&mut bench, &[(1, 0x4_0000), (2, 0x240), (3, 0x1234)]);
    bench.run(&[storeind(0b010, 4, 3, 3, 1)]).expect("modelled");
    let storereg = 0x67 << 24 | 3 << 18 | (0x4_0010 >> 2);
    bench.run(&[storereg]).expect("modelled");
    assert_eq!(bench.env.register_stores, [(0xFFB4_0024, 0x1234), (0xFFB4_0010, 0x1234)]);
    assert_eq!(gpr(&bench, 2), 0x250);
    let low = bench.run(&[0x67 << 24 | (0x1_0FFC >> 2)]).expect_err("local RAM");
    assert_eq!(low.id, "tensix-register-address");
}

#[test]
fn loadreg_is_outstanding_until_delivered() {
    // [isa-wh: LOADREG.md]: STALLWAIT with C0 waits for the answer, and so does TTSync.
    let mut bench = bench();
    let loadreg = 0x68 << 24 | 7 << 18 | (0x4_0010 >> 2);
    let stallwait = isa::encode::stallwait(1, 0x20);
    bench.run(&[loadreg, stallwait, isa::encode::adddmareg(8, 7, 7, 0)]).expect("modelled");
    assert_eq!(bench.env.register_loads, [(T0, 7, 0xFFB4_0010)]);
    assert!(!bench.tensix.thread_idle(T0));
    let wait = bench.tensix.wait_state(T0).expect("waits");
    assert_eq!(wait.reason, WaitReason::Stall { conditions: 1 });
    bench.tensix.deliver_register(T0, 7, 21);
    bench.settle(10).expect("modelled");
    assert!(bench.tensix.thread_idle(T0));
    assert_eq!(gpr(&bench, 7), 21);
}

#[test]
fn storeind_to_src_waits_for_the_unpackers_bank() {
    // [isa-wh: STOREIND_Src.md]: SrcB row 2, second group of four columns. Nothing to wait for
    // after power-on.
    let mut bench = bench();
    set(&mut bench, &[(1, 2 << 2 | 1), (8, 0x3F80_807F), (9, 0xC000_0080)]);
    bench.run(&[storeind(0b001, 4, 0, 8, 1)]).expect("modelled");
    assert!(bench.tensix.thread_idle(T0));
    let beyond = bench.run(&[storeind(0b001, 4, 0, 8, 8)]).expect_err("no such row");
    assert_eq!(beyond.id, "tensix-storeind-row");
}

#[test]
fn atincget_adds_within_its_width() {
    // [isa-wh: ATINCGET.md]: width field 7 means eight bits, word 2 of the unit.
    let mut bench = bench();
    fill(&bench, 0x108, &[0xABCD_EFFE]);
    set(&mut bench, &[(1, 0x10), (2, 5)]);
    bench.run(&[0x61 << 24 | 7 << 14 | 2 << 12 | 2 << 6 | 1]).expect("modelled");
    assert_eq!(words(&bench, 0x108), [0xABCD_EF03]);
    assert_eq!(gpr(&bench, 2), 0xABCD_EFFE);
}

#[test]
fn atswap_stores_selected_halves() {
    // [isa-wh: ATSWAP.md]: with SingleDataReg (bit 22) the other words are zero.
    let mut bench = bench();
    fill(&bench, 0x100, &[u32::MAX; 4]);
    set(&mut bench, &[(1, 0x10), (4, 0x1111_2222), (5, 0x3333_4444), (7, 0x7777_8888)]);
    bench.run(&[0x63 << 24 | 0b1000_0101 << 14 | 5 << 6 | 1]).expect("modelled");
    assert_eq!(words(&bench, 0x100), [0xFFFF_2222, 0xFFFF_4444, u32::MAX, 0x7777_FFFF]);
    bench.run(&[0x63 << 24 | 1 << 22 | 0xFF << 14 | 5 << 6 | 1]).expect("modelled");
    assert_eq!(words(&bench, 0x100), [0, 0x3333_4444, 0, 0]);
}

/// ATCAS: new value, expected value, word, address register.
const fn atcas(new: u32, expected: u32, word: u32, addr: u32) -> u32 {
    0x64 << 24 | new << 18 | expected << 14 | word << 12 | addr
}

#[test]
fn atcas_keeps_the_unit_until_the_value_is_there() {
    // [isa-wh: ATCAS.md], [isa-wh: ScalarUnit.md]: no thread gets a scalar instruction through.
    let mut bench = bench();
    set(&mut bench, &[(1, 0x10)]);
    bench.run(&[atcas(9, 3, 1, 1), isa::encode::sempost(1)]).expect("modelled");
    bench.push(T1, isa::encode::dmanop()).expect("room");
    bench.settle(100).expect("modelled");
    assert!(bench.tensix.is_asleep());
    let reason = bench.tensix.wait_state(T0).expect("waits").reason;
    assert_eq!(reason, WaitReason::L1Word { addr: 0x104 });
    assert_eq!(bench.tensix.watched_l1(), Some(0x104));
    assert!(!bench.tensix.thread_idle(T1));
    fill(&bench, 0x104, &[3]);
    bench.tensix.wake();
    bench.settle(100).expect("modelled");
    assert_eq!(words(&bench, 0x104), [9]);
    assert!(bench.tensix.thread_idle(T0) && bench.tensix.thread_idle(T1));
    assert_eq!(bench.tensix.read_semaphore(0), 1);
}

#[test]
fn atcas_alone_still_shows_what_it_waits_for() {
    let mut bench = bench();
    bench.run(&[atcas(1, 1, 0, 1)]).expect("modelled");
    let wait = bench.tensix.wait_state(T0).expect("waits");
    assert_eq!((wait.reason, wait.word), (WaitReason::L1Word { addr: 0 }, atcas(1, 1, 0, 1)));
    assert!(!bench.tensix.thread_idle(T0));
}

#[test]
fn documented_atcas_tries_every_fifteen_cycles() {
    let mut bench = Bench::new(TimingModel::Documented);
    bench.push(T0, atcas(1, 2, 0, 1)).expect("room");
    for _ in 0..20 {
        bench.step().expect("modelled");
    }
    let issued = bench.issued()[0].0;
    fill(&bench, 0, &[2]);
    bench.tensix.wake();
    while bench.env.l1.word(0) == 2 {
        bench.step().expect("modelled");
    }
    assert_eq!((bench.now - 1 - issued) % 15, 0);
}

#[test]
fn atincgetptr_pushes_and_pops() {
    // [isa-wh: ATINCGETPTR.md]: three-bit counters, so four entries; push one, then pop two.
    let mut bench = bench();
    fill(&bench, 0x100, &[6, 1]);
    set(&mut bench, &[(1, 0x10)]);
    let push = 0x62 << 24 | 3 << 14 | 1 << 12 | 2 << 6 | 1;
    let pop = 0x62 << 24 | 1 << 18 | 3 << 14 | 3 << 6 | 1;
    bench.run(&[push, pop]).expect("modelled");
    assert_eq!(words(&bench, 0x100), [0, 2]);
    assert_eq!((gpr(&bench, 2), gpr(&bench, 3)), (1, 6));
    // Only looking does not advance.
    bench.run(&[pop | 1 << 22]).expect("modelled");
    assert_eq!((words(&bench, 0x100), gpr(&bench, 3)), ([0, 2], 0));
}

#[test]
fn reg2flop_moves_to_address_counters() {
    // [isa-wh: REG2FLOP_ADC.md]: 16 bits to unpacker 1, channel 1, Y; then 8 bits of byte 3 to the
    // copy of X of unpacker 0, channel 0, of thread 0 although thread 1 asks.
    let mut bench = bench();
    bench.tensix.write_gpr(T0, 4, 0x1234_0456);
    bench.tensix.write_gpr(T1, 4, 0x7F00_0000);
    bench.run(&[0x48 << 24 | 2 << 22 | 2 << 20 | 1 << 11 | 1 << 9 | 1 << 6 | 4]).expect("modelled");
    let word = 0x48 << 24 | 3 << 22 | 3 << 20 | 3 << 18 | 1 << 8 | 4;
    bench.push(T1, word).expect("room");
    bench.settle(10).expect("modelled");
    assert_eq!(bench.tensix.debug_bus(0x2006_0003 | 2 << 25), Some(0x0456));
    assert_eq!(bench.tensix.debug_bus(0x2006_0000), Some(0x7F << 18));
}

#[test]
fn xmov_copies_as_configured() {
    // [isa-wh: XMOV.md]: addresses and size in 16-byte units; direction 3 is L1 to L1.
    let mut bench = bench();
    fill(&bench, 0x400, &[1, 2, 3, 4, 5, 6, 7, 8]);
    let at = bench.stamp();
    for (word, value) in [(88, 0x40), (89, 0x80), (90, 2 | 3 << 30)] {
        bench.tensix.write_config(word, value, at, &mut bench.env).expect("there is such a word");
    }
    bench.run(&[isa::encode::xmov(0, 0)]).expect("modelled");
    assert_eq!(words(&bench, 0x800), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(bench.tensix.warnings(), []);
}

#[test]
fn xmov_of_block_1_reads_the_second_section_and_warns() {
    // [llk: instructions/assembly.yaml] bit 23 "Select between two move blocks"; the fields of
    // section 1 are words 136 to 138 [hdr: cfg_defines.h, THCON_SEC1_REG6].
    let mut bench = bench();
    fill(&bench, 0x400, &[1, 2, 3, 4]);
    let at = bench.stamp();
    for (word, value) in [(136, 0x40), (137, 0x90), (138, 1 | 3 << 30)] {
        bench.tensix.write_config(word, value, at, &mut bench.env).expect("there is such a word");
    }
    bench.run(&[0x4080_0000]).expect("modelled");
    assert_eq!(words(&bench, 0x900), [1, 2, 3, 4]);
    let warnings: Vec<_> = bench.tensix.warnings().iter().map(|warning| warning.id).collect();
    assert_eq!(warnings, ["tensix-xmov-block"]);
}

#[test]
fn documented_xmov_keeps_c9_unmet_while_it_moves() {
    // Eight units take 11 cycles [isa-wh: Mover.md]; C9 is the mover [isa-bh: STALLWAIT.md].
    let mut bench = Bench::new(TimingModel::Documented);
    let at = bench.stamp();
    for (word, value) in [(88, 0x40), (89, 0x80), (90, 8 | 3 << 30)] {
        bench.tensix.write_config(word, value, at, &mut bench.env).expect("there is such a word");
    }
    let words =
        [isa::encode::xmov(0, 0), isa::encode::stallwait(1 << 9, 2), isa::encode::sempost(1)];
    bench.run(&words).expect("modelled");
    let issued = bench.issued();
    assert_eq!(issued[2].0 - issued[0].0, 12);
}

#[test]
fn tdma_commands_run_in_order() {
    // [isa-wh: TDMA-RISC.md]: zero 32 bytes of configuration, wait, write 64 bits of L1.
    let mut bench = bench();
    let at = bench.stamp();
    bench.tensix.write_config(20, 0xFFFF, at, &mut bench.env).expect("there is such a word");
    let command = |word, parameters| TdmaCommand { word, parameters, base: 0 };
    let words = [
        command(0x40, [0, 20 * 4 / 16, 2, 2]),
        command(0x8000_0046, [0; 4]),
        command(0x66 | 0x700, [0x200, 0, 0x1111, 0x2222]),
    ];
    assert_eq!(bench.tensix.tdma_status(sim_core::Cycle(0)), 0x428);
    for word in words {
        bench.tensix.push_tdma(word, at).expect("room");
    }
    assert_eq!(bench.tensix.tdma_status(sim_core::Cycle(0)), 0x110);
    bench.settle(100).expect("modelled");
    assert_eq!(bench.tensix.read_config(20), Some(0));
    assert_eq!([bench.env.l1.word(0x200), bench.env.l1.word(0x204)], [0x1111, 0x2222]);
    assert_eq!(bench.tensix.tdma_status(sim_core::Cycle(bench.now)), 0x428);
}

#[test]
fn tdma_third_command_with_parameters_is_refused() {
    let mut bench = Bench::new(TimingModel::Documented);
    let at = bench.stamp();
    let command = TdmaCommand { word: 0x40, parameters: [0, 0x100, 8, 3], base: 0 };
    bench.tensix.push_tdma(command, at).expect("room");
    bench.tensix.push_tdma(command, at).expect("room");
    let error = bench.tensix.push_tdma(command, at).expect_err("no credits");
    assert_eq!(error.id, "tdma-parameters");
}
