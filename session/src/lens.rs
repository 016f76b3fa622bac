//! What watches the tiles of a chip so that a hang can be told in full: who did what to which resource
//! since the last launch, and who sent what to whom.
//!
//! Books are kept on tiles that are known to hang, from a first run; traffic on all.

use std::collections::VecDeque;
use std::sync::Arc;

use memory_map::mailbox::Layout;
use memory_map::{NocControl, NocCoordinate};
use observe::why::{CountWaits, Finding, Looks, Loops};
use observe::{Ledger, Resource, Way};
use sim_core::observer::ParkedSpan;
use sim_core::{AgentId, CoreId, Cycle, Event, Jump, Observer, Retire, Stamp};
use symbols::tile_names::TileNames;

use crate::books::{Books, Kept};
use crate::checks::LaunchChecks;
use crate::eye::Sink;
use crate::go::Go;

/// Requests of a tile that are remembered.
const SENT: usize = 512;
/// Requests of any kind that are remembered.
const LAST: usize = 16;
/// Larger writes move data; flags and counters are small.
const FLAG_BYTES: u32 = 64;

/// A small write or an atomic that a tile has sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// When the command was accepted.
    pub cycle: u64,
    /// The core that gave it.
    pub core: CoreId,
    /// From where.
    pub pc: u32,
    /// NoC 0 or 1.
    pub noc: u8,
    /// NOC_CTRL as written.
    pub control: u32,
    /// Address in the receiving tile.
    pub addr: u64,
    /// Coordinates as written: `y << 6 | x`, of a multicast the other corner above.
    pub coordinate: u32,
    /// Bytes that it moves.
    pub bytes: u32,
}

/// A small write or an atomic of another tile that has taken effect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Served {
    /// Number of the tile that sent it.
    pub source: u16,
    /// NoC 0 or 1.
    pub noc: u8,
    /// NOC_CTRL as written there.
    pub control: u32,
    /// Address in this tile.
    pub addr: u64,
}

/// Where a request goes, as software has written it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub(crate) control: u32,
    pub(crate) coordinate: u32,
}

impl Target {
    pub(crate) const fn is_multicast(self) -> bool {
        NocControl(self.control).is_multicast()
    }

    pub(crate) const fn corner(self) -> (u8, u8) {
        NocCoordinate(self.coordinate).end()
    }

    const fn other_corner(self) -> (u8, u8) {
        NocCoordinate(self.coordinate).start()
    }

    pub(crate) fn reaches(self, (x, y): (u8, u8)) -> bool {
        let (a, b) = (self.corner(), self.other_corner());
        if !self.is_multicast() {
            return a == (x, y);
        }
        let within = |p: u8, q: u8, at: u8| (p.min(q)..=p.max(q)).contains(&at);
        within(a.0, b.0, x) && within(a.1, b.1, y)
    }
}

impl Sent {
    const fn target(&self) -> Target {
        Target { control: self.control, coordinate: self.coordinate }
    }

    /// Whether it is an atomic.
    #[must_use]
    pub const fn is_atomic(&self) -> bool {
        NocControl(self.control).is_atomic()
    }

    /// Whether it goes to a rectangle of tiles.
    #[must_use]
    pub const fn is_multicast(&self) -> bool {
        self.target().is_multicast()
    }

    /// Whether it is a read.
    #[must_use]
    pub const fn is_read(&self) -> bool {
        NocControl(self.control).is_read()
    }

    /// Whether a multicast goes to the tile that sends it as well.
    #[must_use]
    pub const fn loops_back(&self) -> bool {
        NocControl(self.control).includes_sender()
    }

    /// One corner as written, or the only tile.
    #[must_use]
    pub const fn corner(&self) -> (u8, u8) {
        self.target().corner()
    }

    /// The other corner of a multicast.
    #[must_use]
    pub const fn other_corner(&self) -> (u8, u8) {
        self.target().other_corner()
    }

    /// Whether a tile at a translated coordinate is among the receivers.
    #[must_use]
    pub fn reaches(&self, at: (u8, u8)) -> bool {
        self.target().reaches(at)
    }
}

/// A word so near to one that is waited for may have been meant: a semaphore beside it.
pub(crate) const NEAR: u32 = 64;
/// Semaphores are so many bytes apart `[hdr: hw/inc/hostdev/dev_msgs.h]`.
const APART: u32 = 16;

/// Some words, then those beside them that could be semaphores too.
fn around(words: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut around = words.to_vec();
    for &(word, _) in words.iter().filter(|(word, _)| memory_map::mailbox::place(*word).is_none()) {
        let first = if word < NEAR { word % APART } else { word - NEAR };
        for addr in (first..=word + NEAR).step_by(APART as usize) {
            if !around.iter().any(|(own, _)| *own == addr) {
                around.push((addr, 4));
            }
        }
    }
    around
}

/// Books of a tile that hangs in the end.
#[derive(Debug)]
struct TileBooks {
    words: Vec<(u32, u32)>,
    /// Those, and the ones beside them: which of these the tile uses itself.
    around: Vec<(u32, u32)>,
    ledger: Ledger,
    loops: Loops,
    looks: Looks,
}

/// The observer of one tile.
#[derive(Debug)]
pub struct Lens {
    books: Option<Box<TileBooks>>,
    sent: VecDeque<Sent>,
    served: VecDeque<Served>,
    /// The last requests of any kind and size.
    last: VecDeque<Sent>,
    go: Go,
    counts: Option<Box<CountWaits>>,
    checks: Option<Box<LaunchChecks>>,
}

impl Lens {
    /// Watches what a tile sends; with `words`, which are polled in the end, also what is done to its
    /// resources.
    #[must_use]
    pub fn new(words: Option<Vec<(u32, u32)>>) -> Self {
        let books = words.map(|words| {
            let around = around(&words);
            let ledger = Ledger::new(around.clone());
            let looks = Looks::new(words.clone(), Vec::new());
            Box::new(TileBooks { words, around, ledger, loops: Loops::default(), looks })
        });
        Self {
            books,
            sent: VecDeque::new(),
            served: VecDeque::new(),
            last: VecDeque::new(),
            go: Go::of(Layout::built_in()),
            counts: None,
            checks: None,
        }
    }

    /// Knows of loads that are of the polled words: core, pc and address.
    #[must_use]
    pub fn with_loads(mut self, loads: Vec<(CoreId, u32, u32)>) -> Self {
        if let Some(books) = &mut self.books {
            books.looks = Looks::new(books.words.clone(), loads);
        }
        self
    }

    /// Words about those that are polled which a core of the tile itself has written: it has a use for them.
    pub(crate) fn used(&self) -> impl Iterator<Item = u32> {
        let books = self.books.iter().flat_map(|books| books.ledger.iter());
        books.filter_map(|(resource, history)| {
            let Resource::Word(addr) = resource else { return None };
            let writers = history.agents(Way::Give);
            writers.iter().any(|agent| matches!(agent, AgentId::Core(_))).then_some(addr)
        })
    }

    /// Looks at waits for these words too, which others raise: by byte address.
    #[must_use]
    pub fn with_counts(self, words: Vec<u32>) -> Self {
        Self { counts: Some(Box::new(CountWaits::new(words))), ..self }
    }

    /// Its waits for words that others raise, if they were watched.
    pub(crate) fn counts(&self) -> Option<&CountWaits> {
        self.counts.as_deref()
    }

    /// Looks for contract violations too.
    #[must_use]
    pub fn with_checks(self, checks: LaunchChecks) -> Self {
        Self { checks: Some(Box::new(checks)), ..self }
    }

    /// What the tile has sent, oldest first: small writes and atomics.
    pub fn sent(&self) -> impl Iterator<Item = &Sent> {
        self.sent.iter()
    }

    /// What others have written here, oldest first: small writes and atomics. `None` if it is not all that
    /// came since the launch.
    #[must_use]
    pub fn served(&self) -> Option<Vec<Served>> {
        (self.served.len() < SENT).then(|| self.served.iter().copied().collect())
    }

    /// The last requests that the tile has sent, of any kind and size, oldest first.
    pub fn last(&self) -> impl Iterator<Item = &Sent> {
        self.last.iter()
    }
}

/// Adds to a list of at most so many.
fn push<T>(list: &mut VecDeque<T>, one: T, most: usize) {
    if list.len() == most {
        list.pop_front();
    }
    list.push_back(one);
}

impl Observer for Lens {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::NocIssue { noc, control, addr, coordinate, bytes, .. } = *event
            && let AgentId::Core(core) = stamp.agent
        {
            let (cycle, pc) = (stamp.cycle.0, stamp.pc);
            let sent = Sent { cycle, core, pc, noc, control, addr, coordinate, bytes };
            push(&mut self.last, sent, LAST);
            if !sent.is_read() && bytes <= FLAG_BYTES {
                push(&mut self.sent, sent, SENT);
            }
        }
        if let Event::NocServe { noc, source, control, addr, bytes, .. } = *event
            && !NocControl(control).is_read()
            && bytes <= FLAG_BYTES
        {
            push(&mut self.served, Served { source, noc, control, addr }, SENT);
        }
        // The books begin anew.
        if self.go.is_given(event) {
            self.sent.clear();
            self.last.clear();
            if let Some(books) = &mut self.books {
                books.ledger = Ledger::new(books.around.clone());
            }
            if let Some(counts) = &mut self.counts {
                counts.begin();
            }
        }
        if let Some(books) = &mut self.books {
            books.ledger.event(stamp, event);
            books.loops.event(stamp, event);
            books.looks.event(stamp, event);
        }
        if let Some(counts) = &mut self.counts {
            counts.event(stamp, event);
        }
        if let Some(checks) = &mut self.checks {
            checks.event(stamp, event);
        }
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        let wants =
            |books: &TileBooks| books.loops.wants_retires(core) || books.looks.wants_retires(core);
        self.counts.is_some()
            || self.books.as_deref().is_some_and(wants)
            || self.checks.as_ref().is_some_and(|checks| checks.wants_retires(core))
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        if let Some(books) = &mut self.books {
            books.loops.retires(core, retires);
            books.looks.retires(core, retires);
        }
        if let Some(counts) = &mut self.counts {
            counts.retires(core, retires);
        }
        if let Some(checks) = &mut self.checks {
            checks.retires(core, retires);
        }
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        if let Some(books) = &mut self.books {
            books.loops.retire(core, retire);
            books.looks.retire(core, retire);
        }
        if let Some(counts) = &mut self.counts {
            counts.retire(core, retire);
        }
        if let Some(checks) = &mut self.checks {
            checks.retire(core, retire);
        }
    }

    fn wants_l1_reads(&self) -> bool {
        self.checks.is_some()
    }

    fn l1_read(&mut self, stamp: Stamp, addr: u32, bytes: u32) {
        if let Some(checks) = &mut self.checks {
            checks.l1_read(stamp, addr, bytes);
        }
    }

    fn wants_dst_reads(&self) -> bool {
        self.checks.is_some()
    }

    fn dst_read(&mut self, stamp: Stamp, rows: &[u16], held: bool) {
        if let Some(checks) = &mut self.checks {
            checks.dst_read(stamp, rows, held);
        }
    }

    fn wants_jumps(&self, core: CoreId) -> bool {
        self.books.as_ref().is_some_and(|books| books.loops.wants_jumps(core))
    }

    fn jumps(&mut self, core: CoreId, jumps: &[Jump]) {
        if let Some(books) = &mut self.books {
            books.loops.jumps(core, jumps);
        }
    }

    fn parked(&mut self, core: CoreId, span: ParkedSpan) {
        if let Some(books) = &mut self.books {
            books.ledger.parked(core, span);
            books.loops.parked(core, span);
            books.looks.parked(core, span);
        }
        if let Some(counts) = &mut self.counts {
            counts.parked(core, span);
        }
        if let Some(checks) = &mut self.checks {
            checks.parked(core, span);
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        let mut ranges = vec![self.go.range()];
        if let Some(books) = &self.books {
            ranges.extend(books.ledger.observed_l1());
        }
        ranges.extend(self.counts.iter().flat_map(|counts| counts.observed_l1()));
        ranges.extend(self.checks.iter().flat_map(|checks| checks.observed_l1()));
        ranges
    }
}

impl Kept for Lens {
    fn books(&self) -> Option<Books<'_>> {
        let books = self.books.as_ref()?;
        let polled = books.looks.polled();
        Some(Books { ledger: &books.ledger, polled, loops: &books.loops })
    }

    fn findings(&self) -> Vec<Finding> {
        self.checks.as_ref().map(|checks| checks.findings()).unwrap_or_default()
    }
}

impl Sink for Lens {
    fn launched(&mut self, cycle: Cycle, names: &Arc<TileNames>, is_launch: bool) {
        if let Some(mailbox) = names.mailbox() {
            self.go = Go::of(mailbox.layout());
        }
        if let Some(checks) = &mut self.checks {
            checks.launched(cycle, names, is_launch);
        }
    }

    fn announced(&mut self, names: &Arc<TileNames>) {
        if let Some(checks) = &mut self.checks {
            checks.announced(names);
        }
    }
}
