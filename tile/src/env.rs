//! The coprocessor's view of the tile.

use devices::Overlay;
use sim_core::agent::PAGE_OBSERVED;
use sim_core::observer::{Glimpse, ShowsCells};
use sim_core::{Event, Observer, Shared, Stamp, ThreadId, Width};
use tensix::Env;

/// The parts of the tile the coprocessor may look at while it is stepped.
pub(crate) struct TensixEnv<'a, O: ?Sized> {
    pub(crate) observer: &'a mut O,
    pub(crate) overlay: &'a Overlay,
    pub(crate) shared: &'a Shared,
    /// Collected; the tile acts on it after the step.
    pub(crate) deferred: &'a mut Deferred,
}

/// What the coprocessor did in a step that concerns others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deferred {
    /// L1 words written that a core holds decoded or watches.
    pub(crate) touched: Vec<u32>,
    pub(crate) stores: Vec<(u32, u32, Stamp)>,
    pub(crate) loads: Vec<(ThreadId, u8, u32, Stamp)>,
    /// Cores whose instruction caches are to be invalidated, as RISCV_IC_INVALIDATE has them.
    pub(crate) icache: u8,
}

impl Deferred {
    /// Whether nothing is to be done but perhaps with instruction caches.
    pub(crate) fn has_no_access(&self) -> bool {
        self.touched.is_empty() && self.keeps_registers()
    }

    /// Whether no register is accessed.
    pub(crate) fn keeps_registers(&self) -> bool {
        self.stores.is_empty() && self.loads.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.icache == 0 && self.has_no_access()
    }
}

impl<O: Observer + ?Sized> Env for TensixEnv<'_, O> {
    const OBSERVED: bool = O::ENABLED;

    fn event(&mut self, stamp: Stamp, event: Event) {
        self.observer.event(stamp, &event);
    }

    fn stream_register(&self, stream: u8, register: u16) -> u32 {
        // Registers without a value read as zero here; a wait on one never ends.
        self.overlay.read(stream, register).unwrap_or(0)
    }

    fn invalidate_icache(&mut self, mask: u8, _at: Stamp) {
        self.deferred.icache |= mask;
    }

    fn wants_control(&self) -> bool {
        !self.deferred.is_empty()
    }

    #[inline]
    fn l1_word(&self, addr: u32) -> u32 {
        self.shared.l1.word(addr)
    }

    #[inline]
    fn l1_visit<const N: usize>(&self, addr: u32, visit: impl FnMut(usize, u32)) {
        self.shared.l1.visit_words::<N>(addr, visit);
    }

    fn l1_write(&mut self, addr: u32, value: u32, width: Width, at: Stamp) {
        self.shared.l1.write(addr, value, width);
        let flags = self.shared.page_flags(addr);
        if flags != 0 || self.shared.maybe_watched(addr) {
            self.deferred.touched.push(addr);
            if flags & PAGE_OBSERVED != 0 {
                self.observer.event(at, &Event::L1Store { addr, value, width });
            }
        }
    }

    #[inline]
    fn l1_write_words<const N: usize>(&mut self, addr: u32, words: &[u32; N], at: Stamp) {
        // A few words lie in two pages at most.
        let last = addr + 4 * (N as u32 - 1);
        if self.shared.page_flags(addr) | self.shared.page_flags(last) == 0
            && !self.shared.watches_any(addr, 4 * N)
        {
            self.shared.l1.write_words(addr, words);
            return;
        }
        for (word, &value) in (0..).zip(words) {
            self.l1_write(addr + 4 * word, value, Width::Word, at);
        }
    }

    #[inline]
    fn wants_l1_reads(&self) -> bool {
        self.observer.wants_l1_reads()
    }

    fn l1_read(&mut self, addr: u32, bytes: u32, at: Stamp) {
        self.observer.l1_read(at, addr, bytes);
    }

    #[inline]
    fn wants_cells(&self) -> bool {
        self.observer.wants_cells()
    }

    fn cells(&mut self, glimpse: Glimpse, shown: &dyn ShowsCells) {
        self.observer.cells(glimpse, shown);
    }

    #[inline]
    fn wants_dst_reads(&self) -> bool {
        self.observer.wants_dst_reads()
    }

    fn dst_read(&mut self, at: Stamp, rows: &[u16], held: bool) {
        self.observer.dst_read(at, rows, held);
    }

    fn store_register(&mut self, addr: u32, value: u32, at: Stamp) {
        self.deferred.stores.push((addr, value, at));
    }

    fn request_register(&mut self, thread: ThreadId, gpr: u8, addr: u32, at: Stamp) {
        self.deferred.loads.push((thread, gpr, addr, at));
    }
}
