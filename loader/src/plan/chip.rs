//! Plans of several tiles: per launch what goes to which tile and to DRAM, and what the host does beside.

use std::path::Path;

use super::args::{Places, Scope, Worker};
use super::build::{self, Images};
use super::file::{RawAction, RawBlock, RawLaunch, RawMode, RawSpan};
use super::launch::Launch;
use super::merge;

/// Memory that a host reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// L1 of a tile.
    Tile(Worker),
    /// A DRAM channel.
    Dram(u8),
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tile((x, y)) => write!(f, "tile ({x}, {y})"),
            Self::Dram(channel) => write!(f, "DRAM channel {channel}"),
        }
    }
}

/// An address in some memory, with its translated NoC coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    /// Which memory.
    pub target: Target,
    /// Where that is on the NoC, x then y.
    pub noc: (u8, u8),
    /// Byte address in it.
    pub address: u32,
}

/// Bytes at an address: to be written, awaited or expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Where.
    pub at: At,
    /// Which.
    pub bytes: Vec<u8>,
}

/// What a host does beside launching.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Writes.
    Write(Block),
    /// Reads so many bytes, for whoever looks on.
    Read(At, u32),
    /// Reads over and over until it finds these bytes.
    Wait(Block),
    /// Lets so many cycles pass.
    Pass(u64),
}

/// A launch as it is for one tile.
#[derive(Clone, Debug)]
pub struct TileLaunch {
    /// The tile.
    pub worker: Worker,
    /// Its translated NoC coordinates, x then y.
    pub noc: (u8, u8),
    /// What is written to it. Its expectations are of its own L1.
    pub launch: Launch,
}

/// A launch over some tiles, which start together.
#[derive(Clone, Debug)]
pub struct ChipLaunch {
    /// Name from the plan.
    pub name: String,
    /// How many times it is launched, at least 1.
    pub repeat: u32,
    /// The tiles, at least one.
    pub tiles: Vec<TileLaunch>,
    /// Writes to DRAM before it, and to L1 of tiles that are not launched; repeated every time.
    pub inputs: Vec<Block>,
    /// What the host does when all have started, before it waits for them.
    pub meanwhile: Vec<Action>,
    /// What it does when all are done.
    pub after: Vec<Action>,
    /// What must hold then, besides what must hold on the launched tiles.
    pub expects: Vec<Block>,
}

impl ChipLaunch {
    /// The name of a round, counted from 0: the launch's own unless it is repeated.
    #[must_use]
    pub fn round_name(&self, round: u32) -> String {
        if self.repeat > 1 { format!("{} #{}", self.name, round + 1) } else { self.name.clone() }
    }
}

/// A checked plan of several tiles.
#[derive(Clone, Debug)]
pub struct ChipPlan {
    /// Launches in the order of the file, at least one.
    pub launches: Vec<ChipLaunch>,
}

impl ChipPlan {
    /// The tiles that need firmware, each once, in the order in which they are first launched.
    #[must_use]
    pub fn tiles(&self) -> Vec<(Worker, (u8, u8))> {
        let mut found: Vec<(Worker, (u8, u8))> = Vec::new();
        for tile in self.launches.iter().flat_map(|launch| &launch.tiles) {
            if !found.iter().any(|(worker, _)| *worker == tile.worker) {
                found.push((tile.worker, tile.noc));
            }
        }
        found
    }
}

/// Whether a launch says something that one tile alone does not have.
pub(super) fn is_of_chip(raw: &RawLaunch) -> bool {
    let of_chip = |block: &RawBlock| block.tile.is_some() || block.dram.is_some();
    raw.tiles.is_some()
        || !raw.on.is_empty()
        || !raw.meanwhile.is_empty()
        || !raw.after.is_empty()
        || raw.input.iter().chain(&raw.expect).any(of_chip)
}

/// Builds one launch.
pub(super) fn launch(
    raw: &RawLaunch,
    index: usize,
    dir: &Path,
    places: &Places,
    images: &mut Images,
) -> Result<ChipLaunch, String> {
    if raw.mode == RawMode::Dev {
        return Err("mode: a plan of several tiles has mode = \"host\"".to_owned());
    }
    let workers = merge::launched(raw, places)?;
    let count = u32::try_from(workers.len()).unwrap_or(u32::MAX);
    let mut tiles = Vec::with_capacity(workers.len());
    for (at, &worker) in (0..).zip(&workers) {
        let (x, y) = worker;
        let named = |why| format!("tile ({x}, {y}): {why}");
        let own = merge::for_tile(raw, worker, places)?;
        let semaphores = Vec::new();
        let scope = Scope { places, own: Some((worker, at)), count, semaphores };
        let launch = build::launch(own, index, dir, images, scope).map_err(named)?;
        tiles.push(TileLaunch { worker, noc: places.tile(worker)?, launch });
    }
    let list = |actions: &[RawAction], key: &str| -> Result<Vec<Action>, String> {
        let each = (1..).zip(actions).map(|(number, raw)| {
            action(raw, dir, places).map_err(|why| format!("{key} {number}: {why}"))
        });
        each.collect()
    };
    Ok(ChipLaunch {
        name: raw.name.clone(),
        repeat: raw.repeat,
        tiles,
        inputs: elsewhere(&raw.input, "input", &workers, dir, places)?,
        meanwhile: list(&raw.meanwhile, "meanwhile")?,
        after: list(&raw.after, "after")?,
        expects: elsewhere(&raw.expect, "expect", &workers, dir, places)?,
    })
}

/// Blocks in DRAM, and in L1 of tiles that are not launched.
fn elsewhere(
    blocks: &[RawBlock],
    what: &str,
    workers: &[Worker],
    dir: &Path,
    places: &Places,
) -> Result<Vec<Block>, String> {
    let mut found = Vec::new();
    for (number, raw) in (1..).zip(blocks) {
        let what = format!("{what} {number}");
        let own = raw.tile.is_none_or(|[x, y]| workers.contains(&(x, y)));
        if raw.dram.is_some() || !own {
            found.push(block(raw, &what, dir, places)?);
        }
    }
    Ok(found)
}

fn block(raw: &RawBlock, what: &str, dir: &Path, places: &Places) -> Result<Block, String> {
    let bytes = build::block_bytes(raw, what, dir)?;
    let at = at(raw.tile, raw.dram, raw.address, places).map_err(|why| format!("{what}: {why}"))?;
    Ok(Block { at, bytes })
}

fn at(
    tile: Option<[u8; 2]>,
    dram: Option<u8>,
    address: u32,
    places: &Places,
) -> Result<At, String> {
    let (target, noc) = match (tile, dram) {
        (Some(_), Some(_)) => return Err("is either of a tile or of dram".to_owned()),
        (None, Some(channel)) => (Target::Dram(channel), places.dram(channel)?),
        (tile, None) => {
            let [x, y] = tile.unwrap_or_default();
            (Target::Tile((x, y)), places.tile((x, y))?)
        }
    };
    Ok(At { target, noc, address })
}

/// Most bytes of one read: they are shown.
const MAX_READ: u32 = 1 << 20;

fn action(raw: &RawAction, dir: &Path, places: &Places) -> Result<Action, String> {
    match (&raw.write, &raw.read, &raw.wait, raw.cycles) {
        (Some(write), None, None, None) => Ok(Action::Write(block(write, "write", dir, places)?)),
        (None, Some(read), None, None) => {
            let RawSpan { tile, dram, address, bytes } = *read;
            let at = at(tile, dram, address, places).map_err(|why| format!("read: {why}"))?;
            if bytes > MAX_READ {
                return Err(format!("read: {bytes} bytes are more than {MAX_READ} at once"));
            }
            if bytes == 0 || dram.is_none() && !crate::layout::in_l1(address, bytes) {
                return Err(format!("read: {bytes} bytes at {address:#x} are not a range of L1"));
            }
            Ok(Action::Read(at, bytes))
        }
        (None, None, Some(wait), None) => Ok(Action::Wait(block(wait, "wait", dir, places)?)),
        (None, None, None, Some(cycles)) => Ok(Action::Pass(cycles)),
        _ => Err("needs exactly one of write, read, wait, cycles".to_owned()),
    }
}
