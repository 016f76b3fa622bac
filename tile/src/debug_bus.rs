//! What the debug bus shows of the cores and of the FIFOs between them and the frontends. The
//! coprocessor's own signals are in [`tensix::Coprocessor::debug_bus`].
//!
//! Groups of 128 bits. Positions: `[isa-wh: TensixTile/DebugDaisychain.md]`, which the Blackhole
//! names and positions of `[exalens:
//! hardware/blackhole/functional_worker_debug_bus_signals.py]` repeat. A core that executes one
//! instruction after the other has no pipeline to show: the instruction about to be executed
//! stands in every stage. Signals of these groups that are not in [`Signals::of`] read
//! as zero.

use devices::PcBufs;
use memory_map::{Target, lookup};
use sim_core::engine::Slots;
use sim_core::{CoreId, RequestKind, ThreadId};
use tensix::Coprocessor;

use riscv::{Core, Status, view};

use crate::route::mailbox_peer;

/// Daisychain stop of the cores.
pub(crate) const CORES: u32 = 7;
/// Selections per core: groups A (commit and memory), B (decode), C (mailboxes), D (PCBuf and MOP
/// expander).
const GROUPS: [(CoreId, [Option<u32>; 4]); CoreId::COUNT] = [
    (CoreId::Brisc, [Some(10), Some(11), Some(1), None]),
    (CoreId::Trisc0, [Some(12), Some(13), Some(18), Some(19)]),
    (CoreId::Trisc1, [Some(14), Some(15), Some(20), Some(21)]),
    (CoreId::Trisc2, [Some(16), Some(17), Some(22), Some(23)]),
    (CoreId::Ncrisc, [Some(24), Some(25), None, None]),
];

/// Readers of mailboxes, by their bit in group C.
const READERS: [CoreId; 4] = [CoreId::Brisc, CoreId::Trisc0, CoreId::Trisc1, CoreId::Trisc2];

/// Fields of a group: first bit, width, value.
type Field = (u32, u32, u32);

fn assemble(fields: &[Field]) -> u128 {
    fields.iter().fold(0, |bits, &(first, width, value)| {
        let mask = (1_u64 << width) - 1;
        bits | u128::from(u64::from(value) & mask) << first
    })
}

/// The core and the group that a selection of signals shows.
pub(crate) fn group(signals: u32) -> Option<(CoreId, usize)> {
    GROUPS.iter().find_map(|(core, groups)| {
        let group = groups.iter().position(|&group| group == Some(signals))?;
        Some((*core, group))
    })
}

/// What the signals are of.
pub(crate) struct Signals<'a> {
    pub(crate) cores: &'a Slots<Core>,
    pub(crate) tensix: &'a Coprocessor,
    pub(crate) pcbufs: &'a PcBufs,
}

impl Signals<'_> {
    pub(crate) fn of(&self, id: CoreId, group: usize) -> u128 {
        let core = &self.cores[id];
        let pc = core.pc();
        let moves = matches!(core.status(), Status::Running | Status::PushBlocked(_));
        match group {
            0 => {
                let request = core.batch.request;
                let stores = |kind| matches!(kind, RequestKind::Store { .. });
                let addr = request.map_or(0, |request| request.addr);
                let reads = request.is_some_and(|request| !stores(request.kind));
                let writes = request.is_some_and(|request| stores(request.kind));
                let commits = moves || matches!(core.status(), Status::Halted);
                assemble(&[
                    (0, 31, pc),
                    (31, 1, u32::from(commits)),
                    (32, 30, addr),
                    (62, 1, u32::from(reads)),
                    (63, 1, u32::from(writes)),
                    (64, 30, pc),
                ])
            }
            1 => assemble(&[(32, 30, pc), (63, 1, u32::from(moves)), (103, 1, u32::from(moves))]),
            2 => self.mailbox_signals(id),
            _ => id.thread().map_or(0, |thread| self.pcbuf_signals(thread)),
        }
    }

    /// Whether that core waits for a read, and from where.
    fn awaited(&self, id: CoreId) -> Option<(Target, u32)> {
        let request = self.cores[id].batch.request?;
        (request.kind == RequestKind::Load)
            .then(|| lookup(view(id), request.addr).map(|hit| (hit.target, request.addr)))?
    }

    /// Who does not wait for a mailbox that `writer` writes.
    fn mailbox_signals(&self, writer: CoreId) -> u128 {
        let first = if writer == CoreId::Brisc { 115 } else { 106 };
        let waits = |reader| {
            self.awaited(reader).is_some_and(|(target, addr)| {
                target == Target::Mailbox && mailbox_peer(addr) == writer
            })
        };
        let fields = READERS.map(|reader| u32::from(!waits(reader)));
        assemble(&std::array::from_fn::<Field, 4, _>(|i| (first + i as u32, 1, fields[i])))
    }

    fn pcbuf_signals(&self, thread: ThreadId) -> u128 {
        let trisc = self.awaited(thread.core()).map(|(target, _)| target);
        let brisc = self.awaited(CoreId::Brisc).map(|(target, _)| target);
        let buffer = match thread {
            ThreadId::T0 => Target::PcBufT0,
            ThreadId::T1 => Target::PcBufT1,
            ThreadId::T2 => Target::PcBufT2,
        };
        let flag = |on: bool| u32::from(on);
        let credit = self.tensix.push_credit(thread, false);
        assemble(&[
            (23, 1, flag(self.pcbufs.depth(thread) == 0)),
            (24, 1, flag(!self.pcbufs.can_push(thread))),
            (25, 1, flag(self.tensix.mop_busy(thread))),
            (26, 1, flag(!self.tensix.thread_idle(thread))),
            (28, 1, flag(brisc == Some(buffer))),
            (30, 1, flag(trisc == Some(Target::TtSync))),
            (31, 1, flag(trisc == Some(Target::PcBufOwn))),
            (125, 1, flag(credit == 0)),
            (126, 1, flag(self.tensix.input_is_empty(thread))),
        ])
    }
}
