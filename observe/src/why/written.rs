//! Which words of L1 anybody has ever written.
//!
//! A NoC transfer of what nobody has written writes nothing: its destination is as unknown as its
//! source was.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use memory_map::NocControl;
use sim_core::l1::L1_BYTES;
use sim_core::{AgentId, Event, Stamp};

use super::niu::Niu;
use super::touched::Touched;

/// How much of a range has been written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    Nothing,
    /// All but the word at this address, and perhaps others.
    Part(u32),
    Everything,
}

/// A bit per word of L1, and transfers of unwritten words that are under way.
#[derive(Clone, Debug)]
pub(super) struct Written {
    words: Touched,
    niu: Niu,
    /// Coordinates of this tile as NoC commands name it.
    own: Vec<u32>,
    /// Destinations, by NoC and initiator, oldest first; `None` for ordinary transfers.
    copies: BTreeMap<(u8, u8), VecDeque<Option<Range<u32>>>>,
}

impl Written {
    /// Nothing is written in the tile of these coordinates.
    pub(super) fn new(own: Vec<u32>) -> Self {
        Self { words: Touched::new(4), niu: Niu::default(), own, copies: BTreeMap::new() }
    }

    pub(super) fn write(&mut self, addr: u32, bytes: u32) {
        self.words.set(addr, bytes, true);
    }

    /// Whether a word has been written; what lies beyond L1 counts as written.
    pub(super) fn holds(&self, addr: u32) -> bool {
        self.words.any(addr & !3, 4)
    }

    pub(super) fn extent(&self, addr: u32, bytes: u32) -> Extent {
        let words = || (addr & !3..addr.saturating_add(bytes)).step_by(4);
        match words().find(|word| !self.holds(*word)) {
            None => Extent::Everything,
            Some(_) if words().all(|word| !self.holds(word)) => Extent::Nothing,
            Some(word) => Extent::Part(word),
        }
    }

    /// Takes note of an event. Gives the word of a transfer of this tile's L1 that is missing among
    /// others that have been written.
    pub(super) fn event(&mut self, stamp: Stamp, event: &Event) -> Option<u32> {
        match *event {
            Event::L1Store { addr, width, .. } => {
                let unknown = self.is_copy(stamp.agent, addr);
                self.words.set(addr, width.bytes(), !unknown);
            }
            Event::L1Atomic { addr, .. } => self.write(addr, 4),
            Event::HostWrite { addr, bytes, .. } if addr < L1_BYTES => self.write(addr, bytes),
            Event::DeviceStore { addr, value, .. } => self.niu.stored(stamp, addr, value),
            Event::NocIssue { noc, initiator, control, addr, coordinate, bytes, .. } => {
                let far = u32::try_from(addr).ok().filter(|_| self.own.contains(&coordinate));
                let near = self.niu.own_side(noc, initiator, control);
                let is_read = NocControl(control).is_read();
                let (from, to) = if is_read { (far, near) } else { (near, far) };
                let from = from.filter(|from| from.saturating_add(bytes) <= L1_BYTES);
                let extent = from.map_or(Extent::Everything, |from| self.extent(from, bytes));
                let unknown = (extent == Extent::Nothing).then_some(to).flatten();
                let copy = unknown.map(|to| to..to.saturating_add(bytes));
                self.copies.entry((noc, initiator)).or_default().push_back(copy);
                if let Extent::Part(word) = extent {
                    return Some(word);
                }
            }
            Event::NocDone { noc, initiator, .. } => {
                self.copies.entry((noc, initiator)).or_default().pop_front();
            }
            _ => {}
        }
        None
    }

    fn is_copy(&self, agent: AgentId, addr: u32) -> bool {
        let AgentId::Noc(own) = agent else { return false };
        let copies = self.copies.iter().filter(|((noc, _), _)| *noc == own);
        copies.flat_map(|(_, copies)| copies).flatten().any(|copy| copy.contains(&addr))
    }
}
