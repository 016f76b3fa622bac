//! Calls by number: a call that was seen before is its number.

use crate::blobs::{LEAST_BYTES, pieces};
use crate::call::{Op, Parts};
use crate::wire::Damage;

/// Calls that have a number at a time.
pub(crate) const MOST_CALLS: usize = 1 << 13;
/// Bytes that are kept for them, beyond which none is added.
const MOST_BYTES: usize = 4 << 20;
/// Numbers that calls without arguments always have.
pub(crate) const REST: u32 = 0;
pub(crate) const STATE: u32 = 1;
const ALWAYS: [Op; 4] = [Op::Rest, Op::State, Op::Init, Op::Exit];

/// A call as it is compared: a payload from [`LEAST_BYTES`] on is the numbers of its pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    pub(crate) op: Op,
    pub(crate) a0: u64,
    pub(crate) a1: u64,
    /// Bytes of the payload.
    pub(crate) length: u32,
    /// The payload, or eight bytes for each piece.
    pub(crate) identity: &'a [u8],
}

impl<'a> Key<'a> {
    /// The key of a call whose payload is short.
    pub(crate) fn short(parts: &Parts<'a>) -> Self {
        let &Parts { op, a0, a1, bytes } = parts;
        Self { op, a0, a1, length: bytes.len() as u32, identity: bytes }
    }

    /// Up to eight bytes in a word.
    fn word(&self) -> u64 {
        word(self.identity)
    }

    /// A number that is most likely another one for another call.
    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let identity = if self.identity.len() <= 8 {
            self.word()
        } else {
            xxhash_rust::xxh3::xxh3_64(self.identity)
        };
        let mut hash = u64::from(self.length) << 8 | self.op as u64;
        for number in [self.a0, self.a1, identity] {
            hash = (hash.rotate_left(23) ^ number).wrapping_mul(ODD);
            hash ^= hash >> 29;
        }
        hash
    }
}

#[inline]
fn word(bytes: &[u8]) -> u64 {
    match *bytes {
        [] => 0,
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        _ => {
            let mut word = [0; 8];
            let known = bytes.len().min(8);
            word[..known].copy_from_slice(&bytes[..known]);
            u64::from_le_bytes(word)
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Content {
    a0: u64,
    a1: u64,
    /// The identity, if it has up to eight bytes; else where it is.
    identity: u64,
    length: u32,
    op: Op,
}

/// Bytes of the identity of a payload.
pub(crate) fn identity_bytes(length: u32) -> usize {
    let length = length as usize;
    if length < LEAST_BYTES { length } else { pieces(length) * 8 }
}

/// The calls that have numbers.
#[derive(Clone, Debug)]
pub(crate) struct Dictionary {
    contents: Vec<Content>,
    bytes: Vec<u8>,
}

impl Dictionary {
    pub(crate) fn new() -> Self {
        let mut dictionary = Self { contents: Vec::new(), bytes: Vec::new() };
        dictionary.clear();
        dictionary
    }

    /// Forgets all calls that have arguments.
    pub(crate) fn clear(&mut self) {
        self.contents.clear();
        self.bytes.clear();
        let without = |op| Content { a0: 0, a1: 0, identity: 0, length: 0, op };
        self.contents.extend(ALWAYS.map(without));
    }

    /// Whether a further call has no room.
    pub(crate) fn is_full(&self) -> bool {
        self.contents.len() >= MOST_CALLS || self.bytes.len() >= MOST_BYTES
    }

    /// How many calls there are.
    pub(crate) fn len(&self) -> u32 {
        self.contents.len() as u32
    }

    /// Gives a call the next number.
    pub(crate) fn add(&mut self, key: &Key<'_>) -> Result<u32, Damage> {
        if self.is_full() {
            return Err(Damage("more different calls than a dictionary holds"));
        }
        let mut identity = key.word();
        if key.identity.len() > 8 {
            identity = self.bytes.len() as u64;
            self.bytes.extend_from_slice(key.identity);
        }
        let Key { op, a0, a1, length, .. } = *key;
        self.contents.push(Content { a0, a1, identity, length, op });
        Ok(self.len() - 1)
    }

    /// Whether that call is this one.
    #[inline]
    pub(crate) fn is(&self, number: u32, key: &Key<'_>) -> bool {
        let content = &self.contents[number as usize];
        if (content.op, content.length) != (key.op, key.length)
            || (content.a0, content.a1) != (key.a0, key.a1)
        {
            return false;
        }
        if key.identity.len() <= 8 {
            content.identity == key.word()
        } else {
            let start = content.identity as usize;
            self.bytes[start..start + key.identity.len()] == *key.identity
        }
    }

    /// Operation, numbers and length of a call; its identity replaces what `identity` had.
    pub(crate) fn get(&self, number: u32, identity: &mut Vec<u8>) -> (Op, u64, u64, u32) {
        let content = &self.contents[number as usize];
        let bytes = identity_bytes(content.length);
        identity.clear();
        if bytes <= 8 {
            identity.extend_from_slice(&content.identity.to_le_bytes()[..bytes]);
        } else {
            let start = content.identity as usize;
            identity.extend_from_slice(&self.bytes[start..start + bytes]);
        }
        (content.op, content.a0, content.a1, content.length)
    }
}
