//! All Tensix tiles of a chip, and who of them has anything to do.
//!
//! A tile comes into being when more than its L1 is touched, and is left alone while nothing
//! can happen in it: a tile whose cores are all parked costs nothing, not even a look.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use sim_core::l1::{L1, L1_BYTES};
use sim_core::sync::{CachePadded, Crew, Mutex};
use sim_core::{Cycle, GuestError, L1Image, NullObserver, Observer};
use tile::{Arrival, Inputs, Tile, TileConfig, TileSnapshot};
use zero_pages::PageBox;

use crate::roster::Roster;

/// Tiles that make it worth waking other threads.
const WORTH_SHARING: usize = 8;
/// Pieces of work per thread and round, so that an uneven one does not hold up the others.
const PIECES_PER_THREAD: usize = 4;

/// Messages left in a tile from which on those that have come are taken.
const MOST_LEFT: usize = 8;

/// A tile, if it has been touched, and the mistakes it made since last asked.
#[derive(Debug)]
struct Slot<O: Observer> {
    tile: Option<PageBox<Tile<O>>>,
    /// Of a tile that is not there yet: what the host has put into it.
    l1: Option<L1>,
    errors: Vec<GuestError>,
}

/// What the threads of the crew share.
#[derive(Debug)]
struct Common<O: Observer> {
    slots: Box<[Mutex<Slot<O>>]>,
    /// Numbers of the active tiles, ascending; the first `active_count` are valid.
    active: Box<[AtomicU16]>,
    active_count: AtomicU16,
    /// Tiles per piece.
    per_piece: AtomicU16,
    /// To which cycle all have to go.
    limit: AtomicU64,
    /// To which cycle a tile may go that nothing seems to disturb.
    farthest: AtomicU64,
    /// Where the last of them stands afterwards.
    slowest: CachePadded<AtomicU64>,
    /// Tiles that have messages or mistakes to collect, or went to sleep.
    attention: CachePadded<Mutex<Vec<u16>>>,
}

impl<O: Observer> Default for Slot<O> {
    fn default() -> Self {
        Self { tile: None, l1: None, errors: Vec::new() }
    }
}

impl<O: Observer> Slot<O> {
    /// The tile, made if need be; `watch` gives its observer, `keeps` says whether what comes to it from
    /// outside is kept.
    fn tile(
        &mut self,
        config: &TileConfig,
        watch: impl FnOnce() -> O,
        keeps: bool,
    ) -> &mut Tile<O> {
        self.tile.get_or_insert_with(|| {
            let l1 = self.l1.take().unwrap_or_default();
            let tile = Tile::with_l1(*config, watch(), l1);
            let mut tile = PageBox::new(tile.expect("an inline tile starts no threads"));
            if keeps {
                tile.keep_inputs();
            }
            tile
        })
    }
}

impl<O: Observer + Send + 'static> Common<O> {
    /// Advances the tiles of one piece.
    fn work(&self, piece: u16) {
        let limit = Cycle(self.limit.load(Ordering::Acquire));
        let farthest = Cycle(self.farthest.load(Ordering::Acquire));
        let mut slowest = Cycle(u64::MAX);
        let count = usize::from(self.active_count.load(Ordering::Acquire));
        let size = usize::from(self.per_piece.load(Ordering::Acquire));
        let first = usize::from(piece) * size;
        for number in self.active.get(first..count.min(first + size)).unwrap_or_default() {
            let number = number.load(Ordering::Acquire);
            slowest = slowest.min(self.advance(number, limit, farthest));
        }
        self.slowest.fetch_min(slowest.0, Ordering::AcqRel);
    }

    /// Advances one tile to `limit`, and beyond if nothing is likely to disturb it. Gives where it
    /// stands; notes it if it has to be looked at.
    fn advance(&self, number: u16, limit: Cycle, farthest: Cycle) -> Cycle {
        let slot = &mut *self.slots[usize::from(number)].lock();
        let Some(tile) = &mut slot.tile else { return limit };
        if tile.now() < limit && farthest > limit {
            tile.venture(farthest);
        }
        while tile.now() < limit {
            if let Err(error) = tile.advance_to(limit, false) {
                slot.errors.push(*error);
            }
        }
        if !slot.errors.is_empty()
            || tile.has_departures()
            || tile.has_ebreaks()
            || !tile.is_moving()
            // Messages may be all that moves it.
            || !tile.outlook().moves
        {
            self.attention.lock().push(number);
        }
        tile.now()
    }
}

/// A slot at a moment.
#[derive(Clone, Debug)]
struct SlotSnapshot {
    tile: Option<TileSnapshot>,
    l1: Option<L1Image>,
    errors: Vec<GuestError>,
}

/// All tiles at a moment.
#[derive(Clone, Debug)]
pub(crate) struct FieldSnapshot {
    slots: Vec<SlotSnapshot>,
    roster: Roster,
}

impl FieldSnapshot {
    /// Snapshots of the tiles that had been touched.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = (u16, &TileSnapshot)> {
        let slots = (0..).zip(&self.slots);
        slots.filter_map(|(number, slot)| Some((number, slot.tile.as_ref()?)))
    }
}

/// Whether an access stays in L1.
fn is_in_l1(addr: u32, bytes: &[u8]) -> bool {
    u64::from(addr) + bytes.len() as u64 <= u64::from(L1_BYTES)
}

/// Makes the observer of the tile of a number.
pub(crate) type Watch<O> = Box<dyn Fn(u16) -> O + Send + Sync>;

/// The tiles.
pub(crate) struct Field<O: Observer = NullObserver> {
    common: Arc<Common<O>>,
    watch: Watch<O>,
    crew: Option<Crew>,
    /// The threads are known to be this process's.
    roll_called: bool,
    threads: usize,
    configs: Vec<TileConfig>,
    roster: Roster,
    /// Tiles of which is kept what comes to them from outside.
    keeping: BTreeSet<u16>,
}

impl<O: Observer> std::fmt::Debug for Field<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Field").field("roster", &self.roster).finish_non_exhaustive()
    }
}

impl<O: Observer + Send + 'static> Field<O> {
    /// No tile touched yet. `configs` has one entry per tile.
    pub(crate) fn new(configs: Vec<TileConfig>, threads: usize, watch: Watch<O>) -> Self {
        let count = configs.len();
        let common = Common {
            slots: (0..count).map(|_| Mutex::default()).collect(),
            active: (0..count).map(|_| AtomicU16::new(0)).collect(),
            active_count: AtomicU16::new(0),
            per_piece: AtomicU16::new(1),
            limit: AtomicU64::new(0),
            farthest: AtomicU64::new(0),
            slowest: CachePadded::new(AtomicU64::new(0)),
            attention: CachePadded::new(Mutex::new(Vec::new())),
        };
        Self {
            common: Arc::new(common),
            watch,
            crew: None,
            roll_called: false,
            threads: threads.max(1),
            configs,
            roster: Roster::new(count),
            keeping: BTreeSet::new(),
        }
    }

    /// Tiles in which something can happen now, ascending.
    pub(crate) fn active(&self) -> &[u16] {
        self.roster.active()
    }

    /// When the first of the others goes on by itself.
    pub(crate) fn alarm(&self) -> Option<Cycle> {
        self.roster.alarm()
    }

    /// Tiles whose alarm is due are active from now on.
    pub(crate) fn ring(&mut self, now: Cycle) {
        self.roster.ring(now);
    }

    /// Does something with a tile at `now`, which is no later than the chip's own time, and keeps
    /// account of whether it has become active.
    pub(crate) fn with<R>(
        &mut self,
        number: u16,
        now: Cycle,
        act: impl FnOnce(&mut Tile<O>) -> R,
    ) -> R {
        let slot = &mut *self.common.slots[usize::from(number)].lock();
        let keeps = self.keeping.contains(&number);
        let tile = slot.tile(&self.configs[usize::from(number)], || (self.watch)(number), keeps);
        tile.catch_up(now);
        let result = act(tile);
        self.roster.note(number, tile);
        result
    }

    /// Reads L1, which is nothing to the tile. `false` if some of it is not L1: nothing is done.
    pub(crate) fn read_l1(&self, number: u16, addr: u32, bytes: &mut [u8]) -> bool {
        if !is_in_l1(addr, bytes) {
            return false;
        }
        let slot = &mut *self.common.slots[usize::from(number)].lock();
        match (&mut slot.tile, &mut slot.l1) {
            (Some(tile), _) => tile.read_l1(addr, bytes),
            (None, Some(l1)) => l1.read_block(addr, bytes),
            (None, None) => bytes.fill(0),
        }
        true
    }

    /// Writes L1 of a tile of which nothing else has been touched. `false` if it is not such a
    /// one, or this is not L1: nothing is done.
    pub(crate) fn write_untouched(&self, number: u16, addr: u32, bytes: &[u8]) -> bool {
        let slot = &mut *self.common.slots[usize::from(number)].lock();
        let alone = slot.tile.is_none() && is_in_l1(addr, bytes);
        if alone {
            slot.l1.get_or_insert_with(L1::new).write_block(addr, bytes);
        }
        alone
    }

    /// Gives a tile a message when all tiles have advanced to `reached` at least. One that went
    /// further comes back: it has known nothing of this.
    pub(crate) fn deliver(&mut self, number: u16, now: Cycle, reached: Cycle, arrival: Arrival) {
        let may_lie = arrival.message.only_gives() && self.roster.is_still(number);
        // It is large, and moved but once.
        let mut arrival = Some(arrival);
        if may_lie {
            self.leave(number, now, &mut arrival);
        }
        let Some(arrival) = arrival else { return };
        self.with(number, now, |tile| {
            tile.come_back(reached);
            tile.receive(arrival);
        });
    }

    /// Leaves a message in a tile in which nothing happens now, if nothing there notices it.
    fn leave(&mut self, number: u16, now: Cycle, arrival: &mut Option<Arrival>) {
        let slot = &mut *self.common.slots[usize::from(number)].lock();
        let Some(tile) = slot.tile.as_mut().filter(|tile| tile.now() <= now) else { return };
        tile.leave(arrival);
        if arrival.is_none() {
            self.roster.set_mail(number, true);
            if tile.mail() > MOST_LEFT {
                tile.catch_up(now);
            }
        }
    }

    /// Messages that lie somewhere and have come before `now` take effect: all tiles are as of now.
    pub(crate) fn settle(&mut self, now: Cycle) {
        let Self { common, roster, .. } = self;
        let mut first = 0;
        while let Some(number) = roster.with_mail_from(first) {
            if let Some(tile) = &mut common.slots[usize::from(number)].lock().tile {
                tile.catch_up(now);
                roster.note(number, tile);
            }
            first = number + 1;
        }
    }

    /// Advances the only active tile to `limit`, or until it has a message for another. Gives
    /// where it stands.
    pub(crate) fn advance_alone(&mut self, number: u16, limit: Cycle) -> Cycle {
        let slot = &mut *self.common.slots[usize::from(number)].lock();
        let Some(tile) = &mut slot.tile else { return limit };
        if let Err(error) = tile.advance_to(limit, true) {
            slot.errors.push(*error);
        }
        self.common.attention.lock().push(number);
        tile.now()
    }

    /// Advances all active tiles to `limit`, and those that nothing is likely to disturb further, up
    /// to `farthest`. Gives where the last of them stands.
    pub(crate) fn advance_all(&mut self, limit: Cycle, farthest: Cycle) -> Cycle {
        if self.active().len() >= WORTH_SHARING && self.is_crewed() {
            return self.share_out(limit, farthest);
        }
        let advance = |&number| self.common.advance(number, limit, farthest);
        self.active().iter().map(advance).min().unwrap_or(limit)
    }

    /// Ends the other threads until they are needed again.
    pub(crate) fn dismiss(&mut self) {
        self.crew = None;
    }

    /// A call of the host begins: this may be another process than before.
    pub(crate) fn begin_call(&mut self) {
        self.roll_called = false;
    }

    /// Whether there are other threads; starts them when they are first needed, and again in a process
    /// that was forked off since.
    fn is_crewed(&mut self) -> bool {
        // It asks the system, which takes longer than many a round.
        if !std::mem::replace(&mut self.roll_called, true)
            && self.crew.as_ref().is_some_and(Crew::is_elsewhere)
        {
            self.crew = None;
        }
        if self.threads > 1 && self.crew.is_none() {
            let common = Arc::clone(&self.common);
            match Crew::start("tiles", self.threads, move |piece| common.work(piece)) {
                Ok(crew) => self.crew = Some(crew),
                // The host gives no threads: the result is the same without.
                Err(_) => self.threads = 1,
            }
        }
        self.crew.is_some()
    }

    fn share_out(&mut self, limit: Cycle, farthest: Cycle) -> Cycle {
        let Some(crew) = &mut self.crew else { return limit };
        let common = &*self.common;
        for (cell, &number) in common.active.iter().zip(self.roster.active()) {
            cell.store(number, Ordering::Release);
        }
        let count = self.roster.active().len();
        let size = count.div_ceil(self.threads * PIECES_PER_THREAD);
        common.active_count.store(count as u16, Ordering::Release);
        common.per_piece.store(size as u16, Ordering::Release);
        common.limit.store(limit.0, Ordering::Release);
        common.farthest.store(farthest.0, Ordering::Release);
        common.slowest.store(u64::MAX, Ordering::Release);
        crew.run(count.div_ceil(size) as u16);
        Cycle(common.slowest.load(Ordering::Acquire))
    }

    /// After an advance: hands every tile that has something to tell to `collect`, in order, with
    /// the mistakes it made; those in which nothing can happen any more are left alone from now on.
    pub(crate) fn collect(
        &mut self,
        mut collect: impl FnMut(u16, &mut Tile<O>, &mut Vec<GuestError>),
    ) {
        let mut numbers = std::mem::take(&mut *self.common.attention.lock());
        numbers.sort_unstable();
        for &number in &numbers {
            let slot = &mut *self.common.slots[usize::from(number)].lock();
            let Some(tile) = &mut slot.tile else { continue };
            collect(number, tile, &mut slot.errors);
            self.roster.note(number, tile);
        }
        numbers.clear();
        *self.common.attention.lock() = numbers;
    }

    /// Whether more goes on than a single core on its own, which may just be waiting by the clock.
    pub(crate) fn is_computing(&self) -> bool {
        match self.roster.single() {
            None => !self.roster.is_resting(),
            Some(number) => {
                let slot = self.common.slots[usize::from(number)].lock();
                slot.tile.as_ref().is_some_and(|tile| tile.is_computing())
            }
        }
    }

    /// Whether nothing happens now in any tile, nor do messages lie there.
    pub(crate) fn are_all_still(&self) -> bool {
        self.roster.are_all_still()
    }

    /// Whether nothing happens now, and later at most a single core goes on that waits by the clock.
    pub(crate) fn is_resting(&self) -> bool {
        self.roster.is_resting()
    }

    /// Does something with every tile that has been touched, in order.
    pub(crate) fn for_each(&mut self, now: Cycle, mut act: impl FnMut(u16, &mut Tile<O>)) {
        for ((number, slot), config) in (0..).zip(&self.common.slots).zip(&self.configs) {
            let slot = &mut *slot.lock();
            if slot.tile.is_none() && slot.l1.is_none() {
                continue;
            }
            let keeps = self.keeping.contains(&number);
            let tile = slot.tile(config, || (self.watch)(number), keeps);
            tile.catch_up(now);
            act(number, tile);
            // To look at its state takes cores out of their loops.
            self.roster.note(number, tile);
        }
    }

    /// Keeps what comes to those tiles from outside.
    pub(crate) fn keep_inputs(&mut self, numbers: &[u16]) {
        self.keeping.extend(numbers);
        for &number in numbers {
            if let Some(slot) = self.common.slots.get(usize::from(number))
                && let Some(tile) = &mut slot.lock().tile
            {
                tile.keep_inputs();
            }
        }
    }

    /// Whether that is done for any tile.
    pub(crate) fn keeps_inputs(&self) -> bool {
        !self.keeping.is_empty()
    }

    /// What has come to a tile since it is kept.
    pub(crate) fn take_inputs(&mut self, number: u16) -> Option<Inputs> {
        self.common.slots.get(usize::from(number))?.lock().tile.as_mut()?.take_inputs()
    }

    /// All tiles as they are, between two advances. What has not changed since `like` is shared.
    pub(crate) fn snapshot(&self, like: Option<&FieldSnapshot>) -> FieldSnapshot {
        let Self {
            common,
            watch: _,
            crew: _,
            roll_called: _,
            threads: _,
            configs: _,
            roster,
            keeping: _,
        } = self;
        let slots = common.slots.iter().enumerate().map(|(number, slot)| {
            let Slot { tile, l1, errors } = &*slot.lock();
            let like = like.and_then(|like| like.slots.get(number));
            let none = L1Image::default();
            let like_l1 = like.and_then(|like| like.l1.as_ref()).unwrap_or(&none);
            SlotSnapshot {
                tile: tile
                    .as_ref()
                    .map(|tile| tile.snapshot(like.and_then(|like| like.tile.as_ref()))),
                l1: l1.as_ref().map(|l1| l1.image(like_l1)),
                errors: errors.clone(),
            }
        });
        FieldSnapshot { slots: slots.collect(), roster: roster.clone() }
    }

    /// Goes back to a moment. A tile that had not been touched then is there no longer, nor is its
    /// observer.
    pub(crate) fn restore(&mut self, snapshot: &FieldSnapshot) {
        let Self { common, watch, crew: _, roll_called: _, threads: _, configs, roster, keeping } =
            self;
        for (number, (slot, old)) in (0..).zip(common.slots.iter().zip(&snapshot.slots)) {
            let slot = &mut *slot.lock();
            match &old.tile {
                Some(old) => {
                    let config = &configs[usize::from(number)];
                    slot.tile(config, || watch(number), keeping.contains(&number)).restore(old);
                }
                None => slot.tile = None,
            }
            slot.l1 = old.l1.as_ref().map(|old| {
                let l1 = L1::new();
                l1.restore(old);
                l1
            });
            slot.errors.clone_from(&old.errors);
        }
        common.attention.lock().clear();
        roster.clone_from(&snapshot.roster);
    }
}
