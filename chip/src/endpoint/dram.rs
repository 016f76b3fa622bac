//! One DRAM channel: 4 GiB, allocated where it is written with more than zeroes: a host may clear all of it
//! (`TT_METAL_CLEAR_DRAM`). Its three ports reach the same memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use devices::DeviceFault;
use sim_core::StateHasher;

use super::memory::{Endpoint, unmapped};

/// Bytes of a channel `[spec: host-abi 2.6]`.
const CHANNEL_BYTES: u64 = 4 << 30;
const PAGE_BYTES: usize = 64 << 10;

/// Bytes of a line: what has been written is known by lines. Reads of DRAM are aligned to as many, and buffers begin
/// there `[hdr: noc_parameters.h]`.
pub(super) const LINE_BYTES: usize = 64;
const WORD_LINES: usize = u64::BITS as usize;
const WORDS: usize = PAGE_BYTES / LINE_BYTES / WORD_LINES;

/// Bytes of a block, of which an access is looked at in each: a page of a buffer is padded by less.
const BLOCK_BYTES: usize = 2 << 10;

/// A page that somebody has written to.
#[derive(Clone, Debug, Default)]
struct Page {
    /// Nothing while only zeroes have been written.
    bytes: Option<Arc<[u8]>>,
    written: Written,
}

/// A bit for each line of a page of which anything was ever written.
#[derive(Clone, Copy, Debug, Default)]
struct Written([u64; WORDS]);

impl Written {
    /// Notes `count` bytes from `inside` a page, at least one.
    fn set(&mut self, inside: usize, count: usize) {
        let (first, last) = (inside / LINE_BYTES, (inside + count - 1) / LINE_BYTES);
        for word in first / WORD_LINES..=last / WORD_LINES {
            self.0[word] |= lines_of(word, first, last);
        }
    }

    /// Whether anything was written in a line in which one of these bytes lies.
    fn any(&self, inside: usize, count: usize) -> bool {
        let (first, last) = (inside / LINE_BYTES, (inside + count - 1) / LINE_BYTES);
        (first / WORD_LINES..=last / WORD_LINES)
            .any(|word| self.0[word] & lines_of(word, first, last) != 0)
    }

    /// Whether that is so of each block in which some of these bytes lie.
    fn in_each_block(&self, inside: usize, count: usize) -> bool {
        let mut blocks = inside / BLOCK_BYTES..=(inside + count - 1) / BLOCK_BYTES;
        blocks.all(|block| self.any(block * BLOCK_BYTES, BLOCK_BYTES))
    }
}

/// The lines from `first` to `last` of a page as bits of a word of it.
const fn lines_of(word: usize, first: usize, last: usize) -> u64 {
    let begin = word * WORD_LINES;
    let from = first.saturating_sub(begin);
    let behind = (begin + WORD_LINES - 1).saturating_sub(last);
    u64::MAX << from & u64::MAX >> behind
}

static ZEROES: [u8; PAGE_BYTES] = [0; PAGE_BYTES];

impl Page {
    fn bytes(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or(&ZEROES)
    }

    fn write(&mut self, inside: usize, data: &[u8]) {
        self.written.set(inside, data.len());
        if self.bytes.is_none() && are_zeroes(data) {
            return;
        }
        let bytes = self.bytes.get_or_insert_with(|| Arc::from(ZEROES.as_slice()));
        Arc::make_mut(bytes)[inside..inside + data.len()].copy_from_slice(data);
    }
}

/// Whether all bytes are zero, looked at by lines of a host's cache.
fn are_zeroes(data: &[u8]) -> bool {
    data.chunks(LINE_BYTES).all(|line| line.iter().fold(0, |bits, byte| bits | byte) == 0)
}

/// A channel's memory. A copy shares its pages until one of the two writes there.
#[derive(Clone, Debug)]
pub(super) struct Dram {
    pages: BTreeMap<u32, Page>,
}

/// Cuts an access into pieces that lie in one page each: page, offset in it, range of the bytes.
fn pieces(addr: u64, length: usize) -> impl Iterator<Item = (u32, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done >= length {
            return None;
        }
        let at = addr + done as u64;
        let inside = (at % PAGE_BYTES as u64) as usize;
        let count = (length - done).min(PAGE_BYTES - inside);
        let piece = ((at / PAGE_BYTES as u64) as u32, inside, done..done + count);
        done += count;
        Some(piece)
    })
}

fn check(addr: u64, length: usize) -> Result<(), DeviceFault> {
    if addr < CHANNEL_BYTES && length as u64 <= CHANNEL_BYTES - addr {
        return Ok(());
    }
    Err(unmapped("DRAM", addr, length))
}

impl Dram {
    pub(super) fn new() -> Self {
        Self { pages: BTreeMap::new() }
    }

    pub(super) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { pages } = self;
        for (&number, page) in pages {
            hasher.u32(number);
            hasher.bytes(page.bytes());
        }
    }
}

impl Endpoint for Dram {
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), DeviceFault> {
        check(addr, bytes.len())?;
        for (page, inside, range) in pieces(addr, bytes.len()) {
            let count = range.len();
            match self.pages.get(&page) {
                Some(page) => bytes[range].copy_from_slice(&page.bytes()[inside..inside + count]),
                None => bytes[range].fill(0),
            }
        }
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), DeviceFault> {
        check(addr, bytes.len())?;
        for (page, inside, range) in pieces(addr, bytes.len()) {
            self.pages.entry(page).or_default().write(inside, &bytes[range]);
        }
        Ok(())
    }

    fn read_unit(&self, _: u64) -> u64 {
        LINE_BYTES as u64
    }

    /// Pages of buffers may have ends that nobody writes: of an access something is held if any line of it is, and
    /// something in each block.
    fn holds(&self, addr: u64, bytes: u32) -> bool {
        let mut any = bytes == 0;
        for (page, inside, range) in pieces(addr, bytes as usize) {
            let Some(Page { written, .. }) = self.pages.get(&page) else { return false };
            if !written.in_each_block(inside, range.len()) {
                return false;
            }
            any |= written.any(inside, range.len());
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_across_pages_come_back() {
        let mut dram = Dram::new();
        let data: Vec<u8> = (0..200_000u32).map(|i| ((i * 7) >> 3) as u8).collect();
        assert!(dram.write(0x1_0000_F00D % CHANNEL_BYTES, &data).is_ok());
        let mut back = vec![1; data.len() + 2];
        assert!(dram.read(0x1_0000_F00D % CHANNEL_BYTES - 1, &mut back).is_ok());
        assert_eq!(back[0], 0);
        assert_eq!(back[1..=data.len()], data);
        assert!(dram.pages.len() <= 5);
        let [begin, end] = [0xF00D, 0xF00D + 200_000];
        assert!(
            dram.holds(begin, 200_000) && !dram.holds(end + 2048, 4) && !dram.holds(1 << 30, 4)
        );
    }

    #[test]
    fn what_was_written_is_known_by_lines_and_blocks() {
        let mut dram = Dram::new();
        let block = BLOCK_BYTES as u64;
        let line = LINE_BYTES as u64;
        assert!(dram.write(3 * block + 4, &[1; 4]).is_ok());
        assert!(dram.write(31 * block + 8, &[1; BLOCK_BYTES]).is_ok());
        let held: Vec<_> = (0..34).filter(|at| dram.holds(at * block, 2048)).collect();
        assert_eq!(held, [3, 31, 32]);
        assert!(dram.holds(31 * block, 4096) && !dram.holds(30 * block + 2047, 2));
        // A line is held or not as a whole, and an access if one of its lines is.
        let held: Vec<_> = (0..64).filter(|at| dram.holds(3 * block + at * line, 8)).collect();
        assert_eq!(held, [0]);
        assert!(dram.holds(3 * block, 128) && !dram.holds(3 * block + 64, 128));
        assert!(dram.holds(32 * block - 64, 128), "across pages");
        assert!(dram.holds(32 * block + 8, 4) && !dram.holds(32 * block + 64, 64));
    }

    #[test]
    fn bits_of_lines_are_those_from_the_first_to_the_last() {
        for (first, last) in [(0, 1023), (0, 0), (63, 64), (5, 200), (1023, 1023), (64, 127)] {
            let mut written = Written::default();
            written.set(first * LINE_BYTES + 63, (last - first) * LINE_BYTES + 1);
            for line in 0..1024 {
                let is_set = (first..=last).contains(&line);
                assert_eq!(
                    written.any(line * LINE_BYTES, 1),
                    is_set,
                    "{line} of {first} to {last}"
                );
            }
        }
    }

    #[test]
    fn cleared_memory_is_written_and_takes_none_of_the_hosts() {
        let mut dram = Dram::new();
        assert!(dram.write(0, &[0; 4 * PAGE_BYTES]).is_ok());
        assert!(dram.holds(0, 4 * PAGE_BYTES as u32) && !dram.holds(4 * PAGE_BYTES as u64, 4));
        assert!(dram.pages.values().all(|page| page.bytes.is_none()));
        // One byte that is none, at the end of a line.
        assert!(dram.write(63, &[7]).is_ok());
        assert!(dram.write(0, &[0; 63]).is_ok());
        let mut back = [1; 65];
        assert!(dram.read(0, &mut back).is_ok());
        assert_eq!((back[62], back[63], back[64]), (0, 7, 0));
        assert_eq!(dram.pages.values().filter(|page| page.bytes.is_some()).count(), 1);
        assert!(dram.write(63, &[0]).is_ok());
        assert!(dram.read(0, &mut back).is_ok());
        assert_eq!(back, [0; 65]);
        let hash = |dram: &Dram| {
            let mut hasher = StateHasher::default();
            dram.hash_state(&mut hasher);
            hasher.finish()
        };
        let mut other = Dram::new();
        assert!(other.write(0, &[0; 4 * PAGE_BYTES]).is_ok());
        assert_eq!(hash(&other), hash(&dram), "what is there counts, not how it came");
    }

    #[test]
    fn end_of_the_channel_is_respected() {
        let mut dram = Dram::new();
        assert!(dram.write(CHANNEL_BYTES - 4, &[1; 4]).is_ok());
        assert!(dram.write(CHANNEL_BYTES - 3, &[1; 4]).is_err());
        assert!(dram.read(u64::MAX, &mut [0; 4]).is_err());
    }
}
