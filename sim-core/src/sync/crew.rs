//! A crew of worker threads that share out numbered pieces of work, round by round.
//!
//! Rounds are short (tens of microseconds), so that waking a sleeping thread for each would cost
//! more than the round: workers spin for a while before they sleep. Whoever is late misses the
//! round; a worker that holds no piece is not waited for. Which thread does which piece must not
//! matter to the result. It does to the caches: every thread begins with the share it had in the
//! last round, and only then helps the others with theirs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use parking_lot::{Condvar, Mutex};

use super::Worker;

/// Looks at the ticket before a worker goes to sleep; some tens of microseconds.
const SPINS: u32 = 20_000;
/// Looks between which a thread that waits lets others of the host have its processor: where nobody else wants it, that
/// is nothing, and where somebody does, what is waited for is most likely not being done.
const LOOKS: u32 = 256;

/// Waits a moment, for the look of that number at something.
#[inline]
fn pause(look: u32) {
    if look % LOOKS == LOOKS - 1 {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}

/// Round, end of a thread's share and its next piece in one word, so that taking a piece of a round
/// that is over is impossible: bits 63:32, 31:16, 15:0.
#[derive(Clone, Copy)]
struct Ticket(u64);

impl Ticket {
    fn new(round: u32, share: std::ops::Range<u16>) -> Self {
        Self(u64::from(round) << 32 | u64::from(share.end) << 16 | u64::from(share.start))
    }

    fn next(self) -> Option<u16> {
        let (next, end) = (self.0 as u16, (self.0 >> 16) as u16);
        (next < end).then_some(next)
    }
}

/// The ticket of one thread, on cache lines of its own.
struct Share(CachePadded<AtomicU64>);

impl Share {
    /// Takes the next piece.
    fn take(&self) -> Option<u16> {
        let mut seen = self.0.load(Ordering::Acquire);
        loop {
            let piece = Ticket(seen).next()?;
            match self.0.compare_exchange_weak(seen, seen + 1, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return Some(piece),
                Err(now) => seen = now,
            }
        }
    }
}

struct Board {
    /// Of the threads, the calling one first.
    shares: Box<[Share]>,
    round: AtomicU32,
    /// Pieces of this round that are finished. Apart from what the others read while they do pieces.
    done: CachePadded<AtomicU32>,
    stop: AtomicBool,
    /// A piece of work panicked: the coordinator must not wait for it for ever.
    broken: AtomicBool,
    sleepers: Mutex<u32>,
    wake: Condvar,
    work: Box<dyn Fn(u16) + Send + Sync>,
}

impl Board {
    /// Does pieces until there are no more: those of thread `me`, then what is left of the others'.
    fn help(&self, me: usize) {
        let (before, from_me) = self.shares.split_at(me);
        for share in from_me.iter().chain(before) {
            while let Some(piece) = share.take() {
                let finished = Finished(self);
                (self.work)(piece);
                drop(finished);
            }
        }
    }

    /// Waits for a round other than `last`; gives `None` when the crew is dismissed.
    fn await_round(&self, last: u32) -> Option<u32> {
        let news = || {
            let round = self.round.load(Ordering::Acquire);
            (round != last).then_some(round)
        };
        for look in 0..SPINS {
            if self.stop.load(Ordering::Acquire) {
                return None;
            }
            if let Some(round) = news() {
                return Some(round);
            }
            pause(look);
        }
        let mut sleepers = self.sleepers.lock();
        *sleepers += 1;
        while !self.stop.load(Ordering::Acquire) && news().is_none() {
            self.wake.wait(&mut sleepers);
        }
        *sleepers -= 1;
        if self.stop.load(Ordering::Acquire) { None } else { news() }
    }
}

/// Counts a piece as finished even if it panics.
struct Finished<'a>(&'a Board);

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
        }
        self.0.done.fetch_add(1, Ordering::AcqRel);
    }
}

/// Worker threads and the calling thread, which is one of the crew.
pub struct Crew {
    board: Arc<Board>,
    workers: Vec<Worker>,
    round: u32,
    /// The process that has the threads: a fork takes none of them along.
    process: u32,
}

impl std::fmt::Debug for Crew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Crew({} threads)", self.workers.len() + 1)
    }
}

impl Crew {
    /// Starts a crew of `threads`, the calling one included, that does pieces by calling `work`
    /// with their numbers.
    ///
    /// # Errors
    /// The host cannot start the threads.
    pub fn start(
        name: &str,
        threads: usize,
        work: impl Fn(u16) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let board = Arc::new(Board {
            shares: (0..threads.max(1))
                .map(|_| Share(CachePadded::new(AtomicU64::new(0))))
                .collect(),
            round: AtomicU32::new(0),
            done: CachePadded::new(AtomicU32::new(0)),
            stop: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            sleepers: Mutex::new(0),
            wake: Condvar::new(),
            work: Box::new(work),
        });
        let process = std::process::id();
        let mut crew = Self { board, workers: Vec::new(), round: 0, process };
        for index in 1..threads {
            let board = Arc::clone(&crew.board);
            let body = move || {
                let mut last = 0;
                while let Some(round) = board.await_round(last) {
                    last = round;
                    board.help(index);
                }
            };
            // On failure the threads that did start are dismissed as the crew is dropped.
            crew.workers.push(Worker::start(&format!("{name}-{index}"), body)?);
        }
        Ok(crew)
    }

    /// How many threads there are, the calling one included.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Whether the threads are another process's, from which this one was forked off: then there is
    /// nothing to be done with the crew but to drop it.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        std::process::id() != self.process
    }

    /// Does pieces `0..pieces` and returns when all are finished.
    ///
    /// # Panics
    /// A piece panicked, here or on another thread.
    pub fn run(&mut self, pieces: u16) {
        self.round = self.round.wrapping_add(1);
        self.board.done.store(0, Ordering::Relaxed);
        let (threads, all) = (self.board.shares.len() as u32, u32::from(pieces));
        let start = |index: u32| (all * index / threads) as u16;
        for (index, share) in (0..).zip(&self.board.shares) {
            let ticket = Ticket::new(self.round, start(index)..start(index + 1));
            share.0.store(ticket.0, Ordering::Release);
        }
        self.board.round.store(self.round, Ordering::Release);
        if *self.board.sleepers.lock() != 0 {
            self.board.wake.notify_all();
        }
        self.board.help(0);
        let mut look = 0;
        while self.board.done.load(Ordering::Acquire) < u32::from(pieces) {
            pause(look);
            look = look.wrapping_add(1);
        }
        assert!(!self.board.broken.load(Ordering::Acquire), "a worker of the crew panicked");
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        if self.is_elsewhere() {
            // Its locks may be held by threads that do not exist.
            self.workers.drain(..).for_each(Worker::abandon);
            return;
        }
        self.board.stop.store(true, Ordering::Release);
        // Under the lock: a worker is either asleep, and woken, or has yet to look.
        let sleepers = self.board.sleepers.lock();
        self.board.wake.notify_all();
        drop(sleepers);
        self.workers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once_per_round() {
        let counts: Arc<Vec<AtomicU32>> = Arc::new((0..100).map(|_| AtomicU32::new(0)).collect());
        let seen = Arc::clone(&counts);
        let mut crew = Crew::start("test", 3, move |piece| {
            seen[usize::from(piece)].fetch_add(1, Ordering::Relaxed);
        })
        .expect("threads start");
        for round in 1..=1000u32 {
            let pieces = (round % 100) as u16;
            counts.iter().for_each(|count| count.store(0, Ordering::Relaxed));
            crew.run(pieces);
            for (index, count) in counts.iter().enumerate() {
                let expected = u32::from(index < usize::from(pieces));
                assert_eq!(count.load(Ordering::Relaxed), expected, "round {round} piece {index}");
            }
        }
    }

    #[test]
    fn crew_that_fell_asleep_wakes_up() {
        let done = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&done);
        let mut crew = Crew::start("test", 2, move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        })
        .expect("threads start");
        for _ in 0..3 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            crew.run(7);
        }
        assert_eq!(done.load(Ordering::Relaxed), 21);
    }

    #[test]
    fn panic_of_a_piece_reaches_the_coordinator() {
        let mut crew = Crew::start("test", 1, |piece| assert!(piece != 1, "piece one"))
            .expect("threads start");
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| crew.run(2)));
        assert!(result.is_err());
    }
}
