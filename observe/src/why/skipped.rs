//! Pages of a block of which nobody reads anything: a loop over them that is too short, or takes the same one again.
//!
//! A block is what is popped at once. Who pops the same number of pages each time takes the same ones of each, and
//! what only fills a block up has no data. Unpackers take all that there is; a core that takes rows of a tensor out of a
//! block leaves those that pad it.

use std::collections::BTreeSet;

use sim_core::{AgentId, Stamp};

use super::buffer::{CircularBuffer, pages};
use super::circular::Violation;
use super::hazards as h;

/// Blocks that have to be popped before it counts.
const BLOCKS: u64 = 2;

/// A buffer that shares no bytes, since the launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Skipped {
    /// Pages into which something has been written since they were popped, and of which something has been read.
    written: BTreeSet<u32>,
    read: BTreeSet<u32>,
    popped: u64,
    blocks: u64,
    /// Pages of each block, if all had as many and something of each has been read.
    size: Option<u32>,
    /// Which pages of a block have data of which nobody has read anything, of each so far.
    places: BTreeSet<u32>,
}

impl Skipped {
    /// Somebody has written to some pages.
    pub(super) fn wrote(&mut self, pages: impl Iterator<Item = u32>) {
        self.written.extend(pages);
    }

    /// Somebody has read from some pages.
    pub(super) fn read(&mut self, pages: impl Iterator<Item = u32>) {
        self.read.extend(pages);
    }

    /// So many pages of a buffer are popped.
    pub(super) fn popped(&mut self, count: u32, buffer: &CircularBuffer) {
        let first = self.popped;
        self.popped += u64::from(count);
        if count == 0 || buffer.pages == 0 || count > buffer.pages {
            return;
        }
        let at = |place: u32| ((first + u64::from(place)) % u64::from(buffer.pages)) as u32;
        let (mut idle, mut is_read) = (BTreeSet::new(), false);
        for place in 0..count {
            let (written, read) = (self.written.remove(&at(place)), self.read.remove(&at(place)));
            is_read |= read;
            if written && !read {
                idle.insert(place);
            }
        }
        self.blocks += 1;
        if self.blocks == 1 {
            (self.size, self.places) = (Some(count), idle);
        } else {
            self.places.retain(|place| idle.contains(place));
        }
        self.size = self.size.filter(|size| *size == count && is_read);
    }

    /// The kernels are done. Says it where an unpacker has read from the buffer last.
    pub(super) fn ended(&self, index: u8, last_read: Option<Stamp>) -> Option<Violation> {
        let last = last_read.filter(|read| matches!(read.agent, AgentId::Thread(_)))?;
        let size = self.size.filter(|_| self.blocks >= BLOCKS)?;
        let idle = match self.places.iter().collect::<Vec<_>>()[..] {
            [] => return None,
            [place] => format!("number {place} (from 0), which has"),
            [..] => format!("{} of them, which have", self.places.len()),
        };
        let text = format!(
            "reads some of the {} of CB {index} that are popped at a time, and nobody anything of {idle} been written each of \
             {} times",
            pages(u64::from(size)),
            self.blocks
        );
        Some((last, h::C28, text))
    }
}

#[cfg(test)]
mod tests {
    use sim_core::{CoreId, Cycle, ThreadId};

    use super::*;

    const CB: CircularBuffer =
        CircularBuffer { index: 3, address: 0x2_0000, size: 0x1000, pages: 4, page_bytes: 0x400 };

    fn by(agent: AgentId) -> Stamp {
        Stamp { cycle: Cycle(1), agent, pc: 0x80 }
    }

    fn at() -> Stamp {
        by(AgentId::Thread(ThreadId::T0))
    }

    /// What is said of blocks that are popped one after the other: for each page whether it is written and whether it is
    /// read.
    fn said(blocks: &[&[(bool, bool)]]) -> Option<String> {
        let (mut skipped, mut first) = (Skipped::default(), 0);
        for block in blocks {
            for (place, (is_written, is_read)) in (first..).zip(*block) {
                let page = || std::iter::once(place % CB.pages);
                if *is_written {
                    skipped.wrote(page());
                }
                if *is_read {
                    skipped.read(page());
                }
            }
            skipped.popped(block.len() as u32, &CB);
            first += block.len() as u32;
        }
        skipped.ended(CB.index, Some(at())).map(|(_, hazard, text)| {
            assert_eq!(hazard.id, "C28");
            text
        })
    }

    const READ: (bool, bool) = (true, true);
    const IDLE: (bool, bool) = (true, false);
    /// It only fills the block up.
    const EMPTY: (bool, bool) = (false, false);

    #[test]
    fn page_of_each_block_that_is_written_and_not_read_is_named() {
        let text = said(&[&[READ, IDLE], &[READ, IDLE], &[READ, IDLE]]).unwrap();
        assert!(text.contains("the 2 pages of CB 3"), "{text}");
        assert!(
            text.contains("number 1 (from 0), which has been written each of 3 times"),
            "{text}"
        );
        let text = said(&[&[IDLE, READ, IDLE], &[IDLE, READ, IDLE]]).unwrap();
        assert!(text.contains("of 2 of them, which have"), "{text}");
    }

    #[test]
    fn page_that_is_read_once_or_has_no_data_is_not() {
        for blocks in [
            &[&[READ, IDLE][..], &[READ, READ]][..],
            &[&[READ, IDLE], &[IDLE, READ]],
            &[&[READ, EMPTY], &[READ, EMPTY]],
            &[&[READ, IDLE], &[READ, EMPTY]],
            // One block is no rule.
            &[&[READ, IDLE]],
            // What nobody reads at all may not be needed, and blocks of other lengths are not the same.
            &[&[READ, IDLE], &[IDLE, IDLE]],
            &[&[READ, IDLE], &[READ, IDLE, IDLE]],
        ] {
            assert_eq!(said(blocks), None, "{blocks:?}");
        }
    }

    #[test]
    fn data_count_until_the_page_is_popped() {
        let mut skipped = Skipped::default();
        skipped.wrote(0..2);
        skipped.read(0..1);
        skipped.popped(2, &CB);
        skipped.read(2..3);
        skipped.popped(2, &CB);
        assert_eq!(
            skipped.ended(CB.index, Some(at())),
            None,
            "the second block has not been written"
        );
    }

    #[test]
    fn rows_that_a_core_leaves_may_pad_a_tensor() {
        let mut skipped = Skipped::default();
        for first in [0, 2] {
            skipped.wrote(first..first + 2);
            skipped.read(first..first + 1);
            skipped.popped(2, &CB);
        }
        assert!(skipped.ended(CB.index, Some(at())).is_some());
        assert!(skipped.ended(CB.index, Some(by(AgentId::Core(CoreId::Brisc)))).is_none());
    }

    #[test]
    fn more_pages_than_there_are_and_none_at_all_are_no_blocks() {
        let mut skipped = Skipped::default();
        for count in [5, 0, u32::MAX] {
            skipped.popped(count, &CB);
        }
        skipped.popped(1, &CircularBuffer { pages: 0, ..CB });
        assert_eq!(skipped.blocks, 0);
    }
}
