//! The report as text: the tile with the cause in full, the others in a line each.

use std::fmt;

use crate::report::{Cause, Report};
use crate::standpoint::TileReport;
use crate::tiles::{list, tile_name};

/// Tiles that are shown beside the first.
const OTHERS: usize = 12;

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

/// `tile (0, 1) [NoC (1, 3)]`.
pub(crate) fn place(tile: &TileReport) -> String {
    tile_name(tile.tile, tile.noc)
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
