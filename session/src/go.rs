//! The go message of a tile, as events show it.

use sim_core::{Event, Width};

/// `RUN_MSG_GO` `[spec: boot-and-sync 1.5]`.
const GO: u32 = 0x80;
/// Bytes of a go message; its signal is the last.
const GO_BYTES: u32 = 4;
/// Go messages of a tile.
const MESSAGES: u32 = 9;

/// Where go messages are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Go(u32);

impl Go {
    pub(crate) fn new() -> Self {
        Self(memory_map::mailbox::address("go_messages[0].signal").unwrap_or(0) & !3)
    }

    /// The bytes to watch.
    pub(crate) const fn range(self) -> (u32, u32) {
        (self.0, self.0 + MESSAGES * GO_BYTES)
    }

    /// Whether an event is a go signal.
    pub(crate) fn is_given(self, event: &Event) -> bool {
        let (addr, value, bytes) = match *event {
            Event::HostWrite { addr, value, bytes } => (addr, value, bytes.min(GO_BYTES)),
            Event::L1Store { addr, value, width } => (addr, value, Width::bytes(width)),
            _ => return false,
        };
        let (start, end) = self.range();
        (addr..addr.saturating_add(bytes)).zip(value.to_le_bytes()).any(|(at, byte)| {
            (start..end).contains(&at) && at % GO_BYTES == GO_BYTES - 1 && u32::from(byte) == GO
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A go message is `signal << 24` with coordinates below; writes of the signal byte alone count too.
    #[test]
    fn go_is_the_signal_byte_whatever_the_width() {
        let go = Go::new();
        let (start, _) = go.range();
        let store = |addr, value, width| Event::L1Store { addr, value, width };
        let host = |addr, value, bytes| Event::HostWrite { addr, value, bytes };
        assert!(go.is_given(&store(start, 0x8000_0102, Width::Word)));
        assert!(go.is_given(&store(start + 3, 0x80, Width::Byte)));
        assert!(go.is_given(&store(start + 7, 0x80, Width::Byte)));
        assert!(go.is_given(&host(start, 0x8000_0000, 16)));
        assert!(!go.is_given(&store(start, 0x80, Width::Word)));
        assert!(!go.is_given(&store(start + 3, 0, Width::Byte)));
        assert!(!go.is_given(&store(start + 4, 0x80, Width::Byte)));
        assert!(!go.is_given(&host(start + 36, 0x8000_0000, 4)));
    }
}
