//! The report as text: the tile with the cause in full, the others in a line each.

use std::fmt;

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
            writeln!(f, "to the same address of another tile, and not here:")?;
        }
        for sender in &self.elsewhere {
            writeln!(f, "  * {sender}")?;
        }
        if !self.silent.is_empty() {
            writeln!(f, "run the same as those who wrote, and have not: {}", list(&self.silent))?;
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
        writeln!(
            f,
            "{} on {} tile(s), found at cycle {}; {}",
            self.verdict,
            self.tiles.iter().map(|tile| 1 + tile.alike.len()).sum::<usize>(),
            self.found,
            self.host
        )?;
        writeln!(f, "{}, {}", place(first), first.role)?;
        kernels(f, first)?;
        if !first.alike.is_empty() {
            writeln!(f, "   so do {}", list(&first.alike))?;
        }
        if let Some(remote) = &first.remote {
            write!(f, "\n{remote}")?;
        }
        write!(f, "\n{}", first.explanation)?;
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
        if !self.bystanders.is_empty() {
            writeln!(f, "not stuck themselves: {}", list(&self.bystanders))?;
        }
        Ok(())
    }
}
