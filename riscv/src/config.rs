//! What of a core can be chosen, where its RAM lies, and what it sees.

use memory_map::View;
use sim_core::{CoreId, EpochLength, Shortcut, Shortcuts};

use crate::icache::IcacheModel;

/// Where a core sees its own local data RAM `[isa-bh: TensixTile/BabyRISCV/README.md]`.
pub const LOCAL_BASE: u32 = 0xFFB0_0000;

/// How a core sees addresses.
#[must_use]
pub const fn view(core: CoreId) -> View {
    match core {
        CoreId::Brisc => View::B,
        CoreId::Trisc0 => View::T0,
        CoreId::Trisc1 => View::T1,
        CoreId::Trisc2 => View::T2,
        CoreId::Ncrisc => View::Nc,
    }
}

/// What of a core can be chosen.
#[derive(Clone, Copy, Debug)]
pub struct CoreConfig {
    /// Cycles per epoch.
    pub epoch: EpochLength,
    /// Which ways to the same result are taken.
    pub shortcuts: Shortcuts,
    /// How instruction fetch sees stores to code.
    pub icache: IcacheModel,
    /// Whether `ebreak` halts for a debugger (else it is a diagnosed mistake).
    pub debugger: bool,
}

impl Default for CoreConfig {
    fn default() -> Self {
        Self {
            epoch: EpochLength::default(),
            shortcuts: Shortcuts::ALL,
            icache: IcacheModel::Coherent,
            debugger: false,
        }
    }
}

impl CoreConfig {
    /// Whether each instruction is executed with care, whatever it is.
    pub(crate) fn is_careful(&self) -> bool {
        self.icache == IcacheModel::Stale || !self.shortcuts.has(Shortcut::FastLoop)
    }

    /// Whether jumps of polling loops are marked where they are decoded.
    pub(crate) fn marks_polls(&self) -> bool {
        self.shortcuts.has(Shortcut::Parking) && self.shortcuts.has(Shortcut::Polls)
    }
}
