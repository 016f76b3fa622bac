//! What cores executed last, the loops that they go round when a limit ends the run, and how often each
//! branch went which way.
//!
//! A loop is a hint, no proof: one that stores, or whose registers change, may end. Cores that provably wait
//! are parked, and among the waits.

use std::collections::VecDeque;
use std::ops::Range;

use isa::word::{BRANCH, JAL, JALR, LOAD, STORE, branch_target, funct3, imm_i, opcode, rd, rs1};
use memory_map::layout::{LOCAL_RAM_BASE, LOCAL_RAM_BYTES_DM};
use rustc_hash::FxHashMap;
use serde::Serialize;
use sim_core::l1::L1_BYTES;
use sim_core::{AgentId, CoreId, Event, Observer, Retire, Stamp, ThreadId, WaitReason, Width};
use tile::{AgentWait, Tile, WatchedLoad};

use super::compared::Values;
use super::origin::{Operands, Origins};
use super::scene::Scene;
use crate::describe::as_text;
use crate::names::CodeName;
use crate::polls::is_clock;

/// Instructions that are remembered of each core.
const REMEMBERED: usize = 768;
/// Callers of a function that are remembered.
const CALLERS: usize = 64;
/// The link register of calls.
const LINK: u32 = 1;
/// That of calls to what saves registers.
const ALTERNATE_LINK: u32 = 5;
/// Rounds that have to be alike.
const ROUNDS: usize = 3;

/// A core that does not wait.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Running {
    /// Which.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// What it does, in words.
    pub text: String,
    /// The first instruction of the loop, or the last one executed.
    pub pc: u32,
    /// Where that is in the source.
    pub code: Option<CodeName>,
}

/// A round of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Round {
    head: u32,
    instructions: usize,
    stores: bool,
}

/// How often a branch went one way since the launch, which time was the last, counted over both ways, and
/// when that was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Outcome {
    pub(super) count: u64,
    pub(super) last: u64,
    pub(super) cycle: u64,
    /// What it compared that time.
    pub(super) operands: Operands,
}

/// What became of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Outcomes {
    pub(super) passed: Outcome,
    pub(super) taken: Outcome,
}

/// A call instruction, and when it called first and last.
#[derive(Clone, Copy, Debug)]
struct Call {
    pc: u32,
    /// Whether it leaves a return address, so that it is no jump within the function.
    links: bool,
    first: u64,
    last: u64,
}

/// Remembers the last instructions of each core, its branches and its calls.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// By the first instruction of what is called.
    calls: [FxHashMap<u32, Vec<Call>>; CoreId::COUNT],
    last: [VecDeque<Retire>; CoreId::COUNT],
    branches: [FxHashMap<u32, Outcomes>; CoreId::COUNT],
    origins: [Origins; CoreId::COUNT],
    /// What the branch that was executed last compared.
    pending: [Operands; CoreId::COUNT],
}

impl Loops {
    /// Of a tile that nobody has watched: what the cores execute that are parked in a loop, of which everything is
    /// known that a few rounds tell, and nothing of what came before.
    #[must_use]
    pub fn of_parked<O: Observer>(tile: &Tile<O>) -> Self {
        let rounds = |core| tile.rounds(core, ROUNDS as u64, REMEMBERED).into();
        Self { last: CoreId::ALL.map(rounds), ..Self::default() }
    }

    /// What the cores do that are not among the waits of a scene.
    pub(super) fn running(&self, scene: &Scene<'_>) -> Vec<Running> {
        let waits = |core| scene.waits.iter().any(|wait| wait.agent == AgentId::Core(core));
        let cores = CoreId::ALL.into_iter().filter(|&core| !waits(core));
        cores.filter_map(|core| self.of(core, scene)).collect()
    }

    fn of(&self, core: CoreId, scene: &Scene<'_>) -> Option<Running> {
        let agent = AgentId::Core(core);
        let (text, pc) = match self.round(core) {
            Some(Round { head, instructions, stores }) => {
                let what = if stores { ", storing in each round" } else { "" };
                (format!("goes round a loop of {instructions} instructions{what}"), head)
            }
            None => ("is at work".to_owned(), self.last[core.index()].back()?.pc),
        };
        Some(Running { agent, text, pc, code: scene.code(agent, pc) })
    }

    /// Polls of cores that go round a loop which is not closed: it stores, or looks at the clock. As
    /// if they were parked there, but nothing is proved.
    pub(super) fn polls(&self, scene: &Scene<'_>) -> Vec<AgentWait> {
        let waits = |core| scene.waits.iter().any(|wait| wait.agent == AgentId::Core(core));
        let cores = CoreId::ALL.into_iter().filter(|&core| !waits(core));
        cores.filter_map(|core| self.poll(scene, core)).collect()
    }

    fn poll(&self, scene: &Scene<'_>, core: CoreId) -> Option<AgentWait> {
        let round = self.round(core)?;
        let log: Vec<_> = self.log(core).collect();
        let values = Values { scene, core, log: &log };
        let last = log.len() - round.instructions..log.len();
        let loads = last.filter_map(|at| load(&values, at));
        let reads: Vec<_> = loads.filter(|load| !is_clock(core, load.addr)).collect();
        let agent = AgentId::Core(core);
        let cores = CoreId::ALL.into_iter().filter(|other| *other != core).map(AgentId::Core);
        let threads = ThreadId::ALL.into_iter().map(AgentId::Thread);
        let others = [AgentId::Noc(0), AgentId::Noc(1), AgentId::Host];
        Some(AgentWait {
            agent,
            reason: WaitReason::Spin,
            since: None,
            pc: Some(reads.first()?.pc),
            word: None,
            held: None,
            reads,
            enders: cores.chain(threads).chain(others).collect(),
            stuck: false,
        })
    }

    /// What a core has executed last, oldest first.
    pub(super) fn log(&self, core: CoreId) -> impl DoubleEndedIterator<Item = &Retire> {
        self.last[core.index()].iter()
    }

    /// What the loop that a core is in compared last, with the branch.
    pub(super) fn compares(&self, core: CoreId) -> Option<Operands> {
        let branch = self.log(core).rev().find(|retire| opcode(retire.word) == BRANCH)?;
        let Outcomes { passed, taken } = self.outcomes(core, branch.pc);
        let last = if passed.last > taken.last { passed } else { taken };
        (last.count > 0).then_some(last.operands)
    }

    /// The last instruction that a core has executed within a range of its code.
    pub(super) fn last_within(&self, core: CoreId, code: &Range<u32>) -> Option<u32> {
        self.log(core).rev().map(|retire| retire.pc).find(|pc| code.contains(pc))
    }

    /// What became of the branch at `pc` since the launch.
    pub(super) fn outcomes(&self, core: CoreId, pc: u32) -> Outcomes {
        self.branches[core.index()].get(&pc).copied().unwrap_or_default()
    }

    /// Takes note of where a branch led to.
    fn branched(&mut self, core: CoreId, branch: &Retire, next: u32) {
        let taken = next == branch_target(branch.word, branch.pc);
        // Rounds of a parked loop are left out: what follows then is no answer.
        if !taken && next != branch.pc.wrapping_add(4) {
            return;
        }
        let known = self.branches[core.index()].entry(branch.pc).or_default();
        let last = known.passed.count + known.taken.count + 1;
        let outcome = if taken { &mut known.taken } else { &mut known.passed };
        let (count, operands) = (outcome.count + 1, self.pending[core.index()]);
        *outcome = Outcome { count, last, cycle: branch.cycle.0, operands };
    }

    /// Takes note of a call.
    fn called(&mut self, core: CoreId, call: &Retire, entry: u32) {
        let calls = self.calls[core.index()].entry(entry).or_default();
        let cycle = call.cycle.0;
        if let Some(known) = calls.iter_mut().find(|known| known.pc == call.pc) {
            known.last = cycle;
        } else if calls.len() < CALLERS {
            let links = rd(call.word) == LINK;
            calls.push(Call { pc: call.pc, links, first: cycle, last: cycle });
        }
    }

    /// The call, or jump, from elsewhere to a function at a cycle; `is_own` says of an address whether it is the function's. The
    /// last one before, as far as that is known: of calls that were repeated since, the one that began last.
    pub(super) fn call(
        &self,
        core: CoreId,
        cycle: u64,
        is_own: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let own = self.calls[core.index()].iter().filter(|(entry, _)| is_own(**entry));
        let calls = own.flat_map(|(_, calls)| calls);
        let is_call = |call: &&Call| call.links || !is_own(call.pc);
        let calls = calls.filter(|call| call.first <= cycle && is_call(call));
        let when = |call: &&Call| if call.last <= cycle { call.last } else { call.first };
        calls.max_by_key(when).map(|call| call.pc)
    }

    /// The calls and jumps from elsewhere to a function.
    pub(super) fn callers(&self, core: CoreId, is_own: impl Fn(u32) -> bool) -> Vec<u32> {
        let own = self.calls[core.index()].iter().filter(|(entry, _)| is_own(**entry));
        let calls = own.flat_map(|(_, calls)| calls).filter(|call| call.links || !is_own(call.pc));
        let mut pcs: Vec<u32> = calls.map(|call| call.pc).collect();
        pcs.sort_unstable();
        pcs
    }

    /// The shortest loop that the last instructions are.
    fn round(&self, core: CoreId) -> Option<Round> {
        let last: Vec<_> = self.last[core.index()].iter().rev().copied().collect();
        let repeats = |&period: &usize| {
            (0..(ROUNDS - 1) * period).all(|back| last[back].pc == last[back + period].pc)
        };
        let period = (1..=last.len() / ROUNDS).find(repeats)?;
        let round = &last[..period];
        let stores = round.iter().any(|retire| opcode(retire.word) == STORE);
        let head = round.iter().map(|retire| retire.pc).min()?;
        Some(Round { head, instructions: period, stores })
    }
}

/// Whether a jump goes back to a return address.
fn is_return(word: u32) -> bool {
    opcode(word) == JALR && rd(word) == 0 && matches!(rs1(word), LINK | ALTERNATE_LINK)
}

/// The load that entry `at` of a log is, if it is one from outside the core.
fn load(values: &Values<'_, '_>, at: usize) -> Option<WatchedLoad> {
    let Retire { pc, word, value, .. } = *values.log[at];
    if opcode(word) != LOAD {
        return None;
    }
    let addr = values.before(at, rs1(word) as u8).wrapping_add_signed(imm_i(word));
    let width = match funct3(word) & 3 {
        0 => Width::Byte,
        1 => Width::Half,
        _ => Width::Word,
    };
    let local = LOCAL_RAM_BASE..LOCAL_RAM_BASE + LOCAL_RAM_BYTES_DM;
    let device = addr >= L1_BYTES;
    (!local.contains(&addr)).then_some(WatchedLoad { addr, value, width, pc, device })
}

impl Observer for Loops {
    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn event(&mut self, _: Stamp, event: &Event) {
        let signal = || memory_map::mailbox::address("go_messages[0].signal");
        if let Event::HostWrite { addr, bytes, .. } = *event
            && signal().is_some_and(|at| (addr..addr.saturating_add(bytes)).contains(&at))
        {
            self.branches.iter_mut().for_each(FxHashMap::clear);
            self.calls.iter_mut().for_each(FxHashMap::clear);
        }
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        let before = self.last[core.index()].back().copied();
        if let Some(before) = before {
            match opcode(before.word) {
                BRANCH => self.branched(core, &before, retire.pc),
                // A call at the end of a function is a jump.
                JAL | JALR if !is_return(before.word) => self.called(core, &before, retire.pc),
                _ => {}
            }
        }
        let origins = &mut self.origins[core.index()];
        if opcode(retire.word) == BRANCH {
            self.pending[core.index()] = origins.operands(retire.word);
        }
        origins.retire(retire);
        let last = &mut self.last[core.index()];
        if last.len() == REMEMBERED {
            last.pop_front();
        }
        last.push_back(*retire);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::Cycle;

    const SW: u32 = 0x0053_2023;
    const NOP: u32 = 0x13;

    fn round(pcs: impl IntoIterator<Item = u32>, word: u32) -> Option<Round> {
        let mut loops = Loops::default();
        for pc in pcs {
            let retire = Retire { cycle: Cycle(0), pc, word, rd: 0, value: 0 };
            loops.retire(CoreId::Ncrisc, &retire);
        }
        loops.round(CoreId::Ncrisc)
    }

    #[test]
    fn loop_is_found_with_its_head_and_length() {
        let pcs = [0x10, 0x14].into_iter().chain([0x20, 0x24, 0x28].repeat(100));
        let found = round(pcs.clone(), NOP);
        assert_eq!(found, Some(Round { head: 0x20, instructions: 3, stores: false }));
        assert!(round(pcs, SW).is_some_and(|round| round.stores));
    }

    #[test]
    fn branch_is_counted_by_where_it_led_to() {
        let mut loops = Loops::default();
        let branch = isa::asm::bne(5, 6, -4);
        for (cycle, (pc, word)) in
            [(0x14, branch), (0x10, NOP), (0x14, branch), (0x18, NOP)].into_iter().enumerate()
        {
            let retire = Retire { cycle: Cycle(cycle as u64), pc, word, rd: 0, value: 0 };
            loops.retire(CoreId::Ncrisc, &retire);
        }
        let found = loops.outcomes(CoreId::Ncrisc, 0x14);
        assert_eq!(found.taken, Outcome { count: 1, last: 1, cycle: 0, ..Outcome::default() });
        assert_eq!(found.passed, Outcome { count: 1, last: 2, cycle: 2, ..Outcome::default() });
    }

    #[test]
    fn straight_code_is_no_loop() {
        assert_eq!(round((0..400).map(|i| 4 * i), NOP), None);
    }
}
