//! What cores see of the coprocessor beyond its instructions: Auto TTSync, and the packer's
//! metadata in TDMA-RISC.

mod debugger_support;

use debugger_support::*;
use sim_core::engine::EngineKind;
use sim_core::{AgentId, CoreId, NullObserver, WaitReason};
use tile::{Stop, Tile};

const PUSH: u32 = 0xFFE4_0000;
const GPRS: u32 = 0xFFE0_0000;
const TDMA: u32 = 0xFFB1_1000;
const SEMAPHORES: u32 = 0xFFE8_0000;
/// Configuration word that no other test of a fresh tile touches: `THCON_SEC0_REG1`, word 1.
const TARGET: u32 = 69;

fn li(register: u32, value: u32) -> [u32; 2] {
    let low = (value as i32) << 20 >> 20;
    [lui(register, value.wrapping_sub(low as u32)), addi(register, register, low)]
}

/// Pushes an instruction; register 10 holds the push window.
fn push(word: u32) -> Vec<u32> {
    let mut words = li(5, word).to_vec();
    words.push(sw(5, 10, 0));
    words
}

/// Stores 9 to GPR 4 behind a WRCFG of that register that the gate holds back.
fn overwriting(sync: u32) -> Vec<u32> {
    let mut words = vec![lui(10, PUSH), lui(11, GPRS), addi(5, 0, 7), sw(5, 11, 16)];
    words.extend(push(isa::encode::setc16(sync, 56)));
    words.extend(push(isa::encode::semwait(1, 1, 0x1FF)));
    words.extend([addi(0, 0, 0); 20]);
    words.extend(push(isa::encode::wrcfg(TARGET, 0, 4)));
    words.extend([addi(5, 0, 9), sw(5, 11, 16), lui(12, 0x2_0000), sw(5, 12, 0), j(0)]);
    words
}

/// Posts semaphore 0 after some hundred cycles.
fn posting() -> Vec<u32> {
    let mut words = vec![addi(0, 0, 0); 300];
    words.extend([lui(10, SEMAPHORES), sw(0, 10, 0x20), j(0)]);
    words
}

/// What WRCFG saw, after both programs have run on `engine`.
fn seen(sync: u32, engine: EngineKind) -> (Tile<NullObserver>, u32) {
    let programs: [&[u32]; 5] = [&[], &overwriting(sync), &posting(), &[], &[]];
    let mut tile = tile(programs, config(engine), NullObserver);
    run(&mut tile, 2000);
    let seen = tile.coprocessor().read_config(TARGET).expect("inside the window");
    (tile, seen)
}

#[test]
fn auto_ttsync_holds_a_store_until_the_instruction_has_read() {
    // [isa-bh: AutoTTSync.md]: "If the Tensix instruction reads the resource, it'll observe the
    // value from before the RISCV store."
    for engine in [EngineKind::Inline, EngineKind::Threads] {
        let (tile, with) = seen(0x14, engine);
        assert_eq!(with, 7);
        assert_eq!(tile.coprocessor().read_gpr(sim_core::ThreadId::T0, 4), 9);
        assert_eq!(tile.l1().word(0x2_0000), 9, "the core went on");
        let (_, without) = seen(0, engine);
        assert_eq!(without, 9, "the race that Auto TTSync is against");
    }
}

#[test]
fn held_store_names_its_thread() {
    let programs: [&[u32]; 5] = [&[], &overwriting(0x14), &[], &[], &[]];
    let mut tile = tile(programs, config(EngineKind::Inline), NullObserver);
    run(&mut tile, 1000);
    assert_eq!(tile.l1().word(0x2_0000), 0, "the store behind it waits too");
    let waits = tile.waits();
    let wait = waits.iter().find(|wait| wait.agent == AgentId::Core(CoreId::Trisc0));
    let thread = sim_core::ThreadId::T0;
    assert_eq!(wait.map(|wait| wait.reason), Some(WaitReason::CoprocessorBusy { thread }));
}

#[test]
fn load_of_an_empty_metadata_fifo_waits_and_says_so() {
    // [isa-wh: TensixTile/TDMA-RISC.md]: "Reading from memory locations which involve
    // MetadataFIFO.Peek() will automatically wait if said FIFO is empty."
    let program = [lui(10, TDMA), lw(5, 10, 0x30), j(0)];
    let mut tile = tile([&program, &[], &[], &[], &[]], config(EngineKind::Inline), NullObserver);
    let limit = tile.now() + 500;
    assert!(matches!(tile.run(limit, None), Stop::Quiescent(_)));
    let waits = tile.waits();
    let wait = waits.iter().find(|wait| wait.agent == AgentId::Core(CoreId::Brisc));
    assert_eq!(wait.map(|wait| wait.reason), Some(WaitReason::PackerMetadata));
}

#[test]
fn metadata_registers_show_a_packed_tile() {
    // 16 datums of BF16 are two blocks of 16 bytes [isa-wh: TDMA-RISC.md]. PACR with Last and one
    // read interface; formats 5 (BF16), tile to the metadata FIFO (bit 14 of THCON_SEC0_REG1).
    let mut words = vec![lui(10, PUSH), lui(11, 0xFFEF_0000), lui(13, TDMA)];
    let mut set = |word: u32, value: u32| {
        words.extend(li(5, value));
        words.push(sw(5, 11, word as i32 * 4));
    };
    let dstacc = isa::config::field::ALU_FORMAT_SPEC_REG2_Dstacc;
    set(dstacc.addr32, dstacc.insert(0, 5));
    set(69, 0x3000);
    set(70, 1 << 14 | 5 << 8 | 5 << 4 | 1);
    words.extend(push(isa::encode::setadcxx(0, 15, 4)));
    words.extend(push(0x4100_0000 | 1 << 8 | 1));
    // The load waits for the tile; then the sizes, and the address offset.
    words.extend([lui(12, 0x2_0000), lw(5, 13, 0x30), sw(5, 12, 0)]);
    words.extend([lw(5, 13, 0x18), sw(5, 12, 4), lw(5, 13, 0x1C), sw(5, 12, 8)]);
    words.extend([lw(5, 13, 0x34), lw(5, 13, 0x38), sw(5, 12, 12)]);
    words.extend(li(5, 1 << 16 | 0x40));
    words.extend([sw(5, 13, 0x1C), lw(5, 13, 0x1C), sw(5, 12, 16), j(0)]);
    let programs: [&[u32]; 5] = [&[], &words, &[], &[], &[]];
    let mut tile = tile(programs, config(EngineKind::Inline), NullObserver);
    run(&mut tile, 4000);
    let shown: [u32; 5] = std::array::from_fn(|i| tile.l1().word(0x2_0000 + 4 * i as u32));
    assert_eq!(shown, [2, 2, 2, 0x55, 0]);
}
