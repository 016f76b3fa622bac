//! The debug interface of the cores, played as tt-exalens plays it. What is expected:
//! `[isa-wh: TensixTile/BabyRISCV/DebugInterface.md]`, and the scenarios of tt-exalens' own tests
//! (`test_risc_debug.py`), whose programs these resemble.

mod debugger_support;

use debugger_support::*;
use sim_core::engine::EngineKind;
use sim_core::{CoreId, NullObserver, Observer, Retire, WaitReason};
use tile::{Stop, Tile};

const BRISC: Debugger = Debugger(CoreId::Brisc);

/// `ebreak`, then one store, then an endless loop.
fn store_after_ebreak() -> Vec<u32> {
    vec![EBREAK, lui(10, 0x1_0000), lui(11, 0x8765_4000), sw(11, 10, 0), j(0)]
}

fn alone(words: &[u32]) -> Tile {
    tile([words, &[], &[], &[], &[]], config(EngineKind::Inline), NullObserver)
}

/// The pcs that the cores execute.
#[derive(Debug, Default)]
struct Log(Vec<(CoreId, u32)>);

impl Observer for Log {
    fn retire(&mut self, core: CoreId, retire: &Retire) {
        self.0.push((core, retire.pc));
    }

    fn wants_retires(&self, _core: CoreId) -> bool {
        true
    }
}

#[test]
fn halt_stops_all_five_cores_and_others_see_no_more_stores() {
    let mut tile = five(EngineKind::Inline);
    run(&mut tile, 1000);
    for core in CoreId::ALL {
        assert!(!Debugger(core).is_halted(&mut tile));
        Debugger(core).halt(&mut tile);
        assert_eq!(Debugger(core).status(&mut tile), HALTED);
    }
    let counts = |tile: &Tile| [0, 1, 2, 3, 4].map(|i| tile.l1().word(DATA + i * 0x1000));
    let before = counts(&tile);
    run(&mut tile, 1000);
    assert_eq!(counts(&tile), before);
    assert!(before.into_iter().all(|count| count > 100));
}

#[test]
fn ten_steps_follow_the_undisturbed_log() {
    let programs: Vec<Vec<u32>> = (0..5).map(|core| counting(DATA + core * 0x1000)).collect();
    let programs: [&[u32]; 5] = std::array::from_fn(|core| programs[core].as_slice());
    let mut logged = tile(programs, config(EngineKind::Inline), Log::default());
    run(&mut logged, 2000);
    let mut stepped = five(EngineKind::Inline);
    run(&mut stepped, 1001);
    for core in CoreId::ALL {
        let debugger = Debugger(core);
        debugger.halt(&mut stepped);
        let executed = stepped.instructions()[core as usize] as usize;
        let log: Vec<u32> =
            logged.observer().0.iter().filter(|(who, _)| *who == core).map(|(_, pc)| *pc).collect();
        for &expected in &log[executed..executed + 10] {
            assert_eq!(debugger.pc(&mut stepped), expected);
            assert_eq!(debugger.register(&mut stepped, 32), expected);
            debugger.step(&mut stepped);
            assert_eq!(debugger.status(&mut stepped), HALTED);
        }
        assert_eq!(stepped.instructions()[core as usize] as usize, executed + 10);
    }
}

#[test]
fn step_takes_no_time_and_its_store_is_there() {
    let mut tile = alone(&store_after_ebreak());
    run(&mut tile, 100);
    assert_eq!(BRISC.status(&mut tile), HALTED | EBREAK_HIT);
    assert_eq!(BRISC.pc(&mut tile), 4, "ebreak retires");
    let now = tile.now();
    for pc in [8, 12] {
        BRISC.step(&mut tile);
        assert_eq!(BRISC.pc(&mut tile), pc);
        assert_eq!(BRISC.status(&mut tile), HALTED, "no longer because of ebreak");
        assert_eq!(tile.l1().word(0x1_0000), 0);
    }
    BRISC.step(&mut tile);
    assert_eq!(tile.l1().word(0x1_0000), 0x8765_4000);
    for _ in 0..10 {
        BRISC.step(&mut tile);
        assert_eq!(BRISC.pc(&mut tile), 16, "the endless loop");
    }
    assert_eq!(tile.now(), now);
    assert_eq!(tile.instructions()[0], 1 + 3 + 10);
}

#[test]
fn lone_step_command_of_a_pair_does_nothing() {
    let mut tile = alone(&store_after_ebreak());
    run(&mut tile, 100);
    BRISC.command(&mut tile, 2);
    assert_eq!(BRISC.pc(&mut tile), 4);
    BRISC.command(&mut tile, 2);
    assert_eq!(BRISC.pc(&mut tile), 8);
}

#[test]
fn continue_after_ebreak_goes_on() {
    let mut tile = alone(&store_after_ebreak());
    run(&mut tile, 100);
    BRISC.resume(&mut tile);
    run(&mut tile, 100);
    assert!(!BRISC.is_halted(&mut tile));
    assert_eq!(tile.l1().word(0x1_0000), 0x8765_4000);
    BRISC.halt(&mut tile);
    assert_eq!(BRISC.status(&mut tile), HALTED, "not because of ebreak");
    assert_eq!(BRISC.pc(&mut tile), 16);
}

#[test]
fn ecall_pauses_as_ebreak_does() {
    let mut tile = alone(&[NOP, 0x73, NOP, j(0)]);
    run(&mut tile, 100);
    assert_eq!(BRISC.status(&mut tile), HALTED | EBREAK_HIT);
    assert_eq!(BRISC.pc(&mut tile), 8);
}

#[test]
fn run_reports_ebreak_but_not_the_debuggers_own_pause() {
    let mut tile = alone(&store_after_ebreak());
    let limit = tile.now() + 100;
    assert!(matches!(tile.run(limit, None), Stop::Halted(CoreId::Brisc)));
    BRISC.resume(&mut tile);
    BRISC.halt(&mut tile);
    match tile.run(limit, None) {
        Stop::Quiescent(quiescence) => assert_eq!(quiescence.waits[0].reason, WaitReason::Paused),
        stop => panic!("expected quiescence, got {stop:?}"),
    }
}

#[test]
fn registers_can_be_read_and_written_while_halted() {
    let mut tile = alone(&[NOP, j(0)]);
    run(&mut tile, 100);
    BRISC.halt(&mut tile);
    assert_eq!(BRISC.pc(&mut tile), 4);
    for index in 0..32 {
        for value in [0x1234_5678, 0x8765_4321] {
            BRISC.set_register(&mut tile, index, value);
            let expected = if index == 0 { 0 } else { value };
            assert_eq!(BRISC.register(&mut tile, index), expected);
        }
    }
    BRISC.command(&mut tile, 0x80);
    assert!((0..32).all(|index| BRISC.register(&mut tile, index) == 0));
}

#[test]
fn register_of_a_running_core_is_refused() {
    let mut tile = alone(&[j(0)]);
    run(&mut tile, 100);
    tile.host_write_word(0xFFB1_2084, 0x8000_0008).expect("mapped");
    let error = tile.host_write_word(0xFFB1_2080, 0x8001_0001).expect_err("it runs");
    assert_eq!(error.id, "debug-not-paused");
}

#[test]
fn memory_is_what_the_core_sees() {
    let mut tile = five(EngineKind::Inline);
    run(&mut tile, 1000);
    // The slow path into local RAM by the NoC [isa-bh: TensixTile/BabyRISCV/README.md].
    let slow = [0xFFB1_4000, 0xFFB1_8000, 0xFFB1_A000, 0xFFB1_C000, 0xFFB1_6000];
    for core in CoreId::ALL {
        let debugger = Debugger(core);
        debugger.halt(&mut tile);
        let noc = slow[core as usize] + 16;
        debugger.set_memory(&mut tile, 0xFFB0_0010, 0x1234_5678 + core as u32);
        assert_eq!(debugger.memory(&mut tile, 0xFFB0_0010), 0x1234_5678 + core as u32);
        assert_eq!(tile.host_read_word(noc).expect("mapped"), 0x1234_5678 + core as u32);
        tile.host_write_word(noc, 0xAABB_CCDD).expect("mapped");
        assert_eq!(debugger.memory(&mut tile, 0xFFB0_0010), 0xAABB_CCDD);
        debugger.set_memory(&mut tile, 0x3_0000, core as u32);
        assert_eq!(tile.l1().word(0x3_0000), core as u32);
        tile.host_write_word(0x3_0000, 99).expect("mapped");
        assert_eq!(debugger.memory(&mut tile, 0x3_0000), 99);
    }
    // Backend configuration is nothing the NoC can reach: word 12 through BRISC.
    BRISC.set_memory(&mut tile, 0xFFEF_0030, 0x77);
    assert_eq!(BRISC.memory(&mut tile, 0xFFEF_0030), 0x77);
    assert!(BRISC.is_halted(&mut tile));
}

#[test]
fn memory_read_of_an_empty_mailbox_keeps_the_core_busy() {
    let waiting = [j(0)];
    let mut tile =
        tile([&waiting, &waiting, &[], &[], &[]], config(EngineKind::Inline), NullObserver);
    run(&mut tile, 100);
    BRISC.halt(&mut tile);
    let trisc = Debugger(CoreId::Trisc0);
    trisc.halt(&mut tile);
    // Mailbox T0 -> B is empty; then T0 writes it, by its debugger.
    BRISC.write(&mut tile, 2, 0xFFEC_1000);
    BRISC.command(&mut tile, 0x20);
    assert!(!BRISC.is_halted(&mut tile));
    run(&mut tile, 100);
    assert!(!BRISC.is_halted(&mut tile));
    trisc.set_memory(&mut tile, 0xFFEC_0000, 0xCAFE);
    run(&mut tile, 100);
    assert_eq!(BRISC.status(&mut tile), HALTED);
    assert_eq!(BRISC.read(&mut tile, 4), 0xCAFE);
}

#[test]
fn unmapped_memory_is_an_error_of_the_host_and_the_core_stays_paused() {
    let mut tile = alone(&[j(0)]);
    run(&mut tile, 100);
    BRISC.halt(&mut tile);
    BRISC.write(&mut tile, 2, 0xFFC0_0000);
    tile.host_write_word(0xFFB1_2084, 0x8000_0020).expect("mapped");
    let error = tile.host_write_word(0xFFB1_2080, 0x8001_0001).expect_err("nothing is there");
    assert_eq!(error.id, "unmapped-access");
    tile.host_write_word(0xFFB1_2080, 0).expect("mapped");
    assert!(BRISC.is_halted(&mut tile));
    run(&mut tile, 100);
}

#[test]
fn breakpoint_pauses_behind_its_instruction() {
    let mut tile = alone(&counting(DATA));
    run(&mut tile, 100);
    BRISC.halt(&mut tile);
    BRISC.watch(&mut tile, 0, 0x14, 8);
    BRISC.watch(&mut tile, 3, 0x1C, 8);
    for _ in 0..3 {
        for (pc, hit) in [(0x18, HIT_0), (0x04, HIT_0 << 3)] {
            BRISC.resume(&mut tile);
            run(&mut tile, 100);
            let status = BRISC.status(&mut tile);
            // The first pause may come at either, wherever the core was halted.
            if status & hit == 0 {
                continue;
            }
            assert_eq!(status, HALTED | PC_HIT | hit);
            assert_eq!(BRISC.pc(&mut tile), pc);
        }
    }
    BRISC.watch(&mut tile, 0, 0x14, 0);
    BRISC.watch(&mut tile, 3, 0x1C, 0);
    BRISC.resume(&mut tile);
    run(&mut tile, 100);
    assert!(!BRISC.is_halted(&mut tile));
}

#[test]
fn watchpoint_on_a_store_pauses_when_memory_has_it() {
    let mut tile = alone(&counting(DATA));
    run(&mut tile, 100);
    BRISC.halt(&mut tile);
    BRISC.watch(&mut tile, 7, DATA, 10);
    for _ in 0..3 {
        let before = tile.l1().word(DATA);
        BRISC.resume(&mut tile);
        run(&mut tile, 100);
        assert_eq!(BRISC.status(&mut tile), HALTED | MEMORY_HIT | HIT_0 << 7);
        assert_eq!(BRISC.pc(&mut tile), 0x0C, "behind the store");
        assert_eq!(tile.l1().word(DATA), before + 1);
    }
}

#[test]
fn watchpoint_on_a_load_pauses_before_it_retires() {
    let mut tile = alone(&counting(DATA));
    run(&mut tile, 100);
    BRISC.halt(&mut tile);
    BRISC.watch(&mut tile, 1, DATA, 9);
    for _ in 0..3 {
        BRISC.resume(&mut tile);
        run(&mut tile, 100);
        assert_eq!(BRISC.status(&mut tile), HALTED | MEMORY_HIT | HIT_0 << 1);
        assert_eq!(BRISC.pc(&mut tile), 0x0C, "at the load");
        assert_eq!(BRISC.register(&mut tile, 6) + 1, tile.l1().word(DATA));
        BRISC.step(&mut tile);
        assert_eq!(BRISC.pc(&mut tile), 0x10);
        assert_eq!(BRISC.register(&mut tile, 6), tile.l1().word(DATA));
    }
}

#[test]
fn watchpoint_on_any_access_sees_both() {
    let mut tile = alone(&counting(DATA));
    run(&mut tile, 100);
    BRISC.halt(&mut tile);
    BRISC.watch(&mut tile, 2, DATA, 11);
    // A store and the load behind it: both pause at the load's address.
    for round in 0..4 {
        BRISC.resume(&mut tile);
        run(&mut tile, 100);
        assert_eq!(BRISC.status(&mut tile), HALTED | MEMORY_HIT | HIT_0 << 2, "{round}");
        assert_eq!(BRISC.pc(&mut tile), 0x0C);
    }
}

#[test]
fn watchpoint_on_a_device_register_is_seen_when_it_is_answered() {
    // Reads the wall clock in a loop.
    let words = [lui(10, 0xFFB1_2000), lw(5, 10, 0x1F0), NOP, j(-8)];
    let mut tile = alone(&words);
    run(&mut tile, 100);
    BRISC.halt(&mut tile);
    BRISC.watch(&mut tile, 0, 0x4, 8);
    BRISC.resume(&mut tile);
    run(&mut tile, 100);
    assert_eq!(BRISC.status(&mut tile), HALTED | PC_HIT | HIT_0);
    assert_eq!(BRISC.pc(&mut tile), 8);
    BRISC.watch(&mut tile, 0, 0, 0);
    BRISC.watch(&mut tile, 0, 0xFFB1_21F0, 9);
    BRISC.resume(&mut tile);
    run(&mut tile, 100);
    assert_eq!(BRISC.status(&mut tile), HALTED | MEMORY_HIT | HIT_0);
    assert_eq!(BRISC.pc(&mut tile), 4);
}

#[test]
fn breakpoint_in_a_parked_loop_is_hit() {
    // Polls a word that stays zero: parked long before the debugger comes.
    let words = [lui(10, DATA), lw(5, 10, 0), NOP, NOP, j(-12)];
    let mut tile = alone(&words);
    run(&mut tile, 10_000);
    BRISC.halt(&mut tile);
    BRISC.watch(&mut tile, 0, 0x8, 8);
    BRISC.resume(&mut tile);
    run(&mut tile, 100);
    assert_eq!(BRISC.status(&mut tile), HALTED | PC_HIT | HIT_0);
    assert_eq!(BRISC.pc(&mut tile), 0xC);
}

#[test]
fn reset_clears_debug_registers_unless_they_are_kept() {
    let mut tile = alone(&counting(DATA));
    run(&mut tile, 100);
    BRISC.halt(&mut tile);
    BRISC.watch(&mut tile, 0, 0x14, 8);
    reset(&mut tile, CoreId::Brisc, true);
    assert_eq!(BRISC.status(&mut tile), 0);
    assert_eq!(BRISC.read(&mut tile, 5), 0);
    reset(&mut tile, CoreId::Brisc, false);
    run(&mut tile, 100);
    assert!(!BRISC.is_halted(&mut tile));
    // DISABLE_RESET, bit 7 [isa-bh: TensixTile/SoftReset.md].
    tile.host_write_word(0xFFB1_2224, 1 << 7).expect("mapped");
    BRISC.halt(&mut tile);
    BRISC.watch(&mut tile, 0, 0x14, 8);
    reset(&mut tile, CoreId::Brisc, true);
    reset(&mut tile, CoreId::Brisc, false);
    run(&mut tile, 100);
    assert_eq!(BRISC.status(&mut tile), HALTED | PC_HIT | HIT_0);
}

#[test]
fn flush_without_debug_mode_goes_to_the_reset_pc() {
    let mut tile = alone(&counting(DATA));
    run(&mut tile, 100);
    BRISC.halt(&mut tile);
    BRISC.write(&mut tile, 1, 0x100);
    assert_eq!(BRISC.pc(&mut tile), 0);
    BRISC.write(&mut tile, 3, 0x18);
    BRISC.command(&mut tile, 0x100);
    assert_eq!(BRISC.pc(&mut tile), 0x18);
}
