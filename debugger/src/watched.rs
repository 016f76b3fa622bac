//! Watched words of L1: what cores do to them is seen at their instructions, what others do when the
//! epoch is over.

use crate::machine::Machine;
use crate::travel::Watch;

/// What watched words of L1 hold at the beginning of an epoch.
pub(crate) struct WatchedL1 {
    values: Vec<(Watch, Vec<u8>)>,
}

impl WatchedL1 {
    /// What they hold now.
    pub(crate) fn new<'w>(machine: &Machine, watches: impl Iterator<Item = &'w Watch>) -> Self {
        Self { values: watches.map(|watch| (*watch, Self::read(machine, watch))).collect() }
    }

    fn read(machine: &Machine, watch: &Watch) -> Vec<u8> {
        let mut bytes = vec![0; watch.bytes.min(64) as usize];
        machine.tile().l1().read_bytes(watch.addr, &mut bytes);
        bytes
    }

    /// At the beginning of an epoch: what somebody who is no core has changed in the one before.
    pub(crate) fn changed(&mut self, machine: &Machine) -> Option<Watch> {
        if self.values.is_empty() || !machine.stands_at_epoch() {
            return None;
        }
        let mut changed = None;
        for (watch, old) in &mut self.values {
            let new = Self::read(machine, watch);
            if new != *old {
                let by_core = machine.stored_of_late(watch.addr, watch.bytes);
                changed = changed.or((!by_core).then_some(*watch));
                *old = new;
            }
        }
        changed
    }
}
