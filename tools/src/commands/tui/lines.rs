//! The last handshakes in words, kept for the screen.

use std::collections::VecDeque;

use observe::{Names, describe};
use sim_core::{Event, Stamp};

/// Events kept for the screen.
const KEPT: usize = 200;

/// The last handshakes, in words.
#[derive(Default, Debug)]
pub(super) struct Lines {
    lines: VecDeque<String>,
    /// Events since power-on, pushes and issues left out.
    pub(super) count: u64,
}

impl Lines {
    /// Takes an event in, if it is one that people follow a protocol by.
    pub(super) fn take(&mut self, stamp: Stamp, event: &Event, names: &dyn Names) {
        if matches!(
            event,
            Event::Push { .. }
                | Event::Issue { .. }
                | Event::UnitDone { .. }
                | Event::DeviceStore { .. }
                | Event::WaitEnd { .. }
        ) {
            return;
        }
        let Some(line) = describe(stamp, event, names) else { return };
        self.count += 1;
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(format!("{:>8} {line}", stamp.cycle.0));
    }

    /// All that are kept, the oldest first.
    pub(super) fn all(&self) -> Vec<String> {
        self.lines.iter().cloned().collect()
    }
}
