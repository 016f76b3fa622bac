//! Any bytes as programs for the three Tensix threads: no panic, and one state with all
//! shortcuts and with none. Which checks are lowered, and the timing model, come from the first byte.

use sim_core::engine::EngineKind;
use sim_core::{Cycle, NullObserver, Shortcuts};
use tensix::{TimingModel, Warned};
use tile::{Stop, Tile, TileConfig};

use crate::legal;

/// SOFT_RESET_0: all five cores held, and BRISC with the TRISCs let go.
const SOFT_RESET_0: u32 = 0xFFB1_21B0;
const ONLY_NCRISC_HELD: u32 = 1 << 18;
/// Where BRISC and the TRISCs start.
const ENTRIES: [u32; 4] = [0, 0x6000, 0xA000, 0xE000];
const CYCLES: u64 = 4096;

fn run(programs: &[Vec<u32>], config: TileConfig) -> u64 {
    let mut tile = Tile::new(config, NullObserver).expect("an inline tile starts no threads");
    for (words, entry) in programs.iter().zip(ENTRIES) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        tile.host_write(entry, &bytes).expect("L1 is mapped");
    }
    tile.host_write_word(SOFT_RESET_0, ONLY_NCRISC_HELD).expect("the register is mapped");
    for _ in 0..200 {
        match tile.run(Cycle(CYCLES), None) {
            Stop::Limit => break,
            Stop::Quiescent(_) => {
                tile.pass_time(Cycle(CYCLES));
                break;
            }
            Stop::Fault(_) | Stop::Met | Stop::Halted(_) => {}
        }
    }
    tile.state_hash()
}

/// One input.
pub(crate) fn feed(input: &[u8]) {
    let Some((&how, input)) = input.split_first() else { return };
    let programs = legal::programs(input);
    let warned = if how & 1 == 0 { legal::every_check() } else { Warned::NONE };
    let timing = if how & 2 == 0 { TimingModel::Unit } else { TimingModel::Documented };
    let base = TileConfig { engine: EngineKind::Inline, warned, timing, ..TileConfig::default() };
    let plain = run(&programs, TileConfig { shortcuts: Shortcuts::NONE, ..base });
    assert_eq!(run(&programs, base), plain);
}
