//! Decoded instructions, one table per core.
//!
//! A page of 4 KiB of L1 is decoded word by word as it is executed. In the coherent model a store
//! to a decoded word puts it back to [`Op::UNDECODED`] at commit; in the stale model only the
//! invalidate register does, as in hardware
//! `[isa-wh: TensixTile/BabyRISCV/InstructionCache.md]`, and executing an outdated word is
//! diagnosed.

use sim_core::l1::L1_BYTES;

use crate::op::Op;

/// How instruction fetch sees stores to code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum IcacheModel {
    /// Every fetch sees L1 as of the start of the epoch.
    #[default]
    Coherent,
    /// Fetches see the word as it was when first executed after the last invalidate; executing
    /// one that differs from L1 is a diagnosed mistake.
    Stale,
}

/// Bytes of code per page.
pub(crate) const CODE_PAGE_BYTES: u32 = 2048;
/// Ops per page.
const WORDS: usize = (CODE_PAGE_BYTES / 4) as usize;
const PAGES: usize = (L1_BYTES / CODE_PAGE_BYTES) as usize;
/// Twice the ops, so that an index can be masked and the op behind the last one is there to say
/// that the page ends.
const SLOTS: usize = 2 * WORDS;

/// Decoded words of one page.
#[derive(Clone, Debug)]
pub(crate) struct Page([Op; SLOTS]);

impl Page {
    /// Apart, because it builds the page on the stack.
    #[cold]
    #[inline(never)]
    fn empty() -> Box<Self> {
        let mut page = Box::new(Self([Op::PAGE_END; SLOTS]));
        page.clear();
        page
    }

    fn clear(&mut self) {
        self.0[..WORDS].fill(Op::UNDECODED);
    }

    /// The op with that index; [`Op::PAGE_END`] behind the last.
    #[inline]
    pub(crate) fn op(&self, index: usize) -> Op {
        self.0[index % SLOTS]
    }

    pub(crate) fn set(&mut self, index: usize, op: Op) {
        if index < WORDS {
            self.0[index] = op;
        }
    }
}

/// Decoded instructions of one core.
#[derive(Debug)]
pub(crate) struct Icache {
    pub(crate) model: IcacheModel,
    pages: Box<[Option<Box<Page>>]>,
    /// In the stale model: the words that were decoded.
    words: Vec<Option<Box<[u32; WORDS]>>>,
}

/// Whether both addresses lie in the same page.
pub(crate) const fn same_page(a: u32, b: u32) -> bool {
    a / CODE_PAGE_BYTES == b / CODE_PAGE_BYTES
}

const fn slot(pc: u32) -> usize {
    (pc / 4) as usize % WORDS
}

impl Icache {
    pub(crate) fn new(model: IcacheModel) -> Self {
        let words = match model {
            IcacheModel::Coherent => Vec::new(),
            IcacheModel::Stale => (0..PAGES).map(|_| None).collect(),
        };
        Self { model, pages: (0..PAGES).map(|_| None).collect(), words }
    }

    /// The page of `pc`, if it is open and `pc` is a multiple of four.
    #[inline]
    pub(crate) fn page(&self, pc: u32) -> Option<&Page> {
        // A pc that is no multiple of four gets a number no page has.
        self.pages.get((pc.rotate_right(2) / WORDS as u32) as usize)?.as_deref()
    }

    /// Makes sure that there is a page for `pc`, which must lie in L1. Returns whether nothing of
    /// it had been decoded.
    #[inline]
    pub(crate) fn open(&mut self, pc: u32) -> bool {
        match self.pages.get_mut((pc / CODE_PAGE_BYTES) as usize) {
            Some(entry @ None) => {
                *entry = Some(Page::empty());
                true
            }
            _ => false,
        }
    }

    /// The op at `pc`, if its page is open.
    #[inline]
    pub(crate) fn op(&self, pc: u32) -> Option<Op> {
        self.page(pc).map(|page| page.op(slot(pc)))
    }

    /// Remembers that `word` at `pc`, whose page is open, means `op`.
    pub(crate) fn set(&mut self, pc: u32, op: Op, word: u32) {
        let number = (pc / CODE_PAGE_BYTES) as usize;
        if let Some(Some(page)) = self.pages.get_mut(number) {
            page.set(slot(pc), op);
        }
        if let Some(words) = self.words.get_mut(number) {
            words.get_or_insert_with(|| Box::new([0; WORDS]))[slot(pc)] = word;
        }
    }

    /// In the stale model, the word that was decoded at `pc`.
    pub(crate) fn decoded_word(&self, pc: u32) -> Option<u32> {
        let words = self.words.get((pc / CODE_PAGE_BYTES) as usize)?.as_deref()?;
        Some(words[slot(pc)])
    }

    /// A store changed the word at `addr`.
    pub(crate) fn invalidate_word(&mut self, addr: u32) {
        if self.model == IcacheModel::Coherent
            && let Some(Some(page)) = self.pages.get_mut((addr / CODE_PAGE_BYTES) as usize)
        {
            page.set(slot(addr), Op::UNDECODED);
        }
    }

    /// The invalidate register was written for this core, or the core was reset.
    pub(crate) fn invalidate_all(&mut self) {
        if self.model == IcacheModel::Stale {
            for page in self.pages.iter_mut().flatten() {
                page.clear();
            }
        }
    }
}
