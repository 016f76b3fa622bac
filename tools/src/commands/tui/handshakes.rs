//! A plan on the screen: carried out step by step, with the last handshakes in words.

use std::rc::Rc;

use anyhow::Result;
use loader::firmware::FirmwareSet;
use loader::names::LoadedNames;
use loader::plan::Launch;
use observe::DEFAULT_L1;
use sim_core::{Event, Observer, Stamp};
use tile::TileConfig;

use super::lines::Lines;
use super::screen::Model;
use super::stepper::Stepper;
use super::view::{View, view};

/// What a plan on the screen listens with.
pub(super) struct Handshakes {
    names: Rc<LoadedNames>,
    lines: Lines,
}

impl Observer for Handshakes {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        self.lines.take(stamp, event, &*self.names);
    }

    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![DEFAULT_L1]
    }
}

impl Stepper<Handshakes> {
    pub(super) fn new(
        config: TileConfig,
        set: &FirmwareSet,
        logical: (u8, u8),
        launches: Vec<Launch>,
    ) -> Result<Self> {
        Self::watched(config, set, logical, launches, |names| Handshakes {
            names,
            lines: Lines::default(),
        })
    }

    fn tape_count(&self) -> u64 {
        self.tile().observer().lines.count
    }
}

impl Model for Stepper<Handshakes> {
    fn picture(&mut self) -> View {
        view(self.tile(), &self.names, self.buffers())
    }

    fn status(&self) -> String {
        self.status.clone()
    }

    fn events(&mut self) -> Vec<String> {
        self.tile().observer().lines.all()
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
