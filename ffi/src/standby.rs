//! Calls that a chip at rest answers the same each time, answered without the lock.
//!
//! Hosts wait by reading one word and letting a clock pass, over and over `[spec: host-abi 2.2]`. Of
//! a chip in which nothing can happen without the host, such a read gives what it gave before, and
//! a clock does nothing but let time pass. So whoever holds the lock leaves both behind for the
//! next calls: what was read last, and what the last clock came to. A call that may change
//! anything takes them away before it begins.
//!
//! The bytes are read under a sequence count, which is odd while a call is under way. The time that
//! passes meanwhile is added up here and told to the chip by the next call that needs it.

use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Most bytes of a read whose answer is kept: hosts poll a word, or the mailboxes of three cores.
const MOST_BYTES: usize = 16;
/// Bits for their number in a key.
const LENGTH_BITS: u32 = 6;

/// Some bytes that reads of a chip at rest give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KeptRead {
    paddr: u64,
    bytes: usize,
    /// Little endian.
    value: u128,
}

impl KeptRead {
    /// What a read has given; `None` if that is too much to keep.
    pub(crate) fn new(paddr: u64, given: &[u8]) -> Option<Self> {
        let mut value = [0; MOST_BYTES];
        value.get_mut(..given.len())?.copy_from_slice(given);
        Some(Self { paddr, bytes: given.len(), value: u128::from_le_bytes(value) })
    }

    /// Where and how much, in one word. `None`: no physical address has so many bits.
    fn key(paddr: u64, bytes: usize) -> Option<u64> {
        (paddr >> (u64::BITS - LENGTH_BITS) == 0).then_some(paddr << LENGTH_BITS | bytes as u64)
    }
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
    pub(crate) read: Option<KeptRead>,
    pub(crate) clock: Option<ClockCost>,
    /// Cycles for which the chip stays at rest.
    pub(crate) rest: u64,
    /// Reads that may be answered before the chip is asked again: a host that only reads would never be
    /// seen to wait.
    pub(crate) reads: u64,
}

/// What happened while the chip was left alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Absence {
    /// Cycles that have passed.
    pub(crate) passed: u64,
    /// Whether it ended because most of what was granted had been used, and not for another reason.
    pub(crate) used_up: bool,
}

/// No physical address: no BAR reaches that far.
const NOWHERE: u64 = u64::MAX;
/// Instead of cycles: the chip is not at rest, or somebody has it.
const BUSY: u64 = u64::MAX;

/// The answers as all threads see them.
pub(crate) struct Standby {
    /// Odd while somebody has the chip.
    turn: AtomicU64,
    /// [`KeptRead::key`], and the bytes in two halves.
    read: AtomicU64,
    value: [AtomicU64; 2],
    /// Reads that may yet be answered, and how many might at first.
    reads: AtomicU64,
    granted: AtomicU64,
    /// [`ClockCost`] in one word: clocks above cycles.
    cost: AtomicU64,
    /// Cycles that have passed since the chip was left alone, and how many may.
    passed: AtomicU64,
    rest: AtomicU64,
}

impl Standby {
    pub(crate) const fn new() -> Self {
        Self {
            turn: AtomicU64::new(0),
            read: AtomicU64::new(NOWHERE),
            value: [const { AtomicU64::new(0) }; 2],
            reads: AtomicU64::new(0),
            granted: AtomicU64::new(0),
            cost: AtomicU64::new(0),
            passed: AtomicU64::new(BUSY),
            rest: AtomicU64::new(0),
        }
    }

    /// Gives what a read of these bytes gives, if it is known.
    #[inline]
    pub(crate) fn read(&self, paddr: u64, bytes: &mut [u8]) -> bool {
        let wanted = KeptRead::key(paddr, bytes.len());
        let turn = self.turn.load(Ordering::Acquire);
        let known = self.read.load(Ordering::Relaxed);
        let left = self.reads.load(Ordering::Relaxed);
        if turn & 1 != 0 || wanted != Some(known) || left == 0 {
            return false;
        }
        // Two threads may count one read: nobody minds some more or less.
        self.reads.store(left - 1, Ordering::Relaxed);
        let [low, high] = [0, 1].map(|half| self.value[half].load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        if self.turn.load(Ordering::Relaxed) != turn {
            return false;
        }
        // Nearly always a word: no call of the host's copying for that.
        if let Ok(word) = <&mut [u8; 4]>::try_from(&mut *bytes) {
            *word = (low as u32).to_le_bytes();
            return true;
        }
        let value = (u128::from(low) | u128::from(high) << 64).to_le_bytes();
        let Some(value) = value.get(..bytes.len()) else { return false };
        bytes.copy_from_slice(value);
        true
    }

    /// Lets clocks pass, if it is known what they come to.
    #[inline]
    pub(crate) fn clock(&self, clocks: u32) -> bool {
        let mut passed = self.passed.load(Ordering::Acquire);
        let cost = self.cost.load(Ordering::Relaxed);
        let rest = self.rest.load(Ordering::Relaxed);
        if (cost >> 32) as u32 != clocks {
            return false;
        }
        while passed < BUSY / 2 {
            let sum = passed + u64::from(cost as u32);
            if sum > rest {
                return false;
            }
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

    /// Takes the answers away, and says what has become of them. Only who holds the lock may.
    pub(crate) fn interrupt(&self) -> Absence {
        let turn = self.turn.load(Ordering::Relaxed);
        self.turn.store(turn + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        // Only who holds the lock writes it: an exchange would cost as much as the lock.
        let granted = self.granted.load(Ordering::Relaxed);
        if granted != 0 {
            self.granted.store(0, Ordering::Relaxed);
        }
        let read = granted.saturating_sub(self.reads.load(Ordering::Relaxed));
        if self.passed.load(Ordering::Relaxed) == BUSY {
            return Absence { passed: 0, used_up: read > granted / 2 };
        }
        let passed = self.passed.swap(BUSY, Ordering::AcqRel);
        let cycles = u64::from(self.cost.load(Ordering::Relaxed) as u32);
        let most = granted.max(1).saturating_mul(cycles.max(1));
        Absence { passed, used_up: passed > most / 2 || read > granted / 2 }
    }

    /// Ends what [`Standby::interrupt`] began, with the answers of a chip at rest or none.
    pub(crate) fn resume(&self, answers: Answers) {
        let key = answers.read.and_then(|read| KeptRead::key(read.paddr, read.bytes));
        self.read.store(key.unwrap_or(NOWHERE), Ordering::Relaxed);
        let value = answers.read.map_or(0, |read| read.value);
        self.value[0].store(value as u64, Ordering::Relaxed);
        self.value[1].store((value >> 64) as u64, Ordering::Relaxed);
        self.reads.store(answers.reads, Ordering::Relaxed);
        self.granted.store(answers.reads, Ordering::Relaxed);
        if let Some(ClockCost { clocks, cycles }) = answers.clock {
            self.cost.store(u64::from(clocks) << 32 | u64::from(cycles), Ordering::Relaxed);
            self.rest.store(answers.rest, Ordering::Relaxed);
            self.passed.store(0, Ordering::Release);
        }
        let turn = self.turn.load(Ordering::Relaxed);
        self.turn.store(turn + 1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PADDR: u64 = 0x1_0000_0040;
    const CLOCK: ClockCost = ClockCost { clocks: 1, cycles: 64 };

    #[test]
    fn answers_are_there_only_between_calls() {
        let standby = Standby::new();
        assert!(!standby.clock(1));
        assert_eq!(standby.interrupt().passed, 0);
        let read = |paddr, bytes| {
            let mut given = vec![0xA5; bytes];
            standby.read(paddr, &mut given).then_some(given)
        };
        assert_eq!(read(PADDR, 4), None);
        let twelve: Vec<u8> = (1..=12).collect();
        for given in [&twelve[..4], &twelve] {
            let kept = KeptRead::new(PADDR, given);
            standby.resume(Answers { read: kept, clock: Some(CLOCK), rest: 191, reads: 8 });
            assert_eq!(read(PADDR, given.len()).as_deref(), Some(given));
            assert_eq!(read(PADDR + 4, given.len()), None);
            assert_eq!(read(PADDR, given.len() - 1), None);
            assert_eq!(read(PADDR | 1 << 60, given.len()), None);
            standby.interrupt();
        }
        assert_eq!(KeptRead::new(PADDR, &[0; 17]), None);
        standby.resume(Answers {
            read: KeptRead::new(PADDR, &twelve),
            clock: Some(CLOCK),
            rest: 191,
            reads: 8,
        });
        assert!(standby.clock(1) && standby.clock(1));
        assert!(!standby.clock(2));
        // A third one would go beyond the rest.
        assert!(!standby.clock(1));
        assert_eq!(standby.interrupt().passed, 128);
        assert!(!standby.clock(1));
        standby.resume(Answers::default());
        assert_eq!(read(PADDR, 12), None);
        assert!(!standby.clock(1));
        assert_eq!(standby.interrupt().passed, 0);
    }

    /// After so many the chip is asked, and the count begins anew.
    #[test]
    fn reads_are_answered_so_often_and_no_more() {
        let standby = Standby::new();
        let mut given = [0; 4];
        for _ in 0..2 {
            standby.interrupt();
            let read = KeptRead::new(PADDR, &[1, 2, 3, 4]);
            standby.resume(Answers { read, reads: 2, ..Answers::default() });
            let answered = [0; 3].map(|_| standby.read(PADDR, &mut given));
            assert_eq!(answered, [true, true, false]);
        }
        assert_eq!(given, [1, 2, 3, 4]);
    }

    /// A thread that reads while another replaces the answers sees a word with its own address, and
    /// every clock that was accepted is told to somebody.
    #[test]
    fn threads_see_whole_answers_and_lose_no_time() {
        let standby = Standby::new();
        let answers = |turn: u64| Answers {
            read: KeptRead::new(turn % 2, &[(turn % 2) as u8; 12]),
            clock: Some(CLOCK),
            rest: u64::MAX,
            reads: u64::MAX,
        };
        let (told, accepted) = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut accepted = 0;
                for turn in 0..200_000_u64 {
                    let mut given = [0xA5; 12];
                    if standby.read(turn % 2, &mut given) {
                        assert_eq!(given, [(turn % 2) as u8; 12]);
                    }
                    accepted += u64::from(standby.clock(1));
                }
                accepted
            });
            let mut told = 0;
            for turn in 0..20_000 {
                told += standby.interrupt().passed;
                standby.resume(answers(turn));
            }
            (told, reader.join().expect("the reader finds no torn answer"))
        });
        assert_eq!(told + standby.interrupt().passed, accepted * u64::from(CLOCK.cycles));
    }
}
