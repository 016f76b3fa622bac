//! NoC endpoints that are not Tensix tiles, as far as hosts and kernels touch them.

mod arc;
mod dram;
mod eth;
mod pcie;

use devices::DeviceFault;
use sim_core::{Category, StateHasher};

use crate::grid::{DRAM_CHANNELS, ETH_CHANNELS, Grid, Other};

pub use pcie::HostMemory;
pub(crate) use pcie::{Pcie, PcieSnapshot};

use arc::Arc;
use dram::Dram;
use eth::Eth;
/// Something on the NoC with an address space of its own.
pub(crate) trait Endpoint {
    /// Reads `bytes.len()` bytes.
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), DeviceFault>;

    /// Writes `bytes`.
    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), DeviceFault>;
}

/// Nothing is at that address of an endpoint.
fn unmapped(what: &str, addr: u64, bytes: usize) -> DeviceFault {
    let text = format!("{what} address {addr:#x} (+{bytes}): nothing is known there");
    DeviceFault::new(Category::Unsupported, "endpoint-unmapped", text)
}

/// A block of plain memory. A copy shares the bytes until one of the two writes.
#[derive(Clone, Debug)]
struct Ram {
    base: u64,
    bytes: std::sync::Arc<[u8]>,
}

impl Ram {
    fn new(base: u64, size: usize) -> Self {
        Self { base, bytes: std::iter::repeat_n(0, size).collect() }
    }

    /// The bytes at an address, if all of them are inside.
    fn slice(&self, addr: u64, length: usize) -> Option<&[u8]> {
        self.bytes.get(self.range(addr, length)?)
    }

    /// The same to be written.
    fn slice_mut(&mut self, addr: u64, length: usize) -> Option<&mut [u8]> {
        let range = self.range(addr, length)?;
        let is_inside = range.end <= self.bytes.len();
        is_inside.then(|| &mut std::sync::Arc::make_mut(&mut self.bytes)[range])
    }

    fn range(&self, addr: u64, length: usize) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(addr.checked_sub(self.base)?).ok()?;
        Some(start..start.checked_add(length)?)
    }

    fn word(&self, addr: u64) -> u32 {
        let start = (addr - self.base) as usize;
        let word = self.bytes.get(start..start + 4).and_then(|word| word.try_into().ok());
        word.map_or(0, u32::from_le_bytes)
    }

    fn set_word(&mut self, addr: u64, value: u32) {
        if let Some(word) = self.slice_mut(addr, 4) {
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// All of them at a moment. Pages are shared with the endpoints until these write there.
#[derive(Clone, Debug)]
pub(crate) struct EndpointsSnapshot {
    dram: Vec<Dram>,
    eth: Vec<Eth>,
    arc: Arc,
    pcie: PcieSnapshot,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Endpoints {
    dram: Vec<Dram>,
    eth: Vec<Eth>,
    arc: Arc,
    pub(crate) pcie: Pcie,
}

impl Endpoints {
    pub(crate) fn new(grid: &Grid) -> Self {
        Self {
            dram: (0..DRAM_CHANNELS).map(|_| Dram::new()).collect(),
            eth: (0..ETH_CHANNELS).map(|_| Eth::new()).collect(),
            arc: Arc::new(grid.product(), grid.harvest()),
            pcie: Pcie::new(),
        }
    }

    pub(crate) fn get_mut(&mut self, which: Other) -> &mut dyn Endpoint {
        match which {
            Other::Dram(channel) => &mut self.dram[usize::from(channel % DRAM_CHANNELS)],
            Other::Eth(channel) => &mut self.eth[usize::from(channel % ETH_CHANNELS)],
            Other::Arc => &mut self.arc,
            Other::Pcie => &mut self.pcie,
        }
    }

    /// All of them as they are now, but for the host's memory behind the PCIe tile.
    pub(crate) fn snapshot(&self) -> EndpointsSnapshot {
        let Self { dram, eth, arc, pcie } = self;
        EndpointsSnapshot {
            dram: dram.clone(),
            eth: eth.clone(),
            arc: arc.clone(),
            pcie: pcie.snapshot(),
        }
    }

    /// Puts them back.
    pub(crate) fn restore(&mut self, snapshot: &EndpointsSnapshot) {
        let Self { dram, eth, arc, pcie } = self;
        dram.clone_from(&snapshot.dram);
        eth.clone_from(&snapshot.eth);
        arc.clone_from(&snapshot.arc);
        pcie.restore(&snapshot.pcie);
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { dram, eth, arc, pcie } = self;
        dram.iter().for_each(|dram| dram.hash_state(hasher));
        eth.iter().for_each(|eth| eth.hash_state(hasher));
        arc.hash_state(hasher);
        pcie.hash_state(hasher);
    }
}
