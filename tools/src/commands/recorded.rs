//! A session of any kind, recorded so that any part of it can be done again: for `debug`, `who`,
//! `bisect` and `tui`.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use debugger::recording::{Limits, Stage};
use debugger::script::{self, Program};
use debugger::{Machine, Naming, Recording, several};
use loader::diagnose::diagnose;
use loader::firmware::BootOptions;
use loader::names::LoadedNames;
use loader::plan::{ChipPlan, Launch};
use session::second::{Question, why_of};
use session::survey::{TileSeen, look};
use session::watch::Course;
use session::{Host, SessionError};
use sim_core::Cycle;

use super::machine::MachineArgs;
use super::of_plan::setup;
use super::run::choose_firmware;
use super::source::{Source, chip_plan};
use super::taped::Taped;
use super::tiles;
use super::views::{Select, ViewArgs};
use crate::interrupt::{heed_interrupts, interrupted};
use crate::output::note;

/// Says why a session ends as it does.
pub(super) type Explainer = Box<dyn FnMut() -> String + Send>;

/// A session that has been carried out.
pub(super) struct Recorded {
    /// Its chosen tiles.
    pub(super) recordings: Vec<Arc<Recording>>,
    /// What they are called, each in its place.
    pub(super) titles: Vec<String>,
    /// Where names come from.
    pub(super) naming: Naming,
    /// ELF files of all that runs.
    pub(super) programs: Vec<Program>,
    pub(super) explain: Explainer,
}

impl Recorded {
    /// Carries out the session that the arguments name.
    ///
    /// # Errors
    /// Host mistakes, each in one line.
    pub(super) fn of(
        path: Option<&Path>,
        program: &[OsString],
        machine: &MachineArgs,
        select: &Select,
        out: &mut dyn Write,
    ) -> Result<Self> {
        if let Some(plan) = chip_plan(path, program)? {
            return of_chip_plan(plan, machine, select, out);
        }
        let views = ViewArgs { select: select.clone(), ..ViewArgs::default() };
        match Source::of(path, program, &views, machine, out)? {
            Source::Tape(path) => of_tape(&path, views),
            source @ (Source::Plan(_) | Source::Boot) => of_plan(source.launches()?, machine, out),
        }
    }

    /// A machine for each tile, at the beginning.
    ///
    /// # Errors
    /// The host gives no memory.
    pub(super) fn machines(&self) -> Result<Vec<Machine>> {
        let count = self.recordings.len();
        let machine = |recording: &Arc<Recording>| Machine::one_of(Arc::clone(recording), count);
        self.recordings
            .iter()
            .map(machine)
            .collect::<Result<_, _>>()
            .context("no memory for a tile")
    }

    /// When the first launch begins, or else what comes behind the boot.
    pub(super) fn first_launch(&self) -> Cycle {
        let began = |is_meant: &dyn Fn(&Stage) -> bool| {
            let stages =
                self.recordings.iter().flat_map(|recording| recording.stages.iter().skip(1));
            stages.filter(|stage| is_meant(stage)).map(|stage| stage.began).min()
        };
        let launch = began(&|stage| !stage.name.starts_with("start"));
        launch.or_else(|| began(&|_| true)).unwrap_or(Cycle::ZERO)
    }

    /// How it ends, in a line.
    pub(super) fn summary(&self) -> String {
        let Some(first) = self.recordings.first() else { return String::new() };
        let until = self.recordings.iter().map(|recording| recording.until).max();
        let inputs: usize = self.recordings.iter().map(|recording| recording.input_bytes()).sum();
        let tiles = match self.recordings.len() {
            1 => format!("tile {},{}", first.place.0, first.place.1),
            many => format!("{many} tiles"),
        };
        format!(
            "{} cycles of {tiles}, with {} KiB of what came from outside; ends with {}",
            until.unwrap_or(first.until),
            inputs.div_ceil(1024),
            first.end
        )
    }
}

fn of_plan(launches: Vec<Launch>, machine: &MachineArgs, out: &mut dyn Write) -> Result<Recorded> {
    let set = choose_firmware(machine, out)?;
    let options = BootOptions { logical: machine.logical, ..BootOptions::default() };
    let limits = Limits { max_cycles: machine.max_cycles, stop: Some(heed_interrupts()) };
    let recording = Recording::of_plan(machine.tile_config(), &set, &options, &launches, limits)?;
    let programs = script::programs(&set, &launches);
    let naming = Naming::of_plan(LoadedNames::new(&set));
    let machine = machine.clone();
    let explain = move || match diagnose(&set, &launches, &setup(&machine, Vec::new())) {
        Ok(diagnosis) => diagnosis.explanation.to_string(),
        Err(error) => format!("{error}\n"),
    };
    let titles = vec![format!("tile {},{}", recording.place.0, recording.place.1)];
    let (recordings, explain) = (vec![Arc::new(recording)], Box::new(explain));
    Ok(Recorded { recordings, titles, naming, programs, explain })
}

/// Records the chosen tiles.
fn several<H: Host>(host: &H, course: &Course<'_>) -> Result<Vec<Arc<Recording>>> {
    let _ = heed_interrupts();
    let recordings = several::record(host, course, || !interrupted())?;
    if recordings.is_empty() {
        bail!("the session has done nothing on a tile: --tiles all, or others");
    }
    Ok(recordings)
}

/// What the tiles are called that were recorded.
fn titles(recordings: &[Arc<Recording>], tiles: &[TileSeen]) -> Vec<String> {
    let title = |recording: &Arc<Recording>| {
        let seen = tiles.iter().find(|tile| tile.number == recording.number);
        seen.map_or_else(String::new, TileSeen::place)
    };
    recordings.iter().map(title).collect()
}

/// The ELF files of all that runs on any tile.
fn programs(recordings: &[Arc<Recording>]) -> Vec<Program> {
    let mut all: Vec<Program> = Vec::new();
    let stages = recordings.iter().flat_map(|recording| &recording.stages);
    for found in stages.flat_map(script::programs_of) {
        let is_known = |known: &Program| known.bias == found.bias && known.bytes == found.bytes;
        if all.iter().any(is_known) {
            continue;
        }
        let mut found = found;
        if all.iter().any(|known| known.file == found.file) {
            found.file = format!("{}-{}", all.len(), found.file);
        }
        all.push(found);
    }
    all
}

fn explained(answer: Result<session::second::Answer, SessionError>) -> String {
    match answer {
        Ok(session::second::Answer { report: Some(report), .. }) => report.to_string(),
        Ok(_) => "no hang: the host closed the device, or the session goes on\n".to_owned(),
        Err(error) => format!("{error}\n"),
    }
}

fn of_tape(path: &Path, views: ViewArgs) -> Result<Recorded> {
    let session = Taped::open(path, &views)?;
    let recordings = several(&session.host, &session.course())?;
    let titles = titles(&recordings, &session.chosen);
    let programs = programs(&recordings);
    if programs.is_empty() {
        note(
            "no ELF file of what runs was found: --elf DIR, with those of its kernels, gives names",
        );
    }
    let explain = move || match session.answer(&views) {
        Ok(answer) => explained(Ok(answer)),
        Err(error) => format!("{error:#}\n"),
    };
    let (naming, explain) = (Naming::of_session(), Box::new(explain));
    Ok(Recorded { recordings, titles, naming, programs, explain })
}

fn of_chip_plan(
    plan: ChipPlan,
    machine: &MachineArgs,
    select: &Select,
    out: &mut dyn Write,
) -> Result<Recorded> {
    let host = tiles::host(plan, machine, select.threads, out)?;
    let catalog = Arc::new(host.catalog(&select.elf));
    let looked = look(&host, &catalog, select.threads)?;
    let tiles: Vec<TileSeen> = looked.survey.chosen(&select.tiles()).cloned().collect();
    let course = Course { survey: &looked.survey, catalog: &catalog, tiles: &tiles, until: None };
    let recordings = several(&host, &course)?;
    let titles = titles(&recordings, &tiles);
    let programs = programs(&recordings);
    let explain = move || explained(why_of(&host, &Question::default(), &catalog, &looked));
    let (naming, explain) = (Naming::of_session(), Box::new(explain));
    Ok(Recorded { recordings, titles, naming, programs, explain })
}
