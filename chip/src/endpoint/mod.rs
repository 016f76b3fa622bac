//! NoC endpoints that are not Tensix tiles, as far as hosts and kernels touch them.

mod arc;
mod dram;
mod eth;
mod lost;
mod memory;
mod pcie;

use devices::niu::{NocPacket, PacketKind, WriteShape};
use sim_core::StateHasher;

use crate::grid::{DRAM_CHANNELS, ETH_CHANNELS, Grid, Other};

pub(crate) use lost::Lost;
pub use lost::{Deed, Loss};
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
    /// What is written over unread, if somebody wants to know.
    pub(crate) lost: Option<Box<Lost>>,
}

impl Endpoints {
    pub(crate) fn new(grid: &Grid) -> Self {
        Self {
            dram: (0..DRAM_CHANNELS).map(|_| Dram::new()).collect(),
            eth: (0..ETH_CHANNELS).map(Eth::new).collect(),
            arc: Arc::new(grid.product(), grid.harvest()),
            pcie: Pcie::new(),
            lost: None,
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

    /// The host has read or written some bytes.
    pub(crate) fn host_was_at(&mut self, which: Other, addr: u64, bytes: u64) {
        if let (Some(lost), Other::Dram(channel)) = (&mut self.lost, which) {
            lost.forget(channel % DRAM_CHANNELS, addr, bytes);
        }
    }

    /// A tile is about to carry out a request.
    pub(crate) fn comes(&mut self, which: Other, packet: &NocPacket, data: &[u8], deed: Deed) {
        let (Some(lost), Other::Dram(channel)) = (&mut self.lost, which) else { return };
        let channel = channel % DRAM_CHANNELS;
        match packet.kind {
            PacketKind::Write {
                address, shape: WriteShape::Span(_), header_copy: None, ..
            } => {
                let memory = &mut self.dram[usize::from(channel)];
                lost.write((channel, memory), (address, data), deed);
            }
            _ => lost.forget(channel, packet.address(), packet.bytes().into()),
        }
    }

    /// All of them as they are now, but for the host's memory behind the PCIe tile.
    pub(crate) fn snapshot(&self) -> EndpointsSnapshot {
        let Self { dram, eth, arc, pcie, lost: _ } = self;
        EndpointsSnapshot {
            dram: dram.clone(),
            eth: eth.clone(),
            arc: arc.clone(),
            pcie: pcie.snapshot(),
        }
    }

    /// Puts them back.
    pub(crate) fn restore(&mut self, snapshot: &EndpointsSnapshot) {
        let Self { dram, eth, arc, pcie, lost } = self;
        if let Some(lost) = lost {
            lost.forget_all();
        }
        dram.clone_from(&snapshot.dram);
        eth.clone_from(&snapshot.eth);
        arc.clone_from(&snapshot.arc);
        pcie.restore(&snapshot.pcie);
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { dram, eth, arc, pcie, lost: _ } = self;
        dram.iter().for_each(|dram| dram.hash_state(hasher));
        eth.iter().for_each(|eth| eth.hash_state(hasher));
        arc.hash_state(hasher);
        pcie.hash_state(hasher);
    }
}
