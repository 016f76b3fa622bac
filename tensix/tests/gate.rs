//! The wait gate, the sync unit and the front doors, through the public interface.

mod common;

use common::Bench;
use isa::encode;
use sim_core::observer::Event;
use sim_core::{Category, Cycle, ThreadId, UnitId, WaitReason};
use tensix::{DoorError, Origin, TimingModel};

const T0: ThreadId = ThreadId::T0;
const T1: ThreadId = ThreadId::T1;
const T2: ThreadId = ThreadId::T2;
const B6: u32 = 1 << 6;

fn unit() -> Bench {
    Bench::new(TimingModel::Unit)
}

/// SEMINIT of the semaphores in `mask`.
fn seminit(mask: u32, value: u32, max: u32) -> u32 {
    encode::seminit(mask, value, max)
}

#[test]
fn stallwait_met_at_once_costs_the_next_instruction_one_cycle() {
    // [isa-bh: STALLWAIT.md]: always subject to the block mask for at least one cycle.
    let mut bench = unit();
    bench.run(&[encode::stallwait(1, 0x1FF), encode::dmanop()]).expect("modelled");
    let cycles: Vec<u64> = bench.issued().iter().map(|issue| issue.0).collect();
    assert_eq!(cycles, [0, 2]);
}

#[test]
fn stallwait_lets_unselected_blocks_pass() {
    let mut bench = unit();
    // C8 (SrcB owned by the matrix unit) stays unmet; B6 blocks the matrix unit only.
    bench
        .run(&[encode::stallwait(0x100, B6), encode::dmanop(), 0x1018_0000, encode::dmanop()])
        .expect("modelled");
    assert_eq!(bench.issued().len(), 2);
    let wait = bench.tensix.wait_state(T0).expect("ZEROACC waits");
    let stall = encode::stallwait(0x100, B6);
    assert_eq!((wait.reason, wait.word), (WaitReason::Stall { conditions: 0x100 }, stall));
    assert_eq!(wait.held.map(|(word, _)| word), Some(0x1018_0000));
}

#[test]
fn stallwait_block_mask_zero_blocks_the_matrix_unit() {
    let mut bench = unit();
    bench.run(&[encode::stallwait(0x80, 0), encode::dmanop(), 0x1018_0000]).expect("modelled");
    assert_eq!(bench.issued().len(), 2);
}

#[test]
fn nop_is_held_only_by_all_nine_block_bits() {
    for (block, issued) in [(0x0FF, 2), (0x1FF, 1)] {
        let mut bench = unit();
        bench.run(&[encode::stallwait(0x80, block), encode::nop()]).expect("modelled");
        assert_eq!(bench.issued().len(), issued, "block mask {block:#x}");
    }
}

#[test]
fn second_wait_instruction_waits_behind_the_first() {
    let mut bench = unit();
    bench.run(&[encode::stallwait(0x80, B6), encode::stallwait(1, 1)]).expect("modelled");
    assert_eq!(bench.issued().len(), 1);
    assert_eq!(
        bench.tensix.wait_state(T0).map(|wait| wait.reason),
        Some(WaitReason::Stall { conditions: 0x80 })
    );
}

#[test]
fn semwait_ends_when_another_thread_posts() {
    let mut bench = unit();
    bench
        .run(&[seminit(4, 0, 1), encode::semwait(1, 4, 0x1FF), encode::dmanop()])
        .expect("modelled");
    assert!(bench.tensix.is_asleep());
    let reason = WaitReason::Semaphore { mask: 4, condition: 1 };
    assert_eq!(bench.tensix.wait_state(T0).map(|wait| wait.reason), Some(reason));
    bench.push(T1, encode::sempost(4)).expect("there is room");
    bench.settle(100).expect("modelled");
    assert_eq!(bench.issued().last().map(|issue| issue.1), Some(encode::dmanop()));
    let waits: Vec<_> = bench
        .env
        .events
        .iter()
        .filter(|(_, event)| matches!(event, Event::WaitBegin { .. } | Event::WaitEnd { .. }))
        .collect();
    assert_eq!(waits.len(), 2);
}

#[test]
fn semwait_at_maximum_waits_for_a_core_to_get() {
    let mut bench = unit();
    bench
        .run(&[seminit(8, 2, 2), encode::semwait(2, 8, 0x1FF), encode::dmanop()])
        .expect("modelled");
    assert!(!bench.tensix.thread_idle(T0));
    let at = bench.stamp();
    bench.tensix.write_semaphore(3, 1, at, &mut bench.env);
    bench.settle(100).expect("modelled");
    assert!(bench.tensix.thread_idle(T0));
    assert_eq!(bench.tensix.read_semaphore(3), 1);
}

#[test]
fn semwait_without_condition_is_undefined() {
    let error = unit().run(&[encode::semwait(0, 1, 1)]).expect_err("no condition");
    assert_eq!(
        (error.category, error.id),
        (Category::UndefinedBehavior, "tensix-semwait-condition")
    );
}

#[test]
fn streamwait_ends_when_the_register_reaches_the_target() {
    let mut bench = unit();
    let words = [0xB239_0000 | 2, encode::streamwait(0, 0, 5, 0x1FF), encode::dmanop()];
    bench.env.stream = (2 << 10) + 4;
    bench.run(&words).expect("modelled");
    let reason = WaitReason::Stream { stream: 0, target: (2 << 10) + 5, messages: false };
    assert_eq!(bench.tensix.wait_state(T0).map(|wait| wait.reason), Some(reason));
    bench.env.stream += 1;
    bench.tensix.wake();
    bench.settle(10).expect("modelled");
    assert!(bench.tensix.thread_idle(T0));
}

#[test]
fn mutex_passes_to_the_next_thread_round_robin() {
    // [isa-wh: ATRELM.md]: released by i with both others waiting, (i + 1) % 3 gets it.
    let mut bench = unit();
    bench.run(&[encode::atgetm(4)]).expect("modelled");
    for thread in [T2, T1] {
        bench.push(thread, encode::atgetm(4)).expect("there is room");
    }
    bench.settle(10).expect("modelled");
    assert_eq!(
        bench.tensix.wait_state(T1).map(|wait| wait.reason),
        Some(WaitReason::Mutex { index: 4 })
    );
    bench.run(&[encode::atrelm(4)]).expect("modelled");
    assert!(bench.tensix.thread_idle(T1));
    assert!(!bench.tensix.thread_idle(T2));
}

#[test]
fn mutex_one_does_not_exist_and_waits_for_ever() {
    let mut bench = unit();
    bench.run(&[encode::atgetm(1)]).expect("modelled");
    assert_eq!(
        bench.tensix.wait_state(T0).map(|wait| wait.reason),
        Some(WaitReason::Mutex { index: 1 })
    );
}

#[test]
fn semaphore_instructions_of_three_threads_take_three_cycles() {
    let mut bench = unit();
    for thread in ThreadId::ALL {
        bench.push(thread, encode::sempost(1)).expect("there is room");
    }
    bench.settle(10).expect("modelled");
    let cycles: Vec<u64> = bench.issued().iter().map(|issue| issue.0).collect();
    assert_eq!(cycles, [0, 1, 2]);
    assert_eq!(bench.tensix.read_semaphore(0), 3);
}

#[test]
fn documented_timing_holds_the_scalar_unit_for_all_threads() {
    let mut bench = Bench::new(TimingModel::Documented);
    bench.push(T0, encode::adddmareg(1, 2, 3, 1)).expect("there is room");
    bench.push(T1, encode::dmanop()).expect("there is room");
    bench.step().expect("modelled");
    bench.step().expect("modelled");
    assert_eq!(
        bench.tensix.wait_state(T1).map(|wait| wait.reason),
        Some(WaitReason::UnitBusy { unit: UnitId::Scalar })
    );
    bench.settle(20).expect("modelled");
    let cycles: Vec<u64> = bench.issued().iter().map(|issue| issue.0).collect();
    assert_eq!(cycles, [0, 3]);
}

#[test]
fn brisc_and_trisc_in_one_cycle_is_a_collision() {
    let mut bench = unit();
    bench.push(T0, encode::dmanop()).expect("there is room");
    let error = bench.push_brisc(T0, encode::nop()).expect_err("same cycle");
    assert_eq!((error.category, error.id), (Category::NonContractual, "tensix-push-collision"));
}

#[test]
fn mop_pushed_by_brisc_is_never_expanded() {
    let mut bench = unit();
    bench.push_brisc(T0, 0x0180_0000).expect("there is room");
    let error = bench.settle(10).expect_err("not expandable");
    assert_eq!(error.id, "tensix-mop-after-expander");
}

#[test]
fn reserved_instruction_stops_with_its_name() {
    // TBUFCMD is "reserved for future use" [llk: instructions/assembly.yaml].
    let error = unit().run(&[0x4B00_0000]).expect_err("reserved");
    assert_eq!((error.category, error.id), (Category::UndefinedBehavior, "tensix-reserved"));
    assert!(error.message.contains("TBUFCMD"), "{}", error.message);
}

#[test]
fn assumed_instruction_goes_on_with_one_warning() {
    // RSTDMA has one line in the vendor's header: "Soft reset of TDMA engine".
    let mut bench = unit();
    bench.run(&[0x4400_0000, 0x4400_0000]).expect("goes on");
    let warnings: Vec<_> = bench.tensix.warnings().iter().map(|warning| warning.id).collect();
    assert_eq!(warnings, ["tensix-rstdma"]);
    assert!(bench.tensix.has_warned(T0, "tensix-rstdma"));
    assert!(!bench.tensix.has_warned(ThreadId::T1, "tensix-rstdma"));
}

#[test]
fn first_fifo_accepts_while_it_holds_at_most_28() {
    let mut bench = unit();
    bench.push(T0, encode::stallwait(0x80, 0x1FF)).expect("there is room");
    bench.settle(10).expect("modelled");
    let mut accepted = 0;
    while bench.tensix.push_credit(T0, false) > 0 {
        bench.push(T0, encode::dmanop()).expect("there is room");
        bench.settle(10).expect("modelled");
        accepted += 1;
    }
    assert_eq!(accepted, 29);
    let origin = Origin { core: T0.core(), pc: 0 };
    for _ in 0..3 {
        let now = Cycle(bench.now);
        bench.tensix.push(T0, false, 0, origin, now, &mut bench.env).expect("a bundle of four");
    }
    let full = bench.tensix.push(T0, false, 0, origin, Cycle(bench.now), &mut bench.env);
    assert_eq!(full.expect_err("32 is all").id, "tensix-push-overflow");
}

#[test]
fn config_window_writes_reach_the_states_they_name() {
    let mut bench = unit();
    let at = bench.stamp();
    // Word 13 exists once per state; word 220 is shared; the third part writes both.
    for (word, value) in [(13, 7), (448 + 14, 9), (220, 3)] {
        bench.tensix.write_config(word, value, at, &mut bench.env).expect("mapped");
    }
    let read = |word| bench.tensix.read_config(word);
    assert_eq!([read(13), read(224 + 13)], [Some(7), Some(0)]);
    assert_eq!([read(14), read(224 + 14)], [Some(9), Some(9)]);
    assert_eq!(read(224 + 220), Some(3));
    assert_eq!(read(3 * 224 + 3 * 68), None);
}

#[test]
fn config_special_words_act() {
    let mut bench = unit();
    let at = bench.stamp();
    bench.tensix.write_config(13, 7, at, &mut bench.env).expect("mapped");
    bench.tensix.write_config(185, 0x1F, at, &mut bench.env).expect("mapped");
    bench.tensix.write_config(4, 0, at, &mut bench.env).expect("mapped");
    assert_eq!(bench.tensix.read_config(13), Some(0));
    assert_eq!(bench.tensix.read_config(185), Some(0x1F));
    assert_eq!(bench.env.invalidated, [0x1F]);
}

#[test]
fn thread_config_refuses_core_stores_and_takes_setc16() {
    let mut bench = unit();
    let at = bench.stamp();
    let refused = bench.tensix.write_config(672, 1, at, &mut bench.env);
    assert_eq!(refused, Err(DoorError::ThreadConfigReadOnly(672)));
    bench.run(&[0xB205_1234]).expect("modelled");
    assert_eq!(bench.tensix.read_config(672 + 5), Some(0x1234));
}

#[test]
fn boot_instructions_leave_the_documented_state() {
    // [spec: boot-and-sync 4]: the nine words BRISC pushes to thread 0.
    let mut bench = unit();
    for word in [
        0x1018_0000,
        0x8A00_300A,
        0x0200_0000,
        0x7100_BF80,
        0x9100_00B0,
        0xA310_0008,
        0xA310_0010,
        0xA310_0200,
        0xA310_0040,
    ] {
        bench.push_brisc(T0, word).expect("there is room");
        bench.step().expect("modelled");
    }
    bench.settle(10).expect("modelled");
    assert!(bench.tensix.thread_idle(T0));
    assert_eq!(bench.issued().len(), 9);
    // Lanes are enabled: bit 11 of the queue status.
    assert_eq!(bench.tensix.queue_status(None), 1 << 11 | 1 << 24);
    let inits =
        bench.env.events.iter().filter(|(_, e)| matches!(e, Event::Semaphore { max: 1, .. }));
    assert_eq!(inits.count(), 4);
}

#[test]
fn trisc_reset_discards_what_is_before_the_mux_only() {
    let mut bench = unit();
    bench.push(T0, encode::stallwait(0x80, 0x1FF)).expect("there is room");
    bench.settle(10).expect("modelled");
    for _ in 0..20 {
        bench.push(T0, encode::dmanop()).expect("there is room");
        bench.step().expect("modelled");
    }
    bench.tensix.reset_thread_frontend(T0);
    bench.settle(10).expect("modelled");
    assert!(!bench.tensix.mop_busy(T0));
    assert_eq!(
        bench.tensix.instrn_buf_status() & 0x11,
        0,
        "eight are left before the replay expander"
    );
}
