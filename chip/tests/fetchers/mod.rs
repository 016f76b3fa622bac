//! Tiles that fetch from DRAM: what they wait for is neither a tile nor anything that runs.

use chip::Chip;
use isa::asm::{addi, bne, j, li, lw, r, sw};

/// DRAM channel 0 by its translated coordinate `[spec: host-abi 2.6]`.
const DRAM: u32 = 18 | 12 << 6;

/// BRISC of tile (x, y) fetches 64 bytes, waits for the response as firmware does, adds up what came,
/// and writes the sum back, over and over, with a pause between; registers as firmware programs them
/// `[isa-bh: NoC/MemoryMap.md]`.
fn program(x: u32, y: u32, pause: u32) -> Vec<u32> {
    let mut words = Vec::new();
    words.extend(li(5, 0xFFB2_0000));
    words.extend(li(6, 0x2_0000));
    words.extend(li(9, 0x100 * x));
    // Request initiator 0 fetches, 1 writes back; both want a response.
    let own = x | y << 6;
    let setup = [
        (0x08, DRAM),
        (0x0C, 0x2_0000),
        (0x14, own),
        (0x20, 64),
        (0x1C, 0x2090),
        (0x808, own),
        (0x800, 0x2_0000),
        (0x814, DRAM),
        (0x820, 64),
        (0x81C, 0x2092),
    ];
    for (register, value) in setup {
        words.extend(li(7, 0xFFB2_0000 + register));
        words.extend(li(8, value));
        words.push(sw(8, 7, 0));
    }
    words.extend(li(13, 0xFFB2_0800));
    let head = words.len();
    words.push(addi(12, 0, pause.cast_signed()));
    words.push(addi(12, 12, -1));
    words.push(bne(12, 0, -4));
    // NIU_MST_RD_RESP_RECEIVED before and after.
    words.push(lw(14, 5, 0x208));
    words.push(sw(9, 5, 0x00));
    words.push(addi(8, 0, 1));
    words.push(sw(8, 5, 0x40));
    words.push(lw(15, 5, 0x208));
    words.push(r(0x20, 0, 15, 15, 14));
    words.push(bne(15, 8, -8));
    words.push(lw(10, 6, 0));
    words.push(r(0, 0, 11, 11, 10));
    words.push(addi(11, 11, 1));
    words.push(sw(11, 6, 0));
    words.push(sw(9, 13, 0x0C));
    words.push(sw(8, 13, 0x40));
    words.push(lw(8, 13, 0x40));
    words.push(bne(8, 0, -4));
    let back = -4 * (words.len() - head) as i32;
    words.push(j(back));
    words
}

/// Lets BRISC of some tiles of the first row fetch, with pauses of more than no round.
pub(crate) fn start(chip: &mut Chip, pauses: &[(u32, u32)]) {
    for &(x, pause) in pauses {
        let program = program(x, 2, pause);
        let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(chip.tile_write(x, 2, 0, &bytes), Ok(()));
        let release = 0x4_7000_u32.to_le_bytes();
        assert_eq!(chip.tile_write(x, 2, 0xFFB1_21B0, &release), Ok(()));
    }
}
