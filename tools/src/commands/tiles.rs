//! Plans of several tiles: carried out on a chip, and asked whatever is asked of a session.

use std::io::{self, Write};

use anyhow::{Result, bail};
use chip::{ChipConfig, LOOKAHEAD};
use loader::plan::ChipPlan;
use observe::why::WrongWords;
use serde_json::{Value, json};
use session::heed::Heeding;
use session::plan::{self, Answer, End, Mismatch, Outcome, PlanHost, Seen, Stage};
use session::survey::{Survey, catalog, look};
use session::watch::play;

use super::asked::{Asked, Nothing, write_files};
use super::launch::LaunchArgs;
use super::machine::MachineArgs;
use super::run::choose_firmware;
use super::stalls::StallArgs;
use super::state::args::StateArgs;
use super::views::ViewArgs;
use super::why::WhyArgs;
use crate::exit::Exit;
use crate::interrupt::heed_interrupts;
use crate::output::{Output, STDERR, counted, note};

/// The chip that the arguments for a tile describe.
fn chip_config(machine: &MachineArgs, threads: Option<usize>) -> Result<ChipConfig> {
    let tile = machine.tile_config();
    if machine.stale_icache {
        bail!("--stale-icache is for plans of one tile");
    }
    if machine.logical != (0, 0) {
        bail!("--logical is for plans of one tile: `tiles` says where the others are");
    }
    let epoch = tile.epoch.cycles();
    if !LOOKAHEAD.is_multiple_of(epoch) {
        bail!("--epoch {epoch}: with several tiles it is 1, 2, 4, 8 or 16");
    }
    let default = ChipConfig::default();
    Ok(ChipConfig {
        threads: threads.unwrap_or(default.threads),
        epoch: tile.epoch,
        shortcuts: tile.shortcuts,
        timing: tile.timing,
        warned: tile.warned,
        ..default
    })
}

/// The host of a plan.
pub(super) fn host(
    plan: ChipPlan,
    machine: &MachineArgs,
    threads: Option<usize>,
    out: &mut dyn Write,
) -> Result<PlanHost> {
    let config = chip_config(machine, threads)?;
    let set = choose_firmware(machine, out)?;
    Ok(PlanHost::new(plan, &set, config, machine.max_cycles)?)
}

/// The exit status of a plan.
const fn exit(end: End) -> Exit {
    match end {
        End::Done => Exit::Ok,
        End::WrongResult => Exit::WrongResult,
        End::Deadlock => Exit::Deadlock,
        End::NoProgress => Exit::NoProgress,
        End::GuestError => Exit::Guest,
    }
}

/// A plan that was carried out once.
pub(super) struct Tiles {
    pub(super) asked: Asked<PlanHost>,
    /// Tiles with firmware.
    tiles: usize,
    outcome: Outcome,
    end: End,
}

impl Tiles {
    /// Carries out a plan and finds out how it ends.
    ///
    /// # Errors
    /// Host mistakes, each in one line.
    pub(super) fn open(
        plan: ChipPlan,
        machine: &MachineArgs,
        views: &ViewArgs,
        out: &mut dyn Write,
    ) -> Result<Self> {
        views.records.check()?;
        if !views.select.elf.is_empty() {
            bail!("--elf is for tapes: a plan names its kernels");
        }
        let tiles = plan.tiles().len();
        let host = host(plan, machine, views.select.threads, out)?;
        let host = Heeding::new(host, heed_interrupts());
        let catalog = catalog(&host, &[]);
        let mut looked = look(&host, &catalog, views.select.threads)?;
        // Each further time through begins anew.
        let outcome = host.host().outcome();
        let end = plan::end(&outcome, &looked);
        looked.survey.errors.clone_from(&outcome.faults);
        let asked = Asked::new((host, catalog), looked, (end.name(), exit(end)), views)?;
        Ok(Self { asked, tiles, outcome, end })
    }

    /// Why it ended so.
    fn answer(&self, views: &ViewArgs) -> Result<Answer> {
        let Asked { host, catalog, looked, .. } = &self.asked;
        let question = self.asked.question(views)?;
        Ok(plan::why_of(host, &question, catalog, looked, self.outcome.clone())?)
    }

    /// What came of it, for who does not look for violations of contracts.
    fn short_answer(&self, views: &ViewArgs) -> Result<Answer> {
        let (end, mut outcome) = (self.end, self.outcome.clone());
        let Asked { host, catalog, looked, .. } = &self.asked;
        plan::tell_writers(host, catalog, looked.survey.config, &mut outcome)?;
        match end {
            End::Deadlock => return self.answer(views),
            // It may be in a hang that was found besides.
            End::GuestError if self.asked.looked.survey.verdict != "DONE" => {
                return self.answer(views);
            }
            _ => {}
        }
        let positions = match end {
            End::NoProgress => Some(plan::stand(&self.asked.host)?),
            _ => None,
        };
        let Survey { cycle, notes, .. } = &self.asked.looked.survey;
        let (cycle, notes) = (*cycle, notes.clone());
        Ok(Answer { end, outcome, report: None, positions, cycle, warnings: Vec::new(), notes })
    }

    /// Writes the recordings, and the explanation into the files that are asked for, of a command with an answer
    /// of its own.
    ///
    /// # Errors
    /// Something cannot be written.
    pub(super) fn files(&self, views: &ViewArgs, out: &mut dyn Write) -> Result<()> {
        self.asked.records(views, None)?;
        if views.wants_forms() {
            forms(&self.short_answer(views)?, views, out)?;
        }
        Ok(())
    }
}

fn forms(answer: &Answer, views: &ViewArgs, out: &mut dyn Write) -> Result<()> {
    match &answer.report {
        Some(report) => write_files(report, views, out),
        None if views.wants_forms() => {
            note("no hang: there is nothing to explain, and no file for it");
            Ok(())
        }
        None => Ok(()),
    }
}

/// `tilescope launch` of several tiles.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn launch(plan: ChipPlan, args: &LaunchArgs, out: &mut dyn Write) -> Result<Exit> {
    let views = &args.output.views;
    let tiles = Tiles::open(plan, &args.machine, views, out)?;
    tiles.asked.records(views, None)?;
    let answer = tiles.short_answer(views)?;
    forms(&answer, views, out)?;
    let mut chip = tiles.asked.to_end(None)?;
    let hash = chip.state_hash();
    let mut stderr = Output::new(STDERR, io::stderr());
    let out: &mut dyn Write = if views.takes_stdout() { &mut stderr } else { out };
    let mut shown = if views.forms.json {
        let mut value = to_json(&answer);
        value["state_hash"] = json!(format!("{hash:016x}"));
        writeln!(out, "{value:#}").map_err(Into::into)
    } else {
        show(&answer, tiles.tiles, out)
    };
    shown = shown.and_then(|()| tiles.asked.dumps(&mut chip, &args.output.dump, out));
    if !views.forms.json {
        let last = |out: &mut dyn Write| Ok(writeln!(out, "\nstate hash {hash:016x}")?);
        shown = shown.and_then(|()| last(out));
    }
    tiles.asked.exit.whatever_became_of(shown)
}

/// `tilescope why` of several tiles.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn why(plan: ChipPlan, args: &WhyArgs, out: &mut dyn Write) -> Result<Exit> {
    let views = &args.output;
    let tiles = Tiles::open(plan, &args.machine, views, out)?;
    let answer = tiles.answer(views)?;
    let judgement = answer.report.as_ref().map(session::Report::judgement);
    tiles.asked.records(views, judgement.as_ref())?;
    tiles.asked.exit.whatever_became_of(explain(&answer, tiles.tiles, views, out))
}

/// `tilescope report` of several tiles.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn report(plan: ChipPlan, args: &StallArgs, out: &mut dyn Write) -> Result<Exit> {
    let tiles = Tiles::open(plan, &args.machine, &args.output, out)?;
    tiles.files(&args.output, out)?;
    let told = tiles.asked.cycles(&args.output, args.top, out);
    tiles.asked.exit.whatever_became_of(told)
}

/// `tilescope state` of several tiles.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn state(plan: ChipPlan, args: &StateArgs, out: &mut dyn Write) -> Result<Exit> {
    let rounds = plan.launches.iter().map(|launch| launch.repeat as usize).sum::<usize>();
    if let Some(stop) = args.after_launch.filter(|stop| *stop > rounds) {
        let count = counted(rounds as u64, "launch", "launches");
        bail!("--after-launch {stop}: the plan has {count}, repetitions counted");
    }
    let tiles = Tiles::open(plan, &args.machine, &args.output.views, out)?;
    tiles.files(&args.output.views, out)?;
    let Some(stop) = args.after_launch else { return tiles.asked.state(args, out) };
    let host = &tiles.asked.host;
    // The boot is a stage too.
    let goes_on = || host.host().ended() <= stop;
    let chip = play(host, &tiles.asked.course(), |_| Nothing, |_| Ok(goes_on()))?;
    let is_stopped = !goes_on();
    tiles.asked.registers(chip, is_stopped, args, out)
}

fn explain(answer: &Answer, tiles: usize, views: &ViewArgs, out: &mut dyn Write) -> Result<()> {
    forms(answer, views, out)?;
    if views.takes_stdout() {
        return Ok(());
    }
    if views.forms.json {
        return Ok(writeln!(out, "{:#}", to_json(answer))?);
    }
    match (&answer.report, answer.end) {
        (Some(report), End::Deadlock) => {
            show_notes(answer, out)?;
            write!(out, "{report}")?;
        }
        _ => show(answer, tiles, out)?,
    }
    answer.warnings.iter().try_for_each(|warning| Ok(write!(out, "\n{warning}")?))
}

/// Stage by stage, then what went wrong.
fn show(answer: &Answer, tiles: usize, out: &mut dyn Write) -> Result<()> {
    let outcome = &answer.outcome;
    writeln!(out, "chip         {tiles} tiles with firmware")?;
    for stage in &outcome.stages {
        show_stage(stage, answer, out)?;
        for seen in outcome.seen.iter().filter(|seen| seen.launch == stage.name) {
            show_seen(seen, out)?;
        }
    }
    for fault in &outcome.faults {
        writeln!(out, "error: {fault}")?;
    }
    show_notes(answer, out)?;
    if let Some(report) = &answer.report {
        write!(out, "\n{report}")?;
    }
    if let Some(positions) = &answer.positions {
        write!(out, "\nthe cycle limit was reached; {positions}")?;
    }
    Ok(())
}

fn show_notes(answer: &Answer, out: &mut dyn Write) -> Result<()> {
    answer.notes.iter().take(NOTES).try_for_each(|note| Ok(writeln!(out, "note: {note}")?))
}

fn show_stage(stage: &Stage, answer: &Answer, out: &mut dyn Write) -> Result<()> {
    let wrong: Vec<&Mismatch> =
        answer.outcome.wrong.iter().filter(|wrong| wrong.launch == stage.name).collect();
    let (verdict, ended) = match stage.ended {
        Some(ended) if wrong.is_empty() => (End::Done.name(), ended),
        Some(ended) => (End::WrongResult.name(), ended),
        None => (answer.end.name(), answer.cycle),
    };
    let cycles = ended.saturating_sub(stage.began);
    writeln!(out, "{:<12} {verdict} at cycle {ended}, {cycles} cycles", stage.name)?;
    for wrong in wrong {
        let Mismatch { target, address, expected, found, bytes, words, .. } = wrong;
        writeln!(out, "  {target} at {address:#x}: {bytes} bytes are not as expected")?;
        writeln!(out, "    expected {}", hex(expected))?;
        writeln!(out, "    found    {}", hex(found))?;
        let place = target.to_string();
        let place = if place.starts_with("tile") { "L1" } else { &place[..] };
        write!(out, "{}", WrongWords { place, words })?;
    }
    Ok(())
}

/// Notes that are told.
const NOTES: usize = 10;
/// Bytes to a row.
const ROW: usize = 16;

fn show_seen(seen: &Seen, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "  read {} at {:#x}:", seen.at.target, seen.at.address)?;
    for (index, row) in seen.bytes.chunks(ROW).enumerate() {
        let address = u64::from(seen.at.address) + (index * ROW) as u64;
        writeln!(out, "    {address:08x}  {}", hex(row))?;
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn to_json(answer: &Answer) -> Value {
    let outcome = &answer.outcome;
    json!({
        "verdict": answer.end.name(),
        "cycle": answer.cycle,
        "stages": outcome.stages.iter().map(|stage| json!({
            "name": stage.name, "began": stage.began, "ended": stage.ended,
        })).collect::<Vec<_>>(),
        "reads": outcome.seen.iter().map(|seen| json!({
            "launch": seen.launch,
            "of": seen.at.target.to_string(),
            "address": seen.at.address,
            "bytes": hex(&seen.bytes),
        })).collect::<Vec<_>>(),
        "mismatches": outcome.wrong.iter().map(|wrong| json!({
            "launch": wrong.launch,
            "of": wrong.target.to_string(),
            "address": wrong.address,
            "expected": hex(&wrong.expected),
            "found": hex(&wrong.found),
            "bytes": wrong.bytes,
            "words": wrong.words,
        })).collect::<Vec<_>>(),
        "errors": outcome.faults,
        "notes": answer.notes,
        "report": answer.report,
        "warnings": answer.warnings,
        "positions": answer.positions,
    })
}
