//! `tilescope state`: every register of the tile by name, at the end of a run or in its middle.
//!
//! Rooms: `args` what can be asked; `select` which parts of the tree are asked for; `values` cells and words in a format;
//! `show` text; `object` JSON.

pub mod args;
mod object;
mod select;
pub(super) mod show;
mod values;

use std::io::Write;

use anyhow::{Result, bail};
use tensix::Register;

use self::args::StateArgs;
use self::select::Selection;
use super::of_plan::forms_of_plan;
use super::run::{Run, StageEnd};
use super::source::{Source, chip_plan};
use super::taped;
use crate::exit::Exit;
use crate::output::{counted, note};

/// Boots, launches as far as asked, and shows the state.
///
/// # Errors
/// Host mistakes: a broken plan, no firmware, a pattern that matches nothing, a file that cannot be
/// written.
pub fn run(args: &StateArgs, out: &mut dyn Write) -> Result<Exit> {
    let StateArgs { plan, program, machine, output, .. } = args;
    if let Some(chip) = chip_plan(plan.as_deref(), program)? {
        return super::tiles::state(chip, args, out);
    }
    let source = Source::of(plan.as_deref(), program, &output.views, machine, out)?;
    if let Source::Tape(path) = &source {
        return taped::state(path, args, out);
    }
    let launches = source.launches()?;
    let count: usize = launches.iter().map(|launch| launch.repeat as usize).sum();
    let stop = args.after_launch.unwrap_or(count);
    if stop > count {
        let count = counted(count as u64, "launch", "launches");
        bail!("--after-launch {stop}: the plan has {count}, repetitions counted");
    }
    let mut run = Run::start(&args.machine, &args.output, out)?;
    if let Some(cycle) = args.at_cycle {
        run.stop_at(cycle);
    }
    let rounds = launches
        .iter()
        .flat_map(|launch| (0..launch.repeat).map(move |round| (launch, round)))
        .take(stop);
    let mut going = run.boot();
    for (launch, round) in rounds {
        if !going || run.reached_stop() {
            break;
        }
        going = run.launch(launch, round)?;
    }
    let stopped = run.reached_stop();
    let only_stopped =
        stopped && run.stages.last().is_some_and(|stage| matches!(stage.end, StageEnd::Limit));
    let exit = run.finish_with(&args.output, out, |run, out| show(args, run, stopped, out))?;
    forms_of_plan(&source, machine, &output.views, out)?;
    Ok(if only_stopped { Exit::Ok } else { exit })
}

fn show(args: &StateArgs, run: &mut Run, stopped: bool, out: &mut dyn Write) -> Result<()> {
    if let Some(cycle) = args.at_cycle.filter(|_| !stopped) {
        let now = run.tile().now();
        note(&format!("--at-cycle {cycle}: the run ended before, at cycle {now}"));
    }
    let tree = run.tile_mut().registers();
    let selection = Selection::new(args, &tree)?;
    if args.output.json() {
        object::write(run, &tree, &selection, out)
    } else {
        show::write(run, &tree, &selection, out)
    }
}

/// What these arguments select of a tree of registers, as the JSON object's `state`.
///
/// # Errors
/// A pattern matches nothing.
pub fn selected(args: &StateArgs, tree: &Register) -> Result<serde_json::Value> {
    let selection = Selection::new(args, tree)?;
    Ok(object::state(tree, &selection).into())
}
