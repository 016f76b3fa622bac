//! The PCI front against what hosts may do, and tiles against each other.

mod neighbours;

use std::cell::RefCell;
use std::sync::{Arc, Mutex, mpsc};

use chip::{Chip, ChipConfig, ClockStep};
use isa::asm::{addi, j, lui, lw, r, store, sw};
use neighbours::start;
use proptest::prelude::*;
use sim_core::{Shortcut, Shortcuts};

const BAR0: u64 = 0x1_0000_0000;
const WINDOW_REGISTERS: u64 = BAR0 + 0x1FC0_0000;
const BAR2: u64 = 0x1_2000_0000;

fn chip() -> Chip {
    chip_with(1)
}

fn chip_with(threads: usize) -> Chip {
    chip_that_goes(true, threads)
}

fn chip_that_goes(ahead: bool, threads: usize) -> Chip {
    let clock = ClockStep::Cycles(64);
    let shortcuts = Shortcuts::ALL.set(Shortcut::Trials, ahead).set(Shortcut::Ventures, ahead);
    Chip::new(ChipConfig { threads, shortcuts, clock, ..ChipConfig::default() })
}

/// `[spec: host-abi 2.1]`: 32 devices are probed and only the first is there.
#[test]
fn probe_of_32_devices_finds_the_first() {
    let mut chip = chip();
    for device in 0..32 {
        let expected = if device == 0 { 0xB140_1E52 } else { u32::MAX };
        assert_eq!(chip.config_read(device << 3, 0), expected, "device {device}");
    }
}

/// Writes the programs and lets BRISC go on the first `rows` rows of tiles.
fn busy_chip(threads: usize, rows: u32) -> Chip {
    let mut chip = chip_with(threads);
    start(&mut chip, rows, |_, _| 0);
    chip
}

fn word(chip: &mut Chip, x: u32, y: u32, addr: u64) -> u32 {
    let mut bytes = [0; 4];
    assert_eq!(chip.tile_read(x, y, addr, &mut bytes), Ok(()));
    u32::from_le_bytes(bytes)
}

#[test]
fn every_tile_receives_from_its_neighbour_only() {
    let mut chip = busy_chip(1, 2);
    chip.clock(50);
    assert_eq!(chip.take_reports(), Vec::<String>::new());
    for y in 2..4 {
        for (x, from) in [(2, 1), (10, 7), (16, 15), (1, 16)] {
            let received = word(&mut chip, x, y, 0x3_0000);
            assert_eq!(received >> 16, from << 8 | y, "tile ({x}, {y})");
            assert!(received & 0xFFFF > 10, "rounds: {received:#x}");
        }
    }
}

/// More tiles than there were, for some time; the state they come to.
fn goes_on(chip: &mut Chip) -> u64 {
    start(chip, 2, |_, _| 0);
    chip.clock(50);
    assert_eq!(chip.take_reports(), Vec::<String>::new());
    chip.state_hash()
}

/// A chip that goes on when it is dropped, and tells its state.
struct Ending(Chip, mpsc::Sender<u64>);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.1.send(goes_on(&mut self.0));
    }
}

/// A host may close its device while its thread ends, as destructors of static objects do. What the thread remembered is
/// gone by then.
#[test]
fn thread_that_ends_can_still_use_the_chip() {
    thread_local! {
        static LAST: RefCell<Option<Ending>> = const { RefCell::new(None) };
    }
    let (sender, told) = mpsc::channel();
    let ends = std::thread::spawn(move || {
        // What a thread has first goes last.
        LAST.set(None);
        let mut chip = busy_chip(1, 1);
        chip.clock(50);
        LAST.set(Some(Ending(chip, sender)));
    });
    ends.join().expect("a thread that ends");
    let mut chip = busy_chip(1, 1);
    chip.clock(50);
    assert_eq!(told.recv(), Ok(goes_on(&mut chip)));
}

#[test]
fn number_of_threads_and_slicing_of_time_do_not_show() {
    let mut hashes = Vec::new();
    for (threads, slices) in [(1, 1), (2, 1), (3, 5), (4, 60)] {
        let mut chip = busy_chip(threads, 3);
        for _ in 0..slices {
            chip.clock(60 / slices);
        }
        hashes.push(chip.state_hash());
    }
    assert!(hashes.iter().all(|&hash| hash == hashes[0]), "{hashes:x?}");
}

/// Tiles that wait for nobody run ahead of the others; a message from one that is behind reaches them
/// at its cycle all the same.
#[test]
fn going_ahead_does_not_show() {
    let mut hashes = Vec::new();
    for (ahead, threads, slices) in [(false, 1, 1), (true, 1, 1), (true, 2, 7), (true, 4, 400)] {
        let mut chip = chip_that_goes(ahead, threads);
        start(&mut chip, 2, |x, y| 60 + (x * 97 + y * 31) % 700);
        for slice in 0..slices {
            chip.clock(800 * (slice + 1) / slices - 800 * slice / slices);
        }
        assert_eq!(chip.take_reports(), Vec::<String>::new());
        assert_eq!(chip.recalls() > 20, ahead, "{} recalls", chip.recalls());
        hashes.push(chip.state_hash());
    }
    assert!(hashes.iter().all(|&hash| hash == hashes[0]), "{hashes:x?}");
}

/// Four cores add to the same words without any order, and to words of their own; BRISC sends.
#[test]
fn going_ahead_does_not_show_where_cores_race() {
    let racer = [
        lui(4, 0x2_0000),
        lw(5, 4, 0),
        addi(5, 5, 1),
        sw(5, 4, 0),
        r(0, 4, 6, 6, 5),
        sw(6, 4, 4),
        store(0, 6, 4, 9),
        j(-24),
    ];
    let mut hashes = Vec::new();
    for (ahead, threads, slices) in [(false, 1, 1), (true, 1, 1), (true, 3, 10)] {
        let mut chip = chip_that_goes(ahead, threads);
        start(&mut chip, 1, |x, y| 60 + (x * 97 + y * 31) % 700);
        for x in (1..=7).chain(10..=16) {
            for core in [0x6000, 0xA000, 0xE000, 0x1_2000] {
                let program: Vec<u8> = racer.iter().flat_map(|word| word.to_le_bytes()).collect();
                assert_eq!(chip.tile_write(x, 2, core, &program), Ok(()));
            }
            assert_eq!(chip.tile_write(x, 2, 0xFFB1_21B0, &[0; 4]), Ok(()));
        }
        for _ in 0..slices {
            chip.clock(600 / slices);
        }
        assert_eq!(chip.take_reports(), Vec::<String>::new());
        assert!(word(&mut chip, 5, 2, 0x2_0000) > 1000);
        assert_eq!(chip.recalls() > 20, ahead, "{} recalls", chip.recalls());
        hashes.push(chip.state_hash());
    }
    assert!(hashes.iter().all(|&hash| hash == hashes[0]), "{hashes:x?}");
}

fn address() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        BAR0..BAR0 + (512 << 20),
        WINDOW_REGISTERS..WINDOW_REGISTERS + 2600,
        BAR2..BAR2 + (1 << 20),
        BAR2 + 0x1000..BAR2 + 0x3000,
        0x8_0000_0000..0x10_0000_0010u64,
        BAR0..BAR0 + 64,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever the host sends, the chip answers; a refused read yields all ones.
    #[test]
    fn arbitrary_accesses_never_panic(
        calls in proptest::collection::vec(
            (0u8..5, address(), proptest::collection::vec(any::<u8>(), 0..20)), 1..40)
    ) {
        let mut chip = chip();
        for (kind, paddr, mut bytes) in calls {
            match kind {
                0 => if chip.mem_read(paddr, &mut bytes).is_err() {
                    prop_assert!(bytes.iter().all(|&byte| byte == 0xFF));
                },
                1 => {
                    let _ = chip.mem_write(paddr, &bytes);
                }
                2 => {
                    bytes.resize(4, 0);
                    let _ = chip.mem_write(paddr & !3, &bytes);
                }
                3 => chip.config_write(paddr as u32 & 8, paddr as u32, (paddr >> 32) as u32),
                _ => {
                    let (x, y) = ((paddr & 31) as u32, (paddr >> 5 & 31) as u32);
                    let _ = chip.tile_read(x, y, paddr.rotate_left(20), &mut bytes);
                    let _ = chip.tile_write(x, y, paddr.rotate_left(40), &bytes);
                }
            }
        }
    }
}

/// A write into host memory: where, and what.
type HostWrite = (u64, Vec<u8>);

/// Host memory as a test sees it: reads give each address's low byte, writes are kept.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<HostWrite>>>);

impl chip::HostMemory for Memory {
    fn read(&mut self, paddr: u64, bytes: &mut [u8]) {
        (paddr..).zip(bytes).for_each(|(at, byte)| *byte = at as u8);
    }

    fn write(&mut self, paddr: u64, bytes: &[u8]) {
        self.0.lock().expect("nobody panics").push((paddr, bytes.to_vec()));
    }
}

/// The words that tt-umd writes for a transfer, in its order
/// `[umd: device/tt_device/protocol/pcie_dma/blackhole_dma_transfer.cpp]`.
#[test]
fn read_dma_moves_a_block_through_a_window() {
    let mut chip = chip();
    let (source, completion) = (0x12_3456_7810_u64, 0x9_0000_0040_u64);
    let (window, at, size) = (5_u32, 0x4_0100_u32, 3000_u32);
    let register = WINDOW_REGISTERS + 12 * u64::from(window);
    for (word, value) in [(0, 0), (4, 1 << 11 | 2 << 17), (8, 0_u32)] {
        chip.mem_write(register + word, &value.to_le_bytes()).expect("a register");
    }
    let transfer = |chip: &mut Chip, size: u32| {
        let words = [
            (0x188, 0x28),
            (0x190, completion as u32),
            (0x194, (completion >> 32) as u32),
            (0x1A0, completion as u32 + 4),
            (0x1A4, (completion >> 32) as u32),
            (0x1A8, 0xC0DE),
            (0x100, 1),
            (0x120, source as u32),
            (0x124, (source >> 32) as u32),
            (0x128, window << 21 | at),
            (0x12C, 0),
            (0x11C, size),
        ];
        for (offset, value) in words {
            chip.mem_write(BAR2 + offset, &u32::to_le_bytes(value)).expect("a register");
        }
        chip.mem_write(BAR2 + 0x104, &1_u32.to_le_bytes())
    };
    let error = transfer(&mut chip, size).expect_err("no host memory yet");
    assert!(matches!(error, chip::HostError::NoHostMemory { .. }), "{error}");
    let memory = Memory::default();
    chip.set_host_memory(Box::new(memory.clone()));
    transfer(&mut chip, size).expect("it is done at once");
    let mut bytes = vec![0; size as usize];
    chip.tile_read(1, 2, u64::from(at), &mut bytes).expect("L1");
    assert!((source..).zip(&bytes).all(|(at, &byte)| byte == at as u8));
    let mut left = [9; 4];
    chip.mem_read(BAR2 + 0x11C, &mut left).expect("a register");
    assert_eq!(left, [0; 4]);
    let written = memory.0.lock().expect("nobody panics").clone();
    assert_eq!(written, [(completion, 0xC0DE_u32.to_le_bytes().to_vec())]);
    let error = transfer(&mut chip, 2 << 20).expect_err("beyond the window");
    assert!(matches!(error, chip::HostError::LeavesWindow { .. }), "{error}");
}
