//! What of a tile can be chosen.

use devices::Niu;
use devices::niu::{Coordinate, Identity};
use riscv::{CoreConfig, IcacheModel};
use sim_core::engine::EngineKind;
use sim_core::{EpochLength, Shortcuts};
use tensix::{Coprocessor, TimingModel, Warned};

/// What of a tile can be chosen. Engine and shortcuts never change a result.
#[derive(Clone, Copy, Debug)]
pub struct TileConfig {
    /// Cycles per epoch.
    pub epoch: EpochLength,
    /// Who runs on which host thread.
    pub engine: EngineKind,
    /// Which ways to the same result are taken.
    pub shortcuts: Shortcuts,
    /// How instruction fetch sees stores to code.
    pub icache: IcacheModel,
    /// Whether `ebreak` halts a core (else it is a diagnosed mistake).
    pub debugger: bool,
    /// What coprocessor instructions cost.
    pub timing: TimingModel,
    /// Checks of the coprocessor that are lowered to warnings: what they diagnose does not end the
    /// run (`docs/checks.md`).
    pub warned: Warned,
    /// Translated NoC coordinates of the tile: what NOC_ID_LOGICAL shows. The first Tensix tile
    /// of a Blackhole is (1, 2) `[spec: boot-and-sync 8.12]`.
    pub coordinates: (u8, u8),
    /// Position of the tile in NoC 0 coordinates; equal to `coordinates` where no tile is fused
    /// off.
    pub position: (u8, u8),
    /// Whether other endpoints exist: then [`crate::Tile::take_departures`] gives what is for
    /// them. Else writes to them are absorbed and reads from them are refused.
    pub networked: bool,
}

impl Default for TileConfig {
    fn default() -> Self {
        Self {
            epoch: EpochLength::default(),
            engine: EngineKind::Auto,
            shortcuts: Shortcuts::ALL,
            icache: IcacheModel::Coherent,
            debugger: false,
            timing: TimingModel::Unit,
            warned: Warned::NONE,
            coordinates: (1, 2),
            position: (1, 2),
            networked: false,
        }
    }
}

impl TileConfig {
    pub(crate) fn niu(&self, noc: u8) -> Niu {
        let place = |(x, y)| Coordinate { x, y };
        let (physical, logical) = (place(self.position), place(self.coordinates));
        Niu::with_identity(Identity { noc, physical, logical })
    }

    pub(crate) fn coprocessor(&self) -> Coprocessor {
        let mut tensix = Coprocessor::new(self.timing);
        tensix.set_warned(self.warned);
        tensix.set_shortcuts(self.shortcuts);
        tensix
    }

    pub(crate) fn core(&self) -> CoreConfig {
        CoreConfig {
            epoch: self.epoch,
            shortcuts: self.shortcuts,
            icache: self.icache,
            debugger: self.debugger,
        }
    }
}
