//! Tapes and recordings of host programs, asked for everything that is asked of a session.
//!
//! A tape is played once to find out what it is ([`session::survey`]) and once more for each answer, with eyes
//! on the tiles that are looked at.

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use observe::Attribution;
use serde_json::{Value, json};
use session::second::{Answer, Question};
use session::stalls::{TileCycles, stalls, sum};
use session::survey::{Looked, Survey, TileSeen, catalog, look};
use session::watch::{Course, Wanted, play, record};
use session::{Report, second};
use sim_core::{Cycle, Observer};
use symbols::catalog::Catalog;
use symbols::tile_names::TileNames;
use tape::{Ending, Tape};

use super::machine::OutputArgs;
use super::report::wait_text;
use super::stalls as shares;
use super::state::{self, StateArgs};
use super::tape_sinks::{Open, TapeSinks};
use super::views::ViewArgs;
use super::why::{suppressed, write_form};
use crate::exit::Exit;
use crate::interrupt::{heed_interrupts, interrupted};
use crate::output::{Output, STDERR, counted, note};

/// What files begin with that hold a host's calls: a tape, a recording, and packed ones.
const BEGINNINGS: [&[u8]; 4] = [b"TSTAPE01", b"TTREC01\n", b"\xFD7zXZ\0", b"\x1F\x8B"];

/// Whether a file is a tape or a recording rather than a plan.
#[must_use]
pub fn is_tape(path: &Path) -> bool {
    let mut head = [0; 8];
    let mut length = 0;
    // Opening a pipe would wait for somebody at its other end.
    if path.is_file()
        && let Ok(mut file) = File::open(path)
    {
        while let Ok(more @ 1..) = file.read(&mut head[length..]) {
            length += more;
        }
    }
    BEGINNINGS.iter().any(|beginning| head[..length].starts_with(beginning))
}

/// A tape, and what it is.
pub(super) struct Taped {
    pub(super) tape: Tape,
    pub(super) catalog: Arc<Catalog>,
    pub(super) looked: Looked,
    /// The tiles that are looked at.
    pub(super) chosen: Vec<TileSeen>,
}

/// An observer that does nothing, for a state at the end.
#[derive(Debug)]
struct Nothing;

impl Observer for Nothing {}

impl session::eye::Sink for Nothing {
    fn launched(&mut self, _: Cycle, _: &Arc<TileNames>, _: bool) {}
}

impl Taped {
    /// Plays a tape and finds out what it is.
    ///
    /// # Errors
    /// It cannot be read, or has none of the tiles that are asked for.
    pub(super) fn open(path: &Path, views: &ViewArgs) -> Result<Self> {
        let tape = Tape::open(path)?;
        let catalog = catalog(&tape, &views.select.elf);
        let looked = look(&tape, &catalog, views.select.threads)?;
        let survey = &looked.survey;
        tell_differences(&tape, survey);
        if survey.sessions > 1 {
            let (at, all) = (survey.session + 1, survey.sessions);
            note(&format!("the program opened the device {all} times; this is of time {at}"));
        }
        let tiles = views.select.tiles();
        let chosen: Vec<TileSeen> = survey.chosen(&tiles).cloned().collect();
        if chosen.is_empty() && views.select.tiles.is_some() {
            let busy = survey.tiles.iter().filter(|tile| tile.is_busy()).count();
            bail!(
                "--tiles {tiles}: the session has done nothing there; it has touched {} and {busy} are busy",
                counted(survey.tiles.len() as u64, "tile", "tiles")
            );
        }
        Ok(Self { tape, catalog, looked, chosen })
    }

    /// What of it is looked at.
    pub(super) fn course(&self) -> Course<'_> {
        let Self { catalog, looked, chosen, .. } = self;
        Course { survey: &looked.survey, catalog, tiles: chosen, until: None }
    }

    fn exit(&self) -> Exit {
        match self.looked.survey.verdict {
            "DONE" if !self.looked.survey.errors.is_empty() => Exit::Guest,
            "DONE" => Exit::Ok,
            "DEADLOCK" => Exit::Deadlock,
            _ => Exit::NoProgress,
        }
    }

    /// Writes the recordings that are asked for.
    ///
    /// # Errors
    /// Something cannot be written.
    pub(super) fn records(&self, views: &ViewArgs) -> Result<()> {
        let records = &views.records;
        if !records.any() {
            return Ok(());
        }
        let _ = heed_interrupts();
        let mut sinks = TapeSinks::open(views, &self.looked.survey, &self.chosen)?;
        let wanted = Wanted {
            from: records.from.map(Cycle),
            to: records.to.map(Cycle),
            jumps: records.perfetto.is_some() && !records.no_functions,
        };
        let mut chip = record(&self.tape, &self.course(), wanted, &mut sinks)?;
        sinks.settle();
        let now = chip.now();
        let mut open: Vec<Vec<Open>> = Vec::new();
        for (at, tile) in self.chosen.iter().enumerate() {
            let waits = chip.inspect(tile.number, tile::Tile::waits);
            let text = |wait: &tile::AgentWait| {
                sinks.names(at).map(|names| (wait.agent, wait.since, wait_text(names, wait)))
            };
            open.push(waits.iter().filter_map(text).collect());
        }
        let is_cut = records.to.is_some_and(|to| to < self.looked.survey.cycle);
        let end = match (interrupted(), is_cut) {
            (true, _) => "INTERRUPTED",
            (false, true) => "END OF WINDOW",
            (false, false) => self.looked.survey.verdict,
        };
        sinks.finish(now, &open, end)
    }

    /// Asks why it hangs.
    pub(super) fn answer(&self, views: &ViewArgs) -> Result<Answer> {
        let question = Question {
            elf: views.select.elf.clone(),
            threads: views.select.threads,
            tiles: views.select.tiles(),
            suppressed: suppressed(&views.forms)?,
        };
        Ok(second::why_of(&self.tape, &question, &self.catalog, &self.looked)?)
    }

    /// Of a tape that came from elsewhere says why there are no names.
    fn say_what_lacks(&self) {
        if self.tape.header().is_some() && !self.tape.is_explained() {
            note(&format!(
                "{} carries not all names, those of this machine are used; where it was made \
                 `tilescope pack` adds them",
                self.tape.path().display()
            ));
        }
    }

    /// Writes the explanation into the files that are asked for.
    fn forms(&self, views: &ViewArgs, out: &mut dyn Write) -> Result<()> {
        if views.wants_forms() {
            match &self.answer(views)?.report {
                Some(report) => write_files(report, views, out)?,
                None => note("no hang: there is nothing to explain, and no file for it"),
            }
        }
        Ok(())
    }

    /// Says why it hangs, if it does.
    ///
    /// # Errors
    /// The tape cannot be read or something cannot be written.
    pub(super) fn why(&self, views: &ViewArgs, out: &mut dyn Write) -> Result<Exit> {
        let answer = self.answer(views)?;
        match &answer.report {
            Some(report) => {
                self.say_what_lacks();
                self.exit().whatever_became_of(self.show(report, &answer, views, out))
            }
            None => self.exit().whatever_became_of(self.nothing(&answer, views, out)),
        }
    }

    fn show(
        &self,
        report: &Report,
        answer: &Answer,
        views: &ViewArgs,
        out: &mut dyn Write,
    ) -> Result<()> {
        write_files(report, views, out)?;
        if views.takes_stdout() {
            return Ok(());
        }
        if views.forms.json {
            let mut value: Value = serde_json::from_str(&report.json())?;
            value["warnings"] = json!(answer.warnings);
            value["errors"] = json!(self.looked.survey.errors);
            writeln!(out, "{value:#}")?;
            return Ok(());
        }
        self.tell_errors(out)?;
        write!(out, "{report}")?;
        for warning in &answer.warnings {
            write!(out, "\n{warning}")?;
        }
        // What was not found matters where something has no name.
        if report.lacks_names() {
            for note in &answer.notes {
                writeln!(out, "note: {note}")?;
            }
        }
        Ok(())
    }

    fn nothing(&self, answer: &Answer, views: &ViewArgs, out: &mut dyn Write) -> Result<()> {
        let (calls, cycle, ending) = (answer.calls, answer.cycle, ending(&self.tape));
        if views.wants_forms() {
            note("no hang: there is nothing to explain, and no file for it");
        }
        if views.takes_stdout() {
            return Ok(());
        }
        if views.forms.json {
            let value = json!({
                "verdict": "DONE", "calls": calls, "cycle": cycle, "warnings": answer.warnings, "errors": self.looked.survey.errors,
            });
            writeln!(out, "{value:#}")?;
            return Ok(());
        }
        self.tell_errors(out)?;
        writeln!(out, "no hang: {ending} ({calls} calls, cycle {cycle})")?;
        for warning in &answer.warnings {
            write!(out, "\n{warning}")?;
        }
        Ok(())
    }

    /// Mistakes of kernels and firmware.
    fn tell_errors(&self, out: &mut dyn Write) -> Result<()> {
        let errors = &self.looked.survey.errors;
        for error in errors.iter().take(ERRORS) {
            writeln!(out, "error: {error}")?;
        }
        if errors.len() > ERRORS {
            writeln!(out, "and {} errors more", errors.len() - ERRORS)?;
        }
        Ok(())
    }
}

/// A tape of this simulator is played as it was written; a recording of another machine need not be.
fn tell_differences(tape: &Tape, survey: &Survey) {
    let Some((first, more)) = survey.differences.split_first() else { return };
    let what = match tape.header() {
        Some(_) => "the machine did something else than the tape has",
        None => "recorded on another machine, whose reads differ from this one's",
    };
    let more = if more.is_empty() { "" } else { " (the first of several)" };
    note(&format!("{what}{more}: {first}"));
}

/// Writes the files that are asked for of a tape.
///
/// # Errors
/// The tape cannot be read or something cannot be written.
pub(super) fn files(path: &Path, views: &ViewArgs, out: &mut dyn Write) -> Result<()> {
    let session = Taped::open(path, views)?;
    session.records(views)?;
    session.forms(views, out)
}

fn write_files(report: &Report, views: &ViewArgs, out: &mut dyn Write) -> Result<()> {
    write_form(&views.forms.sarif, &|| report.sarif(), out)?;
    write_form(&views.forms.dot, &|| report.dot(), out)?;
    write_form(&views.forms.html, &|| report.html(), out)
}

fn ending(tape: &Tape) -> &'static str {
    match tape.ending() {
        Ending::Whole => "the host closed the device",
        Ending::Cut { .. } => "the tape ends within the session",
        Ending::Limit => "the tape was full before the session ended",
    }
}

/// Says what a session has launched where, and how it ended.
///
/// # Errors
/// The tape cannot be read or something cannot be written.
pub(super) fn launch(path: &Path, output: &OutputArgs, out: &mut dyn Write) -> Result<Exit> {
    for_plans(output)?;
    let views = &output.views;
    let session = Taped::open(path, views)?;
    session.records(views)?;
    session.forms(views, out)?;
    let mut stderr = Output::new(STDERR, io::stderr());
    let out: &mut dyn Write = if views.takes_stdout() { &mut stderr } else { out };
    let Survey { verdict, cycle, last_call, tiles, .. } = &session.looked.survey;
    let tile = |tile: &TileSeen| {
        json!({
            "tile": tile.worker, "noc": tile.noc, "launches": tile.launches, "kernels": tile.titles,
        })
    };
    let mut chip = play(&session.tape, &session.course(), |_| Nothing, |_| Ok(true))?;
    let hash = chip.state_hash();
    if views.forms.json {
        let value = json!({
            "verdict": verdict, "cycles": cycle, "calls": last_call + 1,
            "state_hash": format!("{hash:016x}"),
            "errors": session.looked.survey.errors,
            "tiles": session.chosen.iter().map(tile).collect::<Vec<_>>(),
        });
        writeln!(out, "{value:#}")?;
        return Ok(session.exit());
    }
    let busy = tiles.iter().filter(|tile| tile.is_busy()).count();
    session.tell_errors(out)?;
    writeln!(out, "{verdict} at cycle {cycle}, after {} calls of the host", last_call + 1)?;
    writeln!(
        out,
        "{} of {} busy",
        busy,
        counted(tiles.len() as u64, "touched tile", "touched tiles")
    )?;
    for (tiles, titles, launches) in alike(&session.chosen) {
        let launched = match launches {
            0 => "no launch of the vendor's firmware".to_owned(),
            _ => counted(launches, "launch", "launches"),
        };
        let each = if tiles.contains(" and ") { " each" } else { "" };
        writeln!(out, "\n{tiles}: {launched}{each}")?;
        if titles.is_empty() {
            writeln!(out, "  no names: --elf DIR, with the ELF files of its kernels, gives them")?;
        }
        for title in titles {
            writeln!(out, "  {title}")?;
        }
    }
    writeln!(out, "\nstate hash {hash:016x}")?;
    Ok(session.exit())
}

/// Tiles with the same launches, together.
fn alike(chosen: &[TileSeen]) -> Vec<(String, &[String], u64)> {
    let mut groups: Vec<(&TileSeen, Vec<(u8, u8)>)> = Vec::new();
    for tile in chosen {
        let same = |(first, _): &&mut (&TileSeen, Vec<(u8, u8)>)| {
            (&first.titles, first.launches) == (&tile.titles, tile.launches)
        };
        match groups.iter_mut().find(same) {
            Some((_, others)) => others.push(tile.worker),
            None => groups.push((tile, Vec::new())),
        }
    }
    let group = |(first, others): (&TileSeen, Vec<(u8, u8)>)| {
        let place = first.place();
        let tiles = match others.as_slice() {
            [] => first.place(),
            [(x, y)] => format!("{place} and {x},{y}"),
            [.., (x, y)] => format!("{place} and {} more up to {x},{y}", others.len()),
        };
        (tiles, first.launches)
    };
    let titles: Vec<&TileSeen> = groups.iter().map(|(first, _)| *first).collect();
    let texts: Vec<_> = groups.into_iter().map(group).collect();
    titles
        .into_iter()
        .zip(texts)
        .map(|(first, (tiles, launches))| (tiles, first.titles.as_slice(), launches))
        .collect()
}

fn for_plans(output: &OutputArgs) -> Result<()> {
    match output.for_plans() {
        Some(option) => bail!("{option} is for plans"),
        None => Ok(()),
    }
}

/// Mistakes that are told.
const ERRORS: usize = 10;
/// Tiles that are told one by one.
const TOLD: usize = 8;

/// Says where the cycles of a session went: of all chosen tiles together, then of each.
///
/// # Errors
/// The tape cannot be read or something cannot be written.
pub(super) fn report(
    path: &Path,
    views: &ViewArgs,
    top: usize,
    out: &mut dyn Write,
) -> Result<Exit> {
    let session = Taped::open(path, views)?;
    session.records(views)?;
    session.forms(views, out)?;
    let course = Course { until: views.records.to.map(Cycle), ..session.course() };
    let (now, mut tiles) = stalls(&session.tape, &course, views.records.from.map(Cycle))?;
    let mut all = sum(&tiles);
    let cut =
        |rows: &mut Vec<Attribution>| rows.iter_mut().for_each(|row| row.shares.truncate(top));
    cut(&mut all);
    tiles.iter_mut().for_each(|tile| cut(&mut tile.rows));
    if views.takes_stdout() {
        return Ok(session.exit());
    }
    if views.forms.json {
        let each = |one: &TileCycles| {
            json!({ "tile": one.tile.worker, "noc": one.tile.noc, "kernels": one.tile.titles,
                    "agents": one.rows })
        };
        let value = json!({
            "cycles": now.0, "verdict": session.looked.survey.verdict, "agents": all,
            "tiles": tiles.iter().map(each).collect::<Vec<_>>(),
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        return Ok(session.exit());
    }
    writeln!(out, "{now} cycles, {}", session.looked.survey.verdict)?;
    if tiles.len() > 1 {
        writeln!(out, "\n{} together", counted(tiles.len() as u64, "tile", "tiles"))?;
        shares::text(&all, out)?;
    }
    for one in tiles.iter().take(TOLD) {
        writeln!(out, "\n{}", one.tile.name())?;
        shares::text(&one.rows, out)?;
    }
    if tiles.len() > TOLD {
        let more = tiles.len() - TOLD;
        writeln!(out, "\n{more} tiles more: --tiles chooses, --json has all")?;
    }
    Ok(session.exit())
}

/// Shows the registers of the chosen tiles.
///
/// # Errors
/// The tape cannot be read, a pattern matches nothing, or something cannot be written.
pub(super) fn state(path: &Path, args: &StateArgs, out: &mut dyn Write) -> Result<Exit> {
    for_plans(&args.output)?;
    if args.after_launch.is_some() {
        bail!("--after-launch is for plans; of a tape: --at-cycle");
    }
    let views = &args.output.views;
    let session = Taped::open(path, views)?;
    session.records(views)?;
    session.forms(views, out)?;
    let until = args.at_cycle.map(Cycle);
    let course = Course { until, ..session.course() };
    let mut chip = play(&session.tape, &course, |_| Nothing, |_| Ok(true))?;
    let now = chip.now();
    let stopped = until.is_some_and(|until| until <= now);
    if let Some(cycle) = until.filter(|_| !stopped) {
        note(&format!("--at-cycle {cycle}: the session ended before, at cycle {now}"));
    }
    let tiles: Vec<_> =
        session.chosen.iter().map(|tile| (tile, chip.registers(tile.number))).collect();
    let verdict = if stopped { "STOPPED" } else { session.looked.survey.verdict };
    if !views.takes_stdout() {
        state::show_tiles(args, now.0, verdict, &tiles, out)?;
    }
    Ok(if stopped { Exit::Ok } else { session.exit() })
}
