//! What is only counted.

use serde::Serialize;
use sim_core::{CoreId, Event, ThreadId};

use memory_map::{NocControl, NocRequest};

use crate::describe::semaphore_name;

/// Use of one semaphore.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SemaphoreUse {
    /// Number.
    pub index: u8,
    /// Name in the vendor's kernels.
    pub name: String,
    /// SEMINITs.
    pub inits: u64,
    /// Posts, from instructions and cores.
    pub posts: u64,
    /// Gets, from instructions and cores.
    pub gets: u64,
    /// Operations without effect: posts at 15, gets at 0 (inits excluded).
    pub saturated: u64,
    /// Highest value seen.
    pub highest: u8,
    /// Value at the end.
    pub value: u8,
    /// Max at the end.
    pub max: u8,
}

/// Commands one NIU accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct NocTraffic {
    /// Reads.
    pub reads: u64,
    /// Writes from memory.
    pub writes: u64,
    /// Inline writes.
    pub inline_writes: u64,
    /// Atomics.
    pub atomics: u64,
    /// Bytes moved by all of them.
    pub bytes: u64,
    /// How many are done.
    pub done: u64,
    /// How many requests of other endpoints the tile carried out.
    pub served: u64,
}

/// Counters of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counters {
    /// Events, with L1 stores as far as they were observed.
    pub events: u64,
    /// Instructions pushed, by thread.
    pub pushes: [u64; ThreadId::COUNT],
    /// How many of them before the first go signal.
    pub boot_pushes: [u64; ThreadId::COUNT],
    /// Instructions issued, by thread.
    pub issues: [u64; ThreadId::COUNT],
    /// Changes of configuration words.
    pub config_writes: u64,
    /// Words through hardware mailboxes, by writer in the order of [`CoreId::ALL`].
    pub mailbox_words: [u64; CoreId::COUNT],
    /// Words through PCBufs, by thread.
    pub pcbuf_words: [u64; ThreadId::COUNT],
    /// Mutex acquisitions by index, those of index 7 and above together.
    pub mutexes: [u64; 8],
    /// Changes of overlay stream registers, among them the counters of circular buffers.
    pub stream_changes: u64,
    /// L1 atomics.
    pub l1_atomics: u64,
    /// Host writes.
    pub host_writes: u64,
    /// NoC 0 and 1.
    pub noc: [NocTraffic; 2],
    /// Semaphores that were used, by number.
    pub semaphores: Vec<SemaphoreUse>,
}

impl Counters {
    pub(super) fn count(&mut self, event: &Event, launched: bool) {
        use sim_core::observer::SemaphoreOp as Op;
        self.events += 1;
        match *event {
            Event::Push { thread, .. } => {
                self.pushes[thread.index()] += 1;
                self.boot_pushes[thread.index()] += u64::from(!launched);
            }
            Event::Issue { thread, .. } => self.issues[thread.index()] += 1,
            Event::Config { .. } => self.config_writes += 1,
            Event::MailboxPush { from, .. } => self.mailbox_words[from.index()] += 1,
            Event::PcBufPush { thread, .. } => self.pcbuf_words[thread.index()] += 1,
            Event::Mutex { index, acquired: true } => {
                self.mutexes[usize::from(index.min(7))] += 1;
            }
            Event::Stream { .. } => self.stream_changes += 1,
            Event::L1Atomic { .. } => self.l1_atomics += 1,
            Event::HostWrite { .. } => self.host_writes += 1,
            Event::NocIssue { noc, control, bytes, .. } => {
                self.noc[usize::from(noc & 1)].count(NocControl(control).request(), bytes);
            }
            Event::NocServe { noc, .. } => self.noc[usize::from(noc & 1)].served += 1,
            Event::NocDone { noc, .. } => self.noc[usize::from(noc & 1)].done += 1,
            Event::Semaphore { index, op, before, after, max } => {
                let row = self.semaphore(index);
                match op {
                    Op::Init => row.inits += 1,
                    Op::Post => row.posts += 1,
                    Op::Get => row.gets += 1,
                }
                row.saturated += u64::from(op != Op::Init && before == after);
                row.highest = row.highest.max(after);
                (row.value, row.max) = (after, max);
            }
            _ => {}
        }
    }

    /// The row of a semaphore; at most 256 rows, as many as there are numbers.
    fn semaphore(&mut self, index: u8) -> &mut SemaphoreUse {
        let at = match self.semaphores.binary_search_by_key(&index, |row| row.index) {
            Ok(at) => at,
            Err(at) => {
                self.semaphores.insert(at, SemaphoreUse::new(index));
                at
            }
        };
        &mut self.semaphores[at]
    }
}

impl SemaphoreUse {
    fn new(index: u8) -> Self {
        Self {
            index,
            name: semaphore_name(index).into_owned(),
            inits: 0,
            posts: 0,
            gets: 0,
            saturated: 0,
            highest: 0,
            value: 0,
            max: 0,
        }
    }
}

impl NocTraffic {
    fn count(&mut self, request: NocRequest, bytes: u32) {
        let counter = match request {
            NocRequest::Read => &mut self.reads,
            NocRequest::Write => &mut self.writes,
            NocRequest::InlineWrite => &mut self.inline_writes,
            NocRequest::Atomic => &mut self.atomics,
        };
        *counter += 1;
        self.bytes += u64::from(bytes);
    }
}
