//! Whether a chip at work gets anywhere: what stands still for long although cores move.
//!
//! A core that stores in every round of a loop, or looks at a clock, cannot be proved to hang: its stores are
//! events that others may see. Two pulses that are equal, and many in a row, are a hint.

use sim_core::{AgentId, CoreId, Cycle, Observer};

use super::{HostPoll, HungTile, Mailbox, Role, Scene, is_awaited};
use crate::field::Field;

/// Bytes of L1 that are compared as one.
const PAGE: u32 = 4096;
/// Pages that heartbeats and waypoints may change; who changes more computes.
const FEW: usize = 4;

/// A core that moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moving {
    /// Its tile.
    pub tile: u16,
    /// Which.
    pub core: CoreId,
    /// Where it is just now.
    pub pc: u32,
}

/// A tile as of a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Beat {
    number: u16,
    /// Devices and the coprocessor, with the counters of the NoC interfaces.
    devices: u64,
    /// Who waits, and where.
    waits: Vec<(AgentId, Option<u32>)>,
    /// Of L1, page by page.
    pages: Vec<u64>,
    moving: Vec<CoreId>,
}

/// What of a chip at work must change if it gets anywhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pulse(Vec<Beat>);

impl Pulse {
    /// Whether nothing has happened between two moments but rounds of loops: no request on a NoC, no count of
    /// a buffer or semaphore, nothing by a coprocessor, no wait that began or ended, and changes in a few
    /// pages of L1 at most.
    #[must_use]
    pub fn is_like(&self, later: &Self) -> bool {
        self.0.len() == later.0.len()
            && self.0.iter().zip(&later.0).all(|(before, after)| {
                let pairs = before.pages.iter().zip(&after.pages);
                (before.number, before.devices) == (after.number, after.devices)
                    && (&before.waits, &before.moving) == (&after.waits, &after.moving)
                    && pairs.filter(|(one, two)| one != two).count() <= FEW
            })
    }
}

impl Pulse {
    /// A pulse of `now`, if a core moves on a tile that a host waits for that reads those words, and the
    /// cores that do.
    pub(super) fn take<O: Observer + Send + 'static>(
        field: &mut Field<O>,
        now: Cycle,
        scenes: &[Scene],
        polls: &[HostPoll],
        mailbox: Mailbox,
    ) -> Option<(Self, Vec<Moving>)> {
        let mut moving = Vec::new();
        let mut beats = Vec::new();
        let mut is_awaited_by_host = false;
        for scene in scenes {
            let (role, number) = (scene.role, scene.number);
            let beat = field.with(number, now, |tile| {
                let waits = |core| scene.waits.iter().any(|wait| wait.agent == AgentId::Core(core));
                let idle = |core: &CoreId| {
                    waits(*core) || tile.is_dead(*core) || tile.waits_by_clock(*core)
                };
                let cores: Vec<_> = CoreId::ALL.into_iter().filter(|core| !idle(core)).collect();
                moving.extend(cores.iter().map(|&core| {
                    let pc = tile.core(core).pc();
                    Moving { tile: number, core, pc }
                }));
                Beat {
                    number,
                    devices: tile.devices_hash(),
                    waits: scene.waits.iter().map(|wait| (wait.agent, wait.pc)).collect(),
                    pages: if cores.is_empty() { Vec::new() } else { tile.l1_hashes(PAGE) },
                    moving: cores,
                }
            });
            if role == Role::Resting && beat.moving.is_empty() {
                continue;
            }
            is_awaited_by_host |=
                !beat.moving.is_empty() && is_awaited(role, number, polls, mailbox);
            beats.push(beat);
        }
        is_awaited_by_host.then_some((Self(beats), moving))
    }
}

impl HungTile {
    /// Whether any core of it is among those.
    #[must_use]
    pub fn has_any(&self, moving: &[Moving]) -> bool {
        moving.iter().any(|one| one.tile == self.number)
    }
}
