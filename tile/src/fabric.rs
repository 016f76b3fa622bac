//! NoC transfers of the tile: requests its NIUs start, carried out on its own address space or
//! handed out, and requests of other tiles that arrive.
//!
//! A tile that stands alone absorbs what is addressed to others in a [`HostSink`]. A tile of a
//! chip hands it out as [`Departure`]s and takes [`Arrival`]s; both carry the cycle at which the
//! receiver acts, computed by the sender, so nothing depends on when the host moves them.

use std::collections::BTreeMap;

use devices::{
    DeviceFault, HostSink, InFlight, MemoryPort, NocPacket, NocTiming, PacketKind, Stage,
};
use memory_map::View;
use sim_core::l1::L1_BYTES;
use sim_core::{
    AgentId, Category, Context, CoreId, Cycle, Event, L1, Observer, StateHasher, Width,
};

use crate::asker::{Asker, fault};
use crate::message::InputKind;
use crate::message::{Arrival, Departure, Message, Receivers};
use crate::tile::Tile;

/// The tile's NoC traffic.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    in_flight: devices::Fabric,
    pub(crate) sink: HostSink,
    /// Messages of others by `(cycle, sender, sequence)`.
    inbox: BTreeMap<(Cycle, u16, u64), Message>,
    /// Messages to others, oldest first.
    outbox: Vec<Departure>,
    /// Whether there is anybody else.
    networked: bool,
    /// Who used an initiator last, for diagnoses: `[noc][initiator]`.
    issuers: [[Option<(CoreId, u32)>; 4]; 2],
}

impl Fabric {
    pub(crate) fn new(networked: bool) -> Self {
        Self {
            in_flight: devices::Fabric::new(NocTiming::documented()),
            sink: HostSink::new(),
            inbox: BTreeMap::new(),
            outbox: Vec::new(),
            networked,
            issuers: [[None; 4]; 2],
        }
    }

    /// When something happens next, without anybody else's doing.
    pub(crate) fn next_due(&self) -> Option<Cycle> {
        let inbox = self.inbox.first_key_value().map(|(&(cycle, ..), _)| cycle);
        match (self.in_flight.next_due(), inbox) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        }
    }

    pub(crate) fn is_due_before(&self, end: Cycle) -> bool {
        self.next_due().is_some_and(|due| due < end)
    }

    /// What packets do before `end` to the tile's NIUs: the stage of an own one, or none for that of
    /// somebody else.
    pub(crate) fn reached_before(
        &self,
        end: Cycle,
    ) -> impl Iterator<Item = (&NocPacket, Option<Stage>)> {
        let own = self.in_flight.reached_before(end).map(|(packet, stage)| (packet, Some(stage)));
        let others = self.inbox.range(..(end, 0, 0)).filter_map(|(_, message)| match message {
            Message::Request { packet, .. } => Some((packet, None)),
            Message::Response { ticket, .. } => {
                let asked = self.in_flight.asked(*ticket)?;
                Some((&asked.packet, Some(Stage::Responded)))
            }
        });
        own.chain(others)
    }

    pub(crate) fn unanswered(&self) -> impl Iterator<Item = &InFlight> {
        self.in_flight.unanswered()
    }

    pub(crate) fn has_departures(&self) -> bool {
        !self.outbox.is_empty()
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        // Departures are taken before anybody looks; who is there is a matter of configuration; issuers
        // are for diagnoses.
        let Self { in_flight, sink, inbox, outbox: _, networked: _, issuers: _ } = self;
        in_flight.hash_state(hasher);
        hasher.u64(sink.total());
        hasher.u64(inbox.len() as u64);
        for (&(cycle, source, sequence), message) in inbox {
            hasher.u64(cycle.0);
            hasher.u32(u32::from(source));
            hasher.u64(sequence);
            let (Message::Request { data, .. } | Message::Response { data, .. }) = message;
            hasher.u64(data.len() as u64);
            hasher.bytes(data);
        }
    }
}

/// The tile as its NIUs see it.
struct Port<'a, O: Observer + ?Sized> {
    tile: &'a mut Tile<O>,
    asker: Asker,
}

fn beyond(address: u64) -> DeviceFault {
    let message = format!("NoC access to {address:#x}: a tile has 32-bit addresses");
    fault(Category::UndefinedBehavior, "unmapped-access", message)
}

impl<O: Observer + ?Sized> MemoryPort for Port<'_, O> {
    fn read_bytes(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceFault> {
        let addr = u32::try_from(address).map_err(|_| beyond(address))?;
        self.tile.read_block(self.asker, addr, bytes)
    }

    fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceFault> {
        let addr = u32::try_from(address).map_err(|_| beyond(address))?;
        self.tile.write_block(self.asker, addr, bytes)
    }
}

impl<O: Observer + ?Sized> Tile<O> {
    /// A store to an NIU register; may start a request.
    pub(crate) fn noc_store(
        &mut self,
        asker: Asker,
        noc: u8,
        offset: u32,
        value: u32,
    ) -> Result<(), DeviceFault> {
        let Some(packet) = self.nius[usize::from(noc & 1)].write(offset, value, asker.cycle)?
        else {
            return Ok(());
        };
        if !self.fabric.networked {
            HostSink::check(&packet)?;
        }
        if let Some(core) = asker.core {
            self.fabric.issuers[usize::from(noc & 1)][usize::from(packet.initiator & 3)] =
                Some((core, asker.pc));
        }
        let ticket = self.fabric.in_flight.next_sequence() as u32;
        self.emit(asker.cycle, asker.agent, asker.pc, || Event::NocIssue {
            noc,
            initiator: packet.initiator,
            control: packet.control,
            addr: packet.address(),
            coordinate: packet.coordinate(),
            bytes: packet.bytes(),
            ticket,
            packets: packet.parts(),
        });
        self.fabric.in_flight.launch(&packet, asker.cycle);
        Ok(())
    }

    /// Carries out what is due up to `cycle`: own requests first, in the order of their launch.
    pub(crate) fn deliver_noc(&mut self, cycle: Cycle, end: Cycle) {
        while let Some((at, entry)) = self.fabric.in_flight.pop(cycle) {
            self.device_change = true;
            self.deliver(entry, at, end);
        }
        while let Some(entry) = self.fabric.inbox.first_entry()
            && entry.key().0 <= cycle
        {
            let ((at, source, number), message) = entry.remove_entry();
            self.device_change = true;
            self.accept(at, source, number >> 1, message, end);
        }
    }

    /// A message of another tile takes effect.
    fn accept(&mut self, at: Cycle, source: u16, sequence: u64, message: Message, end: Cycle) {
        match message {
            Message::Response { ticket, data } => {
                if self.fabric.in_flight.answer(ticket, data, at) {
                    self.deliver_noc(at, end);
                }
            }
            Message::Request { packet, mut data } => {
                let (noc, agent) = (packet.noc & 1, AgentId::Noc(packet.noc & 1));
                let asker = Asker { view: View::Noc, agent, core: None, pc: 0, cycle: at, end };
                let mut port = Port { tile: self, asker };
                if let Err(fault) = devices::fabric::carry_out(&packet, &mut data, &mut port) {
                    let at = Context { cycle: at, agent, pc: None, word: None };
                    self.report(Box::new(fault.at(at)));
                }
                self.nius[usize::from(noc)].receive(&packet);
                self.emit(at, agent, 0, || Event::NocServe {
                    noc,
                    source,
                    ticket: sequence as u32,
                    control: packet.control,
                    addr: packet.address(),
                    bytes: packet.bytes(),
                });
                if packet.needs_foreign_data() {
                    self.respond_to(source, sequence, &packet, data, at);
                }
            }
        }
    }

    fn respond_to(
        &mut self,
        source: u16,
        ticket: u64,
        packet: &NocPacket,
        data: Vec<u8>,
        at: Cycle,
    ) {
        let cycle = at + response_cycles(&self.fabric.in_flight.timing(), packet);
        let message = Message::Response { ticket, data };
        let to = Receivers::Sender(source);
        self.fabric.outbox.push(Departure { cycle, sequence: ticket, to, message, issuer: None });
    }

    /// What others must get of a packet that has just been sent.
    fn depart(&mut self, entry: &mut InFlight, at: Cycle) {
        let unit = &self.nius[usize::from(entry.packet.noc & 1)];
        let target = entry.packet.target();
        let mut others = unit.recipients(target);
        let (to, data) = match target {
            devices::niu::Target::Unicast { .. } => match others.pop() {
                // Nobody else needs the data.
                Some(place) => {
                    let to = Receivers::One(place, unit.translates());
                    (to, std::mem::take(&mut entry.payload))
                }
                None => return,
            },
            devices::niu::Target::Broadcast { .. } => {
                (Receivers::Many(others), entry.payload.clone())
            }
        };
        let message = Message::Request { packet: entry.packet, data };
        let sequence = entry.sequence;
        let (noc, initiator) = (entry.packet.noc & 1, entry.packet.initiator & 3);
        let issuer = self.fabric.issuers[usize::from(noc)][usize::from(initiator)];
        self.fabric.outbox.push(Departure { cycle: at, sequence, to, message, issuer });
    }

    fn deliver(&mut self, mut entry: InFlight, at: Cycle, end: Cycle) {
        let (noc, initiator) = (entry.packet.noc & 1, entry.packet.initiator & 3);
        let issuer = self.fabric.issuers[usize::from(noc)][usize::from(initiator)];
        let agent = AgentId::Noc(noc);
        let pc = issuer.map_or(0, |(_, pc)| pc);
        let asker = Asker { view: View::Noc, agent, core: None, pc, cycle: at, end };
        let result = devices::fabric::perform(&mut entry, &mut Port { tile: self, asker });
        match result {
            Ok(Some(access)) if !self.fabric.networked => self.fabric.sink.absorb(access, at),
            Ok(_) => {}
            Err(fault) => {
                let pc = issuer.map(|(_, pc)| pc);
                self.report(Box::new(fault.at(Context { cycle: at, agent, pc, word: None })));
                return;
            }
        }
        self.nius[usize::from(noc)].advance(&entry.packet, entry.stage);
        if is_over(&entry) {
            let ticket = entry.sequence as u32;
            self.emit(at, agent, pc, || Event::NocDone { noc, initiator, ticket });
        }
        if self.fabric.networked && entry.stage == Stage::Sent {
            self.depart(&mut entry, at);
            if entry.packet.needs_foreign_data() {
                self.fabric.in_flight.await_answer(entry);
                return;
            }
        }
        self.fabric.in_flight.push_back(entry, at);
    }

    /// [`Tile::receive`]
    pub(crate) fn receive_here(&mut self, arrival: Arrival) {
        self.note_input(|| InputKind::Arrival(arrival.clone()));
        let Arrival { cycle, source, sequence, message } = arrival;
        // A lone tile may stand up to an epoch beyond where it was asked to go.
        let cycle = cycle.max(self.now);
        // Requests count in the sender's numbers, responses in the receiver's.
        let number = sequence << 1 | u64::from(matches!(message, Message::Response { .. }));
        self.fabric.inbox.insert((cycle, source, number), message);
    }

    /// Whether there are messages to others.
    #[must_use]
    pub fn has_departures(&self) -> bool {
        self.fabric.has_departures()
    }

    /// The core that has a NoC initiator's last command from that instruction.
    #[must_use]
    pub fn issuer(&self, pc: u32) -> Option<CoreId> {
        let mut issuers = self.fabric.issuers.iter().flatten().flatten();
        issuers.find(|(_, own)| *own == pc).map(|(core, _)| *core)
    }

    /// Takes the messages to others, oldest first.
    pub fn take_departures(&mut self) -> std::vec::Drain<'_, Departure> {
        self.fabric.outbox.drain(..)
    }

    /// Reads a block through the NoC's view: L1, or aligned words of registers.
    pub(crate) fn read_block(
        &mut self,
        asker: Asker,
        addr: u32,
        bytes: &mut [u8],
    ) -> Result<(), DeviceFault> {
        if addr < L1_BYTES {
            check_l1(addr, bytes.len())?;
            self.read_l1_block(addr, bytes);
            return Ok(());
        }
        let (mut at, mut rest) = (addr, bytes);
        while !rest.is_empty() {
            // One device read per word, however many of its bytes are wanted.
            let word = self.load_as(asker, at & !3, Width::Word)?.value.to_le_bytes();
            let skip = (at & 3) as usize;
            let count = rest.len().min(4 - skip);
            let (head, tail) = rest.split_at_mut(count);
            head.copy_from_slice(&word[skip..skip + count]);
            at = (at & !3).wrapping_add(4);
            rest = tail;
        }
        Ok(())
    }

    /// Writes a block through the NoC's view: L1, or aligned words of registers.
    pub(crate) fn write_block(
        &mut self,
        asker: Asker,
        addr: u32,
        bytes: &[u8],
    ) -> Result<(), DeviceFault> {
        if addr < L1_BYTES {
            check_l1(addr, bytes.len())?;
            self.write_l1_block(asker, addr, bytes);
            return Ok(());
        }
        let mut at = addr;
        for chunk in bytes.chunks(4) {
            if at & 3 != 0 || chunk.len() != 4 {
                let message = format!(
                    "write of {} bytes to {addr:#010x}: registers take aligned words only",
                    bytes.len()
                );
                return Err(fault(Category::UndefinedBehavior, "narrow-device-access", message));
            }
            let word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
            self.store_as(asker, at, word, Width::Word)?;
            at += 4;
        }
        Ok(())
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

fn check_l1(addr: u32, bytes: usize) -> Result<(), DeviceFault> {
    if u32::try_from(bytes).is_ok_and(|bytes| L1::contains(addr, bytes)) {
        return Ok(());
    }
    let message = format!("{bytes} bytes at {addr:#x} reach beyond the end of L1");
    Err(fault(Category::UndefinedBehavior, "beyond-l1", message))
}
