//! A thread that plays its replay buffer to a coprocessor which does nothing else.
//!
//! That is where kernels spend most of their cycles, and each of these cycles is alike: the front
//! instruction issues and the next one of the buffer takes its place. [`Coprocessor::play`] does
//! them without asking in each what else there might be; the result is that of
//! [`Coprocessor::step`], which a test compares.

use sim_core::{Cycle, GuestError, ThreadId};

use crate::backend::Backend;
use crate::coprocessor::{Coprocessor, end_wait, execute, lone};
use crate::decode::decode;
use crate::env::Env;
use crate::frontend::Frontend;
use crate::queue::Queued;
use crate::timing::TimingModel;
use crate::units::{Fault, Issued};

impl Coprocessor {
    /// Advances from cycle `from` up to `until`, as long as the environment has nothing to do in
    /// between ([`Env::wants_control`]) and there is something to step. Returns the first cycle
    /// that was not stepped; it is below `until` too if the coprocessor fell asleep.
    ///
    /// # Errors
    /// As [`Coprocessor::step`], with the first cycle that was not stepped.
    pub fn run<E: Env>(
        &mut self,
        from: Cycle,
        until: Cycle,
        env: &mut E,
    ) -> Result<Cycle, (Cycle, GuestError)> {
        let mut now = from;
        while now < until && !self.asleep {
            let played = self.play(now, until, env);
            let reached = played.map_err(|(cycle, fault)| (cycle, *fault))?;
            if reached != now {
                now = reached;
                if env.wants_control() {
                    break;
                }
                continue;
            }
            let stepped = self.step(now, env);
            now += 1;
            stepped.map_err(|fault| (now, fault))?;
            if env.wants_control() {
                break;
            }
        }
        Ok(now)
    }

    /// The cycles from `from` on, at most up to `until`, that are nothing but playback. Returns the
    /// first cycle that is not done, `from` if there is more to do in it.
    ///
    /// # Errors
    /// As [`Coprocessor::run`].
    #[inline]
    fn play<E: Env>(
        &mut self,
        from: Cycle,
        until: Cycle,
        env: &mut E,
    ) -> Result<Cycle, (Cycle, Fault)> {
        let Some(thread) = lone(self.active) else { return Ok(from) };
        let frontend = &mut self.threads[thread.index()];
        if self.timing != TimingModel::Unit
            || !frontend.only_plays()
            || self.backend.acts_by_itself()
        {
            return Ok(from);
        }
        let Some(gate) = TwoAtGate::take(frontend) else { return Ok(from) };
        play_lone((frontend, gate), &mut self.backend, thread, (from, until), env)
    }
}

/// The last FIFO before the wait gate while its thread plays: kept out of memory, because it is
/// written and read in every cycle.
struct TwoAtGate {
    front: Queued,
    next: Option<Queued>,
}

impl TwoAtGate {
    fn take(frontend: &mut Frontend) -> Option<Self> {
        let front = *frontend.third.front()?;
        frontend.third.drop_front();
        let next = frontend.third.front().copied();
        frontend.third.clear();
        Some(Self { front, next })
    }

    fn put_back(self, frontend: &mut Frontend) {
        frontend.third.push(self.front);
        if let Some(next) = self.next {
            frontend.third.push(next);
        }
    }
}

#[inline]
fn play_lone<E: Env>(
    (frontend, mut gate): (&mut Frontend, TwoAtGate),
    backend: &mut Backend,
    thread: ThreadId,
    (from, until): (Cycle, Cycle),
    env: &mut E,
) -> Result<Cycle, (Cycle, Fault)> {
    let mut now = from;
    while now < until {
        let entry = gate.front;
        let Some(decoded) = decode(entry.word()) else { break };
        if !backend.accepts(decoded, entry.word(), thread, now) {
            break;
        }
        frontend.untrack(&entry);
        if frontend.gate.wait.is_some() {
            end_wait(frontend, thread, now, env);
        }
        let issued = Issued::new(&entry, thread, now);
        let executed = execute(backend, &mut frontend.gate, decoded, (&issued, entry.slot()), env);
        now += 1;
        if let Err(fault) = executed {
            gate.next.into_iter().for_each(|next| frontend.third.push(next));
            return Err((now, fault));
        }
        let played = frontend.replay.play().unwrap_or(Queued::EMPTY);
        gate.front = match &mut gate.next {
            Some(next) => std::mem::replace(next, played),
            None => played,
        };
        if decoded.stirs {
            if backend.vector.schedule.is_active()
                && let Err(fault) = backend.finish_vector_cycle(issued.now)
            {
                gate.put_back(frontend);
                return Err((now, fault));
            }
            if backend.acts_by_itself() || frontend.gate.latch.is_some() || env.wants_control() {
                break;
            }
        }
        if !frontend.replay.is_playing() {
            break;
        }
    }
    gate.put_back(frontend);
    Ok(now)
}
