//! Circular buffers as a launch lays them out.

use std::ops::RangeInclusive;

/// A circular buffer of the launch, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct CircularBuffer {
    /// Its id.
    pub index: u8,
    /// L1 address.
    pub address: u32,
    /// Size in bytes.
    pub size: u32,
    /// Pages in it.
    pub pages: u32,
    /// Bytes per page.
    pub page_bytes: u32,
}

impl CircularBuffer {
    /// The address behind it. What a launch says may be anything, and wraps around nothing.
    #[must_use]
    pub const fn end(&self) -> u32 {
        self.address.saturating_add(self.size)
    }

    /// Its pages in which any of so many bytes at an address lie.
    pub(super) fn pages_at(&self, (addr, bytes): (u32, u32)) -> RangeInclusive<u32> {
        let page = |addr: u32| addr.saturating_sub(self.address) / self.page_bytes.max(1);
        let end = addr.saturating_add(bytes.max(1)).min(self.end());
        page(addr)..=page(end.saturating_sub(1))
    }
}

/// So many pages, in words.
pub(super) fn pages(count: u64) -> String {
    format!("{count} page{}", if count == 1 { "" } else { "s" })
}

/// The buffer in which bytes lie; none if buffers share them, as they do on purpose.
pub(super) fn buffer_at(
    buffers: &[CircularBuffer],
    (addr, bytes): (u32, u32),
) -> Option<CircularBuffer> {
    let end = addr.saturating_add(bytes);
    let hit = |buffer: &&CircularBuffer| buffer.address < end && addr < buffer.end();
    let mut hits = buffers.iter().filter(hit);
    let buffer = hits.next()?;
    let is_shared = hits.any(|other| other.index != buffer.index);
    (!is_shared && buffer.page_bytes != 0).then_some(*buffer)
}
