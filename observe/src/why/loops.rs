//! Loops that cores go round when a limit ends the run.
//!
//! A hint, no proof: a loop that stores, or whose registers change, may end. Cores that provably wait are
//! parked, and among the waits.

use std::collections::VecDeque;

use isa::word::{LOAD, STORE, funct3, imm_i, opcode, rs1};
use memory_map::layout::{LOCAL_RAM_BASE, LOCAL_RAM_BYTES_DM};
use serde::Serialize;
use sim_core::l1::L1_BYTES;
use sim_core::{AgentId, CoreId, Observer, Retire, ThreadId, WaitReason, Width};
use tile::{AgentWait, WatchedLoad};

use super::compared::Values;
use super::scene::Scene;
use crate::describe::{as_text, view_of};
use crate::names::CodeName;

/// Instructions that are remembered of each core.
const REMEMBERED: usize = 768;
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

/// Remembers the last instructions of each core.
#[derive(Clone, Debug, Default)]
pub struct Loops([VecDeque<Retire>; CoreId::COUNT]);

impl Loops {
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
            None => ("is at work".to_owned(), self.0[core.index()].back()?.pc),
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
        self.0[core.index()].iter()
    }

    /// The shortest loop that the last instructions are.
    fn round(&self, core: CoreId) -> Option<Round> {
        let last: Vec<_> = self.0[core.index()].iter().rev().copied().collect();
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

/// Whether a register shows nothing but time.
fn is_clock(core: CoreId, addr: u32) -> bool {
    let name = memory_map::register_name(view_of(core), addr);
    name.is_some_and(|name| name.contains("WALL_CLOCK"))
}

impl Observer for Loops {
    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        let last = &mut self.0[core.index()];
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
    fn straight_code_is_no_loop() {
        assert_eq!(round((0..400).map(|i| 4 * i), NOP), None);
    }
}
