//! Packets in flight: when each stage of a request is reached.
//!
//! Sources: `[isa-bh: NoC/README.md]` (flits, hop latencies), `[isa-bh: NoC/Counters.md]`
//! (stages), `[spec: boot-and-sync 6]`.
//!
//! # Latency
//!
//! With `request` and `response` the flits of either packet (one header, plus the data flits of
//! a write request or a read response), all in cycles:
//!
//! ```text
//! accepted  = max(command + 1, first cycle the NIU's link to its router is free)
//! sent      = accepted + request                         one flit per cycle
//! performed = sent + niu_to_router + hops * hop + router_to_niu
//! responded = performed + response + niu_to_router + hops * hop + router_to_niu
//! ```
//!
//! A request to the own tile passes its own router and no other: no hops `[inferred]`. The link
//! is free again `request` cycles after `accepted`, so requests of one NIU leave in the order in
//! which they were started. Congestion in the network and L1 port conflicts are not modelled.
//!
//! # Use
//!
//! The tile calls [`Fabric::launch`] with each packet an NIU started, and then, for every cycle up
//! to which it wants to be: [`Fabric::pop`], [`perform`] over its memory, [`crate::Niu::advance`],
//! [`Fabric::push_back`]. Both NIUs share one fabric, ordered by `(cycle, launch order)`.

mod buffers;
mod effect;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use sim_core::{Cycle, StateHasher};

pub use buffers::{copy_to_buffer, keep_buffer};
pub use effect::{ForeignAccess, HostSink, MemoryPort, SunkWrite, carry_out, perform, write_out};

use crate::niu::{NocPacket, Stage};

/// What moving a packet costs, in cycles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NocTiming {
    /// From an NIU to its router.
    pub niu_to_router: u32,
    /// From a router to the next.
    pub hop: u32,
    /// From a router to its NIU.
    pub router_to_niu: u32,
    /// Per flit on the link between NIU and router.
    pub flit: u32,
}

impl NocTiming {
    /// The figures of `[isa-bh: NoC/README.md]`.
    #[must_use]
    pub const fn documented() -> Self {
        Self { niu_to_router: 5, hop: 9, router_to_niu: 5, flit: 1 }
    }

    /// One cycle per stage, whatever is moved.
    #[must_use]
    pub const fn unit() -> Self {
        Self { niu_to_router: 0, hop: 0, router_to_niu: 0, flit: 0 }
    }

    /// Cycles between two NIUs so many routers apart; at least one.
    #[must_use]
    pub fn travel(&self, hops: u8) -> u64 {
        let way = u64::from(self.niu_to_router) + u64::from(self.router_to_niu);
        (way + u64::from(hops) * u64::from(self.hop)).max(1)
    }

    /// Cycles from a command to what its packet does in a tile, the own one included, at the least: until it is
    /// accepted, until it is sent, and on its way.
    #[must_use]
    pub fn least(&self) -> u64 {
        1 + self.occupancy(1) + self.travel(0)
    }

    /// Cycles a packet of `flits` occupies its link; at least one.
    fn occupancy(&self, flits: u32) -> u64 {
        (u64::from(flits) * u64::from(self.flit)).max(1)
    }
}

/// One packet between two stages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InFlight {
    /// The packet; a part, if the request was split.
    pub packet: NocPacket,
    /// The stage it reaches when it is popped.
    pub stage: Stage,
    /// Launch order, for ties.
    pub sequence: u64,
    /// Data under way, once read: of a write from [`Stage::Sent`], of a read or atomic response
    /// from [`Stage::Performed`].
    pub payload: Vec<u8>,
}

/// Packets by the cycle in which they reach their next stage and, for ties, their sequence numbers. A packet goes
/// through it up to four times, and few are under way at once: places in a list that is kept in order, the first
/// one at its end, while the packets themselves stay where they are.
#[derive(Clone, Debug, Default)]
struct Queue(Vec<(Cycle, Box<InFlight>)>);

impl Queue {
    fn insert(&mut self, due: Cycle, entry: Box<InFlight>) {
        let is_later = |(at, other): &(Cycle, Box<InFlight>)| {
            *at > due || *at == due && other.sequence > entry.sequence
        };
        // Too few to search by halves.
        let at = self.0.iter().position(|other| !is_later(other)).unwrap_or(self.0.len());
        self.0.insert(at, (due, entry));
    }

    fn next_due(&self) -> Option<Cycle> {
        self.0.last().map(|&(due, _)| due)
    }

    /// The earliest first.
    fn iter(&self) -> impl Iterator<Item = (Cycle, &InFlight)> {
        self.0.iter().rev().map(|(due, entry)| (*due, &**entry))
    }
}

/// All packets of a tile that are on their way.
#[derive(Clone, Debug)]
pub struct Fabric {
    timing: NocTiming,
    queue: Queue,
    /// Requests that other tiles have to answer with data, by their sequence number.
    unanswered: BTreeMap<u64, Box<InFlight>>,
    launched: u64,
    /// First cycle each NIU's outgoing link is free.
    link_free: [Cycle; 2],
    spares: Spares,
}

/// Packets that are gone, as memory for those to come.
#[derive(Debug, Default)]
struct Spares {
    #[expect(clippy::vec_box, reason = "it is the boxes that are used again")]
    entries: Vec<Box<InFlight>>,
}

impl Spares {
    /// So many are kept.
    const KEPT: usize = 16;

    /// A packet that has just been launched.
    fn entry(&mut self, packet: NocPacket, sequence: u64) -> Box<InFlight> {
        let mut entry = self.entries.pop().unwrap_or_else(|| {
            Box::new(InFlight { packet, stage: Stage::Accepted, sequence, payload: Vec::new() })
        });
        *entry = InFlight { packet, stage: Stage::Accepted, sequence, payload: Vec::new() };
        entry
    }

    fn keep(&mut self, mut entry: Box<InFlight>) {
        keep_buffer(std::mem::take(&mut entry.payload));
        if self.entries.len() < Self::KEPT {
            self.entries.push(entry);
        }
    }
}

/// Copies begin without any.
impl Clone for Spares {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Fabric {
    /// Nothing in flight.
    #[must_use]
    pub fn new(timing: NocTiming) -> Self {
        Self {
            timing,
            queue: Queue::default(),
            unanswered: BTreeMap::new(),
            launched: 0,
            link_free: [Cycle::ZERO; 2],
            spares: Spares::default(),
        }
    }

    /// What moving a packet costs.
    #[must_use]
    pub fn timing(&self) -> NocTiming {
        self.timing
    }

    /// Number of the next packet.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.launched
    }

    /// Takes over a request that was started at `now`, split into packets if it is long.
    pub fn launch(&mut self, request: &NocPacket, now: Cycle) {
        for index in 0..request.parts() {
            let packet = request.part(index);
            let entry = self.spares.entry(packet, self.launched);
            self.launched += 1;
            let link = &mut self.link_free[usize::from(packet.noc & 1)];
            let accepted = (*link).max(now + 1);
            *link = accepted + self.timing.occupancy(packet.flits().0);
            self.queue.insert(accepted, entry);
        }
    }

    /// When the next stage of any packet is reached.
    #[must_use]
    pub fn next_due(&self) -> Option<Cycle> {
        self.queue.next_due()
    }

    /// Takes the earliest packet that reaches its stage at or before `until`, with the cycle.
    pub fn pop(&mut self, until: Cycle) -> Option<(Cycle, Box<InFlight>)> {
        if self.next_due()? > until {
            return None;
        }
        self.queue.0.pop()
    }

    /// Sends a popped packet, whose stage was reached at `at`, on to its next stage. Gives `false`
    /// if that was its last, and the packet is gone.
    pub fn push_back(&mut self, mut entry: Box<InFlight>, at: Cycle) -> bool {
        let Some((next, due)) = self.after(&entry.packet, entry.stage, at) else {
            self.spares.keep(entry);
            return false;
        };
        entry.stage = next;
        self.queue.insert(due, entry);
        true
    }

    /// The stage that a packet reaches after the one it has reached at `at`, and when.
    fn after(&self, packet: &NocPacket, stage: Stage, at: Cycle) -> Option<(Stage, Cycle)> {
        let next = stage.next(packet)?;
        let (request, response) = packet.flits();
        let (there, back) = packet.hops;
        let cycles = match next {
            Stage::Accepted => 1,
            Stage::Sent => self.timing.occupancy(request),
            Stage::Performed => self.timing.travel(there),
            Stage::Responded => {
                // With a timing of zero cycles per flit the response costs its travel only.
                let flits = u64::from(response) * u64::from(self.timing.flit);
                flits + self.timing.travel(back)
            }
        };
        Some((next, at + cycles))
    }

    /// The stages that packets under way now reach before the cycle `end`, packet by packet. Of a request that
    /// another tile has to answer, also those that depend on the answer.
    pub fn reached_before(&self, end: Cycle) -> impl Iterator<Item = (&NocPacket, Stage)> {
        let due = self.queue.iter().take_while(move |&(at, _)| at < end);
        due.flat_map(move |(at, InFlight { packet, stage, .. })| {
            let first = Some((*stage, at));
            let stages = std::iter::successors(first, |&(stage, at)| self.after(packet, stage, at));
            stages.take_while(move |&(_, at)| at < end).map(move |(stage, _)| (packet, stage))
        })
    }

    /// The request with that sequence number, which another tile has to answer.
    #[must_use]
    pub fn asked(&self, sequence: u64) -> Option<&InFlight> {
        self.unanswered.get(&sequence).map(|entry| &**entry)
    }

    /// Keeps a packet until [`Fabric::answer`]: only another tile knows when and what.
    pub fn await_answer(&mut self, entry: Box<InFlight>) {
        self.unanswered.insert(entry.sequence, entry);
    }

    /// The other tile's answer to the request with that sequence number arrives at `at`. Gives
    /// `false` if no request waits for it.
    pub fn answer(&mut self, sequence: u64, data: Vec<u8>, at: Cycle) -> bool {
        let Some(mut entry) = self.unanswered.remove(&sequence) else { return false };
        keep_buffer(std::mem::replace(&mut entry.payload, data));
        entry.stage = Stage::Responded;
        self.queue.insert(at, entry);
        true
    }

    /// Requests that wait for another tile's answer, oldest first.
    pub fn unanswered(&self) -> impl Iterator<Item = &InFlight> {
        self.unanswered.values().map(|entry| &**entry)
    }

    /// Whether nothing is in flight.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queue.0.is_empty() && self.unanswered.is_empty()
    }

    /// Packets in flight in the order in which they reach their next stage.
    pub fn iter(&self) -> impl Iterator<Item = (Cycle, &InFlight)> {
        self.queue.iter()
    }

    /// Drops everything in flight.
    pub fn reset(&mut self) {
        *self = Self::new(self.timing);
    }

    /// Adds everything in flight to a state hash.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        // The timing defines the machine. How many were launched only names them, in order. Spares are memory.
        let Self { timing: _, queue, unanswered, launched: _, link_free, spares: _ } = self;
        hasher.u64(queue.0.len() as u64);
        for (cycle, entry) in queue.iter() {
            let InFlight { packet, stage, sequence, payload } = entry;
            hasher.u64(cycle.0);
            hasher.u64(*sequence);
            hasher.u8(*stage as u8);
            packet.hash_state(hasher);
            hasher.u64(payload.len() as u64);
            hasher.bytes(payload);
        }
        hasher.u64(unanswered.len() as u64);
        for (&sequence, entry) in unanswered {
            hasher.u64(sequence);
            entry.packet.hash_state(hasher);
        }
        link_free.iter().for_each(|cycle| hasher.u64(cycle.0));
    }
}
