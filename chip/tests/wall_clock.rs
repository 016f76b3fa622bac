//! Tiles in which cores wait by the wall clock: most of the time nothing happens on such a chip, and
//! it is left alone until the first wait is over. Nobody can tell.

mod waiters;

use chip::{ChipConfig, ClockStep};
use sim_core::{Cycle, Shortcut, Shortcuts};
use waiters::{MAILBOX, ROUNDS, chip};

/// Hash, time and what the host sees, after each of many clocks of different length and accesses in
/// between.
fn outcome(config: ChipConfig, tiles: usize) -> Vec<(u64, Cycle, u32)> {
    let mut chip = chip(config, tiles);
    let mut seen = Vec::new();
    for step in 0..20_u32 {
        chip.clock(1 + step * step % 17);
        let mut word = [0; 4];
        let x = 1 + step % tiles.min(7) as u32;
        assert_eq!(chip.tile_read(x, 2, ROUNDS, &mut word), Ok(()));
        if step % 5 == 4 {
            assert_eq!(chip.tile_write(x, 2, MAILBOX, &step.to_le_bytes()), Ok(()));
        }
        seen.push((chip.state_hash(), chip.now(), u32::from_le_bytes(word)));
    }
    assert_eq!(chip.take_reports(), Vec::<String>::new());
    assert!(seen.iter().any(|&(_, _, rounds)| rounds > 2), "somebody has gone round");
    seen
}

#[test]
fn rest_until_the_first_alarm_does_not_show() {
    for tiles in [1, 2, 8] {
        let config = |parking, ahead, threads| ChipConfig {
            clock: ClockStep::Cycles(64),
            shortcuts: Shortcuts::ALL
                .set(Shortcut::Parking, parking)
                .set(Shortcut::Trials, ahead)
                .set(Shortcut::Ventures, ahead),
            threads,
            ..ChipConfig::default()
        };
        let plain = outcome(config(false, false, 1), tiles);
        for threads in [1, 2, 4] {
            assert_eq!(outcome(config(true, true, threads), tiles), plain, "{tiles} tiles");
        }
        assert_eq!(outcome(config(true, false, 1), tiles), plain, "{tiles} tiles");
    }
}

#[test]
fn steps_of_a_polling_host_do_not_depend_on_threads() {
    for tiles in [1, 2, 8] {
        let config = |threads| ChipConfig { threads, ..ChipConfig::default() };
        let plain = outcome(config(1), tiles);
        assert_eq!(outcome(config(2), tiles), plain, "{tiles} tiles");
        assert_eq!(outcome(config(4), tiles), plain, "{tiles} tiles");
    }
}

/// A host that is told until when nothing happens, and lets that time pass in one go, sees what it would
/// have seen clock by clock.
#[test]
fn rest_in_one_go_is_like_clocks() {
    let config = ChipConfig { clock: ClockStep::Cycles(64), ..ChipConfig::default() };
    let (mut clocked, mut rested) = (chip(config, 1), chip(config, 1));
    let mut rests = 0;
    for _ in 0..400 {
        match rested.rests_until() {
            Some(until) if rested.now() + 64 <= until => {
                rests += 1;
                rested.rest(64);
            }
            _ => rested.clock(1),
        }
        clocked.clock(1);
        assert_eq!(rested.now(), clocked.now());
    }
    assert!(rests > 100, "{rests} of 400");
    assert_eq!(rested.state_hash(), clocked.state_hash());
    // Beyond the next alarm: then it is woken.
    rested.rest(64 * 40);
    (0..40).for_each(|_| clocked.clock(1));
    assert_eq!(rested.state_hash(), clocked.state_hash());
}
