//! One thread's part of a cycle: its latched wait, its front instruction, its expanders.

use sim_core::observer::{Event, Slot, Stamp};
use sim_core::{AgentId, Cycle, ThreadId, WaitReason};

use crate::backend::Backend;
use crate::decode::{Decoded, decode};
use crate::env::Env;
use crate::frontend::Frontend;
use crate::gate::{Gate, wait_of};
use crate::queue::Queued;
use crate::timing::{TimingModel, cost};
use crate::units::{Fault, Issued};

/// Evaluates the latched wait instruction of `thread`, if there is one: whether it is met.
#[inline(always)]
pub(crate) fn evaluate<E: Env>(
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

/// What keeps the front instruction of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Look {
    /// Nothing: it issues unless it loses an arbitration.
    Ready,
    /// What the gate's reason says.
    Waits,
    /// It is gone, because it was refused and that check is lowered.
    Gone,
}

/// Looks at the front instruction of `thread`, which there is. If it waits, the gate has the reason.
#[inline(always)]
pub(crate) fn look(
    frontend: &mut Frontend,
    backend: &mut Backend,
    thread: ThreadId,
    now: Cycle,
) -> Result<Look, Fault> {
    let Some(&front) = frontend.third.front() else { return Ok(Look::Waits) };
    let Some(decoded) = decode(front.word()) else {
        backend.warnings.unassigned(frontend, &front, thread, now)?;
        return Ok(Look::Gone);
    };
    let held = frontend.gate.holds(decoded);
    // What has waited will most likely go on to: why is all there is to ask.
    let accepts =
        || frontend.gate.wait.is_none() && backend.accepts(decoded, front.word(), thread, now);
    let reason = match held {
        None if accepts() => None,
        None => backend.refuses(decoded, front.word(), thread, now),
        held => held,
    };
    let Some(reason) = reason else { return Ok(Look::Ready) };
    frontend.gate.reason = reason;
    Ok(Look::Waits)
}

/// Lets the front instruction of `thread` through the gate.
#[inline(never)]
pub(crate) fn issue<E: Env>(
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
pub(crate) fn issue_decoded<E: Env>(
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
    let (thread, word) = (issued.thread, issued.word);
    env.emit(issued.stamp(), || Event::Issue { thread, word, slot });
    let banks = backend.before(decoded, issued, env);
    if let Err(fault) = backend.execute(decoded, issued, gate, env) {
        backend.unit_refused(fault, decoded, issued, gate, env)?;
    }
    backend.after(banks, (issued, slot), env);
    backend.last_served[decoded.unit as usize] = issued.thread as u8;
    Ok(())
}

/// One cycle of the expanders of `thread`.
#[inline(always)]
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
pub(crate) fn wait<E: Env>(
    frontend: &mut Frontend,
    thread: ThreadId,
    now: Cycle,
    env: &mut E,
) -> bool {
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
    let at = Stamp { cycle: now, agent: AgentId::Thread(thread), pc: front.pc() };
    env.emit(at, || Event::WaitBegin { reason });
    true
}

/// The front instruction has waited long enough.
pub(crate) fn end_wait<E: Env>(frontend: &mut Frontend, thread: ThreadId, now: Cycle, env: &mut E) {
    if let Some(wait) = frontend.gate.wait.take() {
        let at = Stamp { cycle: now, agent: AgentId::Thread(thread), pc: wait.origin.pc };
        env.emit(at, || Event::WaitEnd { reason: wait.reason, since: wait.since });
    }
}
