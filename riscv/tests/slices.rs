//! How a run is cut into slices, and whether polling loops are parked, must not show: not in a
//! register, not in memory, not in a counter.
//!
//! A core alone has no partner, so the cut into epochs is a matter of bookkeeping: every way to
//! run it must end in the same state. The reference is the plainest one: no parking, one slice
//! per epoch.

mod machine;
mod programs;

use machine::{DATA, Machine, State};
use proptest::prelude::*;
use sim_core::{Agent, Cycle, Retire, Shortcut, Shortcuts, Width};

/// All shortcuts, but parking only if asked.
fn shortcuts(parking: bool) -> Shortcuts {
    Shortcuts::ALL.set(Shortcut::Parking, parking)
}

fn in_epochs(words: &[u32], patches: &[u32], epoch: u32, parking: bool, cycles: u64) -> State {
    let mut machine = Machine::new(words, patches, epoch, shortcuts(parking));
    machine.run_epochs(cycles);
    machine.state()
}

fn alone(words: &[u32], patches: &[u32], epoch: u32, parking: bool, cycles: u64) -> State {
    let mut machine = Machine::new(words, patches, epoch, shortcuts(parking));
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
                let mut machine = Machine::new(&words, &[], 8, shortcuts(parking));
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

/// What a parked core is said to execute is what one that spins does, and asking changes nothing.
#[test]
fn rounds_of_a_parked_core_are_those_of_one_that_spins() {
    let told = |log: &[Retire]| -> Vec<_> {
        log.iter().map(|retire| (retire.pc, retire.word, retire.rd, retire.value)).collect()
    };
    for padding in 0..7 {
        let words = polling_loop(padding);
        let machine = |parking| Machine::new(&words, &[], 8, shortcuts(parking));
        let (mut parked, mut spins) = (machine(true), machine(false));
        parked.run_epochs(512);
        spins.run_epochs(512);
        assert!(riscv::rounds(&spins.core, &spins.shared, 2, usize::MAX).is_empty());
        let rounds = told(&riscv::rounds(&parked.core, &parked.shared, 2, usize::MAX));
        assert_eq!(rounds.len(), 2 * (padding + 2), "two instructions and the padding a round");
        spins.core.set_trace(true);
        spins.core.run(&spins.shared, Cycle(1024));
        let log = told(&spins.core.batch.retired);
        assert!(log.windows(rounds.len()).any(|some| some == rounds), "{rounds:x?} in {log:x?}");
        let mut other = machine(true);
        for machine in [&mut parked, &mut other] {
            machine.run_epochs(1024);
        }
        assert_eq!(parked.state(), other.state());
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
