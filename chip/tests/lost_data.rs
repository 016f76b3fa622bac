//! Tiles that write to DRAM what others have written there and nobody has read.

use chip::{Chip, ChipConfig, Loss};
use isa::asm::{j, li, lw, sw};
use sim_core::{CoreId, Cycle};

type At = (u32, u32);
/// Two workers and a DRAM bank, in translated coordinates, and the bank's channel.
const FIRST: At = (1, 2);
const SECOND: At = (2, 2);
const DRAM: At = (17, 14);
/// SOFT_RESET_0 with BRISC alone released `[isa-bh: TensixTile/SoftReset.md]`.
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
const ONLY_BRISC_RUNS: u32 = 0x4_7000;
const NO_CORE_RUNS: u32 = 0x4_7800;
const PROGRAM: u32 = 0x1_0000;
const DATA: u32 = 0x4_0000;

fn chip() -> Chip {
    Chip::new(ChipConfig { threads: 1, ..ChipConfig::default() })
}

fn write(chip: &mut Chip, at: At, addr: u64, bytes: &[u8]) {
    chip.tile_write(at.0, at.1, addr, bytes).expect("memory or a register");
}

/// BRISC of a tile writes 64 times `value` to an address of the bank; gives the instruction that starts the request. Registers as
/// firmware programs them `[isa-bh: NoC/MemoryMap.md]`.
fn writes(chip: &mut Chip, (x, y): At, addr: u32, value: u8) -> u32 {
    const NIU: u32 = 0xFFB2_0000;
    let (own, bank) = (x | y << 6, DRAM.0 | DRAM.1 << 6);
    // A non-posted write of initiator 0.
    let registers = [
        (0x00, DATA),
        (0x08, own),
        (0x0C, addr),
        (0x14, bank),
        (0x20, 64),
        (0x1C, 0x12),
        (0x40, 1),
    ];
    let mut words = li(5, NIU).to_vec();
    for (register, value) in registers {
        words.extend(li(8, value));
        words.push(sw(8, 5, register));
    }
    let starts = PROGRAM + 4 * (words.len() as u32 - 1);
    words.extend([lw(8, 5, 0x40), j(0)]);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    write(chip, (x, y), SOFT_RESET_0, &NO_CORE_RUNS.to_le_bytes());
    write(chip, (x, y), DATA.into(), &[value; 64]);
    write(chip, (x, y), PROGRAM.into(), &bytes);
    write(chip, (x, y), 0, &j(PROGRAM.cast_signed()).to_le_bytes());
    write(chip, (x, y), SOFT_RESET_0, &ONLY_BRISC_RUNS.to_le_bytes());
    chip.clock(1 << 12);
    starts
}

#[test]
fn what_a_tile_writes_over_before_anybody_has_read_it_is_lost() {
    let mut chip = chip();
    chip.watch_losses();
    let first = writes(&mut chip, FIRST, 0x1000, 1);
    writes(&mut chip, SECOND, 0x1000, 1);
    assert_eq!(chip.take_losses(), [], "the same bytes");
    let begun = chip.now();
    let second = writes(&mut chip, FIRST, 0x1020, 2);
    let losses = chip.take_losses();
    let [Loss { channel: 0, addr: 0x1020, first: one, second: two }] = losses[..] else {
        panic!("{losses:?}")
    };
    assert_eq!((one.tile, one.by), (1, Some((CoreId::Brisc, first))));
    assert_eq!((two.tile, two.by), (0, Some((CoreId::Brisc, second))));
    assert!(Cycle(0) < one.cycle && one.cycle < begun && begun < two.cycle, "{losses:?}");
    // The host reads some of it, and the rest is lost.
    let mut byte = [0];
    chip.tile_read(DRAM.0, DRAM.1, 0x1040, &mut byte).expect("memory");
    assert_eq!(byte, [2]);
    writes(&mut chip, SECOND, 0x1040, 3);
    assert_eq!(chip.take_losses(), []);
    writes(&mut chip, SECOND, 0x1000, 3);
    assert_eq!(chip.take_losses().len(), 1);
    // What the host writes is its own.
    write(&mut chip, DRAM, 0x1000, &[4; 128]);
    writes(&mut chip, FIRST, 0x1000, 5);
    assert_eq!(chip.take_losses(), []);
}

/// Nothing else shows of it.
#[test]
fn books_of_losses_change_nothing() {
    let [mut with, mut without] = [chip(), chip()];
    with.watch_losses();
    for chip in [&mut with, &mut without] {
        writes(chip, FIRST, 0x1000, 1);
        writes(chip, SECOND, 0x1000, 2);
    }
    assert_eq!(with.state_hash(), without.state_hash());
    assert_eq!((with.take_losses().len(), without.take_losses().len()), (1, 0));
    // Going back forgets what was unread.
    let before = with.snapshot(None);
    with.restore(&before);
    writes(&mut with, FIRST, 0x1000, 3);
    assert_eq!(with.take_losses(), []);
}
