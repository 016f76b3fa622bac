//! Tiles that write to each other.

use chip::Chip;
use isa::asm::{addi, bne, j, li, lw, r, sw};

/// BRISC of every tile writes 64 bytes of its own to the next tile of its row, over and over, and
/// counts the rounds; registers as firmware programs them `[isa-bh: NoC/MemoryMap.md]`. Before each
/// write it adds up `pause` times what it has received, so that it matters when that comes.
fn neighbour_program(x: u32, y: u32, to: u32, pause: u32) -> Vec<u32> {
    let mut words = Vec::new();
    words.extend(li(5, 0xFFB2_0000));
    words.extend(li(6, 0x2_0000));
    words.extend(li(7, x << 24 | y << 16));
    // Source and destination coordinate, 64 bytes, a write that wants a response.
    let setup =
        [(0x08, x | y << 6), (0x14, to | y << 6), (0x20, 64), (0x1C, 0x2092), (0x00, 0x2_0000)];
    for (register, value) in setup {
        words.extend(li(8, value));
        words.push(sw(8, 5, register));
    }
    words.extend(li(9, 0x3_0000));
    let head = words.len();
    if pause != 0 {
        words.push(addi(12, 0, pause.cast_signed()));
        words.push(lw(10, 9, 0));
        words.push(r(0, 0, 11, 11, 10));
        words.push(addi(12, 12, -1));
        words.push(bne(12, 0, -12));
        words.push(sw(11, 6, 4));
    }
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

/// Writes the programs and lets BRISC go on the first `rows` rows of tiles, with a pause by coordinate.
pub(crate) fn start(chip: &mut Chip, rows: u32, pause: impl Fn(u32, u32) -> u32) {
    let columns: Vec<u32> = (1..=7).chain(10..=16).collect();
    for y in 2..2 + rows {
        for (index, &x) in columns.iter().enumerate() {
            let to = columns[(index + 1) % columns.len()];
            let program = neighbour_program(x, y, to, pause(x, y));
            let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert_eq!(chip.tile_write(x, y, 0, &bytes), Ok(()));
            let release = 0x4_7000_u32.to_le_bytes();
            assert_eq!(chip.tile_write(x, y, 0xFFB1_21B0, &release), Ok(()));
        }
    }
}
