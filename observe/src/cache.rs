//! A bounded table of what has been worked out before.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Values by key. When there is no more room all are forgotten: what a run does again and again is
/// soon there again.
#[derive(Clone, Debug)]
pub(crate) struct Cache<K, V> {
    /// How many values it holds at most.
    room: usize,
    values: FxHashMap<K, V>,
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self { room: 3072, values: FxHashMap::default() }
    }
}

impl<K: Eq + Hash, V> Cache<K, V> {
    /// The value of `key`, made if it is not there.
    #[inline]
    pub(crate) fn get(&mut self, key: K, make: impl FnOnce() -> V) -> &V {
        if self.values.len() == self.room && !self.values.contains_key(&key) {
            self.values.clear();
        }
        self.values.entry(key).or_insert_with(make)
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
}
