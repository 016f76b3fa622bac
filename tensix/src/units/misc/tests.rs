//! Address counter instructions, worked by hand from their pages in the Wormhole tree.

use sim_core::{CoreId, Cycle, ThreadId};

use super::*;
use crate::checks::Warned;
use crate::queue::Origin;
use crate::state::adc::Counter;

fn issued(word: u32) -> Issued {
    let origin = Origin { core: CoreId::Trisc1, pc: 0x100 };
    Issued { word, thread: ThreadId::T1, origin, now: Cycle(7), allowed: Warned::NONE }
}

fn both(value: u32) -> Counter {
    Counter { value, cr: value }
}

#[test]
fn setadc_sets_counter_and_copy_of_selected_sets() {
    let mut adcs = [ThreadAdcs::default(); 3];
    // Unpacker 1 and packers, channel 1, Z, 0x1234.
    setadc(&mut adcs, &issued(0b110 << 21 | 1 << 20 | 2 << 18 | 0x1234)).expect("no override");
    assert_eq!(adcs[1].0[1][1].z, both(0x1234));
    assert_eq!(adcs[1].0[2][1].z, both(0x1234));
    assert_eq!(adcs[1].0[0], ThreadAdcs::default().0[0]);
    assert_eq!(adcs[0], ThreadAdcs::default());
}

#[test]
fn setadcxx_sets_both_x_counters() {
    let mut adcs = [ThreadAdcs::default(); 3];
    setadcxx(&mut adcs, &issued(1 << 21 | 0x2AA << 10 | 0x3FF));
    assert_eq!((adcs[1].0[0][0].x, adcs[1].0[0][1].x), (both(0x3FF), both(0x2AA)));
}

#[test]
fn pair_instructions_take_operands_channel_by_channel() {
    let mut adcs = [ThreadAdcs::default(); 3];
    // Operands Y1 = 4, X1 = 3, Y0 = 2, X0 = 1; all but Y0 selected.
    let operands = 4 << 15 | 3 << 12 | 2 << 9 | 1 << 6;
    set_pair(&mut adcs, &issued(1 << 21 | operands | 0b1101), XY).expect("no override");
    let [zero, one] = adcs[1].0[0];
    assert_eq!((zero.x, zero.y, one.x, one.y), (both(1), both(0), both(3), both(4)));
    // INCADC has no mask: the low bits mean nothing.
    increment_pair(&mut adcs, &issued(1 << 21 | operands), XY).expect("no override");
    let [zero, one] = adcs[1].0[0];
    assert_eq!((zero.x.value, zero.y.value, one.x.value, one.y.value), (2, 2, 6, 8));
    assert_eq!((zero.x.cr, zero.y.cr, one.x.cr, one.y.cr), (1, 0, 3, 4));
    carriage_return_pair(&mut adcs, &issued(1 << 21 | operands | 0b1010), XY).expect("no override");
    let [zero, one] = adcs[1].0[0];
    assert_eq!((zero.x.value, zero.y, one.x.value, one.y), (2, both(2), 6, both(8)));
}

#[test]
fn thread_override_is_refused_and_changes_nothing() {
    let mut adcs = [ThreadAdcs::default(); 3];
    let refused = setadc(&mut adcs, &issued(7 << 21 | 1 << 16 | 5)).expect_err("unsupported");
    assert_eq!(refused.id, "tensix-adc-thread-override");
    set_pair(&mut adcs, &issued(7 << 21 | 2 << 18 | 0x1FF << 6 | 0xF), ZW)
        .expect_err("unsupported");
    assert_eq!(adcs, [ThreadAdcs::default(); 3]);
}
