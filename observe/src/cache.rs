//! A bounded table of what has been worked out before.

use std::hash::{Hash, Hasher};

/// Values by key. When there is no more room all are forgotten: what a run does again and again is
/// soon there again.
#[derive(Clone, Debug)]
pub(crate) struct Cache<K, V> {
    /// How many values it holds at most, three quarters of its slots.
    room: usize,
    used: usize,
    /// A power of two of them, so that a search ends at an empty one.
    slots: Vec<Option<(K, V)>>,
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self { room: 3072, used: 0, slots: Vec::new() }
    }
}

impl<K: Copy + PartialEq + Hash, V> Cache<K, V> {
    /// The value of `key`, made if it is not there.
    pub(crate) fn get(&mut self, key: K, make: impl FnOnce() -> V) -> &V {
        let at = match self.find(&key) {
            Ok(at) => at,
            Err(at) => self.insert(at, key, make()),
        };
        let slot = self.slots[at].as_ref();
        &slot.expect("found or inserted").1
    }

    /// The slot of a key, or the one it belongs into.
    #[inline]
    fn find(&self, key: &K) -> Result<usize, usize> {
        let mut hasher = Multiplier(0);
        key.hash(&mut hasher);
        let last = self.slots.len().wrapping_sub(1);
        let mut at = hasher.finish() as usize & last;
        loop {
            match self.slots.get(at) {
                Some(Some((known, _))) if known == key => return Ok(at),
                Some(Some(_)) => at = (at + 1) & last,
                _ => return Err(at),
            }
        }
    }

    #[cold]
    fn insert(&mut self, mut at: usize, key: K, value: V) -> usize {
        if self.slots.is_empty() || self.used == self.room {
            self.slots.clear();
            self.slots.resize_with(self.room / 3 * 4, || None);
            self.used = 0;
            at = self.find(&key).unwrap_or_else(|at| at);
        }
        self.used += 1;
        self.slots[at] = Some((key, value));
        at
    }
}

/// Keys are a few small numbers: each is multiplied in.
struct Multiplier(u64);

impl Multiplier {
    #[inline]
    fn add(&mut self, number: u64) {
        // An odd number without a pattern: 2^64 over the golden ratio.
        self.0 = (self.0.rotate_left(29) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for Multiplier {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.add(byte.into()));
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.add(number.into());
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.add(number.into());
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.add(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The high bits of a product are the good ones.
        self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_made_once_and_again_when_there_was_no_room() {
        let mut cache = Cache { room: 3, ..Cache::default() };
        let mut made = Vec::new();
        for key in [1, 2, 3, 1, 2, 3, 4, 4, 1] {
            let value = *cache.get(key, || {
                made.push(key);
                key * 10
            });
            assert_eq!(value, key * 10);
        }
        assert_eq!(made, [1, 2, 3, 4, 1]);
    }

    /// Not one slot per key, but far from all keys behind each other.
    #[test]
    fn neighbouring_keys_lie_in_different_slots() {
        let mut cache = Cache::<(u8, u32), ()>::default();
        for pc in 0..256 {
            cache.get((3, 0x7000 + 4 * pc), || ());
        }
        let longest = cache.slots.chunk_by(|a, b| a.is_some() == b.is_some());
        let longest = longest.filter(|run| run[0].is_some()).map(<[_]>::len).max();
        assert!(longest.is_some_and(|longest| longest < 16), "{longest:?}");
    }
}
