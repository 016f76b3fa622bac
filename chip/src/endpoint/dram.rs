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

/// A page is written by blocks, as many as a word has bits.
const BLOCK_BYTES: usize = PAGE_BYTES / u32::BITS as usize;

/// A page that somebody has written to.
#[derive(Clone, Debug, Default)]
struct Page {
    /// Nothing while only zeroes have been written.
    bytes: Option<Arc<[u8]>>,
    /// A bit for each block of which anything was ever written.
    written: u32,
}

static ZEROES: [u8; PAGE_BYTES] = [0; PAGE_BYTES];

impl Page {
    fn bytes(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or(&ZEROES)
    }

    fn write(&mut self, inside: usize, data: &[u8]) {
        self.written |= blocks(inside, data.len());
        if self.bytes.is_none() && are_zeroes(data) {
            return;
        }
        let bytes = self.bytes.get_or_insert_with(|| Arc::from(ZEROES.as_slice()));
        Arc::make_mut(bytes)[inside..inside + data.len()].copy_from_slice(data);
    }
}

/// Whether all bytes are zero, looked at by lines of a host's cache.
fn are_zeroes(data: &[u8]) -> bool {
    data.chunks(64).all(|line| line.iter().fold(0, |bits, byte| bits | byte) == 0)
}

/// The bits of the blocks in which `count` bytes from `inside` a page lie; there is at least one.
const fn blocks(inside: usize, count: usize) -> u32 {
    let (first, last) = (inside / BLOCK_BYTES, (inside + count - 1) / BLOCK_BYTES);
    u32::MAX << first & u32::MAX >> (u32::BITS as usize - 1 - last)
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
        64
    }

    fn holds(&self, addr: u64, bytes: u32) -> bool {
        let mut pieces = pieces(addr, bytes as usize);
        pieces.all(|(page, inside, range)| {
            let written = self.pages.get(&page).map_or(0, |page| page.written);
            blocks(inside, range.len()) & !written == 0
        })
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
    fn what_was_written_is_known_by_blocks() {
        let mut dram = Dram::new();
        let block = BLOCK_BYTES as u64;
        assert!(dram.write(3 * block + 4, &[1; 4]).is_ok());
        assert!(dram.write(31 * block + 8, &[1; BLOCK_BYTES]).is_ok());
        let held: Vec<_> = (0..34).filter(|at| dram.holds(at * block, 2048)).collect();
        assert_eq!(held, [3, 31, 32]);
        assert!(dram.holds(31 * block, 4096) && !dram.holds(30 * block + 2047, 2));
        assert_eq!(blocks(0, PAGE_BYTES), u32::MAX);
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
