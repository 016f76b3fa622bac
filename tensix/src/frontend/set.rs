//! Threads as a set, bit *i* is thread *i*.

use sim_core::ThreadId;

pub(crate) type ThreadSet = u8;

pub(crate) const fn bit(thread: ThreadId) -> ThreadSet {
    1 << thread as u8
}

/// The thread of a set of one.
#[inline]
pub(crate) const fn lone(threads: ThreadSet) -> Option<ThreadId> {
    match threads {
        0b001 => Some(ThreadId::T0),
        0b010 => Some(ThreadId::T1),
        0b100 => Some(ThreadId::T2),
        _ => None,
    }
}

/// The threads of a set, T0 first.
#[inline]
pub(crate) fn members(threads: ThreadSet) -> impl Iterator<Item = ThreadId> {
    let mut left = threads;
    std::iter::from_fn(move || {
        let first = ThreadId::from_index(left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(first)
    })
}
