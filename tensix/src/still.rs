//! Threads that stand still: they wait, and another look at them would find what the last one found.
//!
//! A kernel's three threads wait for each other most of the time, for semaphores and for banks of SrcA
//! and SrcB. What their gates see of both is eighteen bytes ([`Sight`]). As long as they are the same a
//! thread that made no progress in one cycle makes none in the next, so it need not be asked.

use isa::op::{GateRule, Unit};
use sim_core::{ThreadId, WaitReason};

use crate::backend::Backend;
use crate::decode::{Decoded, decode};
use crate::frontend::Frontend;
use crate::frontend::set::{ThreadSet, bit, members};
use crate::gate::Condition;
use crate::units::sync::SemaphoreFile;

/// Conditions of a STALLWAIT that ask for the owner of a bank: C5 to C8.
const BANKS: u16 = 0b1111 << 5;
/// The condition that the mover ends by itself: C9.
const MOVER: u16 = 1 << 9;

/// What gates see that may end the waits of threads that stand still.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sight {
    semaphores: SemaphoreFile,
    /// Ownership and pointers of SrcA and SrcB.
    banks: [u8; 2],
}

/// Threads that stand still. No part of the state: without it they are looked at in each cycle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Still {
    threads: ThreadSet,
    /// What they saw.
    seen: Sight,
}

impl Sight {
    /// What they see now.
    #[inline(always)]
    pub(crate) fn of(backend: &Backend) -> Self {
        let banks = [backend.src[0].ownership(), backend.src[1].ownership()];
        Self { semaphores: backend.sync.semaphores, banks }
    }
}

impl Still {
    /// Those that do.
    #[inline]
    pub(crate) fn threads(&self) -> ThreadSet {
        self.threads
    }

    /// Looks whether they see something else: then all are to be asked again. To be called when that may be.
    #[inline(always)]
    pub(crate) fn refresh(&mut self, backend: &Backend) {
        if self.threads != 0 && !(self.holds(backend) && backend.waits_by_sight()) {
            self.threads = 0;
        }
    }

    /// Whether they would see what they saw.
    #[inline(always)]
    pub(crate) fn holds(&self, backend: &Backend) -> bool {
        self.seen == Sight::of(backend)
    }

    /// Whether an instruction of a unit may change what they see.
    #[inline]
    pub(crate) fn minds(unit: Unit) -> bool {
        unit != Unit::Vector
    }

    /// Something happened to a thread itself.
    #[inline]
    pub(crate) fn stir(&mut self, thread: ThreadId) {
        self.threads &= !bit(thread);
    }

    /// Notes which of the threads that made no progress in a cycle, each with something to do, make none
    /// until what was seen when the cycle began changes.
    #[inline]
    pub(crate) fn note(&mut self, waiting: ThreadSet, threads: &[Frontend; 3], seen: Sight) {
        self.threads = 0;
        for thread in members(waiting) {
            if waits_for_sight(&threads[thread.index()]) {
                self.threads |= bit(thread);
            }
        }
        self.seen = seen;
    }
}

/// Whether all that a thread waits for, having made no progress, is something that gates see.
fn waits_for_sight(Frontend { gate, third, .. }: &Frontend) -> bool {
    let latched = gate.latch.is_none_or(|latch| match (latch.condition, latch.unmet) {
        (Condition::Semaphores { .. }, Some(_)) => true,
        (Condition::Stall { mask }, Some(WaitReason::Stall { conditions })) => {
            conditions & !BANKS == 0 && mask & MOVER == 0
        }
        _ => false,
    });
    let Some(front) = third.front() else { return latched && gate.latch.is_some() };
    // Behind the gate only an operand's bank can keep it out, or an unpacker's.
    let by_bank = |decoded: &Decoded| matches!(decoded.gate, GateRule::None | GateRule::Unpacker);
    latched
        && decode(front.word())
            .is_some_and(|decoded| gate.holds(decoded).is_some() || by_bank(decoded))
}
