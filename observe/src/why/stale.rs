//! Loads that find an old copy of a word of L1: the data caches of the cores.
//!
//! A core has four lines of 16 bytes, which are flushed by `fence`, by atomics and, each, by its own stores to it. What
//! others write is not seen while a line is there `[isa-bh: TensixTile/BabyRISCV/MemoryOrdering.md]`. The simulated
//! cores have no such cache: what is loaded is what is there, and a line is only remembered.
//!
//! Not known: which line makes room for a new one. The oldest is taken to.

use std::collections::VecDeque;

use isa::csr;
use isa::word::{self, AMO, FENCE, LOAD, STORE, SYSTEM, funct3, imm_i, imm_s, opcode, rs1};
use sim_core::l1::L1_BYTES;
use sim_core::observer::ParkedSpan;
use sim_core::{AgentId, CoreId, Cycle, Event, Retire, Stamp};

use super::accesses::Registers;

/// Lines of a cache, and bytes of a line.
const LINES: usize = 4;
const LINE_BYTES: u32 = 16;
const LINE_WORDS: usize = 4;

/// Caches of the cores.
#[derive(Clone, Debug)]
pub(super) struct Stale {
    caches: [Cache; CoreId::COUNT],
}

#[derive(Clone, Debug)]
struct Cache {
    is_on: bool,
    /// Oldest first.
    lines: VecDeque<Line>,
    /// Instructions so far, those when something has emptied it last, and those when the core was parked last.
    count: u64,
    emptied: u64,
    parked: u64,
    /// Loads of the loop in which the core was parked last, whose registers the log does not have: where, and of what.
    polls: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    base: u32,
    since: Cycle,
    /// Words that were loaded: the last load of each.
    found: [Option<Found>; LINE_WORDS],
    /// Who has written to each of them since, last.
    written: [Option<Stamp>; LINE_WORDS],
}

#[derive(Clone, Copy, Debug)]
struct Found {
    value: u32,
    pc: u32,
    /// Counted in instructions.
    at: u64,
}

/// Instructions between two looks of a loop that only looks.
const ROUND: u64 = 32;

/// A load of what somebody has written meanwhile.
#[derive(Clone, Copy, Debug)]
pub(super) struct OldCopy {
    pub(super) addr: u32,
    pub(super) since: Cycle,
    pub(super) writer: Stamp,
}

impl Default for Cache {
    fn default() -> Self {
        let reset = csr::by_name(CONFIGURATION).and_then(|row| row.reset);
        Self {
            is_on: reset.is_none_or(|value| value & off() == 0),
            lines: VecDeque::new(),
            count: 0,
            emptied: 0,
            parked: 0,
            polls: Vec::new(),
        }
    }
}

/// The CSR with the bit that turns the cache off, and its name.
const CONFIGURATION: &str = "cfg0";
const OFF: &str = "DisLowCash";

/// That bit as a mask.
fn off() -> u32 {
    let fields = csr::by_name(CONFIGURATION).map_or(&[][..], |row| row.fields);
    fields.iter().find(|field| field.name == OFF).map_or(0, |field| 1 << field.lo)
}

impl Default for Stale {
    fn default() -> Self {
        Self { caches: std::array::from_fn(|_| Cache::default()) }
    }
}

impl Stale {
    /// Takes an event: what others write.
    pub(super) fn event(&mut self, stamp: Stamp, event: &Event) {
        match *event {
            Event::L1Store { addr, width, .. } => self.stored(stamp, addr, width.bytes()),
            Event::L1Atomic { addr, .. } => self.stored(stamp, addr, 4),
            Event::HostWrite { addr, bytes, .. } if addr < L1_BYTES => {
                self.stored(stamp, addr, bytes);
            }
            Event::Reset { core, asserted: false, .. } => {
                self.caches[core.index()] = Cache::default();
            }
            _ => {}
        }
    }

    fn stored(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        let end = addr.saturating_add(bytes);
        for (core, cache) in CoreId::ALL.into_iter().zip(&mut self.caches) {
            // Its own stores are in its log, in their place among the loads.
            if cache.lines.is_empty() || stamp.agent == AgentId::Core(core) {
                continue;
            }
            for line in cache.lines.iter_mut().filter(|line| stamp.cycle > line.since) {
                for (base, written) in (line.base..).step_by(4).zip(&mut line.written) {
                    if addr < base + 4 && end > base {
                        *written = Some(stamp);
                    }
                }
            }
        }
    }

    /// A core executed an instruction; `registers` are those before it. Gives what it loaded if it is another value in
    /// the cache.
    pub(super) fn retire(
        &mut self,
        core: CoreId,
        retire: &Retire,
        registers: &Registers,
    ) -> Option<OldCopy> {
        let cache = &mut self.caches[core.index()];
        cache.count += 1;
        if !cache.is_on && opcode(retire.word) != SYSTEM {
            return None;
        }
        let base = registers.known(rs1(retire.word));
        let at = |offset: i32| base.map(|base| base.wrapping_add_signed(offset));
        match opcode(retire.word) {
            LOAD => return cache.load(retire, at(imm_i(retire.word)).or(cache.polled(retire.pc))),
            STORE => cache.flush(at(imm_s(retire.word))),
            FENCE | AMO => cache.empty(),
            SYSTEM if is_configuration(retire.word) => {
                cache.is_on = is_on(retire, base, cache.is_on);
                cache.empty();
            }
            _ => {}
        }
        None
    }

    /// A loop was left out, whose rounds load the same as long as it lasts, and empty the cache if the last one that
    /// was executed has done so.
    pub(super) fn parked(&mut self, core: CoreId, span: &ParkedSpan, registers: &Registers) {
        let cache = &mut self.caches[core.index()];
        let looks = span.looks.iter().flatten();
        cache.polls = looks.map(|look| (look.pc, look.addr)).collect();
        cache.parked = cache.count;
        let since = cache.count - cache.emptied;
        if registers.back_to(span.head).is_none_or(|round| since < round) {
            cache.empty();
        }
    }
}

/// An instruction reads or writes the CSR that has the cache's bit.
fn is_configuration(word: u32) -> bool {
    let address = csr::by_name(CONFIGURATION).map(|row| u32::from(row.address));
    funct3(word) & 3 != 0 && address == Some(word::csr(word))
}

/// Whether the cache is on behind such an instruction: `csrrw`, `csrrs`, `csrrc` of a register or of five bits
/// `[riscv: Zicsr]`.
fn is_on(retire: &Retire, register: Option<u32>, before: bool) -> bool {
    let operand = if funct3(retire.word) >= 4 { Some(rs1(retire.word)) } else { register };
    // What was written is not known: nothing is said.
    let Some(operand) = operand else { return false };
    let is_set = operand & off() != 0;
    match funct3(retire.word) & 3 {
        1 => !is_set,
        2 => before && !is_set,
        _ => before || is_set,
    }
}

impl Cache {
    /// What a load of the loop reads in which the core was parked.
    fn polled(&self, pc: u32) -> Option<u32> {
        self.polls.iter().find(|(at, _)| *at == pc).map(|(_, addr)| *addr)
    }

    fn load(&mut self, retire: &Retire, addr: Option<u32>) -> Option<OldCopy> {
        let Some(addr) = addr else {
            // It may be any line that makes room.
            self.lines.clear();
            return None;
        };
        if addr >= L1_BYTES {
            return None;
        }
        let base = addr & !(LINE_BYTES - 1);
        let word = (addr % LINE_BYTES / 4) as usize;
        let now = Found { value: retire.value, pc: retire.pc, at: self.count };
        let Some(at) = self.lines.iter().position(|line| line.base == base) else {
            if self.lines.len() == LINES {
                self.lines.pop_front();
            }
            let mut found = [None; LINE_WORDS];
            found[word] = Some(now);
            let written = [None; LINE_WORDS];
            self.lines.push_back(Line { base, since: retire.cycle, found, written });
            return None;
        };
        let line = &mut self.lines[at];
        let before = line.found[word].replace(now);
        let writer = line.written[word].filter(|writer| writer.cycle <= retire.cycle)?;
        if before.is_some_and(|before| before.value == now.value) {
            return None;
        }
        let Line { since, .. } = *line;
        self.lines.remove(at);
        let looks_anew = before.is_some_and(|before| self.looks_anew(before, now));
        (!looks_anew).then_some(OldCopy { addr, since, writer })
    }

    /// The same instruction has loaded the word before and something else was done since: the first look of a loop,
    /// which may well empty the cache before the next one.
    fn looks_anew(&self, before: Found, now: Found) -> bool {
        let was_parked = self.parked >= before.at && self.polled(now.pc).is_some();
        before.pc == now.pc && now.at - before.at > ROUND && !was_parked
    }

    fn empty(&mut self) {
        self.lines.clear();
        self.emptied = self.count;
    }

    fn flush(&mut self, addr: Option<u32>) {
        match addr {
            Some(addr) => self.lines.retain(|line| addr & !(LINE_BYTES - 1) != line.base),
            None => self.lines.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use isa::asm::{lw, sw};
    use sim_core::Width;

    use super::*;

    const CORE: CoreId = CoreId::Brisc;
    const BASE: u32 = 0x3_0000;
    /// `fence`, and `csrrc` and `csrrs` of `cfg0` with `x6`.
    const FENCE_WORD: u32 = 0x0FF0_000F;
    const CSRRC: u32 = 0x7C0 << 20 | 6 << 15 | 3 << 12 | SYSTEM;
    const CSRRS: u32 = 0x7C0 << 20 | 6 << 15 | 2 << 12 | SYSTEM;

    /// A core whose cache is on, with [`BASE`] in `x5` and the cache's bit in `x6`.
    struct Bench {
        stale: Stale,
        registers: Registers,
        cycle: u64,
    }

    impl Bench {
        fn new() -> Self {
            let mut registers = Registers::reset();
            for (rd, value) in [(5, BASE), (6, off())] {
                registers.retire(&Retire { cycle: Cycle(0), pc: 0, word: 0, rd, value });
            }
            Self { stale: Stale::default(), registers, cycle: 1 }
        }

        fn run(&mut self, word: u32, value: u32) -> Option<u32> {
            self.cycle += 1;
            let retire = Retire { cycle: Cycle(self.cycle), pc: 0xB000, word, rd: 7, value };
            self.stale.retire(CORE, &retire, &self.registers).map(|old| old.addr)
        }

        fn load(&mut self, offset: i32, value: u32) -> Option<u32> {
            self.run(lw(7, 5, offset), value)
        }

        fn write(&mut self, offset: u32) {
            self.cycle += 1;
            let agent = AgentId::Core(CoreId::Ncrisc);
            let stamp = Stamp { cycle: Cycle(self.cycle), agent, pc: 0xC000 };
            let event = Event::L1Store { addr: BASE + offset, value: 1, width: Width::Word };
            self.stale.event(stamp, &event);
        }
    }

    #[test]
    fn word_that_another_has_changed_is_old_until_something_flushes_its_line() {
        type Case = (&'static str, fn(&mut Bench), Option<u32>);
        let between: [Case; 7] = [
            ("nothing", |_| (), Some(BASE)),
            ("a fence", |bench| _ = bench.run(FENCE_WORD, 0), None),
            ("an own store to the line", |bench| _ = bench.run(sw(0, 5, 12), 0), None),
            ("an own store elsewhere", |bench| _ = bench.run(sw(0, 5, 16), 0), Some(BASE)),
            ("the cache off", |bench| _ = bench.run(CSRRS, 0), None),
            (
                "three other lines",
                |bench| (1..4).for_each(|line| _ = bench.load(16 * line, 0)),
                Some(BASE),
            ),
            ("four", |bench| (1..5).for_each(|line| _ = bench.load(16 * line, 0)), None),
        ];
        for (what, act, wanted) in between {
            let mut bench = Bench::new();
            assert_eq!(bench.load(0, 0), None);
            bench.write(0);
            act(&mut bench);
            assert_eq!(bench.load(0, 1), wanted, "{what}");
        }
    }

    #[test]
    fn what_has_not_changed_is_no_old_copy() {
        let mut bench = Bench::new();
        assert_eq!(bench.load(0, 5), None);
        bench.write(4);
        assert_eq!(bench.load(0, 5), None, "another word of the line");
        bench.write(0);
        assert_eq!(bench.load(0, 5), None, "the same value");
        assert_eq!(bench.load(4, 9), Some(BASE + 4), "a word that came with the line");
        assert_eq!(bench.load(4, 9), None, "told once");
    }

    #[test]
    fn cache_is_as_the_program_sets_it() {
        let mut bench = Bench::new();
        let old = |bench: &mut Bench| {
            bench.load(0, 0);
            bench.write(0);
            bench.load(0, 1)
        };
        assert_eq!(old(&mut bench), Some(BASE), "as after reset");
        bench.run(CSRRS, 0);
        assert_eq!(old(&mut bench), None);
        bench.run(CSRRC, 0);
        assert_eq!(old(&mut bench), Some(BASE));
    }

    #[test]
    fn poll_whose_register_is_forgotten_loads_what_it_looked_at() {
        let mut bench = Bench::new();
        assert_eq!(bench.load(0, 0), None);
        bench.write(0);
        bench.registers.forget(2000);
        let head = Retire { cycle: Cycle(2), pc: 0xB000, word: 0, rd: 0, value: 0 };
        bench.registers.retire(&head);
        let span = crate::testing::parked(2, 9, 0xB000, BASE);
        bench.stale.parked(CORE, &span, &bench.registers);
        assert_eq!(bench.load(0, 1), Some(BASE));
    }

    #[test]
    fn loop_with_a_fence_in_its_round_finds_what_is_there() {
        let round = |words: &[u32]| {
            let mut bench = Bench::new();
            for (at, word) in (0..).step_by(4).zip(words) {
                bench.run(*word, 0);
                let (cycle, pc) = (Cycle(bench.cycle), 0xB000 + at);
                bench.registers.retire(&Retire { cycle, pc, word: *word, rd: 0, value: 0 });
            }
            bench.write(0);
            let span = crate::testing::parked(2, 9, 0xB000, BASE);
            bench.stale.parked(CORE, &span, &bench.registers);
            bench.load(0, 1)
        };
        assert_eq!(round(&[lw(7, 5, 0)]), Some(BASE));
        assert_eq!(round(&[FENCE_WORD, lw(7, 5, 0)]), None);
    }

    #[test]
    fn first_look_of_a_loop_that_was_left_before_is_not_told() {
        let later = |instructions: usize| {
            let mut bench = Bench::new();
            assert_eq!(bench.load(0, 0), None);
            bench.write(0);
            (0..instructions).for_each(|_| _ = bench.run(0x13, 0));
            bench.load(0, 1)
        };
        assert_eq!(later(3), Some(BASE));
        assert_eq!(later(100), None);
    }
}
