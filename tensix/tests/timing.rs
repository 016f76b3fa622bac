//! `TimingModel::Documented` against the figures of the documents: how many cycles lie between one
//! instruction and the next.

use isa::config::{ConfigField, Scope, field};
use isa::encode;
use isa::op::Opcode;
use sim_core::ThreadId;
use tensix::TimingModel;

mod common;
use common::Bench;

const T0: ThreadId = ThreadId::T0;

const fn op(opcode: Opcode, bits: u32) -> u32 {
    (opcode as u32) << 24 | bits
}

fn set(bench: &mut Bench, fields: &[(ConfigField, u32)]) {
    let at = bench.stamp();
    for (field, value) in fields {
        if field.scope == Scope::Thread {
            bench.run(&[encode::setc16(field.insert(0, *value), field.addr32)]).expect("modelled");
        } else {
            let old = bench.tensix.read_config(field.addr32).expect("a word");
            let word = field.insert(old, *value);
            bench.tensix.write_config(field.addr32, word, at, &mut bench.env).expect("a word");
        }
    }
}

/// A coprocessor whose matrix unit has both sources, in BF16.
fn bench() -> Bench {
    let mut bench = Bench::new(TimingModel::Documented);
    bench.run(&[encode::setdvalid(3)]).expect("modelled");
    set(
        &mut bench,
        &[
            (field::DISABLE_IMPLIED_SRCA_FMT_Base, 1),
            (field::DISABLE_IMPLIED_SRCB_FMT_Base, 1),
            (field::ALU_FORMAT_SPEC_REG0_SrcA, 5),
            (field::ALU_FORMAT_SPEC_REG1_SrcB, 5),
            (field::ALU_FORMAT_SPEC_REG2_Dstacc, 5),
            (field::THCON_SEC0_REG1_In_data_format, 5),
            (field::THCON_SEC0_REG1_Out_data_format, 5),
        ],
    );
    bench
}

/// Cycles between each of those instructions and the next, all in the FIFO before the first issues.
fn gaps(bench: &mut Bench, words: &[u32]) -> Vec<u64> {
    bench.settle(1000).expect("modelled");
    bench.now += 100;
    let before = bench.issued().len();
    for &word in words {
        bench.push(T0, word).expect("there is room");
    }
    bench.settle(10_000).expect("modelled");
    let cycles: Vec<u64> = bench.issued()[before..].iter().map(|issue| issue.0).collect();
    assert_eq!(cycles.len(), words.len());
    cycles.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The last gap.
fn gap(bench: &mut Bench, words: &[u32]) -> u64 {
    *gaps(bench, words).last().expect("two instructions")
}

#[test]
fn accumulation_over_five_blocks_of_dst_never_stalls_and_over_fewer_does() {
    // "software needs to be looping over at least five distinct 8x16 blocks of Dst to avoid being
    // stalled"; four cycles without [isa-bh: TensixCoprocessor/Dst.md].
    let over =
        |blocks: u32| (0..10).map(|i| op(Opcode::Elwmul, i % blocks * 8)).collect::<Vec<_>>();
    assert_eq!(gaps(&mut bench(), &over(5)), [1; 9]);
    assert_eq!(gaps(&mut bench(), &over(4)), [1, 1, 1, 2, 1, 1, 1, 2, 1]);
    assert_eq!(gaps(&mut bench(), &over(1)), [5; 9]);
    // ELWADD without accumulation does not read.
    assert_eq!(gaps(&mut bench(), &[op(Opcode::Elwadd, 0); 3]), [1, 1]);
}

#[test]
fn matrix_unit_takes_after_a_move_what_its_page_says() {
    use Opcode::{Elwadd, Elwmul, Mova2d, Movb2a, Movb2d, Movd2a, Movd2b, Setrwc, Shiftxa};
    for (first, next, cycles) in [
        // [isa-wh: TensixCoprocessor/MOVD2A.md], MOVD2B.md, MOVA2D.md, MOVB2D.md.
        (Movd2a, Movd2a, 1),
        (Movd2a, Movb2a, 1),
        (Movd2a, Setrwc, 2),
        (Movd2b, Movd2b, 1),
        (Movd2b, Movd2a, 4),
        (Movd2b, Setrwc, 4),
        (Mova2d, Setrwc, 1),
        (Mova2d, Elwadd, 1),
        (Mova2d, Movd2b, 4),
        (Movb2d, Elwmul, 4),
    ] {
        // Another block of Dst than the first one, for the rule to be the only one.
        let bits = if matches!(next, Setrwc | Shiftxa) { 0 } else { 64 };
        let words = [op(first, 0), op(next, bits)];
        assert_eq!(gap(&mut bench(), &words), cycles, "{first:?} {next:?}");
    }
    assert_eq!(gap(&mut bench(), &[op(Opcode::Shiftxb, 0), op(Setrwc, 0)]), 2);
}

#[test]
fn vector_unit_waits_for_late_results_except_where_hardware_forgets() {
    // SFPMAD of L0, L1, L2 to L3 [isa-bh: TensixCoprocessor/SFPMAD.md].
    let mad = op(Opcode::Sfpmad, 1 << 12 | 2 << 8 | 3 << 4);
    let mov = |vc: u32| op(Opcode::Sfpmov, vc << 8 | 5 << 4);
    for (next, cycles) in [
        (mov(3), 2),
        (mov(2), 1),
        (op(Opcode::Sfpstore, 3 << 20), 2),
        // Mode 5 reads VB and is thought to read VD.
        (op(Opcode::Sfpshft2, 3 << 12 | 6 << 8 | 5 << 4 | 5), 1),
        (op(Opcode::Sfpshft2, 2 << 12 | 6 << 8 | 3 << 4 | 5), 2),
        (op(Opcode::Sfpiadd, 6 << 8 | 3 << 4), 1),
        (op(Opcode::Sfpshft, 6 << 8 | 3 << 4), 1),
        (op(Opcode::Sfpxor, 6 << 8 | 3 << 4), 2),
        (op(Opcode::Sfpnop, 0), 1),
    ] {
        assert_eq!(gap(&mut bench(), &[mad, next]), cycles, "{next:#x}");
    }
    // SFPMAD_MOD1_INDIRECT_VD: every register.
    assert_eq!(gap(&mut bench(), &[mad | 8, mov(6)]), 2);
    // [isa-wh: TensixCoprocessor/SFPSWAP.md]
    let swap = op(Opcode::Sfpswap, 1 << 8 | 2 << 4);
    assert_eq!(gap(&mut bench(), &[swap, op(Opcode::Sfpnop, 0)]), 1);
    assert_eq!(gap(&mut bench(), &[swap, mov(6)]), 2);
}

/// 256 BF16, uncompressed, from address 0 to SrcA, at a speed.
fn unpacking(throttle_mode: u32) -> Bench {
    let mut bench = Bench::new(TimingModel::Documented);
    set(
        &mut bench,
        &[
            // Format 5, uncompressed, 256 datums in a row.
            (
                ConfigField { width: 32, ..field::THCON_SEC0_REG0_TileDescriptor },
                5 | 1 << 4 | 256 << 16,
            ),
            (field::THCON_SEC0_REG2_Out_data_format, 5),
            (field::THCON_SEC0_REG2_Throttle_mode, throttle_mode),
            // Four rows of SrcA's address space are nowhere.
            (field::UNP0_ADDR_BASE_REG_1_Base, 4 * 16 * 2),
            (field::UNP0_ADDR_CTRL_XY_REG_1_Ystride, 0),
        ],
    );
    bench.run(&[encode::setadcxx(0, 255, 3)]).expect("modelled");
    bench
}

#[test]
fn unpacker_fetches_512_bytes_in_32_16_or_8_cycles_after_two_for_the_address() {
    // STALLWAIT of everything until unpacker 0 is idle (C1), then MOVA2D.
    let idle = encode::stallwait(1 << 1, 0x1FF);
    for (throttle_mode, fetch) in [(0, 32), (1, 16), (2, 8)] {
        let unpack = op(Opcode::Unpacr, 1 << 6);
        let words = [unpack, idle, encode::setrwc(0, 0, 0, 0, 0, 0)];
        let [address, wait] = gaps(&mut unpacking(throttle_mode), &words)[..] else { panic!() };
        // The wait instruction is met in the cycle in which the unit is idle and lets go in the next.
        assert_eq!((address, wait), (2, fetch + 1), "mode {throttle_mode}");
        // The matrix unit has SrcA when the last datum is there.
        let words = [unpack, op(Opcode::Mova2d, 0)];
        assert_eq!(gap(&mut unpacking(throttle_mode), &words), 2 + fetch, "mode {throttle_mode}");
    }
}

#[test]
fn packer_writes_64_bytes_per_cycle_and_waits_for_dst() {
    let mut bench = bench();
    bench.run(&[encode::setadcxx(0, 15, 4)]).expect("modelled");
    // 64 BF16 are 128 bytes.
    assert_eq!(gaps(&mut bench, &[op(Opcode::Pacr, 0); 3]), [2, 2]);
    // Rows that have just been written [isa-bh: TensixCoprocessor/Dst.md], and others.
    assert_eq!(gap(&mut bench, &[op(Opcode::Elwadd, 0), op(Opcode::Pacr, 0)]), 5);
    assert_eq!(gap(&mut bench, &[op(Opcode::Elwadd, 64), op(Opcode::Pacr, 0)]), 1);
    // One 128-bit atomic accumulate every five cycles [isa-wh: TensixTile/L1.md].
    set(&mut bench, &[(field::THCON_SEC0_REG1_Pack_L1_Acc, 1)]);
    assert_eq!(gaps(&mut bench, &[op(Opcode::Pacr, 0); 3]), [10, 10]);
}

#[test]
fn atomic_increment_is_sustained_every_twelve_cycles() {
    // [isa-wh: TensixCoprocessor/ATINCGET.md]
    let increment = op(Opcode::Atincget, 2 << 6 | 1);
    assert_eq!(gaps(&mut bench(), &[increment; 3]), [12, 12]);
    assert_eq!(gap(&mut bench(), &[increment, encode::dmanop()]), 3);
}

#[test]
fn table_in_the_documents_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/timing.md");
    let page = std::fs::read_to_string(path).expect("docs/timing.md");
    let (introduction, table) = page.split_at(page.find("| instructions |").expect("a table"));
    let wanted = tensix::timing::markdown();
    if std::env::var_os("TILESCOPE_WRITE_TIMING").is_some() {
        std::fs::write(path, format!("{introduction}{wanted}")).expect("written");
    } else {
        assert_eq!(table, wanted, "TILESCOPE_WRITE_TIMING=1 cargo test -p tensix --test timing");
    }
}
