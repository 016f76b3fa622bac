//! The sync unit: eight semaphores and four mutexes.
//!
//! Sources: `[isa-bh: TensixCoprocessor/SyncUnit.md]`, `ATGETM.md`, `SEMINIT.md`, `SEMPOST.md`,
//! `SEMGET.md`, `SEMWAIT.md`; `[isa-wh: TensixCoprocessor/ATRELM.md]`.

mod dispatch;
pub(crate) mod ops;

pub(crate) use dispatch::Reach;
use isa::op::{OPCODE, Opcode};
use isa::operands::{self, Semaphores};
use sim_core::ThreadId;
use sim_core::observer::{Event, SemaphoreOp, Stamp};

use super::Issued;
use crate::env::Env;
pub(crate) use ops::{Semaphore, SemaphoreFile};

const SEMPOST: u32 = Opcode::Sempost as u32;
const SEMGET: u32 = Opcode::Semget as u32;

/// Number of mutex slots by encoded index; slot 1 does not exist.
const MUTEX_SLOTS: usize = 5;

/// A mutex: its holder, and who released it last (for fairness).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Mutex {
    pub(crate) holder: Option<ThreadId>,
    pub(crate) last: u8,
}

/// The sync unit's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct SyncUnit {
    pub(crate) semaphores: SemaphoreFile,
    pub(crate) mutexes: [Mutex; MUTEX_SLOTS],
}

impl SyncUnit {
    /// The mutex that an ATGETM or ATRELM names.
    #[inline]
    pub(crate) const fn named_mutex(word: u32) -> u32 {
        operands::Mutex::of(word).mutex_index
    }

    /// Slot of a mutex index as encoded: 0, 2, 3 and 4 exist.
    #[inline]
    pub(crate) const fn mutex_slot(index: u32) -> Option<usize> {
        match index {
            0 | 2 | 3 | 4 => Some(index as usize),
            _ => None,
        }
    }

    /// Whether `thread` could acquire the mutex in that slot now.
    #[inline]
    pub(crate) fn mutex_available(&self, slot: usize, thread: ThreadId) -> bool {
        self.mutexes[slot].holder.is_none_or(|holder| holder == thread)
    }

    pub(crate) fn atgetm<E: Env>(&mut self, index: u32, issued: &Issued, env: &mut E) {
        if let Some(slot) = Self::mutex_slot(index) {
            self.mutexes[slot].holder = Some(issued.thread);
            Self::mutex_event(issued, index, true, env);
        }
    }

    pub(crate) fn atrelm<E: Env>(&mut self, index: u32, issued: &Issued, env: &mut E) {
        if let Some(slot) = Self::mutex_slot(index) {
            let mutex = &mut self.mutexes[slot];
            if mutex.holder == Some(issued.thread) {
                *mutex = Mutex { holder: None, last: issued.thread as u8 };
                Self::mutex_event(issued, index, false, env);
            } else {
                env.emit(issued.stamp(), || Event::MutexIgnored { index: index as u8 });
            }
        }
    }

    fn mutex_event<E: Env>(issued: &Issued, index: u32, acquired: bool, env: &mut E) {
        env.emit(issued.stamp(), || Event::Mutex { index: index as u8, acquired });
    }

    pub(crate) fn seminit<E: Env>(
        &mut self,
        operands: operands::Seminit,
        issued: &Issued,
        env: &mut E,
    ) {
        let (init, max) = (operands.init_value as u8, operands.max_value as u8);
        for index in selected(operands.sem_sel) {
            self.semaphores.set(index, Semaphore { max, ..self.semaphores.get(index) });
            self.update(index, SemaphoreOp::Init, issued.stamp(), |_| init, env);
        }
    }

    #[inline]
    pub(crate) fn sempost<E: Env>(&mut self, mask: u32, issued: &Issued, env: &mut E) {
        for index in selected(mask) {
            self.update(index, SemaphoreOp::Post, issued.stamp(), ops::post, env);
        }
    }

    #[inline]
    pub(crate) fn semget<E: Env>(&mut self, mask: u32, issued: &Issued, env: &mut E) {
        for index in selected(mask) {
            self.update(index, SemaphoreOp::Get, issued.stamp(), ops::get, env);
        }
    }

    /// Executes the first of `words` that are SEMPOST or SEMGET, without events: how many.
    pub(crate) fn adjust(&mut self, words: &[u32]) -> usize {
        for (done, &word) in words.iter().enumerate() {
            let posts = OPCODE.get(word) == SEMPOST;
            if !posts && OPCODE.get(word) != SEMGET {
                return done;
            }
            for index in selected(Semaphores::of(word).sem_sel) {
                let Semaphore { value, max } = self.semaphores.get(index);
                let value = if posts { ops::post(value) } else { ops::get(value) };
                self.semaphores.set(index, Semaphore { value, max });
            }
        }
        words.len()
    }

    #[inline]
    fn update<E: Env>(
        &mut self,
        index: u8,
        op: SemaphoreOp,
        at: Stamp,
        function: impl Fn(u8) -> u8,
        env: &mut E,
    ) {
        let Semaphore { value: before, max } = self.semaphores.get(index);
        let after = function(before);
        self.semaphores.set(index, Semaphore { value: after, max });
        env.emit(at, || Event::Semaphore { index, op, before, after, max });
    }

    /// A core's store to the semaphore window: an odd value gets, an even one posts.
    pub(crate) fn write<E: Env>(&mut self, index: u32, value: u32, at: Stamp, env: &mut E) {
        let index = (index & 7) as u8;
        if value & 1 != 0 {
            self.update(index, SemaphoreOp::Get, at, ops::get, env);
        } else {
            self.update(index, SemaphoreOp::Post, at, ops::post, env);
        }
    }
}

/// Positions of the bits of an eight-bit mask, lowest first.
#[inline]
fn selected(mut mask: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let index = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (index < 8).then_some(index as u8)
    })
}
