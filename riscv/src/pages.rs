//! Pages of decoded instructions, which cores have in common that decoded the same words.
//!
//! All tiles of a chip execute the same firmware and kernels. While anybody else has a page it is not changed where
//! it lies: each change gives a new page, and per host thread it is remembered which. The next core that decodes
//! the same words takes that page over. In a `ttnn` session 2,454 pages of 4 KiB were a fifth of all that the host
//! had to map, and no cache held them.

use std::cell::RefCell;
use std::sync::Arc;

use crate::op::{Kind, Op};

/// Bytes of code per page.
pub(crate) const CODE_PAGE_BYTES: u32 = 2048;
/// Ops per page.
pub(crate) const PAGE_OPS: usize = (CODE_PAGE_BYTES / 4) as usize;
/// Most ops of a change that is remembered.
const MOST_OPS: usize = 16;
/// Places for changes that are remembered, a power of two; five firmwares and kernels have some 300.
const REMEMBERED: usize = 1024;

/// Decoded words of one page.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    ops: [Op; PAGE_OPS],
    /// Which words are decoded, a bit each: a launch writes pages of code, and each core is asked about them.
    decoded: [u64; PAGE_OPS / 64],
    /// Sum of what its ops weigh: the same however it came about.
    weight: u64,
}

/// What an op at a place adds to the weight of its page.
fn weight(place: usize, op: Op) -> u64 {
    if op.kind == Kind::Undecoded {
        return 0;
    }
    let mixed = op.bits().wrapping_add(place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9 + 2 * place as u64)
}

impl Page {
    /// The op with that index, which must be less than [`PAGE_OPS`]. Masked instead of checked: the
    /// fast loop knows, and a second comparison for each instruction costs it a quarter.
    #[inline]
    pub(crate) fn op(&self, index: usize) -> Op {
        self.ops[index % PAGE_OPS]
    }

    /// Up to that many ops from `place` on, which must be less than [`PAGE_OPS`].
    pub(crate) fn ops(&self, place: usize, most: usize) -> &[Op] {
        let ops = &self.ops[place % PAGE_OPS..];
        &ops[..most.min(ops.len())]
    }

    /// Whether one of so many words from `place` on, which must be less than [`PAGE_OPS`], is decoded.
    pub(crate) fn any_decoded(&self, place: usize, count: usize) -> bool {
        let place = place % PAGE_OPS;
        let end = PAGE_OPS.min(place + count);
        let mut at = place;
        while at < end {
            // What is left of this group, and of it what is asked for.
            let rest = self.decoded[at / 64] >> (at % 64);
            let asked = (end - at).min(64 - at % 64);
            if rest << (64 - asked) != 0 {
                return true;
            }
            at += asked;
        }
        false
    }

    /// `weight`: of the page behind the change.
    fn apply(&mut self, change: &Change, weight: u64) {
        let Change { place, .. } = *change;
        self.weight = weight;
        for (at, (old, new)) in (place..).zip(self.ops[place..].iter_mut().zip(change.ops())) {
            *old = new;
            let bit = 1 << (at % 64);
            if new.kind == Kind::Undecoded {
                self.decoded[at / 64] &= !bit;
            } else {
                self.decoded[at / 64] |= bit;
            }
        }
    }
}

/// What happens to a page.
#[derive(Clone)]
struct Change {
    /// From where on.
    place: usize,
    /// How many words it concerns.
    count: usize,
    /// What the first of them mean. Of others it is forgotten.
    first: [Op; MOST_OPS],
}

impl Change {
    fn ops(&self) -> impl Iterator<Item = Op> {
        let others = std::iter::repeat(Op::UNDECODED);
        self.first.into_iter().chain(others).take(self.count)
    }

    /// What a page weighs behind it.
    fn weight_behind(&self, page: &Page) -> u64 {
        let mut sum = page.weight;
        for ((place, &old), new) in (self.place..).zip(&page.ops[self.place..]).zip(self.ops()) {
            sum = sum.wrapping_sub(weight(place, old)).wrapping_add(weight(place, new));
        }
        sum
    }

    /// Whether it makes `after` of `before`.
    fn leads(&self, before: &Page, after: &Page) -> bool {
        let (start, end) = (self.place, PAGE_OPS.min(self.place + self.count));
        before.ops[..start] == after.ops[..start]
            && before.ops[end..] == after.ops[end..]
            && after.ops[start..end].iter().copied().eq(self.ops().take(end - start))
    }

    fn is(&self, other: &Self) -> bool {
        let told = self.count.min(MOST_OPS);
        (self.place, self.count) == (other.place, other.count)
            && self.first[..told] == other.first[..told]
    }
}

/// A change that has been made.
struct Step {
    before: Arc<Page>,
    change: Change,
    after: Arc<Page>,
}

/// What a host thread knows of pages.
struct Known {
    empty: Arc<Page>,
    /// What became of a page, by where that lies in memory.
    steps: Vec<Option<Box<Step>>>,
    /// Pages that there are, by weight. A core may come to one of them on another way than the first did.
    pages: Vec<Option<Arc<Page>>>,
}

thread_local! {
    static KNOWN: RefCell<Known> =
        RefCell::new(Known { empty: fresh(), steps: Vec::new(), pages: Vec::new() });
}

/// Apart, because it builds the page on the stack.
#[cold]
#[inline(never)]
fn fresh() -> Arc<Page> {
    Arc::new(Page { ops: [Op::UNDECODED; PAGE_OPS], decoded: [0; PAGE_OPS / 64], weight: 0 })
}

/// A page of which nothing is known.
pub(crate) fn empty() -> Arc<Page> {
    KNOWN.try_with(|known| Arc::clone(&known.borrow().empty)).unwrap_or_else(|_| fresh())
}

/// Notes what the words from `place` on mean, 16 at most. `remembers`: whether what others have made of the same
/// page may be taken over.
pub(crate) fn decode(page: &mut Arc<Page>, place: usize, ops: &[Op], remembers: bool) {
    let mut first = [Op::UNDECODED; MOST_OPS];
    first.iter_mut().zip(ops).for_each(|(place, &op)| *place = op);
    apply(page, Change { place, count: ops.len().min(MOST_OPS), first }, remembers);
}

/// Forgets what so many words from `place` on mean.
pub(crate) fn forget(page: &mut Arc<Page>, place: usize, count: usize, remembers: bool) {
    if count >= PAGE_OPS {
        *page = empty();
    } else if page.any_decoded(place, count) {
        let first = [Op::UNDECODED; MOST_OPS];
        apply(page, Change { place, count, first }, remembers);
    }
}

fn apply(page: &mut Arc<Page>, change: Change, remembers: bool) {
    // A thread that ends knows nothing any more.
    if !remembers || KNOWN.try_with(|_| ()).is_err() {
        let weight = change.weight_behind(page);
        return Arc::make_mut(page).apply(&change, weight);
    }
    KNOWN.with_borrow_mut(|known| {
        if known.steps.is_empty() {
            known.steps.resize_with(REMEMBERED, || None);
            known.pages.resize_with(REMEMBERED, || None);
        }
        let place_of = |number: u64| {
            // Fibonacci hashing: pages lie at equal distances.
            (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - REMEMBERED.ilog2())) as usize
        };
        let number = (Arc::as_ptr(page).addr() as u64 >> 4) + ((change.place as u64) << 32);
        let step = &mut known.steps[place_of(number)];
        if let Some(step) = step
            && Arc::ptr_eq(&step.before, page)
            && step.change.is(&change)
        {
            *page = Arc::clone(&step.after);
            return;
        }
        let weight = change.weight_behind(page);
        let same = &mut known.pages[place_of(weight)];
        let before = Arc::clone(page);
        match same {
            Some(same) if same.weight == weight && change.leads(page, same) => {
                *page = Arc::clone(same);
            }
            _ => {
                Arc::make_mut(page).apply(&change, weight);
                *same = Some(Arc::clone(page));
            }
        }
        *step = Some(Box::new(Step { before, change, after: Arc::clone(page) }));
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn op(imm: u32) -> Op {
        Op { kind: Kind::Fence, imm, ..Op::UNDECODED }
    }

    #[test]
    fn pages_that_came_about_otherwise_are_one() {
        let (mut a, mut b) = (empty(), empty());
        decode(&mut a, 0, &[op(1), op(2)], true);
        decode(&mut a, 5, &[op(3)], true);
        decode(&mut b, 5, &[op(3)], true);
        decode(&mut b, 1, &[op(2)], true);
        assert!(!Arc::ptr_eq(&a, &b));
        decode(&mut b, 0, &[op(1)], true);
        assert!(Arc::ptr_eq(&a, &b));
    }

    #[test]
    fn pages_that_went_the_same_way_are_one() {
        let go = |last| {
            let mut page = empty();
            decode(&mut page, 3, &[op(1), op(2)], true);
            decode(&mut page, 9, &[op(last)], true);
            forget(&mut page, 4, 1, true);
            page
        };
        let (a, b, other) = (go(7), go(7), go(8));
        assert!(Arc::ptr_eq(&a, &b) && !Arc::ptr_eq(&a, &other));
        assert_eq!((a.op(3), a.op(4), a.op(9), other.op(9)), (op(1), Op::UNDECODED, op(7), op(8)));
    }

    proptest! {
        /// Whatever other pages went through.
        #[test]
        fn pages_hold_what_was_put_into_them(changes in prop::collection::vec(
            (0_usize..4, any::<bool>(), 48_usize..72, 1_usize..16, 0_u32..3), 1..60,
        )) {
            let mut pages: Vec<_> = (0..4).map(|_| empty()).collect();
            let mut plain = vec![[Op::UNDECODED; PAGE_OPS]; 4];
            for (number, remembers, place, count, imm) in changes {
                let page = &mut pages[number];
                let what = if imm == 0 {
                    forget(page, place, count, remembers);
                    Op::UNDECODED
                } else {
                    decode(page, place, &vec![op(imm); count], remembers);
                    op(imm)
                };
                plain[number][place..place + count].fill(what);
                for (page, plain) in pages.iter().zip(&plain) {
                    prop_assert_eq!(page.ops(0, PAGE_OPS), &plain[..]);
                    let is_decoded = |op: &Op| op.kind != Kind::Undecoded;
                    for (from, most) in [(0, PAGE_OPS), (place, count), (60, 8), (64, 64), (5, 1000)] {
                        let any = page.ops(from, most).iter().any(is_decoded);
                        prop_assert_eq!(page.any_decoded(from, most), any);
                    }
                }
            }
        }
    }
}
