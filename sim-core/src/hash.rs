//! State and event hashes: the witnesses of determinism.

use xxhash_rust::xxh3::Xxh3;

/// A 64-bit XXH3 hash fed with fixed-width little-endian values. The same calls in the same
/// order give the same hash on every host.
#[derive(Clone)]
pub struct StateHasher(Box<Xxh3>);

impl std::fmt::Debug for StateHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StateHasher({:016x})", self.finish())
    }
}

impl Default for StateHasher {
    fn default() -> Self {
        Self(Box::new(Xxh3::new()))
    }
}

impl StateHasher {
    /// Adds bytes, without their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds one byte.
    pub fn u8(&mut self, value: u8) {
        self.0.update(&[value]);
    }

    /// Adds a flag.
    pub fn bool(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// Adds a word.
    pub fn u32(&mut self, value: u32) {
        self.0.update(&value.to_le_bytes());
    }

    /// Adds a double word.
    pub fn u64(&mut self, value: u64) {
        self.0.update(&value.to_le_bytes());
    }

    /// Adds words, without their count.
    pub fn words(&mut self, words: &[u32]) {
        for &word in words {
            self.u32(word);
        }
    }

    /// The hash of everything added so far.
    #[must_use]
    pub fn finish(&self) -> u64 {
        self.0.digest()
    }
}
