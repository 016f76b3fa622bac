//! The report as text: the tile with the cause in full, the others in a line each.

use std::fmt;

use crate::cause::{Cause, Step};
use crate::report::{Remote, Report, Sender, TileReport};

/// Tiles that are shown beside the first.
const OTHERS: usize = 12;

/// `tile (0, 1) [NoC (1, 3)]`.
pub(crate) fn place(tile: &TileReport) -> String {
    tile_name(tile.tile, tile.noc)
}

/// The same of coordinates.
pub(crate) fn tile_name((x, y): (u8, u8), (noc_x, noc_y): (u8, u8)) -> String {
    format!("tile ({x}, {y}) [NoC ({noc_x}, {noc_y})]")
}

/// The first tiles of a list, and how many more there are.
pub(crate) fn list(tiles: &[(u8, u8)]) -> String {
    let mut texts: Vec<_> = tiles.iter().take(8).map(|(x, y)| format!("({x}, {y})")).collect();
    if tiles.len() > texts.len() {
        texts.push(format!("{} more", tiles.len() - texts.len()));
    }
    texts.join(", ")
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (x, y) = self.tile;
        write!(
            f,
            "tile ({x}, {y}) {} in {}: {} x {}",
            self.core, self.place, self.count, self.what
        )?;
        if let Some(why) = self.astray {
            write!(f, ": {why}")?;
        }
        write!(f, ", last at cycle {}", self.last)?;
        if self.finished { f.write_str("; it has finished") } else { Ok(()) }
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "written into {} since the launch:", self.word)?;
        if self.arrived.is_empty() {
            writeln!(f, "  nothing")?;
        }
        for sender in &self.arrived {
            writeln!(f, "  {sender}")?;
        }
        if !self.elsewhere.is_empty() {
            writeln!(f, "likely meant for it, and went elsewhere:")?;
        }
        for sender in &self.elsewhere {
            writeln!(f, "  * {sender}")?;
        }
        if !self.unheard.is_empty() {
            writeln!(f, "sent from here to tiles on which no core runs:")?;
        }
        for sender in &self.unheard {
            writeln!(f, "  {sender}")?;
        }
        for behind in &self.behind {
            let (x, y) = behind.tile;
            let ends = if behind.finished { "; it has finished" } else { "" };
            writeln!(
                f,
                "less often than others that run the same: tile ({x}, {y}), {} of {} x{ends}",
                behind.count, behind.others
            )?;
        }
        if !self.quit.is_empty() {
            let tiles: Vec<_> = self.quit.iter().map(|quit| quit.tile).collect();
            writeln!(
                f,
                "have finished and raised it on no tile, as others that run the same have: {}",
                list(&tiles)
            )?;
        }
        if !self.unasked.is_empty() {
            let tiles: Vec<_> = self.unasked.iter().map(|unasked| unasked.tile).collect();
            writeln!(f, "were answered and wait for more without a new one: {}", list(&tiles))?;
        }
        for stale in &self.stale {
            writeln!(
                f,
                "went on with an old count: tile {:?} {} in {}: {} was {} since its wait in {}, last at cycle {}",
                stale.tile,
                stale.core,
                stale.again,
                stale.word,
                stale.value,
                stale.first,
                stale.cycle
            )?;
        }
        if !self.silent.is_empty() {
            writeln!(f, "run the same as those who wrote, and have not: {}", list(&self.silent))?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", tile_name(self.tile, self.noc), self.agent, self.text)?;
        if let Some(since) = self.since {
            write!(f, " since cycle {since}")?;
        }
        if let Some(place) = self.place() {
            write!(f, "\n      in {place}")?;
        }
        match &self.needs {
            Some(needs) => writeln!(f, "\n      needs {needs}"),
            None => writeln!(f),
        }
    }
}

/// The cause first, then how it holds the others, tile by tile; nothing if one tile is all of it.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.circle {
            writeln!(f, "\na circle over the chip")?;
            for step in self.ring.iter().take(self.ring.len().saturating_sub(1)) {
                write!(f, "  * {step}")?;
            }
        }
        let Some((root, held)) = self.chain.split_last() else { return Ok(()) };
        if held.is_empty() {
            return Ok(());
        }
        if !self.circle {
            write!(f, "\ncause over the chip\n  * {root}")?;
        }
        writeln!(f, "which holds")?;
        for step in held.iter().rev() {
            write!(f, "  < {step}")?;
        }
        Ok(())
    }
}

fn kernels(f: &mut fmt::Formatter<'_>, tile: &TileReport) -> fmt::Result {
    if let Some(operation) = &tile.operation {
        writeln!(f, "   operation {operation}")?;
    }
    for (core, name) in &tile.kernels {
        writeln!(f, "   {core:<7} runs {name}")?;
    }
    Ok(())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.tiles.split_first() else {
            return writeln!(f, "{}: nobody is stuck", self.verdict);
        };
        let count = self.tiles.iter().map(|tile| 1 + tile.alike.len()).sum::<usize>();
        let class = self
            .cause
            .hazard
            .map_or_else(String::new, |hazard| format!("[{}]: {}", hazard.id, hazard.name));
        writeln!(f, "{}{class} on {count} tile(s): {}", self.verdict, self.cause.headline)?;
        let operation = first.operation.as_ref().map(|name| format!("in {name}, "));
        let operation = operation.unwrap_or_default();
        writeln!(f, "  {operation}found at cycle {}; {}", self.found, self.host)?;
        write!(f, "{}", self.cause)?;
        writeln!(f, "\n{}, {}", place(first), first.role)?;
        kernels(f, first)?;
        if !first.alike.is_empty() {
            writeln!(f, "   so do {}", list(&first.alike))?;
        }
        if let Some(remote) = &first.remote {
            write!(f, "\n{remote}")?;
        }
        write!(f, "\n{}", first.explanation)?;
        if !first.requests.is_empty() {
            writeln!(f, "its last requests on that NoC:")?;
        }
        for request in &first.requests {
            writeln!(f, "  {request}")?;
        }
        for tile in others.iter().take(OTHERS) {
            writeln!(f, "{}, {}: {}", place(tile), tile.role, tile.explanation.headline)?;
            if let Some(root) = tile.explanation.chain.last()
                && let Some(code) = &tile.explanation.waits[*root].code
            {
                writeln!(f, "      in {code}")?;
            }
            if let Some(remote) = &tile.remote {
                write!(f, "{remote}")?;
            }
            if !tile.alike.is_empty() {
                writeln!(f, "      so do {}", list(&tile.alike))?;
            }
        }
        if others.len() > OTHERS {
            writeln!(f, "and {} tiles more, each in its own way", others.len() - OTHERS)?;
        }
        // The first tile says it of what it has found by itself.
        let own = first.explanation.hazard;
        if let Some(hazard) = self.cause.hazard.filter(|_| own.is_none()) {
            writeln!(f, "help: {}", hazard.next)?;
        }
        if !self.bystanders.is_empty() {
            writeln!(f, "not stuck themselves: {}", list(&self.bystanders))?;
        }
        Ok(())
    }
}
