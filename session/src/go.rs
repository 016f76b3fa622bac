//! The go message of a tile, and what comes before it, as events show it.

use memory_map::mailbox::Layout;
use sim_core::{Event, Width};
use symbols::launch::{GO_MESSAGES, LAUNCH_SLOTS};

/// `RUN_MSG_GO` `[spec: boot-and-sync 1.5]`.
const GO: u32 = 0x80;
/// Bytes of a go message; its signal is the last.
const GO_BYTES: u32 = 4;

/// Where it shows that kernels may be started before their go signal: that a launch message says so, and
/// that firmware goes on to the next one `[hdr: hw/firmware/src/tt-1xx/brisc.cc]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preload {
    pointer: u32,
    first: u32,
    stride: u32,
}

impl Preload {
    pub(crate) fn of(layout: &Layout) -> Self {
        let at = |name: &str| layout.address(name).unwrap_or(0);
        let first = at("launch[0].preload");
        let stride = at("launch[1].preload").saturating_sub(first);
        Self { pointer: at("launch_msg_rd_ptr"), first, stride }
    }

    /// The bytes to watch.
    pub(crate) const fn range(self) -> (u32, u32) {
        (self.pointer, self.first + LAUNCH_SLOTS * self.stride)
    }

    /// Whether an event writes any of it: then the launch in force may be another one.
    pub(crate) fn is_touched(self, event: &Event) -> bool {
        let (addr, bytes) = match *event {
            Event::HostWrite { addr, bytes, .. } => (addr, bytes),
            Event::L1Store { addr, width, .. } => (addr, Width::bytes(width)),
            _ => return false,
        };
        let end = addr.saturating_add(bytes);
        let covers = |byte: u32| addr <= byte && byte < end;
        covers(self.pointer)
            || (0..LAUNCH_SLOTS).any(|slot| covers(self.first + slot * self.stride))
    }
}

/// Where go messages are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Go(u32);

impl Go {
    pub(crate) fn of(layout: &Layout) -> Self {
        Self(layout.address("go_messages[0].signal").unwrap_or(0) & !3)
    }

    /// The bytes to watch.
    pub(crate) const fn range(self) -> (u32, u32) {
        (self.0, self.0 + GO_MESSAGES * GO_BYTES)
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

    #[test]
    fn preload_is_told_by_the_pointer_and_by_that_byte_of_each_slot() {
        let preload = Preload::of(Layout::built_in());
        let at = |name: &str| memory_map::mailbox::address(name).expect("the table has it");
        let store = |addr, width| Event::L1Store { addr, value: 0, width };
        for name in ["launch_msg_rd_ptr", "launch[0].preload", "launch[7].preload"] {
            assert!(preload.is_touched(&store(at(name), Width::Byte)), "{name}");
            assert!((preload.range().0..preload.range().1).contains(&at(name)), "{name}");
        }
        assert!(preload.is_touched(&store(at("launch[7].preload") & !3, Width::Word)));
        let slot = at("launch[2].kernel_config_base[0]");
        assert!(preload.is_touched(&Event::HostWrite { addr: slot, value: 0, bytes: 144 }));
        assert!(!preload.is_touched(&Event::HostWrite { addr: slot, value: 0, bytes: 4 }));
        assert!(!preload.is_touched(&store(at("launch[2].enables"), Width::Word)));
        assert!(!preload.is_touched(&store(at("go_messages[0].signal"), Width::Byte)));
    }

    /// A go message is `signal << 24` with coordinates below; writes of the signal byte alone count too.
    #[test]
    fn go_is_the_signal_byte_whatever_the_width() {
        let go = Go::of(Layout::built_in());
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
