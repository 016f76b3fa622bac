//! NoC endpoints that are not Tensix tiles, as far as hosts and kernels touch them.

mod arc;
mod dram;
mod eth;
mod pcie;

use devices::DeviceFault;
use sim_core::{Category, StateHasher};

use crate::grid::{DRAM_CHANNELS, ETH_CHANNELS, Grid, Other};

pub use pcie::HostMemory;
pub(crate) use pcie::Pcie;

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

/// A block of plain memory.
#[derive(Clone, Debug)]
struct Ram {
    base: u64,
    bytes: Vec<u8>,
}

impl Ram {
    fn new(base: u64, size: usize) -> Self {
        Self { base, bytes: vec![0; size] }
    }

    /// The bytes at an address, if all of them are inside.
    fn slice(&mut self, addr: u64, length: usize) -> Option<&mut [u8]> {
        let start = usize::try_from(addr.checked_sub(self.base)?).ok()?;
        self.bytes.get_mut(start..start.checked_add(length)?)
    }

    fn word(&self, addr: u64) -> u32 {
        let start = (addr - self.base) as usize;
        let word = self.bytes.get(start..start + 4).and_then(|word| word.try_into().ok());
        word.map_or(0, u32::from_le_bytes)
    }

    fn set_word(&mut self, addr: u64, value: u32) {
        if let Some(word) = self.slice(addr, 4) {
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
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

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        self.dram.iter().for_each(|dram| dram.hash_state(hasher));
        self.eth.iter().for_each(|eth| eth.hash_state(hasher));
        self.arc.hash_state(hasher);
        self.pcie.hash_state(hasher);
    }
}
