//! What kernels read: words of L1 that nobody has ever written, and arguments that were not given.
//!
//! Hardware does not clear L1 `[isa-bh: TensixTile/L1.md]`, so such a read is a different value on
//! every board; here it is zero. There are no events for loads: addresses are worked out from the
//! log of executed instructions, whose results are the registers of the next ones; units of the
//! coprocessor tell theirs ([`super::unknown`]). A NoC transfer is a copy: only if a part of its
//! source was never written is it a mistake, else the copy is as unknown as the source. Rounds of a
//! parked loop are not in the log; what was computed shortly before is taken as unknown then.

use std::collections::VecDeque;
use std::ops::Range;

use isa::word::{BRANCH, JAL, JALR, LOAD, imm_i, opcode, rs1};
use rustc_hash::FxHashMap;
use sim_core::l1::L1_BYTES;
use sim_core::observer::ParkedSpan;
use sim_core::{AgentId, CoreId, Event, Observer, Retire, Stamp};

use super::configuration::ARGUMENT_BYTES;
use super::finding::Finding;
use super::hazards as h;
use super::polled::Polled;
use super::report::{Report, coder};
use super::unknown::Unknown;
use super::written::{Extent, Written};
use crate::names::Names;

/// Instructions of the longest loop that a core is parked in, with room to spare.
const FORGOTTEN: usize = 1100;

/// Arguments of a kernel in L1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arguments {
    /// Whose.
    pub core: CoreId,
    /// Where they lie; empty if there are none.
    pub range: Range<u32>,
}

/// Registers of a core as far as the log tells.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    values: [u32; 32],
    /// When each was written, counted in instructions; `u64::MAX` if its value is not known.
    written: [u64; 32],
    count: u64,
    /// Where the last instructions were, and the very last one.
    recent: VecDeque<u32>,
    last: u32,
}

impl Registers {
    pub(super) fn reset() -> Self {
        let count = FORGOTTEN as u64 + 1;
        Self { values: [0; 32], written: [0; 32], count, recent: VecDeque::new(), last: 0 }
    }

    pub(super) fn known(&self, register: u32) -> Option<u32> {
        let index = (register & 31) as usize;
        (self.written[index] != u64::MAX).then_some(self.values[index])
    }

    /// What the log has said last of it, be it still that or not.
    pub(super) fn last_known(&self, register: u32) -> u32 {
        self.values[(register & 31) as usize]
    }

    pub(super) fn retire(&mut self, retire: &Retire) {
        self.count += 1;
        if self.recent.len() == FORGOTTEN {
            self.recent.pop_front();
        }
        self.recent.push_back(retire.pc);
        self.last = retire.word;
        if retire.rd != 0 {
            let index = usize::from(retire.rd & 31);
            (self.values[index], self.written[index]) = (retire.value, self.count);
        }
    }

    /// How many instructions back the one at `pc` was executed last, if that is remembered.
    pub(super) fn back_to(&self, pc: u32) -> Option<u64> {
        self.recent.iter().rev().position(|other| *other == pc).map(|at| at as u64 + 1)
    }

    /// Rounds of a loop were left out: what it writes is not known. A round begins and ends with the same registers, so
    /// that they are the ones that the last rounds in the log have written, if one was carried out to its end.
    pub(super) fn forget_round(&mut self, span: &ParkedSpan) {
        let is_whole = matches!(opcode(self.last), BRANCH | JAL | JALR);
        if !is_whole && span.from == span.until {
            return;
        }
        let back = self.recent.iter().rev().enumerate();
        let mut heads = back.filter(|(_, other)| **other == span.head).map(|(at, _)| at + 1);
        let (last, before) = (heads.next(), heads.next());
        let rounds = before.or(last.filter(|_| is_whole));
        self.forget(rounds.unwrap_or(FORGOTTEN).min(FORGOTTEN));
    }

    /// What the last so many instructions wrote is not known.
    pub(super) fn forget(&mut self, instructions: usize) {
        let forgotten = instructions as u64;
        for written in &mut self.written[1..] {
            if *written != u64::MAX && *written + forgotten > self.count {
                *written = u64::MAX;
            }
        }
    }
}

/// Listens for such reads.
#[derive(Clone, Debug)]
pub struct Accesses<N> {
    report: Report<N>,
    arguments: Vec<Arguments>,
    written: Written,
    unknown: Unknown,
    cores: [Registers; CoreId::COUNT],
    polled: Polled,
    /// What each store instruction has written to.
    extents: FxHashMap<(AgentId, u32), Range<u32>>,
}

/// Bytes behind what was written in which a read is likely to belong to it.
const NEAR: u32 = 4096;

impl<N: Names> Accesses<N> {
    /// Checks with names and the arguments of the launches; L1 below `cleared` is cleared by the
    /// host before it boots. Ids in `suppressed` are not reported. `own` are the coordinates of this
    /// tile as NoC commands name it, `y << 6 | x`.
    pub fn new(
        names: N,
        arguments: Vec<Arguments>,
        (cleared, own): (u32, Vec<u32>),
        suppressed: Vec<String>,
    ) -> Self {
        let mut accesses = Self {
            report: Report::new(names, suppressed),
            arguments,
            written: Written::new(own),
            unknown: Unknown::default(),
            cores: std::array::from_fn(|_| Registers::reset()),
            polled: Polled::default(),
            extents: FxHashMap::default(),
        };
        accesses.written.write(0, cleared);
        accesses
    }

    /// The same, with a look at who reads and writes these words.
    #[must_use]
    pub fn polling(mut self, words: Vec<(u32, u32)>) -> Self {
        self.polled = Polled::new(words);
        self
    }

    /// Who read and wrote the polled words.
    #[must_use]
    pub const fn polled(&self) -> &Polled {
        &self.polled
    }

    /// What was found, in order.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        self.report.findings()
    }

    fn unwritten(&mut self, stamp: Stamp, what: &str, word: u32) {
        if self.report.kernel(stamp).is_some() {
            let text =
                format!("{what} {word:#x}, which nobody has ever written{}", self.before(word));
            self.report.add(stamp, h::C5, text);
        }
    }

    /// Takes note of a store.
    fn extend(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        let own = self.extents.entry((stamp.agent, stamp.pc)).or_insert(addr..addr + bytes);
        *own = own.start.min(addr)..own.end.max(addr + bytes);
    }

    /// Which store of a kernel has written up to a word, if one has.
    fn before(&self, word: u32) -> String {
        let near = |((agent, pc), range): &(&(AgentId, u32), &Range<u32>)| {
            range.end <= word
                && word - range.end < NEAR
                && coder(&self.report.names, *agent, *pc)
                    .is_some_and(|core| self.report.is_kernel(core, *pc))
        };
        let written = self.extents.iter().filter(near);
        let Some(((agent, pc), range)) =
            written.max_by_key(|((agent, pc), range)| (range.end, agent.code(), *pc))
        else {
            return String::new();
        };
        let core = coder(&self.report.names, *agent, *pc);
        let Some(site) = core.and_then(|core| self.report.names.site(core, *pc)) else {
            return String::new();
        };
        format!("; {agent} has written up to {:#x} in {site}", range.end)
    }

    /// A kernel loaded `value` from `addr` of L1.
    fn loaded(&mut self, core: CoreId, retire: &Retire, addr: u32) {
        let stamp = Stamp { cycle: retire.cycle, agent: AgentId::Core(core), pc: retire.pc };
        let own = self.arguments.iter().filter(|arguments| arguments.core == core);
        if own.clone().any(|arguments| arguments.range.contains(&addr)) {
            return;
        }
        // The last arguments before the address, if the kernel has any at all.
        let last = own
            .filter(|arguments| arguments.range.start <= addr)
            .max_by_key(|arguments| (!arguments.range.is_empty(), arguments.range.start));
        let behind = last.and_then(|arguments| {
            let given = &arguments.range;
            let room = given.start..given.start.saturating_add(ARGUMENT_BYTES);
            // What fills a line up belongs to nobody, though the host writes it.
            let fills = addr < given.end.next_multiple_of(16);
            room.contains(&addr).then(|| ((addr - given.start) / 4, given.len() / 4, fills))
        });
        let other = self.arguments.iter().find(|arguments| arguments.range.contains(&addr));
        match (behind, other) {
            (Some((index, given, _)), Some(other)) => {
                let whose = other.core;
                let text = format!(
                    "reads argument {index}, but {core} was given {given}; {addr:#x} belongs to {whose}"
                );
                self.report.add(stamp, h::C9, text);
            }
            (Some((index, given, fills)), None) if fills || !self.written.holds(addr) => {
                let text = format!("reads argument {index}, but {core} was given {given}");
                self.report.add(stamp, h::C9, text);
            }
            _ if !self.written.holds(addr) && retire.value == 0 => {
                let text = format!(
                    "reads L1 word {:#x}, which nobody has ever written{}",
                    addr & !3,
                    self.before(addr & !3)
                );
                self.report.add(stamp, h::C5, text);
            }
            _ => {}
        }
    }
}

/// The address that a load reads, if its word is one: `lb` to `lhu`
/// `[riscv: 2.6]`.
pub(super) fn load_address(word: u32, registers: &Registers) -> Option<u32> {
    if opcode(word) != LOAD {
        return None;
    }
    registers.known(rs1(word)).map(|base| base.wrapping_add_signed(imm_i(word)))
}

/// From where a load reads if its base is still what the log has said last of it.
pub(super) fn likely_address(word: u32, registers: &Registers) -> u32 {
    registers.last_known(rs1(word)).wrapping_add_signed(imm_i(word))
}

impl<N: Names + 'static> Observer for Accesses<N> {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::L1Store { addr, .. } | Event::L1Atomic { addr, .. } = *event {
            let bytes = if let Event::L1Store { width, .. } = event { width.bytes() } else { 4 };
            self.extend(stamp, addr, bytes);
            let atomic = matches!(event, Event::L1Atomic { .. });
            self.polled.wrote(stamp.agent, stamp.pc, stamp.cycle.0, addr, atomic);
            if matches!(stamp.agent, AgentId::Thread(_) | AgentId::Unit(_)) {
                for (reader, word) in self.unknown.written() {
                    self.unwritten(reader, "reads L1 word", word);
                }
            }
        }
        if let Event::Reset { core, asserted: false, .. } = *event {
            self.cores[core.index()] = Registers::reset();
        }
        if let Some(word) = self.written.event(stamp, event) {
            self.unwritten(stamp, "a NoC transfer takes L1 word", word);
        }
    }

    fn wants_l1_reads(&self) -> bool {
        true
    }

    fn l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        let (missing, some_written) = match self.written.extent(addr, bytes) {
            Extent::Everything => (None, true),
            Extent::Part(word) => (Some(word), true),
            Extent::Nothing => (Some(addr & !3), false),
        };
        if let Some(word) = self.unknown.read(stamp, missing, some_written) {
            self.unwritten(stamp, "reads L1 word", word);
        }
    }

    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        let addr = load_address(retire.word, &self.cores[core.index()]);
        self.cores[core.index()].retire(retire);
        let Some(addr) = addr.filter(|addr| *addr < L1_BYTES) else { return };
        self.polled.loaded(core, retire.cycle.0, addr, retire.value);
        if self.report.is_kernel(core, retire.pc) {
            self.loaded(core, retire, addr);
        }
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        self.cores[core.index()].forget_round(&span);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![(0, L1_BYTES)]
    }
}

#[cfg(test)]
mod tests {
    use isa::asm::{addi, bne, lw};
    use sim_core::Cycle;

    use super::*;

    /// Which of x8, written in front of a loop, and x5 and x6, written in it, are known behind a poll: of the
    /// instructions in the log, whether the loop has gone round, whether time has passed.
    fn known(instructions: &[(u32, u8, u32)], until: u64, head: u32) -> [bool; 3] {
        let mut registers = Registers::reset();
        for &(pc, rd, word) in instructions {
            registers.retire(&Retire { cycle: Cycle(1), pc, word, rd, value: pc });
        }
        let (from, until) = (Cycle(5), Cycle(until));
        let looks = [None; sim_core::observer::Look::KEPT];
        let span =
            ParkedSpan { from, until, pc: head + 4, reads: None, head, period_cycles: 8, looks };
        registers.forget_round(&span);
        [8, 5, 6].map(|register| registers.known(register).is_some())
    }

    #[test]
    fn poll_forgets_what_its_rounds_write() {
        let round = [(0x104, 5, addi(5, 8, 4)), (0x108, 6, lw(6, 5, 0)), (0x10C, 0, bne(6, 0, -8))];
        let once = [&[(0x100, 8, 0)], &round[..]].concat();
        assert_eq!(known(&once, 90, 0x104), [true, false, false]);
        assert_eq!(known(&once, 90, 0x108), [true, true, false]);
        let twice = [&once[..], &round[..]].concat();
        assert_eq!(known(&twice, 90, 0x104), [true, false, false]);
        // It was entered in the middle.
        assert_eq!(known(&once, 90, 0x0FC), [false; 3]);
        // The first round is not over: it goes on from there, or what it has written since is not known.
        assert_eq!(known(&once[..3], 5, 0x104), [true; 3]);
        assert_eq!(known(&once[..3], 90, 0x104), [false; 3]);
    }
}
