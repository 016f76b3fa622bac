//! `fork()` in a host: the reference documents it as its way to snapshots, boot once and fork per case
//! `[spec: live-sessions]`.
//!
//! The child has the thread that forked and no other: a lock that another thread holds at that moment
//! is held in the child for ever, and worker threads are missing. So the chip is taken before a fork and
//! given back after it, on both sides, and its workers end before; each side starts new ones when it
//! needs them.

use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::session::{Held, hold};

thread_local! {
    /// The chip, while this thread forks.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// This process has been forked off since somebody last asked.
static FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn before() {
    // A thread that is at its end has nothing to keep the chip in, and is in no call of ours.
    let _ = HELD.try_with(|held| *held.borrow_mut() = hold());
}

extern "C" fn after() {
    let _ = HELD.try_with(|held| held.borrow_mut().take());
}

extern "C" fn after_in_child() {
    FORKED.store(true, Ordering::Relaxed);
    after();
}

/// From now on forks are looked after.
#[expect(unsafe_code, reason = "only the C library knows of a fork before it happens")]
pub(crate) fn look_after() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        // SAFETY: the functions do not unwind; the C library forgets them when this library is unloaded.
        // Without memory for them a fork is as it would be.
        let _ = unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after_in_child)) };
    });
}

/// Whether this process was forked off since the last time this was asked.
pub(crate) fn has_happened() -> bool {
    FORKED.load(Ordering::Relaxed) && FORKED.swap(false, Ordering::Relaxed)
}
