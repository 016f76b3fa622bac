//! Tapes and recordings of host programs, asked for everything that is asked of a session.
//!
//! What does not depend on the host is in `asked`.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use session::heed::Heeding;
use session::second::Answer;
use session::survey::{Survey, TileSeen, catalog, look};
use session::{Report, second};
use tape::{Ending, Tape};

use super::asked::{Asked, write_files};
use super::machine::OutputArgs;
use super::state::args::StateArgs;
use super::views::ViewArgs;
use crate::exit::Exit;
use crate::interrupt::heed_interrupts;
use crate::output::{Output, STDERR, counted, note};

/// A tape, and what it is.
pub(super) type Taped = Asked<Tape>;

const fn exit(survey: &Survey) -> Exit {
    match survey.verdict.as_bytes() {
        b"DONE" if !survey.errors.is_empty() => Exit::Guest,
        b"DONE" => Exit::Ok,
        b"DEADLOCK" => Exit::Deadlock,
        _ => Exit::NoProgress,
    }
}

impl Taped {
    /// Plays a tape and finds out what it is.
    ///
    /// # Errors
    /// It cannot be read, or has none of the tiles that are asked for.
    pub(super) fn open(path: &Path, views: &ViewArgs) -> Result<Self> {
        let tape = Heeding::new(Tape::open(path)?, heed_interrupts());
        let catalog = catalog(&tape, &views.select.elf);
        let looked = look(&tape, &catalog, views.select.threads)?;
        let survey = &looked.survey;
        tell_differences(tape.host(), survey);
        if tape.host().ending() == Ending::Limit {
            let calls = counted(survey.last_call + 1, "call", "calls");
            note(&format!(
                "the tape was full after {calls}, at cycle {}: what came later is not on it (--tape-bytes, \
                 TILESCOPE_TAPE_BYTES)",
                survey.cycle
            ));
        }
        let before = tape.host().dropped() as usize;
        if before > 0 {
            let dropped = counted(before as u64, "session", "sessions");
            note(&format!("{dropped} before were dropped from the tape for the sake of its limit"));
        }
        if survey.sessions + before > 1 {
            let (at, all) = (survey.session + 1 + before, survey.sessions + before);
            note(&format!("the program opened the device {all} times; this is of time {at}"));
        }
        let end = (survey.verdict, exit(survey));
        Self::new((tape, catalog), looked, end, views)
    }

    fn tape(&self) -> &Tape {
        self.host.host()
    }

    /// Asks why it hangs.
    pub(super) fn answer(&self, views: &ViewArgs) -> Result<Answer> {
        Ok(second::why_of(&self.host, &self.question(views)?, &self.catalog, &self.looked)?)
    }

    /// Of a tape that came from elsewhere says why there are no names.
    fn say_what_lacks(&self) {
        if self.tape().header().is_some() && !self.tape().is_explained() {
            note(&format!(
                "{} carries not all names, those of this machine are used; where it was made \
                 `tilescope pack` adds them",
                self.tape().path().display()
            ));
        }
    }

    /// Writes the files that are asked for.
    ///
    /// # Errors
    /// Something cannot be written.
    pub(super) fn files(&self, views: &ViewArgs, out: &mut dyn Write) -> Result<()> {
        self.records(views, None)?;
        self.forms(views, out)
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
        let judgement = answer.report.as_ref().map(Report::judgement);
        self.records(views, judgement.as_ref())?;
        match &answer.report {
            Some(report) => {
                self.say_what_lacks();
                self.exit.whatever_became_of(self.show(report, &answer, views, out))
            }
            None => self.exit.whatever_became_of(self.nothing(&answer, views, out)),
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
            value["notes"] = json!(self.looked.survey.notes);
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
        let (calls, cycle, ending) = (answer.calls, answer.cycle, ending(self.tape()));
        if views.wants_forms() {
            note("no hang: there is nothing to explain, and no file for it");
        }
        if views.takes_stdout() {
            return Ok(());
        }
        if views.forms.json {
            let value = json!({
                "verdict": "DONE", "ending": ending, "calls": calls, "cycle": cycle, "warnings": answer.warnings,
                "errors": self.looked.survey.errors, "notes": self.looked.survey.notes, "unfinished": answer.unfinished,
            });
            writeln!(out, "{value:#}")?;
            return Ok(());
        }
        self.tell_errors(out)?;
        let found = match self.tape().ending() {
            Ending::Limit => "no hang that the tape has",
            Ending::Whole | Ending::Cut { .. } => "no hang",
        };
        writeln!(out, "{found}: {ending} ({calls} calls, cycle {cycle})")?;
        if let Some(unfinished) = &answer.unfinished {
            write!(out, "\n{unfinished}")?;
        }
        for warning in &answer.warnings {
            write!(out, "\n{warning}")?;
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
    Taped::open(path, views)?.files(views, out)
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
    let views = &output.views;
    let session = Taped::open(path, views)?;
    session.files(views, out)?;
    let mut stderr = Output::new(STDERR, io::stderr());
    let out: &mut dyn Write = if views.takes_stdout() { &mut stderr } else { out };
    let Survey { verdict, cycle, last_call, tiles, .. } = &session.looked.survey;
    let tile = |tile: &TileSeen| {
        json!({
            "tile": tile.worker, "noc": tile.noc, "launches": tile.launches, "kernels": tile.titles,
        })
    };
    let mut chip = session.to_end(None)?;
    let hash = chip.state_hash();
    if views.forms.json {
        let value = json!({
            "verdict": verdict, "cycles": cycle, "calls": last_call + 1,
            "state_hash": format!("{hash:016x}"),
            "errors": session.looked.survey.errors, "notes": session.looked.survey.notes,
            "tiles": session.chosen.iter().map(tile).collect::<Vec<_>>(),
        });
        writeln!(out, "{value:#}")?;
        return Ok(session.exit);
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
    session.dumps(&mut chip, &output.dump, out)?;
    writeln!(out, "\nstate hash {hash:016x}")?;
    Ok(session.exit)
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

/// Says where the cycles of a session went.
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
    session.files(views, out)?;
    session.exit.whatever_became_of(session.cycles(views, top, out))
}

/// Shows the registers of the chosen tiles.
///
/// # Errors
/// The tape cannot be read, a pattern matches nothing, or something cannot be written.
pub(super) fn state(path: &Path, args: &StateArgs, out: &mut dyn Write) -> Result<Exit> {
    if args.after_launch.is_some() {
        bail!("--after-launch is for plans; of a tape: --at-cycle");
    }
    let views = &args.output.views;
    let session = Taped::open(path, views)?;
    session.files(views, out)?;
    session.state(args, out)
}
