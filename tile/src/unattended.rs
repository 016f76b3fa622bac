//! Epochs in which nothing needs the tile's attention: the coprocessor works, and of the cores at
//! most one executes, which does nothing to others but push instructions.
//!
//! A kernel that pushes `REPLAY` or `MOP` is in such epochs nearly always. It waits for room in an
//! instruction FIFO most of the time, and every now and then pushes the next one. The invariants:
//!
//! * all other cores wait for room in an instruction FIFO, are parked on L1, doze, or are in reset, or they wait for an
//!   answer that only other cores can give, or the coprocessor with a thread that has nothing in flight any more;
//! * nothing arrives over the NoC, and no debugger asks for anything;
//! * so everything that [`crate::Tile`] and [`Commit`] look at stays as it is, but for the
//!   coprocessor, the pushing core, and how much room the FIFOs have.
//!
//! What an epoch does then is one call of the core and one or a few of the coprocessor. The epochs end
//! where they would; the first one with anything else in it is committed like any other. That the
//! result is the same is tested against an observed tile, where cores only wait here
//! (`tile/tests/unattended.rs`).

use riscv::Status;
use sim_core::{CoreId, CoreSet, Cycle, Observer, Shortcut, Store, ThreadId};
use tensix::{Attention, Origin};

use crate::bus::Bus;
use crate::commit::Commit;
use crate::plan;
use crate::tensix_env::Pushes;

/// Pushes into full FIFOs that cores are waiting to do, as pairs of thread and side of the mux:
/// bit *i* is thread *i* before its MOP expander, bit *4 + i* behind it.
pub(crate) type Blocked = u8;

/// What the cores do in such an epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// The core that executes.
    pushing: Option<CoreId>,
    /// Pushes that others wait for.
    blocked: Blocked,
    /// Those that wait for answers,
    waiting: CoreSet,
    /// and for what the coprocessor stops on their behalf.
    attention: Attention,
    /// Who executes or waits for that: no other core changes in these epochs.
    pushers: CoreSet,
}

impl Standing {
    const NONE: Self = Self {
        pushing: None,
        blocked: 0,
        waiting: CoreSet::EMPTY,
        attention: Attention::NONE,
        pushers: CoreSet::EMPTY,
    };

    /// Adds a core that executes or waits for room. `false`: it is one too many.
    #[inline]
    fn add(&mut self, id: CoreId, status: &Status) -> bool {
        self.pushers.insert(id);
        match status {
            Status::PushBlocked(window) => {
                self.blocked |= match id.thread() {
                    Some(thread) => 1 << thread as u8,
                    None => 0x10 << *window,
                };
                true
            }
            Status::Running => self.pushing.replace(id).is_none(),
            _ => false,
        }
    }

    /// Whether the next epoch may be one of these: what the cores do in it.
    pub(crate) fn of<O: Observer + ?Sized>(bus: &Bus<O>) -> Option<Self> {
        let mut standing = Self::NONE;
        for (id, core) in bus.cores.iter() {
            if core.batch.fault.is_some() {
                return None;
            }
            if core.batch.request.is_some() {
                if bus.changes.settled != Some(bus.now) || !bus.takes(Shortcut::PatientRequests) {
                    return None;
                }
                standing.attention |= bus.keeps_waiting(id)?;
                standing.waiting.insert(id);
                continue;
            }
            match core.status() {
                Status::Reset => {}
                Status::Parked(spin) if !spin.watches_devices() || spin.is_dozing() => {}
                status if standing.add(id, status) => {}
                _ => return None,
            }
        }
        let is_busy = bus.tensix.unit.watched_l1().is_some() || !bus.debug_queue.is_empty();
        (!is_busy && plan::may_leave_alone::<O>(standing.pushing.is_some())).then_some(standing)
    }
}

/// Epochs up to a limit in which nothing needs the tile's attention.
pub(crate) struct Unattended<'a, O: Observer + ?Sized> {
    pub(crate) bus: &'a mut Bus<O>,
    pub(crate) limit: Cycle,
}

impl<O: Observer + ?Sized> Unattended<'_, O> {
    /// Whether the epoch after such a one may be one, too: what the cores do in it, told how much room there is.
    fn still(&mut self, before: Standing) -> Option<Standing> {
        let mut standing = Standing { waiting: before.waiting, ..Standing::NONE };
        for id in before.waiting.iter() {
            standing.attention |= self.bus.keeps_waiting(id)?;
        }
        for id in before.pushers.iter() {
            self.bus.tensix.grant_push(&mut self.bus.cores, id, self.bus.now);
            if !standing.add(id, self.bus.cores[id].status()) {
                return None;
            }
        }
        plan::may_leave_alone::<O>(standing.pushing.is_some()).then_some(standing)
    }

    /// Advances epoch by epoch, to the limit or until others have to look at what happened. At least
    /// one epoch, for which [`Standing::of`] has given `standing`.
    pub(crate) fn run(&mut self, mut standing: Standing) {
        self.bus.refresh_watches();
        loop {
            let goes_on = match standing.pushing {
                Some(core) => self.feed(core, standing),
                None => self.wait_for_room(standing),
            };
            if !goes_on || self.bus.now >= self.limit {
                return;
            }
            match self.still(standing) {
                Some(next) => standing = next,
                None => return,
            }
        }
    }

    /// Epochs in which no core executes, until one has room to push. `false`: others have to look.
    fn wait_for_room(&mut self, standing: Standing) -> bool {
        while self.bus.now < self.limit && !self.has_room_for(standing.blocked) {
            let until = self.first_room(self.bus.now, self.bus.now).min(self.limit);
            if !self.wait_until(self.bus.now, until, standing.attention) {
                return false;
            }
            if !self.all_wait(standing) {
                return false;
            }
        }
        true
    }

    /// Whether all that waited for answers still do.
    fn all_wait(&self, standing: Standing) -> bool {
        standing.waiting.iter().all(|id| self.bus.keeps_waiting(id).is_some())
    }

    /// The first end of an epoch, of which `end` is one, at which there may be more room in a FIFO
    /// than at `cycle`, to which the coprocessor has come. Epochs until then are as good as one.
    fn first_room(&self, cycle: Cycle, end: Cycle) -> Cycle {
        let epoch = self.bus.config.epoch.cycles();
        let certain = cycle + self.bus.tensix.unit.cycles_without_room();
        if certain < end { end } else { end + ((certain.0 - end.0) / epoch + 1) * epoch }
    }

    /// The coprocessor alone, from `cycle` to `until`. `false`: others have to look.
    fn wait_until(&mut self, cycle: Cycle, until: Cycle, attention: Attention) -> bool {
        let (next, noticed) = self.bus.run_tensix_for(cycle, until, attention);
        let is_called = next < until && !self.bus.tensix.unit.is_asleep();
        self.come_to(next, noticed || is_called)
    }

    /// The coprocessor has come to `next` on its own. `is_called`: others have to look now. `false`: they have to,
    /// at the end of the epoch at the latest.
    fn come_to(&mut self, next: Cycle, is_called: bool) -> bool {
        self.note_reached(next);
        if is_called || self.bus.tensix.unit.watched_l1().is_some() {
            // The rest of the epoch, and what has to be done at its end.
            Commit::new(self.bus, next, self.bus.config.epoch.round_up(next)).apply();
            return false;
        }
        self.bus.now = next;
        self.bus.changes.settled = Some(next);
        if self.bus.tensix.unit.is_asleep() {
            self.bus.cores.wake_dozers(next, next);
            CoreId::ALL.into_iter().for_each(|id| self.bus.cores[id].allow_parking());
            return false;
        }
        true
    }

    /// An epoch in which `id` executes, and those after it in which it only waits for room with the
    /// others, who are `blocked`. `false`: others have to look.
    fn feed(&mut self, id: CoreId, standing: Standing) -> bool {
        let Standing { blocked, attention, .. } = standing;
        let (start, end) = (self.bus.now, self.bus.now + self.bus.config.epoch.cycles());
        self.bus.cores.run(id, end);
        if !self.bus.cores[id].only_pushed() {
            Commit::new(self.bus, start, end).apply();
            return false;
        }
        let reached = match id.thread() {
            Some(thread) if self.bus.takes(Shortcut::FedPushes) => {
                let mut pushes = Pushes::default();
                pushes[thread.index()] = 0..self.bus.cores[id].batch.stores.len();
                let (next, noticed) = self.bus.run_tensix_fed((start, end), attention, &mut pushes);
                let is_called = noticed || next < end && !self.bus.tensix.unit.is_asleep();
                self.hand_back(id, pushes[thread.index()].start, (next, end), is_called, standing)
            }
            _ => self.push_one_by_one(id, (start, end), standing),
        };
        let Some(cycle) = reached else { return false };
        self.bus.track_push_block(id, end);
        self.bus.cores[id].clear_posted();
        let mut waiting = Standing { blocked, ..Standing::NONE };
        waiting.add(id, self.bus.cores[id].status());
        let waits = waiting.pushing.is_none()
            && self.bus.stops.no_faults()
            && !self.has_room_for(waiting.blocked);
        let until = if waits { self.first_room(cycle, end).min(self.limit) } else { end };
        let goes_on = if until > cycle {
            self.wait_until(cycle, until, attention)
        } else {
            self.come_to(cycle, false)
        };
        goes_on && self.bus.stops.no_faults()
    }

    /// What a core has pushed in an epoch up to the last of it, each when the coprocessor has come to its cycle. Gives
    /// the cycle of the last. `None`: others have to look, and have.
    fn push_one_by_one(
        &mut self,
        id: CoreId,
        (start, end): (Cycle, Cycle),
        standing: Standing,
    ) -> Option<Cycle> {
        let (mut cycle, mut pushed) = (start, 0);
        while let Some(&push) = self.bus.cores[id].batch.stores.get(pushed) {
            if push.cycle > cycle {
                let until = push.cycle;
                let (next, noticed) = self.bus.run_tensix_for(cycle, until, standing.attention);
                let is_called = noticed || next < until;
                cycle = self.hand_back(id, pushed, (next, end), is_called, standing)?;
            }
            self.apply_push(id, &push);
            pushed += 1;
        }
        Some(cycle)
    }

    /// The coprocessor has come to `next` in an epoch with so many of a core's pushes. `None`: others have to look, and
    /// have: the rest is more than pushes.
    fn hand_back(
        &mut self,
        id: CoreId,
        pushed: usize,
        (next, end): (Cycle, Cycle),
        is_called: bool,
        standing: Standing,
    ) -> Option<Cycle> {
        self.note_reached(next);
        let is_called = is_called || !self.all_wait(standing);
        if !is_called && self.bus.tensix.unit.watched_l1().is_none() {
            return Some(next);
        }
        let batch = &mut self.bus.cores[id].batch;
        batch.stores.drain(..pushed);
        batch.device_stores = batch.stores.len() as u32;
        Commit::new(self.bus, next, end).apply();
        None
    }

    /// A store of [`riscv::Core::only_pushed`]: what it does is known without looking up its address.
    fn apply_push(&mut self, id: CoreId, store: &Store) {
        let window = self.bus.cores[id].push_window(store.addr).unwrap_or(0);
        let (thread, after_mop) = match id.thread() {
            Some(thread) => (thread, false),
            None => (ThreadId::ALL[window as usize % ThreadId::ALL.len()], true),
        };
        self.bus.changes.this_cycle = true;
        let origin = Origin { core: id, pc: store.pc };
        if let Err(error) = self.bus.push((thread, after_mop), store.value, origin, store.cycle) {
            self.bus.report(error);
        }
    }

    /// Notes that the coprocessor has come to `next`.
    #[inline]
    fn note_reached(&mut self, next: Cycle) {
        self.bus.changes.steady_since = next;
        self.bus.changes.retry = self.bus.changes.this_cycle && self.bus.cores.anybody_waits();
        self.bus.tensix.credits_stale = true;
    }

    /// Whether any of the FIFOs that cores wait for takes an instruction.
    fn has_room_for(&self, mut blocked: Blocked) -> bool {
        while blocked != 0 {
            let bit = blocked.trailing_zeros() as usize;
            let thread = ThreadId::ALL[(bit & 3) % ThreadId::ALL.len()];
            if self.bus.tensix.unit.push_credit(thread, bit > 3) > 0 {
                return true;
            }
            blocked &= blocked - 1;
        }
        false
    }
}
