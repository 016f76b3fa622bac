//! [`tensix::Coprocessor::run`] takes playback of a replay buffer in one go, and stretches of it
//! without a look at each instruction where nobody listens; a cycle at a time gives the same.

mod common;
mod playbacks;

use common::{Recorder, Unheard};
use playbacks::{push, word};
use proptest::prelude::*;
use sim_core::{Shortcuts, ThreadId};
use tensix::TimingModel;

/// Runs the pushes with all shortcuts.
fn run<E: common::Surrounding>(
    buffer: &[u32],
    pushes: &[(ThreadId, u32, u8)],
    timing: TimingModel,
    chunk: Option<u64>,
) -> playbacks::Outcome {
    playbacks::run::<E>(buffer, pushes, (timing, Shortcuts::ALL), chunk)
}

/// What is the same whether anybody listens or not.
fn unheard(outcome: playbacks::Outcome) -> (u64, Option<String>) {
    (outcome.1, outcome.2)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn playback_in_one_go_equals_stepping(
        buffer in prop::collection::vec(word(), 1..32),
        pushes in prop::collection::vec((Just(ThreadId::T1), push(), 0_u8..16), 1..60),
        chunk in 1_u64..70,
    ) {
        let stepped = run::<Recorder>(&buffer, &pushes, TimingModel::Unit, None);
        let in_one_go = run::<Unheard>(&buffer, &pushes, TimingModel::Unit, Some(chunk));
        prop_assert_eq!(unheard(in_one_go), unheard(stepped.clone()));
        prop_assert_eq!(run::<Recorder>(&buffer, &pushes, TimingModel::Unit, Some(chunk)), stepped);
    }

    #[test]
    fn playback_by_several_threads_or_with_costs_equals_stepping(
        buffer in prop::collection::vec(word(), 1..32),
        pushes in prop::collection::vec(
            (prop::sample::select(&ThreadId::ALL[..]), push(), 0_u8..16), 1..60),
        chunk in 1_u64..70,
        timing in prop::sample::select(&[TimingModel::Unit, TimingModel::Documented][..]),
    ) {
        let stepped = run::<Recorder>(&buffer, &pushes, timing, None);
        let in_one_go = run::<Unheard>(&buffer, &pushes, timing, Some(chunk));
        prop_assert_eq!(unheard(in_one_go), unheard(stepped.clone()));
        prop_assert_eq!(run::<Recorder>(&buffer, &pushes, timing, Some(chunk)), stepped);
    }
}
