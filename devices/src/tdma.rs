//! TDMA-RISC: mover command queue, packer and unpacker side-band configuration.
//!
//! Source: `[isa-wh: TensixTile/TDMA-RISC.md]`; the Blackhole page is not public
//! `[unknown: U-003]`. Configuration registers hold their values; a command comes back as a
//! [`MoverCommand`] for the command processor, which lives with the mover in the coprocessor, as
//! does the state that the status registers show. Registers with the packers' and unpackers' metadata are
//! only decoded here ([`Tdma::metadata`]).

use memory_map::Target;
use sim_core::{Category, CoreId, StateHasher, ThreadId};

use crate::fault::{DeviceFault, ReadClass, nearest};

use memory_map::reg::tdma_risc::{
    CLK_GATE_EN_OFFSET as CLK_GATE_EN, CLK_GATE_HYST_OFFSET as CLK_GATE_HYST,
    COMMAND_OFFSET as COMMAND, FIFO_PACKED_TILE_STATUS_OFFSET as PACK_REGISTER_BASE,
    SCALERS_AND_STATUS_0_OFFSET as SCALERS_0, SCALERS_AND_STATUS_1_OFFSET as SCALERS_1,
    STATUS_OFFSET as STATUS, XMOV_L1_BASE_ADDR_OFFSET as XMOV_L1_BASE,
};

/// What a metadata register shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metadata {
    /// Size of the last tile, if that thread packed it.
    Size(ThreadId),
    /// Sizes that the thread packed, added up; a store resets them.
    AccumulatedSize(ThreadId),
    /// Zero flags of the last tile.
    ZeroFlags,
    /// Size of the oldest tile in the FIFO; a load waits for one.
    Peek,
    /// Zero flags of the oldest tile in the FIFO; any access takes it out.
    Pop,
}

/// What others know that status registers show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shown {
    /// The command processor's status.
    pub commands: u32,
    /// State of the metadata FIFOs, two bits each.
    pub metadata: u32,
    /// Busy packers and accumulated register writes, from bit 27 on, by unpacker.
    pub packers: [u32; 2],
}

/// A command for the command processor, as the registers were when it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoverCommand {
    /// The written word; bit 31 set: it uses no parameters.
    pub word: u32,
    /// The four parameter registers.
    pub parameters: [u32; 4],
    /// `XMOV_L1_BASE_ADDR` of the writing core.
    pub base: u32,
}

/// TDMA-RISC registers.
#[derive(Clone, Debug, Default)]
pub struct Tdma {
    parameters: [u32; 4],
    mover_base: [u32; 4],
    unpack_register_base: u32,
    pack_register_base: u32,
    hysteresis: u32,
    scalers: [u32; 4],
}

/// Index of a core among those with their own mover base; the others share TRISC0's.
fn mover_slot(core: CoreId) -> usize {
    if core.index() < 4 { core.index() } else { CoreId::Trisc0.index() }
}

fn unmapped(offset: u32) -> DeviceFault {
    let text =
        format!("no TDMA-RISC register at +{offset:#x}; {}", nearest(Target::TdmaRisc, offset));
    DeviceFault::new(Category::UndefinedBehavior, "tdma-unmapped", text)
}

impl Tdma {
    /// Registers at power-on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The packer and what of it a metadata register shows; `None` for other registers. They repeat
    /// every 0x40 per thread and every 0x100 per packer.
    #[must_use]
    pub fn metadata(offset: u32) -> Option<(u32, Metadata)> {
        let in_packer = offset & 0xFF;
        let thread = ThreadId::from_index((in_packer >> 6) as usize);
        let what = match (in_packer & 0x3F, thread) {
            (0x18, Some(thread)) => Metadata::Size(thread),
            (0x1C, Some(thread)) => Metadata::AccumulatedSize(thread),
            (0x20, Some(ThreadId::T0)) => Metadata::ZeroFlags,
            (0x30, Some(ThreadId::T0)) => Metadata::Peek,
            (0x34, Some(ThreadId::T0)) => Metadata::Pop,
            _ => return None,
        };
        (offset < 0x400).then_some((offset >> 8, what))
    }

    /// How a polling core has to treat the register.
    #[must_use]
    pub fn read_class(offset: u32) -> ReadClass {
        match Self::metadata(offset) {
            Some((_, Metadata::Pop)) => ReadClass::SideEffect,
            _ => ReadClass::Pure,
        }
    }

    /// Whether a write to that register is a command, which may have to wait for room.
    #[must_use]
    pub const fn is_command(offset: u32) -> bool {
        offset == COMMAND
    }

    /// Reads a register other than metadata as `core`.
    ///
    /// # Errors
    /// `tdma-unmapped`: no such register.
    pub fn read(&self, offset: u32, core: CoreId, shown: Shown) -> Result<u32, DeviceFault> {
        let packed = self.scalers[..3].iter().rev().fold(0, |bits, scaler| bits << 9 | scaler);
        match offset {
            0x00..=COMMAND if offset & 3 == 0 => Ok(0),
            STATUS => Ok(shown.commands),
            CLK_GATE_EN => Ok(self.unpack_register_base),
            CLK_GATE_HYST => Ok(self.hysteresis),
            XMOV_L1_BASE => Ok(self.mover_base[mover_slot(core)]),
            PACK_REGISTER_BASE => Ok(self.pack_register_base << 8 | shown.metadata),
            SCALERS_0 => Ok(packed | shown.packers[0]),
            SCALERS_1 => Ok(packed | shown.packers[1]),
            _ => Err(unmapped(offset)),
        }
    }

    /// Writes a register other than metadata as `core`; a command comes back.
    ///
    /// # Errors
    /// `tdma-unmapped`: no such register.
    pub fn write(
        &mut self,
        offset: u32,
        value: u32,
        core: CoreId,
    ) -> Result<Option<MoverCommand>, DeviceFault> {
        match offset {
            0x00 | 0x04 | 0x08 | 0x0C => self.parameters[(offset / 4) as usize] = value,
            COMMAND => {
                let base = self.mover_base[mover_slot(core)];
                return Ok(Some(MoverCommand { word: value, parameters: self.parameters, base }));
            }
            STATUS => {}
            CLK_GATE_EN => self.unpack_register_base = value & 0xFFFF_FF7F,
            CLK_GATE_HYST => {
                self.hysteresis = value & 0x01FF_007F;
                self.scalers[3] = value >> 16 & 0x1FF;
            }
            XMOV_L1_BASE => self.mover_base[mover_slot(core)] = value,
            PACK_REGISTER_BASE => self.pack_register_base = value,
            SCALERS_0 | SCALERS_1 => {
                for (i, scaler) in self.scalers[..3].iter_mut().enumerate() {
                    *scaler = value >> (9 * i) & 0x1FF;
                }
            }
            _ => return Err(unmapped(offset)),
        }
        Ok(None)
    }

    /// Raw value that selects the base of the register `UNPACR_NOP` writes.
    #[must_use]
    pub fn unpack_register_base(&self) -> u32 {
        self.unpack_register_base
    }

    /// The two register bases of `PACR_SETREG`, as byte offsets.
    #[must_use]
    pub fn pack_register_bases(&self) -> [u32; 2] {
        let raw = self.pack_register_base;
        [0, 1].map(|i| (raw >> (20 + 2 * i) & 3) << 18 | (raw >> (10 * i) & 0x3FF) << 2)
    }

    /// High parts of the values `PACR_SETREG` writes, nine bits each.
    #[must_use]
    pub fn pack_scalers(&self) -> [u32; 4] {
        self.scalers
    }

    /// Back to power-on.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Adds the registers to a state hash.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        let Self {
            parameters,
            mover_base,
            unpack_register_base,
            pack_register_base,
            hysteresis,
            scalers,
        } = self;
        hasher.words(parameters);
        hasher.words(mover_base);
        hasher.words(&[*unpack_register_base, *pack_register_base, *hysteresis]);
        hasher.words(scalers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CoreId::{Brisc, Trisc0, Trisc1};

    const NOTHING: Shown = Shown { commands: 0, metadata: 0, packers: [0; 2] };

    // Expected values: [isa-wh: TensixTile/TDMA-RISC.md].

    #[test]
    fn tdma_firmware_clock_gate_write_reads_back() {
        let mut tdma = Tdma::new();
        tdma.write(0x24, 0x3F, Brisc).unwrap();
        assert_eq!(tdma.read(0x24, Brisc, NOTHING), Ok(0x3F));
        assert_eq!(tdma.unpack_register_base(), 0x3F);
    }

    #[test]
    fn tdma_clock_gate_write_masks_bit_seven() {
        let mut tdma = Tdma::new();
        tdma.write(0x24, 0xFFFF_FFFF, Brisc).unwrap();
        assert_eq!(tdma.read(0x24, Brisc, NOTHING), Ok(0xFFFF_FF7F));
    }

    #[test]
    fn tdma_status_is_that_of_the_command_processor() {
        let shown = Shown { commands: 0x428, metadata: 0x55, packers: [1 << 27, 1 << 31] };
        assert_eq!(Tdma::new().read(0x14, Brisc, shown), Ok(0x428));
        assert_eq!(Tdma::new().read(0x10, Brisc, shown), Ok(0));
        assert_eq!(Tdma::new().read(0x38, Brisc, shown), Ok(0x55));
        assert_eq!(Tdma::new().read(0x3C, Brisc, shown), Ok(1 << 27));
        assert_eq!(Tdma::new().read(0x13C, Brisc, shown), Ok(1 << 31));
    }

    #[test]
    fn tdma_metadata_registers_are_those_of_the_page() {
        use Metadata::{AccumulatedSize, Peek, Pop, Size, ZeroFlags};
        for (offset, expected) in [
            (0x018, Some((0, Size(ThreadId::T0)))),
            (0x098, Some((0, Size(ThreadId::T2)))),
            (0x15C, Some((1, AccumulatedSize(ThreadId::T1)))),
            (0x220, Some((2, ZeroFlags))),
            (0x330, Some((3, Peek))),
            (0x034, Some((0, Pop))),
            (0x0D8, None),
            (0x074, None),
            (0x418, None),
            (0x024, None),
        ] {
            assert_eq!(Tdma::metadata(offset), expected, "+{offset:#x}");
        }
    }

    #[test]
    fn tdma_mover_base_is_per_core() {
        let mut tdma = Tdma::new();
        tdma.write(0x2C, 5, Trisc1).unwrap();
        assert_eq!(tdma.read(0x2C, Trisc1, NOTHING), Ok(5));
        assert_eq!(tdma.read(0x2C, Trisc0, NOTHING), Ok(0));
    }

    #[test]
    fn tdma_pack_register_base_layout() {
        let mut tdma = Tdma::new();
        tdma.write(0x38, 3 << 22 | 1 << 20 | 0x155 << 10 | 0x2AA, Brisc).unwrap();
        assert_eq!(tdma.pack_register_bases(), [1 << 18 | 0x2AA << 2, 3 << 18 | 0x155 << 2]);
    }

    #[test]
    fn tdma_scalers_are_nine_bits_each() {
        let mut tdma = Tdma::new();
        tdma.write(0x3C, 0x1FF | 0x55 << 9 | 0xAA << 18, Brisc).unwrap();
        tdma.write(0x28, 0x123 << 16 | 0x7F, Brisc).unwrap();
        assert_eq!(tdma.pack_scalers(), [0x1FF, 0x55, 0xAA, 0x123]);
        assert_eq!(tdma.read(0x13C, Brisc, NOTHING), Ok(0x1FF | 0x55 << 9 | 0xAA << 18));
    }

    #[test]
    fn tdma_command_takes_parameters_and_own_base() {
        let mut tdma = Tdma::new();
        for (offset, value) in [(0x0, 1), (0x4, 2), (0x8, 3), (0xC, 0)] {
            assert_eq!(tdma.write(offset, value, Brisc), Ok(None));
        }
        tdma.write(0x2C, 0x50, Trisc1).unwrap();
        let expected = MoverCommand { word: 0x40, parameters: [1, 2, 3, 0], base: 0x50 };
        assert_eq!(tdma.write(0x10, 0x40, Trisc1), Ok(Some(expected)));
    }

    #[test]
    fn tdma_unknown_offset_faults() {
        assert_eq!(Tdma::new().read(0x800, Brisc, NOTHING).unwrap_err().id, "tdma-unmapped");
    }
}
