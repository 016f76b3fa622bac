//! A wait by the wall clock within a polling loop: software that looks at a word from time to time.
//!
//! Each round of such a loop begins a wait of its own, so that all waits are as long, and all rounds are
//! alike but for what the clock shows. Whether they are is followed through one whole round, as through a round of the
//! wait itself (`clock.rs`): against the next round, a time that was read in the last one has grown by the length of a
//! round, and so has the time up to which it waits. Most rounds of the wait within need not be carried out for
//! that: what they compare lies between what the first of them compares and what the last one does.

use crate::core::Core;
use crate::op::REGISTERS;
use crate::poll::clock::ClockFlow;
use crate::poll::{Foresight, LEAST_ROUNDS, Round, ahead};
use crate::slice::{Memory, Slice};
use crate::spin::{Nest, Spin};

/// Most instructions of a round that are carried out one by one.
const MAX_STEPS: u32 = 256;

/// The attempt to go over a wait: its first round, as far as it has come.
struct Wait {
    head: u32,
    cycle: u64,
    instructions: u64,
    registers: [u32; REGISTERS],
    flow: ClockFlow,
    /// What had been loaded before.
    loads: usize,
}

impl Wait {
    fn begin(core: &Core, loads: usize) -> Self {
        let mut registers = [0; REGISTERS];
        registers.copy_from_slice(&core.hart.x[..REGISTERS]);
        let (head, cycle, instructions) = (core.hart.pc, core.hart.cycle, core.hart.instructions);
        Self { head, cycle, instructions, registers, flow: ClockFlow::new(), loads }
    }

    /// Behind its first round: what can be gone over, if it looks at nothing but the clock. `from` is where the round
    /// around it began.
    fn nest(&self, core: &Core, from: u64, loads: usize) -> Option<Nest> {
        let period_cycles = core.hart.cycle - self.cycle;
        let rounds = self.flow.rounds(&self.registers, &core.hart.x, period_cycles.max(1))?;
        // One that does not look at the clock, or longer than the clock's low word tells, is another matter.
        let ends = rounds.checked_mul(period_cycles).is_some_and(|cycles| cycles <= 1 << 32);
        let worth = ends && loads == self.loads && rounds >= LEAST_ROUNDS;
        worth.then(|| Nest {
            begins: core.hart.cycle - from,
            period_cycles,
            period_instructions: core.hart.instructions - self.instructions,
            // The first has been carried out, and the last is to be.
            rounds: rounds - 2,
        })
    }
}

impl Foresight<'_> {
    /// The round that begins at the pc, with one wait by the clock within, if the core may be parked in it.
    pub(super) fn nested_round(&mut self, before: &[u32; REGISTERS]) -> Option<Box<Spin>> {
        if !self.core.prober.tries_nests() {
            return None;
        }
        let mut found = None;
        let round = self.aside(before, |core, slice| {
            found = go_round(core, slice, before);
            found.is_some()
        });
        // A loop that looks at other devices too is parked for each wait on its own.
        let round = Round { closed: round.closed && !round.foreseen.devices, ..round };
        let (nest, rounds) = found.unzip();
        let spin = self.spin_of(round, rounds, nest);
        self.core.prober.tried_nest(spin.is_some());
        spin
    }
}

/// Carries out the round, and leaves the core at its end. The wait within, and how many rounds are certainly like this
/// one.
fn go_round(
    core: &mut Core,
    slice: &mut Slice<'_>,
    before: &[u32; REGISTERS],
) -> Option<(Nest, u64)> {
    let (head, cycle) = (core.hart.pc, core.hart.cycle);
    let (mut flow, mut nest, mut wait) = (ClockFlow::new(), None::<Nest>, None::<Wait>);
    for _ in 0..MAX_STEPS {
        let (op, polls) = ahead(core);
        let (at, x, now) = (core.hart.pc, &core.hart.x, core.hart.cycle);
        let is_alike = flow.pass(op, x, now);
        if wait.as_mut().is_some_and(|wait| !wait.flow.pass(op, x, now)) {
            wait = None;
        }
        if !is_alike || !core.step(slice) {
            return None;
        }
        let pc = core.hart.pc;
        if pc == head {
            let nest = nest?;
            let period = core.hart.cycle - cycle;
            let rounds = flow.rounds(before, &core.hart.x, period.max(1))?;
            return (rounds >= LEAST_ROUNDS).then_some((nest, rounds));
        }
        // A round of a loop within ends.
        if nest.is_none() && polls && pc != at.wrapping_add(4) {
            let Memory::Foreseen(foreseen) = &slice.memory else { return None };
            let loads = foreseen.loads.len();
            let complete = wait.take().filter(|wait| wait.head == pc);
            nest = complete.and_then(|wait| wait.nest(core, cycle, loads));
            match nest {
                Some(nest) => core.pass_wait(&nest, u64::MAX),
                None => wait = Some(Wait::begin(core, loads)),
            }
        }
    }
    None
}
