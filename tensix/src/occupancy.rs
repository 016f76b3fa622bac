//! What occupies units and threads: instructions in flight, and when the next one is taken.

use isa::op::{Opcode, Unit};
use sim_core::observer::{Event, Stamp};
use sim_core::{AgentId, Cycle, StateHasher, ThreadId};

use crate::decode::Decoded;
use crate::env::Env;
use crate::timing::{Cost, TimingModel};
use crate::units::Issued;
use crate::units::unpacker::unpacker_of;

/// `Unit` as an index.
pub(crate) const UNITS: usize = 10;

/// An instruction that takes longer than the cycle it issued in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InFlight {
    /// First cycle in which it is gone.
    pub(crate) done: Cycle,
    pub(crate) issued: Issued,
    pub(crate) unit: Unit,
}

/// Which unit and which thread is busy until when. In the unit timing model none ever is.
#[derive(Clone, Debug)]
pub(crate) struct Occupancy {
    /// Whether instructions have costs.
    timed: bool,
    /// First cycle in which a unit takes another instruction.
    unit_free: [Cycle; UNITS],
    /// First cycle in which a thread may issue again.
    thread_free: [Cycle; 3],
    in_flight: Vec<InFlight>,
}

impl Occupancy {
    pub(crate) fn new(timing: TimingModel) -> Self {
        Self {
            timed: timing != TimingModel::Unit,
            unit_free: [Cycle::ZERO; UNITS],
            thread_free: [Cycle::ZERO; 3],
            in_flight: Vec::new(),
        }
    }

    /// Whether instructions have costs.
    #[inline]
    pub(crate) const fn timed(&self) -> bool {
        self.timed
    }

    /// Whether nothing is in flight.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    pub(crate) fn in_flight(&self) -> &[InFlight] {
        &self.in_flight
    }

    /// Retires what is done by `now`, in thread order; whether anything was.
    pub(crate) fn complete<E: Env>(&mut self, now: Cycle, env: &mut E) -> bool {
        let before = self.in_flight.len();
        for thread in ThreadId::ALL {
            let done = |entry: &&InFlight| entry.done <= now && entry.issued.thread == thread;
            for entry in self.in_flight.iter().filter(done) {
                let agent = AgentId::Thread(thread);
                let at = Stamp { cycle: now, agent, pc: entry.issued.origin.pc };
                env.emit(at, || Event::UnitDone { thread, word: entry.issued.word });
            }
        }
        self.in_flight.retain(|entry| entry.done > now);
        self.in_flight.len() != before
    }

    /// Books what an issued instruction costs.
    pub(crate) fn occupy(&mut self, issued: &Issued, unit: Unit, cost: Cost) {
        let now = issued.now;
        self.unit_free[unit as usize] = now + u64::from(cost.unit);
        self.thread_free[issued.thread.index()] = now + u64::from(cost.thread);
        if cost.latency > 1 {
            let done = now + u64::from(cost.latency);
            self.in_flight.push(InFlight { done, issued: *issued, unit });
        }
    }

    /// Keeps a unit and a thread from taking and issuing anything before `until`.
    pub(crate) fn hold(&mut self, unit: Unit, thread: ThreadId, until: Cycle) {
        self.unit_free[unit as usize] = until;
        self.thread_free[thread.index()] = until;
    }

    /// Whether its unit or its thread keeps an instruction from issuing at `now`.
    #[inline]
    pub(crate) fn keeps_out(&self, decoded: &Decoded, thread: ThreadId, now: Cycle) -> bool {
        // SETC16 is not part of the configuration unit's pipeline.
        let unit_busy =
            self.unit_free[decoded.unit as usize] > now && decoded.opcode != Opcode::Setc16;
        unit_busy || self.thread_free[thread.index()] > now
    }

    /// Whether a unit has something in flight, of `thread` or of any.
    pub(crate) fn runs(&self, unit: Unit, thread: Option<ThreadId>) -> bool {
        self.in_flight
            .iter()
            .any(|entry| entry.unit == unit && thread.is_none_or(|t| entry.issued.thread == t))
    }

    /// Whether anything of `thread` is in flight.
    pub(crate) fn has_any_of(&self, thread: ThreadId) -> bool {
        self.in_flight.iter().any(|entry| entry.issued.thread == thread)
    }

    /// Conditions C1 to C3 of `thread`: unpackers and packer, as bits.
    pub(crate) fn moving(&self, thread: ThreadId) -> u16 {
        if self.in_flight.is_empty() {
            return 0;
        }
        let unpacking = |select: usize| {
            self.in_flight.iter().any(|entry| {
                entry.unit == Unit::Unpacker
                    && entry.issued.thread == thread
                    && unpacker_of(entry.issued.word) == select
            })
        };
        let packing = self.runs(Unit::Packer, Some(thread));
        u16::from(unpacking(0)) << 1 | u16::from(unpacking(1)) << 2 | u16::from(packing) << 3
    }

    /// Whether time alone will still change something after `now`.
    pub(crate) fn has_timers(&self, now: Cycle) -> bool {
        // What ends at the next cycle still has to be looked at in it.
        !self.in_flight.is_empty()
            || self.unit_free.iter().chain(&self.thread_free).any(|&free| free > now)
    }

    pub(crate) fn hash_state(&self, hasher: &mut StateHasher) {
        let Self { timed, unit_free, thread_free, in_flight } = self;
        // The unit follows from the word.
        for InFlight { done, issued, unit: _ } in in_flight {
            hasher.u64(done.0);
            hasher.u32(issued.word);
            hasher.u8(issued.thread as u8);
        }
        if *timed {
            for free in unit_free.iter().chain(thread_free) {
                hasher.u64(free.0);
            }
        }
    }
}
