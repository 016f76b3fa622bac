//! A deadlock is found in the epoch in which it closes, and it is the same verdict whoever runs the
//! cores: one host thread, five, or a chip.
//!
//! When it closed is found out without parking, from the log of every executed instruction: a core
//! makes progress until it has been once round the loop that it then goes round for ever.

use chip::{Chip, ChipConfig, ClockStep};
use firmware_tests::{embedded, hazards, hazards_dir};
use loader::diagnose::{Setup, diagnose};
use loader::firmware::{BootImage, BootOptions, FirmwareSet};
use loader::plan::{GO_MESSAGE, Launch, Plan};
use loader::session::{GO_SIGNAL, HOST_REACTION_CYCLES, Outcome, Session};
use memory_map::reg::tile_control::SOFT_RESET_0;
use observe::why::End;
use sim_core::engine::EngineKind;
use sim_core::l1::L1_BYTES;
use sim_core::{
    CoreId, Cycle, Event, NullObserver, Observer, Retire, Shortcut, Shortcuts, Stamp, Width,
};
use tile::{HostWait, Quiescence, Stop, TileConfig, Verdict};

const EPOCH: u64 = 8;
/// Cycles after the verdict in which the loops show that they are loops.
const AFTERWARDS: u64 = 400;
const DONE: HostWait = HostWait { addr: GO_SIGNAL, width: Width::Byte, value: 0 };

fn set() -> FirmwareSet {
    embedded::set().expect("the embedded images are intact")
}

/// Every instruction of the cores as `(cycle, pc, value)`, and the cycle of the last event.
#[derive(Default)]
struct Log {
    cores: [Vec<(u64, u32, u32)>; CoreId::COUNT],
    last_event: u64,
}

impl Observer for Log {
    fn event(&mut self, stamp: Stamp, _: &Event) {
        self.last_event = self.last_event.max(stamp.cycle.0);
    }
    /// A write of the NoC that arrives is progress as well.
    fn observed_l1(&self) -> Vec<(u32, u32)> {
        vec![(0, L1_BYTES)]
    }
    fn wants_retires(&self, _: CoreId) -> bool {
        true
    }
    fn retire(&mut self, core: CoreId, retire: &Retire) {
        self.cores[core.index()].push((retire.cycle.0, retire.pc, retire.value));
    }
}

impl Log {
    /// The last cycle of progress: of a core that loops at the end, the end of the first round.
    fn last_progress(&self) -> u64 {
        let of_core = |log: &Vec<(u64, u32, u32)>| {
            let same = |a: usize, b: usize| (log[a].1, log[a].2) == (log[b].1, log[b].2);
            let last = log.len() - 1;
            let repeats = |period: &usize| {
                (0..2 * period).all(|back| same(last - back, last - back - period))
            };
            let periods = (1..=64).filter(|period| 3 * period < log.len());
            let Some(period) = periods.clone().find(repeats) else { return log[last].0 };
            let mut first = last - period;
            while first > 0 && same(first - 1, first - 1 + period) {
                first -= 1;
            }
            log[first + period - 1].0
        };
        let cores = self.cores.iter().filter(|log| !log.is_empty()).map(of_core).max();
        cores.unwrap_or(0).max(self.last_event)
    }
}

/// Boots and launches everything; what stopped it.
fn stopped<O: Observer>(session: &mut Session<O>, launches: &[Launch], limit: u64) -> Option<Stop> {
    let left = |session: &Session<O>| limit.saturating_sub(session.tile.now().0);
    if let Outcome::Stopped(stop) = session.run_to_done(left(session)) {
        return Some(stop);
    }
    for launch in launches {
        for _ in 0..launch.repeat {
            let left = left(session);
            if let Outcome::Stopped(stop) = session.launch(launch, left).expect("a sound plan") {
                return Some(stop);
            }
        }
    }
    None
}

fn session<O: Observer>(config: TileConfig, observer: O) -> Session<O> {
    Session::stage(config, &set(), &BootOptions::default(), observer).expect("it boots")
}

fn verdict(config: TileConfig, launches: &[Launch]) -> Option<Quiescence> {
    match stopped(&mut session(config, NullObserver), launches, 1_000_000) {
        Some(Stop::Quiescent(quiescence)) => Some(quiescence),
        _ => None,
    }
}

/// What a verdict says, with all its cycles.
fn words(verdict: &Quiescence) -> String {
    let waits: Vec<String> = verdict
        .waits
        .iter()
        .map(|wait| {
            format!("{wait} pc {:x?} reads {:x?} stuck {}", wait.pc, wait.reads, wait.stuck)
        })
        .collect();
    let Quiescence { cycle, closed, verdict, .. } = verdict;
    format!("{} at {cycle}, closed {closed}\n{}", verdict.name(), waits.join("\n"))
}

/// The kernels of the corpus that end in a deadlock.
fn deadlocks() -> Vec<(String, Vec<Launch>, Quiescence)> {
    let folders = hazards::folders(&hazards_dir()).expect("a corpus");
    let found = folders.into_iter().filter_map(|folder| {
        // Plans of several tiles run on a chip: `several_tiles.rs`.
        let launches = match Plan::read(&folder.join("case.toml")).expect("a plan") {
            Plan::Tile(plan) => plan.launches,
            Plan::Chip(_) => return None,
        };
        let quiescence = verdict(TileConfig::default(), &launches)?;
        (quiescence.verdict == Verdict::Deadlock)
            .then(|| (folder.display().to_string(), launches, quiescence))
    });
    found.collect()
}

#[test]
fn verdict_comes_within_two_epochs_of_the_last_progress() {
    let all = deadlocks();
    assert!(all.len() >= 18, "{}", all.len());
    let mut late = Vec::new();
    for (name, launches, quiescence) in &all {
        let shortcuts = Shortcuts::ALL.without(Shortcut::Parking);
        let config = TileConfig { shortcuts, ..TileConfig::default() };
        let mut session = session(config, Log::default());
        let limit = quiescence.cycle.0 + AFTERWARDS;
        let stop = stopped(&mut session, launches, limit);
        assert!(matches!(stop, Some(Stop::Limit)), "{name}: {stop:?}");
        let log = session.tile.observer();
        let (found, progress) = (quiescence.cycle.0, log.last_progress());
        assert!(found >= progress, "{name}: found at {found}, but progress at {progress}");
        let closed = quiescence.closed.0;
        println!("{name}: progress until {progress}, closed {closed}, found {found}");
        if found - progress > 2 * EPOCH || closed > found {
            late.push(format!("{name}: progress until {progress}, found at {found}"));
        }
    }
    assert!(late.is_empty(), "{late:#?}");
}

#[test]
fn verdict_is_the_same_on_both_engines() {
    for (name, launches, quiescence) in deadlocks() {
        let config = TileConfig { engine: EngineKind::Threads, ..TileConfig::default() };
        let threads = verdict(config, &launches).expect("a verdict");
        assert_eq!(words(&quiescence), words(&threads), "{name}");
    }
}

/// A tile of a chip, driven through its host's windows with the timing of a session.
struct OnChip {
    chip: Chip,
    at: (u32, u32),
}

impl OnChip {
    fn write(&mut self, addr: u32, bytes: &[u8]) {
        self.chip.tile_write(self.at.0, self.at.1, addr.into(), bytes).expect("mapped");
    }

    fn word(&mut self, addr: u32) -> u32 {
        let mut bytes = [0; 4];
        self.chip.tile_read(self.at.0, self.at.1, addr.into(), &mut bytes).expect("mapped");
        u32::from_le_bytes(bytes)
    }

    fn clock(&mut self, cycles: u64) {
        self.chip.clock((cycles / EPOCH) as u32);
    }

    /// Until firmware reports done; or the verdict of a chip in which nothing moves.
    fn run(&mut self) -> Option<Quiescence> {
        loop {
            if self.word(GO_MESSAGE) >> 24 == 0 {
                return None;
            }
            if self.chip.is_quiet() {
                let here = |at: &devices::niu::Coordinate| (at.x.into(), at.y.into()) == self.at;
                let verdicts = self.chip.verdicts(Some(DONE));
                return verdicts.into_iter().find(|(at, _)| here(at)).map(|(_, verdict)| verdict);
            }
            self.clock(EPOCH);
        }
    }

    fn verdict(threads: usize, launches: &[Launch]) -> Option<Quiescence> {
        let clock = ClockStep::Cycles(EPOCH as u32);
        let chip = Chip::new(ChipConfig { threads, clock, ..ChipConfig::default() });
        let mut own = Self { chip, at: (1, 2) };
        let image = BootImage::stage(&set(), &BootOptions::default()).expect("it boots");
        for (address, bytes) in &image.writes {
            own.write(*address, bytes);
        }
        own.write(SOFT_RESET_0, &0x47000_u32.to_le_bytes());
        assert!(own.run().is_none(), "it boots");
        for launch in launches {
            own.clock(HOST_REACTION_CYCLES);
            for (address, bytes) in &launch.writes {
                own.write(*address, bytes);
            }
            let slot = own.word(loader::plan::LAUNCH_RD_PTR);
            own.write(loader::plan::launch_slot(slot), &launch.message);
            own.write(GO_MESSAGE, &launch.go_word.to_le_bytes());
            if let Some(verdict) = own.run() {
                return Some(verdict);
            }
        }
        None
    }
}

#[test]
fn verdict_on_a_chip_is_that_of_a_tile_alone() {
    for (name, launches, quiescence) in deadlocks() {
        // Their requests go to a tile that answers by itself, or are preloaded.
        if launches.iter().any(|launch| launch.preload || launch.repeat != 1) {
            continue;
        }
        for threads in [1, 4] {
            let parallel = OnChip::verdict(threads, &launches);
            let parallel = parallel.unwrap_or_else(|| panic!("{name}: no verdict"));
            assert_eq!(words(&quiescence), words(&parallel), "{name}, {threads} threads");
        }
    }
}

/// The whole report, on both engines and for every epoch length's own machine.
#[test]
fn report_is_the_same_on_both_engines() {
    for (name, launches, _) in deadlocks() {
        let report = |engine| {
            let config = TileConfig { engine, ..TileConfig::default() };
            let setup = Setup { config, ..hazards::setup() };
            let explanation = diagnose(&set(), &launches, &setup).expect("it runs").explanation;
            assert_eq!(explanation.end, End::Deadlock, "{name}");
            explanation.to_string()
        };
        assert_eq!(report(EngineKind::Inline), report(EngineKind::Threads), "{name}");
    }
}

/// A lone core that begins to poll after long work is found as fast.
#[test]
fn verdict_is_as_fast_after_long_work() {
    for rounds in [1_u32, 100, 1000, 5000, 100_001] {
        let mut tile = tile::Tile::new(TileConfig::default(), NullObserver).expect("a tile");
        let high = rounds.wrapping_add(0x800) & 0xFFFF_F000;
        // lui x5; addi x5; loop: addi x5, x5, -1; bnez x5, loop; poll: lw x6, 0x400(x0); beqz x6, poll
        let program = [
            high | 0x2B7,
            (rounds & 0xFFF) << 20 | 0x2_8293,
            0xFFF2_8293,
            0xFE02_9EE3,
            0x4000_2303,
            0xFE03_0EE3,
        ];
        for (addr, word) in (0..).step_by(4).zip(program) {
            tile.host_write_word(addr, word).expect("L1");
        }
        tile.host_write_word(SOFT_RESET_0, 0x47000).expect("mapped");
        let Stop::Quiescent(verdict) = tile.run(Cycle(1 << 30), None) else { panic!("it polls") };
        // Two instructions, two per round, then two rounds of polling.
        let progress = 2 + 2 * u64::from(rounds) + 2;
        assert!(verdict.cycle.0 >= progress && verdict.cycle.0 - progress <= 2 * EPOCH, "{rounds}");
    }
}

/// A poll through a function with a frame on the stack, after long work.
#[test]
fn verdict_is_as_fast_when_the_poll_calls_a_function() {
    for rounds in [1_u32, 100, 2000] {
        let mut tile = tile::Tile::new(TileConfig::default(), NullObserver).expect("a tile");
        // lui sp, 0xFFB01; addi x5, x0, rounds; loop: addi x5, x5, -1; bnez x5, loop
        // poll: jal look; beqz a0, poll; end: j end
        // look: addi sp, sp, -16; sw ra, 12(sp); lw a0, 0x400(x0); lw ra, 12(sp); addi sp, sp, 16; ret
        let program = [
            0xFFB0_1137,
            rounds << 20 | 0x293,
            0xFFF2_8293,
            0xFE02_9EE3,
            0x00C0_00EF,
            0xFE05_0EE3,
            0x0000_006F,
            0xFF01_0113,
            0x0011_2623,
            0x4000_2503,
            0x00C1_2083,
            0x0101_0113,
            0x0000_8067,
        ];
        for (addr, word) in (0..).step_by(4).zip(program) {
            tile.host_write_word(addr, word).expect("L1");
        }
        tile.host_write_word(SOFT_RESET_0, 0x47000).expect("mapped");
        let Stop::Quiescent(verdict) = tile.run(Cycle(1 << 30), None) else { panic!("it polls") };
        // Two instructions, two per round, then a round of polling: a call, six, a branch.
        let progress = 2 + 2 * u64::from(rounds) + 8;
        let found = verdict.cycle.0;
        assert!(found >= progress && found - progress <= 2 * EPOCH, "{rounds}: {found}");
    }
}
