//! Waits for words that others raise: who looks at such a word at all, what ended a core's waits for it, and whether
//! the core set it back then.
//!
//! A count that ended two waits is a mistake: a core waited until a word was so much, and waited until it was just as
//! much once more, and nobody had written it between. The second wait was none: whoever counts had not counted anew.
//!
//! There are no events for loads: addresses are worked out from the log of executed instructions, see
//! [`super::accesses`]. A wait for a count compares for equality; who waits for at least so much may pass twice.

use std::collections::{BTreeSet, VecDeque};

use isa::word::{BRANCH, branch_target, funct3, opcode, rs1, rs2};
use rustc_hash::FxHashMap;
use sim_core::observer::ParkedSpan;
use sim_core::{AgentId, CoreId, Event, Observer, Retire, Stamp};

use super::accesses::{Registers, load_address};

/// Waits and writes kept.
const KEPT: usize = 1024;
/// Instructions between a load and the branch that it is for.
const NEAR: u32 = 4;
/// `beq` and `bne` `[riscv: RV32I, conditional branches]`.
const BEQ: u32 = 0;
const BNE: u32 = 1;

/// A wait that was over, and with the same value again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StaleWait {
    /// Whose.
    pub core: CoreId,
    /// Byte address of the word in L1.
    pub word: u32,
    /// What it was waited for to be.
    pub value: u32,
    /// The load that ended the first wait.
    pub first: u32,
    /// The load that ended the second one, and when.
    pub again: (u32, u64),
}

/// The last wait of a core for a word that is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastWait {
    /// What it was waited for to be.
    pub value: u32,
    /// The load that ended it.
    pub pc: u32,
    /// The store with which the core has written the word since.
    pub set_back: Option<u32>,
}

/// A wait that has ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    core: CoreId,
    word: u32,
    value: u32,
    pc: u32,
    cycle: u64,
}

/// A load whose value the next branch may look at.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    word: u32,
    value: u32,
    register: u32,
    pc: u32,
    age: u32,
}

/// A branch that looks at such a value; where the core goes is known with its next instruction.
#[derive(Clone, Copy, Debug)]
struct Branch {
    loaded: Loaded,
    at: u32,
    word: u32,
    cycle: u64,
}

/// A write of such a word.
#[derive(Clone, Copy, Debug)]
struct Write {
    word: u32,
    agent: AgentId,
    pc: u32,
    cycle: u64,
}

/// Listens for waits for counts.
#[derive(Clone, Debug)]
pub struct CountWaits {
    words: Vec<u32>,
    cores: [Registers; CoreId::COUNT],
    /// From where an instruction has loaded last, if that was known: it stands for where it is not.
    places: FxHashMap<(CoreId, u32), u32>,
    loaded: [Option<Loaded>; CoreId::COUNT],
    branch: [Option<Branch>; CoreId::COUNT],
    ended: VecDeque<Ended>,
    /// Reads and writes need not be told in the order of their cycles among each other.
    writes: VecDeque<Write>,
    /// Words that a core has loaded.
    looked: BTreeSet<u32>,
}

/// Adds to a list in place of the oldest.
fn keep<T>(list: &mut VecDeque<T>, one: T) {
    if list.len() == KEPT {
        list.pop_front();
    }
    list.push_back(one);
}

impl CountWaits {
    /// Looks at these words of L1, by byte address.
    #[must_use]
    pub fn new(words: Vec<u32>) -> Self {
        Self {
            words,
            cores: std::array::from_fn(|_| Registers::reset()),
            places: FxHashMap::default(),
            loaded: [None; CoreId::COUNT],
            branch: [None; CoreId::COUNT],
            ended: VecDeque::new(),
            writes: VecDeque::new(),
            looked: BTreeSet::new(),
        }
    }

    /// Another program begins: what was before does not count.
    pub fn begin(&mut self) {
        self.ended.clear();
        self.writes.clear();
        self.looked.clear();
    }

    /// What was found, oldest first; of equal ones the last.
    #[must_use]
    pub fn found(&self) -> Vec<StaleWait> {
        let mut found: Vec<StaleWait> = Vec::new();
        // What has been dropped may have been between two waits.
        let known = match self.writes.len() {
            KEPT => self.writes.front().map_or(0, |write| write.cycle),
            _ => 0,
        };
        for (at, second) in self.ended.iter().enumerate() {
            let is_same = |one: &&Ended| (one.core, one.word) == (second.core, second.word);
            let Some(first) = self.ended.iter().take(at).rfind(is_same) else { continue };
            let between = |write: &Write| {
                write.word == second.word && (first.cycle..=second.cycle).contains(&write.cycle)
            };
            if first.value != second.value || first.cycle < known || self.writes.iter().any(between)
            {
                continue;
            }
            let stale = StaleWait {
                core: second.core,
                word: second.word,
                value: second.value,
                first: first.pc,
                again: (second.pc, second.cycle),
            };
            let key = |one: &StaleWait| (one.core, one.word, one.first, one.again.0);
            found.retain(|one| key(one) != key(&stale));
            found.push(stale);
        }
        found
    }

    /// Whether a core of the tile has looked at a word; `None` if nobody has watched that.
    #[must_use]
    pub fn looks_at(&self, word: u32) -> Option<bool> {
        self.words.contains(&word).then(|| self.looked.contains(&word))
    }

    /// What ended the last wait of a core for a word.
    #[must_use]
    pub fn last(&self, core: CoreId, word: u32) -> Option<LastWait> {
        let is_it = |one: &&Ended| (one.core, one.word) == (core, word);
        let ended = self.ended.iter().rfind(is_it)?;
        let own = |write: &&Write| {
            write.word == word && write.agent == AgentId::Core(core) && write.cycle > ended.cycle
        };
        let set_back = self.writes.iter().rfind(own).map(|write| write.pc);
        Some(LastWait { value: ended.value, pc: ended.pc, set_back })
    }

    fn wrote(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        let hit = |word: &&u32| **word < addr.saturating_add(bytes) && addr < **word + 4;
        if let Some(&word) = self.words.iter().find(hit) {
            let Stamp { cycle, agent, pc } = stamp;
            keep(&mut self.writes, Write { word, agent, pc, cycle: cycle.0 });
        }
    }

    /// A core has come from a branch to `pc`: whether it left a loop that waits for a word to be equal to something.
    fn branched(&mut self, core: CoreId, branch: Branch, pc: u32) {
        let Branch { loaded, at, word, cycle } = branch;
        let is_back = branch_target(word, at) <= at;
        let is_taken = pc != at.wrapping_add(4);
        // Round while it is another value, or out when it is this one.
        let leaves = match funct3(word) {
            BNE => is_back && !is_taken,
            BEQ => !is_back && is_taken,
            _ => false,
        };
        if leaves && loaded.value != 0 {
            let Loaded { word, value, pc, .. } = loaded;
            keep(&mut self.ended, Ended { core, word, value, pc, cycle });
        }
    }
}

impl Observer for CountWaits {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        match *event {
            Event::L1Store { addr, width, .. } => self.wrote(stamp, addr, width.bytes()),
            Event::L1Atomic { addr, .. } => self.wrote(stamp, addr, 4),
            Event::HostWrite { addr, bytes, .. } => self.wrote(stamp, addr, bytes),
            Event::Reset { core, asserted: false, .. } => {
                self.cores[core.index()] = Registers::reset();
            }
            _ => {}
        }
    }

    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        let at = core.index();
        if let Some(branch) = self.branch[at].take() {
            self.branched(core, branch, retire.pc);
        }
        if let Some(loaded) = self.loaded[at].take() {
            if opcode(retire.word) == BRANCH {
                let looks = [rs1(retire.word), rs2(retire.word)].contains(&loaded.register);
                let Retire { pc, word, cycle, .. } = *retire;
                let branch = Branch { loaded, at: pc, word, cycle: cycle.0 };
                self.branch[at] = looks.then_some(branch);
            } else if loaded.age < NEAR && u32::from(retire.rd) != loaded.register {
                self.loaded[at] = Some(Loaded { age: loaded.age + 1, ..loaded });
            }
        }
        let place = (core, retire.pc);
        let addr = load_address(retire.word, &self.cores[at]);
        if let Some(addr) = addr {
            self.places.insert(place, addr);
        }
        let is_load = opcode(retire.word) == isa::word::LOAD;
        let addr = addr.or_else(|| self.places.get(&place).copied().filter(|_| is_load));
        if let Some(word) = addr.filter(|addr| self.words.contains(addr)) {
            self.looked.insert(word);
            let (value, register) = (retire.value, u32::from(retire.rd));
            self.loaded[at] = Some(Loaded { word, value, register, pc: retire.pc, age: 0 });
        }
        self.cores[at].retire(retire);
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        for look in span.looks.into_iter().flatten() {
            self.places.insert((core, look.pc), look.addr);
        }
        // A cycle has at most one instruction, and what a round writes it writes again in the one that is logged.
        let two_rounds = usize::try_from(2 * span.period_cycles).unwrap_or(usize::MAX);
        self.cores[core.index()].forget(two_rounds);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.words.iter().map(|word| (*word, word + 4)).collect()
    }
}

#[cfg(test)]
mod tests {
    use isa::asm::{addi, beq, bne, li, lw};
    use sim_core::{Cycle, Width};

    use super::*;

    const WORD: u32 = 0x4_0000;

    /// A core executes these, the load finds `value`; the loop goes round while it should.
    struct Run {
        waits: CountWaits,
        cycle: u64,
    }

    impl Run {
        fn new() -> Self {
            Self { waits: CountWaits::new(vec![WORD]), cycle: 0 }
        }

        fn retire(&mut self, pc: u32, word: u32, (rd, value): (u8, u32)) {
            self.cycle += 1;
            let retire = Retire { cycle: Cycle(self.cycle), pc, word, rd, value };
            self.waits.retire(CoreId::Ncrisc, &retire);
        }

        /// Loads `value` at `pc + 8` and comes by that branch to `to`.
        fn wait(&mut self, pc: u32, branch: u32, (value, to): (u32, u32)) -> &mut Self {
            self.retire(pc, li(5, WORD)[0], (5, WORD));
            self.retire(pc + 8, lw(6, 5, 0), (6, value));
            self.retire(pc + 12, branch, (0, 0));
            self.retire(to, addi(0, 0, 0), (0, 0));
            self
        }

        fn write(&mut self, addr: u32, value: u32) -> &mut Self {
            self.cycle += 1;
            let stamp = Stamp { cycle: Cycle(self.cycle), agent: AgentId::Noc(0), pc: 0 };
            self.waits.event(stamp, &Event::L1Store { addr, value, width: Width::Word });
            self
        }

        fn set_back(&mut self, pc: u32) -> &mut Self {
            self.cycle += 1;
            let agent = AgentId::Core(CoreId::Ncrisc);
            let stamp = Stamp { cycle: Cycle(self.cycle), agent, pc };
            let event = Event::L1Store { addr: WORD, value: 0, width: Width::Word };
            self.waits.event(stamp, &event);
            self
        }

        fn found(&self) -> Vec<(u32, u32, u32)> {
            let found = self.waits.found().into_iter();
            found.map(|stale| (stale.first, stale.again.0, stale.value)).collect()
        }
    }

    #[test]
    fn the_same_count_ends_two_waits_only_if_nobody_wrote_between() {
        let round = bne(6, 7, -4);
        let out = beq(7, 6, 12);
        assert_eq!(Run::new().wait(0, round, (3, 16)).found(), []);
        assert_eq!(Run::new().wait(0, round, (3, 16)).wait(64, out, (3, 88)).found(), [(8, 72, 3)]);
        // Another round of the same loop of the kernel.
        let twice = Run::new().wait(0, round, (3, 16)).wait(0, round, (3, 16)).found();
        assert_eq!(twice, [(8, 8, 3)]);
        // The second one goes round until somebody writes.
        let mut run = Run::new();
        run.wait(0, round, (3, 16)).write(WORD, 0).wait(64, round, (0, 72)).write(WORD, 3);
        assert_eq!(run.wait(64, round, (3, 80)).found(), []);
        // A word beside it is another one.
        let mut run = Run::new();
        run.wait(0, round, (3, 16)).write(WORD + 4, 0);
        assert_eq!(run.wait(64, round, (3, 80)).found(), [(8, 72, 3)]);
    }

    #[test]
    fn what_ended_the_last_wait_is_known_and_whether_the_word_was_set_back() {
        let mut run = Run::new();
        assert_eq!(run.waits.last(CoreId::Ncrisc, WORD), None);
        assert_eq!(run.waits.looks_at(WORD), Some(false));
        assert_eq!(run.waits.looks_at(WORD + 4), None);
        run.wait(0, bne(6, 7, -4), (3, 16));
        assert_eq!(run.waits.looks_at(WORD), Some(true));
        let last = |set_back| Some(LastWait { value: 3, pc: 8, set_back });
        assert_eq!(run.waits.last(CoreId::Ncrisc, WORD), last(None));
        assert_eq!(run.write(WORD, 4).waits.last(CoreId::Ncrisc, WORD), last(None));
        assert_eq!(run.set_back(100).waits.last(CoreId::Ncrisc, WORD), last(Some(100)));
        assert_eq!(run.waits.last(CoreId::Brisc, WORD), None);
    }

    #[test]
    fn who_does_not_wait_for_a_count_is_left_alone() {
        let round = bne(6, 7, -4);
        // A flag that is down; a loop that has another round; one that goes on while the count is there; at least so
        // much; a question.
        for (branch, value, to) in [
            (round, 0, 16),
            (round, 3, 8),
            (beq(6, 7, -4), 3, 16),
            (isa::asm::branch(6, 6, 7, -4), 3, 16),
            (bne(6, 7, 12), 3, 16),
        ] {
            let mut run = Run::new();
            run.wait(0, branch, (value, to)).wait(0, branch, (value, to));
            assert_eq!(run.found(), [], "{branch:#x}");
        }
        // The next program waits for it for the first time.
        let mut run = Run::new();
        run.wait(0, round, (3, 16)).waits.begin();
        assert_eq!(run.wait(64, round, (3, 80)).found(), []);
    }
}
