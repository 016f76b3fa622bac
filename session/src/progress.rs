//! A hint about a chip at work that gets nowhere: who goes round which loop, what it stores there, and who
//! waits meanwhile. Nothing is proved: a loop that stores, or asks another tile again and again, may end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use chip::{Chip, HungTile, Moving, Role};
use observe::why::{Round, round};
use observe::{CodeName, Names};
use serde::Serialize;
use sim_core::l1::L1_BYTES;
use sim_core::{AgentId, CoreId, Cycle};
use tile::Tile;

use crate::books::Kept;
use crate::positions::{Positions, positions};
use crate::tiles::tile_name;
use crate::view::TileView;

/// Places that are named of each loop.
const PLACES: usize = 4;

/// What is known of a chip at work that gets nowhere.
#[derive(Clone, Debug)]
pub struct Hint {
    /// Since when that is so.
    pub since: Cycle,
    /// Who is at work, at all places where it was seen.
    pub moving: Vec<Moving>,
    /// Whether nothing happens but rounds of loops; else requests and counts do, and hardly any memory changes.
    pub only_rounds: bool,
}

/// A core that goes round a loop.
#[derive(Clone, Debug, Serialize)]
pub struct Looping {
    /// Its tile, as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// Its name.
    pub core: String,
    /// First and last instruction of the round, or of where it was seen.
    pub pcs: (u32, u32),
    /// The lines of the round: `kernel_main reader.cpp:10-14`, one for each function.
    pub lines: Vec<String>,
    /// The words of L1 that it stores to, by name.
    pub stores: Vec<String>,
}

/// The hint.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    /// Since when nothing has happened but rounds of loops, or hardly any memory has changed.
    pub since: u64,
    /// Whether nothing has happened but rounds of loops.
    pub only_rounds: bool,
    /// Now.
    pub cycle: u64,
    /// Who goes round.
    pub loops: Vec<Looping>,
    /// Where everybody stands.
    pub positions: Positions,
}

/// Says who goes round which loop. `view` says what is known of a tile.
pub fn progress<O: Kept + Send + 'static>(
    chip: &mut Chip<O>,
    hint: &Hint,
    mut view: impl FnMut(&Tile<O>, &HungTile) -> TileView,
) -> Progress {
    let mut places: BTreeMap<(u16, CoreId), BTreeSet<u32>> = BTreeMap::new();
    for one in &hint.moving {
        places.entry((one.tile, one.core)).or_default().insert(one.pc);
    }
    let mut loops = Vec::new();
    let standing = chip.standing();
    // A dispatcher goes round its own loops whatever happens.
    let is_told = |tile: &&HungTile| tile.role != Role::Dispatcher && tile.has_any(&hint.moving);
    for seen in standing.tiles.iter().filter(is_told) {
        chip.inspect(seen.number, |tile| {
            let view = view(tile, seen);
            let own = places.iter().filter(|((tile, _), _)| *tile == seen.number);
            for ((_, core), pcs) in own.filter(|((_, core), _)| has_moved(seen, *core, hint.since))
            {
                // Of who sends requests the registers tell no round: they are those of this moment only.
                let round = match (hint.only_rounds, pcs.first()) {
                    (true, Some(pc)) => round(tile, *core, *pc),
                    _ => Round { pcs: pcs.iter().copied().collect(), ..Round::default() },
                };
                loops.push(looping(seen, *core, &round, &*view.names));
            }
        });
    }
    let positions = positions(chip, view);
    let Hint { since, only_rounds, .. } = *hint;
    Progress { since: since.0, only_rounds, cycle: chip.now().0, loops, positions }
}

/// Whether a core does not wait as it did then. One that polls may go round once when a packet comes.
fn has_moved(seen: &HungTile, core: CoreId, since: Cycle) -> bool {
    let wait = seen.waits.iter().find(|wait| wait.agent == AgentId::Core(core));
    wait.is_none_or(|wait| wait.since.is_none_or(|began| began > since))
}

fn looping(seen: &HungTile, core: CoreId, round: &Round, names: &dyn Names) -> Looping {
    let stores = round.stores.iter().filter(|addr| **addr < L1_BYTES);
    let name =
        |addr: &u32| names.l1(*addr).map_or_else(|| format!("L1 {addr:#x}"), |place| place.name);
    let noc = seen.place.logical;
    Looping {
        tile: seen.place.worker(),
        noc: (noc.x, noc.y),
        core: core.name().to_owned(),
        pcs: (
            round.pcs.first().copied().unwrap_or_default(),
            round.pcs.last().copied().unwrap_or_default(),
        ),
        lines: lines(round, core, names),
        stores: stores.map(name).collect(),
    }
}

/// The lines of a round by function and file.
fn lines(round: &Round, core: CoreId, names: &dyn Names) -> Vec<String> {
    let mut spans: Vec<(CodeName, u32, u32)> = Vec::new();
    for code in round.pcs.iter().filter_map(|pc| names.site(core, *pc)) {
        let Some(line) = code.line.filter(|line| *line != 0) else { continue };
        let same = |span: &&mut (CodeName, u32, u32)| {
            (&span.0.function, &span.0.file) == (&code.function, &code.file)
        };
        match spans.iter_mut().find(same) {
            Some((_, first, last)) => (*first, *last) = ((*first).min(line), (*last).max(line)),
            None => spans.push((code, line, line)),
        }
    }
    let text = |(code, first, last): (CodeName, u32, u32)| {
        let file = code.file.unwrap_or_default();
        match first == last {
            true => format!("{} {file}:{first}", code.function),
            false => format!("{} {file}:{first}-{last}", code.function),
        }
    };
    spans.into_iter().map(text).collect()
}

/// The first of a list, and how many more there are.
fn some(list: &[String]) -> String {
    let mut text = list.iter().take(PLACES).cloned().collect::<Vec<_>>().join(", ");
    if list.len() > PLACES {
        text += &format!(" and {} more", list.len() - PLACES);
    }
    text
}

impl Looping {
    /// Whether another core of that name goes round the same.
    fn is_like(&self, other: &Self) -> bool {
        (&self.core, &self.lines, &self.stores) == (&other.core, &other.lines, &other.stores)
            && (!self.lines.is_empty() || self.pcs == other.pcs)
    }
}

impl Progress {
    /// Cores that go round the same on several tiles, once each.
    fn grouped(&self) -> Vec<(&Looping, usize)> {
        let mut groups: Vec<(&Looping, usize)> = Vec::new();
        for one in &self.loops {
            match groups.iter_mut().find(|(first, _)| first.is_like(one)) {
                Some((_, more)) => *more += 1,
                None => groups.push((one, 0)),
            }
        }
        groups
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cycles = self.cycle - self.since;
        write!(
            f,
            "NO-PROGRESS (a hint, no proof): for {cycles} cycles the host has only waited, and "
        )?;
        f.write_str(match self.only_rounds {
            true => "cores have gone round in loops without a request on a NoC, a count or a computation\n",
            false => "whatever has been sent, counted or computed meanwhile, hardly any memory has changed\n",
        })?;
        for (one, more) in self.grouped() {
            let (first, last) = one.pcs;
            let does = if self.only_rounds { "goes round" } else { "was seen in" };
            write!(f, "  {} {} ", tile_name(one.tile, one.noc), one.core)?;
            match more {
                0 => {}
                1 => f.write_str("(and that of 1 more tile) ")?,
                more => write!(f, "(and those of {more} more tiles) ")?,
            }
            let pcs = if first == last {
                format!("{first:#x}")
            } else {
                format!("{first:#x} to {last:#x}")
            };
            match one.lines.is_empty() {
                true => writeln!(f, "{does} pc {pcs}")?,
                false => writeln!(f, "{does} {} (pc {pcs})", some(&one.lines))?,
            }
            if !one.stores.is_empty() {
                writeln!(f, "      stores to {}", some(&one.stores))?;
            }
        }
        write!(f, "{}", self.positions)
    }
}
