//! One run of a tile: firmware chosen, observers attached, stages carried out, outcome reported.

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use loader::firmware::{BootOptions, FirmwareInfo, FirmwareSet, identify};
use loader::names::LoadedNames;
use loader::plan::Launch;
use loader::session::{Mismatch, Outcome, Session};
use observe::why::Judgement;
use observe::{EventHash, Names, Summary};
use sim_core::{CoreId, GuestError};
use tile::{Quiescence, Stop, Tile, Verdict};

use super::dump::dump;
use super::machine::{MachineArgs, OutputArgs};
use super::progress::Rounds;
use super::sinks::Sinks;
use super::waits::{wait_text, wait_words};
use crate::exit::Exit;
use crate::fetch::{Cache, DEFAULT_VERSION, FetchOptions, Interrupt};
use crate::interrupt::{heed_interrupts, interrupted};
use crate::output::{Output, STDERR, note};

/// Everything that listens to a run.
pub type Listeners = (EventHash, (Summary<Rc<LoadedNames>>, Sinks));

/// How a stage (the boot, or one launch) ended.
#[derive(Debug)]
pub enum StageEnd {
    /// Firmware reported done.
    Done,
    /// Firmware reported done, but memory is not as expected.
    Wrong(Vec<Mismatch>),
    /// Nothing moves any more.
    Quiescent(Quiescence),
    /// The cycle limit was reached.
    Limit,
    /// The user stopped it.
    Interrupted,
    /// A guest mistake.
    Fault(Box<GuestError>),
    /// A core halted at `ebreak`.
    Halted(CoreId),
}

impl StageEnd {
    /// The verdict's name in reports.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::Wrong(_) => "WRONG-RESULT",
            Self::Quiescent(quiescence) => quiescence.verdict.name(),
            Self::Limit => "NO-PROGRESS",
            Self::Interrupted => "INTERRUPTED",
            Self::Fault(fault) if fault.category.is_guest_fault() => "GUEST-ERROR",
            Self::Fault(_) => "NOT-SIMULATED",
            Self::Halted(_) => "HALTED",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Done => Exit::Ok,
            Self::Wrong(_) => Exit::WrongResult,
            Self::Quiescent(quiescence) if quiescence.verdict == Verdict::Deadlock => {
                Exit::Deadlock
            }
            Self::Quiescent(_) | Self::Limit | Self::Interrupted | Self::Halted(_) => {
                Exit::NoProgress
            }
            Self::Fault(_) => Exit::Guest,
        }
    }
}

/// A finished stage.
#[derive(Debug)]
pub struct Stage {
    /// `boot`, or the launch's name.
    pub name: String,
    /// Cycle at which it began.
    pub began: u64,
    /// Cycle at which it ended.
    pub ended: u64,
    /// How.
    pub end: StageEnd,
}

/// A tile under way.
pub struct Run {
    /// The firmware and what it was built for.
    pub firmware: (FirmwareSet, FirmwareInfo),
    /// Names of its code.
    pub names: Rc<LoadedNames>,
    /// What has been carried out.
    pub stages: Vec<Stage>,
    /// Host seconds spent simulating.
    pub seconds: f64,
    session: Session<Listeners>,
    rounds: Rounds,
    /// What became of it, if that has been found out before.
    pub(super) judgement: Option<Judgement>,
    max_cycles: u64,
    /// Cycle at which everything stops.
    stop_at: Option<u64>,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("stages", &self.stages).finish_non_exhaustive()
    }
}

/// The firmware of `firmware-tests`.
///
/// # Errors
/// Never for a build whose embedded images are intact.
pub fn embedded_firmware() -> Result<FirmwareSet> {
    Ok(firmware_tests::embedded::set()?)
}

/// What the user asked for, else the cache, else what the user agrees to fetch, else the embedded
/// firmware.
pub(super) fn choose_firmware(args: &MachineArgs, out: &mut dyn Write) -> Result<FirmwareSet> {
    if args.embedded {
        return embedded_firmware();
    }
    let selector = match &args.firmware {
        Some(dir) if Path::new(dir).is_dir() => return Ok(FirmwareSet::read(Path::new(dir))?),
        Some(name) => {
            let text = name.to_str();
            Some(text.with_context(|| format!("{}: no such firmware set", name.display()))?)
        }
        None => None,
    };
    let cache = Cache::open()?;
    match cache.resolve(selector) {
        Ok(dir) => Ok(FirmwareSet::read(&dir)?),
        Err(error) if args.firmware.is_some() || !cache.list()?.is_empty() => Err(error),
        Err(_) if offer_fetch(&cache, out)? => Ok(FirmwareSet::read(&cache.resolve(None)?)?),
        Err(_) => {
            note(
                "no vendor firmware in the cache (`tilescope firmware fetch` gets it); booting the \
                 embedded firmware",
            );
            embedded_firmware()
        }
    }
}

/// Asks a person at a terminal; never blocks anybody else.
fn offer_fetch(cache: &Cache, out: &mut dyn Write) -> Result<bool> {
    static INTERRUPT: Interrupt = Interrupt::new();
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Ok(false);
    }
    write!(
        out,
        "No vendor firmware in the cache. Fetch it now with your own pip (about 100 MB)? [y/N] "
    )?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if !matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(false);
    }
    let options =
        FetchOptions { version: DEFAULT_VERSION, wheel: None, force: false, interrupt: &INTERRUPT };
    match cache.fetch(&options) {
        Ok(_) => Ok(true),
        Err(error) => {
            note(&format!("fetching failed: {error:#}"));
            Ok(false)
        }
    }
}

/// What is known of a machine at rest without asking why.
fn judgement(quiescence: &Quiescence, names: &dyn Names) -> Judgement {
    let held = quiescence.waits.iter().find(|wait| wait.stuck);
    Judgement {
        verdict: quiescence.verdict.name().to_owned(),
        hazard: None,
        text: held
            .map_or_else(String::new, |wait| format!("{} {}", wait.agent, wait_words(names, wait))),
        closed: quiescence.closed.0,
        found: quiescence.cycle.0,
        agent: held.map(|wait| wait.agent),
        pc: held.and_then(|wait| wait.pc),
        tile: None,
    }
}

impl Run {
    /// Chooses and stages firmware; nothing has run yet.
    ///
    /// # Errors
    /// Host mistakes, each in one line.
    pub fn start(machine: &MachineArgs, output: &OutputArgs, out: &mut dyn Write) -> Result<Self> {
        let set = choose_firmware(machine, out)?;
        let info = identify(&set)?;
        let names = Rc::new(LoadedNames::new(&set));
        let sinks = Sinks::open(output, &names)?;
        let listeners = (EventHash::new(), (Summary::new(Rc::clone(&names)), sinks));
        let options = BootOptions { logical: machine.logical, ..BootOptions::default() };
        let mut session = Session::stage(machine.tile_config(), &set, &options, listeners)?;
        session.stop_at(heed_interrupts());
        Ok(Self {
            firmware: (set, info),
            names,
            stages: Vec::new(),
            seconds: 0.0,
            session,
            rounds: Rounds::new(output.streams()),
            judgement: None,
            max_cycles: machine.max_cycles,
            stop_at: None,
        })
    }

    /// The tile.
    #[must_use]
    pub fn tile(&self) -> &Tile<Listeners> {
        &self.session.tile
    }

    /// The tile, for what makes its state exact (hashes, counts).
    pub fn tile_mut(&mut self) -> &mut Tile<Listeners> {
        &mut self.session.tile
    }

    /// Stops at that cycle since power-on, rounded up to an epoch, whatever is under way.
    pub fn stop_at(&mut self, cycle: u64) {
        self.stop_at = Some(cycle);
    }

    /// Whether the cycle of [`Run::stop_at`] has come.
    #[must_use]
    pub fn reached_stop(&self) -> bool {
        self.stop_at.is_some_and(|cycle| self.tile().now().0 >= cycle)
    }

    /// How many cycles the next stage may take.
    fn allowed_cycles(&self) -> u64 {
        let left = self.stop_at.map_or(u64::MAX, |cycle| cycle.saturating_sub(self.tile().now().0));
        left.min(self.max_cycles)
    }

    /// Boots. Whether firmware reported done.
    pub fn boot(&mut self) -> bool {
        let began = self.session.tile.now().0;
        let clock = Instant::now();
        let outcome = self.session.run_to_done(self.allowed_cycles());
        self.record("boot".to_owned(), began, clock, outcome, &[])
    }

    /// Launches once. Whether firmware reported done and memory is as expected.
    ///
    /// # Errors
    /// The plan writes where nothing is.
    pub fn launch(&mut self, launch: &Launch, round: u32) -> Result<bool> {
        self.names.set_kernels(&launch.kernels);
        let name = launch.round_name(round);
        self.rounds.begin(launch, round);
        let clock = Instant::now();
        let outcome = self.session.launch(launch, self.allowed_cycles())?;
        let began = self.session.launch_began().0;
        Ok(self.record(name, began, clock, outcome, &launch.expects))
    }

    fn record(
        &mut self,
        name: String,
        began: u64,
        clock: Instant,
        outcome: Outcome,
        expects: &[loader::plan::Expect],
    ) -> bool {
        self.seconds += clock.elapsed().as_secs_f64();
        let end = match outcome {
            Outcome::Done => {
                let wrong = self.session.mismatches(expects);
                if wrong.is_empty() { StageEnd::Done } else { StageEnd::Wrong(wrong) }
            }
            Outcome::Stopped(Stop::Quiescent(quiescence)) => StageEnd::Quiescent(quiescence),
            Outcome::Stopped(Stop::Fault(fault)) => StageEnd::Fault(fault),
            Outcome::Stopped(Stop::Halted(core)) => StageEnd::Halted(core),
            Outcome::Stopped(Stop::Limit) if interrupted() => StageEnd::Interrupted,
            Outcome::Stopped(Stop::Limit | Stop::Met) => StageEnd::Limit,
        };
        let done = matches!(end, StageEnd::Done);
        self.stages.push(Stage { name, began, ended: self.session.tile.now().0, end });
        done
    }

    /// Ends it with a report, and gives the exit status of the last stage.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish_with(
        mut self,
        output: &OutputArgs,
        out: &mut dyn Write,
        report: impl FnOnce(&mut Self, &mut dyn Write) -> Result<()>,
    ) -> Result<Exit> {
        self.rounds.clear();
        let exit = self.stages.last().map_or(Exit::Ok, |stage| stage.end.exit());
        // Each is brought to its end, whatever became of the others.
        let recorded = self.finish_sinks();
        let mut stderr = Output::new(STDERR, io::stderr());
        let out = if output.takes_stdout() { &mut stderr } else { out };
        let mut reported = report(&mut self, out);
        for &(address, bytes) in &output.dump {
            reported = reported.and_then(|()| dump(self.tile(), address, bytes, out));
        }
        exit.whatever_became_of(recorded.and(reported))
    }

    /// Completes what was recorded.
    fn finish_sinks(&mut self) -> Result<()> {
        let end = self.stages.last().map_or("DONE", |stage| stage.end.verdict());
        let now = self.session.tile.now();
        let waits = self.session.tile.waits();
        let open: Vec<_> = waits
            .iter()
            .map(|wait| (wait.agent, wait.since, wait_text(&*self.names, wait)))
            .collect();
        let parked = self.session.tile.parked();
        let judgement = self.judgement.take().or_else(|| {
            let StageEnd::Quiescent(quiescence) = &self.stages.last()?.end else { return None };
            Some(judgement(quiescence, &*self.names))
        });
        self.session.tile.observer_mut().1.1.finish(now, (&open, &parked), end, judgement.as_ref())
    }
}
