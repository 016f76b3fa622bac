//! Instructions that TRISCs push while the coprocessor advances, each in its cycle.

use sim_core::{Cycle, GuestError, Store, ThreadId};

use crate::coprocessor::Coprocessor;
use crate::env::Env;
use crate::playback::Attention;
use crate::queue::Origin;

/// A cycle that does not come.
const NEVER: Cycle = Cycle(u64::MAX);

/// What TRISCs push into their own threads from some cycle on.
#[derive(Clone, Copy, Debug)]
pub struct Feed<'a> {
    /// By thread, and of each thread by cycles.
    stores: [&'a [Store]; 3],
    /// The cycle of the first of them.
    pub(crate) next: Cycle,
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

    /// The thread into which the first of them is pushed, the lowest if there are several.
    #[inline]
    pub(crate) fn thread(&self) -> Option<ThreadId> {
        let is_first = |thread: &ThreadId| {
            self.stores[thread.index()].first().is_some_and(|store| store.cycle == self.next)
        };
        ThreadId::ALL.into_iter().find(is_first)
    }

    /// The next of one thread, unless it comes after `cycle`.
    #[inline]
    pub(crate) fn due(&self, thread: ThreadId, cycle: Cycle) -> Option<&'a Store> {
        self.stores[thread.index()].first().filter(|store| store.cycle <= cycle)
    }

    /// Whether another thread than this has one that comes no later than `cycle`.
    #[inline]
    pub(crate) fn others_due(&self, thread: ThreadId, cycle: Cycle) -> bool {
        ThreadId::ALL.into_iter().any(|other| other != thread && self.due(other, cycle).is_some())
    }

    /// The next of one thread, which there is, is taken.
    #[inline]
    pub(crate) fn take(&mut self, thread: ThreadId) {
        let stores = &mut self.stores[thread.index()];
        *stores = &stores[1..];
        self.next = self.first();
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
            let flowed = self.flow((now, until), attention)?;
            if flowed != now {
                now = flowed;
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
