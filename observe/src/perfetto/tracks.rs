//! Which tracks a trace has: one process for the tile, and what lies below it.

use sim_core::{CoreId, ThreadId, UnitId};

use super::wire::{Message, track};
use crate::describe::{mutex_name, semaphore_name};

/// The track of the tile itself.
pub(super) const TILE: u64 = 1;

/// A row of the timeline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Track {
    /// Functions of a core, and the spans in which it is parked.
    Core(CoreId),
    /// Blocking accesses of a core.
    CoreWaits(CoreId),
    /// What a Tensix thread's front instruction waits for; its handshakes.
    Thread(ThreadId),
    /// What a unit executes.
    Unit(UnitId),
    /// Who owns a bank of SrcA or SrcB.
    Bank { operand: u8, bank: u8 },
    /// Who holds a mutex.
    Mutex(u8),
    /// Requests of a NoC initiator that are under way; lanes keep overlapping ones apart.
    Noc { noc: u8, initiator: u8, lane: u8 },
    /// Requests of other endpoints that the tile has carried out.
    Served { noc: u8 },
    /// What was launched, from go to done.
    Launch,
    /// What became of it.
    Verdict,
    /// What the host does.
    Host,
    /// Value of a semaphore.
    Semaphore(u8),
    /// Pages in a circular buffer.
    Circular(u8),
    /// Words in a mailbox.
    Mailbox { from: CoreId, to: CoreId },
    /// Words in a PCBuf.
    PcBuf(ThreadId),
}

impl Track {
    pub(super) fn uuid(self) -> u64 {
        let (kind, number) = match self {
            Self::Host => (1, 0),
            Self::Core(core) => (2, core as u64),
            Self::CoreWaits(core) => (3, core as u64),
            Self::Thread(thread) => (4, thread as u64),
            Self::Unit(unit) => (5, unit as u64),
            Self::Bank { operand, bank } => (6, u64::from(operand) << 4 | u64::from(bank)),
            Self::Mutex(index) => (7, index.into()),
            Self::Noc { noc, initiator, lane } => {
                (8, u64::from(noc) << 16 | u64::from(initiator) << 8 | u64::from(lane))
            }
            Self::Semaphore(index) => (9, index.into()),
            Self::Circular(index) => (10, index.into()),
            Self::Mailbox { from, to } => (11, (from as u64) << 4 | to as u64),
            Self::PcBuf(thread) => (12, thread as u64),
            Self::Served { noc } => (13, noc.into()),
            Self::Launch => (14, 0),
            Self::Verdict => (15, 0),
        };
        kind << 32 | number
    }

    fn name(self) -> String {
        match self {
            Self::Host => "host".to_owned(),
            Self::Core(core) => core.to_string(),
            Self::CoreWaits(core) => format!("{core} waits"),
            Self::Thread(thread) => format!("Tensix {thread}"),
            Self::Unit(unit) => format!("unit {unit}"),
            Self::Bank { operand: 0, bank } => format!("SrcA bank {bank}"),
            Self::Bank { bank, .. } => format!("SrcB bank {bank}"),
            Self::Mutex(index) => format!("mutex {}", mutex_name(index)),
            Self::Noc { noc, initiator, lane: 0 } => format!("NoC {noc} initiator {initiator}"),
            Self::Noc { noc, initiator, lane } => {
                format!("NoC {noc} initiator {initiator} ({})", lane + 1)
            }
            Self::Semaphore(index) => format!("semaphore {}", semaphore_name(index)),
            Self::Circular(index) => format!("CB {index} pages"),
            Self::Mailbox { from, to } => format!("mailbox {from} -> {to}"),
            Self::PcBuf(thread) => format!("PCBuf {thread}"),
            Self::Served { noc } => format!("NoC {noc} for others"),
            Self::Launch => "launches".to_owned(),
            Self::Verdict => "verdict".to_owned(),
        }
    }

    const fn is_counter(self) -> bool {
        matches!(
            self,
            Self::Semaphore(_) | Self::Circular(_) | Self::Mailbox { .. } | Self::PcBuf(_)
        )
    }

    /// The descriptor that has to precede the first use.
    pub(super) fn descriptor(self, base: u64) -> Message {
        let uuid = self.uuid();
        let parent = match self {
            Self::CoreWaits(core) => Self::Core(core).uuid(),
            _ => TILE,
        };
        let rank = match self {
            Self::Verdict => 0,
            Self::Launch => 1,
            // Next to the tile's own requests.
            Self::Served { noc } => 890 + u64::from(noc),
            _ => (uuid >> 32) * 100 + (uuid & 0xFF).min(99),
        };
        let mut descriptor = Message::new();
        descriptor
            .varint(track::UUID, base + uuid)
            .text(track::NAME, &self.name())
            .varint(track::PARENT, base + parent)
            .varint(track::RANK, rank);
        if self.is_counter() {
            descriptor.message(track::COUNTER, &Message::new());
        }
        descriptor
    }
}

/// The descriptor of the tile.
pub(super) fn tile(name: &str, base: u64, pid: u64) -> Message {
    let (mut process, mut descriptor) = (Message::new(), Message::new());
    process.varint(track::PID, pid).text(track::PROCESS_NAME, name);
    descriptor
        .varint(track::UUID, base + TILE)
        .message(track::PROCESS, &process)
        .varint(track::CHILD_ORDERING, track::EXPLICIT);
    descriptor
}
