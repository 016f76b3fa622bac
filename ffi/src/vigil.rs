//! A watch over a host that waits: when it has done nothing but read and let time pass for a while, the
//! chip is asked whether it hangs ([`chip::Hang`]).
//!
//! Costs a look at the host's clock per call that reaches the chip; a chip at rest answers most calls
//! without being reached, so the watch says for how many it may do so.

use std::time::{Duration, Instant};

use chip::{Chip, Hang, HostPoll, Stance, Witness};

/// How long the host has to wait before a look, and what it may then be taken to do no more.
const LOOKS: [(Duration, Stance); 3] = [
    (Duration::from_millis(250), Stance::Free),
    (Duration::from_millis(300), Stance::Waits),
    (Duration::from_millis(600), Stance::Polls),
];
/// Calls that it has to have made meanwhile: a host that is held up elsewhere does not wait for the chip.
const LEAST_CALLS: u64 = 16;
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
    /// How it stood at the first of them.
    witness: Option<Witness>,
    /// Who was stuck where when it was last said.
    told: Vec<(u16, u8, u32)>,
    /// Calls that may go by without the chip.
    budget: u64,
}

impl Vigil {
    pub(crate) const fn new() -> Self {
        Self {
            since: None,
            visited: None,
            calls: 0,
            words: Vec::new(),
            looks: 0,
            witness: None,
            told: Vec::new(),
            budget: *BUDGET.start(),
        }
    }

    /// The host has done more than to look: whatever it waited for, it waits anew.
    pub(crate) fn disturbed(&mut self) {
        if self.since.is_some() {
            *self = Self::new();
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

    /// The host has looked, or has let time pass. Gives a hang that is worth saying, once.
    pub(crate) fn has_waited(&mut self, chip: &mut Chip) -> Option<Hang> {
        self.calls += 1;
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        self.pace(now);
        let (after, stance) = *LOOKS.get(self.looks)?;
        if now - since < after || self.calls < LEAST_CALLS {
            return None;
        }
        let known = self.witness.take().unwrap_or_default();
        let hang = chip.hang(stance, &self.words, &known);
        self.witness = Some(if self.looks == 0 { chip.witness() } else { known });
        // While the chip is at work it is looked at again, each time after twice as long.
        self.looks += 1;
        if chip.rests_until().is_none() && self.looks == LOOKS.len() {
            self.looks = 0;
            self.since = Some(now);
        }
        let hang = hang.filter(|hang| hang.key() != self.told)?;
        self.told = hang.key();
        self.looks = LOOKS.len();
        Some(hang)
    }

    /// Few enough calls without the chip that visits come often, and not more often than that.
    fn pace(&mut self, now: Instant) {
        let apart = self.visited.replace(now).map_or(Duration::ZERO, |before| now - before);
        if apart < PACE.start {
            self.budget = (self.budget * 2).min(*BUDGET.end());
        } else if apart > PACE.end {
            self.budget = (self.budget / 2).max(*BUDGET.start());
        }
    }

    /// Calls that may be answered without the chip until the next visit.
    pub(crate) const fn budget(&self) -> u64 {
        self.budget
    }
}
