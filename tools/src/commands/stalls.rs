//! `tilescope report`: where the cycles of a plan went.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::Result;
use clap::Args;
use loader::firmware::BootOptions;
use loader::names::LoadedNames;
use loader::plan::Launch;
use loader::session::{Outcome, Session};
use observe::{Attribution, Stalls};
use serde_json::json;
use sim_core::{AgentId, Cycle, WaitReason};

use super::machine::MachineArgs;
use super::of_plan::{forms_of_plan, records_of_plan};
use super::progress::Rounds;
use super::run::choose_firmware;
use super::shares::text;
use super::source::{Source, chip_plan};
use super::taped;
use super::views::ViewArgs;
use super::waits::wait_text;
use crate::exit::Exit;
use crate::interrupt::{heed_interrupts, interrupted};

const EXAMPLES: &str = "\
Examples:
  tilescope report KERNELS.toml              ten biggest shares per core and thread
  tilescope report KERNELS.toml --top 30     more of them
  tilescope report KERNELS.toml --json       for programs
  tilescope report my.tstape                 of a program: all busy tiles together, then each
  tilescope report my.tstape --tiles 0,0 --from 100000
";

/// Run a plan, or play a tape, and say where the cycles went
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct StallArgs {
    /// The plan, a TOML file, or the tape or recording of a host program; without it only the boot is looked at
    #[arg(value_name = "SESSION", conflicts_with = "program")]
    pub plan: Option<PathBuf>,
    /// A host program and its arguments: it is run as `tilescope run` does, and its tape is asked
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
    /// Shares shown per core and thread
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// The output.
    #[command(flatten)]
    pub output: ViewArgs,
}

fn show(
    args: &StallArgs,
    now: Cycle,
    done: bool,
    rows: &[Attribution],
    out: &mut dyn Write,
) -> Result<()> {
    if args.output.forms.json {
        let value = json!({ "cycles": now.0, "done": done, "agents": rows });
        writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        return Ok(());
    }
    let end = match (done, interrupted()) {
        (true, _) => "",
        (false, true) => "; interrupted",
        (false, false) => "; it did not end",
    };
    writeln!(out, "{now} cycles{end}")?;
    text(rows, out)
}

/// Runs and reports.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn run(args: &StallArgs, out: &mut dyn Write) -> Result<Exit> {
    let StallArgs { plan, program, machine, output, .. } = args;
    if let Some(chip) = chip_plan(plan.as_deref(), program)? {
        return super::tiles::report(chip, args, out);
    }
    let source = Source::of(plan.as_deref(), program, output, machine, out)?;
    if let Source::Tape(path) = &source {
        return taped::report(path, output, args.top, out);
    }
    let exit = of_plan(args, &source.launches()?, out)?;
    if interrupted() {
        return Ok(exit);
    }
    records_of_plan(&source, machine, output, None, out)?;
    forms_of_plan(&source, machine, output, out)?;
    Ok(exit)
}

fn of_plan(args: &StallArgs, launches: &[Launch], out: &mut dyn Write) -> Result<Exit> {
    let set = choose_firmware(&args.machine, out)?;
    let names = Rc::new(LoadedNames::new(&set));
    let options = BootOptions { logical: args.machine.logical, ..BootOptions::default() };
    let records = &args.output.records;
    let from = Cycle(records.from.unwrap_or(0));
    let stalls = Some(Stalls::new(Rc::clone(&names)).since(from));
    let mut session = Session::stage(args.machine.tile_config(), &set, &options, stalls)?;
    session.stop_at(heed_interrupts());
    let to = records.to.unwrap_or(u64::MAX);
    let limit = |now: Cycle| args.machine.max_cycles.min(to.saturating_sub(now.0));
    let mut exit = Exit::Ok;
    let allowed = limit(session.tile.now());
    if !matches!(session.run_to_done(allowed), Outcome::Done) {
        exit = Exit::NoProgress;
    }
    let mut rounds = Rounds::new(false);
    for launch in launches {
        if exit != Exit::Ok {
            break;
        }
        names.set_kernels(&launch.kernels);
        for round in 0..launch.repeat {
            rounds.begin(launch, round);
            let allowed = limit(session.tile.now());
            if !matches!(session.launch(launch, allowed)?, Outcome::Done) {
                exit = Exit::NoProgress;
                break;
            }
        }
    }
    rounds.clear();
    let mut open = Vec::new();
    for wait in session.tile.waits() {
        if let (AgentId::Core(core), Some(since), WaitReason::Spin | WaitReason::Ended) =
            (wait.agent, wait.since, wait.reason)
        {
            let text = wait_text(&*names, &wait);
            let text = text.get(10..).and_then(|text| text.split(", since").next());
            open.push((core, since, wait.pc.unwrap_or(0), text.unwrap_or_default().to_owned()));
        }
    }
    let now = session.tile.now();
    let is_cut = exit != Exit::Ok && now.0 >= to;
    if is_cut {
        exit = Exit::Ok;
    }
    let stalls = session.tile.observer_mut().take();
    let rows = stalls.map(|stalls| stalls.finish(now, args.top, &open)).unwrap_or_default();
    exit.whatever_became_of(show(args, now, exit == Exit::Ok && !is_cut, &rows, out))
}
