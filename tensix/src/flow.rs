//! A thread whose queues do nothing but pass on what its TRISC pushes.
//!
//! That is where kernels of the vector unit spend their cycles: the front instruction issues, what is
//! behind it moves up, another one is pushed. [`Fed::flow`] does such cycles without asking in each what
//! else there might be; the result is that of [`Coprocessor::step`], which a test compares.

use sim_core::observer::{Event, Stamp};
use sim_core::{AgentId, Cycle, GuestError, ThreadId};

use crate::backend::Backend;
use crate::cycle::{execute, expand};
use crate::decode::decode;
use crate::env::Env;
use crate::feed::{Fed, Feed};
use crate::frontend::set::{bit, lone};
use crate::frontend::{Frontend, is_for_expanders};
use crate::plan;
use crate::playback::Attention;
use crate::queue::{Origin, Queued};
use crate::still::Still;
use crate::units::{Fault, Issued};

impl<E: Env> Fed<'_, '_, E> {
    /// The cycles from `from` on, at most up to `until`, in which only one thread does anything and only passes
    /// instructions on. Returns the first cycle that is not done, `from` if there is more to do in it; also one before
    /// which something may have come that `attention` names.
    ///
    /// # Errors
    /// As [`Coprocessor::run`](crate::Coprocessor::run).
    #[inline(always)]
    pub(crate) fn flow(
        &mut self,
        (from, until): (Cycle, Cycle),
        attention: Attention,
    ) -> Result<Cycle, (Cycle, GuestError)> {
        let moving = self.unit.moving();
        let thread = match lone(moving) {
            Some(thread) if from + 1 < until && self.unit.threads[thread.index()].has_plain() => {
                thread
            }
            None if moving == 0 && self.feed.next <= from => {
                self.feed.thread().unwrap_or(ThreadId::T0)
            }
            _ => return Ok(from),
        };
        if self.unit.stopped & bit(thread) != 0
            || !self.unit.threads[thread.index()].passes_on()
            || !plan::flowing(self.unit.timing, &self.unit.backend)
        {
            return Ok(from);
        }
        self.flow_of(thread, (from, until), attention)
    }

    /// [`Fed::flow`] of this thread.
    #[inline(never)]
    fn flow_of(
        &mut self,
        thread: ThreadId,
        (from, until): (Cycle, Cycle),
        attention: Attention,
    ) -> Result<Cycle, (Cycle, GuestError)> {
        let Self { unit, feed, env } = self;
        let is_called = attention.is_any();
        let until = if is_called && unit.came(attention, 0) { from + 1 } else { until };
        let for_idle = attention.is_for_idle(thread);
        let others = (unit.active & !bit(thread) != 0).then_some(&unit.still);
        let frontend = &mut unit.threads[thread.index()];
        let mut flow =
            Flow { frontend, backend: &mut unit.backend, thread, others, is_called, for_idle };
        let (now, flowed) = flow.run((from, until), feed, *env);
        let is_idle = flow.frontend.is_idle();
        unit.active = unit.active & !bit(thread) | if is_idle { 0 } else { bit(thread) };
        unit.asleep = false;
        unit.still.stir(thread);
        unit.still.refresh(&unit.backend);
        flowed.map(|()| now).map_err(|fault| (now, *fault))
    }
}

/// One thread's queues while they do nothing else.
struct Flow<'a> {
    frontend: &'a mut Frontend,
    backend: &'a mut Backend,
    thread: ThreadId,
    /// Threads that wait, if there are any: what they see must not change.
    others: Option<&'a Still>,
    /// Whether somebody has to look when anything but the vector unit was at work.
    is_called: bool,
    /// Whether somebody has to look when the queues are empty.
    for_idle: bool,
}

/// What a cycle begins with.
enum Begun {
    /// An instruction that issues in the cycle in which it is pushed, if it issues: it is in no queue.
    Straight(Queued),
    /// What the queues hold.
    Queues,
    /// There is more to do in it.
    Otherwise,
}

impl Flow<'_> {
    /// Cycles from `now` on. Gives the first that is not done, and what went wrong in the one before it.
    #[inline(always)]
    fn run<E: Env>(
        &mut self,
        (mut now, until): (Cycle, Cycle),
        feed: &mut Feed<'_>,
        env: &mut E,
    ) -> (Cycle, Result<(), Fault>) {
        while now < until {
            let begun = if feed.next <= now { self.take_in(now, feed, env) } else { Begun::Queues };
            let (entry, straight) = match (begun, self.frontend.third.front()) {
                (Begun::Straight(entry), _) => (entry, true),
                (Begun::Queues, Some(&entry)) => (entry, false),
                (Begun::Queues, None) if self.frontend.is_idle() && feed.next < until => {
                    now = feed.next;
                    continue;
                }
                _ => break,
            };
            match self.cycle((entry, straight), now, env) {
                Ok(Some(true)) => now += 1,
                Ok(Some(false)) => return (now + 1, Ok(())),
                Ok(None) => break,
                Err(fault) => return (now + 1, Err(fault)),
            }
        }
        (now, Ok(()))
    }

    /// Takes in what is pushed up to cycle `now`, if there is room for all of it and nobody else pushes.
    #[inline(always)]
    fn take_in<E: Env>(&mut self, now: Cycle, feed: &mut Feed<'_>, env: &mut E) -> Begun {
        let Self { frontend, thread, .. } = self;
        let thread = *thread;
        if feed.others_due(thread, now) {
            return Begun::Otherwise;
        }
        let mut is_clear = frontend.lets_through(now);
        while let Some(store) = feed.due(thread, now) {
            if !frontend.has_room() {
                return Begun::Otherwise;
            }
            let (word, origin) = (store.value, Origin { core: thread.core(), pc: store.pc });
            feed.take(thread);
            let at = Stamp { cycle: store.cycle, agent: AgentId::Core(origin.core), pc: origin.pc };
            env.emit(at, || Event::Push { thread, word, after_mop: false });
            let entry = Queued::pushed(word, origin);
            if is_clear && feed.next > now && !is_for_expanders(word) {
                return Begun::Straight(entry);
            }
            frontend.accept(entry, store.cycle);
            is_clear = false;
        }
        Begun::Queues
    }

    /// A cycle in which an instruction issues, the front one or one that goes straight: whether the next one is like
    /// it. `None`: it does not issue, and nothing has happened.
    #[inline(always)]
    fn cycle<E: Env>(
        &mut self,
        (entry, straight): (Queued, bool),
        now: Cycle,
        env: &mut E,
    ) -> Result<Option<bool>, Fault> {
        let Self { frontend, backend, thread, others, is_called, for_idle } = self;
        let thread = *thread;
        let accepted = decode(entry.word())
            .filter(|decoded| backend.accepts(decoded, entry.word(), thread, now));
        let Some(decoded) = accepted else {
            if straight {
                frontend.accept(entry, now);
            }
            return Ok(None);
        };
        if straight {
            frontend.trisc_mux = now;
        } else {
            frontend.third.drop_front();
            frontend.untrack(&entry);
        }
        let issued = Issued::new(&entry, thread, now);
        execute(backend, &mut frontend.gate, decoded, (&issued, entry.slot()), env)?;
        let mut goes_on = straight || frontend.pass_on(now);
        if !goes_on {
            expand(frontend, backend, thread, now)?;
        }
        if decoded.stirs {
            if backend.vector.is_active() {
                backend.finish_vector_cycle(now)?;
            }
            goes_on &=
                frontend.gate.latch.is_none() && !backend.acts_by_itself() && !env.wants_control();
        }
        if Still::minds(decoded.unit) {
            let hold = |still: &Still| still.holds(backend) && backend.waits_by_sight();
            goes_on &= !*is_called && others.is_none_or(hold);
        }
        goes_on &= !*for_idle || !frontend.third.is_empty();
        Ok(Some(goes_on))
    }
}
