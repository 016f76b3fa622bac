//! Nothing a guest or a host does ends in a panic, and whatever it does, it does the same on
//! every schedule. Random instruction words, random accesses to every region of the address map,
//! random host accesses, random Tensix words; from all five cores.

mod common;

use common::rv32::{i, jal, li, store};
use common::{ALL_HELD, RESET_BITS, RESET_PCS, SOFT_RESET_0, config, on};
use memory_map::{REGIONS, View};
use observe::EventHash;
use proptest::prelude::*;
use sim_core::engine::EngineKind;
use sim_core::{CoreId, Cycle, NullObserver, Observer};
use tile::{Stop, Tile, TileConfig};

const VIEWS: [View; 5] = [View::B, View::T0, View::T1, View::T2, View::Nc];
/// Cycles of one run.
const CYCLES: u64 = 4096;
/// Words of a random program.
const WORDS: usize = 64;

fn cases(count: u32) -> ProptestConfig {
    // Failures are printed with their input; nothing is written beside the sources.
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(count) }
}

/// A tile whose cores execute these words.
fn tile<O: Observer>(programs: &[Vec<u32>], config: TileConfig, observer: O) -> Tile<O> {
    let mut tile = Tile::new(config, observer).expect("the host can start threads");
    let mut held = ALL_HELD;
    for (core, words) in programs.iter().enumerate() {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        tile.host_write(RESET_PCS[core], &bytes).expect("L1 is mapped");
        held &= !RESET_BITS[core];
    }
    tile.host_write_word(SOFT_RESET_0, held).expect("the register is mapped");
    tile
}

/// How a run ended, in words that must not depend on the schedule; then time stands at `limit`
/// or, after a mistake, where it was found.
fn finish<O: Observer>(tile: &mut Tile<O>, limit: u64) -> String {
    match tile.run(Cycle(limit), None) {
        Stop::Limit => "limit".to_owned(),
        // Without parking a spinning core runs on to the limit instead.
        Stop::Quiescent(_) => {
            tile.pass_time(Cycle(limit));
            "limit".to_owned()
        }
        Stop::Fault(fault) => format!("{fault}"),
        stop @ (Stop::Met | Stop::Halted(_)) => format!("{stop:?}"),
    }
}

fn any_address() -> impl Strategy<Value = u32> {
    let in_region = (prop::sample::select(REGIONS.iter().collect::<Vec<_>>()), any::<u32>())
        .prop_map(|(row, at)| {
            let span = u64::from(row.limit - row.base) + 1;
            row.base + (u64::from(at) % span) as u32
        });
    let near_the_start = (prop::sample::select(REGIONS.iter().collect::<Vec<_>>()), 0_u32..0x400)
        .prop_map(|(row, at)| row.base.saturating_add(at).min(row.limit));
    prop_oneof![3 => in_region, 3 => near_the_start, 1 => any::<u32>(), 2 => 0x2_0000_u32..0x2_0100]
}

/// Mostly aligned addresses that the asker sees.
fn visible_address(core: usize) -> impl Strategy<Value = u32> {
    let visible: Vec<_> =
        REGIONS.iter().filter(|row| row.views[VIEWS[core].index()].is_some()).collect();
    (prop::sample::select(visible), any::<u32>(), 0..10).prop_map(|(row, at, spread)| {
        let span = u64::from(row.limit - row.base) + 1;
        // Registers lie at the start of their regions.
        let span = if spread < 7 { span.min(0x400) } else { span };
        (row.base + (u64::from(at) % span) as u32) & !3
    })
}

fn any_value() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), any_address(), 0_u32..64, Just(0), Just(u32::MAX)]
}

/// A word of some instruction of the cores, valid or not.
fn any_instruction() -> impl Strategy<Value = u32> {
    // Major opcodes of RV32IMAF with Zicsr [riscv-unprivileged: opcode map].
    let opcodes = vec![
        0x03_u32, 0x07, 0x0F, 0x13, 0x17, 0x23, 0x27, 0x2F, 0x33, 0x37, 0x43, 0x47, 0x4B, 0x4F,
        0x53, 0x63, 0x67, 0x6F, 0x73,
    ];
    let shaped = (any::<u32>(), prop::sample::select(opcodes))
        .prop_map(|(word, opcode)| word & !0x7F | opcode);
    // Arithmetic that cannot fail keeps programs going.
    let harmless = (any::<u32>(), prop::sample::select(vec![0_u32, 2, 3, 4, 6, 7]))
        .prop_map(|(word, funct3)| word & !0x707F | funct3 << 12 | 0x13);
    let access = (any::<u32>(), prop::sample::select(vec![0x03_u32, 0x23]))
        .prop_map(|(word, opcode)| word & !0x707F & !(0xFE0_u32 << 20) | 2 << 12 | opcode);
    prop_oneof![
        4 => harmless,
        2 => access,
        2 => shaped,
        1 => any::<u32>(),
        1 => tensix_word().prop_map(|word| word.rotate_left(2)),
    ]
}

/// Random registers, then random words, then an endless loop.
fn random_program() -> impl Strategy<Value = Vec<u32>> {
    let registers = prop::collection::vec(any_value(), 31);
    let words = prop::collection::vec(any_instruction(), WORDS);
    (registers, words).prop_map(|(registers, words)| {
        let mut all: Vec<u32> =
            (1..32).zip(registers).flat_map(|(register, value)| li(register, value)).collect();
        all.extend(words);
        all.push(jal(0, 0));
        all
    })
}

fn random_programs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(random_program(), CoreId::COUNT)
}

/// Loads and stores of one core, addresses of its own view or any.
fn access_program(core: usize) -> impl Strategy<Value = Vec<u32>> {
    let address = prop_oneof![8 => visible_address(core), 1 => any_address()];
    let access = (address, any_value(), 0_u32..3, 0..3);
    prop::collection::vec(access, 1..40).prop_map(|accesses| {
        let mut words = Vec::new();
        for (address, value, width, kind) in accesses {
            words.extend(li(5, address & !((1 << width) - 1)));
            words.extend(li(6, value));
            words.push(match kind {
                0 => i(0x03, width, 7, 5, 0),
                // Words, mostly: registers want them.
                1 => i(0x03, 2, 7, 5, 0),
                _ => store(if width == 0 { 2 } else { width }, 6, 5, 0),
            });
        }
        words.push(jal(0, 0));
        words
    })
}

/// One program for each core, of the core's own strategy.
fn access_programs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (access_program(0), access_program(1), access_program(2), access_program(3), access_program(4))
        .prop_map(|(a, b, c, d, e)| vec![a, b, c, d, e])
}

/// A Tensix word with a known opcode and any arguments.
fn tensix_word() -> impl Strategy<Value = u32> {
    let known: Vec<u32> = (0..=u8::MAX)
        .filter(|&byte| isa::op::Opcode::from_byte(byte).is_some())
        .map(|byte| u32::from(byte) << 24)
        .collect();
    let sparse = (any::<u32>(), any::<u32>()).prop_map(|(a, b)| a & b);
    (prop::sample::select(known), prop_oneof![any::<u32>(), sparse, Just(0)])
        .prop_map(|(opcode, arguments)| opcode | arguments & 0x00FF_FFFF)
}

/// Pushes words through a window, then ends. BRISC reaches all three threads.
fn push_program(windows: u32) -> impl Strategy<Value = Vec<u32>> {
    let push = (tensix_word(), 0..windows);
    prop::collection::vec(push, 1..24).prop_map(|pushes| {
        let mut words = Vec::new();
        for (word, window) in pushes {
            words.extend(li(5, 0xFFE4_0000 + 0x1_0000 * window));
            words.extend(li(6, word));
            words.push(store(2, 6, 5, 0));
        }
        words.push(jal(0, 0));
        words
    })
}

fn push_programs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (push_program(3), push_program(1), push_program(1), push_program(1))
        .prop_map(|(b, t0, t1, t2)| vec![b, t0, t1, t2])
}

/// Every schedule ends in the same words, state and events.
fn assert_schedules_agree(programs: &[Vec<u32>], epoch: u32) {
    let run = |config: TileConfig| {
        let mut tile = tile(programs, config, EventHash::new());
        let end = finish(&mut tile, CYCLES);
        (end, tile.now(), tile.state_hash(), tile.observer().hash(), tile.observer().count())
    };
    let plain = run(config(EngineKind::Inline, false, epoch));
    assert_eq!(run(config(EngineKind::Inline, true, epoch)), plain, "parking");
    assert_eq!(run(config(EngineKind::Threads, true, epoch)), plain, "threads");
}

/// Runs, hashes, and goes on after whatever stopped the run: nothing may panic.
fn assert_survives(programs: &[Vec<u32>]) {
    let mut tile = tile(programs, on(EngineKind::Inline), NullObserver);
    for round in 1..=3 {
        finish(&mut tile, CYCLES * round);
        let _ = (tile.state_hash(), tile.instructions(), tile.waits());
    }
}

fn epochs() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1_u32, 4, 8])
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn random_programs_end_with_a_stop(programs in random_programs()) {
        assert_survives(&programs);
    }

    #[test]
    fn random_accesses_end_with_a_stop(programs in access_programs()) {
        assert_survives(&programs);
    }

    #[test]
    fn random_tensix_words_end_with_a_stop(programs in push_programs()) {
        assert_survives(&programs);
    }

    #[test]
    fn random_host_accesses_are_done_or_refused(
        accesses in prop::collection::vec(
            (any_address(), prop::collection::vec(any::<u8>(), 0..20), any::<bool>()),
            1..60,
        ),
        programs in access_programs(),
    ) {
        let mut tile = tile(&programs, on(EngineKind::Inline), NullObserver);
        for (step, (address, mut bytes, write)) in (1..).zip(accesses) {
            let address = if bytes.len() % 4 == 0 { address & !3 } else { address };
            let _ = if write {
                tile.host_write(address, &bytes)
            } else {
                tile.host_read(address, &mut bytes)
            };
            finish(&mut tile, 64 * step);
        }
        let _ = tile.state_hash();
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn random_programs_are_the_same_on_every_schedule(
        programs in random_programs(),
        epoch in epochs(),
    ) {
        assert_schedules_agree(&programs, epoch);
    }

    #[test]
    fn random_accesses_are_the_same_on_every_schedule(
        programs in access_programs(),
        epoch in epochs(),
    ) {
        assert_schedules_agree(&programs, epoch);
    }

    #[test]
    fn random_tensix_words_are_the_same_on_every_schedule(
        programs in push_programs(),
        epoch in epochs(),
    ) {
        assert_schedules_agree(&programs, epoch);
    }
}
