//! Blocks: what a tape is made of, and what it is readable up to.
//!
//! A file is the eight bytes [`MAGIC`] and then blocks, little endian, not aligned:
//!
//! ```text
//! offset  size    field
//!      0     1    kind, see `Kind`
//!      1     1    flags: bit 0 the payload is compressed (lz4), bit 1 no session is open after it
//!      2     2    zero
//!      4     4    bytes of the payload, at most 64 MiB
//!      8     4    bytes of it as stored
//!     12     8    xxh3 of the stored bytes, seeded with the xxh3 of the twelve bytes above
//!     20  stored  payload
//! ```

use lz4_flex::block::{
    CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size,
};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::wire::Damage;

/// First bytes of a tape.
pub(crate) const MAGIC: [u8; 8] = *b"TSTAPE01";
pub(crate) const HEAD_BYTES: usize = 20;
/// Bytes of records or payloads that make a block.
pub(crate) const FULL_BYTES: usize = 256 << 10;
/// Largest payload of a block.
pub(crate) const MOST_BYTES: usize = 64 << 20;
/// lz4 cannot make more out of a byte: a length code has one byte for 255.
const MOST_EXPANSION: usize = 255;
/// Below that compression is not tried: its own first bytes cost what it could save.
const WORTH_COMPRESSING: usize = 64;

const COMPRESSED: u8 = 1;
const CLOSED: u8 = 2;

/// What a block holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    /// [`crate::Header`].
    Header = 1,
    /// Payloads, each after its length.
    Blobs,
    /// Calls, see `fold`.
    Calls,
    /// Nothing: the limit of the tape is reached.
    Limit,
    /// The process that goes on from here.
    Fork,
    /// A piece of an attachment's content.
    Part,
    /// An attachment, whose new content is in the parts before.
    Attachment,
    /// Nothing: all that was to be attached is there.
    Explained,
    /// How many sessions were dropped from here, so that the next ones have room.
    Dropped,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Header,
        Self::Blobs,
        Self::Calls,
        Self::Limit,
        Self::Fork,
        Self::Part,
        Self::Attachment,
        Self::Explained,
        Self::Dropped,
    ];
}

/// The first bytes of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    flags: u8,
    pub(crate) raw: u32,
    pub(crate) stored: u32,
    check: u64,
}

impl Head {
    /// What the bytes say; `None` if no block begins like that.
    pub(crate) fn parse(bytes: [u8; HEAD_BYTES]) -> Option<Self> {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let kind = *Kind::ALL.get(usize::from(bytes[0]).wrapping_sub(1))?;
        let check = u64::from(word(12)) | u64::from(word(16)) << 32;
        let head = Self { kind, flags: bytes[1], raw: word(4), stored: word(8), check };
        let (raw, stored) = (head.raw as usize, head.stored as usize);
        let known = head.flags & !(COMPRESSED | CLOSED) == 0 && bytes[2..4] == [0, 0];
        let sizes = if head.flags & COMPRESSED == 0 {
            raw == stored
        } else {
            stored < raw && raw / MOST_EXPANSION <= stored
        };
        (known && sizes && raw <= MOST_BYTES).then_some(head)
    }

    fn twelve(&self) -> [u8; 12] {
        let mut bytes = [self.kind as u8, self.flags, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        bytes[4..8].copy_from_slice(&self.raw.to_le_bytes());
        bytes[8..].copy_from_slice(&self.stored.to_le_bytes());
        bytes
    }

    fn checksum(&self, stored: &[u8]) -> u64 {
        xxh3_64_with_seed(stored, xxh3_64(&self.twelve()))
    }

    /// Whether these are the bytes that were written.
    pub(crate) fn holds(&self, stored: &[u8]) -> bool {
        stored.len() == self.stored as usize && self.checksum(stored) == self.check
    }

    /// Whether no session is open after the calls of this block.
    pub(crate) fn is_closed(&self) -> bool {
        self.flags & CLOSED != 0
    }

    /// The payload, in place of what `raw` had.
    pub(crate) fn open(&self, stored: &[u8], raw: &mut Vec<u8>) -> Result<(), Damage> {
        raw.clear();
        if self.flags & COMPRESSED == 0 {
            raw.extend_from_slice(stored);
            return Ok(());
        }
        raw.resize(self.raw as usize, 0);
        match decompress_into(stored, raw) {
            Ok(length) if length == raw.len() => Ok(()),
            _ => Err(Damage("a block does not decompress")),
        }
    }
}

/// Makes blocks; keeps what compression needs.
pub(crate) struct Sealer {
    table: CompressTable,
    block: Vec<u8>,
}

impl Sealer {
    pub(crate) fn new() -> Self {
        Self { table: CompressTable::large(), block: Vec::new() }
    }

    /// The bytes of a block.
    pub(crate) fn seal(&mut self, kind: Kind, closed: bool, raw: &[u8]) -> &[u8] {
        let block = &mut self.block;
        let mut flags = if closed { CLOSED } else { 0 };
        let mut stored = raw.len();
        block.clear();
        if raw.len() >= WORTH_COMPRESSING {
            block.resize(HEAD_BYTES + get_maximum_output_size(raw.len()), 0);
            let out = &mut block[HEAD_BYTES..];
            if let Ok(length) = compress_into_with_table(raw, out, &mut self.table)
                && length < raw.len()
            {
                flags |= COMPRESSED;
                stored = length;
            }
        }
        block.resize(HEAD_BYTES + stored, 0);
        if flags & COMPRESSED == 0 {
            block[HEAD_BYTES..].copy_from_slice(raw);
        }
        let mut head = Head { kind, flags, raw: raw.len() as u32, stored: stored as u32, check: 0 };
        head.check = head.checksum(&block[HEAD_BYTES..]);
        block[..12].copy_from_slice(&head.twelve());
        block[12..HEAD_BYTES].copy_from_slice(&head.check.to_le_bytes());
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(block: &[u8]) -> Option<Head> {
        Head::parse(block.first_chunk().copied()?)
    }

    #[test]
    fn payload_comes_back_and_every_damage_is_noticed() {
        let mut sealer = Sealer::new();
        for raw in [&b""[..], b"short", &[7; 1000], &[[1, 2, 3, 4]; 64].concat()] {
            let mut block = sealer.seal(Kind::Calls, true, raw).to_vec();
            let head = parse(&block).unwrap();
            assert!(head.holds(&block[HEAD_BYTES..]) && head.is_closed());
            let mut back = vec![9; 3];
            head.open(&block[HEAD_BYTES..], &mut back).unwrap();
            assert_eq!(back, raw);
            for at in 0..block.len() {
                block[at] ^= 0x10;
                let whole = parse(&block).is_some_and(|head| head.holds(&block[HEAD_BYTES..]));
                assert!(!whole, "byte {at}");
                block[at] ^= 0x10;
            }
        }
    }

    #[test]
    fn sizes_that_no_block_has_are_refused() {
        let head = |flags, raw: u32, stored: u32| {
            let mut bytes = [0; HEAD_BYTES];
            (bytes[0], bytes[1]) = (3, flags);
            bytes[4..8].copy_from_slice(&raw.to_le_bytes());
            bytes[8..12].copy_from_slice(&stored.to_le_bytes());
            Head::parse(bytes)
        };
        assert!(head(0, 5, 5).is_some() && head(0, 5, 4).is_none());
        assert!(head(1, 1000, 20).is_some() && head(1, 1 << 20, 20).is_none());
        assert!(head(0, 65 << 20, 65 << 20).is_none() && head(4, 5, 5).is_none());
    }
}
