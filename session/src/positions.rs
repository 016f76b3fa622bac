//! Where everybody stands at this moment, hang or not: every tile that is not at rest, alike ones once.
//!
//! What a person asks for who sees nothing happen. Nothing is proved here and nothing is judged.

use std::fmt;

use chip::{Chip, HungTile, Role};
use observe::CodeName;
use observe::why::{End, Explanation, Held, Link, Running, Scene, explain};
use serde::Serialize;
use sim_core::{AgentId, CoreId, Observer, ThreadId};
use tile::{AgentWait, Tile};

use crate::books::{Blank, Books, Kept};
use crate::tiles::{list, role, tile_name};
use crate::view::TileView;

/// A core or a Tensix thread, and what it is at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Position {
    /// Who: `BRISC`, `Tensix T0`.
    pub who: String,
    /// `runs`, or what it waits for, in words.
    pub does: String,
    /// Since when, if it waits and that is known.
    pub since: Option<u64>,
    /// The next instruction, or the waiting one.
    pub pc: Option<u32>,
    /// Where that is in the source.
    pub code: Option<CodeName>,
    /// The Tensix instruction that waits.
    pub instruction: Option<String>,
    /// What it holds back, if it is a wait instruction.
    pub held: Option<Held>,
    /// Firmware without a kernel: it had none in this launch, or has finished it.
    pub idle: bool,
}

impl Position {
    /// Whether it stands in the same way: who runs is nowhere for long.
    fn is_like(&self, other: &Self) -> bool {
        let function = |position: &Self| position.code.as_ref().map(|code| code.function.clone());
        (&self.who, &self.does) == (&other.who, &other.does)
            && match self.does.as_str() {
                RUNS => function(self) == function(other),
                _ => self.pc == other.pc,
            }
    }
}

/// The word for a core that does not wait.
const RUNS: &str = "runs";
/// The words for who has made a mistake.
const ERRED: &str = "has erred and stays where it is";

/// A tile that is not at rest.
#[derive(Clone, Debug, Serialize)]
pub struct TilePositions {
    /// Coordinates as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// How it is used, in a word.
    pub role: &'static str,
    /// The operation that launched its kernels.
    pub operation: Option<String>,
    /// Kernels by core.
    pub kernels: Vec<(String, String)>,
    /// Its cores, then its Tensix threads with something to do.
    pub positions: Vec<Position>,
    /// Other tiles that stand in the same way.
    pub alike: Vec<(u8, u8)>,
}

/// Where everybody stands.
#[derive(Clone, Debug, Serialize)]
pub struct Positions {
    /// When.
    pub cycle: u64,
    /// Tiles that are not at rest, alike ones once.
    pub tiles: Vec<TilePositions>,
    /// How many tiles have firmware and no kernel.
    pub resting: usize,
}

impl Positions {
    /// Where everybody stands on a lone tile, as an explanation of it has it.
    #[must_use]
    pub fn of_tile(tile: (u8, u8), noc: (u8, u8), stands: &Explanation) -> Self {
        let runs = |running: &Running| Position {
            who: running.agent.to_string(),
            does: running.text.clone(),
            since: None,
            pc: Some(running.pc),
            code: running.code.clone(),
            instruction: None,
            held: None,
            idle: false,
        };
        let waits = stands.waits.iter().map(|link| {
            // BRISC waits there for the others.
            let idle = link.agent != AgentId::Core(CoreId::Brisc) && link.text.contains(SYNC);
            Position { idle, ..waiting(link) }
        });
        let positions: Vec<Position> = stands.running.iter().map(runs).chain(waits).collect();
        let tile = TilePositions {
            tile,
            noc,
            role: "launched by the host",
            operation: None,
            kernels: Vec::new(),
            positions,
            alike: Vec::new(),
        };
        Self { cycle: stands.found, tiles: vec![tile], resting: 0 }
    }
}

/// Words in which the cores of the vendor's firmware are told to start a kernel `[spec: boot-and-sync 1.5]`.
const SYNC: &str = "subordinate_sync.";

/// Looks where everybody stands. `view` says what is known of a tile.
pub fn positions<O: Kept + Send + 'static>(
    chip: &mut Chip<O>,
    view: impl FnMut(&Tile<O>, &HungTile) -> TileView,
) -> Positions {
    of_chip(chip, |tile| tile.observer().books(), view)
}

/// The same of a chip whose observers keep no books.
pub(crate) fn standing<O: Observer + Send + 'static>(
    chip: &mut Chip<O>,
    view: impl FnMut(&Tile<O>, &HungTile) -> TileView,
) -> Positions {
    of_chip(chip, |_| None, view)
}

fn of_chip<O: Observer + Send + 'static>(
    chip: &mut Chip<O>,
    books: impl Fn(&Tile<O>) -> Option<Books<'_>>,
    mut view: impl FnMut(&Tile<O>, &HungTile) -> TileView,
) -> Positions {
    let standing = chip.standing();
    let mut all = Positions { cycle: standing.found.0, tiles: Vec::new(), resting: 0 };
    for seen in &standing.tiles {
        if seen.role == Role::Resting {
            all.resting += 1;
            continue;
        }
        let tile = chip
            .inspect(seen.number, |tile| tile_positions(tile, seen, view(tile, seen), books(tile)));
        if !tile.positions.is_empty() {
            all.add(tile);
        }
    }
    all
}

impl Positions {
    fn add(&mut self, tile: TilePositions) {
        let like = |other: &&mut TilePositions| {
            other.role == tile.role
                && other.kernels == tile.kernels
                && other.positions.len() == tile.positions.len()
                && other.positions.iter().zip(&tile.positions).all(|(one, two)| one.is_like(two))
        };
        match self.tiles.iter_mut().find(like) {
            Some(other) => other.alike.push(tile.tile),
            None => self.tiles.push(tile),
        }
    }
}

fn tile_positions<O: Observer>(
    tile: &Tile<O>,
    seen: &HungTile,
    view: TileView,
    books: Option<Books<'_>>,
) -> TilePositions {
    let blank = Blank::of(tile);
    let books = books.unwrap_or_else(|| blank.books());
    let scene = Scene {
        end: End::NoProgress,
        found: tile.now().0,
        closed: None,
        waits: &seen.waits,
        ledger: books.ledger,
        findings: &[],
        wrong: None,
        machine: tile,
        loops: books.loops,
        polled: books.polled,
        names: &*view.names,
        circular: &view.circular,
        launches: &[],
    };
    let links = explain(&scene, None).waits;
    let core = |core: CoreId| {
        let agent = AgentId::Core(core);
        let waits = links.iter().find(|link| link.agent == agent);
        let idle = seen.role != Role::Bare && is_idle(core, &seen.waits);
        waits.map(|link| Position { idle, ..waiting(link) }).or_else(|| {
            if tile.has_erred(core) {
                // What it did then has been told, other words for each tile.
                return Some(at(&view, (agent, core), tile.erred_at(core), ERRED));
            }
            (!tile.is_dead(core)).then(|| at(&view, (agent, core), tile.core(core).pc(), RUNS))
        })
    };
    let erred = |thread: ThreadId| {
        let agent = AgentId::Thread(thread);
        Some(at(&view, (agent, thread.core()), tile.mistake(agent)?.at.pc?, ERRED))
    };
    let waits = |link: &&Link| match link.agent {
        AgentId::Core(_) => false,
        AgentId::Thread(thread) => erred(thread).is_none(),
        _ => true,
    };
    let mut positions: Vec<Position> = CoreId::ALL.into_iter().filter_map(core).collect();
    positions.extend(ThreadId::ALL.into_iter().filter_map(erred));
    positions.extend(links.iter().filter(waits).map(waiting));
    TilePositions {
        tile: seen.place.worker(),
        noc: (seen.place.logical.x, seen.place.logical.y),
        role: role(seen.role),
        positions,
        operation: view.operation,
        kernels: view.kernels,
        alike: Vec::new(),
    }
}

/// Whether a core of the vendor's firmware waits for its next launch `[spec: boot-and-sync 1.5]`. BRISC,
/// which waits there for the others, is not idle.
fn is_idle(core: CoreId, waits: &[AgentWait]) -> bool {
    let is_sync = |addr| {
        let place = memory_map::mailbox::place(addr);
        place.is_some_and(|place| place.name.starts_with(SYNC))
    };
    let wait = waits.iter().find(|wait| wait.agent == AgentId::Core(core));
    core != CoreId::Brisc
        && wait.is_some_and(|wait| {
            !wait.reads.is_empty()
                && wait.reads.iter().all(|load| !load.device && is_sync(load.addr))
        })
}

fn waiting(link: &Link) -> Position {
    Position {
        who: link.agent.to_string(),
        does: link.text.clone(),
        since: link.since,
        pc: link.pc,
        code: link.code.clone(),
        instruction: link.instruction.clone(),
        held: link.held.clone(),
        idle: false,
    }
}

/// A core that does not wait.
/// What an agent is at that waits for nothing; with the core whose code it executes.
fn at(view: &TileView, (agent, core): (AgentId, CoreId), pc: u32, does: &str) -> Position {
    Position {
        who: agent.to_string(),
        does: does.to_owned(),
        since: None,
        pc: Some(pc),
        code: view.names.site(core, pc),
        instruction: None,
        held: None,
        idle: false,
    }
}

impl Position {
    /// Two lines, one of them for who runs; with the kernel, if there is one.
    fn show(&self, f: &mut fmt::Formatter<'_>, kernel: Option<&str>) -> fmt::Result {
        write!(f, "   {:<9} ", self.who)?;
        if let Some(kernel) = kernel {
            write!(f, "[{kernel}] ")?;
        }
        f.write_str(&self.does)?;
        if let Some(since) = self.since {
            write!(f, " since cycle {since}")?;
        }
        let place = match (&self.code, self.pc) {
            (Some(code), Some(pc)) => format!("{code}, pc {pc:#x}"),
            (None, Some(pc)) => format!("pc {pc:#x}"),
            _ => return writeln!(f),
        };
        match &self.instruction {
            Some(instruction) => {
                writeln!(f, "\n             at {instruction}, pushed in {place}")?;
            }
            None if self.does == RUNS => writeln!(f, " in {place}")?,
            None => writeln!(f, "\n             in {place}")?,
        }
        match &self.held {
            Some(held) => writeln!(f, "             holds back {held}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Positions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let busy: usize = self.tiles.iter().map(|tile| 1 + tile.alike.len()).sum();
        let tiles = if busy == 1 { "tile" } else { "tiles" };
        write!(f, "where everybody stands at cycle {}: {busy} {tiles} at work", self.cycle)?;
        match self.resting {
            0 => writeln!(f)?,
            resting => writeln!(f, ", {resting} with firmware and no kernel")?,
        }
        for tile in &self.tiles {
            writeln!(f, "\n{}, {}", tile_name(tile.tile, tile.noc), tile.role)?;
            if let Some(operation) = &tile.operation {
                writeln!(f, "   operation {operation}")?;
            }
            if !tile.alike.is_empty() {
                writeln!(f, "   so do {}", list(&tile.alike))?;
            }
            let kernel = |position: &Position| {
                let own = tile.kernels.iter().find(|(core, _)| *core == position.who);
                own.map(|(_, kernel)| kernel.as_str())
            };
            for position in tile.positions.iter().filter(|position| !position.idle) {
                position.show(f, kernel(position))?;
            }
            let idle: Vec<String> = tile
                .positions
                .iter()
                .filter(|position| position.idle)
                .map(|position| match kernel(position) {
                    Some(kernel) => format!("{} [{kernel}]", position.who),
                    None => position.who.clone(),
                })
                .collect();
            if !idle.is_empty() {
                writeln!(f, "   no kernel, or finished with it: {}", idle.join(", "))?;
            }
        }
        Ok(())
    }
}
