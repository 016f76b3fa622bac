//! What units of the coprocessor take from L1 that nobody has ever written.
//!
//! A kernel that wants a bank filled and does not care with what unpacks whatever lies there, and
//! does nothing wrong. So an instruction of which all input is unknown is a mistake only once the
//! coprocessor writes to L1 afterwards; one of which a part was written is one at once.

use sim_core::Stamp;

/// Words that are kept for later at most.
const KEPT: usize = 16;

/// What an instruction has read so far.
#[derive(Clone, Copy, Debug)]
struct Input {
    stamp: Stamp,
    /// Whether any of it has been written.
    some_written: bool,
    /// The first word that has not.
    missing: Option<u32>,
}

/// Words that were read and never written.
#[derive(Clone, Debug, Default)]
pub(super) struct Unknown {
    current: Option<Input>,
    /// Of instructions that read nothing else.
    kept: Vec<(Stamp, u32)>,
}

impl Unknown {
    /// Takes note that the instruction of `stamp` reads a range of which `missing` is the first word
    /// that was never written; `some_written` says whether others were. Gives the word that makes it
    /// a mistake.
    pub(super) fn read(
        &mut self,
        stamp: Stamp,
        missing: Option<u32>,
        some_written: bool,
    ) -> Option<u32> {
        if self.current.is_none_or(|current| current.stamp != stamp) {
            self.keep();
            self.current = Some(Input { stamp, some_written: false, missing: None });
        }
        let current = self.current.as_mut()?;
        current.some_written |= some_written;
        current.missing = current.missing.or(missing);
        if current.some_written { current.missing.take() } else { None }
    }

    /// The coprocessor writes to L1: gives everything that was kept, with who read it.
    pub(super) fn written(&mut self) -> Vec<(Stamp, u32)> {
        self.keep();
        std::mem::take(&mut self.kept)
    }

    fn keep(&mut self) {
        let unknown = self.current.take().and_then(|input| Some((input.stamp, input.missing?)));
        if let Some(unknown) = unknown
            && self.kept.len() < KEPT
        {
            self.kept.push(unknown);
        }
    }
}

#[cfg(test)]
mod tests {
    use sim_core::{AgentId, Cycle, ThreadId};

    use super::*;

    fn at(cycle: u64) -> Stamp {
        Stamp { cycle: Cycle(cycle), agent: AgentId::Thread(ThreadId::T0), pc: 0 }
    }

    #[test]
    fn input_of_which_a_part_is_written_is_a_mistake_at_once() {
        let mut unknown = Unknown::default();
        assert_eq!(unknown.read(at(1), None, true), None);
        assert_eq!(unknown.read(at(1), Some(0x100), false), Some(0x100));
        assert_eq!(unknown.read(at(2), Some(0x200), false), None);
        assert_eq!(unknown.read(at(2), None, true), Some(0x200));
        assert!(unknown.written().is_empty());
    }

    #[test]
    fn input_that_is_all_unknown_is_one_when_the_coprocessor_writes() {
        let mut unknown = Unknown::default();
        for cycle in [1, 2] {
            assert_eq!(unknown.read(at(cycle), Some(0x100), false), None);
            assert_eq!(unknown.read(at(cycle), Some(0x120), false), None);
        }
        assert_eq!(unknown.written(), [(at(1), 0x100), (at(2), 0x100)]);
        assert!(unknown.written().is_empty());
    }
}
