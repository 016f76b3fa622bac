//! What a host waits for.

use sim_core::{L1, Width};

/// What the host waits for: a value in L1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostWait {
    /// Byte address, naturally aligned.
    pub addr: u32,
    /// How many bytes.
    pub width: Width,
    /// The value that ends the wait.
    pub value: u32,
}

impl HostWait {
    /// Whether the wait is over.
    #[must_use]
    pub fn is_met(&self, l1: &L1) -> bool {
        l1.read(self.addr, self.width) == self.value
    }
}
