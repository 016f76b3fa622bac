//! Address counters of the unpackers and the packer.
//!
//! Plain data and the three ways in which instructions move a counter. Which instruction does
//! what is the business of the units.
//!
//! Source: `[isa-wh: TensixCoprocessor/ADCs.md]`, which the Blackhole page shares.

use sim_core::StateHasher;

/// One counter and its carriage-return copy (checkpoint).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counter {
    pub(crate) value: u32,
    pub(crate) cr: u32,
}

/// A dimension of a channel, in the order instructions number them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dimension {
    X,
    Y,
    Z,
    W,
}

impl Dimension {
    /// All four, by number.
    pub(crate) const ALL: [Self; 4] = [Self::X, Self::Y, Self::Z, Self::W];

    /// The two low bits of a number.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self::ALL[(bits & 3) as usize]
    }

    /// Bits a counter has: 18 for X, 13 for the others (Z and W have 8 on Wormhole).
    pub(crate) const fn mask(self) -> u32 {
        match self {
            Self::X => (1 << 18) - 1,
            Self::Y | Self::Z | Self::W => (1 << 13) - 1,
        }
    }
}

/// X, Y, Z and W of one channel. Only the low eight bits of channel 0's Z and W reach the
/// unpackers' input address generators.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Channel {
    pub(crate) x: Counter,
    pub(crate) y: Counter,
    pub(crate) z: Counter,
    pub(crate) w: Counter,
}

impl Channel {
    /// The counter of a dimension.
    #[inline]
    pub(crate) const fn counter(&mut self, dimension: Dimension) -> &mut Counter {
        match dimension {
            Dimension::X => &mut self.x,
            Dimension::Y => &mut self.y,
            Dimension::Z => &mut self.z,
            Dimension::W => &mut self.w,
        }
    }

    /// Sets the counter and its copy.
    #[inline]
    pub(crate) const fn set(&mut self, dimension: Dimension, value: u32) {
        let value = value & dimension.mask();
        *self.counter(dimension) = Counter { value, cr: value };
    }

    /// Adds to the counter only.
    #[inline]
    pub(crate) const fn add(&mut self, dimension: Dimension, increment: u32) {
        let counter = self.counter(dimension);
        counter.value = counter.value.wrapping_add(increment) & dimension.mask();
    }

    /// Adds to the copy, and sets the counter to it.
    #[inline]
    pub(crate) const fn add_cr(&mut self, dimension: Dimension, increment: u32) {
        let counter = self.counter(dimension);
        counter.cr = counter.cr.wrapping_add(increment) & dimension.mask();
        counter.value = counter.cr;
    }
}

/// Counters of one unpacker or of the packers: channel 0 and 1.
pub(crate) type Adc = [Channel; 2];

/// Counters of one thread: unpacker 0, unpacker 1, packers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ThreadAdcs(pub(crate) [Adc; 3]);

/// Index of the packers in [`ThreadAdcs`].
pub(crate) const PACKERS: usize = 2;

impl ThreadAdcs {
    /// The sets that a mask selects: bit 0 unpacker 0, 1 unpacker 1, 2 packers.
    pub(crate) fn selected(&mut self, mask: u32) -> impl Iterator<Item = &mut Adc> {
        self.0.iter_mut().enumerate().filter(move |(i, _)| mask >> i & 1 != 0).map(|(_, adc)| adc)
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self(sets) = self;
        for &Channel { x, y, z, w } in sets.iter().flatten() {
            for Counter { value, cr } in [x, y, z, w] {
                hasher.words(&[value, cr]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_wrap_at_their_width() {
        // Widths of [isa-wh: ADCs.md] for Blackhole.
        for (dimension, bits) in Dimension::ALL.into_iter().zip([18, 13, 13, 13]) {
            let mut channel = Channel::default();
            channel.set(dimension, u32::MAX);
            assert_eq!(channel.counter(dimension).value, (1 << bits) - 1);
            channel.add(dimension, 2);
            let counter = *channel.counter(dimension);
            assert_eq!((counter.value, counter.cr), (1, (1 << bits) - 1));
        }
    }

    #[test]
    fn add_cr_moves_the_copy_and_then_the_counter() {
        let mut channel = Channel::default();
        channel.set(Dimension::Y, 5);
        channel.add(Dimension::Y, 7);
        channel.add_cr(Dimension::Y, 2);
        assert_eq!(channel.y, Counter { value: 7, cr: 7 });
    }
}
