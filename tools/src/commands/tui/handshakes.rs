//! A plan on the screen: carried out step by step, with the last handshakes in words.

use std::collections::VecDeque;
use std::rc::Rc;

use anyhow::Result;
use loader::firmware::FirmwareSet;
use loader::names::LoadedNames;
use loader::plan::Launch;
use observe::{DEFAULT_L1, describe};
use sim_core::{Event, Observer, Stamp};
use tile::TileConfig;

use super::screen::Model;
use super::stepper::Stepper;
use super::view::{View, view};

/// Events kept for the screen.
const KEPT: usize = 200;

/// The last handshakes, in words.
pub(super) struct Tape {
    names: Rc<LoadedNames>,
    pub(super) lines: VecDeque<String>,
    /// Events since power-on, pushes and issues left out.
    pub(super) count: u64,
}

impl Observer for Tape {
    fn event(&mut self, stamp: Stamp, event: &Event) {
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
        let Some(line) = describe(stamp, event, &self.names) else { return };
        self.count += 1;
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(format!("{:>8} {line}", stamp.cycle.0));
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![DEFAULT_L1]
    }
}

impl Stepper<Tape> {
    pub(super) fn new(
        config: TileConfig,
        set: &FirmwareSet,
        logical: (u8, u8),
        launches: Vec<Launch>,
    ) -> Result<Self> {
        Self::watched(config, set, logical, launches, |names| Tape {
            names,
            lines: VecDeque::new(),
            count: 0,
        })
    }

    fn tape_count(&self) -> u64 {
        self.tile().observer().count
    }
}

impl Model for Stepper<Tape> {
    fn picture(&mut self) -> View {
        view(self.tile(), &self.names, self.buffers())
    }

    fn status(&self) -> String {
        self.status.clone()
    }

    fn events(&mut self) -> Vec<String> {
        self.tile().observer().lines.iter().cloned().collect()
    }

    fn step(&self) -> u64 {
        self.tile().config().epoch.cycles()
    }

    fn advance(&mut self, cycles: u64) -> Result<bool> {
        self.go_on(cycles)
    }

    /// Goes on to the next handshake; gives whether there was one within that many cycles.
    fn advance_to_event(&mut self, cycles: u64) -> Result<bool> {
        let (before, epoch) = (self.tape_count(), self.tile().config().epoch.cycles());
        let limit = self.tile().now().0.saturating_add(cycles);
        while self.tile().now().0 < limit {
            if !self.go_on(epoch)? || self.tape_count() != before {
                break;
            }
        }
        Ok(self.tape_count() != before)
    }
}
