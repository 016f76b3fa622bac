//! How a resource stands, and what has become of a core that stopped, in words.

use sim_core::{AgentId, CoreId, WaitReason, Width};
use tile::AgentWait;

use super::EBREAK;
use super::scene::Scene;
use crate::describe::reason_text;
use crate::resource::{Resource, Way};

/// What has become of a core or a thread that has halted, or of a core that is held in reset.
pub(super) fn stopped(scene: &Scene<'_>, wait: &AgentWait) -> String {
    let is_ebreak = |pc| scene.machine.l1(pc, Width::Word) == EBREAK;
    match wait.reason {
        WaitReason::Halted if matches!(wait.agent, AgentId::Thread(_)) => {
            "has stopped at what it cannot execute".into()
        }
        WaitReason::Halted if wait.pc.is_some_and(is_ebreak) => {
            "has stopped at an ebreak (a failed assertion, or a trap of the compiler)".into()
        }
        _ => reason_text(&wait.reason),
    }
}

/// What a core has come to that goes round an empty loop.
pub(super) fn ended(scene: &Scene<'_>, wait: &AgentWait) -> String {
    let value = |name: &str, width| {
        scene.names.mailbox_address(name).map_or(0, |addr| scene.machine.l1(addr, width))
    };
    match value("watcher.assert_status.line_num", Width::Half) {
        0 => "has ended in an endless loop".to_owned(),
        line if is_recorded(scene, wait) => {
            format!("has stopped itself: the assertion in line {line} failed")
        }
        _ => "has ended in an endless loop".to_owned(),
    }
}

/// Whether a tool has left a record that it stopped the waiting core.
pub(super) fn is_recorded(scene: &Scene<'_>, wait: &AgentWait) -> bool {
    let AgentId::Core(core) = wait.agent else { return false };
    wait.reason == WaitReason::Ended && has_tripped(scene, slot(core))
}

/// Number of a core in the mailbox: BRISC, NCRISC, TRISC0-2 `[spec: boot-and-sync 1.4]`.
pub(super) const fn slot(core: CoreId) -> u32 {
    match core {
        CoreId::Brisc => 0,
        CoreId::Ncrisc => 1,
        CoreId::Trisc0 => 2,
        CoreId::Trisc1 => 3,
        CoreId::Trisc2 => 4,
    }
}

/// Whether the record of assertions names that core: `DebugAssertTripped` is 3, 2 stands for "all
/// well".
pub(super) fn has_tripped(scene: &Scene<'_>, slot: u32) -> bool {
    let byte = |name: &str| {
        scene.names.mailbox_address(name).map(|addr| scene.machine.l1(addr, Width::Byte))
    };
    byte("watcher.assert_status.tripped").is_some_and(|value| value > 2)
        && byte("watcher.assert_status.which") == Some(slot)
}

/// The state of a resource in brackets; nothing without books.
pub(super) fn remark(scene: &Scene<'_>, resource: Resource) -> String {
    if scene.ledger.is_blank() { String::new() } else { format!(" ({})", state(scene, resource)) }
}

/// What is known about the state of a resource.
pub(super) fn state(scene: &Scene<'_>, resource: Resource) -> String {
    let history = scene.ledger.history(resource);
    match (resource, history) {
        (Resource::Semaphore(_), Some(history)) => format!("value {}", history.value),
        (Resource::Semaphore(_), None) => "never touched".to_owned(),
        (Resource::Mutex(_), Some(history)) => match history.last(Way::Take) {
            Some(entry) if history.value == 0 => {
                let place = scene.place(entry.agent, entry.pc);
                format!("held by {}, taken in {place}", entry.agent)
            }
            _ => "free".to_owned(),
        },
        (Resource::Mutex(_), None) => "never taken".to_owned(),
        (Resource::Src(_), history) => banks(history.map_or(0, |history| history.value)),
        (Resource::Circular(index), Some(history)) => {
            let pages = scene.buffer(index).map(|buffer| format!(" of {}", buffer.pages));
            let held = history.given.cast_signed() - history.taken.cast_signed();
            format!(
                "{} pushed, {} popped, {held}{} pages in it{}",
                history.given,
                history.taken,
                pages.unwrap_or_default(),
                missing(scene, index)
            )
        }
        (Resource::Circular(index), None) => format!("never touched{}", missing(scene, index)),
        (_, Some(history)) => format!(
            "{} {}, {} {}",
            history.given,
            plural(resource.give(), history.given),
            history.taken,
            plural(resource.take(), history.taken)
        ),
        (_, None) => "never used".to_owned(),
    }
}

/// What to add about a circular buffer that the launch has not set up.
fn missing(scene: &Scene<'_>, index: u8) -> String {
    if !scene.lacks(index) {
        return String::new();
    }
    let set_up = scene.set_up().map(|buffer| buffer.index.to_string());
    format!("; the launch has set up CB {} only", set_up.collect::<Vec<_>>().join(", "))
}

/// One, or more than one.
pub(super) fn plural(word: &str, count: u64) -> String {
    match (count, word.ends_with("sh")) {
        (1, _) => word.to_owned(),
        (_, true) => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

fn banks(bits: u32) -> String {
    let owner = |bank: u32| if bits >> bank & 1 == 1 { "matrix unit" } else { "unpacker" };
    format!(
        "bank 0 {}'s, bank 1 {}'s; unpacker is at bank {}, matrix unit at bank {}",
        owner(0),
        owner(1),
        bits >> 2 & 1,
        bits >> 3 & 1
    )
}
