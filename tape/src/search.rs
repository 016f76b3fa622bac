//! Where to copy from: the earlier occurrence of a call before which most was the same as now.
//!
//! The occurrence that comes to mind, the last one, can be wrong forever: of `A A B B A A B B ...` the
//! last `A` is followed by another call than this one each second time. In a periodic sequence the
//! one before which everything was the same lies whole periods back, and a copy from there never
//! ends. It is found with the Z function of the calls from now backwards, in a time that grows with
//! how far back it looks; so how often that may happen is paid for by the calls in between.

use crate::fold::{REACH, Ring};

/// The first search after a deep one looks so far back.
const SHALLOW: usize = 64;
/// What a call earns, in calls that a search may look at. Of a few words in any order, the worst that
/// a host can do, a call costs 45 to 50 ns so, and 60 to 70 with 4 (`benches/calls.rs`).
const EARNED: usize = 2;

#[derive(Clone)]
pub(crate) struct Search {
    credit: usize,
    depth: usize,
    /// The calls from now backwards.
    calls: Vec<u32>,
    /// How many of them are the same as from there backwards.
    same: Vec<u16>,
}

impl Search {
    pub(crate) fn new() -> Self {
        Self { credit: REACH, depth: SHALLOW, calls: Vec::new(), same: Vec::new() }
    }

    /// A call went by.
    #[inline]
    pub(crate) fn earn(&mut self) {
        self.credit = (self.credit + EARNED).min(2 * REACH);
    }

    /// The distance of the occurrence of `number` with most of the same before it, the nearest of
    /// several; `None` if there is none or it is too soon to look.
    pub(crate) fn longest(&mut self, ring: &Ring, number: u32) -> Option<u64> {
        if self.credit < self.depth {
            return None;
        }
        let depth = self.depth.min(ring.position as usize);
        self.credit -= self.depth;
        self.depth = if self.depth >= REACH { SHALLOW } else { self.depth * 4 };
        self.calls.clear();
        self.calls.push(number);
        self.calls.extend((1..=depth as u64).map(|distance| ring.at(distance).0));
        self.fill_same();
        let mut best = None;
        for (distance, &same) in self.same.iter().enumerate().skip(1) {
            if same > best.map_or(0, |(same, _)| same) {
                best = Some((same, distance as u64));
            }
        }
        best.map(|(_, distance)| distance)
    }

    /// The Z function: `same[n]` calls from `n` on are those from 0 on.
    fn fill_same(&mut self) {
        let calls = &self.calls;
        self.same.clear();
        self.same.resize(calls.len(), 0);
        // What is known to be equal to the beginning, and reaches furthest.
        let (mut start, mut end) = (0, 0);
        for at in 1..calls.len() {
            let mut length = 0;
            if at < end {
                length = usize::from(self.same[at - start]).min(end - at);
            }
            while at + length < calls.len() && calls[length] == calls[at + length] {
                length += 1;
            }
            self.same[at] = length as u16;
            if at + length > end {
                (start, end) = (at, at + length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the definition, on all short sequences of two calls.
    #[test]
    fn longest_is_the_longest_by_definition() {
        for bits in 0_u32..1 << 12 {
            let mut ring = Ring::new();
            let calls: Vec<u32> = (0..12).map(|at| 2 + (bits >> at & 1)).collect();
            calls.iter().for_each(|&call| ring.push(call, 0));
            let now = 2;
            let same = |distance: usize| {
                let whole: Vec<u32> = calls.iter().copied().chain([now]).collect();
                let (end, earlier) = (whole.len(), whole.len() - distance);
                (0..earlier).take_while(|&n| whole[end - 1 - n] == whole[earlier - 1 - n]).count()
            };
            let best =
                (1..=12).map(|distance| (same(distance), distance)).filter(|best| best.0 > 0);
            let best = best.max_by_key(|&(same, distance)| (same, usize::MAX - distance));
            let found = Search::new().longest(&ring, now);
            assert_eq!(found, best.map(|(_, distance)| distance as u64), "{bits:b}");
        }
    }
}
