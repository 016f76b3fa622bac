//! Ctrl-C and its like while a tile runs: the run stops, says how far it came, and completes its
//! files.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on SIGINT, SIGTERM and SIGHUP set the flag that is returned, and nothing else.
#[must_use]
pub fn heed_interrupts() -> &'static AtomicBool {
    // With another handler in place, that one decides.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst));
    &INTERRUPTED
}

/// Whether the user asked to stop.
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}
