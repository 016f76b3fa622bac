//! Tiles in which cores wait by the wall clock: most of the time nothing happens on such a chip, and
//! it is left alone until the first wait is over. Nobody can tell.

use chip::{Chip, ChipConfig, ClockStep};
use isa::asm::{addi, bne, branch, j, li, lw, r, sw};
use sim_core::{Cycle, Shortcut, Shortcuts};

/// SOFT_RESET_0, and its value with BRISC alone or BRISC and NCRISC released
/// `[isa-bh: TensixTile/SoftReset.md]`.
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
const BRISC: u32 = 0x4_7000;
const BOTH: u32 = 0x7000;
/// Where NCRISC starts `[spec: boot-and-sync 1.3]`.
const NCRISC_ENTRY: u64 = 0x1_2000;
/// Counts the rounds of a core; what the neighbour sends.
const ROUNDS: u64 = 0x2_0000;
const MAILBOX: u64 = 0x3_0000;

/// Waits so many cycles, or until the mailbox holds something else than after the last wait, counts, and
/// sends the count to the mailbox of tile (`to`, `y`) `[isa-bh: NoC/MemoryMap.md]`.
fn program(x: u32, y: u32, to: u32, cycles: u32) -> Vec<u32> {
    let mut words = Vec::new();
    words.extend(li(5, 0xFFB2_0000));
    words.extend(li(6, ROUNDS as u32));
    words.extend(li(13, 0xFFB1_21F0));
    // Source and destination coordinate, 4 bytes, a write that wants a response.
    let setup =
        [(0x08, x | y << 6), (0x14, to | y << 6), (0x20, 4), (0x1C, 0x2092), (0x00, ROUNDS as u32)];
    for (register, value) in setup {
        words.extend(li(8, value));
        words.push(sw(8, 5, register));
    }
    words.extend(li(9, MAILBOX as u32));
    words.extend(li(14, cycles));
    let head = words.len();
    words.push(lw(10, 13, 0));
    // Until something comes, or the time is up.
    words.push(lw(11, 13, 0));
    words.push(lw(15, 9, 0));
    words.push(bne(15, 16, 12));
    words.push(r(0x20, 0, 11, 11, 10));
    words.push(branch(6, 11, 14, -16));
    words.push(addi(16, 15, 0));
    words.push(addi(7, 7, 1));
    words.push(sw(7, 6, 0));
    words.push(sw(9, 5, 0x0C));
    words.push(addi(8, 0, 1));
    words.push(sw(8, 5, 0x40));
    // Wait until the command register is free again.
    words.push(lw(8, 5, 0x40));
    words.push(bne(8, 0, -4));
    let back = -4 * (words.len() - head) as i32;
    words.push(j(back));
    words
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A chip with that program on some tiles of a row, each waiting for another time; on every other one
/// NCRISC waits as well.
fn chip(config: ChipConfig, tiles: usize) -> Chip {
    let mut chip = Chip::new(config);
    let columns: Vec<u32> = (1..=7).chain(10..=16).collect();
    for (index, &x) in columns.iter().enumerate().take(tiles) {
        let to = columns[(index + 1) % columns.len()];
        let cycles = 400 + 977 * index as u32;
        assert_eq!(chip.tile_write(x, 2, 0, &bytes(&program(x, 2, to, cycles))), Ok(()));
        let second = program(x, 2, x, 300 + 31 * index as u32);
        // Counts elsewhere and sends to nobody: it stops before it would.
        let second = [&second[..24], &[j(-20)]].concat();
        assert_eq!(chip.tile_write(x, 2, NCRISC_ENTRY, &bytes(&second)), Ok(()));
        let release = if index % 2 == 1 { BOTH } else { BRISC };
        assert_eq!(chip.tile_write(x, 2, SOFT_RESET_0, &release.to_le_bytes()), Ok(()));
    }
    chip
}

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
