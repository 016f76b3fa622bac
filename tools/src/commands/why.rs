//! `tilescope why`: run a plan until it ends or hangs, and say why.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use loader::diagnose::{Diagnosis, Setup, diagnose_watched};
use loader::plan::Launch;
use observe::why::{End, Explanation};
use session::{Positions, SessionError};

use super::machine::MachineArgs;
use super::progress::Rounds;
use super::run::choose_firmware;
use super::taped::Taped;
use super::views::{Source, ViewArgs, records_of_plan};
use crate::exit::Exit;
use crate::interrupt::heed_interrupts;
use crate::output::write_whole;

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

/// Forms of the explanation.
#[derive(Args, Clone, Debug, Default)]
pub struct WhyOutput {
    /// Print the answer as one JSON object
    #[arg(long, help_heading = "Views")]
    pub json: bool,
    /// Write a SARIF 2.1.0 log; `-`, here and below, is standard output in place of the report
    #[arg(long, value_name = "FILE", help_heading = "Views")]
    pub sarif: Option<PathBuf>,
    /// Write the wait-for graph for Graphviz, the cause in red
    #[arg(long, value_name = "FILE", help_heading = "Views")]
    pub dot: Option<PathBuf>,
    /// Write why it hangs as a self-contained page: of a tile the handshake, a timeline and the graph, of a chip a
    /// map of its tiles
    #[arg(long, value_name = "FILE", help_heading = "Views")]
    pub html: Option<PathBuf>,
    /// Checks to suppress: a TOML file of `[[allow]]` with `id` and `reason`
    #[arg(long, value_name = "FILE", help_heading = "Views")]
    pub allow: Option<PathBuf>,
}

impl WhyOutput {
    /// Whether standard output is one of the files.
    pub(super) fn takes_stdout(&self) -> bool {
        let files = [&self.sarif, &self.dot, &self.html];
        files.into_iter().flatten().any(|path| path.as_os_str() == "-")
    }
}

/// Writes one of the files, if it is asked for.
pub(super) fn write_form(
    path: &Option<PathBuf>,
    text: &dyn Fn() -> String,
    out: &mut dyn Write,
) -> Result<()> {
    match path {
        Some(path) if path.as_os_str() == "-" => Ok(out.write_all(text().as_bytes())?),
        Some(path) => write_whole(path, text().as_bytes()),
        None => Ok(()),
    }
}

/// Ids of the checks that are not reported.
pub(super) fn suppressed(output: &WhyOutput) -> Result<Vec<String>> {
    output.allow.as_deref().map_or_else(|| Ok(Vec::new()), super::allow::hazards)
}

/// Writes the explanation in every form that was asked for.
///
/// # Errors
/// Something cannot be written.
pub fn show(explanation: &Explanation, output: &WhyOutput, out: &mut dyn Write) -> Result<()> {
    write_files(explanation, output, out)?;
    if output.takes_stdout() {
        return Ok(());
    }
    if output.json {
        writeln!(out, "{}", serde_json::to_string_pretty(explanation)?)?;
    } else {
        write!(out, "{explanation}")?;
    }
    Ok(())
}

/// Writes the explanation into the files that were asked for.
///
/// # Errors
/// Something cannot be written.
pub(super) fn write_files(
    explanation: &Explanation,
    output: &WhyOutput,
    out: &mut dyn Write,
) -> Result<()> {
    write_form(&output.sarif, &|| format!("{:#}\n", explanation.sarif()), out)?;
    write_form(&output.dot, &|| explanation.dot(), out)?;
    write_form(&output.html, &|| explanation.html(), out)
}

/// What a diagnosis needs to know of the command line.
#[must_use]
pub fn setup(machine: &MachineArgs, suppressed: Vec<String>) -> Setup {
    Setup {
        config: machine.tile_config(),
        logical: machine.logical,
        max_cycles: machine.max_cycles,
        suppressed,
        stop: None,
    }
}

/// The exit status of an explained run.
#[must_use]
pub fn exit(diagnosis: &Diagnosis) -> Exit {
    match diagnosis.explanation.end {
        End::WrongResult => Exit::WrongResult,
        End::Done => Exit::Ok,
        End::Deadlock => Exit::Deadlock,
        End::HostWait | End::NoProgress | End::Halted => Exit::NoProgress,
        End::GuestError => Exit::Guest,
    }
}

/// Runs a plan and explains how it ends.
///
/// # Errors
/// Host mistakes, each in one line.
pub(super) fn diagnosis(
    source: &Source,
    machine: &MachineArgs,
    output: &WhyOutput,
    out: &mut dyn Write,
) -> Result<Diagnosis> {
    of_launches(&source.launches()?, machine, suppressed(output)?, out)
}

/// As [`diagnosis`], of launches of a plan.
///
/// # Errors
/// Host mistakes, each in one line.
pub(super) fn of_launches(
    launches: &[Launch],
    machine: &MachineArgs,
    suppressed: Vec<String>,
    out: &mut dyn Write,
) -> Result<Diagnosis> {
    let set = choose_firmware(machine, out)?;
    let mut rounds = Rounds::new(false);
    let mut watch = |launch: &Launch, round| rounds.begin(launch, round);
    let setup = Setup { stop: Some(heed_interrupts()), ..setup(machine, suppressed) };
    let diagnosis = diagnose_watched(&set, launches, &setup, &mut watch)?;
    rounds.clear();
    if diagnosis.interrupted {
        let noc = setup.config.coordinates;
        let stands = Positions::of_tile(machine.logical, noc, &diagnosis.explanation);
        return Err(SessionError::Stopped(Box::new(stands)).into());
    }
    Ok(diagnosis)
}

/// Runs, explains, shows.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn run(args: &WhyArgs, out: &mut dyn Write) -> Result<Exit> {
    let WhyArgs { plan, program, machine, output } = args;
    if let Some(chip) = super::views::chip_plan(plan.as_deref(), program)? {
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
