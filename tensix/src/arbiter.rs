//! Who goes first where several threads want what takes one instruction per cycle.

use sim_core::{ThreadId, WaitReason};

use crate::backend::Backend;
use crate::decode::{Resource, decode};
use crate::frontend::Frontend;
use crate::frontend::set::{ThreadSet, bit, members};
use crate::unit::busy;
use crate::units::sync::SyncUnit;

/// Lets one thread per shared unit and per mutex through: the threads that may issue.
pub(crate) fn arbitrate(
    threads: &mut [Frontend; 3],
    backend: &Backend,
    ready: ThreadSet,
) -> ThreadSet {
    let mut wanted = [None; 3];
    for thread in members(ready) {
        let front = threads[thread.index()].third.front();
        wanted[thread.index()] = front.and_then(|front| wanted_by(front.word(), backend));
    }
    let mut winners = ready;
    for loser in members(ready) {
        let Some((resource, last)) = wanted[loser.index()] else { continue };
        let beaten = members(ready & !bit(loser)).any(|rival| {
            wanted[rival.index()].is_some_and(|other| other.0 == resource)
                && rank(rival, last) < rank(loser, last)
        });
        if beaten {
            winners &= !bit(loser);
            note_loss(&mut threads[loser.index()]);
        }
    }
    winners
}

/// A number for what a ready front competes for, and who was served last.
#[inline]
fn wanted_by(word: u32, backend: &Backend) -> Option<(u32, u8)> {
    let decoded = decode(word)?;
    match decoded.resource {
        Resource::Free => None,
        Resource::Unit => {
            let unit = decoded.unit as usize;
            Some((unit as u32, backend.last_served[unit]))
        }
        Resource::Mutex => {
            let index = SyncUnit::named_mutex(word);
            let slot = SyncUnit::mutex_slot(index)?;
            Some((0x100 + index, backend.sync.mutexes[slot].last))
        }
    }
}

/// Notes why a thread that lost an arbitration waits.
fn note_loss(frontend: &mut Frontend) {
    let Some(front) = frontend.third.front() else { return };
    let Some(decoded) = decode(front.word()) else { return };
    frontend.gate.reason = match decoded.resource {
        Resource::Mutex => WaitReason::Mutex { index: SyncUnit::named_mutex(front.word()) as u8 },
        Resource::Free | Resource::Unit => busy(decoded.unit),
    };
}

/// Position of `thread` in the order that begins after `last`.
const fn rank(thread: ThreadId, last: u8) -> u8 {
    (thread as u8 + 2 - last) % 3
}
