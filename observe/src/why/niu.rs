//! The address registers of the NoC interfaces as cores have written them, for the side of a
//! transfer that the event of its issue does not name.

use memory_map::reg::noc_niu as niu;
use memory_map::{NocControl, NocRequest, Target, lookup};
use sim_core::{AgentId, Stamp};

use crate::describe::view_of;

/// Low halves of the target and return addresses of each initiator `[isa-bh: NoC/MemoryMap.md]`.
#[derive(Clone, Debug, Default)]
pub(super) struct Niu([[[u32; 2]; 4]; 2]);

impl Niu {
    /// A core stored to a device.
    pub(super) fn stored(&mut self, stamp: Stamp, addr: u32, value: u32) {
        let AgentId::Core(core) = stamp.agent else { return };
        let Some(hit) = lookup(view_of(core), addr) else { return };
        let noc = match hit.target {
            Target::Noc0 => 0,
            Target::Noc1 => 1,
            _ => return,
        };
        let side = match hit.offset % niu::NOC_CMD_CTRL_STRIDE {
            niu::NOC_TARG_ADDR_LO_OFFSET => 0,
            niu::NOC_RET_ADDR_LO_OFFSET => 1,
            _ => return,
        };
        let initiator = hit.offset / niu::NOC_CMD_CTRL_STRIDE % niu::NOC_CMD_CTRL_COUNT;
        self.0[noc][initiator as usize][side] = value;
    }

    /// Where in this tile a command begins to read or write, as `NOC_CTRL` says: where a read puts its
    /// data, where a write takes it from; none for the others.
    pub(super) fn own_side(&self, noc: u8, initiator: u8, control: u32) -> Option<u32> {
        let [target, back] = self.0[usize::from(noc & 1)][usize::from(initiator & 3)];
        match NocControl(control).request() {
            NocRequest::Read => Some(back),
            NocRequest::Write => Some(target),
            NocRequest::Atomic | NocRequest::InlineWrite => None,
        }
    }
}
