//! Contracts of circular buffers, from their two counters: no more pages in one than it has, none
//! popped that was not pushed, one producer and one consumer, a page that was pushed is left alone
//! until it is popped, and filled again before it is pushed again.
//!
//! Each core keeps its own position in a buffer and only the counters are shared
//! `[hdr: hw/inc/api/dataflow/circular_buffer.h]`: a second producer is none as long as its own position is
//! where the buffer stands, as in a buffer that every push fills as a whole.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sim_core::{AgentId, CoreId, Stamp};

use super::buffer::{self, CircularBuffer, buffer_at};
use super::hazards::{self as h, Hazard};
use super::touched::Touched;
use crate::resource::{CREDIT_MASK, RECEIVED};

/// Pages that one core has pushed, or popped, since the launch.
#[derive(Clone, Copy, Debug)]
struct Side {
    core: CoreId,
    pages: u64,
}

/// One counter of a buffer since the launch: who has moved it, in order of appearance.
#[derive(Clone, Debug, Default)]
struct Counter {
    total: u64,
    sides: Vec<Side>,
}

impl Counter {
    /// Adds `amount` pages; gives where the core stood by its own count and where the buffer stood.
    fn add(&mut self, core: CoreId, amount: u64) -> (u64, u64) {
        let before = self.total;
        self.total += amount;
        if let Some(side) = self.sides.iter_mut().find(|side| side.core == core) {
            let own = side.pages;
            side.pages += amount;
            return (own, before);
        }
        self.sides.push(Side { core, pages: amount });
        (0, before)
    }

    fn only(&self) -> Option<CoreId> {
        match self.sides[..] {
            [side] => Some(side.core),
            _ => None,
        }
    }
}

/// A buffer since the launch.
#[derive(Clone, Debug, Default)]
struct Use {
    pushed: Counter,
    popped: Counter,
    /// A pop before anybody had pushed: of a buffer that lies on a tensor nobody ever does, and popping it only
    /// moves the place where is read.
    early: Option<Violation>,
    /// A page that was changed behind its push, before anybody else has taken anything: who pushes pages that nobody
    /// takes has them as scratch memory.
    changed: Option<Violation>,
    /// Pages to which anybody has written.
    written: BTreeSet<u32>,
    /// How many pages had been pushed after each push, from the one on behind which a pop stands.
    pushes: VecDeque<u64>,
    last_push: Option<Stamp>,
}

impl Use {
    /// The pages that were pushed together with one that is held: one that only fills them up holds nothing.
    fn pushed_with(&self, page: u64, pages: u64) -> impl Iterator<Item = u64> {
        let first = self.popped.total;
        let number = first + (page + pages - first % pages) % pages;
        let end = self.pushes.iter().copied().find(|end| number < *end);
        let start = self.pushes.iter().copied().rfind(|end| *end <= number).unwrap_or(0);
        (start..end.unwrap_or(number + 1)).map(move |number| number % pages)
    }

    /// The first page that holds what was pushed and not yet popped, and how many of so many pages do.
    fn holding(&self, pages: u64) -> (u64, u64) {
        let held = self.pushed.total.saturating_sub(self.popped.total).min(pages);
        (self.popped.total % pages, held)
    }

    /// Whether a page is one of those.
    fn holds(&self, page: u64, pages: u64) -> bool {
        let (first, held) = self.holding(pages);
        (page + pages - first) % pages < held
    }

    /// Those pages in words.
    fn held(&self, pages: u64) -> String {
        match self.holding(pages) {
            (_, 0) => "no page".to_owned(),
            (first, 1) => format!("page {first} only"),
            (first, held) => format!("pages {first} to {} only", (first + held - 1) % pages),
        }
    }
}

/// Bytes of a line: pages of buffers are so many of them `[spec: boot-and-sync 7.1]`.
const LINE_BYTES: u32 = 16;

/// Which parts of a page are filled by who takes its data for narrower than they are: a half, a quarter. What else is
/// left open in a page may be rows that nobody goes by.
const PARTS: [u32; 2] = [2, 4];

/// A violation: when, by whom, what.
pub(super) type Violation = (Stamp, Hazard, String);

/// The buffers of the launch.
#[derive(Clone, Debug)]
pub(super) struct Buffers {
    uses: BTreeMap<u8, Use>,
    /// Where anybody has written since the tile began.
    touched: Touched,
}

impl Default for Buffers {
    fn default() -> Self {
        Self { uses: BTreeMap::new(), touched: Touched::new(LINE_BYTES) }
    }
}

impl Buffers {
    /// Firmware sets a counter back at a launch: both sides begin anew.
    pub(super) fn reset(&mut self, stream: u8) {
        self.uses.remove(&stream);
    }

    /// Takes a step of a counter by `core`.
    pub(super) fn step(
        &mut self,
        buffer: &CircularBuffer,
        (stamp, core): (Stamp, CoreId),
        register: u16,
        (before, after): (u32, u32),
    ) -> Option<Violation> {
        let amount = u64::from(after.wrapping_sub(before) & CREDIT_MASK);
        let pages = u64::from(buffer.pages);
        if amount == 0 || pages == 0 {
            return None;
        }
        let used = self.uses.entry(buffer.index).or_default();
        let held = used.pushed.total.saturating_sub(used.popped.total);
        let counter = if register == RECEIVED {
            used.last_push = Some(stamp);
            &mut used.pushed
        } else {
            &mut used.popped
        };
        let (own, stood) = counter.add(core, amount);
        let first = counter.sides[0].core;
        if register == RECEIVED {
            used.pushes.push_back(used.pushed.total);
        } else {
            while used.pushes.get(1).is_some_and(|end| *end <= used.popped.total) {
                used.pushes.pop_front();
            }
        }
        let index = buffer.index;
        if own % pages != stood % pages && first != core {
            let (verb, done) =
                if register == RECEIVED { ("pushes", "pushed") } else { ("pops", "popped") };
            let text = format!(
                "{core} {verb} {} at its own page {} of CB {index}, which stands at page {}: {first} has {done} \
                 there too",
                buffer::pages(amount),
                own % pages,
                stood % pages
            );
            return Some((stamp, h::C16, text));
        }
        if register == RECEIVED && held + amount > pages {
            let text = format!(
                "{} pushed into CB {index} of {pages}, which holds {held}: {} of them overwritten before {}",
                buffer::pages(amount),
                buffer::pages(held + amount - pages),
                if held + amount - pages == 1 { "it was read" } else { "they were read" }
            );
            return Some((stamp, h::C14, text));
        }
        if register != RECEIVED && amount > held {
            let text =
                format!("{} popped from CB {index}, which holds {held}", buffer::pages(amount));
            let violation = (stamp, h::C15, text);
            if used.pushed.total == 0 {
                used.early.get_or_insert(violation);
                return None;
            }
            return Some(violation);
        }
        if register == RECEIVED { used.early.take() } else { used.changed.take() }
    }

    /// Takes a read of `bytes` bytes at `addr` by `core`, which takes pages out of the buffers.
    pub(super) fn taken(
        &mut self,
        buffers: &[CircularBuffer],
        (stamp, core): (Stamp, CoreId),
        (addr, bytes): (u32, u32),
    ) -> Option<Violation> {
        let buffer = buffer_at(buffers, (addr, bytes))?;
        let used = self.uses.get_mut(&buffer.index)?;
        let (pages, index) = (u64::from(buffer.pages), buffer.index);
        let page = u64::from(addr.saturating_sub(buffer.address) / buffer.page_bytes);
        // A buffer that nobody pushes into lies on a tensor; one who fills it himself may read it before.
        let producer = used.pushed.only()?;
        if page >= pages || producer == core {
            return None;
        }
        if let Some(changed) = used.changed.take() {
            return Some(changed);
        }
        if used.holds(page, pages) {
            let at = |page: u64| buffer.address.saturating_add(page as u32 * buffer.page_bytes);
            if used.written.contains(&(page as u32)) {
                if self.touched.any(addr, bytes) {
                    return None;
                }
                let filled = self.touched.prefix(at(page), buffer.page_bytes);
                PARTS.iter().find(|part| filled * **part == buffer.page_bytes)?;
                let text = format!(
                    "pushes page {page} of CB {index}, of whose {} bytes the first {filled} have been written and the \
                     others never, and {core} takes those too, from {addr:#x} in cycle {}",
                    buffer.page_bytes, stamp.cycle
                );
                return used.last_push.map(|pushed| (pushed, h::C22, text));
            }
            let together = || used.pushed_with(page, pages);
            // What fills a block up may hold anything.
            if together().any(|page| used.written.contains(&(page as u32))) {
                return None;
            }
            let is_touched = |page: u64| self.touched.any(at(page), buffer.page_bytes);
            let (since, how) = if !together().any(is_touched) {
                ("ever written", "")
            } else if used.popped.total > page {
                ("written since the launch", " again and again")
            } else {
                // A tensor's, pushed where it lies, goes round once.
                return None;
            };
            let text = format!(
                "pushes pages of CB {index} into which nobody has {since}, and {core} takes data from them{how}, \
                 from page {page} at {addr:#x} in cycle {}",
                stamp.cycle
            );
            return used.last_push.map(|pushed| (pushed, h::C22, text));
        }
        // A tensor lies there before and after it is pushed, and others read it beside who pushes and pops it.
        if used.written.is_empty() {
            return None;
        }
        let holds = used.held(pages);
        let text = format!(
            "{core} takes data from page {page} of CB {index} at {addr:#x}, which holds {holds}"
        );
        Some((stamp, h::C18, text))
    }

    /// Takes a store of `core` to `bytes` bytes at `addr`; of another tile's if there is none.
    pub(super) fn stored(
        &mut self,
        buffers: &[CircularBuffer],
        (stamp, core): (Stamp, Option<CoreId>),
        (addr, bytes): (u32, u32),
    ) -> Option<Violation> {
        self.touched.set(addr, bytes, true);
        let buffer = buffer_at(buffers, (addr, bytes))?;
        let used = self.uses.entry(buffer.index).or_default();
        let page = addr.saturating_sub(buffer.address) / buffer.page_bytes;
        let last = addr.saturating_sub(buffer.address).saturating_add(bytes.saturating_sub(1))
            / buffer.page_bytes;
        used.written.extend(page..=last.min(buffer.pages));
        if page >= buffer.pages || !used.holds(page.into(), buffer.pages.into()) {
            return None;
        }
        let producer = used.pushed.only()?;
        let index = buffer.index;
        let Some(core) = core else {
            let text = format!(
                "{producer} has pushed page {page} of CB {index}, and data of another tile arrive in it behind that, \
                 at {addr:#x} in cycle {}",
                stamp.cycle
            );
            let is_sent = matches!(stamp.agent, AgentId::Noc(_));
            return used.last_push.filter(|_| is_sent).map(|pushed| (pushed, h::C17, text));
        };
        if producer == core {
            // Within a compute kernel pack may work in place: what unpack takes next it orders by itself.
            if producer == CoreId::Trisc2
                && used.popped.sides.iter().all(|side| side.core == CoreId::Trisc0)
            {
                return None;
            }
            let by_noc = matches!(stamp.agent, AgentId::Noc(_));
            let (hazard, how) = if by_noc {
                (h::B10, "data arrives in")
            } else {
                (h::C17, "its producer writes to")
            };
            let text = format!(
                "{how} page {page} of CB {index} at {addr:#x}, which {core} has pushed already"
            );
            if !used.popped.sides.is_empty() {
                return Some((stamp, hazard, text));
            }
            used.changed.get_or_insert((stamp, hazard, text));
            return None;
        }
        let consumer = used.popped.only()?;
        (consumer != core).then(|| {
            let text = format!(
                "{core} writes to page {page} of CB {index} at {addr:#x}, which is between its producer \
                 {producer} and its consumer {consumer}"
            );
            (stamp, h::C17, text)
        })
    }
}

#[cfg(test)]
mod tests {
    use sim_core::Cycle;
    use sim_core::l1::L1_BYTES;

    use super::*;
    use crate::resource::ACKED;

    const CB: CircularBuffer =
        CircularBuffer { index: 3, address: 0x2_0000, size: 0x1000, pages: 4, page_bytes: 0x400 };

    fn by(core: CoreId) -> (Stamp, CoreId) {
        (Stamp { cycle: Cycle(9), agent: AgentId::Core(core), pc: 0x80 }, core)
    }

    fn stores(core: CoreId) -> (Stamp, Option<CoreId>) {
        (by(core).0, Some(core))
    }

    #[test]
    fn page_that_pack_fills_again_in_place_is_its_own_affair() {
        let mut buffers = Buffers::default();
        let store = |buffers: &mut Buffers, core| {
            let said = buffers.stored(&[CB], stores(core), (CB.address, 4));
            said.map(|(_, hazard, _)| hazard.id)
        };
        buffers.step(&CB, by(CoreId::Trisc2), RECEIVED, (0, 1));
        assert_eq!(store(&mut buffers, CoreId::Trisc2), None);
        let mut others = Buffers::default();
        others.step(&CB, by(CoreId::Ncrisc), RECEIVED, (0, 1));
        assert_eq!(store(&mut others, CoreId::Ncrisc), None, "nobody may ever take it");
        let popped = others.step(&CB, by(CoreId::Brisc), ACKED, (0, 1));
        assert_eq!(popped.map(|(_, hazard, _)| hazard.id), Some("C17"));
        // A consumer of another kernel may have read it.
        buffers.step(&CB, by(CoreId::Trisc2), RECEIVED, (1, 3));
        buffers.step(&CB, by(CoreId::Brisc), ACKED, (0, 1));
        let next = CB.address + CB.page_bytes;
        let said = buffers.stored(&[CB], stores(CoreId::Trisc2), (next, 4));
        assert_eq!(said.map(|(_, hazard, _)| hazard.id), Some("C17"));
    }

    /// Pages 1 and 2 of 4 are in the buffer.
    #[test]
    fn data_of_pages_that_are_not_there_are_named_with_what_is() {
        let mut buffers = Buffers::default();
        let taken = |buffers: &mut Buffers, core, page| {
            let at = CB.address + page * CB.page_bytes;
            buffers.taken(&[CB], by(core), (at, 4)).map(|(_, hazard, text)| (hazard.id, text))
        };
        assert_eq!(taken(&mut buffers, B, 0), None, "a buffer that lies on a tensor");
        buffers.stored(&[CB], stores(NC), (CB.address, CB.size));
        buffers.step(&CB, by(NC), RECEIVED, (0, 3));
        buffers.step(&CB, by(B), ACKED, (0, 1));
        let wrong = [0, 1, 2, 3].map(|page| taken(&mut buffers, B, page).map(|(id, _)| id));
        assert_eq!(wrong, [Some("C18"), None, None, Some("C18")]);
        let (_, text) = taken(&mut buffers, B, 3).expect("page 3");
        assert!(
            text.ends_with("from page 3 of CB 3 at 0x20c00, which holds pages 1 to 2 only"),
            "{text}"
        );
        assert_eq!(taken(&mut buffers, NC, 3), None, "who fills it may read it before");
        let mut resident = Buffers::default();
        resident.touched.set(CB.address, CB.size, true);
        resident.step(&CB, by(NC), RECEIVED, (0, 3));
        resident.step(&CB, by(NC), ACKED, (0, 1));
        assert_eq!(taken(&mut resident, B, 0), None, "a tensor, which is there before and after");
        let shared = CircularBuffer { index: 9, ..CB };
        let two = buffers.taken(&[CB, shared], by(B), (CB.address, 4));
        assert_eq!(two.map(|(_, hazard, _)| hazard.id), None, "two share it on purpose");
    }

    #[test]
    fn pop_without_any_push_counts_once_somebody_pushes() {
        let (reader, writer) = (CoreId::Trisc0, CoreId::Ncrisc);
        assert_eq!(run(&[(false, reader, 2), (false, reader, 2)]), None);
        let said = run(&[(false, reader, 2), (false, reader, 2), (true, writer, 1)]);
        assert_eq!(said, Some(("C15", "2 pages popped from CB 3, which holds 0".to_owned())));
    }

    /// Pushes (true) and pops of cores, in order; what is said of the last.
    fn run(steps: &[(bool, CoreId, u32)]) -> Option<(&'static str, String)> {
        let (mut buffers, mut counters, mut last) = (Buffers::default(), [0, 0], None);
        for &(push, core, amount) in steps {
            let at = &mut counters[usize::from(push)];
            let register = if push { RECEIVED } else { ACKED };
            last = buffers.step(&CB, by(core), register, (*at, *at + amount));
            *at += amount;
        }
        last.map(|(_, hazard, text)| (hazard.id, text))
    }

    const B: CoreId = CoreId::Brisc;
    const NC: CoreId = CoreId::Ncrisc;

    #[test]
    fn push_beyond_capacity_is_named_with_what_is_lost() {
        let full = [(true, NC, 4), (false, B, 1), (true, NC, 1)];
        assert_eq!(run(&full), None);
        let beyond = [(true, NC, 3), (true, NC, 3)];
        let said = run(&beyond).expect("two pages too many");
        assert_eq!(said.0, "C14");
        assert!(said.1.contains("holds 3: 2 pages of them overwritten"), "{}", said.1);
    }

    #[test]
    fn pop_beyond_what_was_pushed_is_named() {
        assert_eq!(run(&[(true, NC, 2), (false, B, 2)]), None);
        let said = run(&[(true, NC, 1), (false, B, 2)]).expect("one page too many");
        assert_eq!(said, ("C15", "2 pages popped from CB 3, which holds 1".to_owned()));
    }

    #[test]
    fn second_producer_is_named_unless_it_stands_where_the_buffer_stands() {
        let whole = [(true, NC, 4), (false, B, 4), (true, CoreId::Trisc2, 4)];
        assert_eq!(run(&whole), None);
        let said = run(&[(true, NC, 1), (true, CoreId::Trisc2, 1)]).expect("a second one");
        assert_eq!(said.0, "C16");
        assert!(said.1.contains("own page 0 of CB 3, which stands at page 1"), "{}", said.1);
    }

    #[test]
    fn store_to_a_page_is_its_producers_until_the_push_and_its_consumers_after() {
        let mut buffers = Buffers::default();
        let store = |buffers: &mut Buffers, core, addr| {
            buffers.stored(&[CB], stores(core), (addr, 4)).map(|(_, hazard, _)| hazard.id)
        };
        assert_eq!(store(&mut buffers, NC, 0x2_0000), None);
        buffers.step(&CB, by(NC), RECEIVED, (0, 2));
        assert_eq!(
            store(&mut buffers, NC, 0x2_0400),
            None,
            "scratch memory, as long as nobody takes it"
        );
        assert_eq!(store(&mut buffers, NC, 0x2_0800), None);
        let mut read = buffers.clone();
        let taken = |read: &mut Buffers, core| {
            read.taken(&[CB], by(core), (0x2_0000, 4)).map(|(_, hazard, _)| hazard.id)
        };
        assert_eq!(taken(&mut read, NC), None);
        assert_eq!([(); 2].map(|()| taken(&mut read, B)), [Some("C17"), None]);
        // Nobody is known to be the consumer yet.
        assert_eq!(store(&mut buffers, B, 0x2_0400), None);
        let popped = buffers.step(&CB, by(B), ACKED, (0, 1));
        assert_eq!(popped.map(|(_, hazard, _)| hazard.id), Some("C17"));
        assert_eq!(store(&mut buffers, NC, 0x2_0400), Some("C17"));
        assert_eq!(store(&mut buffers, B, 0x2_0400), None);
        assert_eq!(store(&mut buffers, NC, 0x2_0000), None);
        assert_eq!(store(&mut buffers, CoreId::Trisc1, 0x2_0400), Some("C17"));
    }

    #[test]
    fn data_of_another_tile_behind_the_push_are_told_where_it_was_pushed() {
        let mut buffers = Buffers::default();
        let pushed = by(NC);
        let arrive = |buffers: &mut Buffers, agent| {
            let stamp = Stamp { cycle: Cycle(20), agent, pc: 0 };
            buffers.stored(&[CB], (stamp, None), (CB.address, 4))
        };
        assert!(arrive(&mut buffers, AgentId::Noc(1)).is_none(), "in front of the push");
        buffers.step(&CB, pushed, RECEIVED, (0, 1));
        assert!(arrive(&mut buffers, AgentId::Host).is_none(), "the host knows what it does");
        let (stamp, hazard, text) = arrive(&mut buffers, AgentId::Noc(1)).expect("too late");
        assert_eq!((stamp, hazard.id), (pushed.0, "C17"));
        assert!(text.ends_with("at 0x20000 in cycle 20"), "{text}");
        buffers.step(&CB, by(B), ACKED, (0, 1));
        assert!(arrive(&mut buffers, AgentId::Noc(1)).is_none(), "behind the pop");
    }

    /// What is said of the read behind so many pushes of one page each, of which all but the last are popped.
    fn read_behind(mut buffers: Buffers, pushes: u32) -> Option<&'static str> {
        for page in 0..pushes - 1 {
            buffers.step(&CB, by(NC), RECEIVED, (page, page + 1));
            buffers.step(&CB, by(B), ACKED, (page, page + 1));
        }
        buffers.step(&CB, by(NC), RECEIVED, (pushes - 1, pushes));
        let at = CB.address + (pushes - 1) % CB.pages * CB.page_bytes;
        buffers.taken(&[CB], by(B), (at, 4)).map(|(_, hazard, _)| hazard.id)
    }

    #[test]
    fn page_that_is_read_again_and_never_written_is_not_filled() {
        let said = |written: Option<u32>, pushes: u32| {
            let mut buffers = Buffers::default();
            // The program before has written all pages.
            buffers.stored(&[], stores(NC), (CB.address, CB.size));
            if let Some(page) = written {
                buffers.stored(&[CB], stores(NC), (CB.address + page * CB.page_bytes, 4));
            }
            read_behind(buffers, pushes)
        };
        assert_eq!(said(None, 4), None, "a tensor that was pushed where it lies");
        assert_eq!(said(None, 5), Some("C22"));
        assert_eq!(said(Some(0), 5), None);
        assert_eq!(said(Some(1), 5), Some("C22"), "another page");
    }

    #[test]
    fn page_into_which_nobody_has_ever_written_is_not_filled_the_first_time() {
        let said = |touched: (u32, u32)| {
            let mut buffers = Buffers::default();
            buffers.stored(&[], stores(NC), touched);
            read_behind(buffers, 2)
        };
        let page = CB.address + CB.page_bytes;
        assert_eq!(said((0, 0)), Some("C22"));
        assert_eq!(said((page - 16, 16)), Some("C22"), "the page in front of it");
        assert_eq!(said((page + CB.page_bytes, 16)), Some("C22"), "the page behind it");
        assert_eq!(said((page, 1)), None);
        assert_eq!(said((page + CB.page_bytes - 1, 1)), None);
        assert_eq!(said((0, L1_BYTES)), None);
    }

    #[test]
    fn half_of_a_page_is_not_all_of_it() {
        let said = |filled: u32, taken: u32| {
            let mut buffers = Buffers::default();
            buffers.stored(&[CB], stores(NC), (CB.address, filled));
            buffers.step(&CB, by(NC), RECEIVED, (0, 1));
            let said = buffers.taken(&[CB], by(B), (CB.address + taken, 4));
            said.map(|(_, hazard, text)| (hazard.id, text))
        };
        let text = "pushes page 0 of CB 3, of whose 1024 bytes the first 512 have been written and the others never, and \
                    BRISC takes those too, from 0x20200 in cycle 9";
        assert_eq!(said(512, 512), Some(("C22", text.to_owned())));
        assert_eq!(said(512, 508), None);
        assert!(said(256, 512).is_some());
        assert_eq!(said(64, 512), None, "some rows");
        assert_eq!(said(768, 1020), None);
        assert_eq!(said(1024, 1020), None);
    }

    /// Page 0 and two of the pages behind it are pushed by themselves, the last of the two is read.
    #[test]
    fn page_that_fills_a_push_up_may_be_empty() {
        let said = |touched: u32| {
            let mut buffers = Buffers::default();
            buffers.stored(&[], stores(NC), (CB.address + touched * CB.page_bytes, 16));
            buffers.step(&CB, by(NC), RECEIVED, (0, 1));
            buffers.step(&CB, by(NC), RECEIVED, (1, 3));
            buffers.step(&CB, by(B), ACKED, (0, 2));
            let at = CB.address + 2 * CB.page_bytes;
            buffers.taken(&[CB], by(B), (at, 4)).map(|(_, hazard, _)| hazard.id)
        };
        assert_eq!([0, 1, 2, 3].map(said), [Some("C22"), None, None, Some("C22")]);
    }

    /// Pages are pushed in pairs, and the second of the first pair is read in the second round: a block of a matrix has
    /// columns beyond its end.
    #[test]
    fn page_that_fills_each_push_up_may_be_as_an_earlier_program_left_it() {
        let said = |written: Option<u32>| {
            let mut buffers = Buffers::default();
            buffers.stored(&[], stores(NC), (CB.address, CB.size));
            if let Some(page) = written {
                buffers.stored(&[CB], stores(NC), (CB.address + page * CB.page_bytes, 4));
            }
            for pair in 0..3 {
                buffers.step(&CB, by(NC), RECEIVED, (2 * pair, 2 * pair + 2));
                if pair < 2 {
                    buffers.step(&CB, by(B), ACKED, (2 * pair, 2 * pair + 2));
                }
            }
            let read = buffers.taken(&[CB], by(B), (CB.address + CB.page_bytes, 4));
            read.map(|(_, hazard, _)| hazard.id)
        };
        assert_eq!(
            [None, Some(0), Some(1), Some(2)].map(said),
            [Some("C22"), None, None, Some("C22")]
        );
    }

    #[test]
    fn data_that_arrives_after_the_push_is_a_missing_barrier() {
        let mut buffers = Buffers::default();
        buffers.step(&CB, by(NC), RECEIVED, (0, 1));
        let stamp = Stamp { cycle: Cycle(9), agent: AgentId::Noc(0), pc: 0x80 };
        assert!(buffers.stored(&[CB], (stamp, Some(NC)), (0x2_0010, 16)).is_none());
        let said = buffers.taken(&[CB], by(B), (0x2_0000, 4)).expect("somebody takes it");
        assert_eq!((said.0, said.1.id), (stamp, "B10"));
        let said = buffers.stored(&[CB], (stamp, Some(NC)), (0x2_0010, 16));
        assert!(said.is_none(), "until somebody takes it again");
    }
}
