//! One input gives one run: the same events, the same state, the same cycle counts, whoever runs
//! the cores, whether pollers are parked, and whoever watches. The workload is a boot of the
//! embedded firmware and a launch of five kernels that hand words to each other.

mod common;

use common::{booted, config, embedded_set, kernel_plans, on, plan};
use loader::firmware::FirmwareSet;
use loader::plan::Launch;
use loader::session::Session;
use observe::{BuiltInNames, EventHash, HandshakeLog, InstructionLog, Summary};
use sim_core::engine::EngineKind;
use sim_core::{CoreId, CoreSet, Cycle, NullObserver, Observer, Shortcut, Shortcuts, Width};
use tensix::TimingModel;
use tile::{Stop, TileConfig, Verdict};

/// Cycles that pass after the launch.
const AFTERWARDS: u64 = 2048;

fn five_core() -> Launch {
    let plans = kernel_plans();
    let path = plans.iter().find(|path| path.parent().is_some_and(|p| p.ends_with("five-core")));
    plan(path.expect("the five-core kernels exist")).launches.remove(0)
}

/// Everything that must be the same.
#[derive(PartialEq, Eq, Debug)]
struct Trace {
    done: Cycle,
    launched: Cycle,
    end: Cycle,
    instructions: [u64; CoreId::COUNT],
    state: u64,
}

/// Boots, launches, lets time pass. The observer comes back with the tile.
fn run<O: Observer>(
    config: TileConfig,
    set: &FirmwareSet,
    launch: &Launch,
    observer: O,
) -> (Trace, Session<O>) {
    let mut session = booted(config, set, observer);
    let done = session.tile.now();
    assert_eq!(common::launch(&mut session, launch), Ok(()), "{config:?}");
    let launched = session.tile.now();
    let limit = launched + AFTERWARDS;
    match session.tile.run(limit, None) {
        Stop::Limit => {}
        Stop::Quiescent(_) => session.tile.pass_time(limit),
        stop => panic!("{stop:?}"),
    }
    let trace = Trace {
        done,
        launched,
        end: session.tile.now(),
        instructions: session.tile.instructions(),
        state: session.tile.state_hash(),
    };
    (trace, session)
}

fn events(session: &Session<EventHash>) -> (u64, u64) {
    (session.tile.observer().hash(), session.tile.observer().count())
}

fn assert_same_on_all_schedules(base: TileConfig) {
    let (set, launch) = (embedded_set(), five_core());
    let (trace, session) = run(base, &set, &launch, EventHash::new());
    let hash = events(&session);
    for (engine, parking) in
        [(EngineKind::Inline, false), (EngineKind::Threads, true), (EngineKind::Threads, false)]
    {
        let shortcuts = Shortcuts::ALL.set(Shortcut::Parking, parking);
        let other = TileConfig { engine, shortcuts, ..base };
        let (other_trace, session) = run(other, &set, &launch, EventHash::new());
        assert_eq!(other_trace, trace, "{other:?}");
        assert_eq!(events(&session), hash, "{other:?}");
    }
}

#[test]
fn lock_step_is_the_same_on_every_schedule() {
    assert_same_on_all_schedules(config(EngineKind::Inline, true, 1));
}

#[test]
fn epochs_of_four_are_the_same_on_every_schedule() {
    assert_same_on_all_schedules(config(EngineKind::Inline, true, 4));
}

#[test]
fn epochs_of_eight_are_the_same_on_every_schedule() {
    assert_same_on_all_schedules(config(EngineKind::Inline, true, 8));
}

#[test]
fn documented_costs_are_the_same_on_every_schedule() {
    let base = config(EngineKind::Inline, true, 8);
    assert_same_on_all_schedules(TileConfig { timing: TimingModel::Documented, ..base });
}

/// Hashes of events and state after a boot.
fn boot_hashes(config: TileConfig, set: &FirmwareSet) -> (u64, u64, Cycle) {
    let mut session = booted(config, set, EventHash::new());
    (session.tile.observer().hash(), session.tile.state_hash(), session.tile.now())
}

#[test]
fn hundred_boots_give_one_hash() {
    let set = embedded_set();
    // A threaded epoch costs two host barriers, so short epochs get fewer threaded repeats.
    for (epoch, threaded) in [(1, 4), (4, 20), (8, 76)] {
        let first = boot_hashes(config(EngineKind::Inline, true, epoch), &set);
        for repeat in 0..100 {
            let again = boot_hashes(config(EngineKind::Inline, true, epoch), &set);
            assert_eq!(again, first, "epoch {epoch}, repeat {repeat}");
        }
        for repeat in 0..threaded {
            let again = boot_hashes(config(EngineKind::Threads, true, epoch), &set);
            assert_eq!(again, first, "epoch {epoch}, threaded repeat {repeat}");
        }
    }
}

type Everything = (
    EventHash,
    (HandshakeLog<BuiltInNames>, (Summary, InstructionLog<std::io::Sink, BuiltInNames>)),
);

fn everything() -> Everything {
    let instructions = InstructionLog::new(std::io::sink(), CoreSet::ALL, BuiltInNames);
    let handshakes = HandshakeLog::new(BuiltInNames);
    (EventHash::new(), (handshakes, (Summary::default(), instructions)))
}

#[test]
fn observation_changes_neither_state_nor_cycles_nor_the_event_hash() {
    let (set, launch) = (embedded_set(), five_core());
    let log = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(std::io::sink)
        .finish();
    tracing::subscriber::with_default(log, || {
        for epoch in [1, 4, 8] {
            for engine in [EngineKind::Inline, EngineKind::Threads] {
                let config = config(engine, true, epoch);
                let (unseen, _) = run(config, &set, &launch, NullObserver);
                let (hashed, alone) = run(config, &set, &launch, EventHash::new());
                let (seen, all) = run(config, &set, &launch, everything());
                assert_eq!(hashed, unseen, "{config:?}");
                assert_eq!(seen, unseen, "{config:?}");
                let observer = all.tile.observer();
                assert_eq!((observer.0.hash(), observer.0.count()), events(&alone));
                assert!(observer.1.1.1.lines() > 5000, "the instruction log was not idle");
            }
        }
    });
}

#[test]
fn results_in_l1_do_not_depend_on_the_length_of_an_epoch() {
    let (set, launch) = (embedded_set(), five_core());
    let words = |session: &Session<NullObserver>| -> Vec<u32> {
        let blocks = [0x40000_u32, 0x40020, 0x40040, 0x40060, 0x40080];
        let word = |address| session.tile.l1_value(address, Width::Word);
        blocks.iter().flat_map(|&block| (0..8).map(move |i| block + 4 * i)).map(word).collect()
    };
    let (_, lock_step) = run(config(EngineKind::Inline, true, 1), &set, &launch, NullObserver);
    for epoch in [2, 4, 8, 16, 64] {
        let (_, session) =
            run(config(EngineKind::Inline, true, epoch), &set, &launch, NullObserver);
        assert_eq!(words(&session), words(&lock_step), "epoch {epoch}");
    }
}

#[test]
fn quiescence_is_found_in_the_same_cycle_by_both_engines() {
    let (set, launch) = (embedded_set(), five_core());
    for epoch in [1, 4, 8] {
        let ends = [EngineKind::Inline, EngineKind::Threads].map(|engine| {
            let mut session = booted(config(engine, true, epoch), &set, NullObserver);
            assert_eq!(common::launch(&mut session, &launch), Ok(()));
            match session.settle(common::PLENTY) {
                Stop::Quiescent(end) => {
                    assert_eq!(end.verdict, Verdict::HostWait);
                    (end.cycle, end.waits.iter().map(ToString::to_string).collect::<Vec<_>>())
                }
                stop => panic!("idle firmware polls: {stop:?}"),
            }
        });
        assert_eq!(ends[0], ends[1], "epoch {epoch}");
    }
}

#[test]
fn deadlock_is_found_in_the_same_cycle_by_both_engines() {
    // The host waits for DONE, but TRISC1's kernel image is an endless loop that reads nothing.
    let (set, mut launch) = (embedded_set(), five_core());
    let trisc1 = launch.kernels.iter().find(|kernel| kernel.core == CoreId::Trisc1);
    let entry = trisc1.expect("five kernels").entry;
    launch.writes.push((entry, isa::asm::jal(0, 0).to_le_bytes().to_vec()));
    let ends = [EngineKind::Inline, EngineKind::Threads].map(|engine| {
        let mut session = booted(on(engine), &set, NullObserver);
        match session.launch(&launch, common::PLENTY) {
            Ok(loader::session::Outcome::Stopped(Stop::Quiescent(end))) => {
                assert_eq!(end.verdict, Verdict::Deadlock);
                (end.cycle, session.tile.state_hash())
            }
            other => panic!("no deadlock: {other:?}"),
        }
    });
    assert_eq!(ends[0], ends[1]);
}
