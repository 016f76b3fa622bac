//! A session on a chip, whoever its host is, and what every command may ask of it.
//!
//! It was played once to find out what it is ([`session::survey`]), and is played once more for each answer, with
//! eyes on the tiles that are looked at. Ctrl-C stops it between two calls of the host.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Result, bail};
use observe::Attribution;
use observe::why::Judgement;
use serde_json::json;
use session::Report;
use session::heed::Heeding;
use session::host::{Host, SessionError};
use session::second::Question;
use session::stalls::{TileCycles, stalls, sum};
use session::survey::{Looked, TileSeen};
use session::watch::{Call, Course, Listener as _, Wanted, Watched, play, record};
use sim_core::{CoreSet, Cycle, Observer};
use symbols::catalog::Catalog;
use symbols::tile_names::TileNames;

use super::dump::dump;
use super::files::Open;
use super::forms::{suppressed, write_form};
use super::shares;
use super::state::args::StateArgs;
use super::state::show::show_tiles;
use super::tape_sinks::TapeSinks;
use super::views::ViewArgs;
use super::waits::wait_text;
use crate::exit::Exit;
use crate::interrupt::interrupted;
use crate::output::{counted, note};

/// A session, and what it is.
pub(super) struct Asked<H> {
    pub(super) host: Heeding<H>,
    pub(super) catalog: Arc<Catalog>,
    pub(super) looked: Looked,
    /// The tiles that are looked at.
    pub(super) chosen: Vec<TileSeen>,
    /// How it ended, in a word.
    pub(super) verdict: &'static str,
    /// And as a status.
    pub(super) exit: Exit,
}

/// An observer that does nothing, for a state at the end.
#[derive(Debug)]
pub(super) struct Nothing;

impl Observer for Nothing {}

impl session::eye::Sink for Nothing {
    fn launched(&mut self, _: Cycle, _: &Arc<TileNames>, _: bool) {}
}

/// Tiles of a report that are told one by one.
const TOLD: usize = 8;

impl<H: Host> Asked<H> {
    /// A session that was played once and ended in that way.
    ///
    /// # Errors
    /// It has none of the tiles that are asked for.
    pub(super) fn new(
        (host, catalog): (Heeding<H>, Arc<Catalog>),
        looked: Looked,
        (verdict, exit): (&'static str, Exit),
        views: &ViewArgs,
    ) -> Result<Self> {
        let survey = &looked.survey;
        let tiles = views.select.tiles();
        let chosen: Vec<TileSeen> = survey.chosen(&tiles).cloned().collect();
        if chosen.is_empty() && views.select.tiles.is_some() {
            let busy = survey.tiles.iter().filter(|tile| tile.is_busy()).count();
            bail!(
                "--tiles {tiles}: the session has done nothing there; it has touched {} and {busy} are busy",
                counted(survey.tiles.len() as u64, "tile", "tiles")
            );
        }
        Ok(Self { host, catalog, looked, chosen, verdict, exit })
    }

    pub(super) fn course(&self) -> Course<'_> {
        let Self { catalog, looked, chosen, .. } = self;
        Course { survey: &looked.survey, catalog, tiles: chosen, until: None }
    }

    /// What is asked about hangs and contracts.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn question(&self, views: &ViewArgs) -> Result<Question> {
        Ok(Question {
            elf: views.select.elf.clone(),
            threads: views.select.threads,
            tiles: views.select.tiles(),
            suppressed: suppressed(&views.forms)?,
        })
    }

    /// Plays to the end, or to a cycle, with nobody watching.
    ///
    /// # Errors
    /// It cannot be played.
    pub(super) fn to_end(&self, until: Option<Cycle>) -> Result<Watched<Nothing>> {
        let course = Course { until, ..self.course() };
        Ok(play(&self.host, &course, |_| Nothing, |_| Ok(true))?)
    }

    /// Writes the recordings that are asked for, with what became of the session, if somebody has found out.
    ///
    /// # Errors
    /// Something cannot be written; it was interrupted, and the files have what happened before.
    pub(super) fn records(&self, views: &ViewArgs, judgement: Option<&Judgement>) -> Result<()> {
        let records = &views.records;
        if !records.any() {
            return Ok(());
        }
        let mut sinks = TapeSinks::open(views, &self.looked.survey, &self.chosen)?;
        let wanted = Wanted {
            from: records.from.map(Cycle),
            to: records.to.map(Cycle),
            jumps: records.perfetto.is_some() && !records.no_functions || records.waves.is_some(),
            retires: records.instructions()?.map_or(CoreSet::EMPTY, |(_, cores)| cores),
            polls: sinks.tells_polls(),
        };
        let mut chip = record(&self.host, &self.course(), wanted, &mut sinks)?;
        sinks.settle();
        let now = chip.now();
        let mut open: Vec<Vec<Open>> = Vec::new();
        for (at, tile) in self.chosen.iter().enumerate() {
            let waits = chip.inspect(tile.number, tile::Tile::waits);
            let text = |wait: &tile::AgentWait| {
                sinks.names(at).map(|names| (wait.agent, wait.since, wait_text(names, wait)))
            };
            open.push(waits.iter().filter_map(text).collect());
            let polls = chip.inspect(tile.number, |machine| {
                let eye = machine.observer().as_ref();
                eye.map(|eye| eye.sink().open(now, &machine.parked())).unwrap_or_default()
            });
            for episode in polls {
                sinks.call(at, &Call::Poll(Box::new(episode))).map_err(anyhow::Error::msg)?;
            }
        }
        let is_cut = records.to.is_some_and(|to| to < self.looked.survey.cycle);
        let is_interrupted = interrupted();
        let end = match (is_interrupted, is_cut) {
            (true, _) => "INTERRUPTED",
            (false, true) => "END OF WINDOW",
            (false, false) => self.verdict,
        };
        let judgement = judgement.filter(|judgement| judgement.closed <= now.0);
        sinks.finish(now, &open, end, judgement)?;
        if is_interrupted {
            return Err(SessionError::stopped(&mut chip, &self.catalog).into());
        }
        Ok(())
    }

    /// Says where the cycles went: of all chosen tiles together, then of each.
    ///
    /// # Errors
    /// It cannot be played or something cannot be written.
    pub(super) fn cycles(&self, views: &ViewArgs, top: usize, out: &mut dyn Write) -> Result<()> {
        let course = Course { until: views.records.to.map(Cycle), ..self.course() };
        let (now, mut tiles) = stalls(&self.host, &course, views.records.from.map(Cycle))?;
        let mut all = sum(&tiles);
        let cut =
            |rows: &mut Vec<Attribution>| rows.iter_mut().for_each(|row| row.shares.truncate(top));
        cut(&mut all);
        tiles.iter_mut().for_each(|tile| cut(&mut tile.rows));
        if views.takes_stdout() {
            return Ok(());
        }
        if views.forms.json {
            let each = |one: &TileCycles| {
                json!({ "tile": one.tile.worker, "noc": one.tile.noc, "kernels": one.tile.titles,
                        "agents": one.rows })
            };
            let value = json!({
                "cycles": now.0, "verdict": self.verdict, "agents": all,
                "tiles": tiles.iter().map(each).collect::<Vec<_>>(),
            });
            return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?);
        }
        writeln!(out, "{now} cycles, {}", self.verdict)?;
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
        Ok(())
    }

    /// Shows the registers of the chosen tiles of a chip that is at its end, or was stopped before.
    ///
    /// # Errors
    /// A pattern matches nothing, or something cannot be written.
    pub(super) fn registers<S: session::eye::Sink>(
        &self,
        mut chip: Watched<S>,
        is_stopped: bool,
        args: &StateArgs,
        out: &mut dyn Write,
    ) -> Result<Exit> {
        let now = chip.now();
        let tiles: Vec<_> =
            self.chosen.iter().map(|tile| (tile, chip.registers(tile.number))).collect();
        let verdict = if is_stopped { "STOPPED" } else { self.verdict };
        let views = &args.output.views;
        if !views.takes_stdout() {
            show_tiles(args, now.0, verdict, &tiles, out)?;
        }
        for tile in &self.chosen {
            self.dump(&mut chip, tile, &args.output.dump, out)?;
        }
        Ok(if is_stopped { Exit::Ok } else { self.exit })
    }

    /// Shows the state at the end, or at a cycle.
    ///
    /// # Errors
    /// It cannot be played, a pattern matches nothing, or something cannot be written.
    pub(super) fn state(&self, args: &StateArgs, out: &mut dyn Write) -> Result<Exit> {
        let until = args.at_cycle.map(Cycle);
        let chip = self.to_end(until)?;
        let now = chip.now();
        let is_stopped = until.is_some_and(|until| until <= now);
        if let Some(cycle) = until.filter(|_| !is_stopped) {
            note(&format!("--at-cycle {cycle}: the session ended before, at cycle {now}"));
        }
        self.registers(chip, is_stopped, args, out)
    }

    /// Shows ranges of L1 of a tile.
    fn dump<S: session::eye::Sink>(
        &self,
        chip: &mut Watched<S>,
        tile: &TileSeen,
        ranges: &[(u32, u32)],
        out: &mut dyn Write,
    ) -> Result<()> {
        if ranges.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", tile.place())?;
        chip.inspect(tile.number, |machine| {
            ranges.iter().try_for_each(|&(address, bytes)| dump(machine, address, bytes, out))
        })
    }

    /// Shows ranges of L1 of the chosen tiles.
    ///
    /// # Errors
    /// Something cannot be written.
    pub(super) fn dumps<S: session::eye::Sink>(
        &self,
        chip: &mut Watched<S>,
        ranges: &[(u32, u32)],
        out: &mut dyn Write,
    ) -> Result<()> {
        self.chosen.iter().try_for_each(|tile| self.dump(chip, tile, ranges, out))
    }

    /// Mistakes of kernels and firmware.
    ///
    /// # Errors
    /// Something cannot be written.
    pub(super) fn tell_errors(&self, out: &mut dyn Write) -> Result<()> {
        let errors = &self.looked.survey.errors;
        for error in errors.iter().take(ERRORS) {
            writeln!(out, "error: {error}")?;
        }
        if errors.len() > ERRORS {
            writeln!(out, "and {} errors more", errors.len() - ERRORS)?;
        }
        for note in self.looked.survey.notes.iter().take(ERRORS) {
            writeln!(out, "note: {note}")?;
        }
        Ok(())
    }
}

/// Mistakes that are told.
const ERRORS: usize = 10;

/// Writes the explanation into the files that were asked for.
///
/// # Errors
/// Something cannot be written.
pub(super) fn write_files(report: &Report, views: &ViewArgs, out: &mut dyn Write) -> Result<()> {
    write_form(&views.forms.sarif, &|| report.sarif(), out)?;
    write_form(&views.forms.dot, &|| report.dot(), out)?;
    write_form(&views.forms.html, &|| report.html(), out)
}
