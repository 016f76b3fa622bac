//! NoC transfers of the tile: requests its NIUs start, carried out on its own address space or
//! handed out, and requests of other tiles that arrive.
//!
//! A tile that stands alone absorbs what is addressed to others in a [`HostSink`]. A tile of a
//! chip hands it out as [`Departure`]s and takes [`Arrival`]s; both carry the cycle at which the
//! receiver acts, computed by the sender, so nothing depends on when the host moves them.

use std::collections::VecDeque;
use std::sync::Arc;

use devices::fabric::{carry_out, copy_to_buffer, keep_buffer, write_out};
use devices::niu::{Coordinate, Target};
use devices::{
    DeviceFault, HostSink, InFlight, MemoryPort, Niu, NocPacket, NocTiming, PacketKind, Stage,
};
use memory_map::View;
use sim_core::{
    AgentId, Category, Context, CoreId, Cycle, Event, GuestError, Observer, StateHasher,
};

use crate::asker::{Asker, fault};
use crate::bus::Bus;
use crate::message::{Arrival, Data, Departure, Message, Receivers, Refused};

/// The tile's NoC traffic.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    in_flight: devices::Fabric,
    pub(crate) sink: HostSink,
    inbox: Inbox,
    /// Messages to others, oldest first.
    outbox: Vec<Departure>,
    /// Whether there are other endpoints.
    networked: bool,
    /// Who used an initiator last, for diagnoses: `[noc][initiator]`.
    issuers: [[Option<(CoreId, u32)>; 4]; 2],
    /// Senders of requests that were refused since the mistakes were taken last.
    refused: Vec<Refused>,
}

/// Messages of others by `(cycle, sender, sequence)`, the first to take effect at the front. Few are there at once,
/// and most come in their order.
#[derive(Clone, Debug, Default)]
struct Inbox(VecDeque<(Due, Message)>);

/// When a message takes effect, its sender, and its number there.
type Due = (Cycle, u16, u64);

impl Inbox {
    fn insert(&mut self, due: Due, message: Message) {
        if self.0.back().is_none_or(|(last, _)| *last < due) {
            self.0.push_back((due, message));
            return;
        }
        let at = self.0.partition_point(|(other, _)| *other < due);
        self.0.insert(at, (due, message));
    }

    fn next_due(&self) -> Option<Cycle> {
        self.0.front().map(|&((cycle, ..), _)| cycle)
    }

    /// Takes the first, if it takes effect at `cycle` or before.
    fn pop(&mut self, cycle: Cycle) -> Option<(Due, Message)> {
        if self.next_due()? > cycle {
            return None;
        }
        self.0.pop_front()
    }

    /// What takes effect before `end`.
    fn before(&self, end: Cycle) -> impl Iterator<Item = &Message> {
        let due = self.0.iter().take_while(move |((cycle, ..), _)| *cycle < end);
        due.map(|(_, message)| message)
    }
}

impl Fabric {
    pub(crate) fn new(networked: bool) -> Self {
        Self {
            in_flight: devices::Fabric::new(NocTiming::documented()),
            sink: HostSink::new(),
            inbox: Inbox::default(),
            outbox: Vec::new(),
            networked,
            issuers: [[None; 4]; 2],
            refused: Vec::new(),
        }
    }

    /// [`NocTiming::least`]
    pub(crate) fn least_cycles(&self) -> u64 {
        self.in_flight.timing().least()
    }

    /// When something happens next by itself.
    pub(crate) fn next_due(&self) -> Option<Cycle> {
        let inbox = self.inbox.next_due();
        match (self.in_flight.next_due(), inbox) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        }
    }

    /// Whether an own packet is under way that reaches its next stage by itself.
    pub(crate) fn has_own_due(&self) -> bool {
        self.in_flight.next_due().is_some()
    }

    /// Whether messages of others have not taken effect.
    pub(crate) fn has_mail(&self) -> bool {
        !self.inbox.0.is_empty()
    }

    /// How many they are.
    pub(crate) fn mail_count(&self) -> usize {
        self.inbox.0.len()
    }

    /// Messages of others that have not taken effect.
    pub(crate) fn mail(&self) -> impl Iterator<Item = &Message> {
        self.inbox.0.iter().map(|(_, message)| message)
    }

    pub(crate) fn is_due_before(&self, end: Cycle) -> bool {
        self.next_due().is_some_and(|due| due < end)
    }

    /// What packets do before `end` to the tile's NIUs: the stage of an own one, or none for that of
    /// another endpoint.
    pub(crate) fn reached_before(
        &self,
        end: Cycle,
    ) -> impl Iterator<Item = (&NocPacket, Option<Stage>)> {
        let own = self.in_flight.reached_before(end).map(|(packet, stage)| (packet, Some(stage)));
        let others = self.inbox.before(end).filter_map(|message| match message {
            Message::Request { packet, .. } => Some((packet, None)),
            Message::Response { ticket, .. } => {
                let asked = self.in_flight.asked(*ticket)?;
                Some((&asked.packet, Some(Stage::Responded)))
            }
        });
        own.chain(others)
    }

    /// Sends a packet off, for an NIU that has been given a command. Gives its number.
    ///
    /// # Errors
    /// It is for others, and there are none who could take it.
    pub(crate) fn launch(&mut self, packet: &NocPacket, asker: Asker) -> Result<u64, DeviceFault> {
        if !self.networked {
            HostSink::check(packet)?;
        }
        if let Some(core) = asker.core {
            self.issuers[usize::from(packet.noc & 1)][usize::from(packet.initiator & 3)] =
                Some((core, asker.pc));
        }
        let ticket = self.in_flight.next_sequence();
        self.in_flight.launch(packet, asker.cycle);
        Ok(ticket)
    }

    /// Takes a message of another tile, to take effect in its cycle.
    pub(crate) fn receive(&mut self, arrival: Arrival, now: Cycle) {
        let Arrival { cycle, source, sequence, message } = arrival;
        // A lone tile may stand up to an epoch beyond where it was asked to go.
        let cycle = cycle.max(now);
        // Requests count in the sender's numbers, responses in the receiver's.
        let number = sequence << 1 | u64::from(matches!(message, Message::Response { .. }));
        self.inbox.insert((cycle, source, number), message);
    }

    /// The core that has an initiator's last command from that instruction.
    pub(crate) fn issuer(&self, pc: u32) -> Option<CoreId> {
        let mut issuers = self.issuers.iter().flatten().flatten();
        issuers.find(|(_, own)| *own == pc).map(|(core, _)| *core)
    }

    /// Who sent the request for which a mistake was reported, if it is one of another endpoint.
    pub(crate) fn take_refused(&mut self, mistake: &GuestError) -> Option<Refused> {
        let AgentId::Noc(noc) = mistake.at.agent else { return None };
        let is_it = |refused: &Refused| (refused.noc, refused.cycle) == (noc, mistake.at.cycle);
        let at = self.refused.iter().position(is_it).filter(|_| mistake.at.pc.is_none())?;
        Some(self.refused.remove(at))
    }

    /// Takes the messages to others, oldest first.
    pub(crate) fn take_departures(&mut self) -> std::vec::Drain<'_, Departure> {
        self.outbox.drain(..)
    }

    pub(crate) fn unanswered(&self) -> impl Iterator<Item = &InFlight> {
        self.in_flight.unanswered()
    }

    pub(crate) fn has_departures(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Sends the data that another tile asked for.
    fn respond_to(
        &mut self,
        source: u16,
        ticket: u64,
        packet: &NocPacket,
        data: Vec<u8>,
        at: Cycle,
    ) {
        let cycle = at + response_cycles(&self.in_flight.timing(), packet);
        let message = Message::Response { ticket, data };
        let to = Receivers::Sender(source);
        self.outbox.push(Departure { cycle, sequence: ticket, to, message });
    }

    /// What others must get of a packet that has just been sent.
    fn depart(&mut self, entry: &mut InFlight, unit: &Niu, at: Cycle) {
        let target = entry.packet.target();
        let (to, data) = match target {
            Target::Unicast { own: true, .. } => return,
            // No other endpoint needs the data.
            Target::Unicast { tile, .. } => {
                let data = Data::Own(std::mem::take(&mut entry.payload));
                (Receivers::One(tile, unit.translates()), data)
            }
            // All of them, and the own tile if it is among them, get one copy.
            Target::Broadcast { .. } => {
                let data = Data::Shared(Arc::new(copy_to_buffer(&entry.payload)));
                (Receivers::Many(unit.recipients(target)), data)
            }
        };
        let sequence = entry.sequence;
        let (noc, initiator) = (entry.packet.noc & 1, entry.packet.initiator & 3);
        let issuer = self.issuers[usize::from(noc)][usize::from(initiator)];
        let message = Message::Request { packet: entry.packet, data, issuer };
        self.outbox.push(Departure { cycle: at, sequence, to, message });
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        // Departures are taken before anything looks; who is there is a matter of configuration; issuers
        // and who was refused are for diagnoses.
        let Self { in_flight, sink, inbox, outbox: _, networked: _, issuers: _, refused: _ } = self;
        in_flight.hash_state(hasher);
        hasher.u64(sink.total());
        hasher.u64(inbox.0.len() as u64);
        for &((cycle, source, sequence), ref message) in &inbox.0 {
            hasher.u64(cycle.0);
            hasher.u32(u32::from(source));
            hasher.u64(sequence);
            let data = message.data();
            hasher.u64(data.len() as u64);
            hasher.bytes(data);
        }
    }
}

/// A request that another endpoint has not answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unanswered {
    /// A read, else an atomic.
    pub is_read: bool,
    /// What it asks for.
    pub address: u64,
    /// Of whom, as it was written; `None` of several.
    pub of: Option<Coordinate>,
}

impl Unanswered {
    pub(crate) fn new(packet: &NocPacket) -> Self {
        let of = match packet.target() {
            Target::Unicast { tile, .. } => Some(tile),
            Target::Broadcast { .. } => None,
        };
        let is_read = matches!(packet.kind, PacketKind::Read { .. });
        Self { is_read, address: packet.address(), of }
    }
}

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.is_read { "a read of" } else { "an atomic on" };
        write!(f, "{what} {:#x} of ", self.address)?;
        match self.of {
            Some(Coordinate { x, y }) => write!(f, "NoC ({x}, {y})"),
            None => f.write_str("a rectangle"),
        }
    }
}

/// The tile as its NIUs see it.
struct Port<'a, O: Observer + ?Sized> {
    bus: &'a mut Bus<O>,
    asker: Asker,
}

fn beyond(address: u64) -> DeviceFault {
    let message = format!("NoC access to {address:#x}: a tile has 32-bit addresses");
    fault(Category::UndefinedBehavior, "unmapped-access", message)
}

impl<O: Observer + ?Sized> MemoryPort for Port<'_, O> {
    fn read_bytes(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceFault> {
        let addr = u32::try_from(address).map_err(|_| beyond(address))?;
        self.bus.read_block(self.asker, addr, bytes)
    }

    fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceFault> {
        let addr = u32::try_from(address).map_err(|_| beyond(address))?;
        self.bus.write_block(self.asker, addr, bytes)
    }
}

/// Packets that reach a stage or a tile, in an epoch that ends with `end`.
pub(crate) struct Deliveries<'a, O: Observer + ?Sized> {
    pub(crate) bus: &'a mut Bus<O>,
    pub(crate) end: Cycle,
}

impl<O: Observer + ?Sized> Deliveries<'_, O> {
    /// Carries out what is due up to `cycle`: own requests first, in the order of their launch.
    pub(crate) fn up_to(&mut self, cycle: Cycle) {
        while let Some((at, entry)) = self.bus.fabric.in_flight.pop(cycle) {
            self.bus.changes.this_cycle = true;
            self.deliver(entry, at);
        }
        while let Some(((at, source, number), message)) = self.bus.fabric.inbox.pop(cycle) {
            self.bus.changes.this_cycle = true;
            self.accept(at, source, number >> 1, message);
        }
    }

    /// A message of another tile takes effect.
    fn accept(&mut self, at: Cycle, source: u16, sequence: u64, message: Message) {
        match message {
            Message::Response { ticket, data } => {
                if self.bus.fabric.in_flight.answer(ticket, data, at) {
                    self.up_to(at);
                }
            }
            Message::Request { packet, data, issuer } => {
                let (noc, agent) = (packet.noc & 1, AgentId::Noc(packet.noc & 1));
                let asker =
                    Asker { view: View::Noc, agent, core: None, pc: 0, cycle: at, end: self.end };
                let mut port = Port { bus: self.bus, asker };
                let (mut answer, done);
                match packet.kind {
                    PacketKind::Write { .. } | PacketKind::InlineWrite { .. } => {
                        done = write_out(&packet, &data, &mut port);
                        data.give_back();
                        answer = Vec::new();
                    }
                    PacketKind::Read { .. } | PacketKind::Atomic { .. } => {
                        answer = data.into_own();
                        done = carry_out(&packet, &mut answer, &mut port);
                    }
                }
                if let Err(fault) = done {
                    self.bus.fabric.refused.push(Refused { cycle: at, noc, source, issuer });
                    let at = Context { cycle: at, agent, pc: None, word: None };
                    self.bus.report(Box::new(fault.at(at)));
                }
                self.bus.devices.nius[usize::from(noc)].receive(&packet);
                self.bus.emit(at, agent, 0, || Event::NocServe {
                    noc,
                    source,
                    ticket: sequence as u32,
                    control: packet.control,
                    addr: packet.address(),
                    bytes: packet.bytes(),
                });
                if packet.needs_foreign_data() {
                    self.bus.fabric.respond_to(source, sequence, &packet, answer, at);
                } else {
                    keep_buffer(answer);
                }
            }
        }
    }

    fn deliver(&mut self, mut entry: Box<InFlight>, at: Cycle) {
        let (noc, initiator) = (entry.packet.noc & 1, entry.packet.initiator & 3);
        let issuer = self.bus.fabric.issuers[usize::from(noc)][usize::from(initiator)];
        let agent = AgentId::Noc(noc);
        let pc = issuer.map_or(0, |(_, pc)| pc);
        let asker = Asker { view: View::Noc, agent, core: None, pc, cycle: at, end: self.end };
        let result = devices::fabric::perform(&mut entry, &mut Port { bus: self.bus, asker });
        match result {
            Ok(Some(access)) if !self.bus.fabric.networked => {
                self.bus.fabric.sink.absorb(access, at);
            }
            Ok(_) => {}
            Err(fault) => {
                let pc = issuer.map(|(_, pc)| pc);
                self.bus.report(Box::new(fault.at(Context { cycle: at, agent, pc, word: None })));
                return;
            }
        }
        self.bus.devices.nius[usize::from(noc)].advance(&entry.packet, entry.stage);
        if entry.stage == Stage::Sent && matches!(entry.packet.kind, PacketKind::Write { .. }) {
            let ticket = entry.sequence as u32;
            self.bus.emit(at, agent, pc, || Event::NocSent { noc, initiator, ticket });
        }
        if is_over(&entry) {
            let ticket = entry.sequence as u32;
            self.bus.emit(at, agent, pc, || Event::NocDone { noc, initiator, ticket });
        }
        if self.bus.fabric.networked && entry.stage == Stage::Sent {
            let Bus { fabric, devices, .. } = &mut *self.bus;
            fabric.depart(&mut entry, &devices.nius[usize::from(noc)], at);
            if entry.packet.needs_foreign_data() {
                self.bus.fabric.in_flight.await_answer(entry);
                return;
            }
        }
        self.bus.fabric.in_flight.push_back(entry, at);
    }
}

/// Whether nothing more happens to a packet after the stage it has reached.
fn is_over(entry: &InFlight) -> bool {
    if entry.packet.nonposted {
        entry.stage == Stage::Responded
    } else {
        entry.stage == Stage::Performed
    }
}

/// From the cycle in which a request is carried out to the one in which its response arrives.
#[must_use]
pub fn response_cycles(timing: &NocTiming, packet: &NocPacket) -> u64 {
    let flits = match packet.kind {
        PacketKind::Read { .. } => 1 + packet.data_flits(),
        _ => 1,
    };
    u64::from(flits) * u64::from(timing.flit) + timing.travel(packet.hops.1)
}
