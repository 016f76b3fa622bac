//! Which backward jumps close a loop that can only be waiting for another agent.
//!
//! A loop in which nothing that is computed in one round enters the next, and which stores nothing,
//! goes round for one reason only: what it loads has not changed yet. That can be read off its
//! instructions when the jump is decoded, so a core that begins to poll is looked at when it jumps
//! back for the first time, and loops that compute are left alone.
//!
//! Then the next round is *foreseen*: carried out on the side with what the core would load, and
//! taken back. If it ends where it began, the core is parked ([`crate::park`]). Whether a loop is
//! marked is only a hint: branches inside the body are taken to fall through.
//!
//! A loop that looks at the wall clock ends at some time by itself. Until when nothing but the clock
//! differs from round to round is computed (`clock.rs`), and the core is parked until then. So it is if such a
//! loop is within another one (`nest.rs`).
//!
//! A round may call functions and save registers on the stack, which lies in the core's own RAM: what is
//! stored there in the second round is there already. A loop that stores to L1 or a device is no poll,
//! even if it stores the same every time: others may look, and each store is an event.

use sim_core::l1::L1_BYTES;
use sim_core::{Shared, Shortcut, Width};

use crate::core::Core;
use crate::hart::{Hart, local_holds};
use crate::mark::{self, original};
use crate::op::{Kind, Op, REGISTERS};
use crate::slice::{Foreseen, Memory, Slice};
use crate::spin::{Nest, Spin};

mod clock;
mod flow;
mod nest;

use clock::ClockFlow;
pub(crate) use clock::{clock_word, era};
use flow::{Flow, Pass};

/// Most instructions of a loop that is looked at.
pub(crate) const MAX_BODY: u32 = 32;

/// Rounds of a loop that waits by the wall clock for which it is worth parking.
const LEAST_ROUNDS: u64 = 4;

/// Deepest calls of a loop that is looked at.
const MAX_CALLS: usize = 4;

/// Whether `op`, which belongs to `pc`, closes a loop short enough to be looked at.
pub(crate) const fn may_close(op: Op, pc: u32) -> bool {
    mark::marked(op, false).is_some() && pc.wrapping_sub(op.imm) <= 4 * MAX_BODY && op.imm & 3 == 0
}

/// `op`, which belongs to `pc`; marked if it closes a polling loop. `fetch` gives the decoded
/// instruction at an address of L1.
pub(crate) fn mark(op: Op, pc: u32, fetch: impl Fn(u32) -> Op) -> Op {
    if !may_close(op, pc) {
        return op;
    }
    let (mut flow, mut at, mut returns, mut called) = (Flow::new(), op.imm, Vec::new(), false);
    for _ in 0..=MAX_BODY {
        if at == pc && returns.is_empty() {
            let is_poll = flow.settles();
            return mark::marked(op, called).filter(|_| is_poll).unwrap_or(op);
        }
        at = match flow.pass(fetch(at)) {
            Pass::On => at.wrapping_add(4),
            Pass::Call(target) if returns.len() < MAX_CALLS => {
                called = true;
                returns.push(at.wrapping_add(4));
                target
            }
            Pass::Return => match returns.pop() {
                Some(back) => back,
                None => return op,
            },
            Pass::Call(_) | Pass::Other => return op,
        };
        if at & 3 != 0 || at >= L1_BYTES {
            return op;
        }
    }
    op
}

/// What was carried out on the side.
struct Round {
    /// Whether it led back to its beginning.
    closed: bool,
    /// Whether it ended in another loop.
    meets_loop: bool,
    period_cycles: u64,
    period_instructions: u64,
    /// The registers at its end.
    after: [u32; REGISTERS],
    foreseen: Foreseen,
}

/// Whether an instruction of a round that is carried out on the side does nothing but change
/// registers and look: calls go to code that has been executed before, and what is stored in
/// the core's own RAM is there already.
#[inline]
pub(crate) fn is_harmless(hart: &Hart, op: Op) -> bool {
    flow::is_harmless(op) || leaves_no_trace(hart, op)
}

/// Whether that is so of a jump, or a store.
fn leaves_no_trace(hart: &Hart, op: Op) -> bool {
    let has_page = |target: u32| target & 3 == 0 && hart.icache.page(target).is_some();
    let address = hart.x[usize::from(op.rs1)].wrapping_add(op.imm);
    // What is there already stays as it is.
    let is_there = |width: Width| {
        local_holds(&hart.local, address, hart.x[usize::from(op.rs2)] & width.mask(), width)
    };
    match op.kind {
        Kind::Jal => has_page(op.imm),
        Kind::Jalr => has_page(address & !1),
        Kind::Sb => is_there(Width::Byte),
        Kind::Sh => is_there(Width::Half),
        Kind::Sw => is_there(Width::Word),
        _ => false,
    }
}

/// A look at the round that begins where a core is.
pub(crate) struct Foresight<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) shared: &'a Shared,
}

impl Foresight<'_> {
    /// The round that begins at the pc, if it leads back there with equal registers as long as the
    /// registers of devices show what they showed when they were last read from the same place; or
    /// with registers that differ only by what the wall clock showed.
    pub(crate) fn round(&mut self) -> Option<Box<Spin>> {
        if let Some(spin) = self.core.prober.again(self.core.hart.pc, self.core.hart.cycle) {
            return Some(spin);
        }
        let mut before = [0; REGISTERS];
        before.copy_from_slice(&self.core.hart.x[..REGISTERS]);
        let was_clock = self.core.prober.clock_loop == Some(self.core.hart.pc);
        if !was_clock {
            let round = self.try_round(&before, |_, _, _| true);
            let stays = round.after[1..32] == before[1..32];
            if !round.foreseen.clock {
                return self.spin_if(stays, round, None);
            }
            self.core.prober.give_loads(round.foreseen.loads);
            let shortcuts = self.core.hart.config.shortcuts;
            if !shortcuts.has(Shortcut::ClockWaits) {
                return None;
            }
            if round.meets_loop && shortcuts.has(Shortcut::ClockNests) {
                return self.nested_round(&before);
            }
            if !round.closed {
                return None;
            }
        }
        // How many rounds of a loop that looks at the clock are certainly like the next one.
        let mut flow = ClockFlow::new();
        let round = self.try_round(&before, |op, x, cycle| flow.pass(op, x, cycle));
        let clock = round.foreseen.clock;
        self.core.prober.clock_loop = clock.then_some(self.core.hart.pc);
        let rounds = flow
            .rounds(&before, &round.after, round.period_cycles.max(1))
            .filter(|&rounds| clock && rounds >= LEAST_ROUNDS);
        self.spin_if(rounds.is_some(), round, rounds)
    }

    /// [`Self::spin_of`], on a condition.
    fn spin_if(&mut self, holds: bool, round: Round, rounds: Option<u64>) -> Option<Box<Spin>> {
        let round = Round { closed: round.closed && holds, ..round };
        self.spin_of(round, rounds, None)
    }

    /// Spinning from the pc on with that round, so many times if it looks at the wall clock, with that wait within.
    fn spin_of(
        &mut self,
        round: Round,
        rounds: Option<u64>,
        nest: Option<Nest>,
    ) -> Option<Box<Spin>> {
        let Round { closed, period_cycles, period_instructions, foreseen, .. } = round;
        let waits = foreseen.devices || foreseen.clock;
        let hart = &self.core.hart;
        let repeats =
            closed && (!waits || period_cycles.is_multiple_of(hart.config.epoch.cycles()));
        if !repeats {
            self.core.prober.give_loads(foreseen.loads);
            return None;
        }
        let spin = Spin {
            head: hart.pc,
            parked_at: hart.cycle,
            began: foreseen.oldest,
            seen: foreseen.oldest,
            period_cycles,
            period_instructions,
            loads: foreseen.loads,
            leaves_at: rounds.map(|rounds| hart.cycle + rounds.saturating_mul(period_cycles)),
            foreseen: true,
            nest,
            ..Spin::default()
        };
        Some(self.core.prober.spin(spin))
    }

    /// Carries out the round that begins at the pc and takes it back. `visit` sees each instruction
    /// with the registers and the cycle before it, and may end the attempt.
    fn try_round(
        &mut self,
        before: &[u32; REGISTERS],
        mut visit: impl FnMut(Op, &[u32], u64) -> bool,
    ) -> Round {
        let mut meets_loop = false;
        let round = self.aside(before, |core, slice| {
            let (head, instructions) = (core.hart.pc, core.hart.instructions);
            for _ in 0..=MAX_BODY {
                let (op, polls) = ahead(core);
                let at = core.hart.pc;
                if !visit(op, &core.hart.x, core.hart.cycle)
                    || !core.step(slice)
                    || core.hart.pc == head
                {
                    return core.hart.pc == head && core.hart.instructions != instructions;
                }
                // Another loop, in which the core may stay for long.
                if polls && core.hart.pc != at.wrapping_add(4) {
                    meets_loop = true;
                    return false;
                }
            }
            false
        });
        Round { meets_loop, ..round }
    }

    /// What `act` carries out from the pc on, which is taken back; it says whether that leads back to its beginning.
    fn aside(
        &mut self,
        before: &[u32; REGISTERS],
        act: impl FnOnce(&mut Core, &mut Slice<'_>) -> bool,
    ) -> Round {
        let (head, cycle, instructions) =
            (self.core.hart.pc, self.core.hart.cycle, self.core.hart.instructions);
        let loads = self.core.prober.take_loads();
        let foreseen = Foreseen { loads, oldest: cycle, devices: false, clock: false };
        let memory = Memory::Foreseen(foreseen);
        let mut slice = Slice { memory, ..Slice::new(self.shared, u64::MAX) };
        let closed = act(self.core, &mut slice);
        let mut round = Round {
            closed,
            meets_loop: false,
            period_cycles: self.core.hart.cycle - cycle,
            period_instructions: self.core.hart.instructions - instructions,
            after: *before,
            foreseen: match slice.memory {
                Memory::Foreseen(foreseen) => foreseen,
                _ => Foreseen::default(),
            },
        };
        round.after.copy_from_slice(&self.core.hart.x[..REGISTERS]);
        self.core.hart.x[..REGISTERS].copy_from_slice(before);
        (self.core.hart.pc, self.core.hart.cycle, self.core.hart.instructions) =
            (head, cycle, instructions);
        round
    }
}

/// The instruction at the pc, and whether it is the jump of a polling loop.
#[inline]
fn ahead(core: &Core) -> (Op, bool) {
    let op = core.hart.icache.op(core.hart.pc).unwrap_or(Op::UNDECODED);
    let polls = op.kind == Kind::Poll;
    (if polls { original(op) } else { op }, polls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode;
    use isa::asm::{addi, beq, bne, i, j, lw, sw};

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
        assert!(polls(&[lw(5, 6, 0), bne(5, 7, -4)]));
        // Two words, with a way out in the middle.
        assert!(polls(&[lw(5, 6, 0), beq(5, 0, 8), lw(8, 9, 0), bne(8, 5, -12)]));
        // The word is tested first and loaded behind.
        assert!(polls(&[beq(5, 7, 8), lw(5, 6, 0), j(-8)]));
        assert!(polls(&[j(0)]));
    }

    const RET: u32 = i(0x67, 0, 0, 1, 0);
    /// `jal x1` ahead by that many instructions.
    const fn call_ahead(words: u32) -> u32 {
        ((2 * words) & 0x3FF) << 21 | 1 << 7 | 0x6F
    }

    /// `poll: jal f; bne x10, x7, poll; f: ...`: whether the branch closes a poll.
    fn polls_by_call(function: &[u32]) -> bool {
        let words = [&[call_ahead(2), bne(10, 7, -4)], function].concat();
        let fetch = |at: u32| decode(words[(at as usize - 0x1000) / 4], at);
        let op = mark(fetch(0x1004), 0x1004, fetch);
        if op.kind == Kind::Poll {
            assert!(mark::calls(op));
            assert_eq!(original(op), fetch(0x1004));
        }
        op.kind == Kind::Poll
    }

    #[test]
    fn loop_that_calls_a_function_to_look_is_a_poll() {
        assert!(polls_by_call(&[lw(10, 6, 0), RET]));
        // A frame on the stack: x2 moves there and back, x1 is saved.
        let store = 1 << 20 | 2 << 15 | 2 << 12 | 12 << 7 | 0x23;
        let frame = [addi(2, 2, -16), store, lw(10, 6, 0), lw(1, 2, 0), addi(2, 2, 16), RET];
        assert!(polls_by_call(&frame));
    }

    #[test]
    fn loop_that_calls_by_auipc_and_jalr_is_a_poll() {
        // auipc x1, 0; jalr x1, 12(x1); bne x10, x7, -8; f: lw x10, 0(x6); ret
        let far = [1 << 7 | 0x17, i(0x67, 0, 1, 1, 12), bne(10, 7, -8), lw(10, 6, 0), RET];
        let fetch = |at: u32| decode(far[(at as usize - 0x1000) / 4], at);
        assert_eq!(mark(fetch(0x1008), 0x1008, fetch).kind, Kind::Poll);
        // To wherever a register says.
        let unknown = [addi(1, 8, 0), i(0x67, 0, 1, 1, 12), bne(10, 7, -8), lw(10, 6, 0), RET];
        let fetch = |at: u32| decode(unknown[(at as usize - 0x1000) / 4], at);
        assert_ne!(mark(fetch(0x1008), 0x1008, fetch).kind, Kind::Poll);
    }

    #[test]
    fn loop_that_calls_a_function_that_does_something_is_none() {
        // Counts; stores elsewhere than on the stack; does not come back.
        assert!(!polls_by_call(&[addi(5, 5, 1), lw(10, 6, 0), RET]));
        assert!(!polls_by_call(&[sw(5, 6, 0), lw(10, 6, 0), RET]));
        assert!(!polls_by_call(&[lw(10, 6, 0), j(0)]));
    }

    #[test]
    fn loop_that_computes_is_none() {
        // Counts down.
        assert!(!polls(&[addi(5, 5, -1), bne(5, 0, -4)]));
        // Goes through memory.
        assert!(!polls(&[lw(7, 6, 0), addi(6, 6, 4), bne(6, 8, -8)]));
        // Follows a list.
        assert!(!polls(&[lw(5, 5, 0), bne(5, 0, -4)]));
        // A counter that is handed round through another register.
        assert!(!polls(&[addi(6, 5, 1), addi(5, 6, 0), bne(5, 7, -8)]));
        assert!(!polls(&[sw(5, 6, 0), lw(7, 8, 0), bne(7, 5, -8)]));
    }
}
