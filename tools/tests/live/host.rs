//! Host programs on the library that the environment names. Each is this test binary, run once more with
//! [`ACT`] set.

use std::path::Path;

use hostlib::DynamicLibrary;
use hostlib::abi::{BAR0, WINDOW_REGISTERS};
use isa::asm::{addi, branch, j, li, lw, sw};
use symbols::image::Image;

/// What the program is to do.
pub(crate) const ACT: &str = "TILESCOPE_TEST_ACT";

/// The program of the act `mailbox`.
pub(crate) const ELF: &str = "TILESCOPE_TEST_ELF";

/// A tile at its translated coordinates.
const TILE: (u32, u32) = (1, 2);
/// SOFT_RESET_0, and its value with one core released `[isa-bh: TensixTile/SoftReset.md]`.
const SOFT_RESET_0: u64 = 0xFFB1_21B0;
const BRISC: u32 = 0x4_7000;
const NCRISC: u32 = 0x7800;
/// Where NCRISC starts `[spec: boot-and-sync 1.3]`.
const NCRISC_ENTRY: u64 = 0x1_2000;
/// What the host polls, and what the core does.
const AWAITED: u64 = 0x2_0000;
const POLLED: u32 = 0x3_0000;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Polls a word that nobody writes.
fn waits() -> Vec<u32> {
    let mut words = li(5, POLLED).to_vec();
    words.push(lw(6, 5, 0));
    words.push(branch(0, 6, 0, -4));
    words
}

/// Writes without an end.
fn works() -> Vec<u32> {
    let mut words = li(5, POLLED).to_vec();
    words.extend([addi(6, 6, 1), sw(6, 5, 0), j(-8)]);
    words
}

fn start(library: &DynamicLibrary, entry: u64, program: &[u32], release: u32) {
    let (x, y) = TILE;
    library.tile_write(x, y, entry, &bytes(program));
    library.tile_write(x, y, SOFT_RESET_0, &release.to_le_bytes());
}

/// Waits as hosts do: reads a word through a window and lets a clock pass, over and over.
fn poll(library: &DynamicLibrary) -> ! {
    let (x, y) = TILE;
    let register = u128::from(AWAITED >> 21) | u128::from(x) << 43 | u128::from(y) << 49;
    for (word, bytes) in (0..).zip(register.to_le_bytes()[..12].chunks(4)) {
        library.mem_write(WINDOW_REGISTERS + 4 * word, bytes);
    }
    loop {
        library.mem_read(BAR0 + AWAITED, &mut [0; 4]);
        library.clock(1);
    }
}

/// Not a test of its own: the host programs.
#[test]
fn acts() {
    let Ok(act) = std::env::var(ACT) else { return };
    let path = std::env::var("TT_METAL_SIMULATOR").expect("tilescope run sets it");
    let library = DynamicLibrary::open(Path::new(&path)).expect("it is our library");
    library.init();
    let (x, y) = TILE;
    match act.as_str() {
        "good" => {
            library.tile_write(x, y, AWAITED, b"kept");
            let mut kept = [0; 4];
            library.tile_read(x, y, AWAITED, &mut kept);
            assert_eq!(kept, *b"kept");
            println!("the host is content");
        }
        "hangs" => {
            start(&library, 0, &waits(), BRISC);
            poll(&library);
        }
        "mailbox" => {
            let elf = std::env::var(ELF).expect("its program");
            let image = Image::read_elf(Path::new(&elf)).expect("a good file");
            for segment in image.loadable() {
                library.tile_write(x, y, segment.addr.into(), &segment.bytes);
            }
            library.tile_write(x, y, SOFT_RESET_0, &BRISC.to_le_bytes());
            poll(&library);
        }
        // Without the vendor's firmware BRISC is who the host commands, others it may forget.
        "forgets" => {
            start(&library, NCRISC_ENTRY, &waits(), NCRISC);
            poll(&library);
        }
        "works" => {
            start(&library, 0, &works(), BRISC);
            poll(&library);
        }
        "errs" => {
            // No instruction `[riscv: all ones are illegal]`.
            start(&library, 0, &[u32::MAX], BRISC);
            library.clock(1000);
        }
        other => panic!("no host program {other}"),
    }
    library.exit();
}
