//! Packets on their way out.

use std::io::{self, Write};

use super::tracks::Track;
use super::wire::{Message, PACKET, event as field, field_bytes, packet, varint_field_bytes};

/// What an arrow is attached with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    /// It begins or goes on here.
    From(u64),
    /// It ends here.
    To(u64),
}

/// A slice, an instant or the end of one.
pub(super) struct Mark<'a> {
    pub(super) kind: u64,
    pub(super) track: Track,
    pub(super) cycle: u64,
    pub(super) name: &'a str,
    pub(super) category: &'a str,
    pub(super) notes: &'a Message,
    pub(super) flows: &'a [Flow],
}

/// Writes packets. The messages are kept for their memory.
#[derive(Debug)]
pub(super) struct Packets<W> {
    out: W,
    /// What tells the tracks of this tile from those of others: it is added to their identifiers.
    base: u64,
    /// Packets of a sequence are in the order of their time.
    sequence: u64,
    /// Identifiers of the tracks that have been declared, in order.
    known: Vec<u64>,
    event: Message,
    packet: Message,
    framed: Message,
    error: Option<io::Error>,
}

impl<W: Write> Packets<W> {
    pub(super) fn new(out: W, base: u64, sequence: u64) -> Self {
        let [event, packet, framed] = [Message::new(), Message::new(), Message::new()];
        Self { out, base, sequence, known: Vec::new(), event, packet, framed, error: None }
    }

    /// Flushes, and gives the first error.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.error.map_or_else(|| self.out.flush(), Err)
    }

    /// Writes `self.packet`, which holds a descriptor.
    fn write(&mut self) {
        self.packet.varint(packet::SEQUENCE, self.sequence);
        self.framed.clear().message(PACKET, &self.packet);
        self.write_framed();
    }

    fn write_framed(&mut self) {
        if self.error.is_none()
            && let Err(error) = self.out.write_all(self.framed.bytes())
        {
            self.error = Some(error);
        }
    }

    /// Writes `self.event`.
    fn write_event(&mut self, cycle: u64) {
        let event = &self.event;
        // All lengths are known before, so that the bytes are put where they go.
        let content = varint_field_bytes(packet::TIMESTAMP, cycle)
            + field_bytes(packet::TRACK_EVENT, event.bytes().len())
            + varint_field_bytes(packet::SEQUENCE, self.sequence);
        self.framed
            .clear()
            .head(PACKET, content)
            .varint(packet::TIMESTAMP, cycle)
            .message(packet::TRACK_EVENT, event)
            .varint(packet::SEQUENCE, self.sequence);
        self.write_framed();
    }

    /// The first packet: nothing before it matters.
    pub(super) fn head(&mut self, tile: &Message) {
        let cleared = packet::INCREMENTAL_STATE_CLEARED;
        self.packet
            .clear()
            .message(packet::TRACK_DESCRIPTOR, tile)
            .varint(packet::SEQUENCE_FLAGS, cleared);
        self.write();
    }

    pub(super) fn declare(&mut self, track: Track) {
        if let Err(at) = self.known.binary_search(&track.uuid()) {
            self.known.insert(at, track.uuid());
            self.packet.clear().message(packet::TRACK_DESCRIPTOR, &track.descriptor(self.base));
            self.write();
        }
    }

    pub(super) fn mark(&mut self, mark: &Mark<'_>) {
        self.declare(mark.track);
        let event = self.event.clear();
        event.varint(field::TYPE, mark.kind).varint(field::TRACK, self.base + mark.track.uuid());
        if !mark.name.is_empty() {
            event.text(field::NAME, mark.name).text(field::CATEGORY, mark.category);
        }
        event.fields(mark.notes);
        for flow in mark.flows {
            match *flow {
                Flow::From(id) => event.fixed(field::FLOW, id),
                Flow::To(id) => event.fixed(field::LAST_FLOW, id),
            };
        }
        self.write_event(mark.cycle);
    }

    pub(super) fn begin(&mut self, track: Track, cycle: u64, name: &str, notes: &Message) {
        let category = "span";
        let kind = field::BEGIN;
        self.mark(&Mark { kind, track, cycle, name, category, notes, flows: &[] });
    }

    /// A slice with arrows from its beginning.
    pub(super) fn begin_with(
        &mut self,
        track: Track,
        cycle: u64,
        name: &str,
        notes: &Message,
        flows: &[Flow],
    ) {
        let kind = field::BEGIN;
        self.mark(&Mark { kind, track, cycle, name, category: "span", notes, flows });
    }

    /// The end of a slice, where arrows arrive: they need something that begins there.
    pub(super) fn end_with(&mut self, track: Track, cycle: u64, flows: &[Flow]) {
        if !flows.is_empty() {
            let (kind, name, notes) = (field::INSTANT, "answered", &Message::new());
            self.mark(&Mark { kind, track, cycle, name, category: "noc", notes, flows });
        }
        self.end(track, cycle, &Message::new());
    }

    pub(super) fn end(&mut self, track: Track, cycle: u64, notes: &Message) {
        let kind = field::END;
        self.mark(&Mark { kind, track, cycle, name: "", category: "", notes, flows: &[] });
    }

    pub(super) fn slice(
        &mut self,
        track: Track,
        from: u64,
        until: u64,
        name: &str,
        notes: &Message,
    ) {
        self.begin(track, from, name, notes);
        self.end(track, until.max(from), &Message::new());
    }

    pub(super) fn counter(&mut self, track: Track, cycle: u64, value: u64) {
        self.declare(track);
        self.event
            .clear()
            .varint(field::TYPE, field::COUNTER)
            .varint(field::TRACK, self.base + track.uuid())
            .varint(field::COUNTER_VALUE, value);
        self.write_event(cycle);
    }
}
