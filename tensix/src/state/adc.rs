//! Address counters of the unpackers and the packer.
//!
//! Source: `[isa-wh: TensixCoprocessor/ADCs.md]`, `[isa-bh: TensixCoprocessor/ADCs.md]`.

use sim_core::StateHasher;

/// One counter and its carriage-return copy (checkpoint).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counter {
    pub(crate) value: u32,
    pub(crate) cr: u32,
}

/// X, Y, Z and W of one channel. Widths in bits: X 18, Y 13, Z 8, W 8.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Channel {
    pub(crate) x: Counter,
    pub(crate) y: Counter,
    pub(crate) z: Counter,
    pub(crate) w: Counter,
}

/// Counters of one unpacker or of the packers: channel 0 and 1.
pub(crate) type Adc = [Channel; 2];

/// Counters of one thread: unpacker 0, unpacker 1, packers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ThreadAdcs(pub(crate) [Adc; 3]);

/// Index of the packers in [`ThreadAdcs`].
pub(crate) const PACKERS: usize = 2;

impl ThreadAdcs {
    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        for channel in self.0.iter().flatten() {
            for counter in [channel.x, channel.y, channel.z, channel.w] {
                hasher.words(&[counter.value, counter.cr]);
            }
        }
    }
}
