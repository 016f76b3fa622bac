//! NoC endpoints that are not Tensix tiles, as far as hosts and kernels touch them.

mod arc;
mod dram;
mod eth;
mod memory;
mod pcie;

use sim_core::StateHasher;

use crate::grid::{DRAM_CHANNELS, ETH_CHANNELS, Grid, Other};

pub(crate) use memory::Endpoint;
pub use pcie::HostMemory;
pub(crate) use pcie::{Pcie, PcieSnapshot};

use arc::Arc;
use dram::Dram;
use eth::Eth;

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
            eth: (0..ETH_CHANNELS).map(Eth::new).collect(),
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
