//! Epochs without the tile's attention (`tile/src/unattended.rs`) end in the same state, cycle and
//! mistake as epochs that are committed one by one. A tile that somebody observes commits each
//! epoch in which a core executes; one that nobody observes does not.

mod bare;
mod pushers;

use proptest::prelude::*;
use pushers::programs;
use sim_core::engine::EngineKind;
use sim_core::{EpochLength, NullObserver, Observer, Shortcut, Shortcuts};
use tile::{Tile, TileConfig};

/// Told of everything, remembers nothing: what matters is that the tile has to tell.
struct Attentive;

impl Observer for Attentive {
    fn event(&mut self, _: sim_core::Stamp, _: &sim_core::Event) {}
}

/// Everything that can be told of a run, at several points of it.
fn outcome<O: Observer>(programs: &[Vec<u32>], config: TileConfig, observer: O) -> Vec<String> {
    let mut tile = Tile::new(config, observer).expect("no threads to start");
    bare::start(&mut tile, programs);
    bare::outcome(tile, [96, 400, 1000, 1048, 4000])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn unobserved_pushing_core_ends_as_an_observed_one(
        programs in programs(),
        epoch in prop::sample::select(vec![1_u32, 4, 8, 12]),
        parking: bool,
    ) {
        let epoch = EpochLength::new(epoch).expect("the lengths are valid");
        let shortcuts = Shortcuts::ALL.set(Shortcut::Parking, parking);
        let config =
            TileConfig { engine: EngineKind::Inline, shortcuts, epoch, ..TileConfig::default() };
        let attended = outcome(&programs, config, Attentive);
        prop_assert_eq!(outcome(&programs, config, NullObserver), attended);
    }
}
