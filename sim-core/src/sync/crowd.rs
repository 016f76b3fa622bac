//! Whether others want the host's processors too.
//!
//! Threads that share out rounds of microseconds gain nothing on a busy host: whoever finishes first waits for one that
//! is not running. A thread notices it when it waits: it lets others have its processor, and gets it back at once only
//! where nobody wants it. A crew that loses much that way works alone for a while, then tries again. The only place in
//! the simulated crates that looks at the host's clock: which thread does what must not matter to any result.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Looks between which a thread that waits lets others of the host have its processor.
const LOOKS: u32 = 256;
/// A thread that comes back no later has only been interrupted.
const INTERRUPTION: Duration = Duration::from_micros(50);
/// Rounds of so much time in all are judged at once: what others do for a moment now and then is no reason.
const JUDGED: Duration = Duration::from_millis(16);
/// Part of that time, of each thread, that may be lost to others: a quarter. Two threads on two processors lose nothing
/// on a quiet host, a tenth to somebody who works for a fifth of the time, and nearly half to another pair.
const TOLERABLE: u32 = 4;
/// How long a crew works alone the first time, and at most: it doubles as long as nothing changes.
const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(320);

/// Time that threads have lost to others while they waited, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Lost(AtomicU64);

impl Lost {
    /// Waits a moment, for the look of that number at something.
    #[inline]
    pub(super) fn pause(&self, look: u32) {
        if look % LOOKS == LOOKS - 1 {
            self.let_others();
        } else {
            std::hint::spin_loop();
        }
    }

    /// Where nobody else wants the processor this is nothing, and where somebody does, what is waited for is most likely
    /// not being done.
    fn let_others(&self) {
        let before = Instant::now();
        std::thread::yield_now();
        let gone = before.elapsed();
        if gone > INTERRUPTION {
            self.0.fetch_add(gone.as_nanos() as u64, Ordering::Relaxed);
        }
    }

    fn take(&self) -> Duration {
        Duration::from_nanos(self.0.swap(0, Ordering::Relaxed))
    }
}

/// Decides for each round whether it is shared out.
#[derive(Debug)]
pub(super) struct Crowd {
    /// Time of the shared rounds that are not judged yet.
    shared: Duration,
    alone_until: Option<Instant>,
    /// How long it will be alone, should it be crowded.
    rest: Duration,
    /// Of the round under way.
    begin: Option<Instant>,
}

impl Crowd {
    /// Nobody else.
    pub(super) fn new() -> Self {
        Self { shared: Duration::ZERO, alone_until: None, rest: SHORTEST, begin: None }
    }

    /// A round begins: whether it is better not shared.
    pub(super) fn begin(&mut self) -> bool {
        let now = Instant::now();
        self.begin = Some(now);
        self.is_crowded(now)
    }

    /// A shared round of so many threads has ended.
    pub(super) fn end(&mut self, threads: usize, lost: &Lost) {
        let now = Instant::now();
        if let Some(begin) = self.begin.take() {
            self.judge(now - begin, now, threads, lost);
        }
    }

    fn is_crowded(&mut self, now: Instant) -> bool {
        self.alone_until = self.alone_until.filter(|until| now < *until);
        self.alone_until.is_some()
    }

    fn judge(&mut self, took: Duration, end: Instant, threads: usize, lost: &Lost) {
        self.shared += took;
        if self.shared < JUDGED {
            return;
        }
        let shared = std::mem::take(&mut self.shared) * threads as u32;
        if lost.take() * TOLERABLE > shared {
            self.alone_until = Some(end + self.rest);
            self.rest = LONGEST.min(self.rest * 2);
        } else {
            self.rest = SHORTEST;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long the crew will be alone after a round as long as a judgement, of two threads that lost so much.
    fn rest_after(crowd: &mut Crowd, lost: Duration, now: Instant) -> Duration {
        crowd.alone_until = None;
        crowd.judge(JUDGED, now, 2, &Lost(AtomicU64::new(lost.as_nanos() as u64)));
        crowd.alone_until.map_or(Duration::ZERO, |until| until - now)
    }

    #[test]
    fn crew_that_loses_much_is_alone_for_longer_and_longer() {
        let (mut crowd, now) = (Crowd::new(), Instant::now());
        let little = JUDGED * 2 / TOLERABLE;
        let much = little + JUDGED / 100;
        assert_eq!(rest_after(&mut crowd, little, now), Duration::ZERO);
        let rests = [(); 6].map(|()| rest_after(&mut crowd, much, now));
        assert_eq!(rests, [20, 40, 80, 160, 320, 320].map(Duration::from_millis));
        assert!(crowd.is_crowded(now) && crowd.is_crowded(now + LONGEST - SHORTEST));
        assert!(!crowd.is_crowded(now + LONGEST), "it is over");
        assert!(!crowd.is_crowded(now), "and does not come back");
        assert_eq!(rest_after(&mut crowd, little, now), Duration::ZERO);
        assert_eq!(rest_after(&mut crowd, much, now), SHORTEST, "it was quiet in between");
    }

    #[test]
    fn short_rounds_are_judged_together() {
        let (mut crowd, now) = (Crowd::new(), Instant::now());
        let lost = Lost(AtomicU64::new(JUDGED.as_nanos() as u64));
        let round = JUDGED / 3;
        crowd.judge(round, now, 2, &lost);
        crowd.judge(round, now, 2, &lost);
        assert!(!crowd.is_crowded(now), "too early to say");
        crowd.judge(round * 2, now, 2, &lost);
        assert!(crowd.is_crowded(now));
        assert_eq!(lost.take(), Duration::ZERO, "what is judged is forgotten");
    }
}
