//! Who read and wrote the words that cores poll at the end: whether a value was passed by unseen,
//! and whether an update was lost.

use std::collections::{BTreeMap, VecDeque};

use sim_core::{AgentId, CoreId};

/// Loads kept.
const KEPT: usize = 4096;

/// A load of a polled word.
#[derive(Clone, Copy, Debug)]
struct Load {
    word: u32,
    core: CoreId,
    cycle: u64,
    value: u32,
}

/// A store that wiped out what somebody else had written since its writer looked last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostUpdate {
    /// The word.
    pub word: u32,
    /// Whose update was lost, where it was made, and when.
    pub lost: (AgentId, u32, u64),
    /// By whose store, from where, and when.
    pub by: (AgentId, u32, u64),
}

/// Accesses to polled words.
#[derive(Clone, Debug, Default)]
pub struct Polled {
    words: Vec<(u32, u32)>,
    loads: VecDeque<Load>,
    /// When each core loaded each word last.
    last: BTreeMap<(u32, CoreId), u64>,
    /// Last write of each word.
    writes: BTreeMap<u32, (AgentId, u32, u64)>,
    /// Last update of each word that was lost.
    lost: BTreeMap<u32, LostUpdate>,
}

impl Polled {
    /// Looks at these words of L1: byte address and bytes.
    pub(super) fn new(words: Vec<(u32, u32)>) -> Self {
        Self { words, ..Self::default() }
    }

    fn word(&self, addr: u32) -> Option<u32> {
        let hit = |(start, size): &&(u32, u32)| (*start..start + size).contains(&addr);
        self.words.iter().find(hit).map(|(start, _)| *start)
    }

    /// A core loaded from L1.
    pub(super) fn loaded(&mut self, core: CoreId, cycle: u64, addr: u32, value: u32) {
        let Some(word) = self.word(addr) else { return };
        if self.loads.len() == KEPT {
            self.loads.pop_front();
        }
        self.loads.push_back(Load { word, core, cycle, value });
        self.last.insert((word, core), cycle);
    }

    /// Somebody wrote to L1; an atomic looks before it writes.
    pub(super) fn wrote(&mut self, agent: AgentId, pc: u32, cycle: u64, addr: u32, atomic: bool) {
        let Some(word) = self.word(addr) else { return };
        if let (AgentId::Core(core), false) = (agent, atomic)
            && let Some(seen) = self.last.get(&(word, core))
            && let Some(&lost) = self.writes.get(&word)
            && lost.0 != agent
            && lost.2 > *seen
        {
            self.lost.insert(word, LostUpdate { word, lost, by: (agent, pc, cycle) });
        }
        self.writes.insert(word, (agent, pc, cycle));
    }

    /// The last update of a word that was lost.
    pub(super) fn lost(&self, word: u32) -> Option<&LostUpdate> {
        self.lost.get(&word)
    }

    /// Whether a core loaded a value from a word between two cycles.
    pub(super) fn saw(&self, core: CoreId, word: u32, value: u32, from: u64, until: u64) -> bool {
        // What has been dropped may have been it.
        if self.loads.len() == KEPT && self.loads.front().is_some_and(|load| load.cycle > from) {
            return true;
        }
        self.loads.iter().any(|load| {
            (load.word, load.core, load.value) == (word, core, value)
                && (from..=until).contains(&load.cycle)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: u32 = 0x3_0000;
    const B: AgentId = AgentId::Core(CoreId::Brisc);
    const NC: AgentId = AgentId::Core(CoreId::Ncrisc);

    fn polled() -> Polled {
        Polled::new(vec![(WORD, 4)])
    }

    #[test]
    fn store_over_an_update_that_its_writer_has_not_seen_loses_it() {
        let mut own = polled();
        own.loaded(CoreId::Brisc, 10, WORD, 0);
        own.wrote(NC, 0x200, 12, WORD, true);
        own.wrote(B, 0x100, 14, WORD, false);
        let lost = own.lost(WORD).expect("a lost update");
        assert_eq!((lost.lost, lost.by), ((NC, 0x200, 12), (B, 0x100, 14)));
    }

    #[test]
    fn store_after_a_look_and_atomics_lose_nothing() {
        let mut own = polled();
        own.loaded(CoreId::Brisc, 10, WORD, 0);
        own.wrote(NC, 0x200, 12, WORD, true);
        own.wrote(B, 0x100, 13, WORD, true);
        own.loaded(CoreId::Brisc, 14, WORD, 2);
        own.wrote(B, 0x100, 15, WORD, false);
        assert_eq!(own.lost(WORD), None);
    }

    #[test]
    fn value_is_seen_in_its_time_only() {
        let mut own = polled();
        own.loaded(CoreId::Brisc, 10, WORD, 2);
        own.loaded(CoreId::Brisc, 10, WORD + 4, 3);
        assert!(own.saw(CoreId::Brisc, WORD, 2, 5, 10));
        assert!(!own.saw(CoreId::Brisc, WORD, 2, 11, 20));
        assert!(!own.saw(CoreId::Brisc, WORD, 3, 0, 20));
        assert!(!own.saw(CoreId::Ncrisc, WORD, 2, 0, 20));
    }
}
