//! What a core that waits would send on a NoC once its wait is over.
//!
//! Read from its code ([`super::walk`]): commands of which the control word, the address and the
//! coordinate are known. Those of registers that were set long before the wait are not.

use std::collections::BTreeMap;

use memory_map::reg::noc_niu as niu;
use memory_map::{NocControl, NocRequest, Target, lookup};
use sim_core::{AgentId, CoreId};
use tile::AgentWait;

use super::scene::Machine;
use super::walk::Walk;
use crate::describe::view_of;

/// Instructions looked at.
const FAR: usize = 600;

/// A command that a core would give behind its wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    /// The core.
    pub core: CoreId,
    /// The store that would start it.
    pub pc: u32,
    /// NoC 0 or 1.
    pub noc: u8,
    /// NOC_CTRL.
    pub control: u32,
    /// Address in the receiving tile.
    pub addr: u32,
    /// Coordinates: `y << 6 | x`, of a multicast the other corner above.
    pub coordinate: u32,
}

/// The writes and atomics that the core of a wait would send behind it, in order; none of an agent that is
/// no core, or that has ended. Of a core that has stopped: what stands behind that place.
#[must_use]
pub fn pending(machine: &dyn Machine, wait: &AgentWait) -> Vec<Pending> {
    use sim_core::WaitReason::{Ended, Reset};
    let (AgentId::Core(core), Some(pc)) = (wait.agent, wait.pc) else { return Vec::new() };
    if matches!(wait.reason, Ended | Reset) {
        return Vec::new();
    }
    let changed = wait.reads.iter().filter(|load| !load.device).map(|load| load.addr);
    let mut registers: BTreeMap<(u8, u32), Option<u32>> = BTreeMap::new();
    let mut found: Vec<Pending> = Vec::new();
    for store in Walk::new(machine, core, pc, changed, FAR) {
        let Some(hit) = lookup(view_of(core), store.addr) else { continue };
        let noc = match hit.target {
            Target::Noc0 => 0,
            Target::Noc1 => 1,
            _ => continue,
        };
        let initiator = hit.offset / niu::NOC_CMD_CTRL_STRIDE * niu::NOC_CMD_CTRL_STRIDE;
        let value = |offset: u32| registers.get(&(noc, initiator + offset)).copied().flatten();
        if hit.offset - initiator == niu::NOC_CMD_CTRL_OFFSET {
            let command = command(core, store.pc, noc, value);
            found.extend(command.filter(|command| !found.contains(command)));
        }
        registers.insert((noc, hit.offset), store.value);
    }
    found
}

/// The command of an initiator whose registers hold that, if it writes somewhere.
fn command(core: CoreId, pc: u32, noc: u8, value: impl Fn(u32) -> Option<u32>) -> Option<Pending> {
    let control = value(niu::NOC_CTRL_OFFSET)?;
    let (addr, coordinate) = match NocControl(control).request() {
        NocRequest::Read => return None,
        NocRequest::Write => (niu::NOC_RET_ADDR_LO_OFFSET, niu::NOC_RET_ADDR_HI_OFFSET),
        NocRequest::Atomic | NocRequest::InlineWrite => {
            (niu::NOC_TARG_ADDR_LO_OFFSET, niu::NOC_TARG_ADDR_HI_OFFSET)
        }
    };
    let (addr, coordinate) = (value(addr)?, value(coordinate)?);
    Some(Pending { core, pc, noc, control, addr, coordinate })
}
