//! A hint for hosts that wait on a chip at work that gets nowhere: a loop that stores, or looks at a clock,
//! cannot be proved to hang.
//!
//! `TILESCOPE_NO_PROGRESS` says after how many cycles, or seconds (`30s`), or `off`.

use std::time::{Duration, Instant};

use chip::{Chip, HostPoll, Moving, Pulse};

/// Unless told otherwise: a fifth of a second of the device, in which any kernel that is known sends, counts
/// or computes something.
const CYCLES: u64 = 1 << 28;
/// Pulses that have to be alike within the limit.
const PULSES: u64 = 8;

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
}

/// A cycle, and the time if the limit is one.
type Moment = (u64, Option<Instant>);

/// A stretch without progress.
#[derive(Debug)]
struct Stretch {
    began: Moment,
    looked: Moment,
    pulse: Option<Pulse>,
    alike: u64,
}

/// A watch over a chip at work.
#[derive(Debug)]
pub(crate) struct Rounds {
    limit: Limit,
    stretch: Option<Stretch>,
    told: bool,
}

/// The cores that go round, and since which cycle.
pub(crate) type Hint = (Vec<Moving>, u64);

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

    /// The host has done more than to wait.
    pub(crate) fn disturbed(&mut self) {
        self.stretch = None;
    }

    /// The host waits, and reads those words. Gives the hint, once. A pulse is a look at much memory, so the
    /// first is taken when a part of the limit has passed.
    pub(crate) fn has_waited(&mut self, chip: &mut Chip, polls: &[HostPoll]) -> Option<Hint> {
        if self.told || self.limit == Limit::Never || chip.rests_until().is_some() {
            return None;
        }
        let now = self.now(chip);
        let Some(stretch) = &self.stretch else {
            self.stretch = Some(Stretch { began: now, looked: now, pulse: None, alike: 0 });
            return None;
        };
        if !self.is_due(stretch.looked, now, PULSES) {
            return None;
        }
        let found = chip.pulse(polls);
        let stretch = self.stretch.take()?;
        let (pulse, moving) = found?;
        let is_like = stretch.pulse.as_ref().is_some_and(|before| before.is_like(&pulse));
        let (began, alike) = if is_like { (stretch.began, stretch.alike + 1) } else { (now, 0) };
        if alike >= PULSES && self.is_due(began, now, 1) {
            self.told = true;
            return Some((moving, began.0));
        }
        self.stretch = Some(Stretch { began, looked: now, pulse: Some(pulse), alike });
        None
    }

    /// The cycle, and the time if that is what counts.
    fn now(&self, chip: &Chip) -> Moment {
        let time = matches!(self.limit, Limit::Time(_)).then(Instant::now);
        (chip.now().0, time)
    }

    /// Whether a part of the limit has passed since a moment.
    fn is_due(&self, since: Moment, now: Moment, parts: u64) -> bool {
        match (self.limit, since.1.zip(now.1)) {
            (Limit::Cycles(cycles), _) => now.0 - since.0 >= cycles / parts,
            (Limit::Time(time), Some((since, now))) => now - since >= time / parts as u32,
            _ => false,
        }
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
