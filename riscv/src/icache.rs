//! Decoded instructions, one table per core.
//!
//! A page of 2 KiB of L1 is decoded as it is executed, some words ahead ([`crate::stretch`]). In the
//! coherent model a store to a decoded word puts it back to [`Op::UNDECODED`] at commit, and so does a write of the host
//! or the NoC, unless 64 bytes or more of it lie in one page of L1 and are all there already; in the stale
//! model only the invalidate register does, as in hardware
//! `[isa-wh: TensixTile/BabyRISCV/InstructionCache.md]`, and executing an outdated word is diagnosed.

use std::sync::Arc;

use sim_core::l1::L1_BYTES;

use crate::op::{Kind, Op};
use crate::pages::{self, CODE_PAGE_BYTES, PAGE_OPS, Page};

/// How instruction fetch sees stores to code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum IcacheModel {
    /// Every fetch sees L1 as of the start of the epoch. A core's own store of the epoch is seen only
    /// in words that were not decoded before: of code it goes to, but not of what lies just ahead.
    #[default]
    Coherent,
    /// Fetches see the word as it was when first executed after the last invalidate; executing
    /// one that differs from L1 is a diagnosed mistake.
    Stale,
}

const PAGES: usize = (L1_BYTES / CODE_PAGE_BYTES) as usize;
/// Pages are kept in groups: of most of L1 a core executes nothing, and 140 tiles have five cores each.
const GROUP: usize = 32;

/// Pages that lie side by side.
type Group = [Option<Arc<Page>>; GROUP];

/// Decoded instructions of one core. A copy shares its pages until one of the two changes.
#[derive(Clone, Debug)]
pub(crate) struct Icache {
    pub(crate) model: IcacheModel,
    groups: [Option<Box<Group>>; PAGES / GROUP],
    /// In the stale model: the words that were decoded.
    words: Vec<Option<Arc<[u32; PAGE_OPS]>>>,
}

/// Whether both addresses lie in the same page.
pub(crate) const fn same_page(a: u32, b: u32) -> bool {
    a / CODE_PAGE_BYTES == b / CODE_PAGE_BYTES
}

const fn slot(pc: u32) -> usize {
    (pc / 4) as usize % PAGE_OPS
}

/// The words that hold `bytes` bytes from `addr` on, page by page: where they begin and how many.
fn pieces(addr: u32, bytes: u32) -> impl Iterator<Item = (u32, usize)> {
    let (mut at, end) = (addr & !3, addr.saturating_add(bytes));
    std::iter::from_fn(move || {
        let from = at;
        at = end.min((at | (CODE_PAGE_BYTES - 1)).saturating_add(1));
        (from < end).then(|| (from, (at - from).div_ceil(4) as usize))
    })
}

impl Icache {
    pub(crate) fn new(model: IcacheModel) -> Self {
        let words = match model {
            IcacheModel::Coherent => Vec::new(),
            IcacheModel::Stale => (0..PAGES).map(|_| None).collect(),
        };
        Self { model, groups: [const { None }; PAGES / GROUP], words }
    }

    /// The page of `pc`, if it is open and `pc` is a multiple of four.
    #[inline]
    pub(crate) fn page(&self, pc: u32) -> Option<&Page> {
        // A pc that is no multiple of four gets a number no page has.
        let number = (pc.rotate_right(2) / PAGE_OPS as u32) as usize;
        self.groups.get(number / GROUP)?.as_deref()?[number % GROUP].as_deref()
    }

    /// The page that holds `addr`, if it is open, as others may have it too.
    pub(crate) fn shared_page(&mut self, addr: u32) -> Option<&mut Arc<Page>> {
        let number = (addr / CODE_PAGE_BYTES) as usize;
        self.groups.get_mut(number / GROUP)?.as_deref_mut()?[number % GROUP].as_mut()
    }

    /// Makes sure that there is a page for `pc`, which must lie in L1. Returns whether nothing of
    /// it had been decoded.
    #[inline]
    pub(crate) fn open(&mut self, pc: u32) -> bool {
        let number = (pc / CODE_PAGE_BYTES) as usize;
        let Some(group) = self.groups.get_mut(number / GROUP) else { return false };
        let group = group.get_or_insert_with(|| Box::new([const { None }; GROUP]));
        let is_new = group[number % GROUP].is_none();
        group[number % GROUP].get_or_insert_with(pages::empty);
        is_new
    }

    /// The op at `pc`, if its page is open.
    #[inline]
    pub(crate) fn op(&self, pc: u32) -> Option<Op> {
        self.page(pc).map(|page| page.op(slot(pc)))
    }

    /// How many words from `pc` on, of its page and `most` at most, have not been decoded.
    pub(crate) fn undecoded(&self, pc: u32, most: usize) -> usize {
        let ops = self.page(pc).map_or(&[][..], |page| page.ops(slot(pc), most));
        ops.iter().take_while(|op| op.kind == Kind::Undecoded).count()
    }

    /// Notes what the words from `pc` on mean, which are of one page that is open. `remembers`: whether pages of
    /// others may be taken over.
    pub(crate) fn set(&mut self, pc: u32, ops: &[Op], remembers: bool) {
        if let Some(page) = self.shared_page(pc) {
            pages::decode(page, slot(pc), ops, remembers);
        }
    }

    /// In the stale model: remembers which word was decoded at `pc`.
    pub(crate) fn set_word(&mut self, pc: u32, word: u32) {
        if let Some(words) = self.words.get_mut((pc / CODE_PAGE_BYTES) as usize) {
            let words = words.get_or_insert_with(|| Arc::new([0; PAGE_OPS]));
            Arc::make_mut(words)[slot(pc)] = word;
        }
    }

    /// In the stale model, the word that was decoded at `pc`.
    pub(crate) fn decoded_word(&self, pc: u32) -> Option<u32> {
        let words = self.words.get((pc / CODE_PAGE_BYTES) as usize)?.as_deref()?;
        Some(words[slot(pc)])
    }

    /// Whether one of the words that hold `bytes` bytes from `addr` on has been decoded.
    pub(crate) fn holds(&self, addr: u32, bytes: u32) -> bool {
        pieces(addr, bytes)
            .any(|(at, words)| self.page(at).is_some_and(|page| page.any_decoded(slot(at), words)))
    }

    /// Those words have changed. `remembers`: as with [`Icache::set`].
    pub(crate) fn invalidate(&mut self, addr: u32, bytes: u32, remembers: bool) {
        if self.model == IcacheModel::Coherent {
            for (at, words) in pieces(addr, bytes) {
                if let Some(page) = self.shared_page(at) {
                    pages::forget(page, slot(at), words, remembers);
                }
            }
        }
    }

    /// The invalidate register was written for this core, or the core was reset.
    pub(crate) fn invalidate_all(&mut self) {
        if self.model == IcacheModel::Stale {
            for page in self.groups.iter_mut().flatten().flat_map(|group| group.iter_mut()) {
                if page.is_some() {
                    *page = Some(pages::empty());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hold_all_bytes_and_no_more() {
        let all = |addr, bytes| pieces(addr, bytes).collect::<Vec<_>>();
        assert_eq!(all(0x7FF, 1), [(0x7FC, 1)]);
        assert_eq!(all(0x7FE, 4), [(0x7FC, 1), (0x800, 1)]);
        assert_eq!(all(0x400, 0x1001), [(0x400, 0x100), (0x800, 0x200), (0x1000, 0x101)]);
        assert_eq!(all(0x400, 0), []);
    }

    #[test]
    fn what_is_invalidated_is_no_longer_held() {
        let mut icache = Icache::new(IcacheModel::Coherent);
        assert!(!icache.holds(0x7F8, 16));
        for pc in [0x7FC, 0x804] {
            icache.open(pc);
            icache.set(pc, &[Op { kind: Kind::Fence, ..Op::UNDECODED }], true);
        }
        assert!(icache.holds(0x7F0, 13) && !icache.holds(0x7F0, 12));
        assert!(!icache.holds(0x800, 4) && icache.holds(0x807, 1));
        icache.invalidate(0x7FF, 6, true);
        assert!(!icache.holds(0x7FC, 4) && !icache.holds(0x800, 8));
    }
}
