//! A watch over a host that waits: when it has done nothing but read and let time pass for a while, the
//! chip is asked whether it hangs ([`chip::Hang`]).
//!
//! Costs a look at the host's clock per call that reaches the chip; a chip at rest answers most calls
//! without being reached, so the watch says for how many it may do so.

use std::time::{Duration, Instant};

use chip::{Chip, Hang, HostPoll, Stance, TensixTile, Witness};
use sim_core::{CoreId, Cycle};

/// How long the host has to wait before a look, and what it may then be taken to do no more.
const LOOKS: [(Duration, Stance); 3] = [
    (Duration::from_millis(250), Stance::Free),
    (Duration::from_millis(300), Stance::Waits),
    (Duration::from_millis(600), Stance::Polls),
];
/// Between two looks.
const APART: Duration = Duration::from_millis(50);
/// Calls that it has to have made meanwhile: a host that is held up elsewhere does not wait for the chip.
const LEAST_CALLS: u64 = 16;
/// The longest times between looks, in times of [`LOOKS`].
const MOST_PATIENCE: u32 = 16;
/// Looks at which a debugger has cores paused before that is said.
const HELD: u32 = 3;
/// How often a look is taken again at the next calls: a core that waits by the clock is awake when its alarm
/// has gone, and a chip that is at rest until then is reached by just that call.
const TRIES: u32 = 16;
/// Different words that are remembered.
const MOST_WORDS: usize = 1024;
/// Calls that may be answered without the chip, at first and at most.
const BUDGET: std::ops::RangeInclusive<u64> = 16..=1 << 20;
/// Visits should be about so far apart.
const PACE: std::ops::Range<Duration> = Duration::from_millis(5)..Duration::from_millis(40);

/// What the host has done since it last changed anything.
#[derive(Debug)]
pub(crate) struct Vigil {
    /// When the wait began; `None` while there is none.
    since: Option<Instant>,
    /// Last call that reached the chip.
    visited: Option<Instant>,
    calls: u64,
    words: Vec<HostPoll>,
    /// Looks taken in this wait.
    looks: usize,
    /// Times that the next one has been tried.
    tries: u32,
    /// How many times as long as at first each of them has to wait.
    patience: u32,
    /// How it stood at the first of them.
    witness: Option<Witness>,
    /// The same while the first of them is taken.
    fresh: Option<Witness>,
    /// When the last look was.
    looked: Option<Instant>,
    /// A hang was said in this wait.
    has_told: bool,
    /// Who was stuck where when it was last said, and since when nobody could go on: a host that waits for the same
    /// once more, as one that gives up and closes the device does, is not told again.
    told: (Vec<(u16, u8, u32)>, Cycle),
    /// Looks at which a debugger had paused cores.
    held: u32,
    /// Calls that may go by without the chip.
    budget: u64,
    /// Whether the last time that many did.
    used_up: bool,
}

/// What a look has found.
pub(crate) enum Found {
    /// A hang.
    Hang(Box<Hang>),
    /// A debugger has paused those cores and does nothing more: the host may wait for one of them.
    Held(Vec<(TensixTile, CoreId)>),
}

impl Vigil {
    pub(crate) const fn new() -> Self {
        Self {
            since: None,
            visited: None,
            calls: 0,
            words: Vec::new(),
            looks: 0,
            tries: 0,
            patience: 1,
            witness: None,
            fresh: None,
            looked: None,
            has_told: false,
            told: (Vec::new(), Cycle(0)),
            held: 0,
            budget: *BUDGET.start(),
            used_up: false,
        }
    }

    /// The host has done more than to look: whatever it waited for, it waits anew.
    pub(crate) fn disturbed(&mut self) {
        if self.since.is_some() {
            let told = std::mem::take(&mut self.told);
            *self = Self { told, ..Self::new() };
        }
    }

    /// The host has read a word; `None` if that was no word of a tile.
    pub(crate) fn has_read(&mut self, word: Option<HostPoll>) {
        self.calls += 1;
        if let Some(word) = word
            && self.words.len() < MOST_WORDS
            && !self.words.contains(&word)
        {
            self.words.push(word);
        }
    }

    /// The host has looked, or has let time pass. Gives what is worth saying, once. `prepare` comes before a look at
    /// the chip.
    pub(crate) fn has_waited(
        &mut self,
        chip: &mut Chip,
        prepare: impl FnOnce(&mut Chip),
    ) -> Option<Found> {
        self.calls += 1;
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        self.pace(now);
        let (after, stance) = *LOOKS.get(self.looks)?;
        if now - since < after * self.patience || self.calls < LEAST_CALLS {
            return None;
        }
        // Of a core that waits by the clock something is known only after a while.
        if self.looked.is_some_and(|looked| now - looked < APART * self.patience) {
            return None;
        }
        prepare(chip);
        let known = self.witness.take().unwrap_or_default();
        let hang = chip.full_hang(stance, &self.words, &known);
        self.witness = Some(known);
        if self.looks == 0 {
            let fresh = chip.witness();
            self.fresh = Some(fresh).filter(|fresh| !fresh.is_empty()).or(self.fresh.take());
        }
        let hang = hang.filter(|hang| self.is_new(hang));
        self.tries += 1;
        if hang.is_none() && self.tries < TRIES {
            return None;
        }
        self.tries = 0;
        self.has_looked(now);
        let Some(hang) = hang else { return self.held(chip).map(Found::Held) };
        (self.told, self.has_told) = ((hang.key(), hang.closed), true);
        self.looks = LOOKS.len();
        Some(Found::Hang(Box::new(hang)))
    }

    /// Whether it is not the one that was last said. Without those whom a debugger has paused since, and whom they
    /// hold, it is a part of that.
    fn is_new(&self, hang: &Hang) -> bool {
        let (told, closed) = &self.told;
        let key = hang.key();
        if hang.paused().next().is_some() {
            !key.iter().all(|stuck| told.contains(stuck))
        } else {
            (&key, &hang.closed) != (told, closed)
        }
    }

    /// Cores that a debugger has paused, if it has been so for some looks: none of those finds a hang.
    fn held(&mut self, chip: &mut Chip) -> Option<Vec<(TensixTile, CoreId)>> {
        let paused: Vec<_> = chip.standing().paused().collect();
        if paused.is_empty() {
            return None;
        }
        self.held += 1;
        (self.held == HELD).then_some(paused)
    }

    /// After the last look they begin again, each time after twice as long: what hangs in the end may have
    /// been at work, or have rested until an alarm, at all of them.
    fn has_looked(&mut self, now: Instant) {
        if self.looks == 0 {
            self.witness = Some(self.fresh.take().unwrap_or_default());
        }
        self.looked = Some(now);
        self.looks += 1;
        if self.looks == LOOKS.len() {
            self.looks = 0;
            self.since = Some(now);
            self.patience = (2 * self.patience).min(MOST_PATIENCE);
        }
    }

    /// Whether a hang has been told in this wait.
    pub(crate) const fn has_told(&self) -> bool {
        self.has_told
    }

    /// The words that the host has read since it last changed anything.
    pub(crate) fn words(&self) -> &[HostPoll] {
        &self.words
    }

    /// Whether most of the budget was used since the last visit. A chip that rests for moments only, as one
    /// with a core that waits by the clock, is visited for its own sake, and that says nothing about the host's pace.
    pub(crate) const fn was_left(&mut self, used_up: bool) {
        self.used_up = used_up;
    }

    /// Few enough calls without the chip that visits come often, and not more often than that.
    fn pace(&mut self, now: Instant) {
        let apart = self.visited.replace(now).map_or(Duration::ZERO, |before| now - before);
        if apart < PACE.start && self.used_up {
            self.budget = (self.budget * 2).min(*BUDGET.end());
        } else if apart > PACE.end {
            self.budget = (self.budget / 2).max(*BUDGET.start());
        }
    }

    /// Calls that may be answered without the chip until the next visit.
    pub(crate) const fn budget(&self) -> u64 {
        if self.tries == 0 { self.budget } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel may hang long after its host has begun to wait.
    #[test]
    fn looks_begin_again_after_the_last_one_at_longer_times() {
        let mut vigil = Vigil::new();
        let now = Instant::now();
        for round in 1..=8 {
            for _ in LOOKS {
                assert!(LOOKS.get(vigil.looks).is_some());
                vigil.has_looked(now);
            }
            assert_eq!(vigil.patience, (1 << round).min(MOST_PATIENCE));
        }
    }

    /// A chip that rests for a moment at a time is reached by nearly every call: the budget must not grow
    /// meanwhile, or the host would be out of sight for as many calls once the chip rests for good.
    #[test]
    fn budget_grows_only_when_it_is_used() {
        let mut vigil = Vigil::new();
        let now = Instant::now();
        for _ in 0..100 {
            vigil.was_left(false);
            vigil.pace(now);
        }
        assert_eq!(vigil.budget(), *BUDGET.start());
        vigil.was_left(true);
        vigil.pace(now);
        assert_eq!(vigil.budget(), 2 * *BUDGET.start());
    }
}
