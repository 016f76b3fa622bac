//! What the coprocessor sees of its tile.

use sim_core::observer::{Event, Glimpse, ShowsCells, Stamp};
use sim_core::{ThreadId, Width};

/// What the coprocessor sees of its tile. Implemented by the tile; calls happen in the commit
/// phase only.
pub trait Env {
    /// Whether events are wanted. Read by what emits, here, and by `plan`, nowhere else.
    const OBSERVED: bool;

    /// Takes one event; called in `(cycle, agent)` order within a step.
    fn event(&mut self, stamp: Stamp, event: Event);

    /// Emits an event, which is not even built without an observer.
    #[inline(always)]
    fn emit(&mut self, stamp: Stamp, event: impl FnOnce() -> Event) {
        if Self::OBSERVED {
            self.event(stamp, event());
        }
    }

    /// What an event will tell of a state before it changes, if there is an observer.
    #[inline(always)]
    fn if_heard<T>(&self, state: impl FnOnce() -> T) -> Option<T> {
        if Self::OBSERVED { Some(state()) } else { None }
    }

    /// Value of register `register` of overlay stream `stream` (0 to 63).
    fn stream_register(&self, stream: u8, register: u16) -> u32;

    /// Acts on a write to `RISCV_IC_INVALIDATE`: bit 0 B, 1 T0, 2 T1, 3 T2, 4 NC. The coprocessor
    /// has already emitted [`Event::IcacheInvalidate`].
    fn invalidate_icache(&mut self, mask: u8, at: Stamp);

    /// The aligned L1 word that holds byte `addr`; zero beyond the end of L1.
    fn l1_word(&self, addr: u32) -> u32;

    /// Shows `N` consecutive words from `addr` on with their numbers, in order. `addr` is a multiple
    /// of 4 and all words are inside L1.
    #[inline]
    fn l1_visit<const N: usize>(&self, addr: u32, mut visit: impl FnMut(usize, u32)) {
        for i in 0..N {
            visit(i, self.l1_word(addr + 4 * i as u32));
        }
    }

    /// Writes L1 at once; the address is naturally aligned and inside L1.
    fn l1_write(&mut self, addr: u32, value: u32, width: Width, at: Stamp);

    /// Writes `N` consecutive words of L1 at once; the address is a multiple of 16 and all words
    /// are inside L1.
    fn l1_write_words<const N: usize>(&mut self, addr: u32, words: &[u32; N], at: Stamp) {
        for (offset, &word) in (0..).step_by(4).zip(words) {
            self.l1_write(addr + offset, word, Width::Word, at);
        }
    }

    /// Whether [`Env::l1_read`] is wanted.
    #[inline]
    fn wants_l1_reads(&self) -> bool {
        false
    }

    /// An instruction has read bytes of L1 and done something with them.
    fn l1_read(&mut self, addr: u32, bytes: u32, at: Stamp) {
        let _ = (addr, bytes, at);
    }

    /// Whether [`Env::cells`] is wanted.
    #[inline]
    fn wants_cells(&self) -> bool {
        false
    }

    /// The values of what no event tells, before and after an instruction.
    fn cells(&mut self, glimpse: Glimpse, shown: &dyn ShowsCells) {
        let _ = (glimpse, shown);
    }

    /// Whether [`Env::dst_read`] is wanted.
    #[inline]
    fn wants_dst_reads(&self) -> bool {
        false
    }

    /// An instruction is about to read rows of Dst, of which some are valid or none.
    fn dst_read(&mut self, at: Stamp, rows: &[u16], held: bool) {
        let _ = (at, rows, held);
    }

    /// Stores a word to a register of the tile as the NoC sees it, after this cycle.
    fn store_register(&mut self, addr: u32, value: u32, at: Stamp);

    /// Asks for a word of a register of the tile as the NoC sees it. The answer comes after this
    /// cycle through [`crate::Coprocessor::deliver_register`].
    fn request_register(&mut self, thread: ThreadId, gpr: u8, addr: u32, at: Stamp);

    /// Whether the tile has to act on something before the next cycle, such as a register access.
    #[inline]
    fn wants_control(&self) -> bool {
        false
    }
}
