//! Snapshots along a run, close together where one is and ever further apart away from there.

use std::collections::BTreeMap;

use sim_core::Cycle;

/// Snapshots by cycle, a bounded number of them.
#[derive(Clone, Debug)]
pub struct History<S> {
    kept: BTreeMap<Cycle, S>,
    most: usize,
}

impl<S> History<S> {
    /// Room for so many snapshots, at least four.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { kept: BTreeMap::new(), most: most.max(4) }
    }

    /// Keeps a snapshot. If there are too many, one goes: never the first, and one whose neighbours
    /// are close to each other for how far away from this one they are.
    pub fn keep(&mut self, at: Cycle, snapshot: S) {
        self.kept.insert(at, snapshot);
        while self.kept.len() > self.most {
            let Some(least) = self.least_missed(at) else { return };
            self.kept.remove(&least);
        }
    }

    /// Whose loss would cost least: the gap it leaves, by its distance from `here`.
    fn least_missed(&self, here: Cycle) -> Option<Cycle> {
        let cycles: Vec<Cycle> = self.kept.keys().copied().collect();
        let cost = |window: &[Cycle]| match *window {
            [before, at, behind] if at != here => {
                let (gap, away) = (behind.0 - before.0, here.0.abs_diff(at.0).max(1));
                // Sixteen bits of fraction are enough to compare gaps, and do not overflow.
                Some((u128::from(gap) << 16) / u128::from(away))
            }
            _ => None,
        };
        let inner = cycles.windows(3).filter_map(|window| Some((cost(window)?, window[1])));
        inner.min().map(|(_, at)| at)
    }

    /// The last snapshot at or before a cycle.
    #[must_use]
    pub fn before(&self, cycle: Cycle) -> Option<(Cycle, &S)> {
        self.kept.range(..=cycle).next_back().map(|(&at, snapshot)| (at, snapshot))
    }

    /// All of them, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Cycle, &S)> {
        self.kept.iter().map(|(&at, snapshot)| (at, snapshot))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_is_bounded_and_keeps_the_first_and_the_last() {
        let mut history = History::new(32);
        for step in 0..10_000_u64 {
            history.keep(Cycle(step * 1000), step);
        }
        assert_eq!(history.len(), 32);
        assert_eq!(history.before(Cycle(0)), Some((Cycle(0), &0)));
        assert_eq!(history.before(Cycle(u64::MAX)), Some((Cycle(9_999_000), &9_999)));
    }

    /// How far one has to run from the nearest snapshot is at most in proportion to how far away
    /// one goes.
    #[test]
    fn gaps_grow_with_the_distance() {
        let mut history = History::new(48);
        let last = 100_000_u64;
        for step in 0..=last {
            history.keep(Cycle(step), ());
        }
        for back in 1..last {
            let wanted = Cycle(last - back);
            let (at, ()) = history.before(wanted).expect("the first is kept");
            assert!(wanted.0 - at.0 <= back, "{back} back: from {at:?}");
        }
    }
}
