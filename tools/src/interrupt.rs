//! Ctrl-C and its like while a tile runs: the run stops, says how far it came and where everybody stands, and
//! completes its files. A second one ends the program at once.

use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use session::{Positions, SessionError};

use crate::output::{print_plainly, say};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// What is left to do when the process ends at once.
static LAST: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Exit status of a program that Ctrl-C has ended, as shells count [man: bash(1)].
const ENDED: i32 = 128 + 2;

/// From now on SIGINT, SIGTERM and SIGHUP set the flag that is returned; the second one ends the program.
#[must_use]
pub fn heed_interrupts() -> &'static AtomicBool {
    // With another handler in place, that one decides.
    let _ = ctrlc::set_handler(|| {
        let is_second = INTERRUPTED.swap(true, Ordering::SeqCst);
        if let Some(last) = LAST.get() {
            end(last);
        }
        if is_second {
            say("ended at once; files that were being written may lack their end");
            end(&|| {});
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
    process::exit(ENDED);
}

/// Whether the user asked to stop.
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// If an error is that the user asked to stop: says on standard error where everybody stood.
#[must_use]
pub fn told(error: &anyhow::Error) -> bool {
    let stands = error.downcast_ref().and_then(|error: &SessionError| match error {
        SessionError::Stopped(stands) => Some(&**stands),
        _ => None,
    });
    if let Some(stands) = stands {
        tell(stands);
    }
    stands.is_some()
}

fn tell(stands: &Positions) {
    say(&format!("interrupted; {}", stands.to_string().trim_end()));
    print_plainly("nothing was proved: it may still have been at work");
}
