//! Runs a plan until it ends or hangs, and explains how.
//!
//! The plan runs twice. The first run, unobserved, finds out how it ends and which words are polled
//! then; the second, which is the same cycle by cycle, keeps the books on them.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use observe::why::{
    Accesses, Arguments, Checks, Configuration, End, Explanation, Finding, Loads, Loops, Polled,
    Regions, Running, Scene, Stack, Stacks, Writers, WrongResult, casts, explain, layout, what_if,
};
use observe::{Ledger, Names as _};
use sim_core::{AgentId, CoreId, GuestError, NullObserver, Observer, Width};
use tile::{AgentWait, Stop, Tile, TileConfig, Verdict};

use crate::firmware::{BootOptions, FirmwareSet, ZERO_UNTIL};
use crate::names::LoadedNames;
use crate::plan::Launch;
use crate::session::{HOST_REACTION_CYCLES, Mismatch, Outcome, Session, SessionError};

/// How a diagnosis runs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The tile.
    pub config: TileConfig,
    /// Logical coordinates of the tile.
    pub logical: (u8, u8),
    /// Limit of each stage.
    pub max_cycles: u64,
    /// Ids of checks that are not reported.
    pub suppressed: Vec<String>,
    /// Stops it when it is set.
    pub stop: Option<&'static AtomicBool>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            config: TileConfig::default(),
            logical: (0, 0),
            max_cycles: 10_000_000,
            suppressed: Vec::new(),
            stop: None,
        }
    }
}

impl Setup {
    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::SeqCst))
    }
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// How it ended and why.
    pub explanation: Explanation,
    /// L1 is not as the plan expects.
    pub wrong: bool,
    /// Cycle of the end.
    pub cycles: u64,
    /// It was stopped: nothing is explained, everybody is where the explanation says.
    pub interrupted: bool,
}

/// How a run of all stages ended.
struct Ended {
    end: End,
    waits: Vec<AgentWait>,
    found: u64,
    closed: Option<u64>,
    fault: Option<Box<GuestError>>,
    /// The stage it ended in: 0 is the boot.
    stage: usize,
    /// What L1 holds in place of what the plan expects, the first of it.
    wrong: Option<WrongResult>,
    /// When each launch began.
    launches: Vec<(u64, String)>,
}

fn ended<O: Observer>(session: &Session<O>, stop: Stop, stage: usize) -> Ended {
    let mut found = session.tile.now().0;
    let (mut waits, mut closed, mut fault) = (session.tile.waits(), None, None);
    let end = match stop {
        Stop::Quiescent(quiescence) => {
            (closed, found) = (Some(quiescence.closed.0), quiescence.cycle.0);
            waits = quiescence.waits;
            if quiescence.verdict == Verdict::Deadlock { End::Deadlock } else { End::HostWait }
        }
        Stop::Fault(error) => {
            fault = Some(error);
            End::GuestError
        }
        Stop::Halted(_) => End::Halted,
        _ => End::NoProgress,
    };
    Ended { end, waits, found, closed, fault, stage, wrong: None, launches: Vec::new() }
}

fn wrong_result<O: Observer>(
    session: &Session<O>,
    launch: &Launch,
    round: u32,
) -> Option<WrongResult> {
    let mismatches = session.mismatches(&launch.expects);
    let Mismatch { address, expected, found } = *mismatches.first()?;
    let launch = launch.round_name(round);
    let bytes = mismatches.iter().map(|byte| (byte.address, byte.expected));
    let words = WrongResult::words(bytes, |word| session.tile.l1_value(word, Width::Word));
    let (bytes, cycle) = (mismatches.len(), session.tile.now().0);
    Some(WrongResult { launch, address, expected, found, bytes, cycle, words })
}

/// All stages on one tile.
fn run_stages<O: Observer>(
    session: &mut Session<O>,
    launches: &[Launch],
    names: &LoadedNames,
    limit: u64,
    watch: &mut dyn FnMut(&Launch, u32),
) -> Result<Ended, SessionError> {
    if let Outcome::Stopped(stop) = session.run_to_done(limit) {
        return Ok(ended(session, stop, 0));
    }
    let (mut wrong, mut begun) = (None, Vec::new());
    for (index, launch) in launches.iter().enumerate() {
        names.set_kernels(&launch.kernels);
        names.set_launch(launch);
        for round in 0..launch.repeat {
            watch(launch, round);
            begun.push((session.tile.now().0, launch.round_name(round)));
            if let Outcome::Stopped(stop) = session.launch(launch, limit)? {
                return Ok(Ended { launches: begun, ..ended(session, stop, index + 1) });
            }
            wrong = wrong.or_else(|| wrong_result(session, launch, round));
        }
    }
    let found = session.tile.now().0;
    let end = if wrong.is_some() { End::WrongResult } else { End::Done };
    let (waits, stage) = (Vec::new(), launches.len());
    Ok(Ended { end, waits, found, closed: None, fault: None, stage, wrong, launches: begun })
}

/// The words that cores poll at the end.
fn polled(waits: &[AgentWait]) -> Vec<(u32, u32)> {
    let mut words: Vec<_> = waits
        .iter()
        .flat_map(|wait| wait.reads.iter().filter(|load| !load.device))
        .map(|load| (load.addr, load.width.bytes()))
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn regions(launches: &[Launch], own: (u8, u8)) -> Regions {
    let executable = |launch: &Launch| {
        let mut ranges = Vec::new();
        for kernel in &launch.kernels {
            for segment in kernel.image.loadable().filter(|segment| segment.executable) {
                ranges.push(segment.addr..segment.addr + segment.memory_bytes);
            }
        }
        ranges
    };
    let (x, y) = own;
    Regions {
        code: launches.iter().flat_map(executable).collect(),
        circular: launches.iter().flat_map(|launch| launch.circular.iter().copied()).collect(),
        formats: None,
        own: vec![u32::from(y) << 6 | u32::from(x)],
        others: [].into(),
    }
}

/// Globals of firmware and kernel lie below the stack, which nothing else keeps apart.
fn stacks(set: &FirmwareSet, launches: &[Launch]) -> Vec<Stack> {
    let mut stacks = Vec::new();
    for kernel in launches.iter().flat_map(|launch| &launch.kernels) {
        let firmware = set.image(kernel.core).local_end();
        let Some(data_end) = kernel.image.local_end().max(firmware) else { continue };
        for segment in kernel.image.loadable().filter(|segment| segment.executable) {
            let code = kernel.address..kernel.address.saturating_add(segment.memory_bytes);
            stacks.push(Stack { core: kernel.core, code, data_end });
        }
    }
    stacks
}

fn arguments(launches: &[Launch]) -> Vec<Arguments> {
    let all = launches.iter().flat_map(|launch| &launch.arguments);
    all.map(|(core, range)| Arguments { core: *core, range: range.clone() }).collect()
}

/// Conversions of kernels that ask for a rounding mode; a kernel of several launches counts once.
fn directed(launches: &[Launch], names: &LoadedNames) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for launch in launches {
        names.set_kernels(&launch.kernels);
        for kernel in &launch.kernels {
            for segment in kernel.image.loadable().filter(|segment| segment.executable) {
                let found = casts(kernel.core, segment.run_addr, &segment.bytes, names);
                findings.extend(found.filter(|found| !findings.contains(found)));
            }
        }
    }
    findings
}

/// What listens to the instructions of kernels.
type Followers = (Accesses<Rc<LoadedNames>>, (Loads<Rc<LoadedNames>>, Stacks<Rc<LoadedNames>>));

/// Listens to what kernels execute: what they read, what they read too early, and how deep their stacks are. The
/// words are those that are polled in the end, the coordinates the tile's own.
fn followers(
    names: &Rc<LoadedNames>,
    (set, launches): (&FirmwareSet, &[Launch]),
    (words, own): (Vec<(u32, u32)>, Vec<u32>),
    suppressed: &[String],
) -> Followers {
    let (arguments, cleared) = (arguments(launches), (ZERO_UNTIL, own.clone()));
    let accesses =
        Accesses::new(Rc::clone(names), arguments, cleared, suppressed.to_vec()).polling(words);
    let mut loads = Loads::new(Rc::clone(names), own, suppressed.to_vec());
    let circular = launches.iter().flat_map(|launch| launch.circular.iter().copied());
    // What each core was given is known of a plan, and looked at by `accesses`.
    loads.launched(&circular.collect::<Vec<_>>(), Configuration::default());
    let stacks = Stacks::new(Rc::clone(names), stacks(set, launches), suppressed.to_vec());
    (accesses, (loads, stacks))
}

/// What they found; that of the same instruction from what says most of its cause to what says least.
fn found((accesses, (loads, stacks)): &Followers) -> Vec<Finding> {
    [&loads.findings()[..], stacks.findings(), accesses.findings()].concat()
}

/// Listens for writes to the words that were wrong in a first run.
fn writers(before: &Ended) -> Writers {
    let wrong = before.wrong.iter().flat_map(|wrong| &wrong.words);
    Writers::new(wrong.map(|word| word.address))
}

/// What was found before the run, on the way in the order of cycles, and behind that what only may happen.
fn in_order(before: Vec<Finding>, seen: [&[Finding]; 2], may: Vec<Finding>) -> Vec<Finding> {
    let mut findings: Vec<_> = before.into_iter().chain(seen.concat()).collect();
    findings.sort_by_key(|finding| finding.cycle);
    findings.extend(may);
    findings
}

/// Runs the launches on that firmware and explains how they end.
///
/// # Errors
/// Firmware or plan cannot be used.
pub fn diagnose(
    set: &FirmwareSet,
    launches: &[Launch],
    setup: &Setup,
) -> Result<Diagnosis, SessionError> {
    diagnose_watched(set, launches, setup, &mut |_, _| ())
}

/// As [`diagnose`]; `watch` is told of every round of every launch, counted from 0, in both runs.
///
/// # Errors
/// Firmware or plan cannot be used.
pub fn diagnose_watched(
    set: &FirmwareSet,
    launches: &[Launch],
    setup: &Setup,
    watch: &mut dyn FnMut(&Launch, u32),
) -> Result<Diagnosis, SessionError> {
    let Setup { config, logical, max_cycles, suppressed, stop } = setup;
    let (config, max_cycles) = (*config, *max_cycles);
    let names = Rc::new(LoadedNames::new(set));
    let options = BootOptions { logical: *logical, ..BootOptions::default() };
    let mut first = Session::stage(config, set, &options, NullObserver)?;
    stop.iter().for_each(|stop| first.stop_at(stop));
    let before = run_stages(&mut first, launches, &names, max_cycles, watch)?;
    let words = polled(&before.waits);
    let writers = writers(&before);
    if setup.is_stopped() {
        return Ok(stopped(&first.tile, &names));
    }
    drop(first);

    let places = regions(launches, config.coordinates);
    let checks = Checks::new(Rc::clone(&names), places.clone(), suppressed.clone());
    let own = places.own.clone();
    let followers = followers(&names, (set, launches), (words.clone(), own), suppressed);
    let mut directed = directed(launches, &names);
    directed.retain(|finding| !suppressed.iter().any(|id| id == finding.hazard.id));
    let observer = ((Ledger::new(words), checks), (followers, (Loops::default(), writers)));
    let mut session = Session::stage(config, set, &options, observer)?;
    stop.iter().for_each(|stop| session.stop_at(stop));
    let mut end = run_stages(&mut session, launches, &names, max_cycles, watch)?;
    if setup.is_stopped() {
        return Ok(stopped(&session.tile, &names));
    }
    if matches!(end.end, End::Done | End::WrongResult) {
        // What the kernels pushed last may still be on its way.
        session.settle(HOST_REACTION_CYCLES);
        session.tile.observer_mut().0.1.settle();
    }
    let ((ledger, checks), (followers, (loops, writers))) = session.tile.observer();
    let mut findings: Vec<Finding> = layout(&places.circular);
    findings.retain(|finding| !suppressed.iter().any(|id| id == finding.hazard.id));
    let seen = [checks.findings(), &found(followers)];
    let findings = in_order(findings, seen, directed);
    let buffers = end.stage.checked_sub(1).map_or(&[][..], |stage| &launches[stage].circular);
    let mut wrong = end.wrong.take();
    let scene = Scene {
        end: end.end,
        wrong: None,
        found: end.found,
        closed: end.closed,
        waits: &end.waits,
        ledger,
        findings: &findings,
        machine: &session.tile,
        loops,
        polled: followers.0.polled(),
        names: &*names,
        circular: buffers,
        launches: &end.launches,
    };
    wrong.iter_mut().for_each(|wrong| writers.tell(wrong, &scene));
    let scene = Scene { wrong: wrong.as_ref(), ..scene };
    let mut explanation = explain(&scene, end.fault.as_deref());
    explanation.supposed = what_if(&scene, &session.tile, &explanation);
    let (wrong, cycles) = (wrong.is_some(), end.found);
    Ok(Diagnosis { explanation, wrong, cycles, interrupted: false })
}

/// Where everybody stands, from what the tile itself shows.
fn stopped<O: Observer>(tile: &Tile<O>, names: &Rc<LoadedNames>) -> Diagnosis {
    let (waits, cycles) = (tile.waits(), tile.now().0);
    let (ledger, polled) = (Ledger::new(Vec::new()), Polled::default());
    let scene = Scene {
        end: End::NoProgress,
        wrong: None,
        found: cycles,
        closed: None,
        waits: &waits,
        ledger: &ledger,
        findings: &[],
        machine: tile,
        loops: &Loops::default(),
        polled: &polled,
        names: &**names,
        circular: &[],
        launches: &[],
    };
    let mut explanation = explain(&scene, None);
    let waits = |core| waits.iter().any(|wait| wait.agent == AgentId::Core(core));
    let running = CoreId::ALL.into_iter().filter(|&core| !waits(core) && !tile.is_dead(core));
    explanation.running = running
        .map(|core| {
            let pc = tile.core(core).pc();
            let (agent, code) = (AgentId::Core(core), names.code(core, pc));
            Running { agent, text: "runs".to_owned(), pc, code }
        })
        .collect();
    Diagnosis { explanation, wrong: false, cycles, interrupted: true }
}
