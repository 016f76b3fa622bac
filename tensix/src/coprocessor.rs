//! The coprocessor: three frontends in front of one back end, one cycle at a time.
//!
//! Order inside a cycle:
//! 1. instructions that took several cycles retire;
//! 2. every latched wait instruction is evaluated against the state of that moment;
//! 3. the gates issue, T0 before T1 before T2; where two threads want a unit that takes one
//!    instruction per cycle, the thread after the one it served last goes first
//!    [unknown: U-GATE-ARBITRATION];
//! 4. wait instructions whose conditions were met in 2 are forgotten;
//! 5. replay expanders and MOP expanders move one instruction each.

use sim_core::observer::{Event, Stamp};
use sim_core::{AgentId, Category, Context, Cycle, GuestError, ThreadId, WaitReason};

use crate::backend::{Backend, busy};
use crate::decode::{Decoded, Resource, decode};
use crate::env::Env;
use crate::frontend::mop::Unexpandable;
use crate::frontend::{FIRST_FIFO, FIRST_FIFO_ACCEPTS, Frontend, FrontendFault, REPLAY_FIFO};
use crate::gate::wait_of;
use crate::queue::{Origin, Queued};
use crate::timing::{TimingModel, cost};
use crate::units::Issued;
use crate::units::sync::SyncUnit;
use isa::op::Opcode;

/// The Tensix coprocessor of one tile.
#[derive(Clone, Debug)]
pub struct Coprocessor {
    pub(crate) timing: TimingModel,
    pub(crate) threads: [Frontend; 3],
    pub(crate) backend: Backend,
    pub(crate) asleep: bool,
}

/// What a thread's front instruction can do in this cycle.
#[derive(Clone, Copy)]
enum Front {
    /// There is none.
    Empty,
    /// It waits, and why.
    Waits(WaitReason),
    /// It can issue unless it loses an arbitration.
    Ready(&'static Decoded),
}

impl Coprocessor {
    /// A coprocessor as after power-on.
    #[must_use]
    pub fn new(timing: TimingModel) -> Self {
        Self {
            timing,
            threads: [const { Frontend::new() }; 3],
            backend: Backend::new(),
            asleep: true,
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
        if after_mop {
            if frontend.second.is_full() {
                return Err(push_error(thread, word, origin, now, OVERFLOW));
            }
            if frontend.trisc_mux == now {
                return Err(push_error(thread, word, origin, now, COLLISION));
            }
            frontend.brisc_mux = now;
            frontend.second.push(entry);
        } else {
            if frontend.first.is_full() || frontend.tracked as usize >= FIRST_FIFO {
                return Err(push_error(thread, word, origin, now, OVERFLOW));
            }
            frontend.tracked += 1;
            frontend.first.push(entry);
        }
        self.asleep = false;
        if E::OBSERVED {
            let at = Stamp { cycle: now, agent: AgentId::Core(origin.core), pc: origin.pc };
            env.event(at, Event::Push { thread, word, after_mop });
        }
        Ok(())
    }

    /// Advances one cycle.
    ///
    /// # Errors
    /// A guest mistake, or something that is not modelled; the machine must not be stepped on.
    #[inline]
    pub fn step<E: Env>(&mut self, now: Cycle, env: &mut E) -> Result<(), GuestError> {
        if self.asleep {
            return Ok(());
        }
        let progress = self.step_awake(now, env)?;
        self.asleep = !progress && !self.backend.has_timers(now);
        Ok(())
    }

    /// One cycle whether asleep or not; whether anything changed.
    pub(crate) fn step_awake<E: Env>(
        &mut self,
        now: Cycle,
        env: &mut E,
    ) -> Result<bool, GuestError> {
        let mut progress = self.backend.complete(now, env);
        let mut met = 0;
        for thread in ThreadId::ALL {
            let gate = &mut self.threads[thread.index()].gate;
            if let Some(latch) = &mut gate.latch {
                let unmet = self.backend.unmet(latch, thread, env);
                progress |= unmet != latch.unmet;
                latch.unmet = unmet;
                met |= u8::from(unmet.is_none()) << thread as u8;
            }
        }
        progress |= self.step_gates(now, env)?;
        if met != 0 {
            progress = true;
            for thread in ThreadId::ALL.into_iter().filter(|t| met >> *t as u8 & 1 != 0) {
                self.threads[thread.index()].gate.latch = None;
            }
        }
        for thread in ThreadId::ALL {
            let frontend = &mut self.threads[thread.index()];
            match frontend.step_expanders(now) {
                Ok(moved) => progress |= moved,
                Err((fault, entry)) => return Err(frontend_error(fault, &entry, thread, now)),
            }
        }
        Ok(progress)
    }

    #[inline]
    fn step_gates<E: Env>(&mut self, now: Cycle, env: &mut E) -> Result<bool, GuestError> {
        let mut fronts = [Front::Empty; 3];
        let mut ready = 0_u32;
        for thread in ThreadId::ALL {
            fronts[thread.index()] = self.examine(thread, now)?;
            ready += u32::from(matches!(fronts[thread.index()], Front::Ready(_)));
        }
        if ready > 1 {
            self.arbitrate(&mut fronts);
        }
        let mut progress = false;
        for thread in ThreadId::ALL {
            match fronts[thread.index()] {
                Front::Empty => {}
                Front::Waits(reason) => progress |= self.wait(thread, reason, now, env),
                Front::Ready(decoded) => {
                    progress = true;
                    self.issue(thread, decoded, now, env)?;
                }
            }
        }
        Ok(progress)
    }

    /// Looks at the front instruction of `thread`.
    #[inline]
    fn examine(&self, thread: ThreadId, now: Cycle) -> Result<Front, GuestError> {
        let frontend = &self.threads[thread.index()];
        let Some(front) = frontend.third.front() else { return Ok(Front::Empty) };
        let Some(decoded) = decode(front.word) else {
            return Err(unassigned(front, thread, now));
        };
        let held = frontend.gate.holds(decoded.blocked_by, decoded.opcode == Opcode::Nop);
        if let Some(reason) = held {
            return Ok(Front::Waits(reason));
        }
        Ok(match self.backend.refuses(decoded, front.word, thread, now) {
            Some(reason) => Front::Waits(reason),
            None => Front::Ready(decoded),
        })
    }

    /// Lets one thread per shared unit and per mutex through.
    fn arbitrate(&self, fronts: &mut [Front; 3]) {
        let wants = *fronts;
        for loser in 0..3 {
            let Some((resource, last)) = self.wanted(wants[loser], loser) else { continue };
            let beaten = (0..3).any(|rival| {
                rival != loser
                    && self.wanted(wants[rival], rival).map(|(other, _)| other) == Some(resource)
                    && rank(rival, last) < rank(loser, last)
            });
            if let (true, Front::Ready(decoded)) = (beaten, wants[loser]) {
                fronts[loser] = Front::Waits(match decoded.resource {
                    Resource::Mutex => WaitReason::Mutex { index: (resource - 0x100) as u8 },
                    Resource::Free | Resource::Shared => busy(decoded.unit),
                });
            }
        }
    }

    /// A number for what a ready front competes for, and who was served last.
    fn wanted(&self, front: Front, thread: usize) -> Option<(u32, u8)> {
        let Front::Ready(decoded) = front else { return None };
        match decoded.resource {
            Resource::Free => None,
            Resource::Shared => {
                let unit = decoded.unit as usize;
                Some((unit as u32, self.backend.last_served[unit]))
            }
            Resource::Mutex => {
                let index = self.threads[thread].third.front()?.word & 0xFFFF;
                let slot = SyncUnit::mutex_slot(index)?;
                Some((0x100 + index, self.backend.sync.mutexes[slot].last))
            }
        }
    }

    #[inline]
    fn issue<E: Env>(
        &mut self,
        thread: ThreadId,
        decoded: &'static Decoded,
        now: Cycle,
        env: &mut E,
    ) -> Result<(), GuestError> {
        let frontend = &mut self.threads[thread.index()];
        let Some(&entry) = frontend.third.front() else { return Ok(()) };
        frontend.third.drop_front();
        frontend.untrack(&entry);
        if frontend.gate.wait.is_some() {
            end_wait(frontend, thread, now, env);
        }
        let issued = Issued::new(&entry, thread, now);
        if E::OBSERVED {
            let (word, slot) = (entry.word, entry.slot());
            env.event(issued.stamp(), Event::Issue { thread, word, slot });
        }
        if let Some(latch) = self.backend.execute(decoded.opcode, &issued, env)? {
            frontend.gate.latch = Some(latch);
        }
        if decoded.resource == Resource::Shared {
            self.backend.last_served[decoded.unit as usize] = thread as u8;
        }
        if self.timing != TimingModel::Unit {
            let cost = cost(self.timing, decoded.opcode, entry.word);
            self.backend.occupy(&issued, decoded.unit, cost);
        }
        Ok(())
    }

    /// Notes that the front instruction of `thread` waits; whether that is news.
    #[cold]
    fn wait<E: Env>(
        &mut self,
        thread: ThreadId,
        reason: WaitReason,
        now: Cycle,
        env: &mut E,
    ) -> bool {
        let frontend = &mut self.threads[thread.index()];
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
            let at = Stamp { cycle: now, agent: AgentId::Thread(thread), pc: front.pc };
            env.event(at, Event::WaitBegin { reason });
        }
        true
    }
}

/// Position of `thread` in the order that begins after `last`.
const fn rank(thread: usize, last: u8) -> usize {
    (thread + 2 - last as usize) % 3
}

fn end_wait<E: Env>(frontend: &mut Frontend, thread: ThreadId, now: Cycle, env: &mut E) {
    if let Some(wait) = frontend.gate.wait.take()
        && E::OBSERVED
    {
        let at = Stamp { cycle: now, agent: AgentId::Thread(thread), pc: wait.origin.pc };
        env.event(at, Event::WaitEnd { reason: wait.reason, since: wait.since });
    }
}

type PushFault = (Category, &'static str, &'static str);

const OVERFLOW: PushFault = (
    Category::UndefinedBehavior,
    "tensix-push-overflow",
    "instruction pushed into a full instruction FIFO",
);
const COLLISION: PushFault = (
    Category::NonContractual,
    "tensix-push-collision",
    "BRISC and the thread's own TRISC (or its MOP expander) delivered an instruction in the same \
     cycle; hardware loses the TRISC's",
);

#[cold]
fn push_error(
    thread: ThreadId,
    word: u32,
    origin: Origin,
    now: Cycle,
    (category, id, message): PushFault,
) -> GuestError {
    let at = Context {
        cycle: now,
        agent: AgentId::Core(origin.core),
        pc: Some(origin.pc),
        word: Some(word),
    };
    GuestError::new(category, id, format!("{message} (Tensix {thread})"), at)
}

#[cold]
fn frontend_error(
    fault: FrontendFault,
    entry: &Queued,
    thread: ThreadId,
    now: Cycle,
) -> GuestError {
    let (category, id, message) = match fault {
        FrontendFault::Collision => COLLISION,
        FrontendFault::ReplayTooLong => (
            Category::Unsupported,
            "tensix-replay-count",
            "REPLAY of more than 32 instructions; hardware does not follow the documents then",
        ),
        FrontendFault::Mop(Unexpandable::CountOverride) => (
            Category::MissingSpecification,
            "tensix-mop-count-override",
            "MOP template 1 with bits in 19:0: the public documents do not define the override",
        ),
        FrontendFault::Mop(Unexpandable::OuterBug) => (
            Category::NonContractual,
            "tensix-mop-outer-bug",
            "MOP template 1 with one outer iteration, no start, no inner loop and an end \
             instruction: hardware runs additional iterations",
        ),
    };
    Issued::new(entry, thread, now).error(category, id, message)
}

#[cold]
fn unassigned(entry: &Queued, thread: ThreadId, now: Cycle) -> GuestError {
    Issued::new(entry, thread, now).error(
        Category::UndefinedBehavior,
        "tensix-unassigned-opcode",
        format!("no Tensix instruction has opcode {:#04x}", entry.word >> 24),
    )
}
