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

/// An instruction somewhere in a thread's frontend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Queued {
    pub(crate) word: u32,
    pub(crate) pc: u32,
    pub(crate) mop: u32,
    pub(crate) core: CoreId,
    pub(crate) replay: u8,
}

impl Queued {
    pub(crate) const EMPTY: Self = Self { word: 0, pc: 0, mop: 0, core: CoreId::Brisc, replay: 0 };

    pub(crate) const fn pushed(word: u32, origin: Origin) -> Self {
        Self { word, pc: origin.pc, mop: 0, core: origin.core, replay: 0 }
    }

    pub(crate) const fn origin(self) -> Origin {
        Origin { core: self.core, pc: self.pc }
    }

    pub(crate) const fn slot(self) -> Slot {
        Slot { mop: self.mop, replay: self.replay }
    }

    /// Whether no expander produced it.
    pub(crate) const fn is_unexpanded(self) -> bool {
        self.mop == 0 && self.replay == 0
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
