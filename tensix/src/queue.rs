//! Instructions on their way, and the queues that hold them.

use sim_core::CoreId;
use sim_core::observer::Slot;

/// Who pushed an instruction: the core and the address of its store or `.ttinsn`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// The pushing core.
    pub core: CoreId,
    /// Its program counter.
    pub pc: u32,
}

/// An instruction somewhere in a thread's frontend, packed into two words so that it moves from
/// queue to queue in two registers.
///
/// ```text
/// high: 63..48 unused | 47..40 replay slot + 1 | 39..32 core | 31..0 position in the MOP
/// low:  63..32 pc | 31..0 instruction
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Queued {
    low: u64,
    high: u64,
}

impl Queued {
    pub(crate) const EMPTY: Self = Self { low: 0, high: 0 };

    #[inline]
    pub(crate) const fn pushed(word: u32, origin: Origin) -> Self {
        Self::expanded(word, origin, 0, 0)
    }

    /// An instruction that an expander produced on behalf of whoever pushed the MOP or REPLAY.
    #[inline]
    pub(crate) const fn expanded(word: u32, origin: Origin, mop: u32, replay: u8) -> Self {
        Self {
            low: word as u64 | (origin.pc as u64) << 32,
            high: mop as u64 | (origin.core as u64) << 32 | (replay as u64) << 40,
        }
    }

    #[inline]
    pub(crate) const fn word(self) -> u32 {
        self.low as u32
    }

    #[inline]
    pub(crate) const fn pc(self) -> u32 {
        (self.low >> 32) as u32
    }

    #[inline]
    pub(crate) const fn mop(self) -> u32 {
        self.high as u32
    }

    #[inline]
    pub(crate) const fn replay(self) -> u8 {
        (self.high >> 40) as u8
    }

    #[inline]
    pub(crate) const fn core(self) -> CoreId {
        match CoreId::from_index((self.high >> 32) as usize & 7) {
            Some(core) => core,
            None => CoreId::Brisc,
        }
    }

    #[inline]
    pub(crate) const fn origin(self) -> Origin {
        Origin { core: self.core(), pc: self.pc() }
    }

    #[inline]
    pub(crate) const fn slot(self) -> Slot {
        Slot { mop: self.mop(), replay: self.replay() }
    }

    /// Whether a TRISC pushed it and no expander has touched it.
    #[inline]
    pub(crate) const fn is_tracked(self) -> bool {
        self.high & !(0xFF << 32) == 0 && self.high != (CoreId::Brisc as u64) << 32
    }
}

/// A queue in a flat array; `N` is its capacity and a power of two.
#[derive(Clone, Debug)]
pub(crate) struct Ring<const N: usize> {
    entries: [Queued; N],
    head: u32,
    len: u32,
}

impl<const N: usize> Ring<N> {
    const MASK: u32 = {
        assert!(N.is_power_of_two());
        N as u32 - 1
    };

    pub(crate) const fn new() -> Self {
        Self { entries: [Queued::EMPTY; N], head: 0, len: 0 }
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&Queued> {
        if self.len == 0 { None } else { Some(&self.entries[(self.head & Self::MASK) as usize]) }
    }

    /// Drops the oldest entry; the queue must not be empty.
    #[inline]
    pub(crate) fn drop_front(&mut self) {
        debug_assert!(self.len != 0, "queue is empty");
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
    }

    /// Appends an entry; the queue must not be full.
    #[inline]
    pub(crate) fn push(&mut self, entry: Queued) {
        debug_assert!(!self.is_full(), "queue is full");
        let index = self.head.wrapping_add(self.len) & Self::MASK;
        self.entries[index as usize] = entry;
        self.len += 1;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Queued> {
        (0..self.len).map(|i| &self.entries[(self.head.wrapping_add(i) & Self::MASK) as usize])
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        self.len as usize == N
    }

    pub(crate) fn clear(&mut self) {
        self.head = 0;
        self.len = 0;
    }
}
