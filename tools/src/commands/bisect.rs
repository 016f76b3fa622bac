//! `tilescope bisect`: when something holds first.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use debugger::bisect::{Condition, Found, first, first_difference};
use debugger::who::last_before;
use debugger::{Machine, Moment, Recording};
use session::selection::Selection;
use sim_core::Cycle;

use super::machine::MachineArgs;
use super::recorded::Recorded;
use super::views::Select;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  tilescope bisect KERNELS.toml --expect '0x1a000=5'        when that word of L1 is 5 for the first time
  tilescope bisect my.tstape --tile 0,0 --expect nan        when Dst has a NaN for the first time
  tilescope bisect KERNELS.toml --expect 'semaphore2>1'     also dst:12.3, srca0:5.0, lreg3.0, T1:r12
  tilescope bisect old.toml --against new.toml              when a tile differs from that of another session

Exit status: 0 if there is such a moment, 1 if there is none.
";

/// Say when something holds for the first time
///
/// Carries the session out again and looks at a tile after each epoch.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct BisectArgs {
    /// A plan (a TOML file, see `tilescope launch --help`) or the tape or recording of a host program
    #[arg(value_name = "SESSION")]
    pub session: PathBuf,
    /// What is to hold: nan, or WHAT=VALUE, WHAT!=VALUE, WHAT<VALUE, WHAT>VALUE
    #[arg(long, value_name = "CONDITION", required_unless_present = "against")]
    pub expect: Option<Condition>,
    /// Another session: when its tile differs from this one's
    #[arg(long, value_name = "SESSION", conflicts_with = "expect")]
    pub against: Option<PathBuf>,
    /// Look from that cycle on
    #[arg(long, value_name = "CYCLE", conflicts_with = "against")]
    pub from: Option<u64>,
    /// The tile that is meant, by its column and row; else the first busy one
    #[arg(long, value_name = "X,Y")]
    pub tile: Option<Selection>,
    /// Of a tape: directory with ELF files of its kernels, looked up by content; may be repeated
    #[arg(long, value_name = "DIR")]
    pub elf: Vec<PathBuf>,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
}

impl BisectArgs {
    fn record(&self, path: &Path, out: &mut dyn Write) -> Result<Recorded> {
        let select = Select { tiles: self.tile.clone(), elf: self.elf.clone(), threads: None };
        Recorded::of(Some(path), &[], &self.machine, &select, out)
    }
}

/// The tile that is looked at.
fn tile(recorded: &Recorded) -> Result<&Arc<Recording>> {
    recorded.recordings.first().context("the session has no tile")
}

fn tell(found: Option<&Found>, out: &mut dyn Write) -> Result<Exit> {
    match found {
        Some(Found { cycle, what }) => {
            writeln!(out, "cycle {cycle}: {what}")?;
            Ok(Exit::Ok)
        }
        None => {
            writeln!(out, "never")?;
            Ok(Exit::Guest)
        }
    }
}

/// Looks for it.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn run(args: &BisectArgs, out: &mut dyn Write) -> Result<Exit> {
    const NO_MEMORY: &str = "no memory for a tile";
    let said = &mut std::io::stderr();
    let recorded = args.record(&args.session, said)?;
    let recording = tile(&recorded)?;
    if let Some(against) = &args.against {
        let other = args.record(against, said)?;
        let found = first_difference(recording, tile(&other)?).context(NO_MEMORY)?;
        return tell(found.as_ref(), out);
    }
    let Some(condition) = args.expect else { bail!("--expect CONDITION or --against SESSION") };
    let from = Cycle(args.from.unwrap_or(0));
    let found = first(recording, condition, from).context(NO_MEMORY)?;
    let exit = tell(found.as_ref(), out)?;
    if let (Some(found), Condition::Value(what, ..)) = (&found, condition) {
        let machine = Machine::new(Arc::clone(recording)).context(NO_MEMORY)?;
        let at = Moment::at(found.cycle + 1);
        if let Some(written) = last_before(&machine, what, at).context(NO_MEMORY)? {
            let names = recorded.naming.at(recording.stage_at(written.cycle));
            writeln!(out, "{}", written.with_names(&*names))?;
        }
    }
    Ok(exit)
}
