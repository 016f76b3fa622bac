//! Instructions that TRISCs push while the coprocessor advances, each in its cycle.

use sim_core::observer::{Event, Stamp};
use sim_core::{AgentId, Cycle, GuestError, Store, ThreadId};

use crate::coprocessor::Coprocessor;
use crate::cycle::execute;
use crate::env::Env;
use crate::frontend::set::bit;
use crate::plan;
use crate::playback::Attention;
use crate::queue::{Origin, Queued};
use crate::still::Still;
use crate::units::{Fault, Issued};

/// A cycle that does not come.
const NEVER: Cycle = Cycle(u64::MAX);

/// What TRISCs push into their own threads from some cycle on.
#[derive(Clone, Copy, Debug)]
pub struct Feed<'a> {
    /// By thread, and of each thread by cycles.
    stores: [&'a [Store]; 3],
    /// The cycle of the first of them.
    next: Cycle,
}

impl<'a> Feed<'a> {
    /// Nothing.
    #[must_use]
    #[inline]
    pub fn none() -> Self {
        Self { stores: [&[]; 3], next: NEVER }
    }

    /// Stores of TRISC0 to TRISC2 into their own threads, those of each in program order.
    #[must_use]
    #[inline]
    pub fn new(stores: [&'a [Store]; 3]) -> Self {
        let mut feed = Self { stores, next: NEVER };
        feed.next = feed.first();
        feed
    }

    /// How many of a thread's have not been taken.
    #[must_use]
    #[inline]
    pub fn left(&self, thread: ThreadId) -> usize {
        self.stores[thread.index()].len()
    }

    /// The only one that comes in a cycle, its thread, and what is left without it.
    #[inline]
    fn single(&self, cycle: Cycle) -> Option<(ThreadId, &'a Store, Self)> {
        let due = |store: &&Store| store.cycle == cycle;
        let first = |thread: ThreadId| self.stores[thread.index()].first().filter(due);
        let (thread, store) =
            ThreadId::ALL.into_iter().find_map(|thread| Some((thread, first(thread)?)))?;
        let mut stores = self.stores;
        stores[thread.index()] = &stores[thread.index()][1..];
        let rest = Self::new(stores);
        (rest.next > cycle).then_some((thread, store, rest))
    }

    #[inline]
    fn first(&self) -> Cycle {
        let cycle = |stores: &[Store]| stores.first().map_or(NEVER, |store| store.cycle);
        let [first, second, third] = self.stores;
        cycle(first).min(cycle(second)).min(cycle(third))
    }
}

/// The coprocessor while it is fed.
pub(crate) struct Fed<'a, 's, E> {
    pub(crate) unit: &'a mut Coprocessor,
    pub(crate) feed: &'a mut Feed<'s>,
    pub(crate) env: &'a mut E,
}

impl<E: Env> Fed<'_, '_, E> {
    /// [`Coprocessor::run_fed`]
    #[inline]
    pub(crate) fn run(
        &mut self,
        (from, until): (Cycle, Cycle),
        attention: Attention,
    ) -> Result<Cycle, (Cycle, GuestError)> {
        let (mut now, config) = (from, self.unit.config_generation());
        self.unit.still.refresh(&self.unit.backend);
        while now < until {
            let still = self.unit.still.threads();
            if self.unit.asleep && self.feed.next > now {
                if self.feed.next >= until {
                    return Ok(now);
                }
                now = self.feed.next;
            }
            // What moves already has to be stepped.
            if self.feed.next <= now && self.unit.moving() == 0 && self.issue_straight(now)? {
                now += 1;
            } else {
                if self.feed.next <= now && !self.take_in(now)? {
                    break;
                }
                now = self.unit.advance(now, until.min(self.feed.next), self.env)?;
            }
            let is_called = attention.is_any()
                && (self.unit.came(attention, still) || self.unit.config_generation() != config);
            if is_called || self.env.wants_control() {
                break;
            }
        }
        // Whoever is called has to look at the next cycle, whether anything goes on in it or not.
        self.unit.asleep &= now >= until;
        Ok(now)
    }

    /// Has an instruction issue in the cycle `now` in which it is pushed, if it finds its thread's queues empty, no
    /// other thread moves, and nothing else happens in that cycle. `false`: it is not so, and nothing has happened.
    #[inline]
    fn issue_straight(&mut self, now: Cycle) -> Result<bool, (Cycle, GuestError)> {
        let Self { unit, feed, env } = self;
        let Some((thread, store, rest)) = feed.single(now) else { return Ok(false) };
        let (frontend, backend) = (&mut unit.threads[thread.index()], &mut unit.backend);
        let Some(decoded) = plan::straight(store.value, unit.timing, backend) else {
            return Ok(false);
        };
        if unit.stopped & bit(thread) != 0
            || !frontend.lets_through(now)
            || !backend.accepts(decoded, store.value, thread, now)
        {
            return Ok(false);
        }
        **feed = rest;
        let (word, origin) = (store.value, Origin { core: thread.core(), pc: store.pc });
        let at = Stamp { cycle: now, agent: AgentId::Core(origin.core), pc: origin.pc };
        env.emit(at, || Event::Push { thread, word, after_mop: false });
        frontend.trisc_mux = now;
        unit.asleep = false;
        unit.active |= bit(thread);
        unit.still.stir(thread);
        let entry = Queued::pushed(word, origin);
        let issued = Issued::new(&entry, thread, now);
        let failed = |fault: Fault| (now + 1, *fault);
        execute(backend, &mut frontend.gate, decoded, (&issued, entry.slot()), *env)
            .map_err(failed)?;
        if Still::minds(decoded.unit) {
            unit.still.refresh(backend);
        }
        if frontend.gate.latch.is_none() {
            unit.active &= !bit(thread);
        }
        if backend.vector.is_active() {
            backend.finish_vector_cycle(now).map_err(failed)?;
        }
        Ok(true)
    }

    /// Takes in what is pushed up to cycle `now`. `false`: there was no room for something, which is left with what
    /// comes after it.
    #[inline]
    fn take_in(&mut self, now: Cycle) -> Result<bool, (Cycle, GuestError)> {
        let Self { unit, feed, env } = self;
        for thread in ThreadId::ALL {
            let stores = &mut feed.stores[thread.index()];
            while let Some((store, rest)) = stores.split_first()
                && store.cycle <= now
            {
                if !unit.threads[thread.index()].has_room() {
                    return Ok(false);
                }
                *stores = rest;
                let origin = Origin { core: thread.core(), pc: store.pc };
                unit.push(thread, false, store.value, origin, store.cycle, *env)
                    .map_err(|fault| (now, fault))?;
            }
        }
        feed.next = feed.first();
        Ok(true)
    }
}
