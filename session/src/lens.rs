//! What watches the tiles of a chip so that a hang can be told in full: who did what to which resource
//! since the last launch, and who sent what to whom.
//!
//! Books are kept on tiles that are known to hang, from a first run; traffic on all.

use std::collections::VecDeque;

use observe::Ledger;
use observe::why::{Loops, Polled};
use sim_core::observer::ParkedSpan;
use sim_core::{AgentId, CoreId, Event, Jump, Observer, Retire, Stamp};

use crate::books::{Books, Kept};

/// Requests of a tile that are remembered.
const SENT: usize = 512;
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
}

/// The bit of NOC_CTRL that makes a request a multicast `[isa-bh: NoC/MemoryMap.md]`.
const BROADCAST: u32 = 1 << 5;
/// Its type: 0 read, 1 atomic, 2 write `[isa-bh: NoC/MemoryMap.md]`.
const TYPE: u32 = 3;

impl Sent {
    /// Whether it is an atomic.
    #[must_use]
    pub const fn is_atomic(&self) -> bool {
        self.control & TYPE == 1
    }

    /// Whether it goes to a rectangle of tiles.
    #[must_use]
    pub const fn is_multicast(&self) -> bool {
        self.control & BROADCAST != 0
    }

    /// One corner as written, or the only tile.
    #[must_use]
    pub const fn corner(&self) -> (u8, u8) {
        (self.coordinate as u8 & 63, (self.coordinate >> 6) as u8 & 63)
    }

    /// The other corner of a multicast.
    #[must_use]
    pub const fn other_corner(&self) -> (u8, u8) {
        ((self.coordinate >> 12) as u8 & 63, (self.coordinate >> 18) as u8 & 63)
    }

    /// Whether a tile at a translated coordinate is among the receivers.
    #[must_use]
    pub fn reaches(&self, (x, y): (u8, u8)) -> bool {
        let (a, b) = (self.corner(), self.other_corner());
        if !self.is_multicast() {
            return a == (x, y);
        }
        let within = |p: u8, q: u8, at: u8| (p.min(q)..=p.max(q)).contains(&at);
        within(a.0, b.0, x) && within(a.1, b.1, y)
    }
}

/// Books of a tile that hangs in the end.
#[derive(Debug)]
struct TileBooks {
    words: Vec<(u32, u32)>,
    ledger: Ledger,
    loops: Loops,
}

/// The observer of one tile.
#[derive(Debug)]
pub struct Lens {
    books: Option<Box<TileBooks>>,
    polled: Polled,
    sent: VecDeque<Sent>,
    /// The byte that a go signal is written to, if the tile has such a thing.
    go: u32,
}

/// `RUN_MSG_GO` `[spec: boot-and-sync 1.5]`.
const GO: u32 = 0x80;
/// Bytes of a go message; its signal is the last.
const GO_BYTES: u32 = 4;

impl Lens {
    /// Watches what a tile sends; with `words`, which are polled in the end, also what is done to its
    /// resources.
    #[must_use]
    pub fn new(words: Option<Vec<(u32, u32)>>) -> Self {
        let books = words.map(|words| {
            let ledger = Ledger::new(words.clone());
            Box::new(TileBooks { words, ledger, loops: Loops::default() })
        });
        let go = memory_map::mailbox::address("go_messages[0].signal").unwrap_or(0) & !3;
        Self { books, polled: Polled::default(), sent: VecDeque::new(), go }
    }

    /// What the tile has sent, oldest first: small writes and atomics.
    pub fn sent(&self) -> impl Iterator<Item = &Sent> {
        self.sent.iter()
    }

    /// Whether an event is a go signal: the books begin anew.
    fn is_launch(&self, event: &Event) -> bool {
        match *event {
            Event::HostWrite { addr, value, bytes } => {
                let offset = (self.go + GO_BYTES - 1).wrapping_sub(addr);
                offset < bytes.min(GO_BYTES) && value >> (8 * offset) & 0xFF == GO
            }
            Event::L1Store { addr, value, width } => {
                let offset = (self.go + GO_BYTES - 1).wrapping_sub(addr);
                offset < width.bytes().min(GO_BYTES) && value >> (8 * offset) & 0xFF == GO
            }
            _ => false,
        }
    }
}

impl Observer for Lens {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::NocIssue { noc, control, addr, coordinate, bytes, .. } = *event
            && control & TYPE != 0
            && bytes <= FLAG_BYTES
            && let AgentId::Core(core) = stamp.agent
        {
            if self.sent.len() == SENT {
                self.sent.pop_front();
            }
            let (cycle, pc) = (stamp.cycle.0, stamp.pc);
            self.sent.push_back(Sent { cycle, core, pc, noc, control, addr, coordinate });
        }
        if self.is_launch(event) {
            self.sent.clear();
            if let Some(books) = &mut self.books {
                books.ledger = Ledger::new(books.words.clone());
            }
        }
        if let Some(books) = &mut self.books {
            books.ledger.event(stamp, event);
            books.loops.event(stamp, event);
        }
    }

    fn wants_retires(&self, core: CoreId) -> bool {
        self.books.as_ref().is_some_and(|books| books.loops.wants_retires(core))
    }

    fn retires(&mut self, core: CoreId, retires: &[Retire]) {
        if let Some(books) = &mut self.books {
            books.loops.retires(core, retires);
        }
    }

    fn retire(&mut self, core: CoreId, retire: &Retire) {
        if let Some(books) = &mut self.books {
            books.loops.retire(core, retire);
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
        }
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        let mut ranges = vec![(self.go, self.go + GO_BYTES)];
        if let Some(books) = &self.books {
            ranges.extend(books.ledger.observed_l1());
        }
        ranges
    }
}

impl Kept for Lens {
    fn books(&self) -> Option<Books<'_>> {
        let books = self.books.as_ref()?;
        Some(Books { ledger: &books.ledger, polled: &self.polled, loops: &books.loops })
    }
}
