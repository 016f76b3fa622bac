//! Plans of several tiles for `launch` and `why`: carried out on a chip, reported over all of them.

use std::io::Write;

use anyhow::{Result, bail};
use chip::{ChipConfig, LOOKAHEAD};
use loader::plan::ChipPlan;
use serde_json::{Value, json};
use session::plan::{Answer, End, Mismatch, PlanHost, Seen, Stage};
use session::second::Question;

use super::launch::LaunchArgs;
use super::machine::MachineArgs;
use super::run::choose_firmware;
use super::views::Records;
use super::why::{WhyArgs, WhyOutput, write_form};
use crate::exit::Exit;

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

fn carry_out(
    plan: ChipPlan,
    machine: &MachineArgs,
    threads: Option<usize>,
    out: &mut dyn Write,
) -> Result<Answer> {
    let host = host(plan, machine, threads, out)?;
    Ok(session::plan::why(&host, &Question::default())?)
}

/// The exit status of a plan.
fn exit(end: End) -> Exit {
    match end {
        End::Done => Exit::Ok,
        End::WrongResult => Exit::WrongResult,
        End::Deadlock => Exit::Deadlock,
        End::NoProgress => Exit::NoProgress,
        End::GuestError => Exit::Guest,
    }
}

/// What shows one tile as it runs, and not several.
fn refuse_records(records: &Records) -> Result<()> {
    refuse(&[
        ("--log", records.log.is_some()),
        ("--trace-handshakes", records.trace_handshakes),
        ("--jsonl", records.jsonl.is_some()),
        ("--perfetto", records.perfetto.is_some()),
        ("--waves", records.waves.is_some()),
        ("--last", records.last.is_some()),
    ])
}

fn refuse(asked: &[(&str, bool)]) -> Result<()> {
    match asked.iter().find(|(_, asked)| *asked) {
        Some((name, _)) => bail!(
            "{name} shows one tile, and the plan is of several; to look at memory give it [[launch.after]] read = ..."
        ),
        None => Ok(()),
    }
}

/// `tilescope launch` of several tiles.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn launch(plan: ChipPlan, args: &LaunchArgs, out: &mut dyn Write) -> Result<Exit> {
    refuse_records(&args.output.views.records)?;
    refuse(&[
        ("--instructions", args.output.instructions.is_some()),
        ("--dump", !args.output.dump.is_empty()),
    ])?;
    let tiles = plan.tiles().len();
    let answer = carry_out(plan, &args.machine, args.output.views.select.threads, out)?;
    let shown = if args.output.views.forms.json {
        writeln!(out, "{:#}", to_json(&answer)).map_err(Into::into)
    } else {
        show(&answer, tiles, out)
    };
    exit(answer.end).whatever_became_of(shown)
}

/// `tilescope why` of several tiles.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn why(plan: ChipPlan, args: &WhyArgs, out: &mut dyn Write) -> Result<Exit> {
    refuse_records(&args.output.records)?;
    if args.output.forms.allow.is_some() {
        bail!("--allow is for plans of one tile: what it suppresses is not looked for on several");
    }
    let tiles = plan.tiles().len();
    let answer = carry_out(plan, &args.machine, args.output.select.threads, out)?;
    exit(answer.end).whatever_became_of(explain(&answer, tiles, &args.output.forms, out))
}

fn explain(answer: &Answer, tiles: usize, output: &WhyOutput, out: &mut dyn Write) -> Result<()> {
    if let Some(report) = &answer.report {
        write_form(&output.sarif, &|| report.sarif(), out)?;
        write_form(&output.dot, &|| report.dot(), out)?;
        write_form(&output.html, &|| report.html(), out)?;
    }
    if output.takes_stdout() {
        return Ok(());
    }
    if output.json {
        writeln!(out, "{:#}", to_json(answer))?;
        return Ok(());
    }
    match (&answer.report, answer.end) {
        (Some(report), End::Deadlock) => Ok(write!(out, "{report}")?),
        _ => show(answer, tiles, out),
    }
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
    if let Some(report) = &answer.report {
        write!(out, "\n{report}")?;
    }
    if let Some(positions) = &answer.positions {
        write!(out, "\nthe cycle limit was reached; {positions}")?;
    }
    Ok(())
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
        let Mismatch { target, address, expected, found, bytes, .. } = wrong;
        writeln!(out, "  {target} at {address:#x}: {bytes} bytes are not as expected")?;
        writeln!(out, "    expected {}", hex(expected))?;
        writeln!(out, "    found    {}", hex(found))?;
    }
    Ok(())
}

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
        })).collect::<Vec<_>>(),
        "errors": outcome.faults,
        "report": answer.report,
        "positions": answer.positions,
    })
}
