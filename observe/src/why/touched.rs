//! Where anybody has written in L1, as far as it was followed.

use sim_core::l1::L1_BYTES;

/// A bit for each line of L1.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    line_bytes: u32,
    bits: Vec<u64>,
}

impl Touched {
    /// Nothing is written. A line has `line_bytes` bytes.
    pub(super) fn new(line_bytes: u32) -> Self {
        let words = L1_BYTES.div_ceil(line_bytes).div_ceil(u64::BITS);
        Self { line_bytes, bits: vec![0; words as usize] }
    }

    /// The lines in which so many bytes at an address lie, of those that there are.
    fn lines(&self, addr: u32, bytes: u32) -> impl Iterator<Item = (usize, u64)> + use<> {
        let end = addr.saturating_add(bytes).min(L1_BYTES);
        let lines = addr / self.line_bytes..end.div_ceil(self.line_bytes);
        lines.map(|line| ((line / u64::BITS) as usize, 1 << (line % u64::BITS)))
    }

    pub(super) fn set(&mut self, addr: u32, bytes: u32, written: bool) {
        for (at, bit) in self.lines(addr, bytes) {
            if written {
                self.bits[at] |= bit;
            } else {
                self.bits[at] &= !bit;
            }
        }
    }

    /// Whether somebody has written to any of it; what lies beyond L1 counts as written.
    pub(super) fn any(&self, addr: u32, bytes: u32) -> bool {
        addr >= L1_BYTES || self.lines(addr, bytes).any(|(at, bit)| self.bits[at] & bit != 0)
    }

    /// How many bytes from an address on have been written, if behind the last of them nothing has; else 0.
    pub(super) fn prefix(&self, addr: u32, bytes: u32) -> u32 {
        let is_written = |(at, bit): (usize, u64)| self.bits[at] & bit != 0;
        let lines: Vec<bool> = self.lines(addr, bytes).map(is_written).collect();
        let written = lines.iter().take_while(|written| **written).count();
        if lines[written..].contains(&true) { 0 } else { written as u32 * self.line_bytes }
    }
}
