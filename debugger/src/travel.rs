//! Steps, breakpoints and watchpoints, forwards and backwards.
//!
//! An instruction is named by its core and its number; it *begins* at the moment at which the core
//! first attempts it. Whoever stops at an instruction stands at that moment, whichever direction they
//! came from. Going forwards a watchpoint stops behind the access, going backwards before it.

use std::collections::BTreeSet;

use sim_core::{CoreId, Cycle};

use crate::machine::{Attempt, Machine};
use crate::moment::Moment;
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
}

impl Stops {
    pub(crate) fn is_empty(&self) -> bool {
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
    focus: CoreId,
    word: u32,
    /// From when on nobody has looked for stops of other cores than the focus: a debugger takes its
    /// breakpoints out for the step that leaves one.
    unchecked: Option<Moment>,
    /// Where to stop.
    pub stops: Stops,
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
        Self { focus: machine.moment().core, machine, word: 0, unchecked: None, stops }
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
    pub fn focus(&self) -> CoreId {
        self.focus
    }

    /// Whether this is the end of the session.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.machine.moment() >= self.machine.end()
    }

    /// Address of the instruction a core is at.
    #[must_use]
    pub fn pc(&self, core: CoreId) -> u32 {
        let inside = if core == self.focus { 4 * self.word } else { 0 };
        self.machine.core(core).at().wrapping_add(inside)
    }

    /// Goes to the first moment of a cycle.
    pub fn go_to(&mut self, cycle: Cycle) {
        self.machine.seek_and_keep(Moment::at(cycle));
        self.settle(CoreId::ALL[0], 0);
    }

    /// Goes to a moment at which nobody in particular is looked at.
    pub(crate) fn arrive(&mut self, moment: Moment) {
        self.machine.seek(moment);
        self.settle(moment.core, 0);
    }

    /// Goes to a stop that was found.
    pub(crate) fn stand_at(&mut self, moment: Moment, word: u32, hit: Hit) {
        self.machine.seek_and_keep(moment);
        let focus = match hit {
            Hit::Break(core) | Hit::Watch(core, _) => core,
            _ => self.focus,
        };
        self.settle(focus, word);
    }

    fn settle(&mut self, focus: CoreId, word: u32) {
        (self.focus, self.word, self.unchecked) = (focus, word, None);
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
        if !has_focus {
            return self.search(&|_, _| true, None, until, patience);
        }
        let (here, focus, word) = (self.machine.moment(), self.focus, self.word);
        // Within a bundle nothing moves but the debugger's attention.
        if let Some(attempt) = self.machine.attempt().filter(|attempt| attempt.core == focus)
            && let Some(next) = self.stops.breaks(&attempt, word + 1)
        {
            self.settle(focus, next);
            return Some(Hit::Break(focus));
        }
        if let Some(unchecked) = self.unchecked {
            self.machine.seek(unchecked);
        }
        self.settle(focus, 0);
        let looks = |attempt: &Attempt, at: Moment| {
            if attempt.core == focus { at > here } else { true }
        };
        self.search(&looks, None, until, patience)
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
            && self.focus == core
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
        let end = self.machine.end();
        let hit = self.search(&looks, Some((core, number)), end, patience).unwrap_or_else(|| {
            self.settle(self.focus, 0);
            Hit::End
        });
        if matches!(hit, Hit::Step(_)) && self.stops.is_empty() {
            self.unchecked = Some(unchecked);
        }
        hit
    }

    /// Back to where a core begins the instruction before.
    pub fn step_back(&mut self, core: CoreId, patience: Patience<'_>) -> Hit {
        if self.focus == core && self.word > 0 {
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
        let attempt = self.machine.attempt().filter(|attempt| attempt.core == focus)?;
        let has = |word: &u32| self.stops.breakpoints.contains(&attempt.pc.wrapping_add(4 * word));
        let word = (0..self.word).rev().find(has)?;
        self.settle(focus, word);
        Some(Hit::Break(focus))
    }

    /// The last stop from here up to a moment.
    pub(crate) fn last_stop(&mut self, until: Moment) -> Option<(Moment, u32, Hit)> {
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
        found
    }

    fn watched_l1(&self) -> WatchedL1 {
        WatchedL1::new(&self.machine, self.stops.watches.iter().filter(|watch| watch.writes))
    }
}
