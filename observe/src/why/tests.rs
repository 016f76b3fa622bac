//! Which wait is taken for the root. The scenes are what the kernels of hung programs leave behind;
//! what is wrong with each is said in its test.

use std::collections::BTreeMap;

use sim_core::observer::SemaphoreOp;
use sim_core::{
    AgentId, CoreId, Cycle, Event, Observer, Retire, Stamp, ThreadId, WaitReason, Width,
};
use tile::{AgentWait, WatchedLoad};

use super::{CircularBuffer, End, Explanation, Loops, Machine, Polled, Scene, explain};
use crate::ledger::Ledger;
use crate::names::BuiltInNames;
use crate::resource::{ACKED, RECEIVED};

const B: AgentId = AgentId::Core(CoreId::Brisc);
const NC: AgentId = AgentId::Core(CoreId::Ncrisc);
const C0: AgentId = AgentId::Core(CoreId::Trisc0);
const C1: AgentId = AgentId::Core(CoreId::Trisc1);
const C2: AgentId = AgentId::Core(CoreId::Trisc2);
const T0: AgentId = AgentId::Thread(ThreadId::T0);
const T1: AgentId = AgentId::Thread(ThreadId::T1);
const T2: AgentId = AgentId::Thread(ThreadId::T2);
const MATH_PACK: u8 = 1;
const EBREAK: u32 = 0x0010_0073;
/// First stream register `[spec: boot-and-sync 3]`.
const STREAMS: u32 = 0xFFB4_0000;

/// L1 as far as it is not zero.
#[derive(Default)]
struct Memory(BTreeMap<u32, u32>);

impl Machine for Memory {
    fn l1(&self, addr: u32, _: Width) -> u32 {
        self.0.get(&addr).copied().unwrap_or(0)
    }

    fn register(&self, _: CoreId, _: u8) -> u32 {
        0
    }
}

/// A hung tile.
#[derive(Default)]
struct Hang {
    memory: Memory,
    ledger: Ledger,
    loops: Loops,
    waits: Vec<AgentWait>,
    cycle: u64,
}

impl Hang {
    fn event(&mut self, agent: AgentId, event: &Event) {
        self.cycle += 10;
        self.ledger.event(Stamp { cycle: Cycle(self.cycle), agent, pc: 0x80 }, event);
    }

    /// One page is pushed into a buffer, or popped; the counter is then at `count`.
    fn credit(&mut self, agent: AgentId, stream: u8, register: u16, count: u32) {
        let event = Event::Stream { stream, register, before: count - 1, after: count };
        self.event(agent, &event);
    }

    fn semaphore(&mut self, agent: AgentId, op: SemaphoreOp, before: u8, after: u8) {
        let event = Event::Semaphore { index: MATH_PACK, op, before, after, max: 2 };
        self.event(agent, &event);
    }

    fn wait(&mut self, agent: AgentId, reason: WaitReason, pc: u32) -> &mut AgentWait {
        self.cycle += 10;
        self.waits.push(AgentWait {
            agent,
            reason,
            since: (reason != WaitReason::Halted).then_some(Cycle(self.cycle)),
            pc: Some(pc),
            word: None,
            held: None,
            reads: Vec::new(),
            enders: reason.enders(agent),
            stuck: true,
        });
        self.waits.last_mut().expect("just pushed")
    }

    /// A core polls the credits of a buffer: both, or only those received.
    fn polls(&mut self, agent: AgentId, stream: u32, received: u32, acked: Option<u32>, pc: u32) {
        let load = |register: u16, value: u32, pc: u32| {
            let addr = STREAMS + stream * 0x1000 + u32::from(register) * 4;
            WatchedLoad { addr, value, width: Width::Word, pc, device: true }
        };
        let reads =
            [acked.map(|value| load(ACKED, value, pc)), Some(load(RECEIVED, received, pc + 4))];
        let wait = self.wait(agent, WaitReason::Spin, pc);
        wait.reads = reads.into_iter().flatten().collect();
        let cores = CoreId::ALL.map(AgentId::Core).into_iter();
        wait.enders = cores.filter(|other| *other != agent).collect();
    }

    /// A Tensix thread waits until MATH_PACK is not 0, or not at its maximum.
    fn waits_for_math_pack(&mut self, thread: AgentId, condition: u8) {
        self.wait(thread, WaitReason::Semaphore { mask: 1 << MATH_PACK, condition }, 0x400);
    }

    fn executed(&mut self, core: CoreId, pc: u32, word: u32, rd: u8, value: u32) {
        self.loops.retire(core, &Retire { cycle: Cycle(self.cycle), pc, word, rd, value });
    }

    fn explain(&self) -> Explanation {
        let buffer = |index| CircularBuffer {
            index,
            address: 0x2_0000,
            size: 0x1000,
            pages: 2,
            page_bytes: 0x800,
        };
        let scene = Scene {
            end: End::Deadlock,
            found: self.cycle,
            closed: None,
            waits: &self.waits,
            ledger: &self.ledger,
            findings: &[],
            machine: &self.memory,
            loops: &self.loops,
            polled: &Polled::default(),
            names: &BuiltInNames,
            wrong: None,
            circular: &[buffer(0), buffer(16), buffer(17)],
            launches: &[],
        };
        explain(&scene, None)
    }
}

/// Who is the root.
fn root(explanation: &Explanation) -> Option<AgentId> {
    explanation.chain.last().map(|at| explanation.waits[*at].agent)
}

/// The math core stops at `ebreak` in its fourth round; the packer waits for it, the writer for the
/// packer. It is told where the `ebreak` is, not what stands behind it.
#[test]
fn halted_core_is_the_root_and_stands_at_its_ebreak() {
    let mut hang = Hang::default();
    for page in 1..=3 {
        hang.credit(T2, 16, RECEIVED, page);
        hang.credit(B, 16, ACKED, page);
        hang.semaphore(T1, SemaphoreOp::Post, 0, 1);
        hang.semaphore(T2, SemaphoreOp::Get, 1, 0);
    }
    hang.waits_for_math_pack(T2, 1);
    hang.polls(B, 16, 3, Some(3), 0x100);
    hang.wait(C2, WaitReason::InstructionFifoFull { thread: ThreadId::T2 }, 0x300);
    hang.memory.0.insert(0x200, EBREAK);
    hang.wait(C1, WaitReason::Halted, 0x204);
    let explanation = hang.explain();
    assert_eq!(root(&explanation), Some(C1), "{explanation}");
    let told = explanation.waits.iter().find(|wait| wait.agent == C1);
    assert_eq!(told.and_then(|wait| wait.pc), Some(0x200));
    assert_eq!(explanation.hazard.map(|hazard| hazard.id), Some("A18"));
    assert!(!explanation.circle, "{explanation}");
}

/// Words of `lw a0, 0(a2)`, `sub a0, a0, a5`, `bltu a0, a3, -8`.
const LW: u32 = 0x0006_2503;
const SUB: u32 = 0x40F5_0533;
const BLTU: u32 = 0xFED5_6CE3;

/// The consumer wants four pages at once of a buffer of two: the producer fills it and waits.
#[test]
fn wait_beyond_the_capacity_is_the_root_and_says_the_amounts() {
    let mut hang = Hang::default();
    hang.credit(NC, 0, RECEIVED, 1);
    hang.credit(NC, 0, RECEIVED, 2);
    hang.polls(B, 16, 0, Some(0), 0x100);
    hang.waits_for_math_pack(T2, 1);
    hang.executed(CoreId::Trisc0, 0x1F8, 0x0040_0693, 13, 4);
    for _ in 0..3 {
        hang.executed(CoreId::Trisc0, 0x204, LW, 10, 2);
        hang.executed(CoreId::Trisc0, 0x208, SUB, 10, 2);
        hang.executed(CoreId::Trisc0, 0x20C, BLTU, 0, 0);
    }
    hang.polls(C0, 0, 2, None, 0x200);
    hang.polls(NC, 0, 2, Some(0), 0x500);
    hang.wait(T1, WaitReason::SrcBank { operand: 0, for_matrix: true, bank: 0 }, 0x300);
    let explanation = hang.explain();
    assert_eq!(root(&explanation), Some(C0), "{explanation}");
    assert!(
        explanation.headline.starts_with("TRISC0 waits for 4 pages of CB 0, which has 2"),
        "{explanation}"
    );
    assert_eq!(explanation.hazard.map(|hazard| hazard.id), Some("A2"));
}

/// The reader asks for room in a buffer that the launch has not, and all wait for what it would push elsewhere.
#[test]
fn room_in_a_buffer_that_the_launch_lacks_is_the_root() {
    let mut hang = Hang::default();
    hang.credit(NC, 1, RECEIVED, 1);
    hang.polls(B, 16, 0, Some(0), 0x100);
    hang.polls(C0, 0, 0, None, 0x200);
    hang.polls(NC, 1, 1, Some(0), 0x500);
    let explanation = hang.explain();
    assert_eq!(root(&explanation), Some(NC), "{explanation}");
    let text = "(1 pushed, 0 popped, 1 pages in it; the launch has set up CB 0, 16, 17 only)";
    assert!(explanation.headline.ends_with(&format!("CB 1 {text}")), "{explanation}");
}

/// As above, and nobody can tell how many pages are wanted: each waits for the other side of one
/// buffer, which is a circle.
#[test]
fn both_sides_of_a_buffer_are_a_circle() {
    let mut hang = Hang::default();
    hang.credit(NC, 0, RECEIVED, 1);
    hang.credit(NC, 0, RECEIVED, 2);
    hang.polls(B, 16, 0, Some(0), 0x100);
    hang.polls(C0, 0, 2, None, 0x200);
    hang.polls(NC, 0, 2, Some(0), 0x500);
    let explanation = hang.explain();
    let circle = explanation.waits.iter().filter(|wait| wait.root);
    let circle: Vec<_> = circle.map(|wait| wait.agent).collect();
    assert_eq!(circle, [C0, NC], "{explanation}");
    assert!(explanation.circle);
}

/// The writer takes from CB 17 what the packer puts into CB 16: who could push and who could pop
/// there wait for each other only as far as one guesses.
#[test]
fn guess_makes_no_circle_and_the_buffer_without_producer_is_the_root() {
    let mut hang = Hang::default();
    for page in 1..=2 {
        hang.credit(T2, 16, RECEIVED, page);
        hang.semaphore(T1, SemaphoreOp::Post, 0, 1);
        hang.semaphore(T2, SemaphoreOp::Get, 1, 0);
        hang.credit(NC, 0, RECEIVED, page);
        hang.credit(T0, 0, ACKED, page);
    }
    hang.polls(C2, 16, 2, Some(0), 0x600);
    hang.polls(B, 17, 0, Some(0), 0x100);
    hang.waits_for_math_pack(T1, 2);
    hang.wait(C1, WaitReason::InstructionFifoFull { thread: ThreadId::T1 }, 0x300);
    let explanation = hang.explain();
    assert_eq!(root(&explanation), Some(B), "{explanation}");
    assert!(!explanation.circle, "{explanation}");
    assert_eq!(explanation.hazard.map(|hazard| hazard.id), Some("A1"));
    assert!(explanation.headline.contains("CB 17 (never touched)"), "{explanation}");
}

/// The math thread never posts MATH_PACK and is through: the packer waits, and the writer for it.
#[test]
fn wait_for_a_poster_that_has_finished_is_the_root() {
    let mut hang = Hang::default();
    hang.semaphore(T1, SemaphoreOp::Init, 0, 0);
    hang.credit(NC, 0, RECEIVED, 1);
    hang.credit(T0, 0, ACKED, 1);
    hang.polls(B, 16, 0, Some(0), 0x100);
    hang.waits_for_math_pack(T2, 1);
    hang.wait(C2, WaitReason::InstructionFifoFull { thread: ThreadId::T2 }, 0x300);
    let explanation = hang.explain();
    assert_eq!(root(&explanation), Some(T2), "{explanation}");
    assert_eq!(explanation.hazard.map(|hazard| hazard.id), Some("A6"));
    let missing = explanation.missing.as_deref().unwrap_or_default();
    assert!(missing.contains("TRISC1 has finished"), "{missing}");
    assert!(!explanation.circle);
}

/// A post of the launch before says nothing about this one: the setup came since.
#[test]
fn actors_of_an_earlier_setup_are_not_those_of_this_one() {
    let mut hang = Hang::default();
    hang.semaphore(T0, SemaphoreOp::Post, 0, 1);
    hang.semaphore(T1, SemaphoreOp::Init, 1, 0);
    hang.waits_for_math_pack(T2, 1);
    hang.wait(C2, WaitReason::InstructionFifoFull { thread: ThreadId::T2 }, 0x300);
    hang.wait(T0, WaitReason::SrcBank { operand: 0, for_matrix: false, bank: 0 }, 0x300);
    let explanation = hang.explain();
    let missing = explanation.missing.as_deref().unwrap_or_default();
    assert_eq!(root(&explanation), Some(T2), "{explanation}");
    assert!(missing.contains("TRISC1 has finished"), "{missing}");
}
