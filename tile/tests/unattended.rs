//! Epochs without the tile's attention (`tile/src/unattended.rs`) end in the same state, cycle and
//! mistake as epochs that are committed one by one. A tile that somebody observes commits each
//! epoch in which a core executes; one that nobody observes does not.

mod bare;
mod pushers;

use isa::asm::{addi, j, lui, lw, sw};
use isa::encode;
use isa::rv32::ttinsn_code;
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

/// A core that waits for a word goes on with the epoch behind the one in which another core gives it, in whichever
/// cycle that is, though all that happens from then on is that the other pushes.
#[test]
fn word_ends_the_wait_of_a_core_whatever_cycle_it_comes_in() {
    const MAILBOXES: u32 = 0xFFEC_0000;
    let push = ttinsn_code(encode::sfpmad(0, 4, 1, 1, 1)).expect("it is one of a TRISC's");
    for (delay, epoch) in (0..24).flat_map(|delay| [(delay, 4), (delay, 8), (delay, 12)]) {
        let give = [lui(4, MAILBOXES + 0x1000), push, push, push];
        let after = [sw(7, 4, 0), push, push, push, j(-12)];
        let gives = [&give[..], &vec![addi(8, 8, 1); delay], &[push; 2], &after].concat();
        let takes = vec![lui(4, MAILBOXES + 0x2000), lw(5, 4, 0), addi(6, 6, 1), j(-4)];
        let programs = vec![Vec::new(), takes, gives];
        let run = |shortcuts| {
            let config = TileConfig {
                engine: EngineKind::Inline,
                shortcuts,
                epoch: EpochLength::new(epoch).expect("the lengths are valid"),
                ..TileConfig::default()
            };
            let mut tile = Tile::new(config, NullObserver).expect("no threads to start");
            bare::start(&mut tile, &programs);
            bare::outcome(tile, [240])
        };
        assert_eq!(run(Shortcuts::ALL), run(Shortcuts::NONE), "delay {delay}, epoch {epoch}");
    }
}
