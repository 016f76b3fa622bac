//! TDMA-RISC: mover command queue, packer and unpacker side-band configuration.
//!
//! Source: `[isa-wh: TensixTile/TDMA-RISC.md]`; the Blackhole page is not public
//! `[unknown: U-003]`. What firmware does works: configuration registers hold their values and
//! commands that only pace the queue (NOP, mover wait) finish at once, so the queue is always
//! empty. Commands that would move data, and the packers' metadata, stop with a fault.

use memory_map::Target;
use sim_core::{Category, CoreId, StateHasher};

use crate::fault::{DeviceFault, ReadClass, nearest};

use memory_map::reg::tdma_risc::{
    ACC_PACKED_SIZE_0_OFFSET as ACC_PACKED_SIZE, CLK_GATE_EN_OFFSET as CLK_GATE_EN,
    CLK_GATE_HYST_OFFSET as CLK_GATE_HYST, COMMAND_OFFSET as COMMAND,
    FIFO_PACKED_TILE_STATUS_OFFSET as PACK_REGISTER_BASE, SCALERS_AND_STATUS_0_OFFSET as SCALERS_0,
    SCALERS_AND_STATUS_1_OFFSET as SCALERS_1, STATUS_OFFSET as STATUS,
    XMOV_L1_BASE_ADDR_OFFSET as XMOV_L1_BASE,
};

/// Queue empty (bit 3), parameter queue empty (bit 5), room for four commands (bits 15:8).
const STATUS_IDLE: u32 = 1 << 3 | 1 << 5 | 4 << 8;

/// All four metadata FIFOs empty.
const METADATA_EMPTY: u32 = 0x55;

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

fn unimplemented(id: &'static str, text: impl Into<String>) -> DeviceFault {
    DeviceFault::new(Category::Unimplemented, id, text)
}

/// Whether the offset is one of the packers' or unpackers' metadata registers, which repeat every
/// 0x40 per thread and every 0x100 per packer.
fn is_metadata(offset: u32) -> bool {
    let in_packer = offset & 0xFF;
    offset < 0x400
        && (matches!(in_packer & 0x3F, 0x18 | 0x1C) && in_packer < 0xC0
            || matches!(in_packer, 0x20 | 0x30 | 0x34))
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

    /// How a polling core has to treat the register.
    #[must_use]
    pub fn read_class(offset: u32) -> ReadClass {
        // The zero-mask registers pop the packers' metadata FIFO.
        if is_metadata(offset) && offset & 0xFF == 0x34 {
            ReadClass::SideEffect
        } else {
            ReadClass::Pure
        }
    }

    /// Reads a register as `core`.
    ///
    /// # Errors
    /// `tdma-unmapped`: no such register. `tdma-metadata`: shows packer or unpacker metadata,
    /// which is not simulated.
    pub fn read(&self, offset: u32, core: CoreId) -> Result<u32, DeviceFault> {
        let packed = self.scalers[..3].iter().rev().fold(0, |bits, scaler| bits << 9 | scaler);
        match offset {
            0x00..=COMMAND if offset & 3 == 0 => Ok(0),
            STATUS => Ok(STATUS_IDLE),
            CLK_GATE_EN => Ok(self.unpack_register_base),
            CLK_GATE_HYST => Ok(self.hysteresis),
            XMOV_L1_BASE => Ok(self.mover_base[mover_slot(core)]),
            PACK_REGISTER_BASE => Ok(self.pack_register_base << 8 | METADATA_EMPTY),
            SCALERS_0 | SCALERS_1 => Ok(packed),
            _ if is_metadata(offset) => {
                let text = format!("packer metadata at +{offset:#x} is not simulated");
                Err(unimplemented("tdma-metadata", text))
            }
            _ => Err(unmapped(offset)),
        }
    }

    /// Writes a register as `core`.
    ///
    /// # Errors
    /// `tdma-unmapped`: no such register. `tdma-mover`, `tdma-l1-write`: the command would move
    /// data. `tdma-command`: no such command. `tdma-metadata`: resets packer metadata.
    pub fn write(&mut self, offset: u32, value: u32, core: CoreId) -> Result<(), DeviceFault> {
        match offset {
            0x00 | 0x04 | 0x08 | 0x0C => self.parameters[(offset / 4) as usize] = value,
            COMMAND => return self.command(value),
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
            _ if is_metadata(offset) && offset & 0x3F == ACC_PACKED_SIZE => {
                if value >> 16 & 0xF != 0 {
                    let text = format!("resets packer tile sizes ({value:#x})");
                    return Err(unimplemented("tdma-metadata", text));
                }
            }
            _ if is_metadata(offset) && offset & 0xFF == 0x34 => {
                let text = "pops a packer's metadata FIFO, which is not simulated";
                return Err(unimplemented("tdma-metadata", text));
            }
            _ if is_metadata(offset) => {}
            _ => return Err(unmapped(offset)),
        }
        Ok(())
    }

    /// A write to the command register. NOP and mover wait are over at once.
    fn command(&self, word: u32) -> Result<(), DeviceFault> {
        let [source, destination, count, mode] = self.parameters;
        match word & 0xFF {
            0x46 | 0x89 => Ok(()),
            0x40 => Err(unimplemented(
                "tdma-mover",
                format!(
                    "mover command {word:#010x} (source {source:#x}, destination \
                     {destination:#x}, count {count:#x}, mode {mode}) would move data"
                ),
            )),
            0x66 => Err(unimplemented(
                "tdma-l1-write",
                format!("L1 write command {word:#010x} to {source:#x} is not simulated"),
            )),
            opcode => Err(DeviceFault::new(
                Category::UndefinedBehavior,
                "tdma-command",
                format!("no TDMA-RISC command has opcode {opcode:#x}"),
            )),
        }
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
        hasher.words(&self.parameters);
        hasher.words(&self.mover_base);
        hasher.words(&[self.unpack_register_base, self.pack_register_base, self.hysteresis]);
        hasher.words(&self.scalers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CoreId::{Brisc, Trisc0, Trisc1};

    // Expected values: [isa-wh: TensixTile/TDMA-RISC.md].

    #[test]
    fn tdma_firmware_clock_gate_write_reads_back() {
        let mut tdma = Tdma::new();
        tdma.write(0x24, 0x3F, Brisc).unwrap();
        assert_eq!(tdma.read(0x24, Brisc), Ok(0x3F));
        assert_eq!(tdma.unpack_register_base(), 0x3F);
    }

    #[test]
    fn tdma_clock_gate_write_masks_bit_seven() {
        let mut tdma = Tdma::new();
        tdma.write(0x24, 0xFFFF_FFFF, Brisc).unwrap();
        assert_eq!(tdma.read(0x24, Brisc), Ok(0xFFFF_FF7F));
    }

    #[test]
    fn tdma_status_of_empty_queue() {
        // StatusBits: empty, parameters empty, remaining capacity 4.
        assert_eq!(Tdma::new().read(0x14, Brisc), Ok(0x428));
    }

    #[test]
    fn tdma_mover_base_is_per_core() {
        let mut tdma = Tdma::new();
        tdma.write(0x2C, 5, Trisc1).unwrap();
        assert_eq!(tdma.read(0x2C, Trisc1), Ok(5));
        assert_eq!(tdma.read(0x2C, Trisc0), Ok(0));
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
        assert_eq!(tdma.read(0x13C, Brisc), Ok(0x1FF | 0x55 << 9 | 0xAA << 18));
    }

    #[test]
    fn tdma_mover_command_is_refused_by_name() {
        let fault = Tdma::new().write(0x10, 0x40, Brisc).unwrap_err();
        assert_eq!((fault.category, fault.id), (Category::Unimplemented, "tdma-mover"));
        assert_eq!(Tdma::new().write(0x10, 0x8000_0089, Brisc), Ok(()));
    }

    #[test]
    fn tdma_unknown_offset_faults() {
        assert_eq!(Tdma::new().read(0x800, Brisc).unwrap_err().id, "tdma-unmapped");
    }
}
