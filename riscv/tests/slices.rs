//! How a run is cut into slices, and whether polling loops are parked, must not show: not in a
//! register, not in memory, not in a counter.
//!
//! A core alone has no partner, so the cut into epochs is a matter of bookkeeping: every way to
//! run it must end in the same state. The reference is the plainest one: no parking, one slice
//! per epoch.

mod programs;

use proptest::prelude::*;
use riscv::{Core, CoreConfig, Status};
use sim_core::agent::PAGE_OBSERVED;
use sim_core::l1::PAGE_BYTES;
use sim_core::{Agent, CoreId, Cycle, EpochLength, Shared, Shortcut, Shortcuts, Width};

/// Just before the end of a page of decoded instructions, so that programs cross it.
const CODE: u32 = 0x1000 - 32;
const DATA: u32 = 0x8000;
const LOCAL: u32 = 0xFFB0_0000;

/// A core with the L1 it runs from.
struct Machine {
    core: Core,
    shared: Shared,
    epoch: EpochLength,
    now: u64,
}

/// Everything a program could tell apart.
#[derive(PartialEq, Eq, Debug)]
struct State {
    registers: Vec<u32>,
    local: Vec<u32>,
    l1: Vec<u32>,
    pc: u32,
    cycle: u64,
    instructions: u64,
}

impl Machine {
    fn new(words: &[u32], patches: &[u32], epoch: u32, parking: bool) -> Self {
        let epoch = EpochLength::new(epoch).expect("the tests use valid lengths");
        let shared = Shared::new();
        for (index, &word) in words.iter().enumerate() {
            shared.l1.set_word(CODE + index as u32 * 4, word);
        }
        let shortcuts = Shortcuts::ALL.set(Shortcut::Parking, parking);
        let config = CoreConfig { epoch, shortcuts, ..CoreConfig::default() };
        let mut core = Core::new(CoreId::Brisc, config);
        core.release(CODE, Cycle::ZERO, false);
        core.set_register(programs::CODE_REGISTER, CODE);
        core.set_register(programs::LOCAL_REGISTER, LOCAL);
        core.set_register(programs::DATA_REGISTER, DATA);
        for (register, &word) in programs::PATCH_REGISTERS.zip(patches) {
            core.set_register(register, word);
        }
        Self { core, shared, epoch, now: 0 }
    }

    /// What a tile does to L1 and to decoded code.
    fn write(&mut self, addr: u32, value: u32, width: Width) {
        if self.shared.page_flags(addr) & !PAGE_OBSERVED != 0 {
            self.core.wake(&self.shared, Cycle(self.now));
            self.core.invalidate_code(addr, width.bytes());
        }
        self.shared.l1.write(addr, value, width);
        if !self.core.spin_holds(&self.shared.l1) {
            self.core.wake(&self.shared, Cycle(self.now));
        }
    }

    fn commit(&mut self) {
        for store in std::mem::take(&mut self.core.batch.stores) {
            self.write(store.addr, store.value, store.width);
        }
        self.core.clear_posted();
    }

    fn run_epochs(&mut self, until: u64) {
        while self.now < until {
            let end = self.epoch.end_of_epoch(Cycle(self.now));
            self.core.run(&self.shared, end);
            self.now = end.0;
            self.commit();
        }
    }

    fn run_alone(&mut self, until: u64) {
        while self.now < until {
            self.core.run_alone(&self.shared, Cycle(until), self.epoch);
            // What was stored takes effect at the end of its epoch, also if the core parked in it.
            self.now = self.epoch.round_up(self.core.cycle()).0.max(self.now);
            self.commit();
            if matches!(self.core.status(), Status::Parked(_)) {
                self.now = until;
            }
        }
    }

    fn state(mut self) -> State {
        assert!(self.core.batch.fault.is_none(), "{:?}", self.core.batch.fault);
        self.core.wake(&self.shared, Cycle(self.now));
        State {
            registers: (0..32).map(|index| self.core.register(index)).collect(),
            local: (0..64)
                .map(|index| self.core.read_local(index * 4, Width::Word).expect("it exists"))
                .collect(),
            l1: (CODE / 4..(DATA + PAGE_BYTES) / 4)
                .map(|index| self.shared.l1.word(index * 4))
                .collect(),
            pc: self.core.pc(),
            cycle: self.core.cycle().0,
            instructions: self.core.instructions(),
        }
    }
}

fn in_epochs(words: &[u32], patches: &[u32], epoch: u32, parking: bool, cycles: u64) -> State {
    let mut machine = Machine::new(words, patches, epoch, parking);
    machine.run_epochs(cycles);
    machine.state()
}

fn alone(words: &[u32], patches: &[u32], epoch: u32, parking: bool, cycles: u64) -> State {
    let mut machine = Machine::new(words, patches, epoch, parking);
    machine.run_alone(cycles);
    machine.state()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn lone_core_any_slicing_ends_in_the_same_state(steps in programs::program(false)) {
        let words = programs::encode(&steps);
        let cycles = 1920;
        let plain = in_epochs(&words, &[], 8, false, cycles);
        prop_assert_eq!(&in_epochs(&words, &[], 1, false, cycles), &plain);
        prop_assert_eq!(&in_epochs(&words, &[], 64, false, cycles), &plain);
        prop_assert_eq!(&in_epochs(&words, &[], 8, true, cycles), &plain);
        prop_assert_eq!(&alone(&words, &[], 8, false, cycles), &plain);
        prop_assert_eq!(&alone(&words, &[], 8, true, cycles), &plain);
    }

    #[test]
    fn lone_core_patching_its_code_ends_in_the_same_state(
        steps in programs::program(true),
        patches in programs::patches(),
        epoch in prop::sample::select(vec![1u32, 4, 8, 24]),
    ) {
        let words = programs::encode(&steps);
        let cycles = 960;
        let plain = in_epochs(&words, &patches, epoch, false, cycles);
        prop_assert_eq!(&in_epochs(&words, &patches, epoch, true, cycles), &plain);
        prop_assert_eq!(&alone(&words, &patches, epoch, false, cycles), &plain);
        prop_assert_eq!(&alone(&words, &patches, epoch, true, cycles), &plain);
    }
}

/// `x5` counts how often the word at DATA was seen different; `x6` counts all rounds after.
fn polling_loop(padding: usize) -> Vec<u32> {
    let mut words = vec![programs::i(0x03, 2, 7, 4, 0)];
    words.extend(std::iter::repeat_n(programs::i(0x13, 0, 8, 7, 1), padding));
    let back = -(words.len() as i32) * 4;
    words.push(programs::branch(0, 7, 9, back));
    words.push(programs::i(0x13, 0, 5, 5, 1));
    words.push(programs::r(0, 0, 9, 7, 0));
    let back = -(words.len() as i32) * 4;
    words.push(programs::jal(0, back));
    words
}

#[test]
fn parked_core_woken_at_any_time_is_where_spinning_would_have_taken_it() {
    for padding in 0..7 {
        let words = polling_loop(padding);
        for first in (8..600).step_by(8) {
            let run = |parking| {
                let mut machine = Machine::new(&words, &[], 8, parking);
                let mut parked = 0;
                for (at, value) in [(first, 1), (first + 264, 2), (first + 272, 3)] {
                    machine.run_epochs(at);
                    parked += u32::from(machine.core.spin().is_some());
                    machine.write(DATA, value, Width::Word);
                }
                machine.run_epochs(first + 600);
                (machine.state(), parked)
            };
            let ((spinning, never), (parking, parked)) = (run(false), run(true));
            assert_eq!(parking, spinning, "padding {padding}, first write at {first}");
            // Two instructions and the padding a round; 256 cycles are plenty to recognise it.
            assert_eq!((never, parked > 0), (0, true));
            assert_eq!(parking.registers[5], 3, "each value was seen once");
        }
    }
}

#[test]
fn instruction_counter_read_counts_what_retired_before_it() {
    // A long straight run: [riscv-privileged: minstret] at instruction n reads n.
    let mut words = vec![programs::i(0x13, 0, 5, 5, 1); 40];
    words.push(programs::i(0x73, 2, 6, 0, 0xB02));
    words.push(programs::jal(0, 0));
    for state in [alone(&words, &[], 8, true, 64), in_epochs(&words, &[], 8, false, 64)] {
        assert_eq!((state.registers[5], state.registers[6]), (40, 40));
    }
}

#[test]
fn store_ahead_into_own_code_is_executed_in_both_paths() {
    // The word it overwrites lies behind a jump and was never decoded, so the new one is executed
    // even in this epoch.
    let patch = programs::i(0x13, 0, 6, 0, 77);
    let words = [
        programs::store(2, u32::from(programs::PATCH_REGISTERS.start), 2, 16),
        programs::i(0x13, 0, 5, 5, 1),
        programs::jal(0, 8),
        programs::i(0x13, 0, 5, 5, 1),
        programs::i(0x13, 0, 6, 0, 11),
        programs::jal(0, 0),
    ];
    for state in [alone(&words, &[patch], 8, true, 64), in_epochs(&words, &[patch], 8, true, 64)] {
        assert_eq!((state.registers[5], state.registers[6]), (1, 77));
    }
}

#[test]
fn store_into_decoded_code_is_executed_from_the_next_epoch_on() {
    // The word after the store or before it is overwritten in the first round of four cycles. The
    // second, of the same epoch, executes what was there when the epoch began, and so does the first:
    // words behind one that is executed are decoded along with it.
    let patch = programs::i(0x13, 0, 6, 6, 64);
    let store = |offset| programs::store(2, u32::from(programs::PATCH_REGISTERS.start), 2, offset);
    let (round, patched) = (programs::i(0x13, 0, 5, 5, 1), programs::i(0x13, 0, 6, 6, 1));
    let back = programs::jal(0, -12);
    for words in [[round, patched, store(4), back], [round, store(8), patched, back]] {
        for state in
            [alone(&words, &[patch], 8, true, 16), in_epochs(&words, &[patch], 8, true, 16)]
        {
            assert_eq!((state.registers[5], state.registers[6]), (4, 2 + 2 * 64));
        }
    }
}
