//! Ctrl-C and its like while a tile runs: the run stops, says how far it came, and completes its
//! files.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// What is left to do when the process ends at once.
static LAST: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Exit status of a process that an interrupt ends, by the custom of shells.
const ENDED: i32 = 130;

/// From now on SIGINT, SIGTERM and SIGHUP set the flag that is returned, and nothing else.
#[must_use]
pub fn heed_interrupts() -> &'static AtomicBool {
    // With another handler in place, that one decides.
    let _ = ctrlc::set_handler(|| {
        INTERRUPTED.store(true, Ordering::SeqCst);
        if let Some(last) = LAST.get() {
            end(last);
        }
    });
    &INTERRUPTED
}

/// From now on they end the process, after `last` is done.
pub fn end_at_interrupt(last: impl Fn() + Send + Sync + 'static) {
    let _ = LAST.set(Box::new(last));
    let _ = heed_interrupts();
    // It may have come before anybody could hear it.
    if let Some(last) = LAST.get().filter(|_| interrupted()) {
        end(last);
    }
}

/// Ends the process: whoever serves clients waits for the next one where nobody can tell it otherwise.
#[expect(clippy::exit, reason = "a wait for a client cannot be given up")]
fn end(last: &(dyn Fn() + Send + Sync)) -> ! {
    last();
    std::process::exit(ENDED);
}

/// Whether the user asked to stop.
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}
