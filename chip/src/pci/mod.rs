//! The PCI Express front: configuration space, and what each BAR leads to.
//!
//! Source: `[spec: host-abi 2.3-2.5]`. State only: what is behind the windows is reached through
//! a [`NocPort`].

mod config_space;
mod dma;
mod iatu;
mod tlb;

use devices::niu::Coordinate;
use sim_core::StateHasher;

use crate::error::HostError;

use config_space::ConfigSpace;
pub(crate) use iatu::Iatu;
use tlb::{Tlbs, Window};

/// BAR0: 512 MiB of 2 MiB windows and registers.
const BAR0: (u64, u64) = (0x1_0000_0000, 512 << 20);
/// BAR2: 1 MiB of DMA and address translation registers.
const BAR2: (u64, u64) = (0x1_2000_0000, 1 << 20);
/// BAR4: 32 GiB of 4 GiB windows.
const BAR4: (u64, u64) = (0x8_0000_0000, 32 << 30);

/// Window registers in BAR0.
const TLB_REGISTERS: u64 = 0x1FC0_0000;
/// The NIUs of the PCIe tile in BAR0, NoC 0 and 1.
const NIU: [u64; 2] = [0x1FD0_4000, 0x1FD1_4000];
const NIU_BYTES: u64 = 0x1000;

/// The chip behind the windows.
pub(crate) trait NocPort {
    /// Reads from one endpoint, by the coordinate as written.
    fn noc_read(
        &mut self,
        noc: u8,
        at: Coordinate,
        addr: u64,
        bytes: &mut [u8],
    ) -> Result<(), HostError>;

    /// Writes to one endpoint.
    fn noc_write(
        &mut self,
        noc: u8,
        at: Coordinate,
        addr: u64,
        bytes: &[u8],
    ) -> Result<(), HostError>;

    /// Writes to all Tensix tiles of a rectangle.
    fn noc_multicast(
        &mut self,
        noc: u8,
        start: Coordinate,
        end: Coordinate,
        addr: u64,
        bytes: &[u8],
    ) -> Result<(), HostError>;

    /// A register of the PCIe tile's own NIU.
    fn niu_read(&mut self, noc: u8, offset: u32) -> Option<u32>;

    /// Reads the host's memory.
    fn host_read(&mut self, paddr: u64, bytes: &mut [u8]) -> Result<(), HostError>;

    /// Writes the host's memory.
    fn host_write(&mut self, paddr: u64, bytes: &[u8]) -> Result<(), HostError>;

    /// The outbound address translation, which the PCIe tile uses.
    fn iatu(&mut self) -> &mut Iatu;
}

/// The device's PCI state.
#[derive(Clone, Debug)]
pub(crate) struct Pci {
    config: ConfigSpace,
    tlbs: Tlbs,
}

/// Words of 32 bits of all window registers, three for each of 210 windows `[spec: host-abi 2.4]`.
pub const WINDOW_WORDS: usize = tlb::WORDS;

/// The number of the word of a window register at a physical address, below [`WINDOW_WORDS`]; `None` elsewhere, and if
/// the address is not a multiple of four. A write there moves no data.
#[must_use]
#[inline]
pub const fn window_register(paddr: u64) -> Option<usize> {
    let offset = paddr.wrapping_sub(BAR0.0 + TLB_REGISTERS);
    let is_one = offset < 4 * WINDOW_WORDS as u64 && offset & 3 == 0;
    if is_one { Some((offset / 4) as usize) } else { None }
}

/// Which BAR, and where in it.
fn bar(paddr: u64, bytes: usize) -> Result<(u8, u64), HostError> {
    let length = bytes as u64;
    for (number, (base, size)) in [(0, BAR0), (2, BAR2), (4, BAR4)] {
        let Some(offset) = paddr.checked_sub(base) else { continue };
        if offset < size && length <= size - offset {
            return Ok((number, offset));
        }
    }
    Err(HostError::OutsideBars { paddr, bytes })
}

/// The one word that a register access is.
fn word(bar: u8, offset: u64, bytes: &[u8]) -> Result<u32, HostError> {
    match <[u8; 4]>::try_from(bytes) {
        Ok(word) if offset.is_multiple_of(4) => Ok(u32::from_le_bytes(word)),
        _ => Err(HostError::NotAWord { bar, offset, bytes: bytes.len() }),
    }
}

impl Pci {
    pub(crate) fn new() -> Self {
        Self { config: ConfigSpace::new(), tlbs: Tlbs::new() }
    }

    pub(crate) fn config_read(&self, bdf: u32, offset: u32) -> u32 {
        if bdf == 0 { self.config.read(offset) } else { u32::MAX }
    }

    pub(crate) fn config_write(&mut self, bdf: u32, offset: u32, value: u32) {
        if bdf == 0 {
            self.config.write(offset, value);
        }
    }

    /// Which endpoint some bytes behind a window belong to, by NoC and coordinate as written, and their
    /// address there.
    pub(crate) fn target(&self, paddr: u64, bytes: usize) -> Option<(u8, Coordinate, u64)> {
        let (bar, offset) = bar(paddr, bytes).ok()?;
        let Window { entry, addr, left, .. } = self.tlbs.window(bar, offset)?;
        let is_one = left >= bytes as u64 && !(entry.multicast && entry.start != entry.end);
        is_one.then_some((entry.noc, entry.end, addr))
    }

    /// Reads through a BAR.
    pub(crate) fn read(
        &mut self,
        paddr: u64,
        bytes: &mut [u8],
        port: &mut impl NocPort,
    ) -> Result<(), HostError> {
        let (bar, offset) = bar(paddr, bytes.len())?;
        if let Some(window) = self.tlbs.window(bar, offset) {
            let Window { number, entry, addr, left } = window;
            if bytes.len() as u64 > left {
                return Err(HostError::LeavesWindow { paddr, bytes: bytes.len(), window: number });
            }
            if entry.multicast && entry.start != entry.end {
                return Err(HostError::MulticastRead { paddr });
            }
            return port.noc_read(entry.noc, entry.end, addr, bytes);
        }
        let value = match (bar, offset) {
            (0, TLB_REGISTERS..) if offset < NIU[0] => self.tlbs.read(offset - TLB_REGISTERS),
            (0, _) => self.niu(offset).and_then(|(noc, at)| port.niu_read(noc, at)),
            (2, _) => port.iatu().read(offset as u32),
            _ => None,
        };
        let what = || format!("read of {} bytes", bytes.len());
        let value = value.ok_or_else(|| HostError::Unmapped { bar, offset, what: what() })?;
        word(bar, offset, bytes)?;
        bytes.copy_from_slice(&value.to_le_bytes());
        Ok(())
    }

    /// Writes through a BAR.
    pub(crate) fn write(
        &mut self,
        paddr: u64,
        bytes: &[u8],
        port: &mut impl NocPort,
    ) -> Result<(), HostError> {
        let (bar, offset) = bar(paddr, bytes.len())?;
        if let Some(window) = self.tlbs.window(bar, offset) {
            let Window { number, entry, addr, left } = window;
            if bytes.len() as u64 > left {
                return Err(HostError::LeavesWindow { paddr, bytes: bytes.len(), window: number });
            }
            if entry.multicast {
                return port.noc_multicast(entry.noc, entry.start, entry.end, addr, bytes);
            }
            return port.noc_write(entry.noc, entry.end, addr, bytes);
        }
        let value = word(bar, offset, bytes)?;
        let done = match (bar, offset) {
            (0, TLB_REGISTERS..) if offset < NIU[0] => {
                self.tlbs.write(offset - TLB_REGISTERS, value)
            }
            (2, _) if offset == u64::from(dma::DOORBELL) => return self.ring(value, port),
            (2, _) => port.iatu().write(offset as u32, value),
            _ => false,
        };
        if done {
            return Ok(());
        }
        let what = format!("write of {value:#x}");
        Err(HostError::Unmapped { bar, offset, what })
    }

    fn niu(&self, offset: u64) -> Option<(u8, u32)> {
        (0..).zip(NIU).find_map(|(noc, base)| {
            let at = offset.checked_sub(base).filter(|&at| at < NIU_BYTES)?;
            Some((noc, at as u32))
        })
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { config, tlbs } = self;
        config.hash_state(hasher);
        tlbs.hash_state(hasher);
    }
}
