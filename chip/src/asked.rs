//! What a write of a host asks of the debug hardware of a tile, for which time has to pass within the call.

use devices::tile_control::SERIES;
use memory_map::reg::tile_control::{self, dbg_l1_mem_reg2 as sampling};
use sim_core::Observer;
use tile::Tile;

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Asked {
    /// Nothing of that kind.
    #[default]
    Nothing,
    /// A command to a core.
    Command,
    /// Samples of the debug bus, one after the other, on the tile with that number.
    Samples(u16, Series),
}

impl Asked {
    /// What a write to a tile asks.
    pub(crate) fn of(tile: u16, addr: u32, bytes: &[u8]) -> Self {
        const TRIGGER: u32 = 1 << 31;
        let Some(&value) = bytes.first_chunk() else { return Self::Nothing };
        let value = u32::from_le_bytes(value);
        match addr {
            tile::DEBUG_CONTROL if value & TRIGGER != 0 => Self::Command,
            tile_control::DBG_L1_MEM_REG2 => {
                Series::new(value).map_or(Self::Nothing, |series| Self::Samples(tile, series))
            }
            _ => Self::Nothing,
        }
    }
}

/// A series of samples of the debug bus: what was written into `DBG_L1_MEM_REG2`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Series(u32);

impl Series {
    fn new(value: u32) -> Option<Self> {
        let begins =
            sampling::WRITE_MODE.of(value) == SERIES && sampling::WRITE_TRIGGER.is_set(value);
        begins.then_some(Self(value))
    }

    /// Cycles between two of them.
    pub(crate) fn interval(self) -> u64 {
        u64::from(sampling::SAMPLING_INTERVAL.of(self.0)) + 1
    }

    /// How many are to follow those that the tile has taken.
    pub(crate) fn left<O: Observer>(self, tile: &mut Tile<O>) -> u32 {
        let mut read = |register| {
            let mut bytes = [0; 4];
            tile.host_read(register, &mut bytes).map_or(0, |()| u32::from_le_bytes(bytes))
        };
        let at = read(tile_control::DBG_L1_MEM_REG0);
        read(tile_control::DBG_L1_MEM_REG1).saturating_sub(at)
    }

    /// Has the tile take the next one, and gives how many are left then: as many as before where none can be taken.
    /// What is wrong with it was the answer to the first.
    pub(crate) fn take<O: Observer>(self, tile: &mut Tile<O>) -> u32 {
        for value in [self.0 & !sampling::WRITE_TRIGGER.mask(), self.0] {
            drop(tile.host_write(tile_control::DBG_L1_MEM_REG2, &value.to_le_bytes()));
        }
        self.left(tile)
    }
}
