//! Events for tests: one strategy per kind, so that a new kind does not compile without one.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use proptest::prelude::*;
use sim_core::observer::{Look, ParkedSpan, SemaphoreOp, Slot};
use sim_core::{
    AgentId, CoreId, Cycle, Event, EventKind, Stamp, ThreadId, UnitId, WaitReason, Width,
};

/// A stamp.
pub(crate) fn at(cycle: u64, agent: AgentId, pc: u32) -> Stamp {
    Stamp { cycle: Cycle(cycle), agent, pc }
}

/// A span in which a core polled one address with a loop of two instructions, the load first.
pub(crate) fn parked(from: u64, until: u64, pc: u32, addr: u32) -> ParkedSpan {
    let look = Look { pc, addr, value: 0 };
    ParkedSpan {
        from: Cycle(from),
        until: Cycle(until),
        pc,
        reads: Some(addr),
        head: pc,
        period_cycles: 10,
        looks: [Some(look), None, None, None],
    }
}

fn words() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![0, 1, 0x100, 0x1_0000, 0x100_0000, 0x8000_0000])
}

fn bytes() -> impl Strategy<Value = u8> {
    0..3_u8
}

fn cores() -> impl Strategy<Value = CoreId> {
    prop::sample::select(CoreId::ALL.to_vec())
}

fn threads() -> impl Strategy<Value = ThreadId> {
    prop::sample::select(ThreadId::ALL.to_vec())
}

fn widths() -> impl Strategy<Value = Width> {
    prop::sample::select(vec![Width::Byte, Width::Half, Width::Word])
}

fn longs() -> impl Strategy<Value = u64> {
    (words(), words()).prop_map(|(low, high)| u64::from(high) << 32 | u64::from(low))
}

fn shorts() -> impl Strategy<Value = u16> {
    prop::sample::select(vec![0, 1, 0x100])
}

/// Every reason with small fields.
pub(crate) fn reasons() -> BoxedStrategy<WaitReason> {
    use WaitReason as W;
    let (core, thread) = (cores, threads);
    prop_oneof![
        Just(W::Reset),
        Just(W::Halted),
        Just(W::Spin),
        Just(W::Ended),
        Just(W::TdmaQueueFull),
        Just(W::PackerMetadata),
        Just(W::WaitGateOccupied),
        Just(W::FrontendFull),
        any::<u32>().prop_map(|addr| W::L1Word { addr }),
        (core(), core()).prop_map(|(from, to)| W::MailboxEmpty { from, to }),
        (core(), core()).prop_map(|(from, to)| W::MailboxFull { from, to }),
        thread().prop_map(|thread| W::PcBufEmpty { thread }),
        thread().prop_map(|thread| W::PcBufFull { thread }),
        thread().prop_map(|thread| W::PcBufDrain { thread }),
        thread().prop_map(|thread| W::CoprocessorBusy { thread }),
        thread().prop_map(|thread| W::MopBusy { thread }),
        thread().prop_map(|thread| W::InstructionFifoFull { thread }),
        (bytes(), bytes()).prop_map(|(noc, initiator)| W::NocInitiatorBusy { noc, initiator }),
        shorts().prop_map(|conditions| W::Stall { conditions }),
        (bytes(), bytes()).prop_map(|(mask, condition)| W::Semaphore { mask, condition }),
        (bytes(), words(), any::<bool>()).prop_map(|(stream, target, messages)| W::Stream {
            stream,
            target,
            messages
        }),
        bytes().prop_map(|index| W::Mutex { index }),
        prop::sample::select(vec![UnitId::Sync, UnitId::Misc])
            .prop_map(|unit| W::UnitBusy { unit }),
        (0..2_u8, 0..2_u8, any::<bool>()).prop_map(|(operand, bank, for_matrix)| W::SrcBank {
            operand,
            bank,
            for_matrix
        }),
    ]
    .boxed()
}

/// An event of one kind of those of the NoC interfaces.
fn noc_event_of(kind: EventKind) -> BoxedStrategy<Event> {
    use EventKind as K;
    match kind {
        K::NocIssue => (bytes(), bytes(), words(), longs(), words(), words(), (words(), words()))
            .prop_map(|(noc, initiator, control, addr, coordinate, bytes, (ticket, packets))| {
                Event::NocIssue {
                    noc,
                    initiator,
                    control,
                    addr,
                    coordinate,
                    bytes,
                    ticket,
                    packets,
                }
            })
            .boxed(),
        K::NocDone => (bytes(), bytes(), words())
            .prop_map(|(noc, initiator, ticket)| Event::NocDone { noc, initiator, ticket })
            .boxed(),
        K::NocSent => (bytes(), bytes(), words())
            .prop_map(|(noc, initiator, ticket)| Event::NocSent { noc, initiator, ticket })
            .boxed(),
        K::NocServe => (bytes(), shorts(), words(), words(), longs(), words())
            .prop_map(|(noc, source, ticket, control, addr, bytes)| Event::NocServe {
                noc,
                source,
                ticket,
                control,
                addr,
                bytes,
            })
            .boxed(),
        _ => unreachable!("{kind:?} is no event of a NoC interface"),
    }
}

/// An event of one kind.
pub(crate) fn event_of(kind: EventKind) -> BoxedStrategy<Event> {
    use EventKind as K;
    match kind {
        K::L1Store => (words(), words(), widths())
            .prop_map(|(addr, value, width)| Event::L1Store { addr, value, width })
            .boxed(),
        K::HostWrite => (words(), words(), words())
            .prop_map(|(addr, value, bytes)| Event::HostWrite { addr, value, bytes })
            .boxed(),
        K::L1Atomic => (words(), words(), words())
            .prop_map(|(addr, before, after)| Event::L1Atomic { addr, before, after })
            .boxed(),
        K::DeviceStore => (words(), words(), widths())
            .prop_map(|(addr, value, width)| Event::DeviceStore { addr, value, width })
            .boxed(),
        K::WaitBegin => reasons().prop_map(|reason| Event::WaitBegin { reason }).boxed(),
        K::WaitEnd => (reasons(), longs())
            .prop_map(|(reason, since)| Event::WaitEnd { reason, since: Cycle(since) })
            .boxed(),
        K::MailboxPush => (cores(), cores(), words(), bytes())
            .prop_map(|(from, to, value, depth)| Event::MailboxPush { from, to, value, depth })
            .boxed(),
        K::MailboxPop => (cores(), cores(), words(), bytes())
            .prop_map(|(from, to, value, depth)| Event::MailboxPop { from, to, value, depth })
            .boxed(),
        K::PcBufPush => (threads(), words(), bytes())
            .prop_map(|(thread, value, depth)| Event::PcBufPush { thread, value, depth })
            .boxed(),
        K::PcBufPop => (threads(), words(), bytes())
            .prop_map(|(thread, value, depth)| Event::PcBufPop { thread, value, depth })
            .boxed(),
        K::Reset => (cores(), any::<bool>(), words())
            .prop_map(|(core, asserted, pc)| Event::Reset { core, asserted, pc })
            .boxed(),
        K::Halt => cores().prop_map(|core| Event::Halt { core }).boxed(),
        K::Stream => (bytes(), shorts(), words(), words())
            .prop_map(|(stream, register, before, after)| Event::Stream {
                stream,
                register,
                before,
                after,
            })
            .boxed(),
        K::Push
        | K::Issue
        | K::Semaphore
        | K::Mutex
        | K::SyncDone
        | K::Config
        | K::IcacheInvalidate
        | K::SrcBanks
        | K::MutexIgnored
        | K::MopOverwritten
        | K::UnitDone => tensix_event_of(kind),
        K::NocIssue | K::NocSent | K::NocDone | K::NocServe => noc_event_of(kind),
    }
}

fn tensix_event_of(kind: EventKind) -> BoxedStrategy<Event> {
    use EventKind as K;
    match kind {
        K::Push => (threads(), words(), any::<bool>())
            .prop_map(|(thread, word, after_mop)| Event::Push { thread, word, after_mop })
            .boxed(),
        K::Issue => (threads(), words(), words(), bytes())
            .prop_map(|(thread, word, mop, replay)| Event::Issue {
                thread,
                word,
                slot: Slot { mop, replay },
            })
            .boxed(),
        K::Semaphore => {
            let ops = vec![SemaphoreOp::Init, SemaphoreOp::Post, SemaphoreOp::Get];
            (bytes(), prop::sample::select(ops), bytes(), bytes(), bytes())
                .prop_map(|(index, op, before, after, max)| Event::Semaphore {
                    index,
                    op,
                    before,
                    after,
                    max,
                })
                .boxed()
        }
        K::Mutex => (bytes(), any::<bool>())
            .prop_map(|(index, acquired)| Event::Mutex { index, acquired })
            .boxed(),
        K::SyncDone => (threads(), reasons())
            .prop_map(|(thread, reason)| Event::SyncDone { thread, reason })
            .boxed(),
        K::Config => (bytes(), shorts(), words(), words())
            .prop_map(|(state, index, before, after)| Event::Config { state, index, before, after })
            .boxed(),
        K::MutexIgnored => bytes().prop_map(|index| Event::MutexIgnored { index }).boxed(),
        K::MopOverwritten => (threads(), bytes(), words(), words())
            .prop_map(|(thread, index, before, after)| Event::MopOverwritten {
                thread,
                index,
                before,
                after,
            })
            .boxed(),
        K::SrcBanks => (bytes(), bytes(), bytes())
            .prop_map(|(operand, before, after)| Event::SrcBanks { operand, before, after })
            .boxed(),
        K::UnitDone => {
            (threads(), words()).prop_map(|(thread, word)| Event::UnitDone { thread, word }).boxed()
        }
        _ => bytes().prop_map(|mask| Event::IcacheInvalidate { mask }).boxed(),
    }
}

/// A writer that can still be read when an observer has it.
#[derive(Clone, Default, Debug)]
pub(crate) struct Kept(Rc<RefCell<Vec<u8>>>);

impl Kept {
    /// What has been written.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.borrow().clone()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
