//! A hint for hosts that wait on a chip at work that gets nowhere: a loop that stores, looks at a clock, or asks
//! another tile again and again cannot be proved to hang.
//!
//! `TILESCOPE_NO_PROGRESS` says after how many cycles, or seconds (`30s`), or `off`. A host that gives up before, as one
//! with a time limit of its own does, is told when it does something else, if it has waited for some seconds.

use std::time::{Duration, Instant};

use chip::{Chip, HostPoll, Likeness, Moving, Pulse};
use session::Hint;
use sim_core::Cycle;

/// Unless told otherwise: a fifth of a second of the device, in which any kernel that is known sends, counts
/// or computes something.
const CYCLES: u64 = 1 << 28;
/// Pulses that have to be alike within the limit.
const PULSES: u64 = 8;
/// Pulses that have to be like the one before when a host gives up.
const GIVEN_UP: u64 = 2;
/// Who has not moved for so many cycles then has come to its end, or hangs.
const LATELY: u64 = 1 << 14;
/// Pulses are taken so often at least, but where they take more than one part in so many of the time.
const APART: Duration = Duration::from_secs(1);
const SHARE: u32 = 50;

/// When the hint is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    Never,
    Cycles(u64),
    Time(Duration),
}

impl Limit {
    fn parse(text: &str) -> Option<Self> {
        match (text, text.strip_suffix('s')) {
            ("off" | "0", _) => Some(Self::Never),
            (_, Some(seconds)) => seconds.parse().ok().map(|s| Self::Time(Duration::from_secs(s))),
            _ => text.parse().ok().map(Self::Cycles),
        }
    }

    /// Whether a part of it has passed since a moment.
    fn is_over(self, since: Moment, now: Moment, parts: u64) -> bool {
        match self {
            Self::Never => false,
            Self::Cycles(cycles) => now.0 - since.0 >= cycles / parts,
            Self::Time(time) => now.1 - since.1 >= time / parts as u32,
        }
    }
}

/// A cycle, and the time.
type Moment = (u64, Instant);

/// Pulses in a row that are alike.
#[derive(Debug)]
struct Row {
    began: Moment,
    alike: u64,
}

impl Row {
    const fn new(now: Moment) -> Self {
        Self { began: now, alike: 0 }
    }

    /// Takes a pulse that is like the one before, or not; whether it is.
    fn take(&mut self, now: Moment, is_alike: bool) -> bool {
        if is_alike {
            self.alike += 1;
        } else {
            *self = Self::new(now);
        }
        is_alike
    }
}

/// A wait of the host.
#[derive(Debug)]
struct Stretch {
    looked: Moment,
    /// The next pulse is taken when so much time has passed, if none was due before.
    patience: Duration,
    pulse: Option<Pulse>,
    /// Nothing but rounds of loops.
    rounds: Row,
    /// Requests, counts and computations too, but hardly any memory that changes.
    memory: Row,
    /// Where cores have been seen since `memory` began.
    seen: Vec<Moving>,
}

impl Stretch {
    const fn new(now: Moment) -> Self {
        let (rounds, memory) = (Row::new(now), Row::new(now));
        Self { looked: now, patience: APART, pulse: None, rounds, memory, seen: Vec::new() }
    }

    /// Takes a pulse, and who has moved since the one before.
    fn take(&mut self, now: Moment, pulse: Pulse, moving: &[Moving]) {
        let likeness = self.pulse.as_ref().map_or(Likeness::None, |before| before.likeness(&pulse));
        self.rounds.take(now, likeness == Likeness::All);
        if !self.memory.take(now, likeness >= Likeness::Memory) {
            self.seen.clear();
        }
        let is_new = |one: &&Moving| !self.seen.contains(one);
        let new: Vec<Moving> = moving.iter().filter(is_new).copied().collect();
        self.seen.extend(new);
        (self.pulse, self.looked) = (Some(pulse), now);
        self.patience = APART.max(now.1.elapsed() * SHARE);
    }

    /// What is said of memory that hardly changes.
    fn memory(&self) -> Hint {
        let moving = self.seen.clone();
        Hint { since: Cycle(self.memory.began.0), moving, only_rounds: false }
    }
}

/// A watch over a chip at work.
#[derive(Debug)]
pub(crate) struct Rounds {
    limit: Limit,
    stretch: Option<Stretch>,
    told: bool,
}

impl Rounds {
    pub(crate) const fn new() -> Self {
        Self { limit: Limit::Cycles(CYCLES), stretch: None, told: false }
    }

    /// As the environment wishes; and what is wrong with the wish, if anything.
    pub(crate) fn from_env() -> (Self, Option<String>) {
        let mut rounds = Self::new();
        let Ok(text) = std::env::var("TILESCOPE_NO_PROGRESS") else { return (rounds, None) };
        let complaint = match Limit::parse(&text) {
            Some(limit) => {
                rounds.limit = limit;
                None
            }
            None => Some(format!(
                "TILESCOPE_NO_PROGRESS={text:?} is neither a number of cycles nor of seconds (30s) nor off"
            )),
        };
        (rounds, complaint)
    }

    /// The host, which has read those words, does more than to wait: what is known of its wait, if it has given up
    /// and not what it waited for has come.
    pub(crate) fn disturbed(&mut self, chip: &mut Chip, polls: &[HostPoll]) -> Option<Hint> {
        let stretch = self.stretch.take()?;
        if self.told || stretch.memory.alike < GIVEN_UP {
            return None;
        }
        let lately = stretch.looked.0.max(chip.now().0.saturating_sub(LATELY));
        let (now, _) = chip.pulse(polls, Cycle(lately))?;
        if stretch.pulse.as_ref()?.likeness(&now) < Likeness::Memory {
            return None;
        }
        self.told = true;
        Some(stretch.memory())
    }

    /// The host waits, and reads those words. Gives the hint, once. A pulse is a look at much memory, so the
    /// first is taken when a part of the limit has passed.
    pub(crate) fn has_waited(&mut self, chip: &mut Chip, polls: &[HostPoll]) -> Option<Hint> {
        if self.told || self.limit == Limit::Never || chip.rests_until().is_some() {
            return None;
        }
        let now = (chip.now().0, Instant::now());
        let Some(stretch) = &mut self.stretch else {
            self.stretch = Some(Stretch::new(now));
            return None;
        };
        let is_due = self.limit.is_over(stretch.looked, now, PULSES);
        if !is_due && now.1 - stretch.looked.1 < stretch.patience {
            return None;
        }
        let Some((pulse, moving)) = chip.pulse(polls, Cycle(stretch.looked.0)) else {
            self.stretch = None;
            return None;
        };
        stretch.take(now, pulse, &moving);
        let is_over = |row: &Row| row.alike >= PULSES && self.limit.is_over(row.began, now, 1);
        let hint = if is_over(&stretch.rounds) {
            let moving = moving.into_iter().filter(|one| !one.waits).collect();
            Hint { since: Cycle(stretch.rounds.began.0), moving, only_rounds: true }
        } else if is_over(&stretch.memory) {
            stretch.memory()
        } else {
            return None;
        };
        self.told = true;
        Some(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_cycles_or_seconds_or_none() {
        assert_eq!(Limit::parse("5000"), Some(Limit::Cycles(5000)));
        assert_eq!(Limit::parse("30s"), Some(Limit::Time(Duration::from_secs(30))));
        assert_eq!(Limit::parse("off"), Some(Limit::Never));
        assert_eq!(Limit::parse("soon"), None);
    }
}
