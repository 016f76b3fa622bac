//! A debugger that talks to a tile as tt-exalens does: the same register accesses, in the same
//! order `[exalens: hardware/baby_risc_debug.py, hardware/blackhole/baby_risc_debug.py,
//! debug_bus_signal_store.py]`; and words to write small programs with.

#![allow(dead_code, reason = "every test file uses a part")]

#[path = "../bare/mod.rs"]
pub(crate) mod bare;

use bare::{RESET_BITS, start};
use memory_map::reg::tile_control::SOFT_RESET_0;
use sim_core::engine::EngineKind;
use sim_core::{CoreId, NullObserver, Observer};
use tile::{Stop, Tile, TileConfig};

const CNTL_0: u32 = 0xFFB1_2080;
const CNTL_1: u32 = 0xFFB1_2084;
const STATUS_0: u32 = 0xFFB1_2088;
const STATUS_1: u32 = 0xFFB1_208C;
const DBG_BUS_CTRL: u32 = 0xFFB1_2054;
const DBG_RD_DATA: u32 = 0xFFB1_205C;

/// Status bits.
pub(crate) const HALTED: u32 = 0x1;
pub(crate) const PC_HIT: u32 = 0x2;
pub(crate) const MEMORY_HIT: u32 = 0x4;
pub(crate) use isa::asm::{addi, j, lui, lw, sw};

pub(crate) const EBREAK_HIT: u32 = 0x8;
pub(crate) const HIT_0: u32 = 0x100;

const DEBUG_MODE: u32 = 0x8000_0000;

pub(crate) fn config(engine: EngineKind) -> TileConfig {
    TileConfig { engine, debugger: true, ..TileConfig::default() }
}

/// A tile whose cores execute these words; an empty program stays in reset.
pub(crate) fn tile<O: Observer>(
    programs: [&[u32]; CoreId::COUNT],
    config: TileConfig,
    observer: O,
) -> Tile<O> {
    let mut tile = Tile::new(config, observer).expect("the host can start threads");
    start(&mut tile, &programs);
    tile
}

pub(crate) fn reset<O: Observer>(tile: &mut Tile<O>, core: CoreId, on: bool) {
    let value = tile.host_read_word(SOFT_RESET_0).expect("mapped");
    let bit = RESET_BITS[core as usize];
    let value = if on { value | bit } else { value & !bit };
    tile.host_write_word(SOFT_RESET_0, value).expect("mapped");
}

/// Runs for that many cycles, through pauses and quiescence.
pub(crate) fn run<O: Observer>(tile: &mut Tile<O>, cycles: u64) {
    let limit = tile.now() + cycles;
    while tile.now() < limit {
        match tile.run(limit, None) {
            Stop::Limit | Stop::Halted(_) => {}
            Stop::Quiescent(_) => tile.pass_time(limit),
            stop => panic!("a test program went wrong: {stop:?}"),
        }
    }
}

/// The debug interface of one core.
#[derive(Clone, Copy)]
pub(crate) struct Debugger(pub(crate) CoreId);

impl Debugger {
    fn poke<O: Observer>(tile: &mut Tile<O>, addr: u32, value: u32) {
        tile.host_write_word(addr, value).expect("a debug register is written as documented");
    }

    pub(crate) fn write<O: Observer>(self, tile: &mut Tile<O>, register: u32, value: u32) {
        Self::poke(tile, CNTL_1, value);
        Self::poke(tile, CNTL_0, 0x8001_0000 + ((self.0 as u32) << 17) + register);
        Self::poke(tile, CNTL_0, 0);
    }

    pub(crate) fn read<O: Observer>(self, tile: &mut Tile<O>, register: u32) -> u32 {
        Self::poke(tile, CNTL_0, 0x8000_0000 + ((self.0 as u32) << 17) + register);
        Self::poke(tile, CNTL_0, 0);
        let status = tile.host_read_word(STATUS_0).expect("mapped");
        assert_eq!(status >> 30 & 1, 1, "the answer is valid");
        tile.host_read_word(STATUS_1).expect("mapped")
    }

    pub(crate) fn command<O: Observer>(self, tile: &mut Tile<O>, command: u32) {
        self.write(tile, 1, DEBUG_MODE + command);
    }

    pub(crate) fn status<O: Observer>(self, tile: &mut Tile<O>) -> u32 {
        self.read(tile, 0)
    }

    pub(crate) fn is_halted<O: Observer>(self, tile: &mut Tile<O>) -> bool {
        self.status(tile) & HALTED != 0
    }

    pub(crate) fn halt<O: Observer>(self, tile: &mut Tile<O>) {
        self.command(tile, 1);
    }

    /// Blackhole needs two commands.
    pub(crate) fn step<O: Observer>(self, tile: &mut Tile<O>) {
        self.command(tile, 2);
        self.command(tile, 2);
    }

    /// With the flush that works around an erratum after `ebreak`.
    pub(crate) fn resume<O: Observer>(self, tile: &mut Tile<O>) {
        if self.status(tile) & EBREAK_HIT != 0 {
            let pc = self.pc(tile);
            self.write(tile, 3, pc);
            self.command(tile, 0x100);
        }
        self.command(tile, 4);
    }

    pub(crate) fn register<O: Observer>(self, tile: &mut Tile<O>, index: u32) -> u32 {
        self.write(tile, 2, index);
        self.command(tile, 8);
        self.read(tile, 4)
    }

    pub(crate) fn set_register<O: Observer>(self, tile: &mut Tile<O>, index: u32, value: u32) {
        self.write(tile, 3, value);
        self.write(tile, 2, index);
        self.command(tile, 0x10);
    }

    pub(crate) fn memory<O: Observer>(self, tile: &mut Tile<O>, addr: u32) -> u32 {
        self.write(tile, 2, addr);
        self.command(tile, 0x20);
        self.read(tile, 4)
    }

    pub(crate) fn set_memory<O: Observer>(self, tile: &mut Tile<O>, addr: u32, value: u32) {
        self.write(tile, 3, value);
        self.write(tile, 2, addr);
        self.command(tile, 0x40);
    }

    /// Watchpoint `index`: mode 8 breakpoint, 9 read, 10 write, 11 both; 0 off.
    pub(crate) fn watch<O: Observer>(self, tile: &mut Tile<O>, index: u32, addr: u32, mode: u32) {
        self.write(tile, 10 + index, addr);
        let settings = self.read(tile, 5) & !(0xF << (4 * index));
        self.write(tile, 5, settings | mode << (4 * index));
    }

    /// The pc by the debug bus.
    pub(crate) fn pc<O: Observer>(self, tile: &mut Tile<O>) -> u32 {
        let signal = [11, 13, 15, 17, 25][self.0 as usize];
        Self::poke(tile, DBG_BUS_CTRL, 1 << 29 | 1 << 25 | 7 << 16 | signal);
        tile.host_read_word(DBG_RD_DATA).expect("mapped") & 0x3FFF_FFFF
    }
}

pub(crate) const EBREAK: u32 = 0x0010_0073;
pub(crate) const NOP: u32 = 0x13;

/// Where the counting programs store.
pub(crate) const DATA: u32 = 0x2_0000;

/// Counts in x5, stores the count, reads it back, adds it up in x7.
pub(crate) fn counting(data: u32) -> Vec<u32> {
    vec![
        lui(10, data),
        addi(5, 5, 1),
        sw(5, 10, 0),
        lw(6, 10, 0),
        addi(7, 7, 3),
        NOP,
        addi(8, 6, 0),
        j(-24),
    ]
}

/// A tile of five counting cores, each with a word of its own.
pub(crate) fn five(engine: EngineKind) -> Tile {
    let programs: Vec<Vec<u32>> = (0..5).map(|core| counting(DATA + core * 0x1000)).collect();
    let programs: Vec<&[u32]> = programs.iter().map(Vec::as_slice).collect();
    let programs = programs.try_into().expect("five programs");
    tile(programs, config(engine), NullObserver)
}
