//! What went wrong in the machine, in words, for whoever asks next.

use devices::DeviceFault;
use devices::niu::{Coordinate, NocPacket};
use sim_core::{Cycle, GuestError};
use tile::Ebreak;

use crate::grid::{Other, TensixTile};

/// Most reports that are kept; a guest that errs in a loop must not fill the memory.
const KEPT: usize = 1000;

/// Guest mistakes, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reports {
    lines: Vec<String>,
    notes: Vec<String>,
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
    pub(crate) fn guest(&mut self, tile: TensixTile, error: &GuestError) {
        let hint = match tensix::Check::by_id(error.id) {
            Ok(check) => {
                format!("; TILESCOPE_WARN={} goes on with: {}", error.id, check.row().lowered)
            }
            Err(_) => String::new(),
        };
        self.add(format!("{tile}: {error}{hint}"));
    }

    /// A core that has come to an `ebreak`; `attended`: the host is a debugger, which may have placed it.
    pub(crate) fn ebreak(&mut self, tile: TensixTile, ebreak: Ebreak, attended: bool) {
        let Ebreak { core, pc, cycle } = ebreak;
        let what = if attended {
            "a debugger is at work and can let it go on"
        } else {
            "no debugger has been seen, so it stays there: a failed assertion of the kernel \
             (LLK_ASSERT, ASSERT) or a trap of the compiler"
        };
        let line = format!(
            "{tile}: [ebreak]: {core} has stopped at ebreak or ecall, pc {pc:#x}, cycle {cycle}: {what}"
        );
        if !attended {
            self.add(line);
        } else if self.notes.len() < KEPT {
            self.notes.push(line);
        }
    }

    /// Takes what is worth saying and no mistake.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// A request to a coordinate where nothing is.
    pub(crate) fn nowhere(
        &mut self,
        tile: TensixTile,
        cycle: Cycle,
        packet: &NocPacket,
        at: Coordinate,
    ) {
        self.add(format!(
            "{tile}: UndefinedBehavior [noc-no-such-tile]: NoC {} request for address {:#x} \
             of NoC ({}, {}), where no tile is (cycle {cycle})",
            packet.noc,
            packet.address(),
            at.x,
            at.y
        ));
    }

    /// A request that an endpoint refused.
    pub(crate) fn endpoint(
        &mut self,
        tile: TensixTile,
        cycle: Cycle,
        endpoint: Other,
        packet: &NocPacket,
        fault: &DeviceFault,
    ) {
        let at = Coordinate::from_bits(packet.coordinate());
        self.add(format!(
            "{tile}: {fault} (NoC {} request for address {:#x} of {endpoint} [NoC ({}, {})], cycle {cycle})",
            packet.noc,
            packet.address(),
            at.x,
            at.y
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
