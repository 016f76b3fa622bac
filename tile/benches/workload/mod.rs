//! Loops for measuring a tile's speed, shared by the criterion benchmarks and the
//! `throughput` example.

#[path = "../../tests/bare/mod.rs"]
mod bare;

use isa::asm::{addi, bne, i, j, lui, lw, r, sw};
use sim_core::engine::EngineKind;
use sim_core::{Cycle, NullObserver, Observer};
use tile::{Tile, TileConfig};

/// Data of core *i* begins at `DATA + i * DATA_STRIDE`.
const DATA: u32 = 0x4_0000;
const DATA_STRIDE: u32 = 0x1_0000;

/// What every busy core executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Loop {
    /// Eight instructions: additions, shifts, a multiplication, a jump.
    Alu,
    /// Eight instructions: two loads, two stores to the core's own words of L1, a jump.
    LoadStore,
    /// Copies 4 KiB of L1 word by word, over and over, one load and one store in six.
    Memcpy,
    /// As `LoadStore`, in the core's local data RAM.
    Local,
    /// Polls a word of L1 that never changes.
    Poll,
}

impl Loop {
    /// The name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Alu => "alu",
            Self::LoadStore => "load-store",
            Self::Memcpy => "memcpy",
            Self::Local => "local",
            Self::Poll => "poll",
        }
    }
}

/// The words of a program whose data begin at `data`.
fn words(body: Loop, data: u32) -> Vec<u32> {
    let load_store = |base: u32| {
        vec![
            lui(4, base),
            lw(5, 4, 0),
            addi(5, 5, 1),
            sw(5, 4, 0),
            lw(6, 4, 16),
            r(0, 0, 6, 6, 5),
            sw(6, 4, 32),
            addi(7, 7, 1),
            j(-28),
        ]
    };
    match body {
        Loop::Alu => vec![
            addi(5, 5, 1),
            r(0, 4, 6, 6, 5),
            i(0x13, 1, 7, 5, 3),
            r(0, 0, 8, 8, 7),
            r(0x20, 0, 9, 8, 6),
            r(1, 0, 10, 9, 5),
            i(0x13, 7, 11, 10, 0x7F),
            j(-28),
        ],
        Loop::LoadStore => load_store(data),
        Loop::Local => load_store(0xFFB0_0000),
        Loop::Memcpy => vec![
            lui(4, data),
            lui(6, data + 0x1000),
            lui(5, data + 0x1000),
            lw(7, 4, 0),
            sw(7, 5, 0),
            addi(4, 4, 4),
            addi(5, 5, 4),
            addi(8, 8, 1),
            bne(4, 6, -20),
            j(-36),
        ],
        Loop::Poll => vec![lui(4, data), lw(5, 4, 0), bne(5, 0, 8), j(-8), j(0)],
    }
}

/// A tile whose first `busy` cores execute `body`, just out of reset. Nobody watches.
pub(crate) fn tile(body: Loop, busy: usize, config: TileConfig) -> Tile<NullObserver> {
    watched(body, busy, config, NullObserver)
}

/// The same with somebody who watches.
pub(crate) fn watched<O: Observer>(
    body: Loop,
    busy: usize,
    config: TileConfig,
    observer: O,
) -> Tile<O> {
    let mut tile = Tile::new(config, observer).expect("the host can start threads");
    let program = |core| words(body, DATA + core as u32 * DATA_STRIDE);
    bare::start(&mut tile, &(0..busy).map(program).collect::<Vec<_>>());
    tile
}

/// The defaults with every core on the calling thread, so that figures of hosts compare.
pub(crate) fn inline() -> TileConfig {
    TileConfig { engine: EngineKind::Inline, ..TileConfig::default() }
}

/// Lets `cycles` more cycles pass.
pub(crate) fn run<O: Observer>(tile: &mut Tile<O>, cycles: u64) {
    let limit = Cycle(tile.now().0 + cycles);
    let stop = tile.run(limit, None);
    assert!(
        matches!(stop, tile::Stop::Limit | tile::Stop::Quiescent(_)),
        "a benchmark program went wrong: {stop:?}"
    );
}
