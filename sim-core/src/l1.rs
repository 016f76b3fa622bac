//! The tile's shared scratchpad RAM.
//!
//! 1,536 KiB, little-endian, byte addressable `[isa-bh: TensixTile/L1.md]`. Stored as relaxed
//! atomic words: during a run phase cores only read it, the commit phase is its only writer, and
//! atomics let host threads share it without `unsafe`. On the usual hosts a relaxed word access
//! is a plain load or store.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use zero_pages::ZeroPages;

use crate::batch::Width;

/// Bytes of L1 in a Blackhole tile.
pub const L1_BYTES: u32 = 1536 * 1024;
/// Granule of the page flags that tell a store whether code or an observer is concerned.
pub const PAGE_BYTES: u32 = 4096;
/// Number of pages.
pub const PAGE_COUNT: usize = (L1_BYTES / PAGE_BYTES) as usize;

/// Number of 32-bit words.
pub(crate) const WORDS: usize = (L1_BYTES / 4) as usize;

/// The shared scratchpad RAM. Addresses are byte offsets from its start.
pub struct L1 {
    words: ZeroPages<[AtomicU32; WORDS]>,
}

impl std::fmt::Debug for L1 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "L1({} KiB)", L1_BYTES / 1024)
    }
}

impl Default for L1 {
    fn default() -> Self {
        Self::new()
    }
}

impl L1 {
    /// L1 filled with zeroes.
    #[must_use]
    pub fn new() -> Self {
        Self { words: ZeroPages::new() }
    }

    /// Whether `bytes` bytes from `addr` on lie inside.
    #[must_use]
    pub const fn contains(addr: u32, bytes: u32) -> bool {
        addr < L1_BYTES && bytes <= L1_BYTES - addr
    }

    /// Number of the word that holds a naturally aligned value at `addr`. For an address that is
    /// not aligned, a number beyond any memory: one comparison tests bounds and alignment.
    #[inline]
    #[must_use]
    pub const fn word_index(addr: u32, width: Width) -> usize {
        (match width {
            Width::Word => addr.rotate_right(2),
            Width::Half => addr.rotate_right(1) >> 1,
            Width::Byte => addr >> 2,
        }) as usize
    }

    /// Whether an aligned access at `addr` stays inside.
    #[inline]
    #[must_use]
    pub const fn holds_aligned(addr: u32, width: Width) -> bool {
        Self::word_index(addr, width) < WORDS
    }

    /// The words, for [`crate::agent::RunView`].
    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU32; WORDS] {
        &self.words
    }

    /// The aligned word that holds byte `addr`; zero outside L1.
    #[inline]
    #[must_use]
    pub fn word(&self, addr: u32) -> u32 {
        match self.words.get((addr >> 2) as usize) {
            Some(word) => word.load(Relaxed),
            None => 0,
        }
    }

    /// Shows `N` consecutive words with their numbers, in order, from the aligned word that holds
    /// byte `addr` on; nothing happens if one of them lies outside L1.
    #[inline(always)]
    pub fn visit_words<const N: usize>(&self, addr: u32, mut visit: impl FnMut(usize, u32)) {
        let first = (addr >> 2) as usize;
        let Some(words) = self.words.get(first..).and_then(|words| words.first_chunk::<N>()) else {
            return;
        };
        for (i, word) in words.iter().enumerate() {
            visit(i, word.load(Relaxed));
        }
    }

    /// Copies consecutive words out, from the aligned one that holds byte `addr` on. What would lie
    /// beyond the end stays as it is.
    #[inline]
    pub fn read_words(&self, addr: u32, into: &mut [u32]) {
        let words = self.words.get((addr >> 2) as usize..).unwrap_or_default();
        for (value, word) in into.iter_mut().zip(words) {
            *value = word.load(Relaxed);
        }
    }

    /// Replaces the words of an aligned block; nothing happens if one lies outside L1.
    #[inline]
    pub fn write_words<const N: usize>(&self, addr: u32, values: &[u32; N]) {
        let first = (addr >> 2) as usize;
        if let Some(words) = self.words.get(first..first + N) {
            for (word, value) in words.iter().zip(values) {
                word.store(*value, Relaxed);
            }
        }
    }

    /// Replaces the aligned word that holds byte `addr`; nothing happens outside L1.
    #[inline]
    pub fn set_word(&self, addr: u32, value: u32) {
        if let Some(word) = self.words.get((addr >> 2) as usize) {
            word.store(value, Relaxed);
        }
    }

    /// Reads a naturally aligned value, zero-extended.
    #[inline]
    #[must_use]
    pub fn read(&self, addr: u32, width: Width) -> u32 {
        let shift = (addr & 3 & !(width.bytes() - 1)) * 8;
        self.word(addr) >> shift & width.mask()
    }

    /// Writes a naturally aligned value; bits above the width are ignored.
    #[inline]
    pub fn write(&self, addr: u32, value: u32, width: Width) {
        match width {
            Width::Word => self.set_word(addr, value),
            Width::Byte | Width::Half => {
                self.set_word(addr, width.put(self.word(addr), addr, value));
            }
        }
    }

    /// Copies bytes out. Bytes beyond the end read as zero.
    pub fn read_bytes(&self, addr: u32, into: &mut [u8]) {
        let (head, blocks, tail) = aligned_mut(addr, into);
        let first = self.read_single(addr, head);
        let words = self.words.get((first >> 2) as usize..).unwrap_or_default();
        let inside = words.len().min(blocks.len());
        for (block, word) in blocks.iter_mut().zip(words) {
            *block = word.load(Relaxed).to_le_bytes();
        }
        blocks[inside..].fill([0; 4]);
        self.read_single(first.wrapping_add(4 * blocks.len() as u32), tail);
    }

    /// Copies bytes out for an owner that has L1 to itself, as fast as the host copies memory.
    pub fn read_block(&mut self, addr: u32, into: &mut [u8]) {
        let (head, blocks, tail) = aligned_mut(addr, into);
        let first = self.read_single(addr, head);
        let words = self.words.get_mut((first >> 2) as usize..).unwrap_or_default();
        let inside = words.len().min(blocks.len());
        for (block, word) in blocks.iter_mut().zip(words) {
            *block = word.get_mut().to_le_bytes();
        }
        blocks[inside..].fill([0; 4]);
        self.read_single(first.wrapping_add(4 * blocks.len() as u32), tail);
    }

    /// Copies bytes in. Bytes beyond the end are dropped.
    pub fn write_bytes(&self, addr: u32, bytes: &[u8]) {
        let (head, blocks, tail) = aligned(addr, bytes);
        let first = self.write_single(addr, head);
        let words = self.words.get((first >> 2) as usize..).unwrap_or_default();
        for (word, block) in words.iter().zip(blocks) {
            word.store(u32::from_le_bytes(*block), Relaxed);
        }
        self.write_single(first.wrapping_add(4 * blocks.len() as u32), tail);
    }

    /// Copies bytes in for an owner that has L1 to itself, as fast as the host copies memory.
    pub fn write_block(&mut self, addr: u32, bytes: &[u8]) {
        let (head, blocks, tail) = aligned(addr, bytes);
        let first = self.write_single(addr, head);
        let words = self.words.get_mut((first >> 2) as usize..).unwrap_or_default();
        for (word, block) in words.iter_mut().zip(blocks) {
            *word.get_mut() = u32::from_le_bytes(*block);
        }
        self.write_single(first.wrapping_add(4 * blocks.len() as u32), tail);
    }

    /// Whether those bytes are there already. Bytes beyond the end are not.
    #[must_use]
    pub fn holds_bytes(&self, addr: u32, bytes: &[u8]) -> bool {
        let (head, blocks, _) = aligned(addr, bytes);
        let first = addr.wrapping_add(head.len() as u32);
        let words = self.words.get((first >> 2) as usize..).unwrap_or_default();
        let mut pairs = words.iter().zip(blocks);
        self.holds_ends(addr, bytes)
            && pairs.all(|(word, block)| word.load(Relaxed) == u32::from_le_bytes(*block))
    }

    /// The same for an owner that has L1 to itself, as fast as the host compares memory.
    #[must_use]
    pub fn holds_block(&mut self, addr: u32, bytes: &[u8]) -> bool {
        let (head, blocks, _) = aligned(addr, bytes);
        let first = addr.wrapping_add(head.len() as u32);
        let words = self.words.get_mut((first >> 2) as usize..).unwrap_or_default();
        // Many words for each decision.
        let differ = |(words, blocks): (&mut [AtomicU32], &[[u8; 4]])| {
            let mut bits = 0;
            for (word, block) in words.iter_mut().zip(blocks) {
                bits |= *word.get_mut() ^ u32::from_le_bytes(*block);
            }
            bits != 0
        };
        !words.chunks_mut(64).zip(blocks.chunks(64)).any(differ) && self.holds_ends(addr, bytes)
    }

    /// Whether those bytes lie inside, and the ones before the first whole word and behind the last are there.
    fn holds_ends(&self, addr: u32, bytes: &[u8]) -> bool {
        let (head, blocks, tail) = aligned(addr, bytes);
        let single = |at: u32, bytes: &[u8]| {
            let mut bytes = (at..).zip(bytes);
            bytes.all(|(at, &byte)| self.read(at, Width::Byte) == u32::from(byte))
        };
        let behind = addr.wrapping_add((head.len() + 4 * blocks.len()) as u32);
        Self::contains(addr, bytes.len() as u32) && single(addr, head) && single(behind, tail)
    }

    /// Byte by byte; gives the address behind the last.
    fn read_single(&self, addr: u32, into: &mut [u8]) -> u32 {
        let mut at = addr;
        for byte in into {
            *byte = self.read(at, Width::Byte) as u8;
            at = at.wrapping_add(1);
        }
        at
    }

    /// Byte by byte; gives the address behind the last.
    fn write_single(&self, addr: u32, bytes: &[u8]) -> u32 {
        let mut at = addr;
        for &byte in bytes {
            self.write(at, u32::from(byte), Width::Byte);
            at = at.wrapping_add(1);
        }
        at
    }

    /// Feeds the whole content into a hash.
    pub fn hash_state(&self, hasher: &mut crate::hash::StateHasher) {
        let Self { words } = self;
        let mut buffer = [0u8; 4096];
        for page in words.chunks(1024) {
            for (slot, word) in buffer.chunks_exact_mut(4).zip(page) {
                slot.copy_from_slice(&word.load(Relaxed).to_le_bytes());
            }
            hasher.bytes(&buffer);
        }
    }
}

/// Bytes that single words of L1 take part in, as the unaligned head, whole words, and the rest.
fn aligned(addr: u32, bytes: &[u8]) -> (&[u8], &[[u8; 4]], &[u8]) {
    let (head, rest) = bytes.split_at(head_bytes(addr, bytes.len()));
    let (blocks, tail) = rest.as_chunks();
    (head, blocks, tail)
}

/// Bytes to be written, as the unaligned head, whole words, and the rest.
fn aligned_mut(addr: u32, bytes: &mut [u8]) -> (&mut [u8], &mut [[u8; 4]], &mut [u8]) {
    let (head, rest) = bytes.split_at_mut(head_bytes(addr, bytes.len()));
    let (blocks, tail) = rest.as_chunks_mut();
    (head, blocks, tail)
}

/// How many of so many bytes come before the first whole word.
fn head_bytes(addr: u32, bytes: usize) -> usize {
    ((addr.wrapping_neg() & 3) as usize).min(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_write_keeps_neighbours() {
        let l1 = L1::new();
        l1.set_word(0x68, 0x4040_4040);
        l1.write(0x69, 3, Width::Byte);
        l1.write(0x6A, 0xBEEF, Width::Half);
        assert_eq!(l1.word(0x68), 0xBEEF_0340);
        assert_eq!(l1.read(0x69, Width::Byte), 3);
        assert_eq!(l1.read(0x6A, Width::Half), 0xBEEF);
    }

    #[test]
    fn unaligned_block_round_trips() {
        let l1 = L1::new();
        let data: Vec<u8> = (1..=23).collect();
        l1.write_bytes(0x1003, &data);
        let mut back = vec![0; 25];
        l1.read_bytes(0x1002, &mut back);
        assert_eq!(back[0], 0);
        assert_eq!(&back[1..24], &data[..]);
        assert_eq!(back[24], 0);
    }

    /// Every alignment of a block's two ends, and ends beyond L1: as byte by byte.
    #[test]
    fn blocks_move_as_single_bytes_do() {
        let data: Vec<u8> = (1..=40).collect();
        for base in [0x2000, L1_BYTES - 16] {
            for (start, length) in (0..4).flat_map(|start| (0..24).map(move |n| (start, n))) {
                let (mut plain, shared, mut alone) = (vec![0; 48], L1::new(), L1::new());
                let (at, data) = (base + start, &data[..length]);
                shared.write_bytes(at, data);
                alone.write_block(at, data);
                for (place, &byte) in (at..).zip(data).filter(|&(place, _)| place < L1_BYTES) {
                    plain[(place - base) as usize] = byte;
                }
                let mut back = vec![0xFF; 48];
                shared.read_bytes(base, &mut back);
                assert_eq!(back, plain, "shared {base:#x} +{start} {length}");
                back.fill(0xFF);
                alone.read_block(base, &mut back);
                assert_eq!(back, plain, "alone {base:#x} +{start} {length}");
                let fits = at + length as u32 <= L1_BYTES;
                assert_eq!(alone.holds_block(at, data), fits, "{base:#x} +{start} {length}");
                assert_eq!(shared.holds_bytes(at, data), fits, "{base:#x} +{start} {length}");
                for wrong in 0..length {
                    let mut other = data.to_vec();
                    other[wrong] ^= 0x10;
                    assert!(!alone.holds_block(at, &other), "{base:#x} +{start} {length} {wrong}");
                    assert!(!shared.holds_bytes(at, &other), "{base:#x} +{start} {length} {wrong}");
                }
                for read in [&mut back[..length], &mut vec![0xFF; length][..]] {
                    alone.read_block(at, read);
                    assert_eq!(read, &plain[start as usize..][..length]);
                    shared.read_bytes(at, read);
                    assert_eq!(read, &plain[start as usize..][..length]);
                }
            }
        }
    }

    #[test]
    fn accesses_past_the_end_are_inert() {
        let l1 = L1::new();
        l1.write_bytes(L1_BYTES - 2, &[1, 2, 3, 4]);
        assert_eq!(l1.word(L1_BYTES - 4), 0x0201_0000);
        assert_eq!(l1.word(L1_BYTES), 0);
        assert!(!L1::contains(L1_BYTES - 2, 4));
    }
}
