//! Which tiles have something to do: now, or at some time by the wall clock.

use std::collections::BTreeSet;

use sim_core::{Cycle, Observer};
use tile::Tile;

/// Tiles by what they do next. All others are left alone until something is done to them.
#[derive(Clone, Debug)]
pub(crate) struct Roster {
    /// Something happens there now; ascending.
    active: Vec<u16>,
    is_active: Vec<bool>,
    /// Nothing happens there before that cycle, when a core goes on that waits by the clock.
    resting: BTreeSet<(Cycle, u16)>,
    alarms: Vec<Option<Cycle>>,
    /// Whether several cores of a tile that rests wait by the clock.
    several: Vec<bool>,
}

impl Roster {
    /// So many tiles that have nothing to do.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            active: Vec::new(),
            is_active: vec![false; count],
            resting: BTreeSet::new(),
            alarms: vec![None; count],
            several: vec![false; count],
        }
    }

    /// Tiles in which something can happen now, ascending.
    pub(crate) fn active(&self) -> &[u16] {
        &self.active
    }

    /// When the first of the others goes on by itself.
    pub(crate) fn alarm(&self) -> Option<Cycle> {
        self.resting.first().map(|&(alarm, _)| alarm)
    }

    /// Whether nothing happens now, and later at most a single core goes on that waits by the clock.
    pub(crate) fn is_resting(&self) -> bool {
        let is_single = |&(_, number): &(Cycle, u16)| {
            self.resting.len() == 1 && !self.several[usize::from(number)]
        };
        self.active.is_empty() && self.resting.first().is_none_or(is_single)
    }

    /// How many tiles do anything without the host, now or later.
    pub(crate) fn len(&self) -> usize {
        self.active.len() + self.resting.len()
    }

    /// Takes note of what has become of a tile.
    #[inline]
    pub(crate) fn note<O: Observer>(&mut self, number: u16, tile: &Tile<O>) {
        let is_moving = tile.is_moving();
        self.set_active(number, is_moving);
        let alarm = if is_moving { None } else { tile.alarm() };
        let known = &mut self.alarms[usize::from(number)];
        if *known != alarm {
            if let Some(old) = known.take() {
                self.resting.remove(&(old, number));
            }
            self.resting.extend(alarm.map(|alarm| (alarm, number)));
            *known = alarm;
        }
        if alarm.is_some() {
            self.several[usize::from(number)] = tile.is_computing();
        }
    }

    /// Tiles that rest until `now` at the latest have something to do from now on.
    pub(crate) fn ring(&mut self, now: Cycle) {
        while let Some(&(alarm, number)) = self.resting.first()
            && alarm <= now
        {
            self.resting.pop_first();
            self.alarms[usize::from(number)] = None;
            self.set_active(number, true);
        }
    }

    fn set_active(&mut self, number: u16, active: bool) {
        if std::mem::replace(&mut self.is_active[usize::from(number)], active) == active {
            return;
        }
        let at = self.active.partition_point(|&other| other < number);
        if active {
            self.active.insert(at, number);
        } else {
            self.active.remove(at);
        }
    }
}
