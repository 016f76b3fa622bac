//! The replay rules on a device of a few lines: `[spec: host recordings 2]`, rule by rule.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::sync::Arc;

use hostlib::abi::{BAR0, HostMemory, WINDOW_REGISTERS};
use hostlib::recording::{Op, Record, Recording, write_magic, write_record};
use replay::{Library, Options, Outcome, Plan, replay};

/// A counter at BAR0 that grows with the clocks up to a limit; other addresses read as zero.
#[derive(Debug, Default)]
struct Counter {
    memory: Option<Box<dyn HostMemory>>,
    value: u32,
    limit: u32,
    /// Clocks per step of the counter.
    pace: u32,
    clocks: u32,
    sessions: u32,
}

impl Library for Counter {
    fn init(&mut self) -> Result<(), String> {
        (self.value, self.clocks) = (0, 0);
        self.sessions += 1;
        Ok(())
    }

    fn exit(&mut self) {
        self.sessions -= 1;
    }

    fn set_host_memory(&mut self, memory: Box<dyn HostMemory>) {
        self.memory = Some(memory);
    }

    fn config_read(&mut self, _bdf: u32, _offset: u32) -> u32 {
        0xB140_1E52
    }

    fn config_write(&mut self, _bdf: u32, _offset: u32, _value: u32) {}

    fn mem_read(&mut self, paddr: u64, bytes: &mut [u8]) {
        bytes.fill(0);
        if paddr == BAR0 {
            bytes.copy_from_slice(&self.value.to_le_bytes());
        }
    }

    fn mem_write(&mut self, _paddr: u64, _bytes: &[u8]) {}

    fn tile_read(&mut self, _x: u32, _y: u32, _address: u64, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn tile_write(&mut self, _x: u32, _y: u32, _address: u64, _bytes: &[u8]) {}

    fn clock(&mut self, clocks: u32) {
        self.clocks += clocks;
        self.value = (self.clocks / self.pace).min(self.limit);
        if let Some(memory) = &mut self.memory {
            let mut bytes = [0; 2];
            memory.read(0x40, &mut bytes);
            memory.write(0x80, &bytes);
        }
    }

    fn state_hash(&mut self) -> Option<u64> {
        Some(u64::from(self.value))
    }
}

fn device(limit: u32, pace: u32) -> Counter {
    Counter { limit, pace, ..Counter::default() }
}

/// `(operation, a0, payload)`.
type Call<'a> = (Op, u64, &'a [u8]);

fn recording(calls: &[Call<'_>]) -> Arc<Recording> {
    let mut file = Vec::new();
    write_magic(&mut file).unwrap();
    for &(op, a0, bytes) in calls {
        write_record(&mut file, &Record { op, a0, a1: 0, bytes }).unwrap();
    }
    Arc::new(Recording::parse(file).unwrap())
}

fn run(device: &mut Counter, recording: &Arc<Recording>, options: &Options) -> Outcome {
    let outcome = replay(device, recording, &Plan::of(recording), options).unwrap();
    assert_eq!(device.sessions, 0, "what was begun was ended");
    outcome
}

const ZERO: &[u8] = &[0; 4];
const ONE: &[u8] = &[1, 0, 0, 0];
const TWO: &[u8] = &[2, 0, 0, 0];

/// A host that polls until it sees a 2, then acts.
fn polling() -> Arc<Recording> {
    recording(&[
        (Op::Init, 0, &[]),
        (Op::ConfigRead, 0, &[0x52, 0x1E, 0x40, 0xB1]),
        (Op::MemRead, BAR0, ZERO),
        (Op::Clock, 1, &[]),
        (Op::MemRead, BAR0, ONE),
        (Op::Clock, 1, &[]),
        (Op::MemRead, BAR0, TWO),
        (Op::Clock, 1, &[]),
        (Op::MemWrite, BAR0 + 0x100, ONE),
        (Op::MemRead, BAR0 + 0x200, ZERO),
    ])
}

#[test]
fn device_of_the_same_pace_passes_strictly() {
    let options = Options { strict: true, ..Options::default() };
    let outcome = run(&mut device(2, 1), &polling(), &options);
    assert!(outcome.passed());
    assert_eq!((outcome.compared, outcome.polls, outcome.clocks), (5, 0, 3));
    assert_eq!(outcome.state_hashes, [2]);
}

#[test]
fn poll_iterations_are_not_compared() {
    let outcome = run(&mut device(2, 1), &polling(), &Options::default());
    assert!(outcome.passed());
    assert_eq!((outcome.compared, outcome.polls), (3, 2));
    assert_eq!((outcome.early, outcome.late, outcome.extra_clocks), (0, 0, 0));
}

#[test]
fn slower_device_gets_more_clocks() {
    let outcome = run(&mut device(2, 10), &polling(), &Options::default());
    assert!(outcome.passed());
    // 2 recorded clocks, then 1 + 2 + 4 + 8 + 16 more until the counter, at a tenth, shows 2.
    assert_eq!((outcome.late, outcome.extra_clocks), (1, 31));
    let strict = Options { strict: true, ..Options::default() };
    assert_eq!(run(&mut device(2, 10), &polling(), &strict).mismatches.len(), 2);
}

#[test]
fn device_that_is_ahead_shows_a_later_value() {
    // The host looked, wrote elsewhere and looked again: the first look is compared.
    let session = recording(&[
        (Op::Init, 0, &[]),
        (Op::Clock, 2, &[]),
        (Op::MemRead, BAR0, ONE),
        (Op::MemWrite, BAR0 + 0x100, ONE),
        (Op::MemRead, BAR0, TWO),
    ]);
    let outcome = run(&mut device(2, 1), &session, &Options::default());
    assert!(outcome.passed());
    assert_eq!((outcome.compared, outcome.early, outcome.late), (2, 1, 0));
}

#[test]
fn write_to_the_bytes_ends_the_chain() {
    let session = recording(&[
        (Op::MemRead, BAR0, ONE),
        (Op::MemWrite, BAR0 + 2, ONE),
        (Op::MemRead, BAR0, TWO),
    ]);
    let plan = Plan::of(&session);
    assert!(!plan.is_poll(0));
    assert_eq!(plan.later(0).count(), 0);
}

#[test]
fn write_elsewhere_keeps_the_chain_but_ends_the_poll() {
    let session = recording(&[
        (Op::MemRead, BAR0, ONE),
        (Op::MemWrite, BAR0 + 4, ONE),
        (Op::MemRead, BAR0, TWO),
        (Op::MemRead, BAR0, TWO),
    ]);
    let plan = Plan::of(&session);
    let polls: Vec<bool> = (0..4).map(|index| plan.is_poll(index)).collect();
    assert_eq!(polls, [false, false, true, false]);
    assert_eq!(plan.later(0).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn window_register_write_is_no_data_but_changes_the_place() {
    let session = recording(&[
        (Op::MemRead, BAR0, ONE),
        // Window 7: not the one in use.
        (Op::MemWrite, WINDOW_REGISTERS + 7 * 12, ONE),
        (Op::MemRead, BAR0, TWO),
        // Window 0: another tile from here on.
        (Op::MemWrite, WINDOW_REGISTERS + 4, ONE),
        (Op::MemRead, BAR0, ONE),
    ]);
    let plan = Plan::of(&session);
    assert!(plan.is_poll(0));
    assert_eq!(plan.later(0).collect::<Vec<_>>(), [2]);
    assert!(!plan.is_poll(2));
}

#[test]
fn flipped_bit_is_named_with_its_tile() {
    let register: u128 = (0x20_0000 >> 21) | 3 << 43 | 4 << 49;
    let mut wrong = [0; 8];
    wrong[5] = 0x10;
    let session = recording(&[
        (Op::Init, 0, &[]),
        (Op::MemWrite, WINDOW_REGISTERS + 12, &register.to_le_bytes()[..12]),
        (Op::MemRead, BAR0 + (1 << 21) + 0x30, &wrong),
    ]);
    let options = Options { max_clocks: 100, ..Options::default() };
    let outcome = run(&mut device(2, 1), &session, &options);
    let [mismatch] = &outcome.mismatches[..] else { panic!("one mismatch") };
    assert_eq!(mismatch.tile, Some((3, 4, 0x20_0035)));
    assert_eq!((mismatch.record, mismatch.offset, mismatch.size), (2, 5, 8));
    assert_eq!((&mismatch.expected[..], &mismatch.got[..]), (&[0x10, 0, 0][..], &[0; 3][..]));
    assert_eq!(outcome.extra_clocks, 100, "the limit is kept exactly");
}

#[test]
fn mismatches_stop_at_their_limit() {
    let wrong: Call<'_> = (Op::ConfigRead, 0, ZERO);
    let session = recording(&[(Op::Init, 0, &[]), wrong, wrong, wrong, wrong]);
    let options = Options { max_mismatches: 3, ..Options::default() };
    let outcome = run(&mut device(2, 1), &session, &options);
    assert_eq!((outcome.mismatches.len(), outcome.stopped, outcome.records), (3, true, 4));
}

#[test]
fn dma_is_answered_from_the_recording() {
    let session = recording(&[
        (Op::SetCallbacks, 0, &[]),
        (Op::Init, 0, &[]),
        (Op::DmaRead, 0x40, &[7, 8]),
        (Op::DmaWrite, 0x80, &[7, 8]),
        (Op::Clock, 1, &[]),
    ]);
    let outcome = run(&mut device(2, 1), &session, &Options::default());
    assert!(outcome.passed());
    assert_eq!((outcome.dma_reads, outcome.dma_writes, outcome.dma_unknown), (1, 1, 0));
    let other = recording(&[(Op::SetCallbacks, 0, &[]), (Op::Init, 0, &[]), (Op::Clock, 1, &[])]);
    let outcome = run(&mut device(2, 1), &other, &Options::default());
    assert!(outcome.passed(), "unknown DMA is counted, not a mismatch");
    assert_eq!(outcome.dma_unknown, 2);
}
