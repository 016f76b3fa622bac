//! One number for a whole run.

use sim_core::{Event, Observer, Stamp, StateHasher};

use crate::DEFAULT_L1;

/// A 64-bit hash over every event with its stamp, in order.
///
/// Of L1 stores only those that touch the chosen ranges count, also when somebody else asked
/// for more: the hash does not depend on who else listens. Executed instructions
/// ([`Observer::retire`]) do not count, because a parked core does not report them.
#[derive(Clone, Debug)]
pub struct EventHash {
    hasher: StateHasher,
    count: u64,
    ranges: Vec<(u32, u32)>,
}

impl Default for EventHash {
    fn default() -> Self {
        Self::with_l1(vec![DEFAULT_L1])
    }
}

impl EventHash {
    /// A hash that includes the stores to [`DEFAULT_L1`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A hash that includes the stores to these ranges `[start, end)` of L1 byte addresses.
    #[must_use]
    pub fn with_l1(ranges: Vec<(u32, u32)>) -> Self {
        Self { hasher: StateHasher::default(), count: 0, ranges }
    }

    /// The hash of all events so far.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hasher.finish()
    }

    /// How many events were hashed.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
}

impl Observer for EventHash {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::L1Store { addr, width, .. } = *event
            && !touches(&self.ranges, addr, width.bytes())
        {
            return;
        }
        stamp.encode(&mut self.hasher);
        event.encode(&mut self.hasher);
        self.count += 1;
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.ranges.clone()
    }
}

/// Whether `[addr, addr + bytes)` meets one of the ranges. The tile reports whole pages.
pub(crate) fn touches(ranges: &[(u32, u32)], addr: u32, bytes: u32) -> bool {
    ranges.iter().any(|&(start, end)| addr < end && addr.saturating_add(bytes) > start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, event_of, reasons};
    use proptest::prelude::*;
    use sim_core::{AgentId, CoreId, Cycle, EventKind, Width};

    fn hash_of(events: &[(Stamp, Event)]) -> (u64, u64) {
        hash_with(vec![(0, u32::MAX)], events)
    }

    fn hash_with(ranges: Vec<(u32, u32)>, events: &[(Stamp, Event)]) -> (u64, u64) {
        let mut hash = EventHash::with_l1(ranges);
        events.iter().for_each(|(stamp, event)| hash.event(*stamp, event));
        (hash.hash(), hash.count())
    }

    proptest! {
        /// Fields come from a few values that differ in one byte each, so that two events of one
        /// kind often differ in a single field.
        #[test]
        fn hashes_are_equal_exactly_when_events_are(
            (a, b) in proptest::sample::select(EventKind::ALL.to_vec())
                .prop_flat_map(|kind| (event_of(kind), event_of(kind)))
        ) {
            let stamp = at(1, AgentId::Host, 0);
            prop_assert_eq!(hash_of(&[(stamp, a)]) == hash_of(&[(stamp, b)]), a == b);
        }

        #[test]
        fn hashes_differ_between_wait_reasons(a in reasons(), b in reasons()) {
            let stamp = at(1, AgentId::Host, 0);
            let hash = |reason| hash_of(&[(stamp, Event::WaitBegin { reason })]);
            prop_assert_eq!(hash(a) == hash(b), a == b);
        }
    }

    #[test]
    fn hash_changes_with_each_part_of_the_stamp() {
        let event = Event::Halt { core: CoreId::Brisc };
        let base = at(5, AgentId::Core(CoreId::Brisc), 0x100);
        let others = [
            at(6, base.agent, 0x100),
            at(5, AgentId::Core(CoreId::Trisc0), 0x100),
            at(5, base.agent, 0x104),
        ];
        for other in others {
            assert_ne!(hash_of(&[(base, event)]), hash_of(&[(other, event)]), "{other:?}");
        }
    }

    #[test]
    fn hash_changes_with_order() {
        let first = (at(5, AgentId::Host, 0), Event::IcacheInvalidate { mask: 1 });
        let second = (at(5, AgentId::Host, 0), Event::IcacheInvalidate { mask: 2 });
        assert_ne!(hash_of(&[first, second]), hash_of(&[second, first]));
    }

    #[test]
    fn stores_outside_the_ranges_do_not_count() {
        let store = |addr, width| Event::L1Store { addr, value: 1, width };
        let stamp = Stamp { cycle: Cycle(1), agent: AgentId::Core(CoreId::Brisc), pc: 4 };
        let inside = (stamp, store(0x3ADC, Width::Word));
        let outside = (stamp, store(0x3AE0, Width::Word));
        let hash = |events: &[_]| hash_with(vec![DEFAULT_L1], events);
        assert_eq!(hash(&[inside, outside]), hash(&[inside]));
        assert_eq!(hash(&[inside]).1, 1);
    }
}
