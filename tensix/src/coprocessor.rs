//! The coprocessor: three frontends in front of one back end, one cycle at a time.
//!
//! Order inside a cycle:
//! 1. instructions that took several cycles retire;
//! 2. every latched wait instruction is evaluated against the state of that moment;
//! 3. the gates issue, T0 before T1 before T2; where two threads want a unit that takes one
//!    instruction per cycle, the thread after the one it served last goes first
//!    [unknown: U-043];
//! 4. wait instructions whose conditions were met in 2 are forgotten;
//! 5. replay expanders and MOP expanders move one instruction each;
//! 6. what SFPLOADMACRO scheduled for this cycle executes.

use sim_core::observer::{Event, Stamp};
use sim_core::{AgentId, Cycle, GuestError, StateHasher, ThreadId};

use crate::arbiter::arbitrate;
use crate::backend::Backend;
use crate::cycle::{Look, evaluate, expand, issue, issue_decoded, look, wait};
use crate::decode::decode;
use crate::env::Env;
use crate::frontend::set::{ThreadSet, bit, members};
use crate::frontend::{FIRST_FIFO_ACCEPTS, Frontend, REPLAY_FIFO};
use crate::hash::{hash_backend, hash_frontend};
use crate::plan;
use crate::queue::{Origin, Queued};
use crate::still::{Sight, Still};
use crate::timing::TimingModel;
use crate::units::Fault;

/// The Tensix coprocessor of one tile.
#[derive(Clone, Debug)]
pub struct Coprocessor {
    pub(crate) timing: TimingModel,
    pub(crate) threads: [Frontend; 3],
    pub(crate) backend: Backend,
    pub(crate) asleep: bool,
    /// Threads with anything in their frontends.
    pub(crate) active: ThreadSet,
    /// Threads that have made a mistake.
    pub(crate) stopped: ThreadSet,
    /// Threads that wait, and for which another look would find what the last one found.
    pub(crate) still: Still,
}

impl Coprocessor {
    /// A coprocessor as after power-on.
    #[must_use]
    pub fn new(timing: TimingModel) -> Self {
        Self {
            timing,
            threads: [const { Frontend::new() }; 3],
            backend: Backend::new(timing),
            asleep: true,
            active: 0,
            stopped: 0,
            still: Still::default(),
        }
    }

    /// How many instructions may be pushed to `thread` before asking again. A bundle of up to
    /// four fused `.ttinsn` may be pushed whole when the answer is at least 1.
    #[must_use]
    pub fn push_credit(&self, thread: ThreadId, after_mop: bool) -> u32 {
        let frontend = &self.threads[thread.index()];
        if after_mop {
            return (REPLAY_FIFO - frontend.second.len()) as u32;
        }
        (FIRST_FIFO_ACCEPTS as u32 + 1).saturating_sub(frontend.tracked)
    }

    /// Appends an instruction to `thread`: before its MOP expander (its own TRISC) or behind it
    /// (BRISC).
    ///
    /// # Errors
    /// * `tensix-push-overflow`: the FIFO is full, the caller did not respect
    ///   [`Coprocessor::push_credit`];
    /// * `tensix-push-collision`: the thread's own side delivered an instruction to the mux in
    ///   this very cycle; hardware would lose that one `[isa-wh: TensixCoprocessor/README.md]`.
    #[inline]
    pub fn push<E: Env>(
        &mut self,
        thread: ThreadId,
        after_mop: bool,
        word: u32,
        origin: Origin,
        now: Cycle,
        env: &mut E,
    ) -> Result<(), GuestError> {
        let frontend = &mut self.threads[thread.index()];
        let entry = Queued::pushed(word, origin);
        let refused = if after_mop {
            frontend.accept_behind_mop(entry, now)
        } else {
            frontend.accept(entry, now)
        };
        if let Some(refusal) = refused {
            if !self.backend.warnings.push_refused((thread, word), origin, now, refusal)? {
                return Ok(());
            }
            frontend.take_behind_mop(entry, now);
        }
        self.asleep = false;
        self.active |= bit(thread) & !self.stopped;
        self.still.stir(thread);
        let at = Stamp { cycle: now, agent: AgentId::Core(origin.core), pc: origin.pc };
        env.emit(at, || Event::Push { thread, word, after_mop });
        Ok(())
    }

    /// Advances one cycle.
    ///
    /// # Errors
    /// A guest mistake, or something that is not modelled. Before it is stepped on, whoever made it
    /// has to be stopped ([`Coprocessor::stop_thread`]); the rest of the cycle is lost to all.
    #[inline]
    pub fn step<E: Env>(&mut self, now: Cycle, env: &mut E) -> Result<(), GuestError> {
        self.still.refresh(&self.backend);
        self.step_refreshed(now, env)
    }

    /// As [`Coprocessor::step`], where nobody else has done anything since the last one.
    #[inline(always)]
    pub(crate) fn step_refreshed<E: Env>(
        &mut self,
        now: Cycle,
        env: &mut E,
    ) -> Result<(), GuestError> {
        if self.asleep {
            return Ok(());
        }
        let progress = self.step_awake(now, env).map_err(|fault| *fault)?;
        self.asleep = !progress && !self.backend.has_timers(now);
        Ok(())
    }

    /// One cycle whether asleep or not; whether anything changed.
    #[inline]
    pub(crate) fn step_awake<E: Env>(&mut self, now: Cycle, env: &mut E) -> Result<bool, Fault> {
        let mut progress = self.step_threads(now, env)?;
        if self.backend.vector.is_active() {
            progress |= self.backend.finish_vector_cycle(now)?;
        }
        Ok(progress)
    }

    #[inline]
    fn step_threads<E: Env>(&mut self, now: Cycle, env: &mut E) -> Result<bool, Fault> {
        let mut progress = false;
        if !self.backend.occupancy.is_empty() {
            progress = self.backend.occupancy.complete(now, env);
        }
        if self.backend.has_background() {
            match self.backend.step_background(now, env) {
                Ok(changed) => progress |= changed,
                Err(fault) => {
                    self.backend.background_refused(fault)?;
                    progress = true;
                }
            }
        }
        if self.active == 0 {
            return Ok(progress);
        }
        // One busy thread is the common case, and needs no arbitration.
        let moving = self.moving();
        let Some(lone) = plan::alone(moving, self.backend.shortcuts) else {
            return Ok(progress | self.step_several(moving, now, env)?);
        };
        Ok(progress | self.step_lone(lone, now, env)?)
    }

    /// Threads with anything in their frontends, but for those that certainly go on waiting.
    #[inline]
    pub(crate) fn moving(&self) -> ThreadSet {
        self.active & !self.still.threads()
    }

    /// A cycle in which only `thread` does anything.
    #[inline]
    fn step_lone<E: Env>(
        &mut self,
        thread: ThreadId,
        now: Cycle,
        env: &mut E,
    ) -> Result<bool, Fault> {
        let (frontend, backend) = (&mut self.threads[thread.index()], &mut self.backend);
        // Nothing latched and nothing in the way: by far the most frequent cycle.
        if frontend.gate.latch.is_none()
            && let Some(&entry) = frontend.third.front()
            && let Some(decoded) = decode(entry.word())
            && backend.accepts(decoded, entry.word(), thread, now)
        {
            issue_decoded(frontend, backend, self.timing, (&entry, decoded), (thread, now), env)?;
            if Still::minds(decoded.unit) {
                self.still.refresh(backend);
            }
            if !frontend.expanders_are_idle() {
                expand(frontend, backend, thread, now)?;
            } else if frontend.third.is_empty() && frontend.gate.latch.is_none() {
                self.active &= !bit(thread);
            }
            return Ok(true);
        }
        let mut progress = false;
        let met = evaluate(frontend, backend, (thread, now), &mut progress, env);
        if !frontend.third.is_empty() {
            match look(frontend, backend, thread, now)? {
                Look::Ready => {
                    issue(frontend, backend, self.timing, thread, now, env)?;
                    progress = true;
                }
                Look::Waits => progress |= wait(frontend, thread, now, env),
                Look::Gone => progress = true,
            }
        }
        if met {
            frontend.gate.latch = None;
            progress = true;
        }
        progress |= expand(frontend, backend, thread, now)?;
        if frontend.third.is_empty() && frontend.is_idle() {
            self.active &= !bit(thread);
        }
        self.still.refresh(backend);
        Ok(progress)
    }

    /// A cycle in which several threads have something in their frontends, `moving` of them something to do.
    #[inline(never)]
    fn step_several<E: Env>(
        &mut self,
        moving: ThreadSet,
        now: Cycle,
        env: &mut E,
    ) -> Result<bool, Fault> {
        let seen = Sight::of(&self.backend);
        let (mut met, mut queued, mut ready, mut moved) = (0, 0, 0, 0);
        for thread in members(moving) {
            let frontend = &mut self.threads[thread.index()];
            let mut news = false;
            if evaluate(frontend, &self.backend, (thread, now), &mut news, env) {
                met |= bit(thread);
            }
            if !frontend.third.is_empty() {
                queued |= bit(thread);
                match look(frontend, &mut self.backend, thread, now)? {
                    Look::Ready => ready |= bit(thread),
                    Look::Waits => {}
                    Look::Gone => {
                        queued &= !bit(thread);
                        news = true;
                    }
                }
            }
            moved |= ThreadSet::from(news) << thread as u8;
        }
        moved |= met | self.step_gates(queued, ready, now, env)?;
        for thread in members(moving) {
            let frontend = &mut self.threads[thread.index()];
            if met & bit(thread) != 0 {
                frontend.gate.latch = None;
            }
            let expanded = expand(frontend, &mut self.backend, thread, now)?;
            moved |= ThreadSet::from(expanded) << thread as u8;
            if frontend.third.is_empty() && frontend.is_idle() {
                self.active &= !bit(thread);
            }
        }
        if plan::may_stand_still(self.timing, &self.backend) {
            self.still.note(self.active & !moved, &self.threads, seen);
        }
        self.still.refresh(&self.backend);
        Ok(moved != 0)
    }

    /// What issues in a cycle of those with something `queued`, of which the gates would let some pass, and what is
    /// found to wait; the threads for which that is news.
    #[inline(always)]
    fn step_gates<E: Env>(
        &mut self,
        queued: ThreadSet,
        mut ready: ThreadSet,
        now: Cycle,
        env: &mut E,
    ) -> Result<ThreadSet, Fault> {
        // A loser may win the next time.
        let mut moved = ready;
        if !ThreadSet::is_power_of_two(ready) && ready != 0 {
            ready = arbitrate(&mut self.threads, &self.backend, ready);
        }
        for thread in members(queued) {
            let frontend = &mut self.threads[thread.index()];
            if ready & bit(thread) != 0 {
                issue(frontend, &mut self.backend, self.timing, thread, now, env)?;
            } else if wait(frontend, thread, now, env) {
                moved |= bit(thread);
            }
        }
        Ok(moved)
    }

    /// The thread made a mistake: it issues and expands nothing more, and what it has scheduled
    /// or still tries is forgotten. Its input FIFO takes instructions until it is full. Returns
    /// whether it was not stopped before.
    #[cold]
    pub fn stop_thread(&mut self, thread: ThreadId) -> bool {
        if self.stopped & bit(thread) != 0 {
            return false;
        }
        self.stopped |= bit(thread);
        self.active &= !bit(thread);
        self.still.stir(thread);
        let frontend = &mut self.threads[thread.index()];
        // Other mistakes are found when the instruction has left the queue.
        if let Some(&front) = frontend.third.front()
            && decode(front.word()).is_none()
        {
            frontend.third.drop_front();
            frontend.untrack(&front);
        }
        self.backend.drop_thread(thread);
        true
    }

    /// Whether the thread has made a mistake since its TRISC was last reset.
    #[must_use]
    pub fn is_stopped(&self, thread: ThreadId) -> bool {
        self.stopped & bit(thread) != 0
    }

    /// The TRISC of a stopped thread is reset: the thread goes on with what its queues hold.
    pub(crate) fn restart_thread(&mut self, thread: ThreadId) {
        if self.is_stopped(thread) {
            self.stopped &= !bit(thread);
            self.active |= bit(thread);
            self.still.stir(thread);
        }
    }

    /// Adds everything that determines the future.
    pub fn hash_state(&self, hasher: &mut StateHasher) {
        // The timing defines the machine. Who is asleep, active or still follows from the queues.
        let Self { timing: _, threads, backend, asleep: _, active: _, stopped, still: _ } = self;
        for frontend in threads {
            hash_frontend(frontend, hasher);
        }
        hasher.u8(*stopped);
        hash_backend(backend, hasher);
    }
}
