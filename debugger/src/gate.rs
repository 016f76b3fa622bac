//! The wait gates of the Tensix threads: what passes them, and where to stop.
//!
//! What passes when is told by the machine's own events: a tile that listens to them goes on from where the
//! machine stands, and is thrown away. A thread's instruction carries the address of the instruction that pushed it, or
//! that pushed the `MOP` or `REPLAY` it came from, and its place in that expansion.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use isa::op::Opcode;
use sim_core::observer::Slot;
use sim_core::{AgentId, Cycle, Event, Observer, Stamp, ThreadId};
use tile::Tile;

use crate::moment::{Moment, Turn};
use crate::recording::Recording;

/// An instruction that a wait gate lets through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passing {
    /// When.
    pub cycle: Cycle,
    /// Whose.
    pub thread: ThreadId,
    /// The instruction.
    pub word: u32,
    /// Address of the instruction of a core that pushed it.
    pub pc: u32,
    /// How the expanders produced it.
    pub slot: Slot,
}

impl Passing {
    /// Just before it passes.
    #[must_use]
    pub const fn moment(&self) -> Moment {
        Moment { cycle: self.cycle, turn: Turn::Gate(self.thread) }
    }
}

/// Addresses of code by the part of the session in which they mean the same, given by the cycle in which it begins.
pub type Sites = BTreeMap<Cycle, BTreeSet<u32>>;

/// A stop at a wait gate. What is `None` is not asked for.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct GateStop {
    /// Number by which it is known.
    pub number: u32,
    /// Only of that thread.
    pub thread: Option<ThreadId>,
    /// Only that instruction.
    pub opcode: Option<Opcode>,
    /// Only the n-th instruction of the expansion of a MOP, from 1.
    pub mop: Option<u32>,
    /// Only from that place of the replay buffer, from 0.
    pub replay: Option<u8>,
    /// Only what was pushed from there.
    pub sites: Option<Sites>,
    /// It stops once.
    pub once: bool,
    /// As it was asked for.
    pub text: String,
}

impl GateStop {
    fn meets(&self, passing: &Passing) -> bool {
        let Passing { cycle, thread, word, pc, slot } = *passing;
        let is_from = |sites: &Sites| {
            let stage = sites.range(..=cycle).next_back();
            stage.is_some_and(|(_, code)| code.contains(&pc))
        };
        self.thread.is_none_or(|wanted| wanted == thread)
            && self.opcode.is_none_or(|wanted| Opcode::from_word(word) == Some(wanted))
            && self.mop.is_none_or(|wanted| wanted == slot.mop)
            && self.replay.is_none_or(|wanted| u32::from(slot.replay) == u32::from(wanted) + 1)
            && self.sites.as_ref().is_none_or(is_from)
    }
}

impl fmt::Display for GateStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let once = if self.once { " (once)" } else { "" };
        write!(f, "{}: {}{once}", self.number, self.text)
    }
}

/// A step of a thread: to its next instruction that was pushed from elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) thread: ThreadId,
    /// Where pushing instructions do not count, if there is such code.
    pub(crate) stays: Range<u32>,
}

/// What is listened for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) stops: Vec<GateStop>,
    pub(crate) step: Option<Step>,
    /// From then on,
    pub(crate) from: Moment,
    /// and before that.
    pub(crate) until: Moment,
    /// The first, else the last.
    pub(crate) first: bool,
}

/// What was found: what passes, and the number of the stop that it meets, if it is not only a step.
pub(crate) type Found = (Passing, Option<u32>);

/// Listens to what passes the gates.
#[derive(Debug)]
pub(crate) struct Listener {
    wanted: Wanted,
    found: Option<Found>,
}

impl Listener {
    fn hears(&self, passing: &Passing) -> Option<Option<u32>> {
        let Wanted { stops, step, .. } = &self.wanted;
        let stop = stops.iter().find(|stop| stop.meets(passing)).map(|stop| stop.number);
        let is_step =
            |step: &Step| step.thread == passing.thread && !step.stays.contains(&passing.pc);
        (stop.is_some() || step.as_ref().is_some_and(is_step)).then_some(stop)
    }
}

impl Observer for Listener {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        let (Event::Issue { thread, word, slot }, AgentId::Thread(_)) = (event, stamp.agent) else {
            return;
        };
        if self.wanted.first && self.found.is_some() {
            return;
        }
        let passing =
            Passing { cycle: stamp.cycle, thread: *thread, word: *word, pc: stamp.pc, slot: *slot };
        if (self.wanted.from..self.wanted.until).contains(&passing.moment())
            && let Some(stop) = self.hears(&passing)
        {
            self.found = Some((passing, stop));
        }
    }
}

/// A tile that goes ahead and listens.
#[derive(Debug)]
pub(crate) struct Lookout {
    pub(crate) recording: Arc<Recording>,
    pub(crate) tile: Tile<Listener>,
    pub(crate) given: usize,
}

impl Lookout {
    pub(crate) const fn listener(wanted: Wanted) -> Listener {
        Listener { wanted, found: None }
    }

    /// The first that is wanted before a moment, or the last.
    pub(crate) fn before(&mut self, until: Moment) -> Option<Found> {
        let end = self.recording.config.epoch.round_up(until.cycle + 1);
        while self.tile.now() < end {
            let listener = self.tile.observer();
            if listener.wanted.first && listener.found.is_some() {
                break;
            }
            let next = (self.tile.now() + STRETCH).min(end).min(self.recording.until);
            if next <= self.tile.now() {
                break;
            }
            self.recording.run(&mut self.tile, &mut self.given, next);
        }
        let found = self.tile.observer().found;
        found.filter(|(passing, _)| passing.moment() < until)
    }
}

/// Cycles between two looks whether something was found.
const STRETCH: u64 = 1 << 12;
