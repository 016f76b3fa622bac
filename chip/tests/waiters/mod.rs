//! Tiles in which cores wait by the wall clock and write to each other.

use chip::{Chip, ChipConfig};
use isa::asm::{addi, bne, branch, j, li, lw, r, sw};

/// SOFT_RESET_0, and its value with BRISC alone or BRISC and NCRISC released
/// `[isa-bh: TensixTile/SoftReset.md]`.
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
const BRISC: u32 = 0x4_7000;
const BOTH: u32 = 0x7000;
/// Where NCRISC starts `[spec: boot-and-sync 1.3]`.
const NCRISC_ENTRY: u64 = 0x1_2000;
/// Counts the rounds of a core; what the neighbour sends.
pub(crate) const ROUNDS: u64 = 0x2_0000;
pub(crate) const MAILBOX: u64 = 0x3_0000;

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
pub(crate) fn chip(config: ChipConfig, tiles: usize) -> Chip {
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
