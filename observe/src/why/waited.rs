//! Whether who takes and pops pages of a circular buffer has seen that they are there, and who pushes into one that there
//! is room.
//!
//! Hardware holds nobody back: `cb_wait_front` and `cb_reserve_back` are loops that load the counter of the other side
//! `[hdr: hw/inc/api/dataflow/circular_buffer.h]`. Left out, the pages may be there by luck. What a core has seen is in the
//! log of what it executed; a step of a counter is judged when the log is beyond it, by all that was loaded before. What
//! a Tensix thread does comes behind the core that pushed it, so that more may be known by then than was waited for.
//!
//! What a core knows it passes on: with the counters that it moves, with words in a mailbox, and with a word of L1 that it
//! writes and another one looks at. Who has polled something else, or loaded from nobody knows where, is taken to know
//! everything, but does not pass that on.
//!
//! Data of another tile are waited for by a word that it writes behind them: who pushes the page and has looked at nothing
//! from outside since they came cannot know that they are there.

use std::collections::{BTreeMap, VecDeque};

use memory_map::layout::STREAM_STRIDE;
use memory_map::{Target, lookup};
use rustc_hash::FxHashMap;
use sim_core::l1::L1_BYTES;
use sim_core::observer::ParkedSpan;
use sim_core::{AgentId, CoreId, Cycle, Event, Retire, Stamp};

use super::buffer::{self, CircularBuffer, buffer_at};
use super::circular::Violation;
use super::hazards as h;
use crate::describe::view_of;
use crate::resource::{ACKED, CREDIT_MASK, RECEIVED};

/// Words of L1 of which is remembered who has written them.
const WORDS: usize = 1 << 14;

/// The two counters of a buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    received: u32,
    acked: u32,
}

impl Counts {
    fn of(&mut self, register: u16) -> Option<&mut u32> {
        match register {
            RECEIVED => Some(&mut self.received),
            ACKED => Some(&mut self.acked),
            _ => None,
        }
    }

    /// Takes what is further on.
    fn learn(&mut self, other: Self) {
        if ahead(other.received, self.received) > 0 {
            self.received = other.received;
        }
        if ahead(other.acked, self.acked) > 0 {
            self.acked = other.acked;
        }
    }
}

/// How far one count is behind another; kernels load 16 bits of them.
fn ahead(of: u32, count: u32) -> i16 {
    of.wrapping_sub(count) as i16
}

/// What is done to a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Act {
    /// So many pages are pushed.
    Push(u32),
    /// So many are popped.
    Pop(u32),
    /// Data are taken from a page, by its index.
    Take(u32),
    /// A page is pushed whose data have come from another tile in that cycle.
    Pass(u32, Cycle),
}

/// What is still to be judged.
#[derive(Clone, Debug)]
pub(super) struct Step {
    stamp: Stamp,
    stream: u8,
    act: Act,
    /// Where the counter is then: of pages received that it must have seen, or of a push.
    after: u32,
}

/// What cores know of the buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Waited {
    now: BTreeMap<u8, Counts>,
    seen: [BTreeMap<u8, Counts>; CoreId::COUNT],
    /// What a core may have seen.
    may: [BTreeMap<u8, Counts>; CoreId::COUNT],
    /// Whether a counter has changed since a core was last taken to have seen all of them.
    news: [bool; CoreId::COUNT],
    /// Who has moved a counter last.
    by: BTreeMap<(u8, u16), CoreId>,
    /// Words of L1 that cores and atomics have written, or that were polled, and who has written them last.
    words: FxHashMap<u32, (AgentId, Cycle)>,
    /// When data of another tile have come into a page, by buffer and index, until it is pushed.
    arrived: BTreeMap<(u8, u32), Cycle>,
    /// When the last of what came from outside was written that a core has looked at.
    heard: [Cycle; CoreId::COUNT],
    steps: [VecDeque<Step>; CoreId::COUNT],
    /// Pages pushed into a buffer, and popped, since its counters were set back.
    pushed: BTreeMap<u8, u64>,
    popped: BTreeMap<u8, u64>,
    circular: Vec<CircularBuffer>,
    /// Pages that buffers have, by index.
    room: BTreeMap<u8, u32>,
    /// From where an instruction has loaded last, if that was known: it stands for where it is not.
    places: FxHashMap<(CoreId, u32), u32>,
}

impl Waited {
    /// A launch has begun, with these buffers.
    pub(super) fn launched(&mut self, circular: &[CircularBuffer]) {
        self.places.clear();
        self.words.clear();
        self.arrived.clear();
        self.room.clear();
        self.circular = circular.to_vec();
        for buffer in circular {
            let room = self.room.entry(buffer.index).or_insert(buffer.pages);
            // Launches differ about it.
            *room = buffer.pages.max(*room);
        }
    }

    /// A counter has changed; `core` is the kernel's that did it, none if it was firmware or another tile.
    pub(super) fn step(
        &mut self,
        (stamp, core): (Stamp, Option<CoreId>),
        (stream, register): (u8, u16),
        (before, after): (u32, u32),
    ) {
        let now = self.now.entry(stream).or_default();
        let Some(count) = now.of(register) else { return };
        *count = after;
        let now = *now;
        self.news = [true; CoreId::COUNT];
        let Some(core) = core else {
            for core in 0..CoreId::COUNT {
                self.seen[core].insert(stream, now);
                self.may[core].insert(stream, now);
            }
            let totals = if register == ACKED { &mut self.popped } else { &mut self.pushed };
            totals.insert(stream, after.into());
            self.by.remove(&(stream, register));
            return;
        };
        self.by.insert((stream, register), core);
        // A core knows what it has done itself.
        let seen = self.seen[core.index()].entry(stream).or_default();
        if let Some(count) = seen.of(register) {
            *count = after;
        }
        let pages = after.wrapping_sub(before) & CREDIT_MASK;
        // What went wrong in fact has its own class.
        let (act, is_right) = if register == ACKED {
            *self.popped.entry(stream).or_default() += u64::from(pages);
            (Act::Pop(pages), ahead(now.received, after) >= 0)
        } else {
            self.pass((stamp, core), stream, pages);
            let room = self.room.get(&stream);
            (Act::Push(pages), room.is_some_and(|room| fits(after, now.acked, *room)))
        };
        if is_right {
            self.steps[core.index()].push_back(Step { stamp, stream, act, after });
        }
    }

    /// A kernel of `core` pushes pages: of which the data have come from another tile.
    fn pass(&mut self, (stamp, core): (Stamp, CoreId), stream: u8, pages: u32) {
        let pushed = self.pushed.entry(stream).or_default();
        let first = *pushed;
        *pushed += u64::from(pages);
        let Some(&room) = self.room.get(&stream).filter(|room| **room > 0) else { return };
        for at in 0..pages.min(room) {
            let page = ((first + u64::from(at)) % u64::from(room)) as u32;
            if let Some(came) = self.arrived.remove(&(stream, page)) {
                let act = Act::Pass(page, came);
                self.steps[core.index()].push_back(Step { stamp, stream, act, after: 0 });
            }
        }
    }

    /// A kernel of `core` takes data from bytes of L1.
    pub(super) fn taken(&mut self, (stamp, core): (Stamp, CoreId), bytes: (u32, u32)) {
        let Some(buffer) = buffer_at(&self.circular, bytes) else { return };
        let (stream, page) =
            (buffer.index, bytes.0.saturating_sub(buffer.address) / buffer.page_bytes);
        let Some(now) = self.now.get(&stream).copied() else { return };
        let is_own = self.by.get(&(stream, RECEIVED)) == Some(&core);
        if page >= buffer.pages || is_own {
            return;
        }
        let popped = self.popped.get(&stream).copied().unwrap_or(0);
        let first = (popped % u64::from(buffer.pages)) as u32;
        let at = (page + buffer.pages - first) % buffer.pages;
        let after = now.acked.wrapping_add(at + 1) & CREDIT_MASK;
        let known = self.known(core, stream);
        // What is not there has its own class.
        if ahead(now.received, after) < 0 || ahead(known.received, after) >= 0 {
            return;
        }
        let steps = &mut self.steps[core.index()];
        let step = Step { stamp, stream, act: Act::Take(page), after };
        if steps.back().is_none_or(|last| (last.act, last.after) != (step.act, after)) {
            steps.push_back(step);
        }
    }

    /// What a core knows of a buffer, or may know.
    fn known(&self, core: CoreId, stream: u8) -> Counts {
        let of = |known: &[BTreeMap<u8, Counts>; CoreId::COUNT]| {
            known[core.index()].get(&stream).copied().unwrap_or_default()
        };
        let mut known = of(&self.seen);
        known.learn(of(&self.may));
        known
    }

    /// A core has executed a load, from an address, if that is known.
    pub(super) fn loaded(&mut self, core: CoreId, retire: &Retire, addr: Option<u32>) {
        let (cycle, pc, value) = (retire.cycle, retire.pc, retire.value);
        let place = (core, pc);
        let known = addr.or_else(|| self.places.get(&place).copied());
        let Some(addr) = known else {
            // It may have been any of them.
            self.trust(core, cycle);
            return;
        };
        if addr < L1_BYTES {
            if !self.listen(core, addr) {
                self.hear(core, cycle);
            }
            return;
        }
        let hit = lookup(view_of(core), addr);
        let Some(hit) = hit.filter(|hit| hit.target == Target::Overlay) else { return };
        self.places.insert(place, addr);
        let stream = (hit.offset / STREAM_STRIDE) as u8;
        let register = (hit.offset % STREAM_STRIDE / 4) as u16;
        let seen = self.seen[core.index()].entry(stream).or_default();
        let Some(count) = seen.of(register) else { return };
        if ahead(value, *count) > 0 {
            *count = value;
            match self.by.get(&(stream, register)) {
                Some(other) => self.tell(*other, core),
                None => self.hear(core, cycle),
            }
        }
    }

    /// A core has looked at a word of L1, and learns what its writer knows; `false` if nothing is known of that.
    fn listen(&mut self, core: CoreId, addr: u32) -> bool {
        match self.words.get(&(addr & !3)) {
            Some((AgentId::Core(other), _)) => self.tell(*other, core),
            Some((AgentId::Noc(_) | AgentId::Host, at)) => self.hear(core, *at),
            _ => return false,
        }
        true
    }

    /// A core has looked at what came from outside by then.
    fn hear(&mut self, core: CoreId, at: Cycle) {
        let heard = &mut self.heard[core.index()];
        *heard = at.max(*heard);
    }

    /// A core may have seen all counters as they are.
    fn trust(&mut self, core: CoreId, cycle: Cycle) {
        self.hear(core, cycle);
        if std::mem::take(&mut self.news[core.index()]) {
            self.may[core.index()].clone_from(&self.now);
        }
    }

    /// What one core knows another one knows too.
    fn tell(&mut self, from: CoreId, to: CoreId) {
        if from == to {
            return;
        }
        self.hear(to, self.heard[from.index()]);
        let Ok([from, to]) = self.seen.get_disjoint_mut([from.index(), to.index()]) else { return };
        for (stream, known) in from.iter() {
            to.entry(*stream).or_default().learn(*known);
        }
    }

    /// A core was parked in a loop: what that has loaded. It goes on because somebody else has done something.
    pub(super) fn parked(&mut self, core: CoreId, span: &ParkedSpan) {
        for look in span.looks.iter().flatten() {
            if look.addr < L1_BYTES {
                if !self.listen(core, look.addr) {
                    let nobody = (AgentId::Core(core), span.from);
                    self.words.entry(look.addr & !3).or_insert(nobody);
                    self.trust(core, span.until);
                }
                continue;
            }
            match lookup(view_of(core), look.addr).map(|hit| hit.target) {
                Some(Target::Overlay) => {
                    self.places.insert((core, look.pc), look.addr);
                }
                // Requests of its own.
                Some(Target::Noc0 | Target::Noc1) => {}
                _ => self.trust(core, span.until),
            }
        }
    }

    /// What else passes on what is known.
    pub(super) fn event(&mut self, stamp: Stamp, event: &Event) {
        match *event {
            Event::MailboxPop { from, to, .. } => self.tell(from, to),
            Event::L1Store { addr, width, .. } => {
                // A request of the own tile has the pc of who made it.
                if matches!(stamp.agent, AgentId::Noc(_)) && stamp.pc == 0 {
                    self.came((addr, width.bytes()), stamp.cycle);
                }
                self.wrote(stamp, addr, matches!(stamp.agent, AgentId::Core(_)));
            }
            Event::L1Atomic { addr, .. } => self.wrote(stamp, addr, true),
            _ => {}
        }
    }

    /// Data of another tile have come into L1.
    fn came(&mut self, bytes: (u32, u32), cycle: Cycle) {
        if let Some(buffer) = buffer_at(&self.circular, bytes) {
            let page = bytes.0.saturating_sub(buffer.address) / buffer.page_bytes;
            self.arrived.insert((buffer.index, page), cycle);
        }
    }

    /// A word was written, that may be a signal or is looked at.
    fn wrote(&mut self, stamp: Stamp, addr: u32, is_signal: bool) {
        let word = addr & !3;
        if is_signal && self.words.len() < WORDS {
            self.words.insert(word, (stamp.agent, stamp.cycle));
        } else if let Some(writer) = self.words.get_mut(&word) {
            *writer = (stamp.agent, stamp.cycle);
        }
    }

    /// The log of a core is at `cycle`: the next step before that.
    pub(super) fn due(&mut self, core: CoreId, cycle: Cycle) -> Option<Step> {
        self.steps[core.index()].pop_front_if(|step| step.stamp.cycle < cycle)
    }

    /// What is wrong with a step that is due.
    pub(super) fn judge(&mut self, core: CoreId, step: &Step) -> Option<Violation> {
        let (stream, after) = (step.stream, step.after);
        let known = self.known(core, stream);
        let seen = self.seen[core.index()].entry(stream).or_default();
        let said = |pages: u32| buffer::pages(pages.into());
        let text = match step.act {
            Act::Push(pages) => {
                let room = *self.room.get(&stream)?;
                if fits(after, known.acked, room) {
                    return None;
                }
                seen.acked = after.wrapping_sub(room);
                let before = after.wrapping_sub(pages);
                format!(
                    "pushes {} into CB {stream} of {room}, where it has seen room for {}: there is more by luck",
                    said(pages),
                    ahead(known.acked.wrapping_add(room), before).max(0)
                )
            }
            Act::Pass(page, came) => {
                if self.heard[core.index()] >= came {
                    return None;
                }
                format!(
                    "pushes page {page} of CB {stream} with data of another tile, which have come in cycle {came}, and has \
                     looked at nothing since that could say so: they are there by luck"
                )
            }
            _ if ahead(known.received, after) >= 0 => return None,
            Act::Pop(pages) => {
                seen.received = after;
                format!(
                    "pops {} of CB {stream}, of which it has seen {}: {} there by luck",
                    said(pages),
                    ahead(known.received, after.wrapping_sub(pages)).max(0),
                    if pages == 1 { "it is" } else { "they are" }
                )
            }
            Act::Take(page) => {
                seen.received = after;
                format!(
                    "takes data from page {page} of CB {stream}, which it has not waited for: it is there by luck"
                )
            }
        };
        Some((step.stamp, h::C21, text))
    }
}

/// Whether a buffer of so many pages has room for what was received.
fn fits(received: u32, acked: u32, room: u32) -> bool {
    i64::from(ahead(received, acked)) <= i64::from(room)
}

#[cfg(test)]
mod tests {
    use sim_core::observer::Look;

    use super::*;

    const PRODUCER: CoreId = CoreId::Ncrisc;
    const CONSUMER: CoreId = CoreId::Brisc;
    const CB: CircularBuffer =
        CircularBuffer { index: 3, address: 0x2_0000, size: 0x800, pages: 2, page_bytes: 0x400 };
    const PC: u32 = 0xC000;

    fn counter(register: u16) -> u32 {
        0xFFB4_0000 + u32::from(CB.index) * STREAM_STRIDE + u32::from(register) * 4
    }

    /// A launch in which counters go on from `start`.
    struct Run {
        waited: Waited,
        counts: [u32; 2],
        cycle: u64,
    }

    impl Run {
        fn new(start: u32) -> Self {
            let mut run = Self { waited: Waited::default(), counts: [start; 2], cycle: 0 };
            run.waited.launched(&[CB]);
            for register in [RECEIVED, ACKED] {
                let stamp =
                    Stamp { cycle: Cycle(0), agent: AgentId::Core(CoreId::Brisc), pc: 0x4000 };
                run.waited.step((stamp, None), (CB.index, register), (0, start));
            }
            run
        }

        fn step(&mut self, core: CoreId, register: u16, pages: u32) {
            self.cycle += 10;
            let stamp = Stamp { cycle: Cycle(self.cycle), agent: AgentId::Core(core), pc: PC };
            let count = &mut self.counts[usize::from(register == ACKED)];
            let before = *count;
            *count = count.wrapping_add(pages) & CREDIT_MASK;
            self.waited.step((stamp, Some(core)), (CB.index, register), (before, *count));
        }

        fn look(&mut self, core: CoreId, register: u16) {
            self.found(core);
            let value = self.counts[usize::from(register == ACKED)];
            // The vendor's kernels take 16 bits.
            self.load(core, PC, Some(counter(register)), value & 0xFFFF);
        }

        fn load(&mut self, core: CoreId, pc: u32, addr: Option<u32>, value: u32) {
            let retire = Retire { cycle: Cycle(self.cycle), pc, word: 0, rd: 5, value };
            self.waited.loaded(core, &retire, addr);
        }

        fn found(&mut self, core: CoreId) -> Vec<String> {
            self.cycle += 10;
            let mut found = Vec::new();
            while let Some(step) = self.waited.due(core, Cycle(self.cycle)) {
                found.extend(self.waited.judge(core, &step).map(|(_, _, text)| text));
            }
            found
        }
    }

    #[test]
    fn pop_is_right_up_to_what_was_seen() {
        for start in [0, CREDIT_MASK] {
            let mut run = Run::new(start);
            run.step(PRODUCER, RECEIVED, 1);
            run.look(CONSUMER, RECEIVED);
            run.step(PRODUCER, RECEIVED, 1);
            run.step(CONSUMER, ACKED, 1);
            assert!(run.found(CONSUMER).is_empty(), "{start:#x}");
            run.step(CONSUMER, ACKED, 1);
            let said = ["pops 1 page of CB 3, of which it has seen 0: it is there by luck"];
            assert_eq!(run.found(CONSUMER), said, "{start:#x}");
            // Each is told once.
            assert!(run.found(CONSUMER).is_empty());
        }
    }

    #[test]
    fn push_is_right_up_to_the_room_that_was_seen() {
        for start in [0, CREDIT_MASK - 1] {
            let mut run = Run::new(start);
            run.step(PRODUCER, RECEIVED, 2);
            run.step(CONSUMER, ACKED, 2);
            assert!(run.found(PRODUCER).is_empty(), "a buffer is empty at first");
            run.step(PRODUCER, RECEIVED, 1);
            let said = [
                "pushes 1 page into CB 3 of 2, where it has seen room for 0: there is more by luck",
            ];
            assert_eq!(run.found(PRODUCER), said, "{start:#x}");
            run.look(PRODUCER, ACKED);
            run.step(PRODUCER, RECEIVED, 1);
            assert!(run.found(PRODUCER).is_empty(), "{start:#x}");
        }
    }

    #[test]
    fn what_was_seen_later_does_not_count() {
        let mut run = Run::new(0);
        run.step(PRODUCER, RECEIVED, 1);
        run.step(CONSUMER, ACKED, 1);
        // The log is not there yet.
        let (step, value) = (Cycle(run.cycle), run.counts[0]);
        assert!(run.waited.due(CONSUMER, step).is_none());
        let due = run.waited.due(CONSUMER, Cycle(step.0 + 1)).expect("it is now");
        assert!(run.waited.judge(CONSUMER, &due).is_some());
        run.load(CONSUMER, PC, Some(counter(RECEIVED)), value);
        run.step(PRODUCER, RECEIVED, 1);
        run.step(CONSUMER, ACKED, 1);
        assert_eq!(run.found(CONSUMER).len(), 1, "one page more than was seen");
    }

    #[test]
    fn pop_of_what_is_not_there_has_its_own_class() {
        let mut run = Run::new(0);
        run.step(CONSUMER, ACKED, 1);
        assert!(run.found(CONSUMER).is_empty());
        run.step(PRODUCER, RECEIVED, 4);
        assert!(run.found(PRODUCER).is_empty());
    }

    #[test]
    fn load_from_somewhere_may_have_been_of_a_counter() {
        let seen = |addr: Option<u32>| {
            let mut run = Run::new(0);
            run.step(PRODUCER, RECEIVED, 1);
            run.load(CONSUMER, PC + 8, addr, 1);
            run.step(CONSUMER, ACKED, 1);
            run.found(CONSUMER).is_empty()
        };
        assert!(seen(None));
        assert!(!seen(Some(CB.address)));
        assert!(!seen(Some(counter(ACKED))), "the other counter");
        assert!(seen(Some(counter(RECEIVED))));
    }

    #[test]
    fn data_of_a_page_may_be_taken_up_to_what_was_seen() {
        let mut run = Run::new(0);
        let take = |run: &mut Run, page: u32| {
            run.cycle += 10;
            let agent = AgentId::Thread(sim_core::ThreadId::T0);
            let stamp = Stamp { cycle: Cycle(run.cycle), agent, pc: PC };
            let at = CB.address + page * CB.page_bytes;
            run.waited.taken((stamp, CONSUMER), (at, 16));
            run.waited.taken((stamp, CONSUMER), (at + 16, 16));
            run.found(CONSUMER)
        };
        assert!(take(&mut run, 0).is_empty(), "what is not there has its own class");
        run.step(PRODUCER, RECEIVED, 1);
        run.look(CONSUMER, RECEIVED);
        run.step(PRODUCER, RECEIVED, 1);
        assert!(take(&mut run, 0).is_empty());
        let said =
            "takes data from page 1 of CB 3, which it has not waited for: it is there by luck";
        assert_eq!(take(&mut run, 1), [said]);
        // The third page lies where the first one lay.
        run.step(CONSUMER, ACKED, 1);
        run.step(PRODUCER, RECEIVED, 1);
        assert_eq!(take(&mut run, 0).len(), 1);
        run.look(CONSUMER, RECEIVED);
        assert!(take(&mut run, 0).is_empty());
    }

    #[test]
    fn what_another_core_has_seen_is_passed_on() {
        let other = CoreId::Trisc1;
        let seen = |tell: &dyn Fn(&mut Run)| {
            let mut run = Run::new(0);
            run.step(PRODUCER, RECEIVED, 1);
            run.look(other, RECEIVED);
            tell(&mut run);
            run.step(CONSUMER, ACKED, 1);
            run.found(CONSUMER).is_empty()
        };
        assert!(!seen(&|_| ()));
        let stamp = Stamp { cycle: Cycle(30), agent: AgentId::Core(CONSUMER), pc: PC };
        let pop = |from| Event::MailboxPop { from, to: CONSUMER, value: 1, depth: 0 };
        assert!(seen(&|run| run.waited.event(stamp, &pop(other))));
        assert!(!seen(&|run| run.waited.event(stamp, &pop(CoreId::Trisc2))));
        // The counter of another buffer, which it has moved.
        let stream = CB.index + 1;
        let credit = |run: &mut Run| {
            let stamp = Stamp { agent: AgentId::Core(other), ..stamp };
            run.waited.step((stamp, Some(other)), (stream, RECEIVED), (0, 1));
            let addr = counter(RECEIVED) + STREAM_STRIDE;
            run.load(CONSUMER, PC, Some(addr), 1);
        };
        assert!(seen(&credit));
    }

    #[test]
    fn word_that_is_polled_passes_on_what_its_writer_knows() {
        let word = 0x3_0000;
        let seen = |writer: AgentId, polls: bool| {
            let mut run = Run::new(0);
            let span = parked_at(word);
            run.waited.parked(CONSUMER, &span);
            run.step(PRODUCER, RECEIVED, 1);
            let stamp = Stamp { cycle: Cycle(30), agent: writer, pc: PC };
            let store = Event::L1Store { addr: word, value: 1, width: sim_core::Width::Word };
            run.waited.event(stamp, &store);
            if polls {
                run.waited.parked(CONSUMER, &span);
            }
            run.step(CONSUMER, ACKED, 1);
            run.found(CONSUMER).is_empty()
        };
        assert!(seen(AgentId::Core(PRODUCER), true));
        assert!(!seen(AgentId::Core(PRODUCER), false));
        assert!(!seen(AgentId::Core(CoreId::Trisc2), true), "who knows nothing");
        assert!(!seen(AgentId::Noc(0), true), "another tile");
        assert!(seen(AgentId::Thread(sim_core::ThreadId::T0), true), "it may be anything");
    }

    #[test]
    fn data_of_another_tile_want_a_look_at_something_from_there() {
        let (flag, other) = (0x3_0000, 0x3_0010);
        let said = |before: &dyn Fn(&mut Run), behind: &dyn Fn(&mut Run)| {
            let mut run = Run::new(0);
            let store = |run: &mut Run, agent, addr, pc| {
                run.cycle += 10;
                let stamp = Stamp { cycle: Cycle(run.cycle), agent, pc };
                let store = Event::L1Store { addr, value: 1, width: sim_core::Width::Word };
                run.waited.event(stamp, &store);
            };
            for word in [flag, other] {
                store(&mut run, AgentId::Core(PRODUCER), word, PC);
            }
            store(&mut run, AgentId::Noc(0), other, 0);
            before(&mut run);
            store(&mut run, AgentId::Noc(0), CB.address, 0);
            store(&mut run, AgentId::Noc(0), flag, 0);
            behind(&mut run);
            run.step(PRODUCER, RECEIVED, 1);
            run.found(PRODUCER)
        };
        let nothing: &dyn Fn(&mut Run) = &|_| ();
        let look = |addr: Option<u32>| move |run: &mut Run| run.load(PRODUCER, PC, addr, 1);
        let [text] = &said(nothing, nothing)[..] else { panic!("by luck") };
        assert!(text.starts_with("pushes page 0 of CB 3 with data of another tile"), "{text}");
        assert!(said(nothing, &look(Some(flag))).is_empty());
        assert_eq!(said(&look(Some(flag)), nothing).len(), 1, "too early");
        assert_eq!(said(nothing, &look(Some(other))).len(), 1, "what came before the data");
        assert!(said(nothing, &look(None)).is_empty(), "it may have been the flag");
        assert!(said(nothing, &look(Some(0x3_1000))).is_empty(), "it may be a flag");
        // Another core has looked, and tells it.
        let told = |run: &mut Run| {
            run.load(CONSUMER, PC, Some(flag), 1);
            let stamp = Stamp { cycle: Cycle(run.cycle), agent: AgentId::Core(PRODUCER), pc: PC };
            let pop = Event::MailboxPop { from: CONSUMER, to: PRODUCER, value: 1, depth: 0 };
            run.waited.event(stamp, &pop);
        };
        assert!(said(nothing, &told).is_empty());
    }

    fn parked_at(addr: u32) -> ParkedSpan {
        let look = Look { pc: PC + 8, addr, value: 0 };
        ParkedSpan {
            from: Cycle(0),
            until: Cycle(9),
            pc: look.pc,
            reads: Some(addr),
            head: look.pc,
            period_cycles: 8,
            looks: std::array::from_fn(|at| (at == 0).then_some(look)),
        }
    }

    #[test]
    fn load_that_a_core_was_parked_with_is_of_that_counter() {
        let mut run = Run::new(0);
        let span = parked_at(counter(RECEIVED));
        run.waited.parked(CONSUMER, &span);
        let other = CB.index + 1;
        run.step(PRODUCER, RECEIVED, 1);
        run.waited.now.entry(other).or_default().received = 1;
        run.load(CONSUMER, PC + 8, None, 1);
        run.step(CONSUMER, ACKED, 1);
        assert!(run.found(CONSUMER).is_empty());
        assert!(!run.waited.seen[CONSUMER.index()].contains_key(&other));
    }
}
