//! PCBufs: a FIFO of 32-bit values from BRISC to each TRISC, with an override register.
//!
//! Source: `[isa-bh: TensixTile/BabyRISCV/PCBufs.md]`. Not here: who is blocked on what, and
//! whether a Tensix thread is idle; the tile knows both and passes them in.

use memory_map::reg::tile_control::trisc_pc_buf_override as bit;
use sim_core::{Category, Fifo, StateHasher, ThreadId};

use crate::fault::DeviceFault;

/// Values one PCBuf can hold.
pub const CAPACITY: usize = 16;

/// What a TRISC's read of its PCBuf gives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PcBufRead {
    /// The oldest value was popped.
    Value {
        /// The value.
        value: u32,
        /// Entries left.
        depth: u8,
    },
    /// The FIFO is empty and the override answers in its place.
    Override(u32),
    /// The FIFO is empty: the read is answered later.
    Wait,
}

/// The three PCBufs and their configuration.
#[derive(Clone, Debug)]
pub struct PcBufs {
    fifos: [Fifo<u32>; ThreadId::COUNT],
    overrides: u32,
}

impl Default for PcBufs {
    fn default() -> Self {
        Self::new()
    }
}

impl PcBufs {
    /// Empty FIFOs, no override.
    #[must_use]
    pub fn new() -> Self {
        Self { fifos: std::array::from_fn(|_| Fifo::new(CAPACITY)), overrides: 0 }
    }

    /// Sets `RISCV_DEBUG_REG_TRISC_PC_BUF_OVERRIDE`.
    ///
    pub fn set_override(&mut self, value: u32) {
        self.overrides = value;
    }

    /// This thread's `(OverrideEn, OverrideBusy, OverrideValue)`.
    fn configuration(&self, thread: ThreadId) -> (bool, bool, u32) {
        let bits = self.overrides >> (usize::from(bit::TRISC1_ENABLE.lo) * thread.index());
        // All threads have the same bits, each further up than the one before.
        (bit::TRISC0_ENABLE.is_set(bits), bit::TRISC0_BUSY.is_set(bits), bit::TRISC0_VALUE.of(bits))
    }

    /// Whether BRISC's next write goes through now.
    #[must_use]
    pub fn can_push(&self, thread: ThreadId) -> bool {
        !self.fifos[thread.index()].is_full()
    }

    /// BRISC's write; gives the depth afterwards.
    ///
    /// # Errors
    /// `pcbuf-full`: [`PcBufs::can_push`] was false; the hardware would have made the write wait.
    pub fn push(&mut self, thread: ThreadId, value: u32) -> Result<u8, DeviceFault> {
        self.fifos[thread.index()].push(value).map_err(|_| {
            DeviceFault::new(
                Category::Unsupported,
                "pcbuf-full",
                format!("PCBuf of {thread} is full and the write was not held back"),
            )
        })?;
        Ok(self.depth(thread))
    }

    /// The TRISC's read.
    pub fn pop(&mut self, thread: ThreadId) -> PcBufRead {
        if let Some(value) = self.fifos[thread.index()].pop() {
            return PcBufRead::Value { value, depth: self.depth(thread) };
        }
        match self.configuration(thread) {
            (true, _, value) => PcBufRead::Override(value),
            (false, ..) => PcBufRead::Wait,
        }
    }

    /// Whether BRISC's read is answered (with 0) now.
    ///
    /// `reader_blocked`: the TRISC is waiting to read this PCBuf. `thread_idle`: its Tensix
    /// thread has nothing in flight.
    #[must_use]
    pub fn drained(&self, thread: ThreadId, reader_blocked: bool, thread_idle: bool) -> bool {
        self.releases_ttsync(thread)
            || (self.fifos[thread.index()].is_empty() && reader_blocked && thread_idle)
    }

    /// Whether the override releases manual TTSync loads of the TRISC whatever is in flight
    /// `[isa-bh: TensixTile/BabyRISCV/ManualTTSync.md]`.
    #[must_use]
    pub fn releases_ttsync(&self, thread: ThreadId) -> bool {
        matches!(self.configuration(thread), (true, true, _))
    }

    /// Entries held.
    #[must_use]
    pub fn depth(&self, thread: ThreadId) -> u8 {
        u8::try_from(self.fifos[thread.index()].len()).unwrap_or(u8::MAX)
    }

    /// The values that wait for the TRISC of `thread`, oldest first.
    pub fn values(&self, thread: ThreadId) -> impl Iterator<Item = u32> {
        self.fifos[thread.index()].iter().copied()
    }

    /// Discards the FIFO, as the TRISC leaving soft reset does
    /// `[isa-bh: TensixTile/SoftReset.md]`.
    pub fn clear(&mut self, thread: ThreadId) {
        self.fifos[thread.index()].clear();
    }

    /// Empties everything and switches overrides off.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Adds the contents to a state hash.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { fifos, overrides } = self;
        hasher.u32(*overrides);
        for fifo in fifos {
            hasher.u64(fifo.len() as u64);
            fifo.iter().for_each(|&value| hasher.u32(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ThreadId::{T0, T1, T2};

    // Expected values: the tables of [isa-bh: TensixTile/BabyRISCV/PCBufs.md].

    #[test]
    fn pcbuf_sixteen_values_fill_it() {
        let mut bufs = PcBufs::new();
        for value in 0..16 {
            assert!(bufs.can_push(T1));
            bufs.push(T1, value).unwrap();
        }
        assert!(!bufs.can_push(T1));
        assert!(bufs.can_push(T0));
        assert_eq!(bufs.push(T1, 0).unwrap_err().id, "pcbuf-full");
        assert_eq!(bufs.pop(T1), PcBufRead::Value { value: 0, depth: 15 });
    }

    #[test]
    fn pcbuf_empty_read_waits() {
        assert_eq!(PcBufs::new().pop(T2), PcBufRead::Wait);
    }

    #[test]
    fn pcbuf_override_answers_only_when_empty() {
        let mut bufs = PcBufs::new();
        bufs.set_override(0xA5 << 12 | 1 << 10);
        bufs.push(T1, 9).unwrap();
        assert_eq!(bufs.pop(T1), PcBufRead::Value { value: 9, depth: 0 });
        assert_eq!(bufs.pop(T1), PcBufRead::Override(0xA5));
        assert_eq!(bufs.pop(T0), PcBufRead::Wait);
    }

    #[test]
    fn pcbuf_brisc_read_needs_empty_blocked_and_idle() {
        let mut bufs = PcBufs::new();
        assert!(bufs.drained(T0, true, true));
        assert!(!bufs.drained(T0, false, true));
        assert!(!bufs.drained(T0, true, false));
        bufs.push(T0, 1).unwrap();
        assert!(!bufs.drained(T0, true, true));
    }

    #[test]
    fn pcbuf_busy_override_without_enable_does_nothing() {
        let mut bufs = PcBufs::new();
        bufs.set_override(1 << 21);
        assert!(!bufs.releases_ttsync(T2));
        bufs.set_override(0b11 << 20);
        assert!(bufs.releases_ttsync(T2));
        assert!(bufs.drained(T2, false, false));
    }
}
