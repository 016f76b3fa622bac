//! The signals that this process gets while it supervises, and a sleep that they end.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::sys::signal::Signal;
use signal_hook::SigId;
use signal_hook::iterator::Signals;
use signal_hook::low_level::{pipe, unregister};

/// Signals that ask a process to end or to stop.
const ASKING: [Signal; 5] =
    [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGTSTP];

/// What has come and was not answered yet.
#[derive(Debug)]
pub(super) struct Inbox {
    signals: Signals,
    /// Has a byte for each signal, the end of the program among them.
    wake: UnixStream,
    registered: Vec<SigId>,
}

impl Inbox {
    pub(super) fn open() -> io::Result<Self> {
        let (wake, bell) = UnixStream::pair()?;
        // What `nohup` and shells have switched off stays so.
        let ignored = ignored();
        let asking = ASKING.into_iter().filter(|&signal| ignored >> (signal as u64 - 1) & 1 == 0);
        let asking: Vec<i32> = asking.map(|signal| signal as i32).collect();
        let mut inbox = Self { signals: Signals::new(&asking)?, wake, registered: Vec::new() };
        for signal in asking.into_iter().chain([Signal::SIGCHLD as i32]) {
            inbox.registered.push(pipe::register(signal, bell.try_clone()?)?);
        }
        Ok(inbox)
    }

    /// What has come since it was last asked for.
    pub(super) fn take(&mut self) -> Vec<Signal> {
        self.signals.pending().filter_map(|number| Signal::try_from(number).ok()).collect()
    }

    /// Sleeps so long, or until something comes.
    pub(super) fn sleep(&mut self, time: Duration) {
        // A time-out of zero would mean none at all.
        let time = time.max(Duration::from_millis(1));
        if self.wake.set_read_timeout(Some(time)).is_ok() {
            // Whether a byte came or the time is up makes no difference.
            let _ = self.wake.read(&mut [0; 64]);
        }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            unregister(id);
        }
    }
}

/// The mask of ignored signals, bit 0 for signal 1 [man: proc_pid_status(5)]; none where the system
/// does not say.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
