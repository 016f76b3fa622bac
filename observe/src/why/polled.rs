//! Who read and wrote the words that cores poll at the end: whether a value was passed by unseen,
//! and whether an update was lost.

use std::collections::VecDeque;

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

/// A write of a polled word.
#[derive(Clone, Copy, Debug)]
struct Write {
    word: u32,
    agent: AgentId,
    pc: u32,
    cycle: u64,
    /// It looks before it writes.
    atomic: bool,
}

/// Accesses to polled words. Reads and writes need not be told in the order of their cycles among each other.
#[derive(Clone, Debug, Default)]
pub struct Polled {
    words: Vec<(u32, u32)>,
    loads: VecDeque<Load>,
    writes: VecDeque<Write>,
    /// Loads from addresses that are not known: core, cycle and value.
    unknown: VecDeque<(CoreId, u64, u32)>,
}

/// Adds to a list in place of the oldest.
fn keep<T>(list: &mut VecDeque<T>, one: T) {
    if list.len() == KEPT {
        list.pop_front();
    }
    list.push_back(one);
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
        keep(&mut self.loads, Load { word, core, cycle, value });
    }

    /// A core loaded a value from an address that is not known: it may have looked at any of the words.
    pub(super) fn loaded_somewhere(&mut self, core: CoreId, cycle: u64, value: u32) {
        keep(&mut self.unknown, (core, cycle, value));
    }

    /// Somebody wrote to L1; an atomic looks before it writes.
    pub(super) fn wrote(&mut self, agent: AgentId, pc: u32, cycle: u64, addr: u32, atomic: bool) {
        let Some(word) = self.word(addr) else { return };
        keep(&mut self.writes, Write { word, agent, pc, cycle, atomic });
    }

    /// When a core may have looked at a word last, up to a cycle.
    fn looked(&self, core: CoreId, word: u32, until: u64) -> Option<u64> {
        let own = self.loads.iter().filter(|load| (load.word, load.core) == (word, core));
        let known = own.map(|load| load.cycle).filter(|cycle| *cycle <= until).max();
        // Who has not looked at all has nothing in mind that could be old.
        known?;
        let others =
            self.unknown.iter().filter(|(other, cycle, _)| *other == core && *cycle <= until);
        known.max(others.map(|(_, cycle, _)| *cycle).max())
    }

    /// The last update of a word that was lost.
    pub(super) fn lost(&self, word: u32) -> Option<LostUpdate> {
        let mut before: Option<&Write> = None;
        let mut lost = None;
        for write in self.writes.iter().filter(|write| write.word == word) {
            if let Some(old) = before.replace(write)
                && let (AgentId::Core(core), false) = (write.agent, write.atomic)
                && old.agent != write.agent
                && self.looked(core, word, write.cycle).is_some_and(|seen| seen < old.cycle)
            {
                let of = |write: &Write| (write.agent, write.pc, write.cycle);
                lost = Some(LostUpdate { word, lost: of(old), by: of(write) });
            }
        }
        lost
    }

    /// Whether a core loaded a value from a word between two cycles, or may have.
    pub(super) fn saw(&self, core: CoreId, word: u32, value: u32, from: u64, until: u64) -> bool {
        // What has been dropped may have been it.
        if self.loads.len() == KEPT && self.loads.front().is_some_and(|load| load.cycle > from) {
            return true;
        }
        self.loads.iter().any(|load| {
            (load.word, load.core, load.value) == (word, core, value)
                && (from..=until).contains(&load.cycle)
        }) || self.unknown.iter().any(|(other, cycle, loaded)| {
            (*other, *loaded) == (core, value) && (from..=until).contains(cycle)
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

    #[test]
    fn load_of_an_unknown_word_may_have_seen_the_value() {
        let mut own = polled();
        own.loaded_somewhere(CoreId::Brisc, 10, 2);
        assert!(own.saw(CoreId::Brisc, WORD, 2, 5, 10));
        assert!(!own.saw(CoreId::Brisc, WORD, 3, 5, 10));
    }
}
