//! Circular buffers as a launch lays them out.

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
}
