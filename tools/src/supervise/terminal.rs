//! Who may read from the terminal: this process, until its program asks.

use std::fs::File;

use nix::sys::signal::{SigSet, Signal, raise};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// The terminal that this process was started on, if there is one.
#[derive(Debug)]
pub(super) struct Terminal {
    device: Option<File>,
    lent: bool,
}

impl Terminal {
    pub(super) fn of_this_process() -> Self {
        let device = File::options().read(true).write(true).open("/dev/tty").ok();
        Self { device, lent: false }
    }

    pub(super) fn is_lent(&self) -> bool {
        self.lent
    }

    /// Lets a group read from the terminal: from now on Ctrl-C goes there. Whoever has not got the
    /// terminal stops here until the shell gives it.
    pub(super) fn lend(&mut self, group: Pid) {
        let Some(device) = &self.device else { return };
        if tcgetpgrp(device) == Ok(getpgrp()) {
            self.lent = hand_over(device, group);
        } else if !self.lent {
            stop_this_process();
            // Otherwise it was continued in the background, and the program will ask again.
            self.lent = tcgetpgrp(device) == Ok(getpgrp()) && hand_over(device, group);
        }
    }

    pub(super) fn take_back(&mut self) {
        if let Some(device) = self.device.as_ref().filter(|_| self.lent) {
            hand_over(device, getpgrp());
        }
        self.lent = false;
    }
}

/// Whether the terminal is that group's now.
fn hand_over(device: &File, group: Pid) -> bool {
    // To take it back from the background is a reason to be stopped unless that signal is blocked
    // [man: tcsetpgrp(3)].
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGTTOU);
    let blocked = mask.thread_block().is_ok();
    let done = tcsetpgrp(device, group).is_ok();
    if blocked {
        // It was not blocked before: nothing in this program does that.
        let _ = mask.thread_unblock();
    }
    done
}

/// Stops until somebody sends SIGCONT.
pub(super) fn stop_this_process() {
    // There is no way for it to fail, and nothing to be done if there were.
    let _ = raise(Signal::SIGSTOP);
}
