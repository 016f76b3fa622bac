//! What a mistake stops, and what goes on: as `tile/src/faults.rs` promises.

mod debugger_support;

use debugger_support::*;
use riscv::Status;
use sim_core::engine::EngineKind;
use sim_core::{AgentId, CoreId, NullObserver, ThreadId};
use tile::{Stop, Tile};

/// Runs to that cycle; the mistakes on the way, with who made them.
fn mistakes(tile: &mut Tile, until: u64) -> Vec<(&'static str, AgentId)> {
    let mut seen = Vec::new();
    loop {
        match tile.run(sim_core::Cycle(until), None) {
            Stop::Fault(fault) => seen.push((fault.id, fault.at.agent)),
            Stop::Limit => return seen,
            Stop::Quiescent(_) => tile.pass_time(sim_core::Cycle(until)),
            stop => panic!("{stop:?}"),
        }
        assert!(seen.len() < 100, "the same again and again: {seen:?}");
    }
}

/// Every core but BRISC goes wrong in a way of its own, and would do so again and again.
fn wrong(engine: EngineKind) -> Tile {
    let programs = [
        counting(DATA),
        // No Tensix instruction has opcode 0xFF; behind it, some that would be right.
        vec![
            lui(10, 0xFFE4_0000),
            addi(5, 0, -1),
            sw(5, 10, 0),
            lui(5, 0x0200_0000),
            sw(5, 10, 0),
            j(-4),
        ],
        // No instruction.
        vec![addi(5, 5, 1), 0xFFFF_FFFF],
        // Posted stores to a register that does not exist.
        vec![lui(10, 0xFFB1_2000), sw(5, 10, 0x1B4), j(-4)],
        // A store to where nothing is.
        vec![lui(10, 0xFFC0_0000), sw(5, 10, 0), j(-4)],
    ];
    let programs: [&[u32]; 5] = std::array::from_fn(|core| programs[core].as_slice());
    tile(programs, config(engine), NullObserver)
}

#[test]
fn each_mistake_is_reported_once_and_the_others_go_on() {
    let mut hashes = Vec::new();
    for engine in [EngineKind::Inline, EngineKind::Threads] {
        let mut tile = wrong(engine);
        let mut seen = mistakes(&mut tile, 4000);
        seen.sort_by_key(|(_, agent)| agent.code());
        assert_eq!(
            seen,
            [
                ("illegal-instruction", AgentId::Core(CoreId::Trisc1)),
                ("tile-control-unmapped", AgentId::Core(CoreId::Trisc2)),
                ("unmapped-access", AgentId::Core(CoreId::Ncrisc)),
                ("tensix-unassigned-opcode", AgentId::Thread(ThreadId::T0)),
            ]
        );
        assert!(tile.coprocessor().is_stopped(ThreadId::T0));
        for core in [CoreId::Trisc1, CoreId::Trisc2, CoreId::Ncrisc] {
            assert!(matches!(tile.core(core).status(), Status::Faulted), "{core}");
        }
        // T0's core finds its FIFO full for ever; BRISC is not disturbed.
        assert!(matches!(tile.core(CoreId::Trisc0).status(), Status::PushBlocked(0)));
        let before = tile.l1().word(DATA);
        assert_eq!(mistakes(&mut tile, 8000), []);
        assert!(tile.l1().word(DATA) > before + 500);
        hashes.push(tile.state_hash());
    }
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn soft_reset_lets_a_stopped_core_run_again() {
    let mut tile = wrong(EngineKind::Inline);
    assert_eq!(mistakes(&mut tile, 1000).len(), 4);
    reset(&mut tile, CoreId::Trisc1, true);
    let bytes: Vec<u8> =
        counting(DATA + 0x1000).iter().flat_map(|word| word.to_le_bytes()).collect();
    tile.host_write(bare::ENTRIES[2], &bytes).expect("L1 is mapped");
    reset(&mut tile, CoreId::Trisc1, false);
    assert_eq!(mistakes(&mut tile, 2000), []);
    assert!(tile.l1().word(DATA + 0x1000) > 100);
    // With the same program it makes the same mistake, and that is reported again.
    reset(&mut tile, CoreId::Ncrisc, true);
    reset(&mut tile, CoreId::Ncrisc, false);
    let again = mistakes(&mut tile, 3000);
    assert_eq!(again, [("unmapped-access", AgentId::Core(CoreId::Ncrisc))]);
}
