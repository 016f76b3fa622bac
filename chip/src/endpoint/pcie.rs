//! The PCI Express tile: the way from the NoC into the host's memory.
//!
//! Source: `[spec: host-abi 2.4, 2.5]`.

use devices::DeviceFault;
use devices::niu::{Coordinate, Identity};
use sim_core::StateHasher;

use super::memory::{Endpoint, unmapped};
use crate::error::HostError;
use crate::pci::Iatu;

/// NoC 0 coordinate of the tile.
const POSITION: Coordinate = Coordinate { x: 2, y: 0 };
const NODE_ID: u32 = 0x44;
const NIU_CFG_0: u32 = 0x100;
const TRANSLATION_ON: u32 = 1 << 14;
/// Bits 63:58 of an address choose the window; from this one on through the iATU.
const FIRST_TRANSLATED_WINDOW: u64 = 4;
const WINDOWS: u64 = 8;
const WINDOW_SHIFT: u32 = 58;
/// The controller's own registers.
const DBI: u64 = 0xF800_0000_0000_0000;
const DBI_BYTES: u64 = 1 << 58;
/// Device control in them.
const DEVICE_CONTROL: u64 = 0x78;
/// The NIU.
const NIU: u64 = 0xFFFF_FFFF_FF00_0000;

/// The host's memory as the device sees it.
pub trait HostMemory: Send {
    /// Reads host memory.
    fn read(&mut self, paddr: u64, bytes: &mut [u8]);

    /// Writes host memory.
    fn write(&mut self, paddr: u64, bytes: &[u8]);
}

/// The PCI Express tile.
pub(crate) struct Pcie {
    pub(crate) iatu: Iatu,
    memory: Option<Box<dyn HostMemory>>,
    device_control: u32,
}

/// The tile at a moment; the host's memory is the host's.
#[derive(Clone, Debug)]
pub(crate) struct PcieSnapshot {
    iatu: Iatu,
    device_control: u32,
}

impl std::fmt::Debug for Pcie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pcie").field("iatu", &self.iatu).finish_non_exhaustive()
    }
}

impl Pcie {
    pub(super) fn new() -> Self {
        Self { iatu: Iatu::default(), memory: None, device_control: 0 }
    }

    pub(crate) fn set_memory(&mut self, memory: Box<dyn HostMemory>) {
        self.memory = Some(memory);
    }

    /// The host's memory, for an access at that address.
    pub(crate) fn memory(&mut self, paddr: u64) -> Result<&mut dyn HostMemory, HostError> {
        match &mut self.memory {
            Some(memory) => Ok(memory.as_mut()),
            None => Err(HostError::NoHostMemory { paddr }),
        }
    }

    pub(super) fn snapshot(&self) -> PcieSnapshot {
        let Self { iatu, memory: _, device_control } = self;
        PcieSnapshot { iatu: iatu.clone(), device_control: *device_control }
    }

    pub(super) fn restore(&mut self, snapshot: &PcieSnapshot) {
        let Self { iatu, memory: _, device_control } = self;
        iatu.clone_from(&snapshot.iatu);
        *device_control = snapshot.device_control;
    }

    /// A register of the tile's NIU.
    pub(crate) fn niu(noc: u8, offset: u32) -> Option<u32> {
        match offset {
            NODE_ID => Some(Identity { noc, physical: POSITION, logical: POSITION }.node_id()),
            NIU_CFG_0 => Some(TRANSLATION_ON),
            _ => None,
        }
    }

    /// The host's memory and the address in it.
    fn host(&mut self, addr: u64, bytes: usize) -> Result<(&mut dyn HostMemory, u64), DeviceFault> {
        let window = addr >> WINDOW_SHIFT;
        if window >= WINDOWS {
            return Err(unmapped("PCIe tile", addr, bytes));
        }
        let inside = addr & ((1 << WINDOW_SHIFT) - 1);
        let paddr =
            if window < FIRST_TRANSLATED_WINDOW { inside } else { self.iatu.translate(inside) };
        match &mut self.memory {
            Some(memory) => Ok((memory.as_mut(), paddr)),
            None => Err(unmapped("PCIe tile without host memory", addr, bytes)),
        }
    }

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        // The host's memory is the host's.
        let Self { iatu, memory: _, device_control } = self;
        iatu.hash_state(hasher);
        hasher.u32(*device_control);
    }
}

impl Endpoint for Pcie {
    fn read_unit(&self, addr: u64) -> u64 {
        let is_register = addr >= NIU || (DBI..DBI + DBI_BYTES).contains(&addr);
        if is_register { 1 } else { 64 }
    }

    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), DeviceFault> {
        if let (Some(offset), 4) = (addr.checked_sub(NIU), bytes.len()) {
            let value = u32::try_from(offset).ok().and_then(|offset| Self::niu(0, offset));
            let value = value.ok_or_else(|| unmapped("PCIe tile", addr, 4))?;
            bytes.copy_from_slice(&value.to_le_bytes());
            return Ok(());
        }
        if (DBI..DBI + DBI_BYTES - 1).contains(&addr) {
            bytes.fill(0);
            if let (DEVICE_CONTROL, Some(word)) = (addr - DBI, bytes.get_mut(..4)) {
                word.copy_from_slice(&self.device_control.to_le_bytes());
            }
            return Ok(());
        }
        let (memory, paddr) = self.host(addr, bytes.len())?;
        memory.read(paddr, bytes);
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), DeviceFault> {
        if addr == DBI + DEVICE_CONTROL
            && let Ok(word) = bytes.try_into()
        {
            self.device_control = u32::from_le_bytes(word);
            return Ok(());
        }
        let (memory, paddr) = self.host(addr, bytes.len())?;
        memory.write(paddr, bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_id_is_the_recorded_one() {
        assert_eq!(Pcie::niu(0, 0x44), Some(0x1061_1002 & !(1 << 28) | 1 << 28));
        assert_eq!(Pcie::niu(0, 0x100), Some(0x4000));
    }
}
