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

use sim_core::observer::{Event, Slot, Stamp};
use sim_core::{AgentId, Cycle, GuestError, Shortcut, ThreadId, WaitReason};

use crate::backend::Backend;
use crate::decode::{Decoded, Resource, decode};
use crate::env::Env;
use crate::frontend::{FIRST_FIFO_ACCEPTS, Frontend, REPLAY_FIFO};
use crate::gate::{Gate, wait_of};
use crate::queue::{Origin, Queued};
use crate::timing::{TimingModel, cost};
use crate::unit::busy;
use crate::units::sync::SyncUnit;
use crate::units::{Fault, Issued};

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
}

/// Threads as a set, bit *i* is thread *i*.
pub(crate) type ThreadSet = u8;

pub(crate) const fn bit(thread: ThreadId) -> ThreadSet {
    1 << thread as u8
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
        if E::OBSERVED {
            let at = Stamp { cycle: now, agent: AgentId::Core(origin.core), pc: origin.pc };
            env.event(at, Event::Push { thread, word, after_mop });
        }
        Ok(())
    }

    /// Advances one cycle.
    ///
    /// # Errors
    /// A guest mistake, or something that is not modelled. Before it is stepped on, whoever made it
    /// has to be stopped ([`Coprocessor::stop_thread`]); the rest of the cycle is lost to all.
    #[inline]
    pub fn step<E: Env>(&mut self, now: Cycle, env: &mut E) -> Result<(), GuestError> {
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
        let Some(lone) = self.lone(Shortcut::LoneThread) else {
            return Ok(progress | self.step_several(now, env)?);
        };
        Ok(progress | self.step_lone(lone, now, env)?)
    }

    /// A cycle in which only `thread` has anything in its frontend.
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
            if is_ready(frontend, backend, thread, now) {
                issue(frontend, backend, self.timing, thread, now, env)?;
                progress = true;
            } else if explain(frontend, backend, thread, now)? {
                progress |= wait(frontend, thread, now, env);
            } else {
                progress = true;
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
        Ok(progress)
    }

    /// A cycle in which several threads have something in their frontends.
    #[inline(never)]
    fn step_several<E: Env>(&mut self, now: Cycle, env: &mut E) -> Result<bool, Fault> {
        let mut progress = false;
        let mut met = 0;
        let mut queued = 0;
        for (thread, frontend) in ThreadId::ALL.into_iter().zip(&mut self.threads) {
            if self.stopped & bit(thread) != 0 {
                continue;
            }
            if evaluate(frontend, &self.backend, (thread, now), &mut progress, env) {
                met |= bit(thread);
            }
            queued |= ThreadSet::from(!frontend.third.is_empty()) << thread as u8;
        }
        progress |= self.step_gates(queued, now, env)?;
        for (thread, frontend) in ThreadId::ALL.into_iter().zip(&mut self.threads) {
            if self.stopped & bit(thread) != 0 {
                continue;
            }
            if met & bit(thread) != 0 {
                frontend.gate.latch = None;
                progress = true;
            }
            progress |= expand(frontend, &mut self.backend, thread, now)?;
            if frontend.third.is_empty() && frontend.is_idle() {
                self.active &= !bit(thread);
            }
        }
        Ok(progress)
    }

    fn step_gates<E: Env>(
        &mut self,
        mut queued: ThreadSet,
        now: Cycle,
        env: &mut E,
    ) -> Result<bool, Fault> {
        let (mut ready, mut progress) = (0, false);
        for (thread, frontend) in ThreadId::ALL.into_iter().zip(&mut self.threads) {
            if queued & bit(thread) != 0 {
                if is_ready(frontend, &self.backend, thread, now) {
                    ready |= bit(thread);
                } else if !explain(frontend, &mut self.backend, thread, now)? {
                    queued &= !bit(thread);
                    progress = true;
                }
            }
        }
        if !ThreadSet::is_power_of_two(ready) && ready != 0 {
            ready = self.arbitrate(ready);
        }
        progress |= ready != 0;
        for (thread, frontend) in ThreadId::ALL.into_iter().zip(&mut self.threads) {
            if ready & bit(thread) != 0 {
                issue(frontend, &mut self.backend, self.timing, thread, now, env)?;
            } else if queued & bit(thread) != 0 {
                progress |= wait(frontend, thread, now, env);
            }
        }
        Ok(progress)
    }

    /// Lets one thread per shared unit and per mutex through: the threads that may issue.
    fn arbitrate(&mut self, ready: ThreadSet) -> ThreadSet {
        let wanted = ThreadId::ALL.map(|thread| self.wanted(ready, thread));
        let mut winners = ready;
        for (loser, want) in ThreadId::ALL.into_iter().zip(wanted) {
            let Some((resource, last)) = want else { continue };
            let beaten = ThreadId::ALL.into_iter().zip(wanted).any(|(rival, other)| {
                other.is_some_and(|other| other.0 == resource)
                    && rank(rival, last) < rank(loser, last)
            });
            if beaten {
                winners &= !bit(loser);
                self.note_loss(loser);
            }
        }
        winners
    }

    /// A number for what a ready front competes for, and who was served last.
    #[inline]
    fn wanted(&self, ready: ThreadSet, thread: ThreadId) -> Option<(u32, u8)> {
        if ready & bit(thread) == 0 {
            return None;
        }
        let word = self.threads[thread.index()].third.front()?.word();
        let decoded = decode(word)?;
        match decoded.resource {
            Resource::Free => None,
            Resource::Unit => {
                let unit = decoded.unit as usize;
                Some((unit as u32, self.backend.last_served[unit]))
            }
            Resource::Mutex => {
                let index = SyncUnit::named_mutex(word);
                let slot = SyncUnit::mutex_slot(index)?;
                Some((0x100 + index, self.backend.sync.mutexes[slot].last))
            }
        }
    }

    /// Notes why a thread that lost an arbitration waits.
    fn note_loss(&mut self, thread: ThreadId) {
        let frontend = &mut self.threads[thread.index()];
        let Some(front) = frontend.third.front() else { return };
        let Some(decoded) = decode(front.word()) else { return };
        frontend.gate.reason = match decoded.resource {
            Resource::Mutex => {
                WaitReason::Mutex { index: SyncUnit::named_mutex(front.word()) as u8 }
            }
            Resource::Free | Resource::Unit => busy(decoded.unit),
        };
    }
}

/// The thread of a set of one.
#[inline]
pub(crate) const fn lone(threads: ThreadSet) -> Option<ThreadId> {
    match threads {
        0b001 => Some(ThreadId::T0),
        0b010 => Some(ThreadId::T1),
        0b100 => Some(ThreadId::T2),
        _ => None,
    }
}

/// Evaluates the latched wait instruction of `thread`, if there is one: whether it is met.
#[inline]
fn evaluate<E: Env>(
    frontend: &mut Frontend,
    backend: &Backend,
    (thread, now): (ThreadId, Cycle),
    progress: &mut bool,
    env: &E,
) -> bool {
    let Some(latch) = &mut frontend.gate.latch else { return false };
    let unmet = backend.unmet(latch, thread, now, env);
    *progress |= unmet != latch.unmet;
    latch.unmet = unmet;
    unmet.is_none()
}

/// Whether the front instruction of `thread` can issue unless it loses an arbitration.
#[inline]
fn is_ready(frontend: &Frontend, backend: &Backend, thread: ThreadId, now: Cycle) -> bool {
    let Some(front) = frontend.third.front() else { return false };
    let Some(decoded) = decode(front.word()) else { return false };
    (frontend.gate.latch.is_none() || frontend.gate.holds(decoded).is_none())
        && backend.accepts(decoded, front.word(), thread, now)
}

/// Notes why the front instruction of `thread` is not ready. False: it is gone, because it was
/// refused and that check is lowered.
#[cold]
fn explain(
    frontend: &mut Frontend,
    backend: &mut Backend,
    thread: ThreadId,
    now: Cycle,
) -> Result<bool, Fault> {
    let Some(&front) = frontend.third.front() else { return Ok(true) };
    let Some(decoded) = decode(front.word()) else {
        backend.warnings.unassigned(frontend, &front, thread, now)?;
        return Ok(false);
    };
    let held = frontend.gate.holds(decoded);
    let reason = held.or_else(|| backend.refuses(decoded, front.word(), thread, now));
    if let Some(reason) = reason {
        frontend.gate.reason = reason;
    }
    Ok(true)
}

/// Lets the front instruction of `thread` through the gate.
#[inline(never)]
fn issue<E: Env>(
    frontend: &mut Frontend,
    backend: &mut Backend,
    timing: TimingModel,
    thread: ThreadId,
    now: Cycle,
    env: &mut E,
) -> Result<(), Fault> {
    let Some(&entry) = frontend.third.front() else { return Ok(()) };
    let Some(decoded) = decode(entry.word()) else { return Ok(()) };
    issue_decoded(frontend, backend, timing, (&entry, decoded), (thread, now), env)
}

/// Lets the front instruction of `thread` through the gate, given what it is. Inlined into the lone
/// thread's cycle, where passing its arguments costs as much as its work.
#[inline(always)]
fn issue_decoded<E: Env>(
    frontend: &mut Frontend,
    backend: &mut Backend,
    timing: TimingModel,
    (entry, decoded): (&Queued, &Decoded),
    (thread, now): (ThreadId, Cycle),
    env: &mut E,
) -> Result<(), Fault> {
    frontend.third.drop_front();
    frontend.untrack(entry);
    if frontend.gate.wait.is_some() {
        end_wait(frontend, thread, now, env);
    }
    let issued = Issued::new(entry, thread, now);
    let timed = timing != TimingModel::Unit;
    let target = if timed { backend.dst_target(decoded.opcode, &issued) } else { None };
    execute(backend, &mut frontend.gate, decoded, (&issued, entry.slot()), env)?;
    if timed {
        let measured = backend.pipelines.cost.take();
        let cost = measured.unwrap_or_else(|| cost(decoded.opcode, entry.word()));
        backend.pipelines.issued(decoded.opcode, &issued, target);
        backend.occupancy.occupy(&issued, decoded.unit, cost);
    }
    Ok(())
}

/// What an instruction does behind the gate, with its events.
#[inline(always)]
pub(crate) fn execute<E: Env>(
    backend: &mut Backend,
    gate: &mut Gate,
    decoded: &Decoded,
    (issued, slot): (&Issued, Slot),
    env: &mut E,
) -> Result<(), Fault> {
    if E::OBSERVED {
        let (thread, word) = (issued.thread, issued.word);
        env.event(issued.stamp(), Event::Issue { thread, word, slot });
    }
    let banks = if E::OBSERVED { backend.before(decoded, issued, env) } else { [0; 2] };
    if let Err(fault) = backend.execute(decoded, issued, gate, env) {
        backend.unit_refused(fault, decoded, issued, gate, env)?;
    }
    if E::OBSERVED {
        backend.after(banks, (issued, slot), env);
    }
    backend.last_served[decoded.unit as usize] = issued.thread as u8;
    Ok(())
}

/// One cycle of the expanders of `thread`.
#[inline]
pub(crate) fn expand(
    frontend: &mut Frontend,
    backend: &mut Backend,
    thread: ThreadId,
    now: Cycle,
) -> Result<bool, Fault> {
    if frontend.expanders_are_idle() {
        return Ok(false);
    }
    frontend.step_expanders(now).or_else(|fault| {
        backend.warnings.expander_refused(frontend, *fault, thread, now)?;
        Ok(true)
    })
}

/// Notes that the front instruction of `thread` waits; whether that is news.
#[cold]
fn wait<E: Env>(frontend: &mut Frontend, thread: ThreadId, now: Cycle, env: &mut E) -> bool {
    let reason = frontend.gate.reason;
    let Some(&front) = frontend.third.front() else { return false };
    if let Some(wait) = &frontend.gate.wait {
        // The release lag belongs to the wait that ends with it.
        if wait.reason == reason || reason == WaitReason::WaitGateOccupied {
            return false;
        }
        end_wait(frontend, thread, now, env);
    }
    frontend.gate.wait = Some(wait_of(&front, reason, now));
    if E::OBSERVED {
        let at = Stamp { cycle: now, agent: AgentId::Thread(thread), pc: front.pc() };
        env.event(at, Event::WaitBegin { reason });
    }
    true
}

/// Position of `thread` in the order that begins after `last`.
const fn rank(thread: ThreadId, last: u8) -> u8 {
    (thread as u8 + 2 - last) % 3
}

/// The front instruction has waited long enough.
pub(crate) fn end_wait<E: Env>(frontend: &mut Frontend, thread: ThreadId, now: Cycle, env: &mut E) {
    if let Some(wait) = frontend.gate.wait.take()
        && E::OBSERVED
    {
        let at = Stamp { cycle: now, agent: AgentId::Thread(thread), pc: wait.origin.pc };
        env.event(at, Event::WaitEnd { reason: wait.reason, since: wait.since });
    }
}
