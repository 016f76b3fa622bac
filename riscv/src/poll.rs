//! Which backward jumps close a loop that can only be waiting for somebody else.
//!
//! A loop in which nothing that is computed in one round enters the next, and which stores nothing,
//! goes round for one reason only: what it loads has not changed yet. That can be read off its
//! instructions when the jump is decoded, so a core that begins to poll is looked at when it jumps
//! back for the first time, and loops that compute are left alone.
//!
//! Then the next round is *foreseen*: carried out on the side with what the core would load, and
//! taken back. If it ends where it began, the core is parked ([`crate::park`]). Whether a loop is
//! marked is only a hint: branches inside the body are taken to fall through.

use sim_core::{Cycle, Shared};

use crate::core::{Core, Status};
use crate::op::{Kind, Op, SINK};
use crate::park::{Spin, WatchedLoad};
use crate::run::Slice;

/// Most instructions of a loop that is looked at.
pub(crate) const MAX_BODY: u32 = 32;

/// The jump that a [`Kind::Poll`] stands for.
pub(crate) const fn original(op: Op) -> Op {
    const KINDS: [Kind; 7] =
        [Kind::Jal, Kind::Beq, Kind::Bne, Kind::Blt, Kind::Bge, Kind::Bltu, Kind::Bgeu];
    Op { kind: KINDS[op.rd as usize % KINDS.len()], rd: SINK, ..op }
}

/// The same jump, marked: its kind goes where its destination was, which it has not.
const fn marked(op: Op) -> Option<Op> {
    let number = match op.kind {
        Kind::Jal if op.rd == SINK => 0,
        Kind::Beq => 1,
        Kind::Bne => 2,
        Kind::Blt => 3,
        Kind::Bge => 4,
        Kind::Bltu => 5,
        Kind::Bgeu => 6,
        _ => return None,
    };
    Some(Op { kind: Kind::Poll, rd: number, ..op })
}

/// `op`, which belongs to `pc`; marked if it closes a polling loop. `fetch` gives the decoded
/// instruction at an address.
pub(crate) fn mark(op: Op, pc: u32, fetch: impl Fn(u32) -> Op) -> Op {
    let Some(marked) = marked(op) else { return op };
    let back = pc.wrapping_sub(op.imm);
    if back > 4 * MAX_BODY || op.imm & 3 != 0 {
        return op;
    }
    let mut flow = Flow::new();
    let polls = (op.imm..pc).step_by(4).all(|at| flow.pass(fetch(at)));
    if polls && flow.settles() { marked } else { op }
}

/// Whether an instruction does nothing but change registers and look.
pub(crate) fn is_harmless(op: Op) -> bool {
    Flow::new().pass(op) || marked(op).is_some()
}

/// Loads of a round that is carried out on the side.
#[derive(Debug)]
pub(crate) struct Foreseen {
    pub(crate) loads: Vec<WatchedLoad>,
    /// Cycle of the oldest value used.
    pub(crate) oldest: u64,
}

impl Core {
    /// The values it is parked on are those of that cycle too.
    pub fn renew_spin(&mut self, now: Cycle) {
        if let Status::Parked(spin) = &mut self.status {
            spin.seen = spin.seen.max(now.0);
        }
    }

    /// Nothing but cores is at work any more: a core that was woken because a device might have
    /// changed may be parked again at once.
    pub fn calm(&mut self) {
        self.prober.calm();
    }

    /// The round that begins at the pc, if it leads back there with equal registers as long as the
    /// registers of devices show what they showed when they were last read from the same place.
    pub(crate) fn foresee(&mut self, shared: &Shared) -> Option<Spin> {
        const REGISTERS: usize = SINK as usize + 1;
        let (head, cycle, instructions) = (self.pc, self.cycle, self.instructions);
        let mut before = [0; REGISTERS];
        before.copy_from_slice(&self.x[..REGISTERS]);
        let foreseen = Foreseen { loads: self.prober.take_loads(), oldest: cycle };
        let mut slice = Slice {
            shared,
            until: u64::MAX,
            direct: false,
            replay: None,
            foreseen: Some(foreseen),
        };
        let mut closed = false;
        for _ in 0..=MAX_BODY {
            if !self.step(&mut slice) || self.pc == head {
                closed = self.pc == head && self.instructions != instructions;
                break;
            }
        }
        let period_cycles = self.cycle - cycle;
        let period_instructions = self.instructions - instructions;
        closed &= self.x[1..32] == before[1..32];
        self.x[..REGISTERS].copy_from_slice(&before);
        (self.pc, self.cycle, self.instructions) = (head, cycle, instructions);
        let Foreseen { loads, oldest } = slice.foreseen?;
        let devices = loads.iter().any(|load| load.device);
        closed &= !devices || period_cycles.is_multiple_of(self.config.epoch.cycles());
        let spin = closed.then(|| Spin {
            head,
            parked_at: cycle,
            began: oldest,
            seen: oldest,
            period_cycles,
            period_instructions,
            loads: loads.clone(),
        });
        self.prober.give_loads(loads);
        spin
    }
}

/// On which registers, as they were at the loop's head, each register depends; bit *r* is `x`*r*.
struct Flow {
    on: [u32; 32],
    written: u32,
}

impl Flow {
    fn new() -> Self {
        // x0 depends on nothing.
        Self {
            on: std::array::from_fn(|index| if index == 0 { 0 } else { 1 << index }),
            written: 0,
        }
    }

    fn of(&self, register: u8) -> u32 {
        self.on[usize::from(register & 31)]
    }

    /// Goes past an instruction; `false` if it does what a poll does not.
    fn pass(&mut self, op: Op) -> bool {
        let sources = match op.kind {
            Kind::LoadImmediate => 0,
            Kind::Lb
            | Kind::Lh
            | Kind::Lw
            | Kind::Lbu
            | Kind::Lhu
            | Kind::Addi
            | Kind::Slti
            | Kind::Sltiu
            | Kind::Xori
            | Kind::Ori
            | Kind::Andi
            | Kind::Slli
            | Kind::Srli
            | Kind::Srai
            | Kind::SextB
            | Kind::SextH
            | Kind::ZextH => self.of(op.rs1),
            Kind::Add
            | Kind::Sub
            | Kind::Sll
            | Kind::Slt
            | Kind::Sltu
            | Kind::Xor
            | Kind::Srl
            | Kind::Sra
            | Kind::Or
            | Kind::And
            | Kind::Andn
            | Kind::Orn
            | Kind::Xnor
            | Kind::Max
            | Kind::Maxu
            | Kind::Min
            | Kind::Minu
            | Kind::Sh1add
            | Kind::Sh2add
            | Kind::Sh3add => self.of(op.rs1) | self.of(op.rs2),
            // Ways out of the loop, or over a part of it.
            Kind::Beq | Kind::Bne | Kind::Blt | Kind::Bge | Kind::Bltu | Kind::Bgeu => return true,
            Kind::Fence => return true,
            _ => return false,
        };
        if op.rd != SINK {
            self.on[usize::from(op.rd & 31)] = sources;
            self.written |= 1 << (op.rd & 31);
        }
        true
    }

    /// Whether every register has the same value after each of the later rounds if memory has: no
    /// register that is written depends, through others, on itself.
    fn settles(&self) -> bool {
        let mut unsettled = self.written;
        loop {
            let before = unsettled;
            for register in 1..32 {
                if self.on[register] & before == 0 {
                    unsettled &= !(1 << register);
                }
            }
            if unsettled == before {
                return unsettled == 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode;

    /// Encodings by the formats of `[riscv-unprivileged: 2.3]`, put together here by hand.
    const fn i_type(opcode: u32, funct3: u32, rd: u32, rs1: u32, imm: u32) -> u32 {
        imm << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
    }
    const fn lw(rd: u32, rs1: u32) -> u32 {
        i_type(0x03, 2, rd, rs1, 0)
    }
    const fn addi(rd: u32, rs1: u32, imm: u32) -> u32 {
        i_type(0x13, 0, rd, rs1, imm)
    }
    const fn sw(rs2: u32, rs1: u32) -> u32 {
        rs2 << 20 | rs1 << 15 | 2 << 12 | 0x23
    }
    /// `bne rs1, rs2` back by that many instructions.
    const fn bne_back(rs1: u32, rs2: u32, words: u32) -> u32 {
        let offset = (4 * words).wrapping_neg();
        (offset >> 12 & 1) << 31
            | (offset >> 5 & 0x3F) << 25
            | rs2 << 20
            | rs1 << 15
            | 1 << 12
            | (offset >> 1 & 0xF) << 8
            | (offset >> 11 & 1) << 7
            | 0x63
    }
    const fn beq_ahead(rs1: u32, rs2: u32) -> u32 {
        rs2 << 20 | rs1 << 15 | 8 << 8 | 0x63
    }
    /// `j` back by that many instructions.
    const fn j_back(words: u32) -> u32 {
        let offset = (4 * words).wrapping_neg();
        (offset >> 20 & 1) << 31
            | (offset >> 1 & 0x3FF) << 21
            | (offset >> 11 & 1) << 20
            | (offset >> 12 & 0xFF) << 12
            | 0x6F
    }

    /// Whether the last of those words, which lie at 0x1000, closes a poll.
    fn polls(words: &[u32]) -> bool {
        let fetch = |at: u32| decode(words[(at as usize - 0x1000) / 4], at);
        let pc = 0x1000 + 4 * (words.len() as u32 - 1);
        let op = mark(fetch(pc), pc, fetch);
        if op.kind == Kind::Poll {
            assert_eq!(original(op), fetch(pc));
        }
        op.kind == Kind::Poll
    }

    #[test]
    fn loop_that_waits_for_a_word_is_a_poll() {
        assert!(polls(&[lw(5, 6), bne_back(5, 7, 1)]));
        // Two words, with a way out in the middle.
        assert!(polls(&[lw(5, 6), beq_ahead(5, 0), lw(8, 9), bne_back(8, 5, 3)]));
        // The word is tested first and loaded behind.
        assert!(polls(&[beq_ahead(5, 7), lw(5, 6), j_back(2)]));
        assert!(polls(&[j_back(0)]));
    }

    #[test]
    fn loop_that_computes_is_none() {
        // Counts down.
        assert!(!polls(&[addi(5, 5, 0xFFF), bne_back(5, 0, 1)]));
        // Goes through memory.
        assert!(!polls(&[lw(7, 6), addi(6, 6, 4), bne_back(6, 8, 2)]));
        // Follows a list.
        assert!(!polls(&[lw(5, 5), bne_back(5, 0, 1)]));
        // A counter that is handed round through another register.
        assert!(!polls(&[addi(6, 5, 1), addi(5, 6, 0), bne_back(5, 7, 2)]));
        assert!(!polls(&[sw(5, 6), lw(7, 8), bne_back(7, 5, 2)]));
    }
}
