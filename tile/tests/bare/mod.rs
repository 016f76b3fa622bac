//! Cores that execute given words straight out of reset, without firmware.

use memory_map::reg::tile_control::SOFT_RESET_0;
use sim_core::{CoreId, Cycle, EpochLength, NullObserver, Observer, Shortcuts};
use tile::{Stop, Tile, TileConfig};

/// The bits of SOFT_RESET_0 that hold the cores `[isa-bh: TensixTile/SoftReset.md]`.
pub(crate) const RESET_BITS: [u32; CoreId::COUNT] = [1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 18];
/// Where the cores start when no reset PC is overridden `[spec: boot-and-sync 1.3]`.
pub(crate) const ENTRIES: [u32; CoreId::COUNT] = [0, 0x6000, 0xA000, 0xE000, 0x12000];

/// Has the cores execute these programs, by [`CoreId::ALL`]; one with an empty program, or without one,
/// stays in reset.
pub(crate) fn start<O: Observer>(tile: &mut Tile<O>, programs: &[impl AsRef<[u32]>]) {
    let mut held = RESET_BITS.iter().fold(0, |all, bit| all | bit);
    for (core, words) in programs.iter().map(AsRef::as_ref).enumerate() {
        if !words.is_empty() {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            tile.host_write(ENTRIES[core], &bytes).expect("L1 is mapped");
            held &= !RESET_BITS[core];
        }
    }
    tile.host_write_word(SOFT_RESET_0, held).expect("the register is mapped");
}

/// A tile that nobody observes, whose cores execute these programs.
#[allow(dead_code, reason = "every test crate uses a part of it")]
pub(crate) fn tile(programs: &[Vec<u32>], shortcuts: Shortcuts, epoch: u32) -> Tile<NullObserver> {
    let epoch = EpochLength::new(epoch).expect("the lengths are valid");
    let config = TileConfig { shortcuts, epoch, ..TileConfig::default() };
    let mut tile = Tile::new(config, NullObserver).expect("no threads to start");
    start(&mut tile, programs);
    tile
}

/// As [`outcome`], without when nothing could move any more: a core that is not parked does not end.
#[allow(dead_code, reason = "every test crate uses a part of it")]
pub(crate) fn states<O: Observer>(
    tile: Tile<O>,
    limits: impl IntoIterator<Item = u64>,
) -> Vec<String> {
    let mut seen = outcome(tile, limits);
    seen.retain(|line| !line.starts_with("quiescent"));
    seen
}

/// Mistakes before these cycles, and cycle, state and instructions at each of them: all that can be told of a run. One
/// that makes many mistakes is not followed to its end.
#[allow(dead_code, reason = "every test crate uses a part of it")]
pub(crate) fn outcome<O: Observer>(
    mut tile: Tile<O>,
    limits: impl IntoIterator<Item = u64>,
) -> Vec<String> {
    let mut seen = Vec::new();
    for limit in limits.into_iter().map(Cycle) {
        loop {
            match tile.run(limit, None) {
                Stop::Limit => break,
                Stop::Quiescent(_) => {
                    seen.push(format!("quiescent {:?}", tile.now()));
                    tile.pass_time(limit);
                    break;
                }
                stop => seen.push(format!("{stop:?}")),
            }
            if seen.len() > 20 {
                return seen;
            }
        }
        seen.push(format!("{:?} {:x} {:?}", tile.now(), tile.state_hash(), tile.instructions()));
    }
    seen
}
