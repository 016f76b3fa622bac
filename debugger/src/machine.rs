//! A tile that stands between two instructions of a recorded session.

use std::sync::Arc;

use riscv::{Core, MemoryAccess, Status};
use sim_core::{CoreId, Cycle, NullObserver, Shortcut, Shortcuts};
use tile::{Tile, TileSnapshot};

use crate::history::History;
use crate::moment::Moment;
use crate::recording::{Recording, forget_sent};

/// Most snapshots that are kept. Each has the pages of L1 that changed since the one before.
const MOST_SNAPSHOTS: usize = 256;
/// Fewest, where a session has many tiles.
const LEAST_SNAPSHOTS: usize = 16;
/// Cycles between two snapshots of a run at full speed, at least. One costs about what some thousand
/// busy cycles do.
const DISTANCE: u64 = 1 << 16;

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

/// A tile at a moment of a recorded session.
#[derive(Debug)]
pub struct Machine {
    recording: Arc<Recording>,
    tile: Tile<NullObserver>,
    /// How much of what came from outside has come.
    given: usize,
    history: History<Kept>,
    moment: Moment,
    /// The epoch of the moment has begun.
    is_begun: bool,
    /// Cores are not parked.
    is_slow: bool,
    /// Instructions that cores try again in this epoch: pushes that found a FIFO full.
    retried: [Option<u64>; CoreId::COUNT],
    /// What cores stored to L1 in the epoch that has just ended: addresses and bytes.
    stored: Vec<(u32, u32)>,
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
            moment: Moment::at(Cycle::ZERO),
            is_begun: false,
            is_slow: false,
            retried: [None; CoreId::COUNT],
            stored: Vec::new(),
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
    /// and everything else is as at the beginning of the epoch.
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

    /// The state of the whole tile by name.
    pub fn registers(&mut self) -> tensix::Register {
        self.tile.registers()
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
            let keep_at = last.map_or(now, |last| last + DISTANCE);
            if keep_at <= now {
                self.keep();
                continue;
            }
            self.recording.run(&mut self.tile, &mut self.given, cycle.min(keep_at));
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
        let core = self.core(self.moment.core);
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
        let id = self.moment.core;
        self.tile.run_core(id, self.moment.cycle + 1);
        self.moment = self.moment.next();
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
