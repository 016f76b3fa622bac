//! `tilescope why`: run a plan until it ends or hangs, and say why.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::machine::MachineArgs;
use super::of_plan::{diagnosis, exit, records_of_plan, show, write_files};
use super::source::{Source, chip_plan};
use super::taped::Taped;
use super::views::ViewArgs;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  tilescope why KERNELS.toml                     why it hangs, in a screenful
  tilescope why python3.tstape                   why a program hung, from its tape
  tilescope why old.rec --elf build/             from an old recording, with names
  tilescope why -- python3 my_program.py         run it, and ask its tape
  tilescope why my.tstape --perfetto t.pftrace   and what its tiles did, as a timeline
  tilescope why KERNELS.toml --html hang.html    the same as a page to attach to an issue
  tilescope why KERNELS.toml --json              for programs
  tilescope why KERNELS.toml --sarif hang.sarif  for code scanning
  tilescope demo hang                            a kernel that hangs, to try it on
";

/// Run a plan, or play the tape of a program, and explain how it ends
///
/// Boots, launches the kernels of the plan or does what the program did and, when nothing moves any more, says who waits for what
/// since when, who could have ended it and why that cannot happen, down to the source line.
/// Contract violations on the way are reported as warnings.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct WhyArgs {
    /// A plan (a TOML file, see `tilescope launch --help`) or the tape or recording of a host program;
    /// without it only the boot of one tile is looked at
    #[arg(value_name = "SESSION", conflicts_with = "program")]
    pub plan: Option<PathBuf>,
    /// A host program and its arguments: it is run as `tilescope run` does, and its tape is asked
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// The output.
    #[command(flatten)]
    pub output: ViewArgs,
}

/// Runs, explains, shows.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn run(args: &WhyArgs, out: &mut dyn Write) -> Result<Exit> {
    let WhyArgs { plan, program, machine, output } = args;
    if let Some(chip) = chip_plan(plan.as_deref(), program)? {
        return super::tiles::why(chip, args, out);
    }
    let source = Source::of(plan.as_deref(), program, output, machine, out)?;
    if let Source::Tape(path) = &source {
        let session = Taped::open(path, output)?;
        return session.why(output, out);
    }
    let diagnosis = diagnosis(&source, machine, &output.forms, out)?;
    let judgement = diagnosis.explanation.judgement();
    records_of_plan(&source, machine, output, judgement, out)?;
    if output.records.takes_stdout() {
        write_files(&diagnosis.explanation, &output.forms, out)?;
        return Ok(exit(&diagnosis));
    }
    exit(&diagnosis).whatever_became_of(show(&diagnosis.explanation, &output.forms, out))
}
