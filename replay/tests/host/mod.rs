//! A host with a chip, and the two forms in which its calls are written.

use std::sync::{Arc, Mutex};

use chip::{Chip, ChipConfig, ClockStep};
use hostlib::abi::{BAR0, BAR2, WINDOW_REGISTERS};
use hostlib::recording::{Op, Record, write_record};
use isa::asm::{addi, bne, j, li, lw, sw};
use replay::exact::Session;
use tape::{Call, TapeWriter};

/// An access of the device: whether it writes, where, and what.
pub(crate) type Access = (bool, u64, Vec<u8>);

/// Host memory in which each byte is the low one of its address plus how often it was read.
#[derive(Clone, Default)]
struct Memory {
    log: Arc<Mutex<Vec<Access>>>,
    reads: u8,
}

impl chip::HostMemory for Memory {
    fn read(&mut self, paddr: u64, bytes: &mut [u8]) {
        self.reads += 1;
        (paddr..)
            .zip(&mut *bytes)
            .for_each(|(at, byte)| *byte = (at as u8).wrapping_add(self.reads));
        self.log.lock().unwrap().push((false, paddr, bytes.to_vec()));
    }

    fn write(&mut self, paddr: u64, bytes: &[u8]) {
        self.log.lock().unwrap().push((true, paddr, bytes.to_vec()));
    }
}

/// Writes what a host calls in whatever form.
pub(crate) trait Recorder {
    fn call(&mut self, call: &Call<'_>, within: &[Access]);
}

impl Recorder for TapeWriter {
    fn call(&mut self, call: &Call<'_>, within: &[Access]) {
        for (is_write, paddr, bytes) in within {
            let (&paddr, bytes) = (paddr, bytes.as_slice());
            Self::call(
                self,
                &match is_write {
                    true => Call::DmaWrite { paddr, bytes },
                    false => Call::DmaRead { paddr, bytes },
                },
            );
        }
        Self::call(self, call);
    }
}

/// A recording as the library `recorder` writes it: calls that write, and clocks, come before what the
/// device did within them, reads after.
pub(crate) struct OldRecorder(pub(crate) Vec<u8>);

impl Recorder for OldRecorder {
    fn call(&mut self, call: &Call<'_>, within: &[Access]) {
        let tile = |x: u32, y: u32| u64::from(x) | u64::from(y) << 32;
        let word;
        let (op, a0, a1, bytes) = match *call {
            Call::Init => (Op::Init, 0, 0, &[][..]),
            Call::Exit => (Op::Exit, 0, 0, &[][..]),
            Call::ConfigRead { bdf, offset, value } => {
                word = value.to_le_bytes();
                (Op::ConfigRead, bdf.into(), offset.into(), &word[..])
            }
            Call::MemRead { paddr, bytes } => (Op::MemRead, paddr, 0, bytes),
            Call::MemWrite { paddr, bytes } => (Op::MemWrite, paddr, 0, bytes),
            Call::TileRead { x, y, addr, bytes } => (Op::TileRead, addr, tile(x, y), bytes),
            Call::TileWrite { x, y, addr, bytes } => (Op::TileWrite, addr, tile(x, y), bytes),
            Call::Clock { clocks } => (Op::Clock, clocks.into(), 0, &[][..]),
            Call::SetMemory { .. } => (Op::SetCallbacks, 0, 0, &[][..]),
            _ => return,
        };
        let call = Record { op, a0, a1, bytes };
        let mut records: Vec<Record<'_>> = Vec::new();
        for (is_write, paddr, bytes) in within {
            let op = if *is_write { Op::DmaWrite } else { Op::DmaRead };
            records.push(Record { op, a0: *paddr, a1: 0, bytes });
        }
        let is_read = matches!(op, Op::MemRead | Op::TileRead);
        records.insert(if is_read { records.len() } else { 0 }, call);
        for record in &records {
            write_record(&mut self.0, record).unwrap();
        }
    }
}

/// A host, the chip it has, and what it calls.
pub(crate) struct Host<R> {
    chip: Chip,
    memory: Memory,
    pub(crate) recorder: R,
    has_rests: bool,
}

pub(crate) fn config() -> ChipConfig {
    ChipConfig { threads: 1, clock: ClockStep::Cycles(64), ..ChipConfig::default() }
}

impl<R: Recorder> Host<R> {
    pub(crate) fn new(recorder: R, has_rests: bool) -> Self {
        let chip = Chip::new(config());
        Self { chip, memory: Memory::default(), recorder, has_rests }
    }

    fn say(&mut self, call: &Call<'_>) {
        let within = std::mem::take(&mut *self.memory.log.lock().unwrap());
        self.recorder.call(call, &within);
    }

    fn write(&mut self, paddr: u64, bytes: &[u8]) {
        let _ = self.chip.mem_write(paddr, bytes);
        self.say(&Call::MemWrite { paddr, bytes });
    }

    fn words(&mut self, base: u64, words: &[(u64, u32)]) {
        words.iter().for_each(|&(offset, word)| self.write(base + offset, &word.to_le_bytes()));
    }

    fn read(&mut self, paddr: u64, size: usize) -> Vec<u8> {
        let mut bytes = vec![0x5A; size];
        let _ = self.chip.mem_read(paddr, &mut bytes);
        self.say(&Call::MemRead { paddr, bytes: &bytes });
        bytes
    }

    fn clock(&mut self, clocks: u32) {
        self.chip.clock(clocks);
        self.say(&Call::Clock { clocks });
    }

    fn state(&mut self) {
        let (cycle, hash) = (self.chip.now().0, self.chip.state_hash());
        self.say(&Call::State { cycle, hash });
    }

    /// Cycles that pass as a library answers polls without the chip, or one clock after the other.
    fn rest(&mut self, polls: u32) {
        if self.has_rests {
            let cycles = u64::from(polls) * 64;
            assert!(self.chip.rests_until().is_some_and(|until| until >= self.chip.now() + cycles));
            self.chip.rest(cycles);
            self.say(&Call::Rest { cycles });
        } else {
            (0..polls).for_each(|_| self.clock(1));
        }
    }

    /// From the probe to the end: a program whose messages reach the host's memory, a DMA transfer, polls
    /// of a chip at rest, and accesses that are refused.
    pub(crate) fn session(&mut self) -> Session {
        self.chip = Chip::new(config());
        self.say(&Call::SetMemory { read: true, write: true });
        self.chip.set_host_memory(Box::new(self.memory.clone()));
        self.say(&Call::Init);
        for bdf in [0, 8] {
            let value = self.chip.config_read(bdf, 0);
            self.say(&Call::ConfigRead { bdf, offset: 0, value });
        }
        let window = BAR0 + (5 << 21);
        self.words(WINDOW_REGISTERS + 12 * 5, &[(0, 0), (4, 1 << 11 | 2 << 17), (8, 0)]);
        let program: Vec<u8> = program().iter().flat_map(|word| word.to_le_bytes()).collect();
        self.write(window, &program);
        let release = 0x4_7000_u32.to_le_bytes();
        self.chip.tile_write(1, 2, 0xFFB1_21B0, &release).unwrap();
        self.say(&Call::TileWrite { x: 1, y: 2, addr: 0xFFB1_21B0, bytes: &release });
        let mut polls = 0;
        while self.read(window + 0x3_0000, 4) == [0; 4] {
            self.clock(1);
            polls += 1;
            assert!(polls < 1000, "{:?}", self.chip.take_reports());
        }
        self.state();
        self.clock(20);
        for polls in [3, 700] {
            self.rest(polls);
        }
        self.read(window + 0x3_0000, 4);
        self.rest(1);
        self.dma(0x4_0100, 3000);
        let mut bytes = vec![0; 3000];
        self.chip.tile_read(1, 2, 0x4_0100, &mut bytes).unwrap();
        self.say(&Call::TileRead { x: 1, y: 2, addr: 0x4_0100, bytes: &bytes });
        // Nothing is there.
        assert_eq!(self.read(0x40, 8), [0xFF; 8]);
        self.write(0x40, &[1; 8]);
        self.state();
        let session = Session { cycle: self.chip.now().0, hash: self.chip.state_hash() };
        self.say(&Call::Exit);
        session
    }

    /// The words that tt-umd writes for a transfer
    /// `[umd: device/tt_device/protocol/pcie_dma/blackhole_dma_transfer.cpp]`.
    fn dma(&mut self, to: u32, size: u32) {
        let words = [
            (0x188, 0x28),
            (0x190, 0x40),
            (0x194, 9),
            (0x1A0, 0x44),
            (0x1A4, 9),
            (0x1A8, 0xC0DE),
            (0x100, 1),
            (0x120, 0x3456_7810),
            (0x124, 0x12),
            (0x128, 5 << 21 | to),
            (0x12C, 0),
            (0x11C, size),
            (0x104, 1),
        ];
        self.words(BAR2, &words);
    }
}

/// Five writes of 64 bytes to the host's memory, then a read from there to 0x3_0000; registers as
/// firmware programs them `[isa-bh: NoC/MemoryMap.md]`.
fn program() -> Vec<u32> {
    const OWN: u32 = 1 | 2 << 6;
    const PCIE: u32 = 19 | 24 << 6;
    let mut words = li(5, 0xFFB2_0000).to_vec();
    let set = |words: &mut Vec<u32>, registers: &[(i32, u32)]| {
        for &(register, value) in registers {
            words.extend(li(8, value));
            words.push(sw(8, 5, register));
        }
    };
    let go = |words: &mut Vec<u32>| {
        words.push(addi(8, 0, 1));
        words.push(sw(8, 5, 0x40));
        words.push(lw(8, 5, 0x40));
        words.push(bne(8, 0, -4));
    };
    for round in 0..5 {
        let to = 0x1000 + round * 0x100;
        set(&mut words, &[(0, 0), (8, OWN), (0x0C, to), (0x14, PCIE), (0x20, 64), (0x1C, 0x2092)]);
        go(&mut words);
    }
    set(&mut words, &[(0, 0x2000), (8, PCIE), (0x0C, 0x3_0000), (0x14, OWN), (0x1C, 0x2090)]);
    go(&mut words);
    words.push(j(0));
    words
}
