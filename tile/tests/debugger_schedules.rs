//! What a debugger does to a tile does not depend on who runs it, and whether it parks.

mod debugger_support;

use debugger_support::*;
use sim_core::engine::EngineKind;
use sim_core::{CoreId, NullObserver, Shortcut, Shortcuts};

const BRISC: Debugger = Debugger(CoreId::Brisc);

#[test]
fn halting_a_parked_core_finds_it_where_spinning_would_have_left_it() {
    let words = [lui(10, DATA), lw(5, 10, 0), NOP, NOP, j(-12)];
    for cycles in 3000..3020 {
        let mut state = [true, false].map(|parking| {
            let shortcuts = Shortcuts::ALL.set(Shortcut::Parking, parking);
            let config = tile::TileConfig { shortcuts, ..config(EngineKind::Inline) };
            let mut tile = tile([&words, &[], &[], &[], &[]], config, NullObserver);
            run(&mut tile, cycles);
            BRISC.halt(&mut tile);
            let pc = BRISC.pc(&mut tile);
            (pc, tile.instructions(), tile.state_hash())
        });
        state.reverse();
        assert_eq!(state[0], state[1]);
    }
}

/// A session in which every command is used, on a tile of five busy cores.
fn session(engine: EngineKind, parking: bool) -> (Vec<u32>, u64) {
    let programs: Vec<Vec<u32>> = (0..5).map(|core| counting(DATA + (core & 1) * 4)).collect();
    let programs: [&[u32]; 5] = std::array::from_fn(|core| programs[core].as_slice());
    let shortcuts = Shortcuts::ALL.set(Shortcut::Parking, parking);
    let config = tile::TileConfig { shortcuts, ..config(engine) };
    let mut tile = tile(programs, config, NullObserver);
    let mut seen = Vec::new();
    run(&mut tile, 333);
    for (round, core) in CoreId::ALL.into_iter().cycle().take(15).enumerate() {
        let debugger = Debugger(core);
        debugger.halt(&mut tile);
        seen.extend([debugger.pc(&mut tile), debugger.register(&mut tile, 5)]);
        debugger.watch(&mut tile, round as u32 % 8, DATA, [8, 9, 10, 11][round % 4]);
        for _ in 0..round {
            debugger.step(&mut tile);
        }
        seen.extend([debugger.pc(&mut tile), debugger.memory(&mut tile, DATA)]);
        debugger.resume(&mut tile);
        run(&mut tile, 57);
        for core in CoreId::ALL {
            seen.push(Debugger(core).status(&mut tile));
        }
        debugger.resume(&mut tile);
    }
    run(&mut tile, 1000);
    (seen, tile.state_hash())
}

#[test]
fn session_is_the_same_whatever_runs_the_tile() {
    let expected = session(EngineKind::Inline, true);
    assert_eq!(session(EngineKind::Inline, true), expected);
    assert_eq!(session(EngineKind::Threads, true), expected);
    assert_eq!(session(EngineKind::Inline, false), expected);
}

#[test]
fn session_that_only_reads_leaves_no_trace() {
    let mut undisturbed = five(EngineKind::Inline);
    let mut read = five(EngineKind::Inline);
    for _ in 0..20 {
        run(&mut undisturbed, 100);
        run(&mut read, 100);
        for core in CoreId::ALL {
            let debugger = Debugger(core);
            debugger.halt(&mut read);
            for index in 0..=32 {
                debugger.register(&mut read, index);
            }
            debugger.memory(&mut read, 0xFFB0_0000);
            debugger.memory(&mut read, DATA);
            debugger.resume(&mut read);
        }
    }
    // The debug registers themselves remember the session: the same last words to both.
    for tile in [&mut undisturbed, &mut read] {
        for core in CoreId::ALL {
            let debugger = Debugger(core);
            debugger.halt(tile);
            debugger.register(tile, 0);
            debugger.resume(tile);
            debugger.pc(tile);
        }
    }
    assert_eq!(undisturbed.state_hash(), read.state_hash());
}

/// A core debugs another with its own stores, as firmware could.
#[test]
fn core_can_halt_another() {
    let debugger = [
        lui(10, 0xFFB1_2000),
        lui(11, 0x8000_0000),
        addi(11, 11, 1),
        sw(11, 10, 0x84),
        lui(12, 0x8003_0000),
        addi(12, 12, 1),
        sw(0, 10, 0x80),
        sw(12, 10, 0x80),
        sw(0, 10, 0x80),
        j(0),
    ];
    let busy = counting(DATA);
    let mut hashes = Vec::new();
    for engine in [EngineKind::Inline, EngineKind::Threads] {
        let mut tile = tile([&debugger, &busy, &[], &[], &[]], config(engine), NullObserver);
        run(&mut tile, 1000);
        let trisc = Debugger(CoreId::Trisc0);
        assert_eq!(trisc.status(&mut tile), HALTED);
        hashes.push((tile.l1().word(DATA), tile.state_hash()));
    }
    assert_eq!(hashes[0], hashes[1]);
}
