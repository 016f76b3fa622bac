//! What has become of the pages of circular buffers when the kernels are done: those that nobody has popped, and those of
//! which nobody has read anything, all of a buffer or the same ones of each block.
//!
//! Who takes data out of a page reads it: an unpacker, a core, a NoC request of this tile or of another one. Nobody reads
//! a token, but nobody writes to it either; what only fills up a block is neither read nor popped. What is to stay in its
//! buffer, as a tensor that lies there, is not popped, or all of it at once, as is what there was no need of: by who does
//! not wait for writes of which he has sent none.

use std::collections::BTreeMap;

use memory_map::reg::noc_niu;
use memory_map::{Target, lookup};
use sim_core::{AgentId, CoreId, Cycle, Stamp};

use super::buffer::{CircularBuffer, buffer_at, pages};
use super::circular::Violation;
use super::hazards as h;
use super::skipped::Skipped;
use super::touched::Touched;
use crate::describe::{core_of, view_of};
use crate::resource::{CREDIT_MASK, RECEIVED};

/// A counter of a buffer since the launch.
#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    pages: u64,
    /// Pages of the first step, and of the last.
    first: u64,
    last: u64,
    steps: u32,
    at: Option<Stamp>,
}

impl Counter {
    fn add(&mut self, stamp: Stamp, pages: u64) {
        if self.steps == 0 {
            self.first = pages;
        }
        self.last = pages;
        self.pages += pages;
        self.steps = self.steps.saturating_add(1);
        self.at = Some(stamp);
    }
}

/// A buffer since the launch.
#[derive(Clone, Debug, Default)]
struct Use {
    pushed: Counter,
    popped: Counter,
    written: bool,
    /// The last page of which anything has been read.
    read: Option<u32>,
    last_read: Option<Stamp>,
    /// Requests that have sent anything from there.
    sent: u64,
    /// Somebody has written to bytes that it shares, and nobody has pushed them yet.
    open: bool,
    /// Which fill of shared bytes its pages hold, by page.
    fills: BTreeMap<u32, u64>,
    /// Its blocks, if it shares no bytes.
    skipped: Skipped,
}

/// Counters by which kernels wait for their reads, and for their writes `[isa-bh: NoC/Counters.md]`.
const READS: u32 = noc_niu::NIU_MST_RD_RESP_RECEIVED_OFFSET;
const WRITES: [u32; 3] = [
    noc_niu::NIU_MST_WR_ACK_RECEIVED_OFFSET,
    noc_niu::NIU_MST_NONPOSTED_WR_REQ_SENT_OFFSET,
    noc_niu::NIU_MST_POSTED_WR_REQ_SENT_OFFSET,
];

/// What the kernel of a core has done over the NoCs since the launch.
#[derive(Clone, Copy, Debug, Default)]
struct Mover {
    /// When it has looked last whether its writes are done, and whether it has sent any.
    waited: Option<Cycle>,
    sends: bool,
    /// The first instruction that has looked at how many reads are done, as kernels do when they begin, when another one
    /// has looked first, and whether it has sent any.
    begins: Option<u32>,
    awaited: Option<Cycle>,
    reads: bool,
}

impl Mover {
    /// When it has last waited for writes of which it has sent none.
    fn writes_in_vain(&self) -> Option<Cycle> {
        self.waited.filter(|_| !self.sends)
    }

    /// When it has first waited for reads of which it has sent none.
    fn reads_in_vain(&self) -> Option<Cycle> {
        self.awaited.filter(|_| !self.reads)
    }
}

impl Use {
    /// Says of a buffer that its producer waits for reads of which it has sent none, and nobody else has written to it. It is
    /// read, or stays: tokens are popped one by one, and a tensor that lies there has been written once.
    fn unfilled(
        &self,
        buffer: &CircularBuffer,
        movers: &[Mover; CoreId::COUNT],
        written: &Touched,
    ) -> Option<Violation> {
        let push = self.pushed.at?;
        let AgentId::Core(core) = push.agent else { return None };
        let waited = movers[core.index()].reads_in_vain()?;
        let (since, taken) = match self.read {
            Some(_) => ("written since the launch", "; data have been taken from them"),
            None => ("ever written", ""),
        };
        let stays = || self.popped.steps <= 1 && !written.any(buffer.address, buffer.size);
        let is_meant = self.read.is_some() || stays();
        let is_empty = !self.written && waited < push.cycle && is_meant;
        let text = format!(
            "pushes {} of CB {} in all, into which nobody has {since}, and has waited for reads and sent none{taken}",
            pages(self.pushed.pages),
            buffer.index
        );
        is_empty.then_some((push, h::C22, text))
    }

    /// Says of pages that are left, or of which nobody has read anything. It may not be known how large the buffer is.
    fn untaken(
        &self,
        (index, buffer): (u8, Option<&CircularBuffer>),
        movers: &[Mover; CoreId::COUNT],
    ) -> Option<Violation> {
        let left = self.pushed.pages.saturating_sub(self.popped.pages);
        match self.popped.at {
            Some(at) if left > 0 && !self.fills_up(left, buffer) => {
                let text = format!(
                    "{left} of the {} pages of CB {index} are left there: {} have been popped",
                    self.pushed.pages, self.popped.pages
                );
                Some((at, h::C25, text))
            }
            Some(at) => {
                let waited = match at.agent {
                    AgentId::Core(core) => movers[core.index()].writes_in_vain(),
                    _ => None,
                };
                let writes = waited > self.pushed.at.map(|push| push.cycle);
                let stays = self.popped.steps == 1 && !writes;
                let text = format!(
                    "pops {} of CB {index} in all, into which data have been written, and nobody has read anything of them",
                    pages(self.popped.pages)
                );
                let is_lost = self.written && self.read.is_none() && !stays && buffer.is_some();
                is_lost.then_some((at, h::C28, text))
            }
            None => {
                let pushed = self.pushed.pages;
                let fits = buffer.is_some_and(|buffer| pushed <= u64::from(buffer.pages));
                let read = match self.stays_at()? {
                    1 => "first has".to_owned(),
                    read => format!("first {read} have"),
                };
                let text = format!(
                    "{} of CB {index} have been pushed, none has been popped, and only the {read} been read",
                    pages(pushed)
                );
                self.last_read.filter(|_| self.written && fits).map(|at| (at, h::C25, text))
            }
        }
    }

    /// How many pages have been read where more have been pushed, if their reader should have gone on: to what was pushed
    /// later, or as often as it has sent the first page.
    fn stays_at(&self) -> Option<u64> {
        let (read, pushed) = (u64::from(self.read?) + 1, self.pushed.pages);
        let is_behind = read <= self.pushed.first && self.pushed.first < pushed;
        let is_sent_again = read == 1 && self.sent == pushed && 1 < pushed;
        (is_behind || is_sent_again).then_some(read)
    }

    /// Whether so many pages that are left only fill up the last push, of which others have been popped.
    fn fills_up(&self, left: u64, buffer: Option<&CircularBuffer>) -> bool {
        let Some(buffer) = buffer else { return false };
        let goes_round = self.pushed.pages > u64::from(buffer.pages);
        let is_read = self.read.is_some_and(|last| u64::from(last) >= self.popped.pages);
        left < self.pushed.last && !goes_round && !is_read
    }
}

/// What a word of L1 belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// A page of a buffer.
    Page(CircularBuffer, u32),
    /// Several buffers.
    Shared,
    /// None.
    Elsewhere,
}

/// The buffers of the launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    circular: Vec<CircularBuffer>,
    uses: BTreeMap<u8, Use>,
    /// By core.
    movers: [Mover; CoreId::COUNT],
    /// How often bytes that buffers share have been filled.
    fills: u64,
}

impl Pages {
    /// A launch has begun, with these buffers.
    pub(super) fn launched(&mut self, circular: &[CircularBuffer]) {
        *self = Self { circular: circular.to_vec(), ..Self::default() };
    }

    /// Where a word lies that is read.
    pub(super) fn place_of(&self, addr: u32) -> Place {
        match buffer_at(&self.circular, (addr, 4)) {
            Some(buffer) => {
                Place::Page(buffer, addr.saturating_sub(buffer.address) / buffer.page_bytes)
            }
            None if self.indices_at((addr, 4)).is_empty() => Place::Elsewhere,
            None => Place::Shared,
        }
    }

    /// Somebody has written so many bytes at an address, for the kernel of a core if for any of this tile.
    pub(super) fn wrote(&mut self, core: Option<CoreId>, bytes: (u32, u32)) {
        if let Some(buffer) = buffer_at(&self.circular, bytes) {
            let used = self.uses.entry(buffer.index).or_default();
            used.written = true;
            used.skipped.wrote(buffer.pages_at(bytes));
            return;
        }
        for index in self.indices_at(bytes) {
            let held = self.held_at(index, bytes.0);
            let used = self.uses.entry(index).or_default();
            used.open = true;
            let producer = used.pushed.at.and_then(|push| core_of(push.agent));
            // Who changes the data of another where they lie, and pushes them as another buffer's, takes them too.
            if core.is_some() && core != producer {
                used.read = used.read.max(held);
            }
        }
    }

    /// The page of a buffer at an address, if it has been pushed and not popped.
    fn held_at(&self, index: u8, addr: u32) -> Option<u32> {
        let buffer = self.only(index).filter(|buffer| buffer.pages != 0)?;
        let (page, pages) =
            (addr.checked_sub(buffer.address)? / buffer.page_bytes, u64::from(buffer.pages));
        let used = self.uses.get(&index)?;
        let held = used.pushed.pages.saturating_sub(used.popped.pages).min(pages);
        let ahead = (u64::from(page) + pages - used.popped.pages % pages) % pages;
        (ahead < held).then_some(page)
    }

    /// Buffers in which any of so many bytes at an address lie.
    fn indices_at(&self, (addr, bytes): (u32, u32)) -> Vec<u8> {
        let end = addr.saturating_add(bytes.max(1));
        let hit = |buffer: &&CircularBuffer| {
            buffer.address < end && addr < buffer.end() && buffer.page_bytes != 0
        };
        self.circular.iter().filter(hit).map(|buffer| buffer.index).collect()
    }

    /// The buffer of an id, if launches do not differ about it.
    fn only(&self, index: u8) -> Option<&CircularBuffer> {
        let mut own = self.circular.iter().filter(|buffer| buffer.index == index);
        own.next().filter(|buffer| own.all(|other| other == *buffer) && buffer.page_bytes != 0)
    }

    /// Pages of a buffer that shares bytes are pushed: they hold what has been written there since the last push, or what
    /// they held before.
    fn filled(&mut self, index: u8, pages: std::ops::Range<u64>) {
        let Some(&buffer) = self.only(index).filter(|buffer| buffer.pages != 0) else { return };
        let all = self.indices_at((buffer.address, buffer.size));
        if all.iter().all(|other| *other == index) {
            return;
        }
        let is_new = self.uses.get(&index).is_some_and(|used| used.open);
        if is_new {
            self.fills += 1;
            self.uses.entry(index).or_default().written = true;
            for other in &all {
                self.uses.entry(*other).or_default().open = false;
            }
        }
        for page in pages {
            let page = (page % u64::from(buffer.pages)) as u32;
            let at = buffer.address.saturating_add(page.saturating_mul(buffer.page_bytes));
            let held = all.iter().filter_map(|other| self.fill_at(*other, at)).max();
            let fill = if is_new { self.fills } else { held.unwrap_or_default() };
            self.uses.entry(index).or_default().fills.insert(page, fill);
        }
    }

    /// Which fill a buffer's page at an address holds.
    fn fill_at(&self, index: u8, addr: u32) -> Option<u64> {
        let page = addr.checked_sub(self.only(index)?.address)? / self.only(index)?.page_bytes;
        self.uses.get(&index)?.fills.get(&page).copied()
    }

    /// Whether who reads at an address reads another buffer's data, which shares the bytes: that which was pushed there
    /// last.
    fn is_of_another(&self, index: u8, addr: u32) -> bool {
        let others = self.indices_at((addr, 1));
        let last = others.iter().filter_map(|other| self.fill_at(*other, addr)).max();
        last.is_some() && last != self.fill_at(index, addr)
    }

    /// Somebody has read so many bytes at an address.
    pub(super) fn read(&mut self, stamp: Stamp, (addr, bytes): (u32, u32)) {
        if let Some(buffer) = buffer_at(&self.circular, (addr, bytes.max(1))) {
            let used = self.note(stamp, &buffer, (addr, bytes));
            used.skipped.read(buffer.pages_at((addr, bytes)));
            return;
        }
        for index in self.indices_at((addr, bytes)) {
            if let Some(&buffer) = self.only(index).filter(|_| !self.is_of_another(index, addr)) {
                self.note(stamp, &buffer, (addr, bytes));
            }
        }
    }

    /// Somebody has read so many bytes of a buffer.
    fn note(
        &mut self,
        stamp: Stamp,
        buffer: &CircularBuffer,
        (addr, bytes): (u32, u32),
    ) -> &mut Use {
        let end = addr.saturating_add(bytes.max(1));
        let last = (end - 1).saturating_sub(buffer.address) / buffer.page_bytes;
        let used = self.uses.entry(buffer.index).or_default();
        used.read = used.read.max(Some(last));
        used.last_read = Some(stamp);
        used
    }

    /// A core has sent a write or an atomic, with so many bytes at an address if it takes them from there.
    pub(super) fn sent(&mut self, stamp: Stamp, bytes: Option<(u32, u32)>) {
        if let AgentId::Core(core) = stamp.agent {
            self.movers[core.index()].sends = true;
        }
        let Some(bytes) = bytes else { return };
        self.read(stamp, bytes);
        if let Some(buffer) = buffer_at(&self.circular, bytes) {
            self.uses.entry(buffer.index).or_default().sent += 1;
        }
    }

    /// A core has read something, of which is known where it did so some rounds of a loop ago: it may be any page of that
    /// buffer by now.
    pub(super) fn read_near(&mut self, stamp: Stamp, addr: u32) {
        if let Some(buffer) = buffer_at(&self.circular, (addr, 1)) {
            self.read(stamp, (buffer.address, buffer.size));
        }
    }

    /// A core has sent a read.
    pub(super) fn asked(&mut self, stamp: Stamp) {
        if let AgentId::Core(core) = stamp.agent {
            self.movers[core.index()].reads = true;
        }
    }

    /// The kernel of a core has looked at a register: it may be one that says whether requests over a NoC are done.
    pub(super) fn looked(&mut self, core: CoreId, addr: u32, (cycle, pc): (Cycle, u32)) {
        let is_noc = |target| matches!(target, Target::Noc0 | Target::Noc1);
        let hit = lookup(view_of(core), addr).filter(|hit| is_noc(hit.target));
        let mover = &mut self.movers[core.index()];
        match hit.map(|hit| hit.offset) {
            Some(READS) if *mover.begins.get_or_insert(pc) != pc => {
                mover.awaited.get_or_insert(cycle);
            }
            Some(offset) if WRITES.contains(&offset) => mover.waited = Some(cycle),
            _ => {}
        }
    }

    /// A kernel has moved a counter of a buffer.
    pub(super) fn step(
        &mut self,
        stamp: Stamp,
        (stream, register): (u8, u16),
        (before, after): (u32, u32),
    ) {
        let pages = u64::from(after.wrapping_sub(before) & CREDIT_MASK);
        let pushed = self.uses.entry(stream).or_default().pushed.pages;
        if register == RECEIVED {
            self.filled(stream, pushed..pushed + pages);
        }
        let buffer = self.only(stream).copied();
        let used = self.uses.entry(stream).or_default();
        if register == RECEIVED {
            used.pushed.add(stamp, pages);
            return;
        }
        used.popped.add(stamp, pages);
        if let Some(buffer) = buffer {
            used.skipped.popped(pages as u32, &buffer);
        }
    }

    /// The kernels are done: what was wrong.
    pub(super) fn ended(&mut self, written: &Touched) -> Vec<Violation> {
        let circular = std::mem::take(&mut self.circular);
        let done = std::mem::replace(self, Self { circular, ..Self::default() });
        let found = done.uses.iter().filter_map(|(index, used)| {
            let buffer = self.only(*index);
            let lies_alone = |buffer: &&CircularBuffer| {
                buffer_at(&self.circular, (buffer.address, buffer.size)).is_some()
            };
            let unfilled =
                buffer.filter(lies_alone).and_then(|own| used.unfilled(own, &done.movers, written));
            let untaken = || used.untaken((*index, buffer), &done.movers);
            unfilled.or_else(untaken).or_else(|| used.skipped.ended(*index, used.last_read))
        });
        found.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::ACKED;

    const CB: CircularBuffer =
        CircularBuffer { index: 3, address: 0x2_0000, size: 0x1000, pages: 4, page_bytes: 0x400 };
    /// NIU_MST_WR_ACK_RECEIVED of NoC 0.
    const ACKS: u32 = noc_niu::NIU_MST_WR_ACK_RECEIVED;

    fn at(cycle: u64) -> Stamp {
        Stamp { cycle: Cycle(cycle), agent: AgentId::Core(CoreId::Brisc), pc: 0x80 }
    }

    /// What is done to the buffer, at one cycle after the other.
    #[derive(Clone, Copy)]
    enum Act {
        Push(u32),
        Pop(u32),
        Write(u32),
        /// Bytes of a page.
        Read(u32),
        Near(u32),
        Send(u32),
        /// A register, each time by another instruction.
        Look(u32),
        /// A read is sent.
        Ask,
    }
    use Act::{Ask, Look, Near, Pop, Push, Read, Send, Write};

    fn said_of(circular: &[CircularBuffer], acts: &[Act]) -> Option<(&'static str, String)> {
        let mut before = Touched::new(4);
        before.set(CB.address, CB.size, true);
        said_behind(&before, circular, acts)
    }

    /// As [`said_of`], where no more than this has been written before the launch.
    fn said_behind(
        before: &Touched,
        circular: &[CircularBuffer],
        acts: &[Act],
    ) -> Option<(&'static str, String)> {
        let (mut pages, mut counts) = (Pages::default(), [0; 2]);
        pages.launched(circular);
        for (cycle, act) in (1..).zip(acts) {
            let page = |page: u32| (CB.address + page * CB.page_bytes, 64);
            let mut step = |register, amount: u32| {
                let count = &mut counts[usize::from(register == RECEIVED)];
                pages.step(at(cycle), (CB.index, register), (*count, *count + amount));
                *count += amount;
            };
            match *act {
                Push(amount) => step(RECEIVED, amount),
                Pop(amount) => step(ACKED, amount),
                Write(one) => pages.wrote(Some(CoreId::Brisc), page(one)),
                Read(one) => pages.read(at(cycle), page(one)),
                Near(one) => pages.read_near(at(cycle), page(one).0),
                Send(one) => pages.sent(at(cycle), Some(page(one))),
                Look(addr) => pages.looked(CoreId::Brisc, addr, (Cycle(cycle), cycle as u32)),
                Ask => pages.asked(at(cycle)),
            }
        }
        let found = pages.ended(before);
        assert!(pages.ended(before).is_empty(), "said once");
        found.into_iter().next().map(|(_, hazard, text)| (hazard.id, text))
    }

    fn said(acts: &[Act]) -> Option<&'static str> {
        said_of(&[CB], acts).map(|(id, _)| id)
    }

    #[test]
    fn what_is_popped_page_by_page_is_read_by_somebody() {
        let text = "pops 2 pages of CB 3 in all, into which data have been written, and nobody has read anything of them";
        let acts = [Write(0), Push(1), Pop(1), Push(1), Pop(1)];
        assert_eq!(said_of(&[CB], &acts), Some(("C28", text.to_owned())));
        assert_eq!(said(&acts[1..]), None, "a token");
        for read in [Read(0), Near(2), Send(3)] {
            assert_eq!(said(&[&acts[..], &[read]].concat()), None);
        }
        assert_eq!(said(&[&acts[..], &[Read(4), Near(4)]].concat()), Some("C28"), "behind it");
    }

    #[test]
    fn tensor_that_lies_in_its_buffer_is_popped_at_once_by_who_writes_nothing() {
        let stays = [Write(0), Look(ACKS), Push(3), Pop(3)];
        assert_eq!(said(&stays), None);
        assert_eq!(said(&[&stays[..], &[Look(ACKS)]].concat()), Some("C28"));
        assert_eq!(said(&[&[Send(9)], &stays[..], &[Look(ACKS)]].concat()), None, "of another");
        let others = [noc_niu::NIU_MST_RD_RESP_RECEIVED, CB.address];
        let looks = others.map(|addr| said(&[&stays[..], &[Look(addr)]].concat()));
        assert_eq!(looks, [None; 2]);
    }

    #[test]
    fn who_waits_for_reads_and_has_sent_none_has_filled_nothing() {
        const DONE: u32 = noc_niu::NIU_MST_RD_RESP_RECEIVED;
        let text = "pushes 2 pages of CB 3 in all, into which nobody has written since the launch, and has waited for reads \
                    and sent none; data have been taken from them";
        let acts = [Look(DONE), Look(DONE), Push(1), Push(1), Read(0), Pop(2)];
        assert_eq!(said_of(&[CB], &acts), Some(("C22", text.to_owned())));
        assert_eq!(said(&acts[1..]), None, "what a kernel begins with");
        assert_eq!(said(&[&acts[1..], &[Look(DONE)]].concat()), None, "behind the push");
        assert_eq!(said(&[&[Ask], &acts[..]].concat()), None);
        assert_eq!(said(&[&[Write(1)], &acts[..]].concat()), None);
        assert_eq!(said(&[Look(DONE), Look(DONE), Push(2), Pop(2)]), None, "a token");
        assert_eq!(said(&[Look(ACKS), Look(ACKS), Push(2), Read(0), Pop(2)]), None);
    }

    #[test]
    fn what_stays_in_its_buffer_has_been_written_by_somebody() {
        const DONE: u32 = noc_niu::NIU_MST_RD_RESP_RECEIVED;
        let text = "pushes 4 pages of CB 3 in all, into which nobody has ever written, and has waited for reads and sent none";
        let acts = [Look(DONE), Look(DONE), Push(4)];
        let mut before = Touched::new(4);
        before.set(CB.address - 16, 16, true);
        before.set(CB.end(), 16, true);
        assert_eq!(said_behind(&before, &[CB], &acts), Some(("C22", text.to_owned())));
        assert_eq!(said_behind(&before, &[CB], &acts[1..]), None);
        assert_eq!(said_behind(&before, &[CB], &[&[Ask], &acts[..]].concat()), None);
        let whole = [&acts[..], &[Pop(4)]].concat();
        assert_eq!(said_behind(&before, &[CB], &whole), Some(("C22", text.to_owned())));
        let tokens = [&acts[..], &[Pop(2), Pop(2)]].concat();
        assert_eq!(said_behind(&before, &[CB], &tokens), None);
        assert_eq!(said_behind(&before, &[], &acts), None);
        before.set(CB.end() - 4, 4, true);
        assert_eq!(said_behind(&before, &[CB], &acts), None, "a tensor that lies there");
    }

    #[test]
    fn pages_are_left_where_some_were_popped() {
        assert_eq!(said(&[Push(3)]), None, "what is kept to the end");
        assert_eq!(said(&[Push(3), Pop(3)]), None);
        let text = "1 of the 3 pages of CB 3 are left there: 2 have been popped";
        let acts = [Push(1), Push(1), Push(1), Pop(2)];
        assert_eq!(said_of(&[CB], &acts), Some(("C25", text.to_owned())));
        assert_eq!(said_of(&[], &acts), Some(("C25", text.to_owned())));
    }

    #[test]
    fn what_fills_a_block_up_is_neither_read_nor_popped() {
        assert_eq!(said(&[Push(4), Read(0), Pop(1)]), None);
        assert_eq!(said(&[Push(4), Read(1), Pop(1)]), Some("C25"), "it has been used");
        assert_eq!(said(&[Push(1), Push(2), Read(0), Pop(1)]), Some("C25"), "a whole push");
        let around = [Push(4), Pop(4), Push(4), Read(0), Pop(1)];
        assert_eq!(said(&around), Some("C25"), "which of them were read is not known");
    }

    #[test]
    fn who_never_pops_takes_the_first_page_again_and_again() {
        let text = "2 pages of CB 3 have been pushed, none has been popped, and only the first has been read";
        let acts = [Write(0), Push(1), Send(0), Push(1), Send(0)];
        assert_eq!(said_of(&[CB], &acts), Some(("C25", text.to_owned())));
        assert_eq!(said(&[&acts[..], &[Read(1)]].concat()), None);
        assert_eq!(said(&[Write(0), Push(2), Send(0), Send(0)]), Some("C25"), "pushed at once");
        assert_eq!(said(&[Write(0), Push(2), Send(0)]), None, "the other may fill it up");
        assert_eq!(said(&[Write(0), Push(2), Read(0), Read(0)]), None);
        assert_eq!(said(&[Write(0), Push(1), Send(0)]), None, "it may stay");
        assert_eq!(said(&[Push(1), Push(1), Read(0)]), None, "a tensor that lies there");
        assert_eq!(said(&[Write(0), Push(3), Push(2), Read(0)]), None, "beyond its end");
        let other = CircularBuffer { index: 4, ..CB };
        assert_eq!(said_of(&[CB, other], &acts).map(|(id, _)| id), Some("C25"), "two share it");
    }

    #[test]
    fn of_buffers_that_share_bytes_who_was_pushed_last_is_read() {
        let partials = CircularBuffer { index: 9, ..CB };
        let output = CB.index;
        let said = |reads: [bool; 2], popped: bool| {
            let mut pages = Pages::default();
            pages.launched(&[CB, partials]);
            for round in [0, 1] {
                let bytes = (CB.address + round * CB.page_bytes, 64);
                for (at_cycle, index) in [(1, partials.index), (5, output)] {
                    pages.wrote(Some(CoreId::Brisc), bytes);
                    pages.step(at(at_cycle), (index, RECEIVED), (round, round + 1));
                    if reads[usize::from(index == output)] {
                        let stays = !popped && index != output;
                        let own = if stays { (CB.address, 64) } else { bytes };
                        pages.read(at(at_cycle + 1), own);
                    }
                    if popped || index == output {
                        pages.step(at(at_cycle + 2), (index, ACKED), (round, round + 1));
                    }
                }
            }
            let found = pages
                .ended(&Touched::new(4))
                .into_iter()
                .map(|(at, found, _)| (at.cycle.0, found.id));
            found.collect::<Vec<_>>()
        };
        assert_eq!(said([true, true], true), []);
        assert_eq!(said([false, true], true), [(3, "C28")]);
        assert_eq!(said([true, false], true), [(7, "C28")]);
        assert_eq!(said([true, true], false), [(2, "C25")]);
    }

    #[test]
    fn page_that_is_changed_in_place_and_pushed_as_another_buffers_is_taken() {
        let changed = CircularBuffer { index: 9, ..CB };
        let said = |in_place: bool| {
            let mut pages = Pages::default();
            pages.launched(&[CB, changed]);
            for round in [0, 1] {
                let bytes = (CB.address + round * CB.page_bytes, 64);
                pages.wrote(Some(CoreId::Brisc), bytes);
                pages.step(at(1), (CB.index, RECEIVED), (round, round + 1));
                if in_place {
                    pages.wrote(Some(CoreId::Ncrisc), bytes);
                }
                pages.step(at(2), (CB.index, ACKED), (round, round + 1));
                pages.wrote(Some(CoreId::Brisc), bytes);
                pages.step(at(3), (changed.index, RECEIVED), (round, round + 1));
                pages.read(at(4), bytes);
                pages.step(at(5), (changed.index, ACKED), (round, round + 1));
            }
            pages
                .ended(&Touched::new(4))
                .into_iter()
                .map(|(_, found, _)| found.id)
                .collect::<Vec<_>>()
        };
        assert_eq!(said(true), [""; 0]);
        assert_eq!(said(false), ["C28"]);
    }

    #[test]
    fn page_that_is_pushed_again_as_another_buffers_holds_the_same_data() {
        let other = CircularBuffer { index: 9, ..CB };
        let mut pages = Pages::default();
        pages.launched(&[CB, other]);
        pages.wrote(None, (CB.address, 64));
        for round in [0, 1] {
            for index in [CB.index, other.index] {
                pages.step(at(2), (index, RECEIVED), (round, round + 1));
            }
            let page = CB.address + round * CB.page_bytes;
            pages.read(at(3), (page, 64));
            for index in [CB.index, other.index] {
                pages.step(at(4), (index, ACKED), (round, round + 1));
            }
        }
        assert!(pages.ended(&Touched::new(4)).is_empty());
    }
}
