//! Every kernel set under `programs/kernels`, launched through the mailbox protocol on the
//! embedded firmware. Expected values: derived by hand in each `case.toml`.

mod common;

use common::{
    KERNELS_THAT_FAIL, assert_only_expected_failures, booted, embedded_set, kernel_plans, on, plan,
    run_kernels,
};
use sim_core::engine::EngineKind;
use sim_core::{NullObserver, Width};
use tensix::TimingModel;
use tile::TileConfig;

#[test]
fn kernels_launched_repeatedly_give_their_results_on_both_engines() {
    let (set, plans) = (embedded_set(), kernel_plans());
    let (inline, hashes) = run_kernels(&set, on(EngineKind::Inline), &plans, 2);
    assert_only_expected_failures(&inline, KERNELS_THAT_FAIL);
    let (threads, threads_hashes) = run_kernels(&set, on(EngineKind::Threads), &plans, 2);
    assert_eq!(inline.keys().collect::<Vec<_>>(), threads.keys().collect::<Vec<_>>());
    assert_only_expected_failures(&threads, KERNELS_THAT_FAIL);
    assert_eq!(threads_hashes, hashes, "state after {plans:?}");
}

#[test]
fn kernels_leave_the_same_state_with_and_without_parking() {
    let (set, plans) = (embedded_set(), kernel_plans());
    let hashes = |parking| {
        let tile = common::config(EngineKind::Inline, parking, 8);
        run_kernels(&set, tile, &plans, 1).1
    };
    assert_eq!(hashes(true), hashes(false), "state after {plans:?}");
}

#[test]
fn kernels_with_other_choices_of_the_tile_give_their_results() {
    let (set, plans) = (embedded_set(), kernel_plans());
    let inline = on(EngineKind::Inline);
    let choices = [
        common::config(EngineKind::Inline, false, 8),
        common::config(EngineKind::Inline, true, 1),
        common::config(EngineKind::Inline, true, 64),
        TileConfig { timing: TimingModel::Documented, ..inline },
        TileConfig { debugger: true, ..inline },
    ];
    for choice in choices {
        let (results, _) = run_kernels(&set, choice, &plans, 1);
        assert_only_expected_failures(&results, KERNELS_THAT_FAIL);
    }
}

/// Offset of `preload` in a launch message, and its flag `[spec: boot-and-sync 1.4]`.
const PRELOAD_BYTE: u32 = 0x70 + 0x8F;

#[test]
fn garbage_preload_byte_starts_a_bogus_launch_and_is_survived() {
    // A preload byte with bit 7 makes BRISC launch whatever the slot holds right after boot
    // [spec: boot-and-sync 8.2]. The slot is all zero: no enables, so nothing runs; with enables
    // the kernels lie at 0, where the boot jump is. Whatever comes of it, the run ends.
    for enables in [0_u8, 1, 2, 4, 0xFF] {
        let options = loader::firmware::BootOptions::default();
        let set = embedded_set();
        let mut session =
            loader::session::Session::stage(on(EngineKind::Inline), &set, &options, NullObserver)
                .expect("the set stages");
        session.tile.host_write(PRELOAD_BYTE, &[0x80]).expect("L1 is mapped");
        session.tile.host_write(0x70 + 0x70, &[enables]).expect("L1 is mapped");
        let _ = session.run_to_done(100_000);
        let _ = session.settle(100_000);
    }
}

#[test]
fn launch_in_device_mode_moves_to_the_next_slot() {
    // [spec: boot-and-sync 7.3]: the read pointer advances modulo eight after each launch.
    let plans = kernel_plans();
    let path = plans.iter().find(|path| path.parent().is_some_and(|dir| dir.ends_with("amo")));
    let plan = plan(path.expect("the amo kernels exist"));
    let dev = plan.launches.iter().find(|launch| launch.name == "amo-dev").expect("a launch");
    let mut session = booted(on(EngineKind::Inline), &embedded_set(), NullObserver);
    for round in 0..10_u32 {
        let pointer = session.tile.l1_value(loader::plan::LAUNCH_RD_PTR, Width::Word);
        assert_eq!(pointer, round & 7);
        assert_eq!(common::launch(&mut session, dev), Ok(()), "round {round}");
    }
}
