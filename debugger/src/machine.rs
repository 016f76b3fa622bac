//! A tile that stands between two instructions of a recorded session.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use riscv::{Core, MemoryAccess, Status};
use sim_core::engine::EngineKind;
use sim_core::{CoreId, Cycle, NullObserver, Observer, Shortcut, Shortcuts, ThreadId};
use tensix::{AtGate, Register, RegisterValue, ThreadWait};
use tile::{AgentWait, Tile, TileConfig, TileSnapshot};

use crate::gate::{Lookout, Wanted};
use crate::history::History;
use crate::moment::{Moment, Turn};
use crate::recording::{Recording, forget_sent};

/// Most snapshots that are kept. Each has the pages of L1 that changed since the one before.
const MOST_SNAPSHOTS: usize = 256;
/// Fewest, where a session has many tiles.
const LEAST_SNAPSHOTS: usize = 16;
/// Cycles between two snapshots of a run at full speed, at least.
const DISTANCE: u64 = 1 << 16;
/// Between two snapshots a run at full speed takes at least so many times as long as a snapshot: a stretch that is
/// carried out in no time needs none.
const SPARED: u32 = 8;

/// A snapshot, and how much of what came from outside is in it.
#[derive(Clone, Debug)]
struct Kept {
    tile: TileSnapshot,
    given: usize,
}

/// What a core is about to begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Who.
    pub core: CoreId,
    /// How many instructions it has retired before.
    pub number: u64,
    /// The instruction.
    pub pc: u32,
    /// How many words it executes as one.
    pub words: u32,
    /// What it does to memory.
    pub access: Option<MemoryAccess>,
}

/// How long a run at full speed has taken on the host since the last snapshot, and how long that one took. Where
/// snapshots lie changes nothing but how soon a moment is reached.
#[derive(Clone, Copy, Default, Debug)]
struct Pace {
    ran: Duration,
    kept: Duration,
}

impl Pace {
    fn is_due(self) -> bool {
        self.ran >= self.kept * SPARED
    }

    fn run(&mut self, run: impl FnOnce()) {
        let begin = Instant::now();
        run();
        self.ran += begin.elapsed();
    }

    fn keep(&mut self, keep: impl FnOnce()) {
        let begin = Instant::now();
        keep();
        // Of one that was disturbed by somebody else on the host not all counts.
        let most = if self.kept.is_zero() { Duration::MAX } else { self.kept * 2 };
        *self = Self { ran: Duration::ZERO, kept: begin.elapsed().min(most) };
    }
}

/// A wait gate of a Tensix thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gate {
    /// What stands there.
    pub front: Option<AtGate>,
    /// What it waits for.
    pub wait: Option<ThreadWait>,
}

impl Gate {
    /// Who pushed what stands there, or the wait instruction that is latched.
    #[must_use]
    pub fn origin(&self) -> Option<tensix::Origin> {
        let front = self.front.map(|front| front.origin);
        front.or_else(|| self.wait.map(|wait| wait.origin))
    }
}

/// Devices and coprocessor within an epoch.
#[derive(Debug)]
struct Shown {
    /// As which cycle finds them, and whether as its gates do.
    at: (Cycle, bool),
    tile: Tile<NullObserver>,
}

/// A tile at a moment of a recorded session.
#[derive(Debug)]
pub struct Machine {
    recording: Arc<Recording>,
    tile: Tile<NullObserver>,
    /// How much of what came from outside has come.
    given: usize,
    history: History<Kept>,
    pace: Pace,
    moment: Moment,
    /// The epoch of the moment has begun.
    is_begun: bool,
    /// Cores are not parked.
    is_slow: bool,
    /// Instructions that cores try again in this epoch: pushes that found a FIFO full.
    retried: [Option<u64>; CoreId::COUNT],
    /// What cores stored to L1 in the epoch that has just ended: addresses and bytes.
    stored: Vec<(u32, u32)>,
    /// Made when somebody looks.
    shown: RefCell<Option<Box<Shown>>>,
}

/// All ways to the same result but those that take a core out of the schedule: who looks at each
/// instruction needs it there.
fn unparked(shortcuts: Shortcuts) -> Shortcuts {
    let parking = [Shortcut::Parking, Shortcut::Polls, Shortcut::ClockWaits];
    parking.into_iter().fold(shortcuts, |set, one| set.set(one, false))
}

impl Machine {
    /// At the beginning of a session.
    ///
    /// # Errors
    /// The host gives no memory for a tile.
    pub fn new(recording: Arc<Recording>) -> std::io::Result<Self> {
        Self::with_room(recording, MOST_SNAPSHOTS)
    }

    /// One of several machines, with room for its part of the snapshots.
    ///
    /// # Errors
    /// As [`Machine::new`].
    pub fn one_of(recording: Arc<Recording>, several: usize) -> std::io::Result<Self> {
        Self::with_room(recording, (MOST_SNAPSHOTS / several.max(1)).max(LEAST_SNAPSHOTS))
    }

    fn with_room(recording: Arc<Recording>, most: usize) -> std::io::Result<Self> {
        let mut tile = Tile::new(recording.config, NullObserver)?;
        tile.restore(&recording.first);
        let mut history = History::new(most);
        history.keep(Cycle::ZERO, Kept { tile: recording.first.clone(), given: 0 });
        let mut machine = Self {
            recording,
            tile,
            given: 0,
            history,
            pace: Pace::default(),
            moment: Moment::at(Cycle::ZERO),
            is_begun: false,
            is_slow: false,
            retried: [None; CoreId::COUNT],
            stored: Vec::new(),
            shown: RefCell::default(),
        };
        machine.seek(Moment::at(Cycle::ZERO));
        Ok(machine)
    }

    /// The session.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Where it stands.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// Behind the last moment.
    #[must_use]
    pub fn end(&self) -> Moment {
        Moment::at(self.recording.until)
    }

    /// The tile. Between two epochs it is as it always is; within one, its cores are where they are
    /// and everything else is as at the beginning of the epoch: for that see [`Machine::look`].
    #[must_use]
    pub fn tile(&self) -> &Tile<NullObserver> {
        &self.tile
    }

    /// A core, exactly where it is.
    #[must_use]
    pub fn core(&self, id: CoreId) -> &Core {
        self.tile.core(id)
    }

    /// Another machine at the same moment, with the same snapshots at hand.
    ///
    /// # Errors
    /// As [`Machine::new`].
    pub fn fork(&self) -> std::io::Result<Self> {
        let mut other = Self::new(Arc::clone(&self.recording))?;
        other.history = self.history.clone();
        other.seek(self.moment);
        Ok(other)
    }

    /// The last snapshot at or before a cycle, and how much of what came from outside is in it.
    #[must_use]
    pub fn nearest(&self, cycle: Cycle) -> (&TileSnapshot, usize) {
        let kept = self.history.before(cycle).map(|(_, kept)| (&kept.tile, kept.given));
        kept.unwrap_or((&self.recording.first, 0))
    }

    /// When the last snapshot at or before a cycle was taken.
    #[must_use]
    pub fn kept_before(&self, cycle: Cycle) -> Cycle {
        self.history.before(cycle).map_or(Cycle::ZERO, |(at, _)| at)
    }

    /// Another tile where this one stands, with an observer.
    fn beside<O: Observer>(&self, observer: O, config: TileConfig) -> Tile<O> {
        let config = TileConfig { engine: EngineKind::Inline, ..config };
        let mut tile = Tile::new(config, observer).expect("this engine starts no threads");
        tile.restore(&self.here());
        tile
    }

    /// The tile where it stands, which may be within an epoch.
    fn here(&self) -> TileSnapshot {
        let like = self.history.before(self.tile.now()).map(|(_, kept)| &kept.tile);
        self.tile.snapshot(like)
    }

    /// Somebody who listens to what passes the gates from here on.
    pub(crate) fn lookout(&self, wanted: Wanted) -> Lookout {
        let mut tile = self.beside(Lookout::listener(wanted), self.recording.config);
        if self.is_begun {
            tile.end_epoch();
            while tile.take_mistake().is_some() {}
            forget_sent(&mut tile);
        }
        Lookout { recording: Arc::clone(&self.recording), tile, given: self.given }
    }

    /// Looks at devices and coprocessor as this very cycle finds them, or, if it is the turn of a gate, as the
    /// gates of the cycle do. The cores of that tile are elsewhere.
    pub fn look<R>(&self, look: impl FnOnce(&mut Tile<NullObserver>) -> R) -> R {
        let at = (self.moment.cycle, self.moment.turn.is_gate());
        let mut shown = self.shown.borrow_mut();
        let mut now = match shown.take() {
            Some(shown) if shown.at == at => shown,
            old => {
                let mut tile = match old {
                    Some(mut old) => {
                        old.tile.restore(&self.here());
                        old.tile
                    }
                    None => {
                        let config = self.recording.config;
                        let shortcuts = unparked(config.shortcuts);
                        self.beside(NullObserver, TileConfig { shortcuts, ..config })
                    }
                };
                if self.is_begun {
                    tile.show_cycle(at.0, at.1);
                }
                Box::new(Shown { at, tile })
            }
        };
        let answer = look(&mut now.tile);
        *shown = Some(now);
        answer
    }

    /// The wait gate of a thread, as this cycle finds it.
    #[must_use]
    pub fn gate(&self, thread: ThreadId) -> Gate {
        self.look(|tile| {
            let tensix = tile.coprocessor();
            Gate { front: tensix.at_gate(thread), wait: tensix.wait_state(thread) }
        })
    }

    /// Who waits for what: cores where they are, Tensix threads as this cycle finds them.
    #[must_use]
    pub fn waits(&self) -> Vec<AgentWait> {
        let is_core = |wait: &AgentWait| matches!(wait.agent, sim_core::AgentId::Core(_));
        let mut waits = self.tile.waits();
        waits.retain(is_core);
        let others = self.look(|tile| tile.waits());
        waits.extend(others.into_iter().filter(|wait| !is_core(wait)));
        waits
    }

    /// The state of the whole tile by name: cores where they are, everything else as this cycle finds it.
    pub fn registers(&mut self) -> Register {
        let mut tree = self.look(Tile::registers);
        let cores = self.tile.registers();
        if let (RegisterValue::Group(all), RegisterValue::Group(own)) =
            (&mut tree.value, cores.value)
        {
            let cores = own.into_iter().find(|part| part.name == "core");
            if let (Some(cores), Some(place)) =
                (cores, all.iter_mut().find(|part| part.name == "core"))
            {
                *place = cores;
            }
        }
        tree
    }

    /// Snapshots that are kept, and bytes of L1 in them.
    #[must_use]
    pub fn kept(&self) -> (usize, usize) {
        let (mut bytes, mut last) = (0, None);
        for (_, kept) in self.history.iter() {
            bytes += kept.tile.bytes_beyond(last);
            last = Some(&kept.tile);
        }
        (self.history.len(), bytes)
    }

    /// Goes to a moment, forwards or backwards, the end of the session at most.
    pub fn seek(&mut self, moment: Moment) {
        let moment = moment.min(self.end());
        self.arrive(moment);
        self.begin_epoch();
        self.run_cores(moment);
    }

    /// As [`Machine::seek`], and the beginning of its epoch will be at hand from now on.
    pub fn seek_and_keep(&mut self, moment: Moment) {
        let moment = moment.min(self.end());
        let start = self.recording.config.epoch.round_down(moment.cycle);
        let is_kept = self.history.before(start).is_some_and(|(at, _)| at == start);
        if !is_kept {
            // What is kept is an epoch that has not begun.
            if self.is_begun && self.tile.now() >= start {
                self.go_back(start);
            }
            self.arrive(moment);
            self.keep();
        }
        self.seek(moment);
    }

    /// Goes to the beginning of the epoch of a moment, unless it stands in that epoch before the moment
    /// already.
    fn arrive(&mut self, moment: Moment) {
        let start = self.recording.config.epoch.round_down(moment.cycle);
        let nearest = self.history.before(start).map_or(Cycle::ZERO, |(at, _)| at);
        let is_behind = self.is_begun && moment < self.moment;
        if is_behind || self.tile.now() > start || nearest > self.tile.now() {
            self.go_back(start);
        }
        if self.tile.now() < start {
            self.finish_epoch();
            self.run_to(start);
        }
    }

    fn keep(&mut self) {
        let like = self.history.before(self.tile.now()).map(|(_, kept)| &kept.tile);
        let tile = self.tile.snapshot(like);
        self.history.keep(self.tile.now(), Kept { tile, given: self.given });
    }

    fn go_back(&mut self, cycle: Cycle) {
        if let Some((_, kept)) = self.history.before(cycle) {
            self.tile.restore(&kept.tile);
            self.given = kept.given;
            self.pace.ran = Duration::ZERO;
            (self.is_begun, self.is_slow) = (false, false);
        }
    }

    /// To an epoch boundary, at full speed.
    fn run_to(&mut self, cycle: Cycle) {
        if std::mem::take(&mut self.is_slow) {
            self.tile.set_shortcuts(self.recording.config.shortcuts);
        }
        self.is_begun = false;
        while self.tile.now() < cycle {
            self.give();
            let now = self.tile.now();
            let (last, _) = self.history.before(now).unzip();
            let distance = last.map_or(DISTANCE, |last| now.0 - last.0);
            if distance >= DISTANCE && self.pace.is_due() {
                let mut pace = self.pace;
                pace.keep(|| self.keep());
                self.pace = pace;
                continue;
            }
            let stretch = if distance < DISTANCE { DISTANCE - distance } else { DISTANCE };
            let until = cycle.min(now + stretch);
            let Self { recording, tile, given, pace, .. } = self;
            pace.run(|| recording.run(tile, given, until));
        }
        self.give();
    }

    fn next_input(&self) -> Option<Cycle> {
        self.recording.next_input(self.given)
    }

    /// What came from outside up to now.
    fn give(&mut self) {
        self.recording.give(&mut self.tile, &mut self.given);
    }

    fn begin_epoch(&mut self) {
        if !std::mem::replace(&mut self.is_slow, true) {
            self.tile.set_shortcuts(unparked(self.recording.config.shortcuts));
        }
        if !self.is_begun {
            self.give();
            self.retried = CoreId::ALL.map(|id| {
                let core = self.tile.core(id);
                matches!(core.status(), Status::PushBlocked(_)).then(|| core.instructions())
            });
            self.is_begun = self.tile.begin_epoch();
        }
    }

    fn finish_epoch(&mut self) {
        if std::mem::take(&mut self.is_begun) {
            self.tile.end_epoch();
            while self.tile.take_mistake().is_some() {}
            forget_sent(&mut self.tile);
        }
    }

    fn run_cores(&mut self, moment: Moment) {
        self.moment = moment;
        if self.is_begun {
            for id in CoreId::ALL {
                self.tile.run_core(id, moment.limit_of(id));
            }
        }
    }

    /// What the core whose turn it is begins now, if it begins something.
    #[must_use]
    pub fn attempt(&self) -> Option<Attempt> {
        let Turn::Core(id) = self.moment.turn else { return None };
        let core = self.core(id);
        let runs = self.is_begun
            && matches!(core.status(), Status::Running)
            && core.cycle() <= self.moment.cycle;
        runs.then(|| {
            let word = self.tile.next_word(core.id());
            Attempt {
                core: core.id(),
                number: core.instructions(),
                pc: core.pc(),
                words: self.tile.bundle_words(core.id()),
                access: word.and_then(|word| core.access_of(word)),
            }
        })
    }

    /// Has the core whose turn it is do what it does, and goes to the next moment. `false`: this is
    /// the end of the session.
    pub fn advance(&mut self) -> bool {
        if self.moment >= self.end() {
            return false;
        }
        if !self.is_begun {
            return self.pass_idle();
        }
        if let Turn::Core(id) = self.moment.turn {
            self.tile.run_core(id, self.moment.cycle + 1);
        }
        self.moment = self.moment.next_core();
        if self.moment.cycle >= self.tile.epoch_end() {
            self.note_stored();
            self.finish_epoch();
            self.begin_epoch();
        }
        true
    }

    fn note_stored(&mut self) {
        self.stored.clear();
        for id in CoreId::ALL {
            let stores = &self.tile.core(id).batch.stores;
            self.stored.extend(stores.iter().map(|store| (store.addr, store.width.bytes())));
        }
    }

    /// Whether nobody has done anything yet in the epoch of the moment.
    #[must_use]
    pub fn stands_at_epoch(&self) -> bool {
        self.moment == Moment::at(self.tile.now())
    }

    /// Whether a core stored to one of those bytes in the epoch before.
    #[must_use]
    pub fn stored_of_late(&self, addr: u32, bytes: u32) -> bool {
        let meets = |&(at, count): &(u32, u32)| {
            at.wrapping_sub(addr) < bytes || addr.wrapping_sub(at) < count
        };
        self.stored.iter().any(meets)
    }

    /// The instructions, by number, that cores do not begin in this epoch but try again.
    #[must_use]
    pub fn retried(&self) -> [Option<u64>; CoreId::COUNT] {
        self.retried
    }

    /// Nothing moves before something comes from outside.
    fn pass_idle(&mut self) -> bool {
        let end = self.recording.until;
        let until = self.next_input().map_or(end, |input| input.min(end));
        self.tile.pass_time(until);
        self.moment = Moment::at(until);
        self.begin_epoch();
        self.moment < self.end()
    }

    /// A hash of the state at the beginning of the epoch that the machine stands in, behind what the
    /// host wrote there.
    pub fn state_hash(&mut self) -> u64 {
        let start = self.recording.config.epoch.round_down(self.moment.cycle);
        self.go_back(start);
        self.run_to(start);
        let hash = self.tile.state_hash();
        let moment = self.moment;
        self.begin_epoch();
        self.run_cores(moment);
        hash
    }
}
