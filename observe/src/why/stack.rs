//! Kernels whose stack grows over the globals of their core.

use std::ops::Range;

use memory_map::layout::LOCAL_RAM_BASE;
use sim_core::{AgentId, CoreId, Observer, Retire, Stamp};

use super::finding::Finding;
use super::hazards as h;
use super::report::Report;
use crate::names::Names;

/// `x2` `[riscv: 25]`.
const STACK_POINTER: u32 = 2;

/// What bounds the stack of a kernel: it grows down from the top of the core's local RAM.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stack {
    /// Whose.
    pub core: CoreId,
    /// The kernel's code in L1.
    pub code: Range<u32>,
    /// End of the globals of firmware and kernel in local RAM.
    pub data_end: u32,
}

/// Listens for moves of the stack pointer.
#[derive(Clone, Debug)]
pub struct Stacks<N> {
    report: Report<N>,
    stacks: Vec<Stack>,
}

impl<N: Names> Stacks<N> {
    /// Looks at these kernels, with names; ids in `suppressed` are not reported.
    pub fn new(names: N, stacks: Vec<Stack>, suppressed: Vec<String>) -> Self {
        Self { report: Report::new(names, suppressed), stacks }
    }

    /// A launch has begun, of these kernels.
    pub fn launched(&mut self, stacks: Vec<Stack>) {
        self.stacks = stacks;
    }

    /// What was found, in order.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        self.report.findings()
    }
}

impl<N: Names + 'static> Observer for Stacks<N> {
    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        if u32::from(retire.rd) != STACK_POINTER {
            return;
        }
        // Some programs count the room for the stack among their globals.
        let top = LOCAL_RAM_BASE + core.local_ram_bytes();
        let hit = |stack: &&Stack| {
            stack.core == core
                && stack.data_end < top
                && stack.code.contains(&retire.pc)
                && (LOCAL_RAM_BASE..stack.data_end).contains(&retire.value)
        };
        let Some(stack) = self.stacks.iter().find(hit) else { return };
        let text = format!(
            "the stack grows down to {:#x}, over the globals that end at {:#x}",
            retire.value, stack.data_end
        );
        let stamp = Stamp { cycle: retire.cycle, agent: AgentId::Core(core), pc: retire.pc };
        self.report.add(stamp, h::C1, text);
    }
}

#[cfg(test)]
mod tests {
    use sim_core::Cycle;

    use super::*;
    use crate::names::BuiltInNames;

    const CORE: CoreId = CoreId::Trisc1;
    const CODE: Range<u32> = 0xE000..0xF000;

    /// What is said where the stack pointer comes to these values, the first of them outside of the kernel.
    fn said(data_end: u32, values: &[u32]) -> Vec<String> {
        let stack = Stack { core: CORE, code: CODE, data_end };
        let mut stacks = Stacks::new(BuiltInNames, vec![stack], Vec::new());
        for (at, value) in values.iter().enumerate() {
            let pc = if at == 0 { CODE.end } else { CODE.start };
            let rd = STACK_POINTER as u8;
            stacks.retire(CORE, &Retire { cycle: Cycle(1), pc, word: 0, rd, value: *value });
        }
        stacks.findings().iter().map(|one| one.text.clone()).collect()
    }

    #[test]
    fn frame_below_the_end_of_the_globals_is_named_with_both() {
        let (top, end) = (0xFFB0_0FF0, 0xFFB0_0800);
        let text = "the stack grows down to 0xffb007f0, over the globals that end at 0xffb00800";
        assert_eq!(said(end, &[top, end - 16, end - 64]), [text]);
        assert_eq!(said(end, &[top, end]), [""; 0]);
        assert_eq!(said(end, &[end - 16]), [""; 0], "not the kernel");
    }

    #[test]
    fn globals_up_to_the_top_have_the_room_for_the_stack_among_them() {
        let end = 0xFFB0_1000;
        assert_eq!(said(end, &[end, end - 64]), [""; 0]);
    }
}
