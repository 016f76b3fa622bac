//! Counters, bank, mutex and NoC slices, and the arrows between giving and taking.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;

use memory_map::NocControl;
use sim_core::{CoreId, Event, Stamp, ThreadId};

use super::Place;
use super::packets::{Flow, Packets};
use super::tracks::Track;
use super::wire::Message;
use crate::describe::agent_name;
use crate::names::{is_go_signal, subordinate};
use crate::resource::{Operation, Resource, Way, operation};
use crate::scribe::Fields;
use crate::text::{Hex, put};

/// Arrows that may be open per resource; older ones are forgotten.
const OPEN: usize = 256;
/// Overlapping requests per initiator that are drawn.
const LANES: u8 = 32;
/// RUN_MSG_GO and RUN_SYNC_MSG_GO; DONE is 0 `[spec: boot-and-sync 1.5]`.
const GO: u32 = 0x80;

/// What is open.
#[derive(Debug, Default)]
pub(super) struct Handshakes {
    next: u64,
    /// What tells arrows of this tile from those of others: it is added to their identifiers.
    base: u64,
    /// The chip that the tile is of.
    place: Option<Place>,
    /// Arrows that have begun and the units that are left of them.
    open: BTreeMap<Resource, VecDeque<(u64, u32)>>,
    /// GO signals that wait for their DONE, by subordinate core; the tile's own is `None`.
    started: BTreeMap<Option<CoreId>, u64>,
    /// Credits of circular buffers: received, acked.
    credits: BTreeMap<u8, (u32, u32)>,
    holders: BTreeMap<u8, ThreadId>,
    /// Requests per initiator, by lane.
    lanes: BTreeMap<(u8, u8), Vec<Option<Request>>>,
    fields: Fields,
    /// These are kept for their memory.
    text: String,
    note: Message,
}

/// A request under way.
#[derive(Debug)]
struct Request {
    /// Number of its first packet.
    first: u32,
    packets: u32,
    /// Packets that are not done.
    left: u32,
    /// Arrows that end with it.
    flows: Vec<Flow>,
}

/// Packets of one request with arrows of their own.
const PACKETS: u32 = 64;

impl Handshakes {
    /// Those of a tile of a chip.
    pub(super) fn of(base: u64, place: Option<Place>) -> Self {
        Self { base, place, ..Self::default() }
    }

    /// Whether an event is the tile's own "done" of a launch.
    pub(super) fn is_done(&mut self, event: &Event) -> bool {
        self.fields.written(event).iter().any(|part| is_go_signal(&part.name) && part.value == 0)
    }

    /// The arrow that leads to a request which the tile has carried out, and on if it is answered.
    pub(super) fn served(&self, event: &Event, flows: &mut Vec<Flow>) {
        if let Event::NocServe { source, ticket, control, .. } = *event
            && let Some(place) = &self.place
            && place.chip.is_watched(source)
        {
            let id = transaction(source, place.number, ticket);
            flows.push(if NocControl(control).is_answered() {
                Flow::From(id)
            } else {
                Flow::To(id)
            });
        }
    }

    /// The arrows of a request to all watched tiles that it reaches, packet by packet.
    fn arrows(&self, control: u32, coordinate: u32, first: u32, packets: u32) -> Vec<u64> {
        let Some(place) = &self.place else { return Vec::new() };
        let mut ids = Vec::new();
        for to in place.chip.receivers(control, coordinate) {
            if to != place.number && place.chip.is_watched(to) {
                let tickets = (0..packets.min(PACKETS)).map(|at| first.wrapping_add(at));
                ids.extend(tickets.map(|ticket| transaction(place.number, to, ticket)));
            }
        }
        ids
    }

    /// The arrows that begin or end at an event's instant.
    pub(super) fn flows(&mut self, event: &Event, flows: &mut Vec<Flow>) {
        if matches!(event, Event::L1Store { .. } | Event::HostWrite { .. }) {
            return self.signal(event, flows);
        }
        // NoC arrows are attached to the slices of the requests.
        let op = operation(event, &|_, _| None)
            .filter(|op| !matches!(op.resource, Resource::Noc { .. } | Resource::Mutex(_)));
        if let Some(op) = op {
            self.step(op, flows);
        }
    }

    fn step(&mut self, op: Operation, flows: &mut Vec<Flow>) {
        let open = self.open.entry(op.resource).or_default();
        match op.way {
            Way::Init => open.clear(),
            Way::Give if op.amount > 0 => {
                self.next += 1;
                let id = self.base + self.next;
                if open.len() == OPEN {
                    open.pop_front();
                }
                open.push_back((id, op.amount));
                flows.push(Flow::From(id));
            }
            Way::Give => {}
            Way::Take => {
                let mut left = op.amount;
                while left > 0
                    && let Some((id, units)) = open.front_mut()
                {
                    let taken = left.min(*units);
                    *units -= taken;
                    left -= taken;
                    flows.push(if *units == 0 { Flow::To(*id) } else { Flow::From(*id) });
                    if *units == 0 {
                        open.pop_front();
                    }
                }
            }
        }
    }

    fn signal(&mut self, event: &Event, flows: &mut Vec<Flow>) {
        for part in self.fields.written(event) {
            let core = if is_go_signal(&part.name) {
                None
            } else {
                match subordinate(&part.name) {
                    Some(core) => Some(core),
                    None => continue,
                }
            };
            match part.value {
                GO => {
                    self.next += 1;
                    let id = self.base + self.next;
                    self.started.insert(core, id);
                    flows.push(Flow::From(id));
                }
                0 => flows.extend(self.started.remove(&core).map(Flow::To)),
                _ => {}
            }
        }
    }

    /// Draws counters and slices.
    pub(super) fn event<W: Write>(
        &mut self,
        stamp: Stamp,
        event: &Event,
        packets: &mut Packets<W>,
    ) {
        let cycle = stamp.cycle.0;
        match *event {
            Event::Semaphore { index, after, .. } => {
                packets.counter(Track::Semaphore(index), cycle, after.into());
            }
            Event::MailboxPush { from, to, depth, .. }
            | Event::MailboxPop { from, to, depth, .. } => {
                packets.counter(Track::Mailbox { from, to }, cycle, depth.into());
            }
            Event::PcBufPush { thread, depth, .. } | Event::PcBufPop { thread, depth, .. } => {
                packets.counter(Track::PcBuf(thread), cycle, depth.into());
            }
            Event::Stream { .. } => self.credit(cycle, event, packets),
            Event::SrcBanks { operand, before, after } => {
                for bank in 0..2 {
                    let track = Track::Bank { operand, bank };
                    match (before >> bank & 1, after >> bank & 1) {
                        (0, 1) => {
                            let note = self.by("filled by", stamp);
                            packets.begin(track, cycle, "matrix unit's", note);
                        }
                        (1, 0) => {
                            packets.end(track, cycle, self.by("cleared by", stamp));
                        }
                        _ => {}
                    }
                }
            }
            Event::Mutex { index, acquired } => {
                let held = self.holders.remove(&index).is_some();
                if held {
                    packets.end(Track::Mutex(index), cycle, &Message::new());
                }
                if let (true, sim_core::AgentId::Thread(thread)) = (acquired, stamp.agent) {
                    self.holders.insert(index, thread);
                    let name = format!("held by {thread}");
                    packets.begin(Track::Mutex(index), cycle, &name, &Message::new());
                }
            }
            Event::NocIssue { .. } | Event::NocDone { .. } => self.noc(stamp, event, packets),
            _ => {}
        }
    }

    fn credit<W: Write>(&mut self, cycle: u64, event: &Event, packets: &mut Packets<W>) {
        let Some(Operation { resource: Resource::Circular(index), .. }) =
            operation(event, &|_, _| None)
        else {
            return;
        };
        let Event::Stream { register, after, .. } = *event else { return };
        let credits = self.credits.entry(index).or_default();
        if register == crate::resource::RECEIVED {
            credits.0 = after;
        } else {
            credits.1 = after;
        }
        let pages = credits.0.wrapping_sub(credits.1) & crate::resource::CREDIT_MASK;
        packets.counter(Track::Circular(index), cycle, pages.into());
    }

    fn noc<W: Write>(&mut self, stamp: Stamp, event: &Event, packets: &mut Packets<W>) {
        let cycle = stamp.cycle.0;
        match *event {
            Event::NocIssue {
                noc,
                initiator,
                control,
                bytes,
                coordinate,
                ticket,
                packets: count,
                ..
            } => {
                let arrows = self.arrows(control, coordinate, ticket, count);
                let lanes = self.lanes.entry((noc, initiator)).or_default();
                let free = lanes.iter().position(Option::is_none).unwrap_or(lanes.len());
                let Ok(lane) = u8::try_from(free) else { return };
                if lane >= LANES {
                    return;
                }
                if free == lanes.len() {
                    lanes.push(None);
                }
                let ends = arrows
                    .iter()
                    .filter(|_| NocControl(control).is_answered())
                    .map(|id| Flow::To(*id));
                let flows = ends.collect();
                lanes[free] = Some(Request { first: ticket, packets: count, left: count, flows });
                let track = Track::Noc { noc, initiator, lane };
                let what = crate::describe::request_name(NocControl(control).request());
                let name = format!("{what} of {bytes} bytes");
                let begins: Vec<Flow> = arrows.into_iter().map(Flow::From).collect();
                packets.begin_with(track, cycle, &name, self.by("issued by", stamp), &begins);
            }
            Event::NocDone { noc, initiator, ticket } => {
                let Some(lanes) = self.lanes.get_mut(&(noc, initiator)) else { return };
                let own = |request: &Request| ticket.wrapping_sub(request.first) < request.packets;
                let at = lanes.iter().position(|lane| lane.as_ref().is_some_and(own));
                let Some(at) = at else { return };
                let Some(request) = &mut lanes[at] else { return };
                request.left = request.left.saturating_sub(1);
                if request.left == 0 {
                    let flows = std::mem::take(&mut request.flows);
                    lanes[at] = None;
                    let lane = at as u8;
                    packets.end_with(Track::Noc { noc, initiator, lane }, cycle, &flows);
                }
            }
            _ => {}
        }
    }

    /// A note that says who did it.
    fn by(&mut self, what: &str, stamp: Stamp) -> &Message {
        self.text.clear();
        put!(&mut self.text; &*agent_name(stamp.agent), " ", Hex(stamp.pc));
        self.note.clear().note(what, &self.text)
    }
}

/// The arrow of a packet from one tile of a chip to another.
fn transaction(from: u16, to: u16, ticket: u32) -> u64 {
    1 << 63 | u64::from(from & 0x7FFF) << 48 | u64::from(to) << 32 | u64::from(ticket)
}
