//! Several epochs at a stretch, on trial.
//!
//! While nothing but cores is at work, most epochs end with nothing but stores to words that no
//! other core looks at. So the running cores go ahead one after the other, each for many epochs
//! ([`riscv::ahead`]); if it turns out that one of them loaded or stored what another stored, or did
//! something that concerns a device, everything is taken back and done epoch by epoch. The outcome
//! is the same either way; only the time it takes on the host differs. Some 90 % of the host
//! instructions of a store-heavy loop on five cores are between the epochs, and a chip of 140 tiles
//! does not fit into the host's caches, so that each visit to a tile should do more than a few cycles
//! of work.
//!
//! A tile of a chip may in this way be ahead of the others ([`Tile::venture`]) and has to come back
//! if a message reaches it meanwhile ([`Tile::come_back`]).

use riscv::ahead::TRIAL_CYCLES;
use sim_core::{CoreId, CoreSet, Cycle, Observer, Shortcut};

use crate::bus::Bus;
use crate::plan;
use crate::trials::Trials;

/// Fewer epochs than this are not worth the trouble.
const LEAST_EPOCHS: u64 = 4;
/// Most cycles of a trial by epochs, which keeps each store twice for a while.
const MOST_BY_EPOCHS: u64 = 512;
/// Trials by epochs after one in which the cores were in each other's way.
const ENTANGLED: u32 = 64;

/// Cores that go ahead of what is certain.
pub(crate) struct Ahead<'a, O: Observer + ?Sized> {
    pub(crate) bus: &'a mut Bus<O>,
    pub(crate) trials: &'a mut Trials,
    /// Whether the calling thread runs the cores itself.
    pub(crate) is_inline: bool,
}

impl<O: Observer + ?Sized> Ahead<'_, O> {
    /// Advances the cores `running`, which are all that run, towards `limit`, up to which nothing
    /// else happens. `false`: that is for single epochs. To go epoch by epoch on trial gains
    /// nothing for the tile itself, but it does for a `chip`, which need not come by so often.
    pub(crate) fn run(&mut self, running: CoreSet, limit: Cycle, chip: bool) -> bool {
        let shortcut = if chip { Shortcut::Ventures } else { Shortcut::Trials };
        if !plan::may_try(&self.bus.cores, self.bus.config.shortcuts, shortcut)
            || self.bus.now < self.trials.rest_until
        {
            return false;
        }
        let epoch = self.bus.config.epoch;
        let mut until = limit.min(self.bus.now + self.trials.length);
        let mut is_stale = !self.is_inline;
        for (id, core) in self.bus.cores.iter() {
            if running.contains(id) {
                until = until.min(core.free_until(self.bus.now));
            } else if let Some(spin) = core.spin() {
                is_stale |= spin.watches_devices() && spin.seen() < self.bus.changes.steady_since;
            }
        }
        let until = epoch.round_down(until);
        if is_stale || until < self.bus.now + LEAST_EPOCHS * epoch.cycles() {
            return false;
        }
        self.bus.refresh_watches();
        self.trials.overwritten.clear();
        self.trials.from = self.bus.now;
        self.trials.cores = running;
        let by_epochs = chip && epoch.cycles() <= TRIAL_CYCLES as u64;
        if by_epochs && self.trials.entangled > 0 {
            return self.go_by_epochs(until);
        }
        let reached = self.try_to(until);
        let is_entangled = self.is_entangled();
        if reached == until && !is_entangled {
            self.trials.succeeded();
            return true;
        }
        self.take_back();
        if by_epochs && is_entangled {
            self.trials.entangled = ENTANGLED;
            return self.go_by_epochs(until);
        }
        self.trials.failed(self.bus.now);
        // As far as all of them came they can go.
        let again = reached < until && reached >= self.bus.now + LEAST_EPOCHS * epoch.cycles();
        if !again {
            return false;
        }
        if self.try_to(reached) == reached && !self.is_entangled() {
            return true;
        }
        self.take_back();
        false
    }

    /// A trial for cores that are in each other's way.
    fn go_by_epochs(&mut self, until: Cycle) -> bool {
        self.trials.entangled -= 1;
        let until = until.min(self.bus.now + MOST_BY_EPOCHS);
        for id in CoreId::ALL {
            self.bus.cores[id].begin_trial();
        }
        while self.bus.now < until {
            if !self.try_epoch(self.bus.now + self.bus.config.epoch.cycles()) {
                self.take_back();
                self.trials.failed(self.bus.now);
                return false;
            }
        }
        self.trials.succeeded();
        true
    }

    /// One epoch on trial. `false`: there is more to it than stores that nothing else notices.
    fn try_epoch(&mut self, end: Cycle) -> bool {
        for id in CoreId::ALL {
            let takes_part = self.trials.cores.contains(id);
            if takes_part && !self.bus.cores.run_epoch_ahead(id, end) {
                return false;
            }
        }
        self.bus.now = end;
        self.bus.cores.apply_on_trial(&mut self.trials.overwritten)
    }

    /// Lets the cores go to `until`, or to where the first of them has to stop.
    fn try_to(&mut self, until: Cycle) -> Cycle {
        let mut reached = until;
        for id in CoreId::ALL {
            if self.trials.cores.contains(id) {
                self.bus.cores[id].begin_trial();
                let at = self.bus.cores.run_ahead(id, reached);
                reached = reached.min(self.bus.config.epoch.round_down(at));
            }
        }
        self.bus.now = reached;
        reached
    }

    /// Whether one of the cores may have been in the way of another.
    fn is_entangled(&self) -> bool {
        let took_part = || CoreId::ALL.into_iter().filter(|&id| self.trials.cores.contains(id));
        took_part().any(|id| {
            took_part().any(|other| {
                other != id && self.bus.cores[id].was_disturbed_by(&self.bus.cores[other])
            })
        })
    }

    /// Goes back to where the last trial began.
    pub(crate) fn take_back(&mut self) {
        for (addr, old) in self.trials.overwritten.drain(..).rev() {
            self.bus.cores.l1().set_word(addr, old);
        }
        for id in CoreId::ALL.into_iter().rev() {
            if self.trials.cores.contains(id) {
                self.bus.cores.rewind(id);
            }
        }
        self.bus.now = self.trials.from;
    }
}
