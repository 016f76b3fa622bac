//! What a program has written to DRAM and writes over before anybody has read it.

use std::collections::{BTreeMap, VecDeque};

use chip::{Chip, Deed, Loss, Other};
use sim_core::{CoreId, Cycle, Observer};
use symbols::catalog::Catalog;
use symbols::launch::Dispatch;
use symbols::tile_names::TileNames;

use crate::mistakes::placed;

/// Launches of a tile that are remembered.
const LAUNCHES: usize = 64;

/// The last launches of a tile.
#[derive(Clone, Default, Debug)]
pub(crate) struct Launches {
    /// When they were, the last one first.
    cycles: VecDeque<Cycle>,
    /// Who launched the last one.
    by: Option<Dispatch>,
}

impl Launches {
    pub(crate) fn add(&mut self, cycle: Cycle, names: &TileNames) {
        self.cycles.truncate(LAUNCHES - 1);
        self.cycles.push_front(cycle);
        self.by = names.launch().map(|launch| launch.dispatch);
    }

    /// Whether it was a dispatcher, and no host.
    pub(crate) fn is_by_device(&self) -> bool {
        self.by == Some(Dispatch::Device)
    }
}

/// Losses of a session: each instruction once, apart for those with a tile that the host has launched.
#[derive(Default, Debug)]
pub(crate) struct Losses(BTreeMap<(CoreId, u32, bool), String>);

impl Losses {
    /// Takes those since last asked.
    pub(crate) fn take<O: Observer + Send + 'static>(
        &mut self,
        chip: &mut Chip<O>,
        catalog: &Catalog,
        launches: impl Fn(u16) -> Launches,
    ) {
        for loss in chip.take_losses() {
            let Some((core, pc)) = loss.second.by else { continue };
            let both = [loss.first.tile, loss.second.tile].map(&launches);
            let key = (core, pc, both.iter().any(|tile| !tile.is_by_device()));
            if !self.0.contains_key(&key) && is_of_one_program(&loss, &both) {
                self.0.insert(key, told(chip, &loss, catalog));
            }
        }
    }

    /// Those of a session that has ended, each in a line. Where a dispatcher has launched tiles, what the host has launched
    /// is that dispatcher, which writes what the host tells it to.
    pub(crate) fn end(self, is_by_device: bool) -> impl Iterator<Item = String> {
        let of_kernels =
            self.0.into_iter().filter(move |((.., by_host), _)| !(is_by_device && *by_host));
        of_kernels.map(|(_, text)| text)
    }
}

/// Whether no tile of the two has been launched since the first one wrote: what an earlier program has left may be lost.
fn is_of_one_program(loss: &Loss, both: &[Launches; 2]) -> bool {
    both.iter().all(|tile| {
        let last = tile.cycles.iter().find(|cycle| **cycle <= loss.second.cycle);
        last.is_some_and(|cycle| *cycle <= loss.first.cycle)
    })
}

fn told<O: Observer + Send + 'static>(
    chip: &mut Chip<O>,
    loss: &Loss,
    catalog: &Catalog,
) -> String {
    let mut by = |deed: Deed| {
        let tile = chip.grid().tensix().nth(usize::from(deed.tile));
        let tile = tile.map(|tile| tile.to_string()).unwrap_or_default();
        let place = deed.by.map(|at| placed(chip, deed.tile, at, catalog)).unwrap_or_default();
        (tile, deed.by, place)
    };
    let ((owner, core, from), (tile, at, place)) = (by(loss.first), by(loss.second));
    let core = core.map_or_else(String::new, |(core, _)| format!(", {core}"));
    let from = if from == place && !place.is_empty() { ", from the same line" } else { &from };
    let at = at.map_or_else(String::new, |(core, pc)| format!(", {core}, pc {pc:#x}"));
    let Loss { channel, addr, first, second } = loss;
    format!(
        "{tile}: [dram-overwritten]: write of other data at {addr:#x} of {}, over those of {owner}{core}, \
         of cycle {}{from}, which nobody has read (cycle {}{at}){place}",
        Other::Dram(*channel),
        first.cycle,
        second.cycle
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_before_has_left_may_be_lost() {
        let deed = |tile, cycle| Deed { tile, by: None, cycle: Cycle(cycle) };
        let loss = Loss { channel: 0, addr: 0, first: deed(0, 50), second: deed(1, 60) };
        let of = |first: &[u64], second: &[u64]| {
            let launches = |cycles: &[u64]| Launches {
                cycles: cycles.iter().map(|cycle| Cycle(*cycle)).collect(),
                by: Some(Dispatch::Host),
            };
            is_of_one_program(&loss, &[launches(first), launches(second)])
        };
        assert!(of(&[10], &[12, 3]));
        assert!(of(&[70, 10], &[72, 12]), "launched again since");
        assert!(!of(&[10], &[55, 3]) && !of(&[55, 10], &[3]), "in between");
        assert!(!of(&[], &[3]) && !of(&[3], &[]), "never");
    }

    #[test]
    fn dispatcher_writes_for_the_host() {
        let losses = || {
            let texts = [(false, "a kernel's"), (true, "a dispatcher's")];
            let all = texts.map(|(by_host, text)| ((CoreId::Brisc, 0, by_host), text.to_owned()));
            Losses(all.into())
        };
        assert_eq!(losses().end(true).collect::<Vec<_>>(), ["a kernel's"]);
        assert_eq!(losses().end(false).count(), 2);
    }
}
