//! Whether a chip at work gets anywhere: what stands still for long although cores move.
//!
//! A core that stores in every round of a loop, looks at a clock, or asks another tile again and again cannot
//! be proved to hang: what it does are events that others may see. Pulses that are alike, many in a row, are a
//! hint.

use sim_core::{AgentId, CoreId, Cycle, Observer};

use super::{HostPoll, HungTile, Mailbox, Role, Scene, is_awaited};
use crate::field::Field;

/// Bytes of L1 that are compared as one.
const PAGE: u32 = 4096;
/// Pages that heartbeats and waypoints may change; who changes more computes.
const FEW: usize = 4;
/// Pages that may change while requests go over a NoC or the coprocessor works: a counter that tiles pass to
/// and fro, a word that is fetched again and again. Who moves data fills buffers.
const COUNTERS: usize = 2;

/// A core that moves, or has moved since the last pulse and waits just now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moving {
    /// Its tile.
    pub tile: u16,
    /// Which.
    pub core: CoreId,
    /// Where it is just now.
    pub pc: u32,
    /// Whether it waits just now.
    pub waits: bool,
}

/// What two pulses have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Likeness {
    /// Nothing that says anything.
    None,
    /// Memory: L1 of no tile has changed but in a page or two. Requests, counts and computations are not
    /// compared.
    Memory,
    /// All but rounds of loops: no request on a NoC, no count of a buffer or semaphore, nothing by a
    /// coprocessor, no wait that began or ended, and changes in a few pages of L1 at most.
    All,
}

/// A tile as of a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Beat {
    number: u16,
    /// Devices and the coprocessor, with the counters of the NoC interfaces.
    devices: u64,
    /// Who waits, and where.
    waits: Vec<(AgentId, Option<u32>)>,
    /// Of L1, page by page, if a core has moved: it takes long to look at.
    pages: Vec<u64>,
    moving: Vec<CoreId>,
}

/// What of a chip at work must change if it gets anywhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pulse(Vec<Beat>);

impl Pulse {
    /// How much alike two moments are.
    #[must_use]
    pub fn likeness(&self, later: &Self) -> Likeness {
        if self.0.len() != later.0.len() {
            return Likeness::None;
        }
        let pairs = self.0.iter().zip(&later.0);
        pairs.map(|(before, after)| before.likeness(after)).min().unwrap_or(Likeness::None)
    }

    /// A pulse of `now`, if a core has moved since `before` on a tile that a host waits for that reads those
    /// words, and the cores that have.
    pub(super) fn take<O: Observer + Send + 'static>(
        field: &mut Field<O>,
        (before, now): (Cycle, Cycle),
        scenes: &[Scene],
        polls: &[HostPoll],
        mailbox: &Mailbox,
    ) -> Option<(Self, Vec<Moving>)> {
        let mut moving = Vec::new();
        let mut beats = Vec::new();
        let mut is_awaited_by_host = false;
        for scene in scenes {
            let (role, number) = (scene.role, scene.number);
            let movers = moving.len();
            let beat = field.with(number, now, |tile| {
                let wait = |core| scene.waits.iter().find(|wait| wait.agent == AgentId::Core(core));
                let sleeps = |core| tile.is_dead(core) || tile.waits_by_clock(core);
                let moves = |core: &CoreId| wait(*core).is_none() && !sleeps(*core);
                let waits_anew = |core: CoreId| {
                    wait(core).is_some_and(|wait| wait.since.is_some_and(|since| since > before))
                };
                moving.extend(CoreId::ALL.into_iter().filter_map(|core| {
                    let waits = !moves(&core);
                    let pc = tile.core(core).pc();
                    (!waits || waits_anew(core)).then_some(Moving { tile: number, core, pc, waits })
                }));
                let has_moved = moving.len() > movers;
                (has_moved || role != Role::Resting).then(|| Beat {
                    number,
                    devices: tile.devices_hash(),
                    waits: scene.waits.iter().map(|wait| (wait.agent, wait.pc)).collect(),
                    pages: if has_moved { tile.l1_hashes(PAGE) } else { Vec::new() },
                    moving: CoreId::ALL.into_iter().filter(moves).collect(),
                })
            });
            let Some(beat) = beat else { continue };
            is_awaited_by_host |= moving.len() > movers && is_awaited(role, number, polls, mailbox);
            beats.push(beat);
        }
        is_awaited_by_host.then_some((Self(beats), moving))
    }
}

impl Beat {
    fn likeness(&self, later: &Self) -> Likeness {
        let pairs = self.pages.iter().zip(&later.pages);
        let changed = pairs.filter(|(one, two)| one != two).count();
        let stands = (self.devices, &self.waits, &self.moving)
            == (later.devices, &later.waits, &later.moving);
        if self.number != later.number {
            Likeness::None
        } else if stands && changed <= FEW {
            Likeness::All
        } else if changed <= COUNTERS {
            Likeness::Memory
        } else {
            Likeness::None
        }
    }
}

impl HungTile {
    /// Whether any core of it is among those.
    #[must_use]
    pub fn has_any(&self, moving: &[Moving]) -> bool {
        moving.iter().any(|one| one.tile == self.number)
    }
}
