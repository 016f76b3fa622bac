//! Who wrote chosen words of L1 last.
//!
//! A first run says which words are wrong; [`Writers`] listens to a second one, which is the same.

use std::collections::{BTreeMap, VecDeque};

use sim_core::{AgentId, Event, Observer, Stamp, ThreadId};

use super::scene::Scene;
use super::wrong::{Writer, WrongResult};

/// Writes of a word that are remembered, the last ones.
const KEPT: usize = 64;
/// Instructions of a thread that are remembered.
const ISSUED: usize = 32;

/// A write of a watched word.
#[derive(Clone, Copy, Debug)]
struct Write {
    stamp: Stamp,
    /// The Tensix instruction that did it.
    word: Option<u32>,
}

impl Write {
    fn told(&self, scene: &Scene<'_>) -> Writer {
        let Stamp { cycle, agent, pc } = self.stamp;
        let pc = (pc != 0).then_some(pc);
        Writer {
            tile: None,
            sent: None,
            agent,
            cycle: cycle.0,
            pc,
            instruction: self.word.map(isa::disasm::tensix),
            launch: scene.launch(cycle.0).map(str::to_owned),
            code: pc.and_then(|pc| scene.code(agent, pc)),
            source: pc.and_then(|pc| scene.excerpt(agent, pc)),
            callers: pc.map_or_else(Vec::new, |pc| scene.callers(agent, pc, cycle.0)),
        }
    }
}

/// Remembers who wrote chosen words of L1.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    words: BTreeMap<u32, VecDeque<Write>>,
    /// What each thread has issued last: the push and the instruction.
    issued: [VecDeque<(u32, u32)>; ThreadId::COUNT],
}

impl Writers {
    /// Listens for writes of these words, by byte address.
    pub fn new(words: impl IntoIterator<Item = u32>) -> Self {
        let words = words.into_iter().map(|word| (word & !3, VecDeque::new())).collect();
        Self { words, ..Self::default() }
    }

    fn wrote(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        let hit = addr & !3..addr.saturating_add(bytes.max(1));
        if self.words.range(hit.clone()).next().is_none() {
            return;
        }
        let word = match stamp.agent {
            AgentId::Thread(thread) => {
                let issued = self.issued[thread.index()].iter().rev();
                issued.copied().find(|(pc, _)| *pc == stamp.pc).map(|(_, word)| word)
            }
            _ => None,
        };
        for (_, writes) in self.words.range_mut(hit) {
            if writes.len() == KEPT {
                writes.pop_front();
            }
            writes.push_back(Write { stamp, word });
        }
    }

    /// Says who wrote the words of a result last, before they were looked at.
    pub fn tell(&self, wrong: &mut WrongResult, scene: &Scene<'_>) {
        for word in &mut wrong.words {
            word.writer = self.last(word.address, wrong.cycle).map(|write| write.told(scene));
        }
    }

    fn last(&self, word: u32, until: u64) -> Option<&Write> {
        let writes = self.words.get(&word)?;
        writes.iter().rev().find(|write| write.stamp.cycle.0 <= until)
    }
}

impl Observer for Writers {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if self.words.is_empty() {
            return;
        }
        match *event {
            Event::Issue { thread, word, .. } => {
                let issued = &mut self.issued[thread.index()];
                if issued.len() == ISSUED {
                    issued.pop_front();
                }
                issued.push_back((stamp.pc, word));
            }
            Event::L1Store { addr, width, .. } => self.wrote(stamp, addr, width.bytes()),
            Event::L1Atomic { addr, .. } => self.wrote(stamp, addr, 4),
            Event::HostWrite { addr, bytes, .. } => self.wrote(stamp, addr, bytes),
            _ => {}
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        self.words.keys().map(|word| (*word, word + 4)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;
    use sim_core::{CoreId, Width};

    #[test]
    fn last_write_before_the_look_counts() {
        let mut writers = Writers::new([0x1000]);
        let core = AgentId::Core(CoreId::Trisc1);
        let store = |addr| Event::L1Store { addr, value: 1, width: Width::Half };
        writers
            .event(at(5, AgentId::Host, 0), &Event::HostWrite { addr: 0, value: 0, bytes: 0x2000 });
        writers.event(at(10, core, 0x500), &store(0x1002));
        writers.event(at(12, core, 0x504), &store(0x1004));
        writers.event(at(20, core, 0x508), &store(0x1000));
        let last = |until| writers.last(0x1000, until).map(|write| write.stamp.cycle.0);
        assert_eq!((last(4), last(8), last(15), last(30)), (None, Some(5), Some(10), Some(20)));
    }

    #[test]
    fn packed_word_has_its_instruction() {
        let mut writers = Writers::new([0x1000]);
        let thread = AgentId::Thread(ThreadId::T2);
        let slot = sim_core::observer::Slot::default();
        let issue = |word| Event::Issue { thread: ThreadId::T2, word, slot };
        writers.event(at(5, thread, 0x600), &issue(0x4100_0000));
        writers.event(at(6, thread, 0x604), &issue(0x0200_0000));
        let store = Event::L1Store { addr: 0x1000, value: 1, width: Width::Word };
        writers.event(at(9, thread, 0x600), &store);
        assert_eq!(writers.last(0x1000, 9).and_then(|write| write.word), Some(0x4100_0000));
    }
}
