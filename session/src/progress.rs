//! A hint about a chip at work that gets nowhere: who goes round which loop, what it stores there, and who
//! waits meanwhile. Nothing is proved: a loop that stores may end.

use std::fmt;

use chip::{Chip, HungTile, Moving};
use observe::why::{Round, round};
use observe::{CodeName, Names};
use serde::Serialize;
use sim_core::CoreId;
use sim_core::l1::L1_BYTES;
use tile::Tile;

use crate::books::Kept;
use crate::positions::{Positions, positions};
use crate::report::TileView;
use crate::show::tile_name;

/// Places that are named of each loop.
const PLACES: usize = 4;

/// A core that goes round a loop.
#[derive(Clone, Debug, Serialize)]
pub struct Looping {
    /// Its tile, as the vendor's runtime counts workers.
    pub tile: (u8, u8),
    /// Translated NoC coordinates.
    pub noc: (u8, u8),
    /// Its name.
    pub core: String,
    /// First and last instruction of the round.
    pub pcs: (u32, u32),
    /// The lines of the round: `kernel_main reader.cpp:10-14`, one for each function.
    pub lines: Vec<String>,
    /// The words of L1 that it stores to, by name.
    pub stores: Vec<String>,
}

/// The hint.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    /// Since when nothing has happened but rounds of loops.
    pub since: u64,
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
    moving: &[Moving],
    since: u64,
    mut view: impl FnMut(&Tile<O>, &HungTile) -> TileView,
) -> Progress {
    let mut loops = Vec::new();
    let standing = chip.standing();
    for seen in standing.tiles.iter().filter(|tile| tile.has_any(moving)) {
        chip.inspect(seen.number, |tile| {
            let view = view(tile, seen);
            for one in moving.iter().filter(|one| one.tile == seen.number) {
                let round = round(tile, one.core, one.pc);
                loops.push(looping(seen, one.core, &round, &*view.names));
            }
        });
    }
    let positions = positions(chip, view);
    Progress { since, cycle: chip.now().0, loops, positions }
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
    for code in round.pcs.iter().filter_map(|pc| names.code(core, *pc)) {
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

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "NO-PROGRESS (a hint, no proof): for {} cycles the host has only waited, and cores have gone \
             round in loops without a request on a NoC, a count or a computation",
            self.cycle - self.since
        )?;
        for one in &self.loops {
            let (first, last) = one.pcs;
            write!(f, "  {} {} goes round ", tile_name(one.tile, one.noc), one.core)?;
            match one.lines.is_empty() {
                true => writeln!(f, "pc {first:#x} to {last:#x}")?,
                false => writeln!(f, "{} (pc {first:#x} to {last:#x})", some(&one.lines))?,
            }
            if !one.stores.is_empty() {
                writeln!(f, "      stores to {}", some(&one.stores))?;
            }
        }
        write!(f, "{}", self.positions)
    }
}
