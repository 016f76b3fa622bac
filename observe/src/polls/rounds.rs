//! Rounds of one core: which of its loops only looks, and how often it goes round.

use isa::word::{LOAD, STORE, funct3, imm_i, imm_s, opcode, rs1};
use memory_map::layout::{LOCAL_RAM_BASE, LOCAL_RAM_MAX_BYTES};
use sim_core::Retire;
use sim_core::observer::{Look, ParkedSpan};

/// Most instructions of a round.
const LONGEST: usize = 64;
/// Instructions that are remembered: two rounds and what led to them.
const KEPT: usize = 2 * LONGEST;
/// Major opcode of atomics `[riscv: RV32A]`.
const AMO: u32 = 0x2F;

/// What an instruction does outside its core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Entry {
    /// Nothing.
    #[default]
    Nothing,
    /// It loads from that address.
    Load(u32),
    /// It stores there, that many bytes.
    Store(u32, u32),
}

#[derive(Clone, Copy, Debug, Default)]
struct Step {
    pc: u32,
    cycle: u64,
    value: u32,
    entry: Entry,
}

/// A loop that only looks.
#[derive(Clone, Debug)]
pub(super) struct Poll {
    pub(super) head: u32,
    /// The jump that closes it.
    tail: u32,
    /// Instructions of a round, as far as they are known.
    pcs: Vec<u32>,
    pub(super) since: u64,
    /// The last cycle that is known to be of it.
    pub(super) until: u64,
    pub(super) rounds: u64,
    pub(super) looks: Vec<Look>,
    pub(super) last: Vec<u32>,
}

impl Poll {
    /// Cycles of a round, on average.
    pub(super) fn length(&self) -> u64 {
        (self.until.saturating_sub(self.since)) / self.rounds.max(1)
    }

    fn has(&self, pc: u32) -> bool {
        (self.head..=self.tail).contains(&pc) || self.pcs.contains(&pc)
    }

    /// Takes a load of another round in; `false` if it is not one of this loop.
    fn look(&mut self, pc: u32, addr: u32, value: u32) -> bool {
        match self.looks.iter().position(|look| look.pc == pc) {
            Some(at) => {
                self.last[at] = value;
                self.looks[at].addr == addr
            }
            None => {
                self.looks.push(Look { pc, addr, value });
                self.last.push(value);
                true
            }
        }
    }
}

/// What is remembered of a core.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    registers: [u32; 32],
    steps: [Step; KEPT],
    /// Instructions so far; the place of the next one is this modulo [`KEPT`].
    count: usize,
    poll: Option<Poll>,
    /// Nothing has been executed since rounds were skipped: the next instruction at the head is of a round that
    /// has been counted.
    is_back: bool,
}

impl Default for Rounds {
    fn default() -> Self {
        Self {
            registers: [0; 32],
            steps: [Step::default(); KEPT],
            count: 0,
            poll: None,
            is_back: false,
        }
    }
}

impl Rounds {
    /// The loop that it is in.
    pub(super) const fn open(&self) -> Option<&Poll> {
        self.poll.as_ref()
    }

    /// Forgets what it did; gives the loop that it was in.
    pub(super) fn reset(&mut self) -> Option<Poll> {
        self.count = 0;
        self.poll.take()
    }

    /// What an instruction does outside the core. Its registers are taken over.
    pub(super) fn enter(&mut self, retire: &Retire) -> Entry {
        let Retire { word, rd, value, .. } = *retire;
        let base = self.registers[rs1(word) as usize];
        if rd != 0 {
            self.registers[usize::from(rd & 31)] = value;
        }
        let entry = match opcode(word) {
            LOAD => Entry::Load(base.wrapping_add_signed(imm_i(word))),
            STORE => Entry::Store(base.wrapping_add_signed(imm_s(word)), 1 << (funct3(word) & 3)),
            AMO => Entry::Store(base, 4),
            _ => return Entry::Nothing,
        };
        let (Entry::Load(addr) | Entry::Store(addr, _)) = entry else { return entry };
        let is_local = addr.wrapping_sub(LOCAL_RAM_BASE) < LOCAL_RAM_MAX_BYTES;
        if is_local { Entry::Nothing } else { entry }
    }

    /// Takes an instruction in; gives the loop that it was the first one behind.
    pub(super) fn retire(&mut self, retire: &Retire, entry: Entry) -> Option<Poll> {
        let Retire { pc, cycle, value, .. } = *retire;
        let before = self.count.checked_sub(1).map(|last| self.steps[last % KEPT].pc);
        let over = self.go_on(pc, cycle.0, value, entry, before);
        self.is_back = false;
        self.steps[self.count % KEPT] = Step { pc, cycle: cycle.0, value, entry };
        self.count += 1;
        let is_back = before.is_some_and(|before| pc <= before);
        if self.poll.is_none() && is_back {
            self.poll = self.found();
        }
        over
    }

    /// Whether the loop goes on with that instruction; else gives it.
    fn go_on(
        &mut self,
        pc: u32,
        cycle: u64,
        value: u32,
        entry: Entry,
        before: Option<u32>,
    ) -> Option<Poll> {
        let poll = self.poll.as_mut()?;
        let is_same = poll.has(pc)
            && match entry {
                Entry::Nothing => true,
                Entry::Load(addr) => poll.look(pc, addr, value),
                Entry::Store(..) => false,
            };
        if !is_same {
            // Older rounds are no others of the next loop.
            self.count = 0;
            return self.poll.take();
        }
        if pc == poll.head && !self.is_back && before.is_some_and(|before| before >= pc) {
            poll.rounds += 1;
        }
        poll.until = cycle;
        None
    }

    fn step(&self, back: usize) -> &Step {
        &self.steps[(self.count - 1 - back) % KEPT]
    }

    /// The loop of which the last instruction begins the third round.
    fn found(&self) -> Option<Poll> {
        let known = self.count.min(KEPT);
        let head = self.step(0).pc;
        let length = (1..known).find(|back| self.step(*back).pc == head)?;
        if 2 * length >= known || length > LONGEST {
            return None;
        }
        let is_alike = |back: &usize| {
            let (step, other) = (self.step(*back), self.step(back + length));
            step.pc == other.pc
                && step.entry == other.entry
                && !matches!(step.entry, Entry::Store(..))
        };
        if !(1..=length).all(|back| is_alike(&back)) {
            return None;
        }
        let round = || (1..=length).rev().map(|back| (self.step(back + length), self.step(back)));
        let mut poll = Poll {
            head,
            tail: self.step(1).pc,
            pcs: round().map(|(step, _)| step.pc).collect(),
            since: self.step(2 * length).cycle,
            until: self.step(0).cycle,
            rounds: 2,
            looks: Vec::new(),
            last: Vec::new(),
        };
        for (first, second) in round() {
            if let Entry::Load(addr) = first.entry {
                poll.look(first.pc, addr, first.value);
                poll.look(second.pc, addr, second.value);
            }
        }
        // The instruction at hand is of the third round already.
        if let Step { pc, value, entry: Entry::Load(addr), .. } = *self.step(0) {
            poll.look(pc, addr, value);
        }
        (!poll.looks.is_empty()).then_some(poll)
    }

    /// Counts rounds that were not executed; gives another loop that has ended before.
    pub(super) fn parked(&mut self, span: &ParkedSpan) -> Option<Poll> {
        let looks: Vec<Look> = span.looks.iter().flatten().copied().collect();
        let cycles = span.until.0.saturating_sub(span.from.0);
        if (looks.is_empty() && span.reads.is_none()) || cycles == 0 {
            return None;
        }
        let is_same = self.poll.as_ref().is_some_and(|poll| poll.has(span.head));
        let over = if is_same { None } else { self.poll.take() };
        // The round before is known if the core came through its beginning.
        let room = self.count.min(LONGEST);
        let head = (0..room).find(|back| self.step(*back).pc == span.head);
        let pcs = (0..=head.unwrap_or(0)).take(room).map(|back| self.step(back).pc).collect();
        let since = head.map_or(span.from.0, |back| self.step(back).cycle);
        let tail = if room == 0 { span.head } else { self.step(0).pc };
        let poll = self.poll.get_or_insert_with(|| Poll {
            head: span.head,
            tail,
            pcs,
            since,
            until: span.from.0,
            rounds: u64::from(head.is_some()),
            last: looks.iter().map(|look| look.value).collect(),
            looks,
        });
        poll.rounds += cycles / span.period_cycles.max(1);
        poll.until = span.until.0;
        self.is_back = true;
        over
    }
}
