//! `UNPACR_NOP`: side effects in sequence with `UNPACR`.
//!
//! Blackhole's encoding, least significant bit first: operation 1:0, clear value 3:2, both banks 4,
//! wait like `UNPACR` 5, format of one 7:6, set dvalid 8; for register writes accumulate 3, value
//! 14:4, address select 15 and 22, stream or address 21:16; unpacker 23
//! `[llk: instructions/assembly.yaml#UNPACR_NOP]`.
//!
//! Sources: also `[isa-wh: TensixCoprocessor/UNPACR_NOP_*.md]`.

use isa::config::field;
use sim_core::Category;

use super::settings::Section;
use crate::backend::Backend;
use crate::env::Env;
use crate::state::src::{SRC_COLUMNS, SrcBanks};
use crate::units::{Fault, Issued};

/// All 19 bits of a cell: the lowest value `[isa-wh: UNPACR_NOP_ZEROSRC.md]`.
const NEGATIVE_INFINITY: u32 = 0x7_FFFF;

/// What an `UNPACR_NOP` does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Nop {
    /// Occupies the unpacker.
    Idle,
    /// Clears a bank or both, then perhaps hands it over.
    Clear { value: u32, both: bool, wait_like_unpacr: bool, set_dvalid: bool },
    /// Hands the bank over.
    SetDvalid,
    /// Frees messages of an overlay stream: the configured one, or one named here.
    OverlayClear { stream: Option<u8> },
    /// Writes a register of the tile.
    SetRegister { select: u32, address: u32, value: u32, accumulate: bool },
}

impl Nop {
    pub(super) const fn decode(word: u32) -> Self {
        let value = word >> 2 & 3;
        let stream = (word >> 16 & 0x3F) as u8;
        // Without anything else, Wormhole's encoding of setting dvalid.
        if word >> 6 & 3 == 3 && word & 3 != 3 || word & 0x7F_FFFF == 7 {
            return Self::SetDvalid;
        }
        match word & 3 {
            1 => Self::Clear {
                value,
                both: word >> 4 & 1 != 0,
                wait_like_unpacr: word >> 5 & 1 != 0,
                set_dvalid: word >> 8 & 1 != 0,
            },
            2 => Self::Idle,
            // Bit 2 makes it a register write; Wormhole has operation 4 for that.
            operation => {
                if value & 1 != 0 {
                    Self::SetRegister {
                        select: word >> 22 & 1,
                        address: word >> 16 & 0x3F,
                        value: word >> 4 & 0x7FF,
                        accumulate: value & 2 != 0,
                    }
                } else if operation == 3 && word >> 4 & 0x7FF != 0 {
                    Self::OverlayClear { stream: Some(stream) }
                } else {
                    Self::OverlayClear { stream: None }
                }
            }
        }
    }

    /// The bank that has to belong to the unpackers first.
    pub(super) fn waits_for(self, banks: &SrcBanks) -> Option<bool> {
        match self {
            Self::Clear { wait_like_unpacr: true, .. } => Some(banks.unpacker_bank),
            Self::Clear { wait_like_unpacr: false, .. } => Some(banks.matrix_bank),
            Self::Idle | Self::SetDvalid | Self::OverlayClear { .. } | Self::SetRegister { .. } => {
                None
            }
        }
    }
}

impl Backend {
    /// `UNPACR_NOP`.
    pub(crate) fn unpacr_nop<E: Env>(&mut self, issued: &Issued, env: &mut E) -> Result<(), Fault> {
        let _ = env;
        let unpacker = issued.field(23, 1) as usize;
        match Nop::decode(issued.word) {
            Nop::Idle => {}
            Nop::SetDvalid => self.set_dvalid(issued, unpacker),
            Nop::Clear { value, both, set_dvalid, .. } => {
                let cell = self.clear_value(issued, unpacker, value);
                let banks = &mut self.src[unpacker];
                let own = usize::from(banks.unpacker_bank);
                for (bank, cells) in banks.cells.iter_mut().enumerate() {
                    if both || bank == own {
                        cells.fill([cell; SRC_COLUMNS]);
                    }
                }
                if set_dvalid {
                    self.set_dvalid(issued, unpacker);
                }
            }
            Nop::OverlayClear { .. } | Nop::SetRegister { .. } => {
                return Err(issued.error(
                    Category::Unimplemented,
                    "tensix-unimplemented",
                    "register write",
                ));
            }
        }
        Ok(())
    }

    fn clear_value(&self, issued: &Issued, unpacker: usize, select: u32) -> u32 {
        let section = Section::new(&self.config, issued.thread.index(), unpacker);
        match select {
            0 => 0,
            1 => NEGATIVE_INFINITY,
            2 => match issued.field(6, 2) {
                0 => 15 << 10,
                1 => 127 << 10,
                _ => 16 << 10 | 1,
            },
            _ => {
                let bits = section.own([
                    &field::UNP0_NOP_REG_CLR_VAL_nop_reg_clr_val,
                    &field::UNP1_NOP_REG_CLR_VAL_nop_reg_clr_val,
                ]);
                bits & NEGATIVE_INFINITY
            }
        }
    }
}
