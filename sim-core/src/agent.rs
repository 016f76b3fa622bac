//! What the run phase needs of a core, and what it lets the core see.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::batch::Width;
use crate::ids::CoreId;
use crate::image::L1Image;
use crate::l1::{self, L1, PAGE_BYTES, PAGE_COUNT};
use crate::time::{Cycle, EpochLength};

/// Something that advances on its own during a run phase.
pub trait Agent: Send + 'static {
    /// Advances to `until` or to the first access only the commit phase can answer.
    ///
    /// Sees `shared` as it was when the epoch began; must not change it.
    fn run(&mut self, shared: &Shared, until: Cycle);

    /// Advances over as many epochs as it likes, at most to `until`, while no other core is
    /// runnable. May write L1 directly where [`Shared::is_quiet`] says nothing looks; at the first
    /// other effect it must stop at the end of the epoch that contains it.
    fn run_alone(&mut self, shared: &Shared, until: Cycle, epoch: EpochLength);
}

/// What all cores of a tile see during a run phase. Only the commit phase (and a lone runner)
/// writes it; everything inside is atomic so that host threads can share it.
#[derive(Debug)]
pub struct Shared {
    /// The scratchpad RAM.
    pub l1: L1,
    page_flags: Box<[AtomicU8; PAGE_COUNT]>,
    watched_words: AtomicU64,
}

/// What cores see at a moment between two epochs, to go back to.
#[derive(Clone, Debug)]
pub struct SharedImage {
    l1: L1Image,
    page_flags: Box<[u8]>,
    watched_words: u64,
}

impl SharedImage {
    /// What L1 holds.
    #[must_use]
    pub fn l1(&self) -> &L1Image {
        &self.l1
    }
}

/// Page flag: stores to the page are events.
pub const PAGE_OBSERVED: u8 = 0x80;

impl Default for Shared {
    fn default() -> Self {
        Self::new()
    }
}

impl Shared {
    /// Zeroed L1 with no page of interest.
    #[must_use]
    pub fn new() -> Self {
        Self::with_l1(L1::new())
    }

    /// L1 with that content, and no page of interest.
    #[must_use]
    pub fn with_l1(l1: L1) -> Self {
        Self {
            l1,
            page_flags: Box::new([const { AtomicU8::new(0) }; PAGE_COUNT]),
            watched_words: AtomicU64::new(0),
        }
    }

    /// All of it, to go back to. Pages of L1 that are as in `like` are shared with it.
    #[must_use]
    pub fn image(&self, like: &L1Image) -> SharedImage {
        let Self { l1, page_flags, watched_words } = self;
        SharedImage {
            l1: l1.image(like),
            page_flags: page_flags.iter().map(|flags| flags.load(Relaxed)).collect(),
            watched_words: watched_words.load(Relaxed),
        }
    }

    /// Goes back to a moment. Which pages are observed stays as it is: that is who looks at the
    /// machine, not the machine.
    pub fn restore(&self, image: &SharedImage) {
        let Self { l1, page_flags, watched_words } = self;
        l1.restore(&image.l1);
        for (flags, old) in page_flags.iter().zip(&image.page_flags) {
            let observed = flags.load(Relaxed) & PAGE_OBSERVED;
            flags.store(old & !PAGE_OBSERVED | observed, Relaxed);
        }
        watched_words.store(image.watched_words, Relaxed);
    }

    /// Flags of the page that holds `addr`: bit *i* = core *i* decoded code from it, and
    /// [`PAGE_OBSERVED`]. Zero outside L1.
    #[inline]
    #[must_use]
    pub fn page_flags(&self, addr: u32) -> u8 {
        match self.page_flags.get((addr / PAGE_BYTES) as usize) {
            Some(flags) => flags.load(Relaxed),
            None => 0,
        }
    }

    /// Notes that `core` holds decoded instructions of the page with that number. The one thing a
    /// run phase may change here: nothing looks at it before the commit phase.
    pub fn mark_code(&self, page: u16, core: CoreId) {
        if let Some(flags) = self.page_flags.get(usize::from(page)) {
            flags.fetch_or(1 << core as u8, Relaxed);
        }
    }

    /// Makes stores to pages that overlap `[start, end)` events (or not).
    pub fn observe_range(&self, start: u32, end: u32, on: bool) {
        for page in start / PAGE_BYTES..end.div_ceil(PAGE_BYTES) {
            if let Some(flags) = self.page_flags.get(page as usize) {
                let old = flags.load(Relaxed);
                let new = if on { old | PAGE_OBSERVED } else { old & !PAGE_OBSERVED };
                flags.store(new, Relaxed);
            }
        }
    }

    /// Bloom bit of the word that holds `addr`.
    #[inline]
    #[must_use]
    pub const fn watch_bit(addr: u32) -> u64 {
        1 << (addr >> 2 & 63)
    }

    /// Whether a store to `addr` might hit a word that a parked core or the host watches.
    #[inline]
    #[must_use]
    pub fn maybe_watched(&self, addr: u32) -> bool {
        self.watched_words.load(Relaxed) & Self::watch_bit(addr) != 0
    }

    /// Whether a store to one of that many bytes might hit a watched word.
    #[inline]
    #[must_use]
    pub fn watches_any(&self, addr: u32, bytes: usize) -> bool {
        let watched = self.watched();
        let words = (bytes + (addr & 3) as usize).div_ceil(4).min(64);
        watched != 0 && (0..words as u32).any(|i| watched & Self::watch_bit(addr + 4 * i) != 0)
    }

    /// The set of watched words, as the union of their [`Shared::watch_bit`]s.
    #[inline]
    #[must_use]
    pub fn watched(&self) -> u64 {
        self.watched_words.load(Relaxed)
    }

    /// What an inner loop needs of it.
    #[inline]
    #[must_use]
    pub fn run_view(&self) -> RunView<'_> {
        RunView { words: self.l1.words(), flags: &self.page_flags, watched: self.watched() }
    }

    /// Replaces the set of watched words, given as the union of their [`Shared::watch_bit`]s.
    pub fn set_watched(&self, bits: u64) {
        self.watched_words.store(bits, Relaxed);
    }

    /// Whether nothing but the storing core can notice a store to `addr` in L1 before the core's
    /// own next effect.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self, addr: u32) -> bool {
        self.page_flags(addr) == 0 && !self.maybe_watched(addr)
    }
}

/// [`Shared`] with all indirections resolved, valid within one run phase: the set of watched
/// words does not change then.
#[derive(Clone, Copy, Debug)]
pub struct RunView<'a> {
    words: &'a [AtomicU32; l1::WORDS],
    flags: &'a [AtomicU8; PAGE_COUNT],
    watched: u64,
}

impl RunView<'_> {
    /// Reads a value from L1, zero-extended. `None` if it is not naturally aligned or not inside.
    #[inline]
    #[must_use]
    pub fn read(&self, addr: u32, width: Width) -> Option<u32> {
        let word = self.words.get(L1::word_index(addr, width))?.load(Relaxed);
        Some(match width {
            Width::Word => word,
            Width::Byte | Width::Half => word >> ((addr & 3) * 8) & width.mask(),
        })
    }

    /// Writes to L1 for a lone runner. `false`, and nothing is written, if `addr` is not aligned,
    /// not inside, or not [`Shared::is_quiet`].
    #[inline]
    #[must_use]
    pub fn write_quiet(&self, addr: u32, value: u32, width: Width) -> bool {
        self.replace_quiet(addr, value, width).is_some()
    }

    /// As [`RunView::write_quiet`]; gives what the word held that `addr` is in.
    #[inline]
    #[must_use]
    pub fn replace_quiet(&self, addr: u32, value: u32, width: Width) -> Option<u32> {
        let index = L1::word_index(addr, width);
        let word = self.words.get(index)?;
        let flags = self.flags[index / (PAGE_BYTES / 4) as usize].load(Relaxed);
        if flags != 0 || self.watched & Shared::watch_bit(addr) != 0 {
            return None;
        }
        let old = word.load(Relaxed);
        word.store(width.put(old, addr, value), Relaxed);
        Some(old)
    }
}
