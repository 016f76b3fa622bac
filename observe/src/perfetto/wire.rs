//! Protobuf as far as a trace needs it, written by hand: varints, lengths, fixed64.
//!
//! Field numbers are those of the public `perfetto_trace.proto`; each constant names its message.

/// A message under construction; cleared and used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

/// Bytes of a varint.
const fn varint_bytes(value: u64) -> usize {
    (64 - (value | 1).leading_zeros()).div_ceil(7) as usize
}

/// Bytes of a varint field.
pub(super) const fn varint_field_bytes(field: u32, value: u64) -> usize {
    varint_bytes((field as u64) << 3) + varint_bytes(value)
}

/// Bytes of a field of that number that holds so many.
pub(super) const fn field_bytes(field: u32, content: usize) -> usize {
    varint_bytes((field as u64) << 3) + varint_bytes(content as u64) + content
}

impl Message {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn clear(&mut self) -> &mut Self {
        self.0.clear();
        self
    }

    fn raw(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// What precedes so many bytes in a field.
    pub(super) fn head(&mut self, field: u32, content: usize) -> &mut Self {
        self.raw(u64::from(field) << 3 | 2);
        self.raw(content as u64);
        self
    }

    /// A varint field; signed numbers are their two's complement in 64 bits.
    pub(super) fn varint(&mut self, field: u32, value: u64) -> &mut Self {
        self.raw(u64::from(field) << 3);
        self.raw(value);
        self
    }

    /// A fixed64 field.
    pub(super) fn fixed(&mut self, field: u32, value: u64) -> &mut Self {
        self.raw(u64::from(field) << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A string field.
    pub(super) fn text(&mut self, field: u32, text: &str) -> &mut Self {
        self.head(field, text.len());
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// A field that is a message itself.
    pub(super) fn message(&mut self, field: u32, inner: &Self) -> &mut Self {
        self.head(field, inner.0.len());
        self.fields(inner)
    }

    /// The fields of another message.
    pub(super) fn fields(&mut self, other: &Self) -> &mut Self {
        self.0.extend_from_slice(&other.0);
        self
    }

    /// A debug annotation of a track event.
    pub(super) fn note(&mut self, name: &str, value: &str) -> &mut Self {
        let content = field_bytes(event::ANNOTATION_NAME, name.len())
            + field_bytes(event::STRING_VALUE, value.len());
        self.head(event::ANNOTATION, content);
        self.text(event::ANNOTATION_NAME, name).text(event::STRING_VALUE, value)
    }

    /// The encoded message.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// `Trace.packet`.
pub(super) const PACKET: u32 = 1;

/// `TracePacket`.
pub(super) mod packet {
    pub(in super::super) const TIMESTAMP: u32 = 8;
    pub(in super::super) const SEQUENCE: u32 = 10;
    pub(in super::super) const TRACK_EVENT: u32 = 11;
    pub(in super::super) const SEQUENCE_FLAGS: u32 = 13;
    /// `TracePacket.SequenceFlags.SEQ_INCREMENTAL_STATE_CLEARED`.
    pub(in super::super) const INCREMENTAL_STATE_CLEARED: u64 = 1;
    pub(in super::super) const TRACK_DESCRIPTOR: u32 = 60;
}

/// `TrackDescriptor`, and what it is made of.
pub(super) mod track {
    pub(in super::super) const UUID: u32 = 1;
    pub(in super::super) const NAME: u32 = 2;
    pub(in super::super) const PROCESS: u32 = 3;
    pub(in super::super) const PARENT: u32 = 5;
    pub(in super::super) const COUNTER: u32 = 8;
    pub(in super::super) const CHILD_ORDERING: u32 = 11;
    pub(in super::super) const RANK: u32 = 12;
    /// `ChildTracksOrdering::EXPLICIT`.
    pub(in super::super) const EXPLICIT: u64 = 3;
    /// `ProcessDescriptor.pid`.
    pub(in super::super) const PID: u32 = 1;
    /// `ProcessDescriptor.process_name`.
    pub(in super::super) const PROCESS_NAME: u32 = 6;
}

/// `TrackEvent`.
pub(super) mod event {
    pub(in super::super) const ANNOTATION: u32 = 4;
    pub(in super::super) const TYPE: u32 = 9;
    pub(in super::super) const TRACK: u32 = 11;
    pub(in super::super) const CATEGORY: u32 = 22;
    pub(in super::super) const NAME: u32 = 23;
    pub(in super::super) const COUNTER_VALUE: u32 = 30;
    pub(in super::super) const FLOW: u32 = 47;
    pub(in super::super) const LAST_FLOW: u32 = 48;
    /// `DebugAnnotation.string_value`.
    pub(in super::super) const STRING_VALUE: u32 = 6;
    /// `DebugAnnotation.name`.
    pub(in super::super) const ANNOTATION_NAME: u32 = 10;
    /// `TrackEvent.Type`.
    pub(in super::super) const BEGIN: u64 = 1;
    pub(in super::super) const END: u64 = 2;
    pub(in super::super) const INSTANT: u64 = 3;
    pub(in super::super) const COUNTER: u64 = 4;
}
