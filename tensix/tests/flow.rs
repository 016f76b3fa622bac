//! What TRISCs push while the coprocessor advances passes their queues in flows; cycle by cycle it does the same, and
//! stops in the same cycle where somebody is to look.

mod common;
mod playbacks;

use common::{Bench, Recorder, Surrounding, Unheard};
use isa::encode;
use playbacks::{handshake, push, word};
use proptest::prelude::*;
use sim_core::{Cycle, Shortcut, Shortcuts, StateHasher, Store, ThreadId, Width};
use tensix::{Attention, Feed, TimingModel};

/// Cycles a program gets, beyond which what still waits is not interesting.
const CYCLES: u64 = 600;

/// What a thread's TRISC pushes, each so many cycles after the one before.
type Pushes = Vec<(u32, u8)>;

/// Mostly one a cycle, now and then two in one, or a pause in which queues run dry.
fn pushes() -> impl Strategy<Value = Pushes> {
    // What SFPLOADMACRO schedules: template 1, which adds 1, by the second byte of sequence 0, 0 to 3 cycles late; who
    // looks at its register meanwhile [isa-bh: TensixCoprocessor/SFPLOADMACRO.md].
    let scheduled = prop_oneof![
        1 => Just(encode::sfpmad(0, 13, 10, 10, 10)),
        1 => (0_u32..4).prop_map(|delay| encode::sfpconfig(1, 4, (delay << 3 | 5) << 8)),
        3 => Just(encode::sfploadmacro(0, 0, 6, 1)),
        3 => Just(encode::sfpstore(0, 0, 4, 1)),
    ]
    .boxed();
    let word = prop_oneof![
        8 => word(),
        8 => handshake(),
        2 => push(),
        2 => scheduled.clone(),
        // STOREREG, for which the environment wants control.
        1 => (0_u32..0x1_0000).prop_map(|register| encode::storereg(register, 0)),
    ]
    .boxed();
    let gap = prop_oneof![1 => Just(0_u8), 8 => Just(1), 2 => 2_u8..5, 1 => 5_u8..40].boxed();
    // Faster than instructions issue: the first FIFO gets full.
    let bundles = prop_oneof![3 => Just(0_u8), 1 => Just(1)];
    prop_oneof![
        2 => prop::collection::vec((word.clone(), gap.clone()), 0..60),
        1 => prop::collection::vec((scheduled, gap), 0..60),
        1 => prop::collection::vec((word, bundles.boxed()), 30..90),
    ]
}

/// What is asked for in each span: nothing, that a thread which stood still goes on, that one is idle.
fn attention() -> impl Strategy<Value = Vec<Attention>> {
    let mut some = vec![Attention::NONE, Attention::STIRRING];
    some.extend(ThreadId::ALL.map(Attention::idle));
    prop::collection::vec(prop::sample::select(some), 1..8)
}

fn stores((thread, pushes): (ThreadId, &Pushes)) -> Vec<Store> {
    let mut cycle = Cycle(0);
    let store = |(number, &(value, gap)): (usize, &(u32, u8))| {
        cycle += u64::from(gap);
        let pc = 0x6000 + 0x1000 * thread as u32 + 4 * number as u32;
        Store { cycle, addr: 0xFFE4_0000, value, pc, width: Width::Word }
    };
    pushes.iter().enumerate().map(store).collect()
}

/// Span by span: where each ended, how much of each thread's pushes was left, the state, events, and a mistake.
fn run<E: Surrounding>(
    all: &[Vec<Store>; 3],
    (spans, attention): (&[u64], &[Attention]),
    shortcuts: Shortcuts,
) -> Vec<String> {
    let mut bench = Bench::<E>::within(TimingModel::Unit);
    bench.tensix.set_shortcuts(shortcuts);
    let (mut now, mut taken, mut log) = (Cycle(0), [0; 3], Vec::new());
    for (&span, &attention) in spans.iter().cycle().zip(attention.iter().cycle()) {
        let until = now + span;
        let due = ThreadId::ALL.map(|thread| {
            let rest = &all[thread.index()][taken[thread.index()]..];
            &rest[..rest.partition_point(|store| store.cycle < until)]
        });
        let mut feed = Feed::new(due);
        let ran = bench.tensix.run_fed((now, until), attention, &mut feed, &mut bench.env);
        for thread in ThreadId::ALL {
            taken[thread.index()] += due[thread.index()].len() - feed.left(thread);
        }
        bench.env.recorder().wants_control = false;
        // Asleep, nothing happens in the cycles before `until` but what is pushed.
        let is_done = bench.tensix.is_asleep()
            && ThreadId::ALL.into_iter().all(|thread| feed.left(thread) == 0);
        let reached = ran.map(|reached| if is_done { until } else { reached });
        let mut hasher = StateHasher::default();
        bench.tensix.hash_state(&mut hasher);
        log.push(format!("{reached:?} {taken:?} {:x}", hasher.finish()));
        match reached {
            // Somebody has no room: that time passes for all.
            Ok(reached) => now = if reached == now { until } else { reached },
            Err(_) => break,
        }
        if now > Cycle(CYCLES) {
            break;
        }
    }
    log.extend(bench.env.recorder().events.iter().map(|event| format!("{event:?}")));
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn flows_end_where_steps_do(
        pushed in [pushes(), pushes(), pushes()],
        only in prop::option::of(0_usize..3),
        spans in prop::collection::vec(prop_oneof![1 => Just(1_u64), 4 => 2_u64..30], 1..6),
        attention in attention(),
    ) {
        let mut all = ThreadId::ALL.map(|thread| stores((thread, &pushed[thread.index()])));
        if let Some(only) = only {
            // Nearly alone: the other threads only do what they begin with.
            for (thread, stores) in all.iter_mut().enumerate() {
                stores.truncate(if thread == only { stores.len() } else { 6 });
            }
        }
        let asked = (&spans[..], &attention[..]);
        let without = Shortcuts::ALL.without(Shortcut::StraightPushes);
        prop_assert_eq!(run::<Recorder>(&all, asked, Shortcuts::ALL), run::<Recorder>(&all, asked, without));
        prop_assert_eq!(run::<Unheard>(&all, asked, Shortcuts::ALL), run::<Unheard>(&all, asked, without));
    }
}
