//! Calls that a chip at rest answers the same each time, answered without the lock.
//!
//! Hosts wait by reading one word and letting a clock pass, over and over `[spec: host-abi 2.2]`. Of
//! a chip in which nothing can happen without the host, such a read gives what it gave before, and
//! a clock does nothing but let time pass. So whoever holds the lock leaves both behind for the
//! next calls: the word that was read last, and what the last clock came to. A call that may change
//! anything takes them away before it begins.
//!
//! The word is read under a sequence count, which is odd while a call is under way. The time that
//! passes meanwhile is added up here and told to the chip by the next call that needs it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// A word that reads of a chip at rest give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReadWord {
    pub(crate) paddr: u64,
    pub(crate) value: u32,
}

/// What a call of `libttsim_clock` comes to on a chip at rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClockCost {
    /// What the host asks for.
    pub(crate) clocks: u32,
    /// What passes.
    pub(crate) cycles: u32,
}

/// Answers for the calls that a host repeats.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Answers {
    pub(crate) read: Option<ReadWord>,
    pub(crate) clock: Option<ClockCost>,
}

/// No physical address: no BAR reaches that far.
const NOWHERE: u64 = u64::MAX;
/// Instead of cycles: the chip is not at rest, or somebody has it.
const BUSY: u64 = u64::MAX;

/// The answers as all threads see them.
pub(crate) struct Standby {
    /// Odd while somebody has the chip.
    turn: AtomicU64,
    paddr: AtomicU64,
    value: AtomicU32,
    /// [`ClockCost`] in one word: clocks above cycles.
    cost: AtomicU64,
    /// Cycles that have passed since the chip was left alone.
    passed: AtomicU64,
}

impl Standby {
    pub(crate) const fn new() -> Self {
        Self {
            turn: AtomicU64::new(0),
            paddr: AtomicU64::new(NOWHERE),
            value: AtomicU32::new(0),
            cost: AtomicU64::new(0),
            passed: AtomicU64::new(BUSY),
        }
    }

    /// The word at `paddr`, if it is known.
    #[inline]
    pub(crate) fn read(&self, paddr: u64) -> Option<u32> {
        let turn = self.turn.load(Ordering::Acquire);
        let known = self.paddr.load(Ordering::Relaxed);
        let value = self.value.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let is_whole = turn & 1 == 0 && self.turn.load(Ordering::Relaxed) == turn;
        (is_whole && known == paddr).then_some(value)
    }

    /// Lets clocks pass, if it is known what they come to.
    #[inline]
    pub(crate) fn clock(&self, clocks: u32) -> bool {
        let mut passed = self.passed.load(Ordering::Acquire);
        let cost = self.cost.load(Ordering::Relaxed);
        if (cost >> 32) as u32 != clocks {
            return false;
        }
        while passed < BUSY / 2 {
            let sum = passed + u64::from(cost as u32);
            match self.passed.compare_exchange_weak(
                passed,
                sum,
                Ordering::Relaxed,
                Ordering::Acquire,
            ) {
                Ok(_) => return true,
                Err(other) => passed = other,
            }
        }
        false
    }

    /// Takes the answers away, and gives how many cycles have passed meanwhile. Only who holds the
    /// lock may.
    pub(crate) fn interrupt(&self) -> u64 {
        let turn = self.turn.load(Ordering::Relaxed);
        self.turn.store(turn + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        if self.passed.load(Ordering::Relaxed) == BUSY {
            return 0;
        }
        self.passed.swap(BUSY, Ordering::AcqRel)
    }

    /// Ends what [`Standby::interrupt`] began, with the answers of a chip at rest or none.
    pub(crate) fn resume(&self, answers: Answers) {
        let read = answers.read.unwrap_or(ReadWord { paddr: NOWHERE, value: 0 });
        self.paddr.store(read.paddr, Ordering::Relaxed);
        self.value.store(read.value, Ordering::Relaxed);
        if let Some(ClockCost { clocks, cycles }) = answers.clock {
            self.cost.store(u64::from(clocks) << 32 | u64::from(cycles), Ordering::Relaxed);
            self.passed.store(0, Ordering::Release);
        }
        let turn = self.turn.load(Ordering::Relaxed);
        self.turn.store(turn + 1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: ReadWord = ReadWord { paddr: 0x1_0000_0040, value: 7 };
    const CLOCK: ClockCost = ClockCost { clocks: 1, cycles: 64 };

    #[test]
    fn answers_are_there_only_between_calls() {
        let standby = Standby::new();
        assert!(!standby.clock(1));
        assert_eq!(standby.interrupt(), 0);
        assert_eq!(standby.read(READ.paddr), None);
        standby.resume(Answers { read: Some(READ), clock: Some(CLOCK) });
        assert_eq!(standby.read(READ.paddr), Some(7));
        assert_eq!(standby.read(READ.paddr + 4), None);
        assert!(standby.clock(1) && standby.clock(1));
        assert!(!standby.clock(2));
        assert_eq!(standby.interrupt(), 128);
        assert!(!standby.clock(1));
        standby.resume(Answers::default());
        assert_eq!(standby.read(READ.paddr), None);
        assert!(!standby.clock(1));
        assert_eq!(standby.interrupt(), 0);
    }

    /// A thread that reads while another replaces the answers sees a word with its own address, and
    /// every clock that was accepted is told to somebody.
    #[test]
    fn threads_see_whole_answers_and_lose_no_time() {
        let standby = Standby::new();
        let answers = |turn: u64| Answers {
            read: Some(ReadWord { paddr: turn % 2, value: (turn % 2) as u32 }),
            clock: Some(CLOCK),
        };
        let (told, accepted) = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut accepted = 0;
                for turn in 0..200_000_u64 {
                    if let Some(value) = standby.read(turn % 2) {
                        assert_eq!(u64::from(value), turn % 2);
                    }
                    accepted += u64::from(standby.clock(1));
                }
                accepted
            });
            let mut told = 0;
            for turn in 0..20_000 {
                told += standby.interrupt();
                standby.resume(answers(turn));
            }
            (told, reader.join().expect("the reader finds no torn answer"))
        });
        assert_eq!(told + standby.interrupt(), accepted * u64::from(CLOCK.cycles));
    }
}
