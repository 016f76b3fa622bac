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
//! if a message reaches it meanwhile ([`Tile::settle`]).

use sim_core::engine::Engine;
use sim_core::{CoreId, CoreSet, Cycle, Observer, Shortcut};

use crate::plan;
use crate::schedule::Schedule;
use crate::tile::Tile;

/// Fewer epochs than this are not worth the trouble.
const LEAST_EPOCHS: u64 = 4;
/// Most cycles of a trial by epochs, which keeps each store twice for a while.
const MOST_BY_EPOCHS: u64 = 512;
/// Trials by epochs after one in which the cores were in each other's way.
const ENTANGLED: u32 = 64;
impl<O: Observer + ?Sized> Tile<O> {
    /// [`Tile::venture`]
    pub(crate) fn venture_here(&mut self, limit: Cycle) {
        if self.is_undisturbed() && !self.awaits_answers() && !self.fabric.has_departures() {
            let Schedule { running, alarm } = self.schedule();
            let limit = self.calm_until(alarm.map_or(limit, |alarm| alarm.min(limit)));
            if !running.is_empty() && limit > self.now {
                self.run_ahead(running, limit, true);
            }
        }
    }

    /// [`Tile::settle`]
    pub(crate) fn settle_here(&mut self, now: Cycle) {
        if self.now <= now {
            return;
        }
        debug_assert!(self.trials.from <= now, "{} < {now}", self.trials.from);
        self.take_back();
        self.trials.failed(now);
        self.trials.recalls += 1;
        // It went this way before: no mistake, no message.
        while self.now < now {
            if !self.advance(now) {
                self.now = now;
            }
        }
    }

    /// How often the tile was ahead of the others and had to come back.
    #[must_use]
    pub fn recalls(&self) -> u64 {
        self.trials.recalls
    }

    /// Whether nothing but cores can do anything at present.
    fn is_undisturbed(&self) -> bool {
        self.tensix.is_asleep() && !self.retry_requests && self.faults.is_empty()
    }

    /// Advances the cores `running`, which are all that run, towards `limit`, up to which nobody
    /// else does anything. `false`: that is for single epochs. To go epoch by epoch on trial gains
    /// nothing for the tile itself, but it does for a `chip`, which need not come by so often.
    pub(crate) fn run_ahead(&mut self, running: CoreSet, limit: Cycle, chip: bool) -> bool {
        let shortcut = if chip { Shortcut::Ventures } else { Shortcut::Trials };
        if !plan::may_try::<O>(self.config.shortcuts, shortcut) || self.now < self.trials.rest_until
        {
            return false;
        }
        let epoch = self.config.epoch;
        let mut until = limit.min(self.now + self.trials.length);
        let mut is_stale = !matches!(self.engine, Engine::Inline);
        for (id, core) in self.cores.iter() {
            if running.contains(id) {
                until = until.min(core.free_until(self.now));
            } else if let Some(spin) = core.spin() {
                is_stale |= spin.watches_devices() && spin.seen() < self.devices_steady_since;
            }
        }
        let until = epoch.round_down(until);
        if is_stale || until < self.now + LEAST_EPOCHS * epoch.cycles() {
            return false;
        }
        self.refresh_watches();
        self.trials.overwritten.clear();
        self.trials.from = self.now;
        self.trials.cores = running;
        if chip && self.trials.entangled > 0 {
            return self.go_by_epochs(until);
        }
        let reached = self.try_to(until);
        let is_entangled = self.is_entangled();
        if reached == until && !is_entangled {
            self.trials.succeeded();
            return true;
        }
        self.take_back();
        if chip && is_entangled {
            self.trials.entangled = ENTANGLED;
            return self.go_by_epochs(until);
        }
        self.trials.failed(self.now);
        // As far as all of them came they can go.
        let again = reached < until && reached >= self.now + LEAST_EPOCHS * epoch.cycles();
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
        let until = until.min(self.now + MOST_BY_EPOCHS);
        for id in CoreId::ALL {
            self.cores[id].begin_trial();
        }
        while self.now < until {
            if !self.try_epoch(self.now + self.config.epoch.cycles()) {
                self.take_back();
                self.trials.failed(self.now);
                return false;
            }
        }
        self.trials.succeeded();
        true
    }

    /// One epoch on trial. `false`: there is more to it than stores nobody else notices.
    fn try_epoch(&mut self, end: Cycle) -> bool {
        for id in CoreId::ALL {
            let takes_part = self.trials.cores.contains(id);
            if takes_part && !self.cores[id].run_epoch_ahead(&self.shared, end) {
                return false;
            }
        }
        let mut overwritten = std::mem::take(&mut self.trials.overwritten);
        let done = self.commit_kept(&mut overwritten);
        self.trials.overwritten = overwritten;
        self.now = end;
        done
    }

    /// Lets the cores go to `until`, or to where the first of them has to stop.
    fn try_to(&mut self, until: Cycle) -> Cycle {
        let mut reached = until;
        for id in CoreId::ALL {
            if self.trials.cores.contains(id) {
                self.cores[id].begin_trial();
                let at = self.cores[id].run_ahead(&self.shared, reached);
                reached = reached.min(self.config.epoch.round_down(at));
            }
        }
        self.now = reached;
        reached
    }

    /// Whether one of the cores may have been in the way of another.
    fn is_entangled(&self) -> bool {
        let took_part = || CoreId::ALL.into_iter().filter(|&id| self.trials.cores.contains(id));
        took_part().any(|id| {
            took_part()
                .any(|other| other != id && self.cores[id].was_disturbed_by(&self.cores[other]))
        })
    }

    fn take_back(&mut self) {
        for (addr, old) in self.trials.overwritten.drain(..).rev() {
            self.shared.l1.set_word(addr, old);
        }
        for id in CoreId::ALL.into_iter().rev() {
            if self.trials.cores.contains(id) {
                self.cores[id].rewind(&self.shared.l1);
            }
        }
        self.now = self.trials.from;
    }
}
