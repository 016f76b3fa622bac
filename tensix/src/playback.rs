//! A thread that plays its replay buffer to a coprocessor which does nothing else.
//!
//! That is where kernels spend most of their cycles, and each of these cycles is alike: the front
//! instruction issues and the next one of the buffer takes its place. [`Coprocessor::play`] does
//! them without asking in each what else there might be; the result is that of
//! [`Coprocessor::step`], which a test compares.

use sim_core::{Cycle, GuestError, Shortcuts, ThreadId};

use crate::backend::Backend;
use crate::checks::Warned;
use crate::coprocessor::Coprocessor;
use crate::cycle::{end_wait, execute, expand};
use crate::decode::decode;
use crate::env::Env;
use crate::feed::{Fed, Feed};
use crate::frontend::Frontend;
use crate::frontend::replay::{Mode, SLOTS};
use crate::frontend::set::{ThreadSet, bit, lone};
use crate::plan;
use crate::queue::{Origin, Queued};
use crate::still::Still;
use crate::units::{Fault, Issued};

/// What others wait for that the coprocessor does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Attention {
    /// That a thread that [stood still](Coprocessor::stands_still) may go on: in the cycle before.
    stirring: bool,
    /// That one of these threads has nothing in flight any more.
    idle: ThreadSet,
}

impl Attention {
    /// Nothing.
    pub const NONE: Self = Self { stirring: false, idle: 0 };
    /// That a thread may go on that stood still.
    pub const STIRRING: Self = Self { stirring: true, idle: 0 };

    /// That a thread has nothing in flight any more ([`Coprocessor::thread_idle`]).
    #[must_use]
    pub const fn idle(thread: ThreadId) -> Self {
        Self { stirring: false, idle: bit(thread) }
    }

    #[inline]
    pub(crate) const fn is_any(self) -> bool {
        self.stirring || self.idle != 0
    }

    /// Whether it names [`Attention::idle`] of this thread.
    #[inline]
    pub(crate) const fn is_for_idle(self, thread: ThreadId) -> bool {
        self.idle & bit(thread) != 0
    }
}

impl std::ops::BitOrAssign for Attention {
    fn bitor_assign(&mut self, other: Self) {
        self.stirring |= other.stirring;
        self.idle |= other.idle;
    }
}

impl Coprocessor {
    /// Takes these ways to the same result from now on, and no others.
    pub fn set_shortcuts(&mut self, shortcuts: Shortcuts) {
        self.backend.take_shortcuts(shortcuts);
        self.still = Still::default();
    }

    /// Advances from cycle `from` up to `until`, as long as the environment has nothing to do in
    /// between ([`Env::wants_control`]) and there is something to step. Returns the first cycle
    /// that was not stepped; it is below `until` too if the coprocessor fell asleep.
    ///
    /// # Errors
    /// As [`Coprocessor::step`], with the first cycle that was not stepped.
    #[inline]
    pub fn run<E: Env>(
        &mut self,
        from: Cycle,
        until: Cycle,
        env: &mut E,
    ) -> Result<Cycle, (Cycle, GuestError)> {
        self.run_fed((from, until), Attention::NONE, &mut Feed::none(), env)
    }

    /// As [`Coprocessor::run`], with what is pushed before `until`, and up to the cycle in which something comes that
    /// `attention` names. It also returns before a cycle in which a FIFO has no room for what is pushed: whoever pushes
    /// that has to be told.
    ///
    /// # Errors
    /// As [`Coprocessor::run`].
    #[inline(never)]
    pub fn run_fed<E: Env>(
        &mut self,
        span: (Cycle, Cycle),
        attention: Attention,
        feed: &mut Feed<'_>,
        env: &mut E,
    ) -> Result<Cycle, (Cycle, GuestError)> {
        Fed { unit: self, feed, env }.run(span, attention)
    }

    /// Cycle `now`, and those after it and before `until` that are done with it. Gives the first one that is not.
    #[inline(always)]
    pub(crate) fn advance<E: Env>(
        &mut self,
        now: Cycle,
        until: Cycle,
        env: &mut E,
    ) -> Result<Cycle, (Cycle, GuestError)> {
        let played = self.play(now, until, env);
        let reached = played.map_err(|(cycle, fault)| (cycle, *fault))?;
        if reached != now {
            return Ok(reached);
        }
        match self.step_refreshed(now, env) {
            Ok(()) => Ok(now + 1),
            Err(fault) => Err((now + 1, fault)),
        }
    }

    /// Whether something has come that is waited for; `still` are the threads that stood still before.
    pub(crate) fn came(&self, attention: Attention, still: ThreadSet) -> bool {
        attention.stirring && still & !self.still.threads() != 0
            || ThreadId::ALL
                .into_iter()
                .any(|thread| attention.idle & bit(thread) != 0 && self.thread_idle(thread))
    }

    /// Whether nothing of `thread` passes its gate or leaves its queues until somebody else changes a
    /// semaphore or hands over a bank. False where that is not known.
    #[must_use]
    #[inline]
    pub fn stands_still(&mut self, thread: ThreadId) -> bool {
        self.still.refresh(&self.backend);
        self.still.threads() & bit(thread) != 0
    }

    /// For how many cycles from now on certainly no instruction FIFO gets more room: as long as a
    /// playback lasts that keeps what is behind it waiting.
    #[must_use]
    pub fn cycles_without_room(&self) -> u64 {
        let Some(thread) = lone(self.active) else { return 0 };
        let frontend = &self.threads[thread.index()];
        match frontend.replay.mode {
            Mode::Play { left, .. }
                if frontend.only_plays()
                    && !frontend.third.iter().any(|entry| entry.is_tracked()) =>
            {
                u64::from(left)
            }
            _ => 0,
        }
    }

    /// The cycles from `from` on, at most up to `until`, that are nothing but playback. Returns the
    /// first cycle that is not done, `from` if there is more to do in it.
    ///
    /// # Errors
    /// As [`Coprocessor::run`].
    #[inline(always)]
    fn play<E: Env>(
        &mut self,
        from: Cycle,
        until: Cycle,
        env: &mut E,
    ) -> Result<Cycle, (Cycle, Fault)> {
        let moving = self.moving();
        match lone(moving) {
            Some(thread)
                if self.threads[thread.index()].replay.is_playing()
                    && plan::playing(self.timing, &self.backend) =>
            {
                self.play_thread(thread, moving, (from, until), env)
            }
            _ => Ok(from),
        }
    }

    /// [`Coprocessor::play`] of the only thread that moves.
    fn play_thread<E: Env>(
        &mut self,
        thread: ThreadId,
        moving: ThreadSet,
        (from, until): (Cycle, Cycle),
        env: &mut E,
    ) -> Result<Cycle, (Cycle, Fault)> {
        // Others wait: they have to be told what they wait for.
        let others = (self.active != moving).then_some(&self.still);
        let (frontend, backend) = (&mut self.threads[thread.index()], &mut self.backend);
        let mut now = from;
        while now < until
            && frontend.only_plays()
            && others.is_none_or(|others| others.holds(backend))
            && let Some(mut playback) = Playback::of(frontend)
        {
            let played = playback.run((frontend, backend), others, (thread, now, until), env);
            playback.leave(frontend);
            now = played?;
            if playback.held != 0 {
                break;
            }
            // With the last of its instructions comes the cycle that takes in what is next.
            expand(frontend, backend, thread, Cycle(now.0 - 1)).map_err(|fault| (now, fault))?;
        }
        if now != from {
            self.still.refresh(&self.backend);
        }
        Ok(now)
    }
}

/// A playback as one thread's frontend does it. The last FIFO before the wait gate holds the one or
/// two instructions before the next one, so that neither has to be moved from cycle to cycle.
struct Playback {
    origin: Origin,
    mop: u32,
    /// Slot of the front instruction, modulo [`SLOTS`].
    front: usize,
    /// Instructions in the last FIFO.
    held: usize,
    /// Instructions that are still to be played, of how many.
    left: u8,
    count: u8,
}

impl Playback {
    /// The playback of a frontend, if the last FIFO holds some of it and nothing else. It is only
    /// recorded between playbacks, so that what is held is what the buffer says.
    #[inline]
    fn of(frontend: &Frontend) -> Option<Self> {
        let Mode::Play { index, left, count, origin, mop } = frontend.replay.mode else {
            return None;
        };
        let held = frontend.third.len();
        let front = (usize::from(index) + SLOTS - held) % SLOTS;
        let is_own = held != 0 && held <= usize::from(count - left);
        is_own.then_some(Self { origin, mop, front, held, left, count })
    }

    /// What the last FIFO holds at a place.
    #[inline]
    fn entry(&self, frontend: &Frontend, place: usize) -> Queued {
        let slot = (self.front + place) % SLOTS;
        let word = frontend.replay.buffer[slot];
        Queued::expanded(word, self.origin, self.mop, slot as u8 + 1)
    }

    /// Cycles of `thread` from `from` up to `until` at most, as long as it is all that happens; the
    /// frontend's queues lag behind. With the last instruction, after which nothing is held, the
    /// expanders still have their cycle to do.
    #[inline]
    fn run<E: Env>(
        &mut self,
        (frontend, backend): (&mut Frontend, &mut Backend),
        others: Option<&Still>,
        (thread, from, limit): (ThreadId, Cycle, Cycle),
        env: &mut E,
    ) -> Result<Cycle, (Cycle, Fault)> {
        let origin = self.origin;
        let mut issued = Issued { word: 0, thread, origin, now: from, allowed: Warned::NONE };
        let until = limit.min(from + u64::from(self.left));
        let ends = self.held == 1 && !frontend.second.is_empty();
        let by_runs = plan::by_runs::<E>(backend.shortcuts);
        while issued.now < until {
            issued.word = frontend.replay.buffer[self.front % SLOTS];
            let Some(decoded) = decode(issued.word) else { break };
            if !backend.accepts(decoded, issued.word, thread, issued.now) {
                break;
            }
            if frontend.gate.wait.is_some() {
                end_wait(frontend, thread, issued.now, env);
            }
            let minded = others.filter(|_| Still::minds(decoded.unit));
            if by_runs && decoded.in_stretches && !backend.restricted && minded.is_none() {
                let most = u64::from(self.left) + u64::from(ends);
                let words = self.upcoming(frontend, most.min(limit.0 - issued.now.0));
                let done = backend.execute_stretch(decoded, words, thread);
                issued.now += done as u64;
                self.front += done;
                if done > usize::from(self.left) {
                    (self.left, self.held) = (0, 0);
                    return Ok(issued.now);
                }
                self.left -= done as u8;
                if done != 0 {
                    continue;
                }
            }
            let slot = self.entry(frontend, 0).slot();
            let failed = |fault| (issued.now + 1, fault);
            let executed = execute(backend, &mut frontend.gate, decoded, (&issued, slot), env);
            self.front += 1;
            if executed.is_err() {
                // It has left the gate, and nothing has come after it.
                self.held -= 1;
            }
            executed.map_err(failed)?;
            self.left -= 1;
            if decoded.stirs {
                if backend.vector.is_active() {
                    backend.finish_vector_cycle(issued.now).map_err(failed)?;
                }
                let latched = frontend.gate.latch.is_some();
                if latched || backend.acts_by_itself() || env.wants_control() {
                    return Ok(issued.now + 1);
                }
            }
            if minded.is_some_and(|others| !others.holds(backend)) {
                return Ok(issued.now + 1);
            }
            issued.now += 1;
        }
        Ok(issued.now)
    }

    /// The next instructions, at least one and at most so many.
    #[inline]
    fn upcoming<'a>(&self, frontend: &'a Frontend, cycles: u64) -> &'a [u32] {
        let first = self.front % SLOTS;
        let end = SLOTS.min(first + cycles as usize);
        &frontend.replay.buffer[first..end]
    }

    /// Brings the frontend's queues up to date.
    fn leave(&self, frontend: &mut Frontend) {
        frontend.third.clear();
        for place in 0..self.held {
            frontend.third.push(self.entry(frontend, place));
        }
        let Self { origin, mop, left, count, .. } = *self;
        let index = ((self.front + self.held) % SLOTS) as u8;
        frontend.replay.mode =
            if left == 0 { Mode::Pass } else { Mode::Play { index, left, count, origin, mop } };
    }
}
