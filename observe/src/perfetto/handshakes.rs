//! Counters, bank, mutex and NoC slices, and the arrows between giving and taking.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;

use sim_core::{CoreId, Event, Stamp, ThreadId};

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
    /// Arrows that have begun and the units that are left of them.
    open: BTreeMap<Resource, VecDeque<(u64, u32)>>,
    /// GO signals that wait for their DONE, by subordinate core; the tile's own is `None`.
    started: BTreeMap<Option<CoreId>, u64>,
    /// Credits of circular buffers: received, acked.
    credits: BTreeMap<u8, (u32, u32)>,
    holders: BTreeMap<u8, ThreadId>,
    /// Requests per initiator, by lane.
    lanes: BTreeMap<(u8, u8), Vec<Option<u64>>>,
    fields: Fields,
    /// These are kept for their memory.
    text: String,
    note: Message,
}

impl Handshakes {
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
                if open.len() == OPEN {
                    open.pop_front();
                }
                open.push_back((self.next, op.amount));
                flows.push(Flow::From(self.next));
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
                    self.started.insert(core, self.next);
                    flows.push(Flow::From(self.next));
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
            Event::NocIssue { noc, initiator, control, bytes, .. } => {
                let lanes = self.lanes.entry((noc, initiator)).or_default();
                let free = lanes.iter().position(Option::is_none).unwrap_or(lanes.len());
                let Ok(lane) = u8::try_from(free) else { return };
                if lane >= LANES {
                    return;
                }
                if free == lanes.len() {
                    lanes.push(None);
                }
                self.next += 1;
                lanes[free] = Some(self.next);
                let track = Track::Noc { noc, initiator, lane };
                let what = crate::describe::Request::of(control).name();
                let name = format!("{what} of {bytes} bytes");
                packets.begin(track, cycle, &name, self.by("issued by", stamp));
            }
            Event::NocDone { noc, initiator } => {
                let Some(lanes) = self.lanes.get_mut(&(noc, initiator)) else { return };
                // The oldest request is taken to be the one that is done.
                let oldest =
                    lanes.iter().enumerate().filter_map(|(at, id)| Some((*id.as_ref()?, at)));
                if let Some((_, at)) = oldest.min() {
                    lanes[at] = None;
                    let lane = at as u8;
                    packets.end(Track::Noc { noc, initiator, lane }, cycle, &Message::new());
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
