//! What went wrong in the machine, in words, for whoever asks next.

use devices::DeviceFault;
use devices::niu::{Coordinate, NocPacket};
use sim_core::{Cycle, GuestError};

/// Most reports that are kept; a guest that errs in a loop must not fill the memory.
const KEPT: usize = 1000;

/// Guest mistakes, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    lines: Vec<String>,
    dropped: u64,
}

impl Reports {
    pub(crate) fn add(&mut self, line: String) {
        if self.lines.len() < KEPT {
            self.lines.push(line);
        } else {
            self.dropped += 1;
        }
    }

    /// A mistake in the tile at those coordinates.
    pub(crate) fn guest(&mut self, tile: Coordinate, error: &GuestError) {
        let hint = match tensix::Check::by_id(error.id) {
            Ok(check) => {
                format!("; TILESCOPE_WARN={} goes on with: {}", error.id, check.row().lowered)
            }
            Err(_) => String::new(),
        };
        self.add(format!("tile ({}, {}): {error}{hint}", tile.x, tile.y));
    }

    /// A request to a coordinate where nothing is.
    pub(crate) fn nowhere(
        &mut self,
        tile: Coordinate,
        cycle: Cycle,
        packet: &NocPacket,
        at: Coordinate,
    ) {
        self.add(format!(
            "tile ({}, {}): UndefinedBehavior [noc-no-such-tile]: NoC {} request for address {:#x} \
             of ({}, {}), where no tile is (cycle {cycle})",
            tile.x,
            tile.y,
            packet.noc,
            packet.address(),
            at.x,
            at.y
        ));
    }

    /// A request that an endpoint refused.
    pub(crate) fn endpoint(
        &mut self,
        tile: Coordinate,
        cycle: Cycle,
        packet: &NocPacket,
        fault: &DeviceFault,
    ) {
        self.add(format!(
            "tile ({}, {}): {fault} (NoC {} request for address {:#x}, cycle {cycle})",
            tile.x,
            tile.y,
            packet.noc,
            packet.address()
        ));
    }

    /// Takes all reports.
    pub(crate) fn take(&mut self) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.lines);
        if self.dropped != 0 {
            lines.push(format!("{} more reports were dropped", self.dropped));
            self.dropped = 0;
        }
        lines
    }
}
