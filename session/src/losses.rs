//! What a program has written to DRAM and writes over before anybody has read it.

use std::collections::{BTreeSet, VecDeque};

use chip::{Chip, Deed, Loss, Other};
use sim_core::{CoreId, Cycle, Observer};
use symbols::catalog::Catalog;

use crate::mistakes::placed;

/// Launches of a tile that are remembered.
pub(crate) const LAUNCHES: usize = 64;

/// Losses of a session that were told: each instruction once.
#[derive(Default, Debug)]
pub(crate) struct Losses(BTreeSet<(CoreId, u32)>);

impl Losses {
    /// Takes those since last asked, each in a line. `launched` says when a tile was launched, the last time first.
    pub(crate) fn take<O: Observer + Send + 'static>(
        &mut self,
        chip: &mut Chip<O>,
        catalog: &Catalog,
        launched: impl Fn(u16) -> VecDeque<Cycle>,
    ) -> Vec<String> {
        let mut texts = Vec::new();
        for loss in chip.take_losses() {
            let Some(at) = loss.second.by else { continue };
            if !self.0.contains(&at) && is_of_one_program(&loss, &launched) {
                self.0.insert(at);
                texts.push(told(chip, &loss, catalog));
            }
        }
        texts
    }
}

/// Whether no tile of the two has been launched since the first one wrote: what an earlier program has left may be lost.
fn is_of_one_program(loss: &Loss, launched: impl Fn(u16) -> VecDeque<Cycle>) -> bool {
    let (first, second) = (loss.first, loss.second);
    [first.tile, second.tile].into_iter().all(|tile| {
        let last = launched(tile).into_iter().find(|cycle| *cycle <= second.cycle);
        last.is_some_and(|cycle| cycle <= first.cycle)
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
            let launched = |tile: u16| {
                let cycles = if tile == 0 { first } else { second };
                cycles.iter().map(|cycle| Cycle(*cycle)).collect()
            };
            is_of_one_program(&loss, launched)
        };
        assert!(of(&[10], &[12, 3]));
        assert!(of(&[70, 10], &[72, 12]), "launched again since");
        assert!(!of(&[10], &[55, 3]) && !of(&[55, 10], &[3]), "in between");
        assert!(!of(&[], &[3]) && !of(&[3], &[]), "never");
    }
}
