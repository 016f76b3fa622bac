//! Data in DRAM that a kernel writes over before anybody has read them: another one has written them, or the same one a
//! moment ago. Of two that share out the pages of a buffer one then has too many, or they start at the wrong page.
//!
//! Kept only for who asks; nothing depends on it.

use std::collections::BTreeMap;

use sim_core::{CoreId, Cycle};

use super::{Endpoint, dram};

/// Bytes of a line. Of each it is known who has written there last.
const LINE_BYTES: u64 = dram::LINE_BYTES as u64;
/// Lines of a page of the book.
const PAGE_LINES: u64 = 1024;
/// Most losses that are kept until they are asked for.
const KEPT: usize = 1000;
/// Most writes that are remembered. With one more all of them are forgotten.
const DEEDS: usize = 1 << 22;

/// A write to memory by a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deed {
    /// Number of the tile, as [`crate::Grid::tensix`] counts.
    pub tile: u16,
    /// The core and the instruction that it comes from.
    pub by: Option<(CoreId, u32)>,
    /// When it arrived.
    pub cycle: Cycle,
}

/// Data that nobody had read, with others written over them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// DRAM channel, 0 to 7.
    pub channel: u16,
    /// The first byte that was lost: a byte address in the channel.
    pub addr: u64,
    /// Who had written it.
    pub first: Deed,
    /// Who has written over it.
    pub second: Deed,
}

/// What was written last in a line and is still unread.
#[derive(Clone, Copy, Default, Debug)]
struct Unread {
    /// One more than the number of the write; 0 for nothing.
    deed: u32,
    /// The first byte in the line, and the last.
    from: u8,
    to: u8,
}

/// The book of it.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    pages: BTreeMap<(u16, u64), Box<[Unread]>>,
    deeds: Vec<Deed>,
    losses: Vec<Loss>,
}

/// The lines of an access: number, the first byte in it, the last.
fn lines(addr: u64, bytes: u64) -> impl Iterator<Item = (u64, u8, u8)> {
    let end = addr.saturating_add(bytes);
    let (first, last) = (addr / LINE_BYTES, end.saturating_sub(1) / LINE_BYTES);
    (first..=last).filter(move |_| bytes > 0).map(move |line| {
        let begin = line * LINE_BYTES;
        let from = addr.saturating_sub(begin);
        let to = (end - 1 - begin).min(LINE_BYTES - 1);
        (line, from as u8, to as u8)
    })
}

impl Lost {
    /// The host or a tile has read some bytes, or somebody has written of whom nothing is known.
    pub(crate) fn forget(&mut self, channel: u16, addr: u64, bytes: u64) {
        for (line, ..) in lines(addr, bytes) {
            if let Some(page) = self.pages.get_mut(&(channel, line / PAGE_LINES)) {
                page[(line % PAGE_LINES) as usize] = Unread::default();
            }
        }
    }

    /// All that was written may have been read.
    pub(crate) fn forget_all(&mut self) {
        self.pages.clear();
        self.deeds.clear();
    }

    /// A tile is about to write `data`.
    pub(crate) fn write(
        &mut self,
        (channel, memory): (u16, &mut dyn Endpoint),
        (addr, data): (u64, &[u8]),
        second: Deed,
    ) {
        if self.deeds.len() == DEEDS {
            self.forget_all();
        }
        self.deeds.push(second);
        let deed = u32::try_from(self.deeds.len()).unwrap_or(0);
        let mut lost = None;
        for (line, from, to) in lines(addr, data.len() as u64) {
            let page = self.pages.entry((channel, line / PAGE_LINES));
            let page = page.or_insert_with(|| vec![Unread::default(); PAGE_LINES as usize].into());
            let unread = &mut page[(line % PAGE_LINES) as usize];
            let before = std::mem::replace(unread, Unread { deed, from, to });
            let both = before.from.max(from)..=before.to.min(to);
            if before.deed == 0 || lost.is_some() || both.is_empty() {
                continue;
            }
            let addr_of = |byte: u8| line * LINE_BYTES + u64::from(byte);
            let mut old = [0; LINE_BYTES as usize];
            let old = &mut old[..both.clone().count()];
            if memory.read(addr_of(*both.start()), old).is_err() {
                continue;
            }
            let new = &data[(addr_of(*both.start()) - addr) as usize..];
            if let Some(at) = old.iter().zip(new).position(|(old, new)| old != new) {
                let first = self.deeds[before.deed as usize - 1];
                let addr = addr_of(*both.start()) + at as u64;
                lost = Some(Loss { channel, addr, first, second });
            }
        }
        if self.losses.len() < KEPT {
            self.losses.extend(lost);
        }
    }

    /// What was lost since last asked.
    pub(crate) fn take(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }
}

#[cfg(test)]
mod tests {
    use super::super::dram::Dram;
    use super::*;

    const fn deed(tile: u16, cycle: u64) -> Deed {
        Deed { tile, by: None, cycle: Cycle(cycle) }
    }

    /// Writes and notes it; gives the byte that was lost, and who had written it.
    fn write(
        lost: &mut Lost,
        dram: &mut Dram,
        addr: u64,
        data: &[u8],
        by: Deed,
    ) -> Option<(u64, u16)> {
        lost.write((3, dram), (addr, data), by);
        assert!(dram.write(addr, data).is_ok());
        lost.take().pop().map(|loss| (loss.addr, loss.first.tile))
    }

    #[test]
    fn other_bytes_over_what_nobody_has_read_are_a_loss() {
        let (mut lost, mut dram) = (Lost::default(), Dram::new());
        assert_eq!(write(&mut lost, &mut dram, 100, &[1; 200], deed(0, 1)), None);
        // The same bytes, bytes beside them, others of the same line.
        assert_eq!(write(&mut lost, &mut dram, 110, &[1; 4], deed(1, 2)), None);
        assert_eq!(write(&mut lost, &mut dram, 300, &[2; 4], deed(1, 3)), None);
        assert_eq!(write(&mut lost, &mut dram, 128, &[1, 1, 2], deed(1, 4)), Some((130, 0)));
        // Once it has been read, nothing is lost.
        lost.forget(3, 0, 1 << 16);
        assert_eq!(write(&mut lost, &mut dram, 100, &[3; 200], deed(2, 5)), None);
        lost.forget(2, 0, 1 << 16);
        let big = vec![4; 1 << 17];
        assert_eq!(write(&mut lost, &mut dram, 0, &big, deed(3, 6)), Some((100, 2)));
        assert_eq!(write(&mut lost, &mut dram, 1 << 16, &[5], deed(4, 7)), Some((1 << 16, 3)));
        lost.forget_all();
        assert_eq!(write(&mut lost, &mut dram, 1 << 16, &[6], deed(4, 8)), None);
    }

    #[test]
    fn memory_of_writes_has_an_end() {
        let (mut lost, mut dram) = (Lost::default(), Dram::new());
        assert_eq!(write(&mut lost, &mut dram, 0, &[1; 64], deed(0, 1)), None);
        lost.deeds.resize(DEEDS, deed(0, 1));
        assert_eq!(write(&mut lost, &mut dram, 0, &[2; 64], deed(1, 2)), None);
        assert_eq!((lost.deeds.len(), lost.pages.len()), (1, 1));
        assert_eq!(write(&mut lost, &mut dram, 0, &[3; 64], deed(2, 3)), Some((0, 1)));
    }

    #[test]
    fn lines_of_an_access_have_their_bytes() {
        let all: Vec<_> = lines(60, 70).collect();
        assert_eq!(all, [(0, 60, 63), (1, 0, 63), (2, 0, 1)]);
        assert_eq!(lines(64, 64).collect::<Vec<_>>(), [(1, 0, 63)]);
        assert_eq!(lines(64, 0).count(), 0);
    }
}
