//! Messages between NoC endpoints: from a tile's departures to the arrivals of others.
//!
//! Requests to endpoints that are not Tensix tiles wait here until their cycle has passed, so that
//! those of several senders are carried out in the order in which they arrive.

use std::collections::BTreeMap;

use devices::niu::{Coordinate, Identity, NocPacket};
use devices::{DeviceFault, MemoryPort, NocTiming};
use sim_core::{CoreId, Cycle, StateHasher};

use crate::endpoint::Endpoint;
use crate::grid::Other;

/// A request on its way to an endpoint that is not a Tensix tile.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    /// The sender's tile number.
    pub(crate) source: u16,
    /// The ticket of the response.
    pub(crate) ticket: u64,
    /// Which endpoint.
    pub(crate) endpoint: Other,
    pub(crate) packet: NocPacket,
    pub(crate) data: Vec<u8>,
    /// The core and the instruction that it comes from, for diagnoses.
    pub(crate) issuer: Option<(CoreId, u32)>,
}

/// Requests to endpoints by `(arrival, sender, ticket)`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Post {
    letters: BTreeMap<(Cycle, u16, u64), Letter>,
}

impl Post {
    pub(crate) fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// When the next request arrives.
    pub(crate) fn next_due(&self) -> Option<Cycle> {
        self.letters.first_key_value().map(|(&(cycle, ..), _)| cycle)
    }

    pub(crate) fn send(&mut self, arrives: Cycle, letter: Letter) {
        self.letters.insert((arrives, letter.source, letter.ticket), letter);
    }

    /// Takes the earliest request that arrives before `now`.
    pub(crate) fn pop_before(&mut self, now: Cycle) -> Option<(Cycle, Letter)> {
        if self.next_due()? >= now {
            return None;
        }
        self.letters.pop_first().map(|((cycle, ..), letter)| (cycle, letter))
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { letters } = self;
        hasher.u64(letters.len() as u64);
        for (&(cycle, source, ticket), letter) in letters {
            // The endpoint follows from the packet; sender and ticket are in the key.
            let Letter { source: _, ticket: _, endpoint: _, packet, data, issuer: _ } = letter;
            hasher.u64(cycle.0);
            hasher.u32(u32::from(source));
            hasher.u64(ticket);
            packet.hash_state(hasher);
            hasher.bytes(data);
        }
    }
}

/// An endpoint as the memory on which requests are carried out.
pub(crate) struct EndpointPort<'a>(pub(crate) &'a mut dyn Endpoint);

impl MemoryPort for EndpointPort<'_> {
    fn read_bytes(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceFault> {
        self.0.read(address, bytes)
    }

    fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceFault> {
        self.0.write(address, bytes)
    }
}

/// Cycles from the end of sending at one place to the arrival at another, both in NoC 0
/// coordinates.
pub(crate) fn travel(timing: &NocTiming, noc: u8, from: Coordinate, to: Coordinate) -> u64 {
    let at = |physical| Identity { noc, physical, logical: physical };
    timing.travel(at(from).hops(at(to).raw()).0)
}
