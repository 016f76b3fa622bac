//! The report as text: the tile with the cause in full, the others in a line each.

use std::fmt;

use crate::report::{Report, TileReport};

/// Tiles that are shown beside the first.
const OTHERS: usize = 12;

/// `tile (0, 1) [NoC (1, 3)]`.
pub(crate) fn place(tile: &TileReport) -> String {
    let ((x, y), (noc_x, noc_y)) = (tile.tile, tile.noc);
    format!("tile ({x}, {y}) [NoC ({noc_x}, {noc_y})]")
}

fn list(tiles: &[(u8, u8)]) -> String {
    let mut texts: Vec<_> = tiles.iter().take(8).map(|(x, y)| format!("({x}, {y})")).collect();
    if tiles.len() > texts.len() {
        texts.push(format!("{} more", tiles.len() - texts.len()));
    }
    texts.join(", ")
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
        write!(f, "\n{}", first.explanation)?;
        for tile in others.iter().take(OTHERS) {
            writeln!(f, "{}, {}: {}", place(tile), tile.role, tile.explanation.headline)?;
            if let Some(root) = tile.explanation.chain.last()
                && let Some(code) = &tile.explanation.waits[*root].code
            {
                writeln!(f, "      in {code}")?;
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
