//! Payloads by content: written once, referred to by number.
//!
//! 140 tiles get the same firmware. A payload is cut into pieces; the number of a piece says which
//! block of payloads it is in, and where in it. A block of payloads lies before the calls that
//! refer to it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_128;

use crate::block::FULL_BYTES;
use crate::wire::{Cursor, Damage, put_bytes};

/// Payloads from this size on are kept by content.
pub(crate) const LEAST_BYTES: usize = 64;
/// Larger ones are several pieces.
pub(crate) const PIECE_BYTES: usize = 256 << 10;
/// Bits for the place in a block: a full block of the smallest payloads has fewer.
const PLACE_BITS: u32 = 12;
/// Pieces that are remembered; beyond that it starts afresh.
const MOST_KNOWN: usize = 1 << 20;

const _: () = assert!(FULL_BYTES / (LEAST_BYTES + 1) < 1 << PLACE_BITS);

/// The hash of the content is the hash.
#[derive(Clone, Copy, Default)]
pub(crate) struct ByContent(u64);

impl Hasher for ByContent {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, number: u128) {
        self.0 = number as u64;
    }
}

/// Pieces of a payload of that size.
pub(crate) fn pieces(length: usize) -> usize {
    length.div_ceil(PIECE_BYTES)
}

/// Payloads on their way to the tape.
#[derive(Clone)]
pub(crate) struct Blobs {
    known: HashMap<u128, u64, BuildHasherDefault<ByContent>>,
    pending: Vec<u8>,
    count: u64,
    /// Blocks of payloads before this one.
    block: u64,
}

impl Blobs {
    pub(crate) fn new() -> Self {
        Self { known: HashMap::default(), pending: Vec::new(), count: 0, block: 0 }
    }

    /// The number of a piece, which is kept if it is new.
    pub(crate) fn store(&mut self, piece: &[u8]) -> u64 {
        let content = xxh3_128(piece);
        if let Some(&number) = self.known.get(&content) {
            return number;
        }
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let number = self.block << PLACE_BITS | self.count;
        self.known.insert(content, number);
        put_bytes(&mut self.pending, piece);
        self.count += 1;
        number
    }

    /// The payload of the next block.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.pending
    }

    pub(crate) fn is_full(&self) -> bool {
        self.pending.len() >= FULL_BYTES
    }

    /// What was pending is a block.
    pub(crate) fn written(&mut self) {
        self.pending.clear();
        self.count = 0;
        self.block += 1;
    }
}

/// Blocks of payloads that are kept opened.
const KEPT: usize = 32;

#[derive(Default, Debug)]
struct Opened {
    block: u64,
    used: u64,
    bytes: Vec<u8>,
    places: Vec<(u32, u32)>,
}

/// Payloads on their way back.
#[derive(Default, Debug)]
pub(crate) struct Shelf {
    opened: Vec<Opened>,
    uses: u64,
}

impl Shelf {
    /// The piece of that number; `load` fills in the payload of a block of payloads.
    pub(crate) fn piece<E: From<Damage>>(
        &mut self,
        number: u64,
        load: impl FnOnce(u64, &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<&[u8], E> {
        let (block, place) = (number >> PLACE_BITS, number & ((1 << PLACE_BITS) - 1));
        self.uses += 1;
        let at = match self.opened.iter().position(|opened| opened.block == block) {
            Some(at) => at,
            None => self.open(block, load)?,
        };
        let opened = &mut self.opened[at];
        opened.used = self.uses;
        let place = opened.places.get(place as usize);
        let (start, end) = *place.ok_or(Damage("a call refers to a payload that is not there"))?;
        Ok(&opened.bytes[start as usize..end as usize])
    }

    fn open<E: From<Damage>>(
        &mut self,
        block: u64,
        load: impl FnOnce(u64, &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<usize, E> {
        // The room of the one that was not used for longest; gone from the shelf until it is filled.
        let oldest = (0..self.opened.len()).min_by_key(|&at| self.opened[at].used);
        let oldest = oldest.filter(|_| self.opened.len() >= KEPT);
        let mut opened = match oldest {
            Some(at) => self.opened.swap_remove(at),
            None => Opened::default(),
        };
        opened.block = block;
        load(block, &mut opened.bytes)?;
        opened.places.clear();
        let all = opened.bytes.len();
        let mut from = Cursor::new(&opened.bytes);
        while !from.is_empty() {
            let length = from.bytes_with_length()?.len();
            let end = all - from.left();
            if opened.places.len() >> PLACE_BITS != 0 {
                return Err(Damage("a block has more payloads than numbers for them").into());
            }
            opened.places.push(((end - length) as u32, end as u32));
        }
        self.opened.push(opened);
        Ok(self.opened.len() - 1)
    }
}
