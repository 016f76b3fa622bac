//! `tilescope why`: run a plan until it ends or hangs, and say why.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use loader::diagnose::{Diagnosis, Setup, diagnose_watched};
use loader::plan::{Launch, LaunchPlan};
use observe::why::{End, Explanation};
use session::second::Question;

use super::machine::MachineArgs;
use super::progress::Rounds;
use super::run::choose_firmware;
use crate::exit::Exit;
use crate::output::write_whole;

const EXAMPLES: &str = "\
Examples:
  tilescope why KERNELS.toml                     why it hangs, in a screenful
  tilescope why python3.tstape                   why a program hung, from its tape
  tilescope why old.rec --elf build/             from an old recording, with names
  tilescope why KERNELS.toml --html hang.html    the same as a page to attach to an issue
  tilescope why KERNELS.toml --json              for programs
  tilescope why KERNELS.toml --sarif hang.sarif  for code scanning
  tilescope demo hang                            a kernel that hangs, to try it on
";

/// Run a plan and explain how it ends
///
/// Boots, launches the kernels of the plan and, when nothing moves any more, says who waits for what
/// since when, who could have ended it and why that cannot happen, down to the source line.
/// Contract violations on the way are reported as warnings.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct WhyArgs {
    /// A plan (a TOML file, see `tilescope launch --help`) or the tape or recording of a host program;
    /// without it only the boot of one tile is looked at
    #[arg(value_name = "SESSION")]
    pub plan: Option<PathBuf>,
    /// Of a tape: directory with ELF files of its kernels, looked up by content; may be repeated
    #[arg(long, value_name = "DIR")]
    pub elf: Vec<PathBuf>,
    /// Of a tape: host threads that advance tiles
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// The output.
    #[command(flatten)]
    pub output: WhyOutput,
}

/// Forms of the explanation.
#[derive(Args, Clone, Debug, Default)]
pub struct WhyOutput {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write a SARIF 2.1.0 log; `-`, here and below, is standard output in place of the report
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Write the wait-for graph for Graphviz, the cause in red
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write a self-contained page: sequence of the handshake, timeline, graph
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Checks to suppress: a TOML file of `[[allow]]` with `id` and `reason`
    #[arg(long, value_name = "FILE")]
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

fn suppressed(output: &WhyOutput) -> Result<Vec<String>> {
    output.allow.as_deref().map_or_else(|| Ok(Vec::new()), super::allow::hazards)
}

/// Writes the explanation in every form that was asked for.
///
/// # Errors
/// Something cannot be written.
pub fn show(explanation: &Explanation, output: &WhyOutput, out: &mut dyn Write) -> Result<()> {
    write_form(&output.sarif, &|| format!("{:#}\n", explanation.sarif()), out)?;
    write_form(&output.dot, &|| explanation.dot(), out)?;
    write_form(&output.html, &|| explanation.html(), out)?;
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

/// What a diagnosis needs to know of the command line.
#[must_use]
pub fn setup(machine: &MachineArgs, suppressed: Vec<String>) -> Setup {
    Setup {
        config: machine.tile_config(),
        logical: machine.logical,
        max_cycles: machine.max_cycles,
        suppressed,
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

/// Runs, explains, shows.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn run(args: &WhyArgs, out: &mut dyn Write) -> Result<Exit> {
    if let Some(path) = args.plan.as_deref().filter(|path| super::taped::is_tape(path)) {
        let question = Question { elf: args.elf.clone(), threads: args.threads };
        return super::taped::why(path, &question, &args.output, out);
    }
    let launches = match &args.plan {
        Some(path) => LaunchPlan::read(path)?.launches,
        None => Vec::new(),
    };
    let suppressed = suppressed(&args.output)?;
    let set = choose_firmware(&args.machine, out)?;
    let mut rounds = Rounds::new(false);
    let mut watch = |launch: &Launch, round| rounds.begin(launch, round);
    let setup = setup(&args.machine, suppressed);
    let diagnosis = diagnose_watched(&set, &launches, &setup, &mut watch)?;
    rounds.clear();
    exit(&diagnosis).whatever_became_of(show(&diagnosis.explanation, &args.output, out))
}
