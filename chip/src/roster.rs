//! Which tiles have something to do: now, or at some time by the wall clock.

use std::collections::BTreeSet;

use sim_core::{Cycle, Observer};
use tile::{Outlook, Tile};

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
    /// Messages lie there, and nobody in the tile notices them. Such a tile may rest, too.
    has_mail: Vec<bool>,
    /// How many those are.
    mailboxes: usize,
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
            has_mail: vec![false; count],
            mailboxes: 0,
        }
    }

    /// Tiles in which something can happen now, ascending.
    pub(crate) fn active(&self) -> &[u16] {
        &self.active
    }

    /// Whether nothing happens there now.
    pub(crate) fn is_still(&self, number: u16) -> bool {
        !self.is_active[usize::from(number)]
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
        self.are_all_still() && self.resting.first().is_none_or(is_single)
    }

    /// Whether nothing happens in any tile now, nor do messages lie there.
    pub(crate) fn are_all_still(&self) -> bool {
        self.active.is_empty() && self.mailboxes == 0
    }

    /// The only tile that does anything without the host, now or later.
    pub(crate) fn single(&self) -> Option<u16> {
        let mailbox = self.with_mail_from(0);
        match (&self.active[..], mailbox, self.resting.first()) {
            (&[number], None, None) => Some(number),
            ([], Some(number), resting) if self.mailboxes == 1 => {
                let rests = |&(_, other)| self.resting.len() == 1 && other == number;
                resting.is_none_or(rests).then_some(number)
            }
            _ => None,
        }
    }

    /// The first tile from `number` on in which messages lie.
    pub(crate) fn with_mail_from(&self, number: u16) -> Option<u16> {
        if self.mailboxes == 0 {
            return None;
        }
        let (first, all) = (usize::from(number), &self.has_mail);
        (first..all.len()).find(|&index| all[index]).map(|index| index as u16)
    }

    /// Takes note of what has become of a tile.
    #[inline]
    pub(crate) fn note<O: Observer>(&mut self, number: u16, tile: &Tile<O>) {
        let Outlook { moves, alarm, mail } = tile.outlook();
        self.set_active(number, moves);
        self.set_mail(number, mail);
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
            self.set_mail(number, false);
        }
    }

    /// Messages lie there, or none.
    pub(crate) fn set_mail(&mut self, number: u16, mail: bool) {
        let had = std::mem::replace(&mut self.has_mail[usize::from(number)], mail);
        self.mailboxes = self.mailboxes + usize::from(mail) - usize::from(had);
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
