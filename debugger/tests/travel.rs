//! Random walks through random sessions: each step lands where a full instruction log says, nothing is
//! passed over, and the end is the end of the session that nobody looked at.

#[path = "../../tile/tests/bare/mod.rs"]
mod bare;
#[path = "../../firmware-tests/tests/common/guests.rs"]
mod guests;
#[path = "../../firmware-tests/tests/common/legal.rs"]
mod legal;
#[path = "../../riscv/tests/programs/mod.rs"]
mod programs;
#[path = "../../tile/tests/pushers/mod.rs"]
mod pushers;
#[path = "../../tile/tests/talkers/mod.rs"]
mod talkers;
#[path = "../../tile/tests/waits/mod.rs"]
mod waits;

use std::sync::Arc;

use debugger::recording::{Code, End, Stage};
use debugger::who::{self, What};
use debugger::{Hit, Machine, Moment, Recording, Traveller, Turn, Watch};
use isa::asm::lui;
use proptest::prelude::*;
use sim_core::engine::EngineKind;
use sim_core::{
    AgentId, CoreId, Cycle, EpochLength, Event, NullObserver, Observer, Retire, Shortcut,
    Shortcuts, Stamp,
};
use tile::{Input, InputKind, Stop, Tile, TileConfig};

fn cases(count: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig::with_cases(asked.unwrap_or(count))
}

/// Every instruction that is executed, and every store to the words that programs share.
#[derive(Default)]
struct Log {
    retired: [Vec<Retire>; CoreId::COUNT],
    stores: Vec<(Stamp, u32, u32)>,
}

impl Observer for Log {
    fn wants_retires(&self, _core: CoreId) -> bool {
        true
    }
    fn retire(&mut self, core: CoreId, retire: &Retire) {
        self.retired[core.index()].push(*retire);
    }
    fn event(&mut self, stamp: Stamp, event: &Event) {
        if let Event::L1Store { addr, width, .. } = *event {
            self.stores.push((stamp, addr, width.bytes()));
        }
    }
    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![(waits::DATA.1, waits::DATA.1 + 0x1000)]
    }
}

fn unparked() -> Shortcuts {
    let parking = [Shortcut::Parking, Shortcut::Polls, Shortcut::ClockWaits];
    parking.into_iter().fold(Shortcuts::ALL, |set, one| set.set(one, false))
}

fn play<O: Observer>(tile: &mut Tile<O>, until: Cycle) {
    while tile.now() < until {
        if let Stop::Quiescent(_) = tile.run(until, None) {
            tile.pass_time(until);
        }
    }
}

/// A session of those programs with a write of the host in the middle, and its log.
fn session(programs: &[Vec<u32>], config: TileConfig, cycles: u64) -> (Arc<Recording>, Log) {
    let config = TileConfig { engine: EngineKind::Inline, warned: legal::every_check(), ..config };
    let mut tile = Tile::new(config, NullObserver).expect("no threads to start");
    bare::start(&mut tile, programs);
    let first = tile.snapshot(None);
    let middle = config.epoch.round_up(Cycle(cycles / 2));
    let until = config.epoch.round_up(Cycle(cycles));
    let kind = InputKind::Write { addr: waits::DATA.1, bytes: [1, 0, 0, 0].into() };
    let write = Input { cycle: middle, kind };

    let mut log = Tile::new(TileConfig { shortcuts: unparked(), ..config }, Log::default())
        .expect("no threads to start");
    log.restore(&first);
    for end in [middle, until] {
        play(&mut tile, end);
        play(&mut log, end);
        if end == middle {
            tile.give(&write.kind);
            log.give(&write.kind);
        }
    }
    assert_eq!(tile.state_hash(), log.state_hash(), "who looks changes nothing");
    let stage = Stage { name: "boot".to_owned(), began: Cycle::ZERO, code: Code::none() };
    let (inputs, hash, stages) = (vec![write], tile.state_hash(), vec![stage]);
    let (place, number) = ((0, 0), 0);
    let recording =
        Recording { place, number, config, first, inputs, stages, until, end: End::Limit, hash };
    (Arc::new(recording), std::mem::take(log.observer_mut()))
}

fn counts(traveller: &Traveller) -> [usize; CoreId::COUNT] {
    CoreId::ALL.map(|id| traveller.machine().core(id).instructions() as usize)
}

/// What a walk does.
#[derive(Clone, Debug)]
enum Way {
    Step(usize),
    Back(usize),
    GoTo(prop::sample::Index),
    To(usize, prop::sample::Index),
    BackTo(usize, prop::sample::Index),
}

fn way() -> impl Strategy<Value = Way> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        3 => (0_usize..5).prop_map(Way::Step),
        4 => (0_usize..5).prop_map(Way::Back),
        1 => index().prop_map(Way::GoTo),
        2 => (0_usize..5, index()).prop_map(|(core, at)| Way::To(core, at)),
        2 => (0_usize..5, index()).prop_map(|(core, at)| Way::BackTo(core, at)),
    ]
}

/// The addresses of a core's instructions by number, bundles by their last word.
fn logged_pc(log: &Log, core: CoreId, number: usize) -> Option<u32> {
    log.retired[core.index()].get(number).map(|retire| retire.pc)
}

/// The traveller stands at the instruction of that number of a core; at its first word, or its last.
fn assert_stands_at(
    traveller: &Traveller,
    log: &Log,
    core: CoreId,
    last: bool,
) -> Result<(), TestCaseError> {
    let attempt = traveller.machine().attempt();
    let attempt = attempt.filter(|attempt| attempt.core == core);
    let Some(attempt) = attempt else {
        return Err(TestCaseError::fail(format!(
            "{core} begins nothing at {}",
            traveller.machine().moment()
        )));
    };
    if let Some(pc) = logged_pc(log, core, attempt.number as usize) {
        prop_assert_eq!(attempt.pc + 4 * (attempt.words - 1), pc, "{} #{}", core, attempt.number);
        prop_assert!(!last || traveller.pc(core) == pc);
        let cycle = log.retired[core.index()][attempt.number as usize].cycle;
        prop_assert!(traveller.machine().moment().cycle <= cycle);
    }
    Ok(())
}

fn walk(traveller: &mut Traveller, log: &Log, ways: &[Way]) -> Result<(), TestCaseError> {
    let end = traveller.machine().end().cycle.0;
    for way in ways {
        traveller.stops = Default::default();
        let before = counts(traveller);
        let here = traveller.machine().moment();
        match way {
            Way::Step(core) => {
                let core = CoreId::ALL[*core];
                let pc = traveller.pc(core);
                match traveller.step(core, &mut || true) {
                    Hit::Step(_) if traveller.machine().moment() == here => {
                        prop_assert_eq!(traveller.pc(core), pc + 4, "within a bundle");
                    }
                    Hit::Step(_) => {
                        let number = counts(traveller)[core.index()];
                        // One that was held in reset comes to its first instruction since.
                        prop_assert!(
                            number == before[core.index()] + 1 || number == before[core.index()]
                        );
                        assert_stands_at(traveller, log, core, false)?;
                    }
                    hit => prop_assert_eq!(hit, Hit::End),
                }
            }
            Way::Back(core) => {
                let core = CoreId::ALL[*core];
                match traveller.step_back(core, &mut || true) {
                    Hit::Step(_) if traveller.machine().moment() == here => {}
                    Hit::Step(_) => {
                        prop_assert_eq!(counts(traveller)[core.index()] + 1, before[core.index()]);
                        prop_assert!(traveller.machine().moment() < here);
                        assert_stands_at(traveller, log, core, true)?;
                    }
                    hit => {
                        prop_assert_eq!(hit, Hit::Begin);
                        prop_assert_eq!(before[core.index()], 0);
                    }
                }
            }
            Way::GoTo(at) => traveller.go_to(Cycle(at.index(end as usize) as u64)),
            Way::To(core, at) | Way::BackTo(core, at) => {
                let retired = &log.retired[*core];
                if retired.is_empty() {
                    continue;
                }
                let pc = at.get(retired).pc;
                traveller.stops.breakpoints.insert(pc);
                let has = |core: CoreId, range: std::ops::Range<usize>| {
                    range.clone().any(|number| logged_pc(log, core, number) == Some(pc))
                };
                let hit = if matches!(way, Way::To(..)) {
                    let focus = traveller.focus();
                    let left_behind = |id: CoreId| {
                        // The one that was stood at, and what began before.
                        let core = traveller.machine().core(id);
                        let again = traveller.machine().retried()[id.index()];
                        Turn::from(id) == focus
                            || core.batch.request.is_some()
                            || matches!(core.status(), riscv::Status::PushBlocked(_))
                            || again == Some(core.instructions())
                    };
                    let left_behind = CoreId::ALL.map(left_behind);
                    let hit = traveller.forward(&mut || true);
                    prop_assert!(matches!(hit, Hit::Break(_) | Hit::End), "{:?}", hit);
                    let after = counts(traveller);
                    for id in CoreId::ALL {
                        let from = before[id.index()] + usize::from(left_behind[id.index()]);
                        prop_assert!(!has(id, from..after[id.index()]), "{} passed {:#x}", id, pc);
                    }
                    hit
                } else {
                    let hit = traveller.backward(&mut || true);
                    prop_assert!(matches!(hit, Hit::Break(_) | Hit::Begin), "{:?}", hit);
                    let after = counts(traveller);
                    for id in CoreId::ALL {
                        let from = after[id.index()] + usize::from(hit == Hit::Break(id));
                        prop_assert!(
                            !has(id, from..before[id.index()]),
                            "{} passed {:#x} backwards",
                            id,
                            pc
                        );
                    }
                    hit
                };
                if let Hit::Break(core) = hit {
                    prop_assert_eq!(traveller.pc(core), pc);
                    prop_assert_eq!(
                        traveller.machine().attempt().map(|attempt| attempt.core),
                        Some(core)
                    );
                }
            }
        }
    }
    Ok(())
}

fn assert_walks(
    programs: &[Vec<u32>],
    (config, cycles): (TileConfig, u64),
    ways: &[Way],
) -> Result<(), TestCaseError> {
    let (recording, log) = session(programs, config, cycles);
    let machine = Machine::new(Arc::clone(&recording)).expect("memory");
    let mut traveller = Traveller::new(machine);
    walk(&mut traveller, &log, ways)?;
    traveller.go_to(recording.until);
    prop_assert_eq!(traveller.machine_mut().state_hash(), recording.hash);
    // Whoever stored last to a shared word, by the log of all stores.
    for word in (0..8).map(|word| waits::DATA.1 + 4 * word) {
        let meets = |(_, addr, bytes): &&(Stamp, u32, u32)| {
            addr.wrapping_sub(word) < 4 || word.wrapping_sub(*addr) < *bytes
        };
        let last = log.stores.iter().rev().find(meets);
        let found =
            who::last_before(traveller.machine(), What::L1(word), Moment::at(recording.until))
                .expect("memory");
        let found = found.filter(|written| written.agent != AgentId::Host);
        if let (Some(found), Some((stamp, ..))) = (&found, last) {
            prop_assert_eq!((found.cycle, found.agent), (stamp.cycle, stamp.agent), "{:#x}", word);
        }
    }
    Ok(())
}

fn machines() -> impl Strategy<Value = (TileConfig, u64)> {
    let epoch = prop::sample::select(vec![1_u32, 8, 8, 8, 16]);
    (epoch, 200_u64..3000).prop_map(|(epoch, cycles)| {
        let epoch = EpochLength::new(epoch).expect("the lengths are valid");
        (TileConfig { epoch, ..TileConfig::default() }, cycles)
    })
}

fn with_bases(programs: &[Vec<programs::Step>]) -> Vec<Vec<u32>> {
    let whole = |(core, steps): (usize, &Vec<programs::Step>)| {
        let mut words = vec![
            lui(u32::from(programs::DATA_REGISTER), waits::DATA.1),
            lui(u32::from(programs::LOCAL_REGISTER), 0xFFB0_0000),
            lui(u32::from(programs::CODE_REGISTER), bare::ENTRIES[core] + 12),
        ];
        words.extend(programs::encode(steps));
        words
    };
    programs.iter().enumerate().map(whole).collect()
}

fn ways() -> impl Strategy<Value = Vec<Way>> {
    prop::collection::vec(way(), 1..25)
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn through_racing_cores(
        steps in prop::collection::vec(programs::program(false), 1..=CoreId::COUNT),
        machine in machines(),
        ways in ways(),
    ) {
        assert_walks(&with_bases(&steps), machine, &ways)?;
    }

    #[test]
    fn through_cores_that_wait_for_each_other(
        programs in talkers::programs(),
        machine in machines(),
        ways in ways(),
    ) {
        assert_walks(&programs, machine, &ways)?;
    }

    #[test]
    fn through_cores_that_push(
        programs in pushers::programs(),
        machine in machines(),
        ways in ways(),
    ) {
        assert_walks(&programs, machine, &ways)?;
    }

    #[test]
    fn through_random_instructions(
        programs in guests::random_programs(),
        machine in machines(),
        ways in ways(),
    ) {
        assert_walks(&programs, machine, &ways)?;
    }

    #[test]
    fn through_random_accesses(
        programs in guests::access_programs(),
        machine in machines(),
        ways in ways(),
    ) {
        assert_walks(&programs, machine, &ways)?;
    }

    #[test]
    fn through_random_tensix_words(
        programs in guests::push_programs(),
        machine in machines(),
        ways in ways(),
    ) {
        assert_walks(&programs, machine, &ways)?;
    }

    #[test]
    fn through_kernels_over_all_units(
        input in prop::collection::vec(any::<u8>(), 300..1500),
        machine in machines(),
        ways in ways(),
    ) {
        assert_walks(&legal::programs(&input), machine, &ways)?;
    }
}

/// One core stores the numbers from 1 on to a word: a watchpoint meets each of them, forwards behind
/// the store and backwards before it.
#[test]
fn watchpoint_meets_each_store_in_both_directions() {
    use isa::asm::{addi, j, lui, sw};
    let (base, word) = (4, waits::DATA.1);
    let program = vec![lui(base, word), addi(5, 5, 1), sw(5, base, 0), j(-8)];
    let (recording, _) = session(&[program], TileConfig::default(), 400);
    let mut traveller = Traveller::new(Machine::new(recording).expect("memory"));
    let watch = Watch { addr: word, bytes: 4, reads: false, writes: true, of: None };
    traveller.stops.watches.insert(watch);
    let value = |traveller: &Traveller| {
        let mut bytes = [0; 4];
        assert_eq!(traveller.machine().tile().core_memory(CoreId::Brisc, word, &mut bytes), 4);
        u32::from_le_bytes(bytes)
    };
    for number in 1..40 {
        assert_eq!(traveller.forward(&mut || true), Hit::Watch(CoreId::Brisc, watch));
        assert_eq!(value(&traveller), number);
    }
    for number in (0..39).rev() {
        assert_eq!(traveller.backward(&mut || true), Hit::Watch(CoreId::Brisc, watch));
        assert_eq!(value(&traveller), number, "before the store");
    }
    assert_eq!(traveller.backward(&mut || true), Hit::Begin);
}
