//! A small direct-mapped table of what has been worked out before.

/// Slots of a table; a power of two.
const SLOTS: usize = 1024;

/// Values by key; a key may push another one out.
#[derive(Clone, Debug)]
pub(crate) struct Cache<K, V> {
    slots: Vec<Option<(K, V)>>,
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<K: Copy + PartialEq, V> Cache<K, V> {
    /// The value of `key`, made if it is not there. `number` tells most keys apart.
    pub(crate) fn get(&mut self, number: u32, key: K, make: impl FnOnce() -> V) -> &V {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, || None);
        }
        // The high bits of a product with an odd constant: Knuth's multiplicative hash.
        let at = number.wrapping_mul(0x9E37_79B1) >> (u32::BITS - SLOTS.ilog2());
        let slot = &mut self.slots[at as usize];
        if slot.as_ref().is_some_and(|(known, _)| *known != key) {
            *slot = None;
        }
        &slot.get_or_insert_with(|| (key, make())).1
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_made_once_and_again_when_pushed_out() {
        let mut cache = Cache::default();
        let mut made = 0;
        for (key, number) in [(1, 7), (1, 7), (2, 7), (1, 7)] {
            let value = *cache.get(number, key, || {
                made += 1;
                key * 10
            });
            assert_eq!(value, key * 10);
        }
        assert_eq!(made, 3);
    }
}
