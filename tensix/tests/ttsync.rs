//! Auto TTSync: which accesses of a core wait for which queued instructions.
//!
//! Expected answers: `[isa-bh: TensixTile/BabyRISCV/AutoTTSync.md]`.

mod common;

use common::Bench;
use isa::encode;
use sim_core::ThreadId::{self, T0, T1};
use tensix::{TimingModel, TrackedAccess};

const TRACK_ALL: u32 = 0x1D;
const SUBDIVIDED: u32 = 0x02;
/// Blocks everything until semaphore 0 is posted.
const HOLD: u32 = 0xA600_0000 | 0x1FF << 15 | 1 << 2 | 1;
/// Words of the unpackers' formats, and one that no unpacker uses.
const UNPACKER_0: TrackedAccess = TrackedAccess::Config(72);
const UNPACKER_1: TrackedAccess = TrackedAccess::Config(120);
const PACKER: TrackedAccess = TrackedAccess::Config(70);

/// A coprocessor whose thread 0 has Auto TTSync as given and its gate shut.
fn bench(sync: u32) -> Bench {
    let mut bench = Bench::new(TimingModel::Unit);
    bench.run(&[encode::setc16(sync, 56), HOLD]).expect("modelled");
    bench
}

fn queued(sync: u32, words: &[u32]) -> Bench {
    let mut bench = bench(sync);
    bench.run(words).expect("modelled");
    bench
}

fn holds(bench: &Bench, access: TrackedAccess) -> (bool, bool) {
    let ask = |store| bench.tensix.holds_access(T0, access, store);
    (ask(false), ask(true))
}

#[test]
fn store_waits_for_readers_and_load_for_writers_only() {
    // WRCFG reads GPRs and writes configuration.
    let bench = queued(TRACK_ALL, &[encode::wrcfg(70, 0, 4)]);
    assert_eq!(holds(&bench, TrackedAccess::Gprs), (false, true));
    assert_eq!(holds(&bench, PACKER), (true, true));
    assert_eq!(holds(&bench, TrackedAccess::TdmaRisc), (false, false));
}

#[test]
fn access_is_free_once_the_instruction_has_passed_the_gate() {
    let mut bench = queued(TRACK_ALL, &[encode::wrcfg(70, 0, 4)]);
    let at = bench.stamp();
    bench.tensix.write_semaphore(0, 0, at, &mut bench.env);
    bench.settle(20).expect("modelled");
    assert_eq!(holds(&bench, PACKER), (false, false));
}

#[test]
fn nothing_is_tracked_without_both_switches() {
    for sync in [0x0D, 0x10, 0] {
        let bench = queued(sync, &[encode::wrcfg(70, 0, 4)]);
        assert_eq!(bench.tensix.tracked_threads(), 0);
        assert_eq!(holds(&bench, PACKER), (false, false), "TENSIX_TRISC_SYNC {sync:#x}");
    }
    // GPRs tracked, configuration not.
    let bench = queued(0x14, &[encode::wrcfg(70, 0, 4)]);
    assert_eq!(bench.tensix.tracked_threads(), 1);
    assert_eq!(holds(&bench, TrackedAccess::Gprs), (false, true));
    assert_eq!(holds(&bench, PACKER), (false, false));
}

#[test]
fn unpackers_count_apart_only_if_subdivided() {
    const UNPACR_1: u32 = 0x4280_0080;
    let together = queued(TRACK_ALL, &[UNPACR_1]);
    assert_eq!(holds(&together, UNPACKER_0), (false, true));
    assert_eq!(holds(&together, UNPACKER_1), (false, true));
    let apart = queued(TRACK_ALL | SUBDIVIDED, &[UNPACR_1]);
    assert_eq!(holds(&apart, UNPACKER_0), (false, false));
    assert_eq!(holds(&apart, UNPACKER_1), (false, true));
    assert_eq!(holds(&apart, PACKER), (false, false));
    assert_eq!(holds(&apart, TrackedAccess::TdmaRisc), (true, true));
}

#[test]
fn other_threads_and_brisc_do_not_count() {
    let mut bench = bench(TRACK_ALL);
    bench.push_brisc(T0, encode::wrcfg(70, 0, 4)).expect("room");
    bench.push(T1, encode::stallwait(0x80, 0x1FF)).expect("room");
    bench.settle(10).expect("modelled");
    assert_eq!(holds(&bench, PACKER), (false, false));
    assert!(!bench.tensix.holds_access(T1, PACKER, true), "T1 has not switched it on");
}

#[test]
fn mop_uses_everything_until_it_is_expanded() {
    let mut bench = bench(TRACK_ALL);
    // Template 0 with one plain DMANOP; it waits for room behind the shut gate.
    bench.tensix.write_mop_config(T0, 3, encode::dmanop()).expect("word 3 exists");
    bench.run(&[0x0100_0000]).expect("modelled");
    for access in [TrackedAccess::Gprs, TrackedAccess::TdmaRisc, PACKER] {
        assert_eq!(holds(&bench, access), (true, true), "{access:?}");
    }
    let at = bench.stamp();
    bench.tensix.write_semaphore(0, 0, at, &mut bench.env);
    bench.settle(20).expect("modelled");
    assert_eq!(holds(&bench, PACKER), (false, false));
}

#[test]
fn resourcedecl_changes_what_its_class_uses() {
    // Class 15, everything else: nothing at all. Then SETADC holds no access.
    let other = encode::dmanop();
    let plain = queued(TRACK_ALL, &[other]);
    assert_eq!(holds(&plain, PACKER), (false, true), "reads the rest of configuration");
    let mut bench = Bench::new(TimingModel::Unit);
    bench.run(&[encode::setc16(TRACK_ALL, 56), 0x0500_000F, HOLD, other]).expect("modelled");
    assert_eq!(holds(&bench, PACKER), (false, false));
    assert_eq!(holds_of(&bench, T0), 1);
}

fn holds_of(bench: &Bench, thread: ThreadId) -> u8 {
    bench.tensix.tracked_threads() & 1 << thread.index()
}
