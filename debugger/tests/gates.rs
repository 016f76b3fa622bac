//! Wait gates of the Tensix threads: steps and stops land where a log of all that passed them says, forwards and
//! backwards, what is shown there is what passes, and who looks changes nothing.

#[path = "../../tile/tests/bare/mod.rs"]
mod bare;
#[path = "../../firmware-tests/tests/common/legal.rs"]
mod legal;

use std::path::Path;
use std::sync::Arc;

use debugger::recording::{Code, End, Limits, Stage};
use debugger::{GateStop, Hit, Machine, Moment, Passing, Recording, Traveller};
use isa::op::Opcode;
use loader::firmware::BootOptions;
use loader::plan::LaunchPlan;
use sim_core::engine::EngineKind;
use sim_core::{Cycle, EpochLength, Event, NullObserver, Observer, Stamp, ThreadId};
use tile::{Stop, Tile, TileConfig};

/// All that has passed.
#[derive(Default)]
struct Log(Vec<Passing>);

impl Observer for Log {
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::Issue { thread, word, slot } = *event {
            self.0.push(Passing { cycle: stamp.cycle, thread, word, pc: stamp.pc, slot });
        }
    }
}

fn log(recording: &Recording) -> Vec<Passing> {
    let mut tile = Tile::new(recording.config, Log::default()).expect("no threads to start");
    tile.restore(&recording.first);
    recording.run(&mut tile, &mut 0, recording.until);
    assert_eq!(tile.state_hash(), recording.hash, "who looks changes nothing");
    std::mem::take(&mut tile.observer_mut().0)
}

fn config(epoch: u32) -> TileConfig {
    TileConfig {
        engine: EngineKind::Inline,
        warned: legal::every_check(),
        epoch: EpochLength::new(epoch).expect("a length"),
        ..TileConfig::default()
    }
}

/// A session of random programs.
fn random(numbers: &mut Numbers, epoch: u32) -> Arc<Recording> {
    let length = 600 + numbers.below(1400);
    let input: Vec<u8> = (0..length).map(|_| numbers.below(256) as u8).collect();
    let config = config(epoch);
    let mut tile = Tile::new(config, NullObserver).expect("no threads to start");
    bare::start(&mut tile, &legal::programs(&input));
    let first = tile.snapshot(None);
    let until = config.epoch.round_up(Cycle(300 + numbers.below(1200) as u64));
    while tile.now() < until {
        if let Stop::Quiescent(_) = tile.run(until, None) {
            tile.pass_time(until);
        }
    }
    let boot = Stage { name: "boot".to_owned(), began: Cycle::ZERO, code: Code::none() };
    let (stages, hash, inputs, end) = (vec![boot], tile.state_hash(), Vec::new(), End::Limit);
    let (place, number) = ((0, 0), 0);
    Arc::new(Recording { place, number, config, first, inputs, stages, until, end, hash })
}

/// A session of a plan on the embedded firmware.
fn plan(path: &str) -> Arc<Recording> {
    let set = firmware_tests::embedded::set().expect("the embedded firmware");
    let plan = Path::new("../firmware-tests").join(path);
    let launches = LaunchPlan::read(&plan).expect("the plan").launches;
    let limits = Limits { max_cycles: 1_000_000, stop: None };
    let recorded = Recording::of_plan(config(8), &set, &BootOptions::default(), &launches, limits);
    Arc::new(recorded.expect("the plan can be carried out"))
}

/// Numbers that follow no rule.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// It stands before that, and sees it at the gate.
fn assert_stands(traveller: &Traveller, wanted: &Passing, what: &str) {
    assert_eq!(traveller.passing().as_ref(), Some(wanted), "{what}");
    assert_eq!(traveller.machine().moment(), wanted.moment(), "{what}");
    let front = traveller.machine().gate(wanted.thread).front;
    let seen = front.map(|front| (front.word, front.origin.pc, front.slot));
    assert_eq!(seen, Some((wanted.word, wanted.pc, wanted.slot)), "{what}: {wanted:?}");
    assert_eq!(traveller.pc(wanted.thread), wanted.pc, "{what}");
}

/// Walks at random over the instructions of each thread.
fn assert_walk(recording: &Arc<Recording>, numbers: &mut Numbers, what: &str) -> usize {
    let all = log(recording);
    let mut traveller = Traveller::new(Machine::new(Arc::clone(recording)).expect("memory"));
    for thread in ThreadId::ALL {
        let own: Vec<Passing> = all.iter().filter(|one| one.thread == thread).copied().collect();
        traveller.go_to(Cycle(numbers.below(recording.until.0 as usize) as u64));
        for step in 0..40 {
            let here = traveller.machine().moment();
            let next = own.partition_point(|one| one.moment() <= here);
            let last = own.partition_point(|one| one.moment() < here).checked_sub(1);
            let what = format!("{what}: {thread}, step {step} from {here}");
            match numbers.below(3) {
                0 => match (traveller.step_gate_back(thread, &mut || true), last) {
                    (Hit::Begin, None) => {}
                    (Hit::Passes(_, None), Some(last)) => {
                        assert_stands(&traveller, &own[last], &what);
                    }
                    other => panic!("{what}: {other:?}"),
                },
                _ => match (traveller.step_gate(thread, 0..0, &mut || true), own.get(next)) {
                    (Hit::End, None) => {
                        traveller.go_to(Cycle(numbers.below(recording.until.0 as usize) as u64));
                    }
                    (Hit::Passes(_, None), Some(next)) => assert_stands(&traveller, next, &what),
                    other => panic!("{what}: {other:?}"),
                },
            }
        }
    }
    let hash = traveller.machine_mut().state_hash();
    assert_ne!(hash, 0);
    traveller.go_to(recording.until);
    assert_eq!(traveller.machine_mut().state_hash(), recording.hash, "{what}");
    all.len()
}

#[test]
fn steps_land_where_a_log_of_random_programs_says() {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let mut passed = 0;
    for seed in 1..=asked.unwrap_or(12_u64) {
        let mut numbers = Numbers(seed);
        let epoch = [8, 1, 5, 32][numbers.below(4)];
        let recording = random(&mut numbers, epoch);
        passed += assert_walk(&recording, &mut numbers, &format!("seed {seed}, epoch {epoch}"));
    }
    assert!(passed > 200, "{passed}");
}

#[test]
fn steps_land_where_a_log_of_kernels_says() {
    for (path, seed) in
        [("programs/kernels/matmul/case.toml", 1), ("hazards/A4-get-from-mop/case.toml", 2)]
    {
        let passed = assert_walk(&plan(path), &mut Numbers(seed), path);
        assert!(passed > 10, "{path}: {passed}");
    }
}

/// All stops on the way, from here to the end or back to the beginning.
fn stops(traveller: &mut Traveller, back: bool) -> Vec<(Moment, Hit)> {
    let mut found = Vec::new();
    loop {
        let hit = match back {
            true => traveller.backward(&mut || true),
            false => traveller.forward(&mut || true),
        };
        if matches!(hit, Hit::Begin | Hit::End) {
            return found;
        }
        found.push((traveller.machine().moment(), hit));
    }
}

/// Stops by instruction, by place in an expansion and by pushing instruction, together with a breakpoint of a core.
#[test]
fn stops_are_met_in_both_directions() {
    let recording = plan("hazards/A4-get-from-mop/case.toml");
    let all = log(&recording);
    let expanded = all.iter().find(|one| one.slot.mop == 1).expect("a MOP");
    let named = Opcode::from_word(expanded.word).expect("an instruction");
    let began = recording.stages.last().expect("a launch").began;
    let with = |number, stop: GateStop| GateStop { number, ..stop };
    let by_pc = Some([(Cycle::ZERO, [expanded.pc].into())].into());
    let cases = [
        with(1, GateStop { opcode: Some(named), ..GateStop::default() }),
        with(2, GateStop { mop: Some(1), thread: Some(expanded.thread), ..GateStop::default() }),
        with(3, GateStop { sites: by_pc, ..GateStop::default() }),
        with(4, GateStop { thread: Some(ThreadId::T2), mop: Some(1), ..GateStop::default() }),
    ];
    for stop in cases {
        let number = stop.number;
        let meant: Vec<(Moment, Hit)> = all
            .iter()
            .filter(|one| match number {
                1 => Opcode::from_word(one.word) == Some(named),
                2 => one.slot.mop == 1 && one.thread == expanded.thread,
                3 => one.pc == expanded.pc,
                _ => false,
            })
            .map(|one| (one.moment(), Hit::Passes(one.thread, Some(number))))
            .collect();
        assert_eq!(meant.is_empty(), number == 4, "{stop:?}");
        let mut traveller = Traveller::new(Machine::new(Arc::clone(&recording)).expect("memory"));
        traveller.stops.gates.push(stop.clone());
        assert_eq!(stops(&mut traveller, false), meant, "{stop:?}");
        let back: Vec<_> = meant.iter().rev().copied().collect();
        assert_eq!(stops(&mut traveller, true), back, "{stop:?}, backwards");
        // With breakpoints where TRISC0 pushes the MOP: it stops there before what comes of it.
        traveller.go_to(began);
        traveller.stops.breakpoints.insert(expanded.pc);
        let mixed = stops(&mut traveller, false);
        let late: Vec<_> = meant.iter().filter(|(at, _)| at.cycle >= began).copied().collect();
        let gates = |all: &[(Moment, Hit)]| -> Vec<(Moment, Hit)> {
            all.iter().filter(|(_, hit)| matches!(hit, Hit::Passes(..))).copied().collect()
        };
        assert_eq!(gates(&mixed), late, "{stop:?}, with a breakpoint");
        assert!(mixed.len() > late.len(), "the breakpoint is met: {mixed:?}");
        assert!(mixed.is_sorted_by_key(|(at, _)| *at), "{mixed:?}");
        let mut back = stops(&mut traveller, true);
        back.retain(|(at, _)| at.cycle >= began);
        back.reverse();
        assert_eq!(back, mixed, "{stop:?}, with a breakpoint, backwards");
        traveller.go_to(recording.until);
        assert_eq!(traveller.machine_mut().state_hash(), recording.hash);
    }
}
