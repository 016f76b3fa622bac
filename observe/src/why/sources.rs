//! Memory that NoC writes still take their data from: who changes it before a request has left changes what is
//! sent.

use std::ops::Range;

use sim_core::CoreId;

/// A write of a kernel that has not left.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Where its data lie.
    pub(super) range: Range<u32>,
    /// The core that gave the command.
    pub(super) core: CoreId,
    /// From where.
    pub(super) pc: u32,
    /// NoC 0 or 1.
    pub(super) noc: u8,
    /// Number of its first packet.
    first: u32,
    packets: u32,
    /// Packets that have not left.
    left: u32,
}

/// What is to leave, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources(Vec<Source>);

impl Sources {
    /// A core has given a command to write what lies at `range`; its packets are numbered from `first` on.
    pub(super) fn issued(
        &mut self,
        (core, pc): (CoreId, u32),
        noc: u8,
        range: Range<u32>,
        (first, packets): (u32, u32),
    ) {
        self.0.push(Source { range, core, pc, noc, first, packets, left: packets });
    }

    /// A packet has left.
    pub(super) fn sent(&mut self, noc: u8, ticket: u32) {
        let is_own = |source: &Source| {
            source.noc == noc && ticket.wrapping_sub(source.first) < source.packets
        };
        let Some(at) = self.0.iter().position(is_own) else { return };
        self.0[at].left -= 1;
        if self.0[at].left == 0 {
            self.0.remove(at);
        }
    }

    /// A write that takes its data from some of these bytes.
    pub(super) fn within(&self, bytes: &Range<u32>) -> Option<&Source> {
        self.0
            .iter()
            .find(|source| source.range.start < bytes.end && bytes.start < source.range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_of_two_packets_holds_its_source_until_both_have_left() {
        let mut sources = Sources::default();
        sources.issued((CoreId::Brisc, 0x80), 1, 0x1000..0x1800, (u32::MAX, 2));
        let holds = |sources: &Sources, bytes| sources.within(&bytes).is_some();
        sources.sent(1, 0);
        sources.sent(0, u32::MAX);
        assert!(holds(&sources, 0x17FF..0x1801) && !holds(&sources, 0x1800..0x1900));
        sources.sent(1, u32::MAX);
        assert!(!holds(&sources, 0x1000..0x1800));
    }
}
