//! L1 in hexadecimal.

use std::io::Write;

use anyhow::Result;
use sim_core::Observer;
use tile::Tile;

/// A hexadecimal dump of L1.
///
/// # Errors
/// The output cannot be written.
pub(super) fn dump<O: Observer>(
    tile: &Tile<O>,
    address: u32,
    bytes: u32,
    out: &mut dyn Write,
) -> Result<()> {
    let mut content = vec![0; bytes as usize];
    tile.l1().read_bytes(address, &mut content);
    for (row, at) in content.chunks(16).zip((address..).step_by(16)) {
        write!(out, "{at:08x} ")?;
        for chunk in row.chunks(4) {
            let word = chunk.iter().rev().fold(0_u32, |word, &byte| word << 8 | u32::from(byte));
            write!(out, " {word:0width$x}", width = 2 * chunk.len())?;
        }
        writeln!(out)?;
    }
    Ok(())
}
