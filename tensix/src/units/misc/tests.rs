//! Address counter instructions, worked by hand from their pages in the Wormhole tree.

use isa::op::Opcode;
use sim_core::{CoreId, Cycle, ThreadId};

use super::*;
use crate::backend::Backend;
use crate::checks::Warned;
use crate::queue::Origin;
use crate::state::adc::Counter;
use crate::timing::TimingModel;

/// A back end after some words of `opcode`, and what came of the last.
fn after(opcode: Opcode, words: &[u32]) -> (Backend, Outcome) {
    let mut backend = Backend::new(TimingModel::Unit);
    let outcome = words.iter().map(|&word| run(&mut backend, opcode, word)).last();
    (backend, outcome.expect("there is a word"))
}

fn run(backend: &mut Backend, opcode: Opcode, word: u32) -> Outcome {
    let origin = Origin { core: CoreId::Trisc1, pc: 0x100 };
    let thread = ThreadId::T1;
    let issued = Issued { word, thread, origin, now: Cycle(7), allowed: Warned::NONE };
    backend.misc_op(opcode, &issued)
}

fn both(value: u32) -> Counter {
    Counter { value, cr: value }
}

#[test]
fn setadc_sets_counter_and_copy_of_selected_sets() {
    // Unpacker 1 and packers, channel 1, Z, 0x1234.
    let word = 0b110 << 21 | 1 << 20 | 2 << 18 | 0x1234;
    let (Backend { adcs, .. }, outcome) = after(Opcode::Setadc, &[word]);
    outcome.expect("no override");
    assert_eq!(adcs[1].0[1][1].z, both(0x1234));
    assert_eq!(adcs[1].0[2][1].z, both(0x1234));
    assert_eq!(adcs[1].0[0], ThreadAdcs::default().0[0]);
    assert_eq!(adcs[0], ThreadAdcs::default());
}

#[test]
fn setadcxx_sets_both_x_counters() {
    let (Backend { adcs, .. }, outcome) = after(Opcode::Setadcxx, &[1 << 21 | 0x2AA << 10 | 0x3FF]);
    outcome.expect("nothing to refuse");
    assert_eq!((adcs[1].0[0][0].x, adcs[1].0[0][1].x), (both(0x3FF), both(0x2AA)));
}

#[test]
fn pair_instructions_take_operands_channel_by_channel() {
    // Operands Y1 = 4, X1 = 3, Y0 = 2, X0 = 1; all but Y0 selected.
    let operands = 4 << 15 | 3 << 12 | 2 << 9 | 1 << 6;
    let (mut backend, outcome) = after(Opcode::Setadcxy, &[1 << 21 | operands | 0b1101]);
    outcome.expect("no override");
    let [zero, one] = backend.adcs[1].0[0];
    assert_eq!((zero.x, zero.y, one.x, one.y), (both(1), both(0), both(3), both(4)));
    // INCADC has no mask: the low bits mean nothing.
    run(&mut backend, Opcode::Incadcxy, 1 << 21 | operands).expect("no override");
    let [zero, one] = backend.adcs[1].0[0];
    assert_eq!((zero.x.value, zero.y.value, one.x.value, one.y.value), (2, 2, 6, 8));
    assert_eq!((zero.x.cr, zero.y.cr, one.x.cr, one.y.cr), (1, 0, 3, 4));
    run(&mut backend, Opcode::Addrcrxy, 1 << 21 | operands | 0b1010).expect("no override");
    let [zero, one] = backend.adcs[1].0[0];
    assert_eq!((zero.x.value, zero.y, one.x.value, one.y), (2, both(2), 6, both(8)));
}

#[test]
fn thread_override_names_the_counters_of_a_thread() {
    // 1, 2 and 3 are the threads of unpacking, mathematics and packing
    // [llk: common/inc/ckernel_instr_params.h].
    for (selected, thread) in [(0, 1), (1, 0), (2, 1), (3, 2)] {
        let (backend, outcome) = after(Opcode::Setadc, &[1 << 21 | selected << 16 | 5]);
        outcome.expect("supported");
        let set = backend.adcs.map(|adcs| adcs.0[0][0].x.value);
        let expected: [u32; 3] = std::array::from_fn(|index| if index == thread { 5 } else { 0 });
        assert_eq!(set.map(u32::from), expected, "{selected}");
    }
}
