//! Words of configuration that several threads share.
//!
//! RMWCIB changes bits and leaves the others; WRCFG and a core's store write the whole word, with what their thread
//! took the others to be. Who comes second takes back what another thread has set.

use std::collections::BTreeMap;

use isa::config::{self, Scope};
use isa::op::Opcode;
use sim_core::{AgentId, Event, Stamp, ThreadId};

use super::circular::Violation;
use super::hazards as h;

/// Bits of words of Config, by bank and index, that threads have set by themselves since the launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlap {
    own: BTreeMap<(u8, u16), [u32; ThreadId::COUNT]>,
    /// The last instruction of each thread changes only some bits of a word.
    is_partial: [bool; ThreadId::COUNT],
}

impl Overlap {
    /// A launch has begun: nobody has set anything.
    pub(super) fn launched(&mut self) {
        self.own.clear();
    }

    /// Takes an event.
    pub(super) fn event(&mut self, stamp: Stamp, event: &Event) -> Option<Violation> {
        match *event {
            Event::Issue { thread, word, .. } => {
                self.is_partial[thread.index()] = matches!(
                    Opcode::from_word(word)?,
                    Opcode::Rmwcib0
                        | Opcode::Rmwcib1
                        | Opcode::Rmwcib2
                        | Opcode::Rmwcib3
                        | Opcode::Cfgshiftmask
                );
                None
            }
            Event::Config { state: state @ (0 | 1), index, before, after } => {
                let (thread, is_partial) = match stamp.agent {
                    AgentId::Thread(thread) => (thread, self.is_partial[thread.index()]),
                    AgentId::Core(core) => (core.thread()?, false),
                    _ => return None,
                };
                let own = self.own.entry((state, index)).or_default();
                let changed = before ^ after;
                let other = others(own, thread, changed).filter(|_| !is_partial);
                own.iter_mut().for_each(|bits| *bits &= !changed);
                if is_partial {
                    own[thread.index()] |= changed;
                }
                let (other, bits) = other?;
                let text = format!(
                    "writes the whole of a word of configuration, and over {} that {} has set there",
                    name(u32::from(index), bits),
                    crate::describe::name_of(other),
                );
                Some((stamp, h::B1, text))
            }
            _ => None,
        }
    }
}

/// The first other thread that has set some of these bits, and which.
fn others(own: &[u32; ThreadId::COUNT], thread: ThreadId, changed: u32) -> Option<(ThreadId, u32)> {
    let mut others = ThreadId::ALL.into_iter().filter(|other| *other != thread);
    others.find_map(|other| {
        let bits = own[other.index()] & changed;
        (bits != 0).then_some((other, bits))
    })
}

/// The field that has some of these bits of a word.
fn name(index: u32, bits: u32) -> &'static str {
    let mut fields = config::in_word(Scope::Config, index);
    fields.find(|field| field.has_bits(index, bits)).map_or("bits", |field| field.name)
}

#[cfg(test)]
mod tests {
    use sim_core::observer::Slot;
    use sim_core::{CoreId, Cycle};

    use super::*;

    const RMWCIB: u32 = 0xB300_0000;
    const WRCFG: u32 = 0xB000_0000;
    /// ALU_ACC_CTRL_Zero_Flag_disabled_src and _dst, STACC_RELU_ApplyRelu.
    const WORD: u16 = 2;

    fn stamp(agent: AgentId) -> Stamp {
        Stamp { cycle: Cycle(1), agent, pc: 0xD000 }
    }

    /// An instruction of a thread changes the word.
    fn set(
        overlap: &mut Overlap,
        thread: ThreadId,
        word: u32,
        (before, after): (u32, u32),
    ) -> Option<String> {
        let stamp = stamp(AgentId::Thread(thread));
        let issue = Event::Issue { thread, word, slot: Slot::default() };
        assert!(overlap.event(stamp, &issue).is_none());
        let event = Event::Config { state: 0, index: WORD, before, after };
        overlap.event(stamp, &event).map(|(_, hazard, text)| format!("{} {text}", hazard.id))
    }

    #[test]
    fn whole_word_over_bits_of_another_thread_is_named_with_the_field() {
        let mut overlap = Overlap::default();
        assert_eq!(set(&mut overlap, ThreadId::T1, RMWCIB, (0, 3)), None);
        // Bits of its own may be changed by whichever instruction.
        assert_eq!(set(&mut overlap, ThreadId::T1, WRCFG, (3, 0)), None);
        assert_eq!(set(&mut overlap, ThreadId::T1, RMWCIB, (0, 3)), None);
        let said = set(&mut overlap, ThreadId::T2, WRCFG, (3, 4));
        let text = "B1 writes the whole of a word of configuration, and over \
                    ALU_ACC_CTRL_Zero_Flag_disabled_src that T1 has set there";
        assert_eq!(said.as_deref(), Some(text));
        assert_eq!(set(&mut overlap, ThreadId::T2, WRCFG, (4, 0)), None, "told once");
    }

    #[test]
    fn bits_that_stay_are_no_overlap_and_a_launch_begins_anew() {
        let core = stamp(AgentId::Core(CoreId::Trisc2));
        let store = |before, after| Event::Config { state: 0, index: WORD, before, after };
        let mut overlap = Overlap::default();
        assert_eq!(set(&mut overlap, ThreadId::T1, RMWCIB, (0, 3)), None);
        assert!(overlap.event(core, &store(3, 7)).is_none(), "it has kept them");
        let other = Event::Config { state: 1, index: WORD, before: 3, after: 0 };
        assert!(overlap.event(core, &other).is_none(), "the other bank");
        assert!(overlap.clone().event(core, &store(3, 0)).is_some());
        overlap.launched();
        assert!(overlap.event(core, &store(3, 0)).is_none());
    }
}
