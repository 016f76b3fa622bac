//! Steps, breakpoints and watchpoints, forwards and backwards.
//!
//! An instruction is named by its core and its number; it *begins* at the moment at which the core
//! first attempts it. Whoever stops at an instruction stands at that moment, whichever direction they
//! came from. Going forwards a watchpoint stops behind the access, going backwards before it. A Tensix thread goes from
//! one instruction that its wait gate lets through to the next, and stands just before it.

use std::collections::BTreeSet;
use std::ops::Range;

use sim_core::{CoreId, Cycle, ThreadId};

use crate::gate::{GateStop, Passing, Step, Wanted};
use crate::machine::{Attempt, Machine};
use crate::moment::{Moment, Turn};
use crate::watched::WatchedL1;

/// Cycles of the first window that is searched backwards, and how much longer each next one is.
const FIRST_WINDOW: u64 = 256;
const WINDOW_GROWTH: u64 = 8;
const LONGEST_WINDOW: u64 = 1 << 18;
/// Moments between two questions whether to go on.
const PATIENCE: u32 = 1 << 14;

/// What is watched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Watch {
    /// Byte address as cores see it.
    pub addr: u32,
    /// Bytes.
    pub bytes: u32,
    /// Loads are stopped at.
    pub reads: bool,
    /// Stores are.
    pub writes: bool,
    /// Whose memory it is, if it is one core's own.
    pub of: Option<CoreId>,
}

impl Watch {
    fn meets(&self, addr: u32, bytes: u32) -> bool {
        let within = |at: u32, from: u32, count: u32| at.wrapping_sub(from) < count;
        within(addr, self.addr, self.bytes) || within(self.addr, addr, bytes)
    }
}

/// Where to stop.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Stops {
    /// Addresses of instructions.
    pub breakpoints: BTreeSet<u32>,
    /// Memory.
    pub watches: BTreeSet<Watch>,
    /// Wait gates.
    pub gates: Vec<GateStop>,
}

impl Stops {
    pub(crate) fn is_empty(&self) -> bool {
        self.leaves_cores_alone() && self.gates.is_empty()
    }

    /// Whether no instruction of a core is stopped at.
    fn leaves_cores_alone(&self) -> bool {
        self.breakpoints.is_empty() && self.watches.is_empty()
    }

    /// Which word of an attempt has a breakpoint, from the one of that number on.
    fn breaks(&self, attempt: &Attempt, from: u32) -> Option<u32> {
        (from..attempt.words)
            .find(|word| self.breakpoints.contains(&attempt.pc.wrapping_add(4 * word)))
    }

    fn last_break(&self, attempt: &Attempt) -> Option<u32> {
        let has = |word: &u32| self.breakpoints.contains(&attempt.pc.wrapping_add(4 * word));
        (0..attempt.words).rev().find(has)
    }

    /// The watchpoint that an attempt meets.
    fn watched(&self, attempt: &Attempt) -> Option<Watch> {
        let access = attempt.access?;
        let is_kind = |watch: &&Watch| watch.reads && access.reads || watch.writes && access.writes;
        let meets = |watch: &&Watch| watch.meets(access.addr, access.width.bytes());
        let is_own = |watch: &&Watch| watch.of.is_none_or(|of| of == attempt.core);
        let mut watches = self.watches.iter();
        watches.find(|watch| is_kind(watch) && meets(watch) && is_own(watch)).copied()
    }
}

/// Why it stands where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hit {
    /// A breakpoint, at the moment of its instruction.
    Break(CoreId),
    /// A core's access to what is watched.
    Watch(CoreId, Watch),
    /// Somebody else, the coprocessor, the NoC or the host, has changed what is watched.
    Changed(Watch),
    /// The step is done.
    Step(CoreId),
    /// A wait gate is about to let an instruction through: a step of the thread, or the stop of that number.
    Passes(ThreadId, Option<u32>),
    /// The beginning of the session.
    Begin,
    /// Its end.
    End,
    /// Whoever asked had enough.
    Interrupted,
}

/// Somebody who travels through a session.
#[derive(Debug)]
pub struct Traveller {
    machine: Machine,
    /// Whose instruction is looked at, and which of the words it executes as one.
    focus: Turn,
    word: u32,
    /// What the gate is about to let through, if it is the turn of one.
    passing: Option<Passing>,
    /// From when on nobody has looked for stops of other cores than the focus: a debugger takes its
    /// breakpoints out for the step that leaves one.
    unchecked: Option<Moment>,
    /// Where to stop.
    pub stops: Stops,
}

/// What is looked for besides stops at gates.
struct Quest<'q> {
    /// Which attempts may be stopped at.
    looks: &'q dyn Fn(&Attempt, Moment) -> bool,
    /// The end of a core's step: where it begins the instruction of a number, or a later one.
    number: Option<(CoreId, u64)>,
    /// The step of a thread.
    step: Option<Step>,
    /// From when on gates are looked at.
    from: Moment,
}

/// Whether each core's attempt is its first of that instruction.
#[derive(Clone, Copy, Debug)]
struct Begun([Option<u64>; CoreId::COUNT]);

impl Begun {
    fn new(machine: &Machine) -> Self {
        Self(machine.retried())
    }

    fn is_first(&mut self, attempt: &Attempt) -> bool {
        self.0[attempt.core.index()].replace(attempt.number) != Some(attempt.number)
    }
}

/// Asked now and then whether to go on.
pub type Patience<'a> = &'a mut dyn FnMut() -> bool;

impl Traveller {
    /// Somebody who stands where the machine does.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        let stops = Stops::default();
        let focus = machine.moment().turn;
        Self { focus, machine, word: 0, passing: None, unchecked: None, stops }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine, to be put elsewhere: see [`Traveller::go_to`].
    pub fn machine_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// Whose instruction is looked at.
    #[must_use]
    pub fn focus(&self) -> Turn {
        self.focus
    }

    /// What the gate is about to let through that is looked at, if it is the turn of one.
    #[must_use]
    pub fn passing(&self) -> Option<Passing> {
        self.passing
    }

    /// Whether this is the end of the session.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.machine.moment() >= self.machine.end()
    }

    /// Address of the instruction a core is at; of a thread that of the instruction that pushed what stands at its
    /// wait gate, 0 if nothing does.
    #[must_use]
    pub fn pc(&self, turn: impl Into<Turn>) -> u32 {
        match turn.into() {
            Turn::Core(core) => {
                let inside = if Turn::Core(core) == self.focus { 4 * self.word } else { 0 };
                self.machine.core(core).at().wrapping_add(inside)
            }
            Turn::Gate(thread) => {
                let passing = self.passing.filter(|passing| passing.thread == thread);
                passing.map_or_else(
                    || self.machine.gate(thread).origin().map_or(0, |origin| origin.pc),
                    |passing| passing.pc,
                )
            }
        }
    }

    /// Goes to the first moment of a cycle.
    pub fn go_to(&mut self, cycle: Cycle) {
        self.machine.seek_and_keep(Moment::at(cycle));
        self.settle(Turn::FIRST, 0);
    }

    /// Goes to a moment at which nobody in particular is looked at.
    pub(crate) fn arrive(&mut self, moment: Moment) {
        self.machine.seek(moment);
        self.settle(moment.turn, 0);
    }

    /// Goes to a stop that was found.
    pub(crate) fn stand_at(&mut self, moment: Moment, word: u32, hit: Hit) {
        self.machine.seek_and_keep(moment);
        let focus = match hit {
            Hit::Break(core) | Hit::Watch(core, _) => core.into(),
            Hit::Passes(thread, _) => thread.into(),
            _ => self.focus,
        };
        self.settle(focus, word);
        if let Turn::Gate(thread) = moment.turn {
            self.passing = self.machine.gate(thread).front.map(|front| Passing {
                cycle: moment.cycle,
                thread,
                word: front.word,
                pc: front.origin.pc,
                slot: front.slot,
            });
        }
    }

    fn settle(&mut self, focus: impl Into<Turn>, word: u32) {
        (self.focus, self.word, self.unchecked) = (focus.into(), word, None);
        self.passing = None;
    }

    /// Stands just before what the gate lets through.
    fn stand_before(&mut self, passing: Passing) {
        self.machine.seek_and_keep(passing.moment());
        self.settle(passing.thread, 0);
        self.passing = Some(passing);
    }

    /// Goes on to the next stop.
    pub fn forward(&mut self, patience: Patience<'_>) -> Hit {
        if self.stops.is_empty() {
            return self.run_out(patience);
        }
        let end = self.machine.end();
        let hit = self.forward_until(end, true, patience);
        hit.unwrap_or_else(|| {
            self.settle(self.focus, 0);
            Hit::End
        })
    }

    /// Goes on to the next stop before a moment, if there is one. The instruction that is looked at is left
    /// behind if somebody `has_focus`.
    pub(crate) fn forward_until(
        &mut self,
        until: Moment,
        has_focus: bool,
        patience: Patience<'_>,
    ) -> Option<Hit> {
        let (here, focus, word) = (self.machine.moment(), self.focus, self.word);
        if !has_focus {
            let quest = Quest { looks: &|_, _| true, number: None, step: None, from: here };
            return self.hunt(&quest, until, patience);
        }
        // Within a bundle nothing moves but the debugger's attention.
        if let Some(attempt) = self.machine.attempt().filter(|one| focus == one.core.into())
            && let Some(next) = self.stops.breaks(&attempt, word + 1)
        {
            self.settle(focus, next);
            return Some(Hit::Break(focus.core()));
        }
        if let Some(unchecked) = self.unchecked {
            self.machine.seek(unchecked);
        }
        self.settle(focus, 0);
        let looks = |attempt: &Attempt, at: Moment| focus != attempt.core.into() || at > here;
        // Nobody takes stops at gates out for a step: all of them have been looked at.
        let quest = Quest { looks: &looks, number: None, step: None, from: here.next() };
        self.hunt(&quest, until, patience)
    }

    /// Looks for the next stop of a core or at a gate, or the end of a step; `None` if there is none before `until`.
    /// The machine stands there then, or behind it where nothing moves.
    fn hunt(&mut self, quest: &Quest<'_>, until: Moment, patience: Patience<'_>) -> Option<Hit> {
        let Quest { looks, number, ref step, from } = *quest;
        if self.stops.gates.is_empty() && step.is_none() {
            return self.search(looks, number, until, patience);
        }
        let (stops, step) = (self.stops.gates.clone(), step.clone());
        let mut lookout = self.machine.lookout(Wanted { stops, step, from, until, first: true });
        let cores = number.is_some() || !self.stops.leaves_cores_alone();
        let mut length = FIRST_WINDOW;
        loop {
            let bound = Moment::at(self.machine.moment().cycle + length).min(until);
            let found = lookout.before(bound);
            let stop = found.map_or(bound, |(passing, _)| passing.moment());
            if !cores {
                self.machine.seek(stop);
            } else if let Some(hit) = self.search(looks, number, stop, patience) {
                return Some(hit);
            }
            if let Some((passing, number)) = found {
                self.stand_before(passing);
                return Some(Hit::Passes(passing.thread, number));
            }
            if bound >= until {
                return None;
            }
            if !patience() {
                self.settle(self.focus, 0);
                return Some(Hit::Interrupted);
            }
            length = (length * WINDOW_GROWTH).min(LONGEST_WINDOW);
        }
    }

    /// In stretches, so that somebody may have enough of it.
    fn run_out(&mut self, patience: Patience<'_>) -> Hit {
        let end = self.machine.end();
        while self.machine.moment() < end {
            if !patience() {
                self.settle(self.focus, 0);
                return Hit::Interrupted;
            }
            let next = Moment::at(self.machine.moment().cycle + LONGEST_WINDOW).min(end);
            self.machine.seek(next);
        }
        self.settle(self.focus, 0);
        Hit::End
    }

    /// Looks for the next stop that `looks` allows, or for the moment at which a core begins an
    /// instruction of a number, or a later one; `None` if there is none before `until`.
    fn search(
        &mut self,
        looks: &dyn Fn(&Attempt, Moment) -> bool,
        step: Option<(CoreId, u64)>,
        until: Moment,
        patience: Patience<'_>,
    ) -> Option<Hit> {
        let (mut begun, mut asked) = (Begun::new(&self.machine), 0_u32);
        let mut watched = self.watched_l1();
        while self.machine.moment() < until {
            let (here, attempt) = (self.machine.moment(), self.machine.attempt());
            let mut met = None;
            if let Some(attempt) = attempt {
                let is_first = begun.is_first(&attempt);
                let is_stop = is_first && looks(&attempt, here);
                if let Some(word) = self.stops.breaks(&attempt, 0).filter(|_| is_stop) {
                    self.settle(attempt.core, word);
                    return Some(Hit::Break(attempt.core));
                }
                if step
                    .is_some_and(|(core, number)| core == attempt.core && attempt.number >= number)
                {
                    self.settle(attempt.core, 0);
                    return Some(Hit::Step(attempt.core));
                }
                met = self.stops.watched(&attempt).filter(|_| is_first);
            }
            if !self.machine.advance() {
                self.settle(self.focus, 0);
                return Some(Hit::End);
            }
            if let (Some(watch), Some(attempt)) = (met, attempt) {
                self.settle(attempt.core, 0);
                return Some(Hit::Watch(attempt.core, watch));
            }
            if let Some(changed) = watched.changed(&self.machine) {
                self.settle(self.focus, 0);
                return Some(Hit::Changed(changed));
            }
            asked += 1;
            if asked.is_multiple_of(PATIENCE) && !patience() {
                self.settle(self.focus, 0);
                return Some(Hit::Interrupted);
            }
        }
        None
    }

    /// A core executes one instruction, and everybody else what comes in between.
    pub fn step(&mut self, core: CoreId, patience: Patience<'_>) -> Hit {
        let here = self.machine.moment();
        if let Some(attempt) = self.machine.attempt()
            && attempt.core == core
            && self.focus == core.into()
            && self.word + 1 < attempt.words
        {
            self.word += 1;
            return Hit::Step(core);
        }
        let unchecked = self.unchecked.unwrap_or(here);
        // One that is held in reset comes to its first instruction.
        let is_held = matches!(self.machine.core(core).status(), riscv::Status::Reset);
        let number = self.machine.core(core).instructions() + u64::from(!is_held);
        let looks = |attempt: &Attempt, _: Moment| attempt.core != core;
        let number = Some((core, number));
        let quest = Quest { looks: &looks, number, step: None, from: here.next() };
        self.end_step(&quest, unchecked, patience)
    }

    /// A Tensix thread goes on to the next instruction that its gate lets through, and everybody else does what comes in
    /// between. Instructions that were pushed from `stays` do not count.
    pub fn step_gate(
        &mut self,
        thread: ThreadId,
        stays: Range<u32>,
        patience: Patience<'_>,
    ) -> Hit {
        let here = self.machine.moment();
        let unchecked = self.unchecked.unwrap_or(here);
        let looks = |_: &Attempt, at: Moment| at > here;
        let step = Some(Step { thread, stays });
        let quest = Quest { looks: &looks, number: None, step, from: here.next() };
        self.end_step(&quest, unchecked, patience)
    }

    fn end_step(&mut self, quest: &Quest<'_>, unchecked: Moment, patience: Patience<'_>) -> Hit {
        let end = self.machine.end();
        let hit = self.hunt(quest, end, patience).unwrap_or_else(|| {
            self.settle(self.focus, 0);
            Hit::End
        });
        if matches!(hit, Hit::Step(_) | Hit::Passes(..)) && self.stops.leaves_cores_alone() {
            self.unchecked = Some(unchecked);
        }
        hit
    }

    /// Back to where the gate of a thread let the instruction before through.
    pub fn step_gate_back(&mut self, thread: ThreadId, patience: Patience<'_>) -> Hit {
        let here = self.machine.moment();
        let (mut until, mut length) = (here, FIRST_WINDOW);
        while until > Moment::at(Cycle::ZERO) {
            let from = Moment::at(Cycle(until.cycle.0.saturating_sub(length)));
            self.machine.seek_and_keep(from);
            let step = Some(Step { thread, stays: 0..0 });
            let wanted = Wanted { stops: Vec::new(), step, from, until, first: false };
            if let Some((passing, _)) = self.machine.lookout(wanted).before(until) {
                self.stand_before(passing);
                return Hit::Passes(thread, None);
            }
            if !patience() {
                return self.interrupted(here);
            }
            (until, length) = (from, (length * WINDOW_GROWTH).min(LONGEST_WINDOW));
        }
        self.rewind()
    }

    /// Back to where a core begins the instruction before.
    pub fn step_back(&mut self, core: CoreId, patience: Patience<'_>) -> Hit {
        if self.focus == core.into() && self.word > 0 {
            self.word -= 1;
            return Hit::Step(core);
        }
        let here = self.machine.moment();
        let Some(number) = self.machine.core(core).instructions().checked_sub(1) else {
            return self.rewind();
        };
        let wanted = |attempt: &Attempt| attempt.core == core && attempt.number == number;
        // The core must be seen to come to the instruction, or the attempt is not the first.
        let is_before = |machine: &Machine| machine.core(core).instructions() < number;
        match self.search_back(here, &wanted, &is_before, patience) {
            Ok(Some((moment, words))) => {
                self.machine.seek_and_keep(moment);
                self.settle(core, words - 1);
                Hit::Step(core)
            }
            Ok(None) => self.rewind(),
            Err(()) => self.interrupted(here),
        }
    }

    fn rewind(&mut self) -> Hit {
        self.machine.seek(Moment::at(Cycle::ZERO));
        self.settle(self.focus, 0);
        Hit::Begin
    }

    fn interrupted(&mut self, here: Moment) -> Hit {
        self.machine.seek(here);
        Hit::Interrupted
    }

    /// The last first attempt that is wanted before a moment, and its words. Windows before it are
    /// carried out again, each longer than the one before, until one begins where `is_enough`.
    fn search_back(
        &mut self,
        until: Moment,
        wanted: &dyn Fn(&Attempt) -> bool,
        is_enough: &dyn Fn(&Machine) -> bool,
        patience: Patience<'_>,
    ) -> Result<Option<(Moment, u32)>, ()> {
        let mut length = FIRST_WINDOW;
        let mut start = until.cycle.0;
        loop {
            start = start.saturating_sub(length);
            self.machine.seek_and_keep(Moment::at(Cycle(start)));
            let is_whole = start == 0 || is_enough(&self.machine);
            if is_whole {
                let (mut begun, mut found) = (Begun::new(&self.machine), None);
                while self.machine.moment() < until {
                    if let Some(attempt) = self.machine.attempt()
                        && begun.is_first(&attempt)
                        && wanted(&attempt)
                    {
                        found = Some((self.machine.moment(), attempt.words));
                    }
                    if !self.machine.advance() {
                        break;
                    }
                }
                if found.is_some() || start == 0 {
                    return Ok(found);
                }
            }
            if !patience() {
                return Err(());
            }
            length = (length * WINDOW_GROWTH).min(LONGEST_WINDOW);
        }
    }

    /// Back to the stop before.
    pub fn backward(&mut self, patience: Patience<'_>) -> Hit {
        let here = self.machine.moment();
        if self.stops.is_empty() {
            return self.rewind();
        }
        if let Some(hit) = self.back_in_bundle() {
            return hit;
        }
        let (mut until, mut length) = (here, FIRST_WINDOW);
        while until > Moment::at(Cycle::ZERO) {
            let start = Moment::at(Cycle(until.cycle.0.saturating_sub(length)));
            self.machine.seek_and_keep(start);
            if let Some((moment, word, hit)) = self.last_stop(until) {
                self.stand_at(moment, word, hit);
                return hit;
            }
            if !patience() {
                return self.interrupted(here);
            }
            (until, length) = (start, (length * WINDOW_GROWTH).min(LONGEST_WINDOW));
        }
        self.rewind()
    }

    /// The breakpoint before within the words that are executed as one.
    pub(crate) fn back_in_bundle(&mut self) -> Option<Hit> {
        let focus = self.focus;
        let attempt = self.machine.attempt().filter(|attempt| focus == attempt.core.into())?;
        let has = |word: &u32| self.stops.breakpoints.contains(&attempt.pc.wrapping_add(4 * word));
        let word = (0..self.word).rev().find(has)?;
        self.settle(focus, word);
        Some(Hit::Break(focus.core()))
    }

    /// The last stop from here up to a moment.
    pub(crate) fn last_stop(&mut self, until: Moment) -> Option<(Moment, u32, Hit)> {
        let passing = self.last_passing(until);
        if self.stops.leaves_cores_alone() {
            return passing;
        }
        let (mut begun, mut found) = (Begun::new(&self.machine), None);
        let mut watched = self.watched_l1();
        let mut epoch = self.machine.moment();
        while self.machine.moment() < until {
            let here = self.machine.moment();
            if let Some(attempt) = self.machine.attempt()
                && begun.is_first(&attempt)
            {
                if let Some(watch) = self.stops.watched(&attempt) {
                    found = Some((here, 0, Hit::Watch(attempt.core, watch)));
                }
                if let Some(word) = self.stops.last_break(&attempt) {
                    found = Some((here, word, Hit::Break(attempt.core)));
                }
            }
            if !self.machine.advance() {
                break;
            }
            if let Some(changed) = watched.changed(&self.machine)
                && self.machine.moment() <= until
            {
                found = Some((epoch, 0, Hit::Changed(changed)));
            }
            if self.machine.stands_at_epoch() {
                epoch = self.machine.moment();
            }
        }
        passing.into_iter().chain(found).max_by_key(|(moment, ..)| *moment)
    }

    /// The last stop at a gate from here up to a moment.
    fn last_passing(&self, until: Moment) -> Option<(Moment, u32, Hit)> {
        if self.stops.gates.is_empty() {
            return None;
        }
        let (stops, from) = (self.stops.gates.clone(), self.machine.moment());
        let wanted = Wanted { stops, step: None, from, until, first: false };
        let (passing, number) = self.machine.lookout(wanted).before(until)?;
        Some((passing.moment(), 0, Hit::Passes(passing.thread, number)))
    }

    fn watched_l1(&self) -> WatchedL1 {
        WatchedL1::new(&self.machine, self.stops.watches.iter().filter(|watch| watch.writes))
    }
}
