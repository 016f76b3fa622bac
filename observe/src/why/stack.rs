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
        let hit = |stack: &&Stack| {
            stack.core == core
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
