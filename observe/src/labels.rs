//! What semaphores, mutexes and agents are called, and how long a wait took.

use std::borrow::Cow;

use sim_core::{AgentId, Event, Stamp};

use crate::text::{Dec, put};

pub(crate) fn semaphore_name(index: u8) -> Cow<'static, str> {
    isa::names::semaphore(index.into())
        .map_or_else(|| Cow::Owned(format!("semaphore {index}")), Cow::Borrowed)
}

pub(crate) fn mutex_name(index: u8) -> Cow<'static, str> {
    isa::names::mutex(index.into()).map_or_else(|| Cow::Owned(index.to_string()), Cow::Borrowed)
}

/// What an agent is called.
pub(crate) fn agent_name(agent: AgentId) -> Cow<'static, str> {
    Cow::Borrowed(match agent {
        AgentId::Core(core) => core.name(),
        AgentId::Thread(thread) => ["Tensix T0", "Tensix T1", "Tensix T2"][thread.index()],
        AgentId::Host => "host",
        other => return Cow::Owned(other.to_string()),
    })
}

/// Puts what a phrase leaves out and its text begins with: how long a wait took.
#[inline]
pub(crate) fn put_duration(out: &mut String, stamp: Stamp, event: &Event) {
    if let Event::WaitEnd { since, .. } = *event {
        put!(out; "waited ", Dec(stamp.cycle - since), " cycles: ");
    }
}
