//! Stretches of code that are decoded at a time.
//!
//! Nearly all instructions of a firmware that starts are executed once, so what will probably be
//! executed next is decoded along with a word that is new. And each of 140 tiles executes the same
//! firmware: what a stretch of words meant is remembered, and the next tile only compares the words.

use std::cell::RefCell;
use std::sync::Arc;

use sim_core::{Shared, Shortcut, Store, Width};

use crate::decode::decode;
use crate::hart::Hart;
use crate::icache::IcacheModel;
use crate::op::{Kind, Op};
use crate::pages::Page;
use crate::poll;

/// Most words that are decoded at a time.
const STRETCH: usize = 16;
/// Places for stretches that are remembered, a power of two; five firmwares and kernels have some 500.
const REMEMBERED: usize = 4096;

/// Words from an address on, and what they mean.
struct Stretch {
    pc: u32,
    count: usize,
    words: [u32; STRETCH],
    ops: [Op; STRETCH],
    /// Which of them may close a polling loop, which depends on words that are not in the stretch.
    may_close: u32,
    /// What became of a page that so many words of it were decoded into. The next tile's core has the same one,
    /// most likely.
    led: Option<(usize, Arc<Page>, Arc<Page>)>,
}

impl Stretch {
    const EMPTY: Self = Self {
        pc: 0,
        count: 0,
        words: [0; STRETCH],
        ops: [Op::UNDECODED; STRETCH],
        may_close: 0,
        led: None,
    };

    /// Decodes words from `pc` on, up to where execution certainly goes elsewhere.
    fn of(pc: u32, words: &[u32]) -> Self {
        let mut stretch = Self { pc, ..Self::EMPTY };
        for (&word, at) in words.iter().zip((pc..).step_by(4)) {
            let (op, number) = (decode(word, at), stretch.count);
            (stretch.words[number], stretch.ops[number]) = (word, op);
            stretch.may_close |= u32::from(poll::may_close(op, at)) << number;
            stretch.count += 1;
            if leads_away(op) {
                break;
            }
        }
        stretch
    }

    /// How many of the words from `pc` on are decoded together, if it is known what they mean. Just as
    /// many as [`Stretch::of`] would: what was decoded elsewhere before must not show.
    fn recall(&self, pc: u32, words: &[u32]) -> Option<usize> {
        let count = self.count.min(words.len());
        let is_known = self.pc == pc && self.words[..count] == words[..count];
        let last = *self.ops[..count].last()?;
        (is_known && (count == words.len() || leads_away(last))).then_some(count)
    }
}

/// Whether what lies behind the instruction is not executed next, or is no code.
const fn leads_away(op: Op) -> bool {
    matches!(op.kind, Kind::Jal | Kind::Jalr | Kind::Illegal | Kind::Ebreak | Kind::Trap)
}

thread_local! {
    /// What this host thread decoded of late.
    static KNOWN: RefCell<Vec<Option<Box<Stretch>>>> = const { RefCell::new(Vec::new()) };
}

/// Shows what the words from `pc` on mean, as many as are looked at together.
/// `remembers`: whether what is known already may be used.
fn with_stretch<R>(
    remembers: bool,
    pc: u32,
    words: &[u32],
    work: impl FnOnce(&mut Stretch, usize) -> R,
) -> R {
    // A thread that ends remembers nothing any more.
    if !remembers || KNOWN.try_with(|_| ()).is_err() {
        let mut stretch = Stretch::of(pc, words);
        let count = stretch.count;
        return work(&mut stretch, count);
    }
    KNOWN.with_borrow_mut(|known| {
        if known.is_empty() {
            known.resize_with(REMEMBERED, || None);
        }
        // Fibonacci hashing: firmwares begin at round addresses.
        let place = (pc >> 2).wrapping_mul(0x9E37_79B1) >> (32 - REMEMBERED.ilog2());
        let stretch = known[place as usize].get_or_insert_with(|| Box::new(Stretch::EMPTY));
        let count = stretch.recall(pc, words).unwrap_or_else(|| {
            **stretch = Stretch::of(pc, words);
            stretch.count
        });
        work(stretch, count)
    })
}

impl Hart {
    /// The instruction at `pc`, whose page is open; `stores` are posted.
    pub(crate) fn decoded(&mut self, stores: &[Store], shared: &Shared, pc: u32) -> Op {
        match self.icache.op(pc) {
            Some(op) if op.kind != Kind::Undecoded => op,
            _ => self.decode_from(stores, shared, pc),
        }
    }

    /// Decodes the word at `pc` and what will probably be executed behind it.
    ///
    /// A store to one of those words puts it back, from the next epoch on, and in this one it is seen by
    /// words decoded later. So how many are decoded together depends on nothing but the core and its
    /// code; and in the stale model, where it matters when a word is looked at, it is one.
    #[cold]
    pub(crate) fn decode_from(&mut self, stores: &[Store], shared: &Shared, pc: u32) -> Op {
        let is_stale = self.icache.model == IcacheModel::Stale;
        let most = self.icache.undecoded(pc, if is_stale { 1 } else { STRETCH }).max(1);
        let mut words = [0; STRETCH];
        shared.l1.read_words(pc, &mut words[..most]);
        if self.stored_words != 0 {
            for (word, at) in words[..most].iter_mut().zip((pc..).step_by(4)) {
                *word = self.read_l1(stores, shared, at, Width::Word);
            }
        }
        if is_stale {
            self.icache.set_word(pc, words[0]);
        }
        let remembers = self.config.shortcuts.has(Shortcut::Stretches);
        with_stretch(remembers, pc, &words[..most], |stretch, count| {
            let marks = if self.config.marks_polls() { stretch.may_close } else { 0 };
            let mut left = marks & u32::MAX >> (32 - count);
            // Without a mark, which depends on words elsewhere, the same page becomes the same.
            if left == 0
                && let Some((words, before, after)) = &stretch.led
                && *words == count
                && let Some(page) = self.icache.shared_page(pc)
                && Arc::ptr_eq(page, before)
            {
                *page = Arc::clone(after);
                return stretch.ops[0];
            }
            let is_plain = remembers && left == 0;
            let before = if is_plain { self.icache.shared_page(pc).cloned() } else { None };
            let mut ops = stretch.ops;
            while left != 0 {
                let number = left.trailing_zeros();
                left &= left - 1;
                let at = pc.wrapping_add(4 * number);
                let fetch = |at| decode(self.read_l1(stores, shared, at, Width::Word), at);
                ops[number as usize] = poll::mark(ops[number as usize], at, fetch);
            }
            self.icache.set(pc, &ops[..count], remembers);
            if let Some(before) = before
                && let Some(after) = self.icache.shared_page(pc)
            {
                stretch.led = Some((count, before, Arc::clone(after)));
            }
            ops[0]
        })
    }
}

#[cfg(test)]
mod tests {
    use isa::asm::{addi, beq, j, jal, lui, sw};
    use proptest::prelude::*;

    use super::*;

    /// What the words mean one by one, up to one that leads away.
    fn decoded(pc: u32, words: &[u32]) -> Vec<Op> {
        let ops = words.iter().zip((pc..).step_by(4)).map(|(&word, at)| decode(word, at));
        let mut ops: Vec<Op> = ops.collect();
        let end = ops.iter().position(|&op| leads_away(op)).map_or(ops.len(), |last| last + 1);
        ops.truncate(end);
        ops
    }

    fn ops(pc: u32, words: &[u32]) -> Vec<Op> {
        with_stretch(true, pc, words, |stretch, count| stretch.ops[..count].to_vec())
    }

    #[test]
    fn a_stretch_ends_where_execution_goes_elsewhere() {
        let words = [addi(1, 1, 1), beq(1, 0, 8), jal(1, 64), addi(1, 1, 1)];
        assert_eq!(ops(0x400, &words).len(), 3);
        for words in [&words[..], &words[..2], &words[..1], &words[..2], &words] {
            assert_eq!(ops(0x400, words), decoded(0x400, words), "whatever was asked before");
        }
        let changed = [words[0], addi(2, 2, 2), words[2], words[3]];
        assert_eq!(ops(0x400, &changed), decoded(0x400, &changed));
    }

    proptest! {
        /// Whatever was decoded before, at this or another place.
        #[test]
        fn words_mean_what_they_mean_one_by_one(looks in prop::collection::vec(
            (
                prop::sample::select(vec![0_u32, 0x40, 0x1040, 0x16_FFC0]),
                prop::collection::vec(
                    prop::sample::select(vec![
                        0, 0xFFFF_FFFF, 0x17, 0x2063, addi(1, 2, 3), lui(4, 0x5000), sw(1, 2, 3),
                        beq(1, 2, -8), j(-4), 0x0000_1517,
                    ]),
                    1..=STRETCH,
                ),
            ),
            1..40,
        )) {
            for (pc, words) in looks {
                prop_assert_eq!(ops(pc, &words), decoded(pc, &words));
            }
        }
    }
}
