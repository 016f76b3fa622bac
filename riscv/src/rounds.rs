//! What a parked core would execute, for who wants to read its loop without having watched the core get there.

use sim_core::{Cycle, Retire, Shared, Width};

use crate::core::{Core, Status};
use crate::decode::decode;
use crate::op::SINK;
use crate::slice::{Memory, Slice};

/// Instructions of `count` rounds of the loop that a core is parked in, oldest first, at most `most`, with the loads
/// they had; none if it is not parked. Cycles are those of the first rounds that it was parked for.
#[must_use]
pub fn rounds(core: &Core, shared: &Shared, count: u64, most: usize) -> Vec<Retire> {
    let Some(spin) = core.spin() else { return Vec::new() };
    let mut again = core.clone();
    again.status = Status::Running;
    again.hart.pc = spin.head;
    let until = again.hart.cycle.saturating_add(count.saturating_mul(spin.period_cycles));
    let memory = Memory::Replayed(spin.loads.iter().cycle());
    let mut slice = Slice { memory, ..Slice::new(shared, until) };
    let mut told = Vec::new();
    while again.hart.cycle < until && told.len() < most {
        let (pc, cycle) = (again.hart.pc, Cycle(again.hart.cycle));
        let word = again.hart.read_l1(&[], shared, pc, Width::Word);
        if !again.step(&mut slice) {
            break;
        }
        // What writes no register shows 0, as `x0` does.
        let rd = decode(word, pc).rd;
        let rd = if rd < SINK { rd } else { 0 };
        told.push(Retire { cycle, pc, word, rd, value: again.register(rd) });
    }
    told
}
