//! `tilescope debug`: a gdb server over a plan, forwards and backwards.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args;
use debugger::monitor::Monitor;
use debugger::recording::{End, Limits};
use debugger::server::{self, Pipe};
use debugger::{Machine, Recording, Traveller, script};
use loader::diagnose::diagnose;
use loader::firmware::{BootOptions, FirmwareSet};
use loader::names::LoadedNames;
use loader::plan::{Launch, LaunchPlan};

use super::machine::MachineArgs;
use super::run::choose_firmware;
use super::why;
use crate::exit::Exit;
use crate::interrupt::heed_interrupts;
use crate::output::note;

const EXAMPLES: &str = "\
Examples:
  tilescope debug KERNELS.toml                   prints the gdb command that connects
  tilescope debug KERNELS.toml --port 3333       on that port
  tilescope debug KERNELS.toml --once            ends when the client has left
  (gdb) target remote | tilescope debug KERNELS.toml --stdio

In gdb: break kernel.cpp:12, continue, watch variable, reverse-continue, reverse-step, info threads,
monitor help. Nothing a debugger does changes the session.
";

/// Debug a plan with gdb, forwards and backwards
///
/// Carries the plan out once, then serves any part of it again: all five cores as threads, with
/// breakpoints, watchpoints and steps in both directions. Any gdb that knows RISC-V will do, such as
/// Debian's gdb-multiarch.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct DebugArgs {
    /// The plan (a TOML file, see `tilescope launch --help`); without it only the boot is debugged
    #[arg(value_name = "KERNELS.toml")]
    pub plan: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0, conflicts_with = "stdio")]
    pub port: u16,
    /// Speak on standard input and output, for gdb's `target remote | ...`
    #[arg(long)]
    pub stdio: bool,
    /// End when the first client has left
    #[arg(long)]
    pub once: bool,
    /// Begin at that cycle instead of at the first launch
    #[arg(long, value_name = "CYCLE")]
    pub at: Option<u64>,
    /// Write the ELF files and the script for gdb into this directory instead of a temporary one
    #[arg(long, value_name = "DIR")]
    pub script: Option<PathBuf>,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// A plan that has been carried out.
pub(super) struct Recorded {
    pub(super) set: FirmwareSet,
    pub(super) launches: Vec<Launch>,
    pub(super) recording: Arc<Recording>,
}

/// Carries out a plan.
pub(super) fn record(
    plan: Option<&PathBuf>,
    machine: &MachineArgs,
    out: &mut dyn Write,
) -> Result<Recorded> {
    let launches = match plan {
        Some(path) => LaunchPlan::read(path)?.launches,
        None => Vec::new(),
    };
    let set = choose_firmware(machine, out)?;
    let options = BootOptions { logical: machine.logical, ..BootOptions::default() };
    let limits = Limits { max_cycles: machine.max_cycles, stop: Some(heed_interrupts()) };
    let config = machine.tile_config();
    let recording = Recording::of_plan(config, &set, &options, &launches, limits)?;
    Ok(Recorded { set, launches, recording: Arc::new(recording) })
}

/// A text for `monitor why`.
fn explain(set: &FirmwareSet, launches: &[Launch], machine: &MachineArgs) -> String {
    match diagnose(set, launches, &why::setup(machine, Vec::new())) {
        Ok(diagnosis) => diagnosis.explanation.to_string(),
        Err(error) => format!("{error}\n"),
    }
}

/// Serves clients.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn run(args: &DebugArgs, out: &mut dyn Write) -> Result<Exit> {
    let Recorded { set, launches, recording } =
        record(args.plan.as_ref(), &args.machine, &mut std::io::stderr())?;
    let mut traveller =
        Traveller::new(Machine::new(Arc::clone(&recording)).context("no memory for a tile")?);
    let first = recording.stages.get(1).map_or(0, |stage| stage.began.0);
    traveller.go_to(sim_core::Cycle(args.at.unwrap_or(first)));
    let programs = script::programs(&set, &launches);
    let names = LoadedNames::new(&set);
    let machine = args.machine.clone();
    let monitored = launches.clone();
    let monitor = Monitor::new(names, monitored, move || explain(&set, &launches, &machine));

    if args.stdio {
        let pipe = Pipe::open().context("cannot read standard input")?;
        let (_, _, outcome) = server::serve(traveller, monitor, pipe);
        if let Err(error) = outcome {
            note(&error);
        }
        return Ok(Exit::Ok);
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .with_context(|| format!("cannot listen on port {}", args.port))?;
    let address = listener.local_addr()?;
    let (temporary, given) = (tempfile::tempdir()?, args.script.as_deref());
    let dir = given.unwrap_or(temporary.path());
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let script = script::write(dir, &programs, &address.to_string())
        .with_context(|| format!("cannot write to {}", dir.display()))?;
    let ends = match &recording.end {
        End::Mistake(mistake) => format!("{mistake}"),
        end => end.to_string(),
    };
    writeln!(out, "session: {} cycles, ends with {ends}", recording.until)?;
    writeln!(out, "connect: gdb-multiarch -x {}", script.display())?;
    out.flush()?;
    server::listen(&listener, traveller, monitor, |outcome| {
        if let Err(error) = outcome {
            note(&format!("the client is gone: {error}"));
        }
        !args.once
    })?;
    Ok(Exit::Ok)
}
