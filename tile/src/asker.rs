//! Who accesses a device, and how that sees addresses.

use devices::DeviceFault;
use memory_map::View;
use sim_core::{AgentId, Category, CoreId, Cycle, Stamp, ThreadId, WaitReason};

/// A mistake at a device, or one with its own place.
pub(crate) fn fault(
    category: Category,
    id: &'static str,
    message: impl Into<String>,
) -> DeviceFault {
    DeviceFault::new(category, id, message)
}

/// Who accesses a device: a core, or something on the NoC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    pub(crate) view: View,
    pub(crate) agent: AgentId,
    pub(crate) core: Option<CoreId>,
    pub(crate) pc: u32,
    pub(crate) cycle: Cycle,
    /// End of the epoch under way.
    pub(crate) end: Cycle,
}

impl Asker {
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { cycle: self.cycle, agent: self.agent, pc: self.pc }
    }
}

/// What a core waits for that cannot push through `window`.
pub(crate) fn pushed_thread(id: CoreId, window: u8) -> WaitReason {
    let own = id.thread().or_else(|| ThreadId::from_index(usize::from(window)));
    WaitReason::InstructionFifoFull { thread: own.unwrap_or(ThreadId::T0) }
}
