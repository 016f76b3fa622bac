//! `tilescope debug`: a gdb server over a session, forwards and backwards.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use debugger::Party;
use debugger::monitor::Monitor;
use debugger::script::{self, Program};
use debugger::server::{self, Pipe};
use sim_core::Cycle;

use super::machine::MachineArgs;
use super::recorded::Recorded;
use super::views::Select;
use crate::exit::Exit;
use crate::interrupt::end_at_interrupt;
use crate::output::note;
use crate::supervise::{self, Unwatched};

const EXAMPLES: &str = "\
Examples:
  tilescope debug KERNELS.toml --gdb             starts gdb, connected
  tilescope debug KERNELS.toml                   prints the gdb command that connects
  tilescope debug my.tstape --tiles 0,0          a tile of a host program, from its tape
  tilescope debug -- python3 my_program.py       runs it to its end or its hang, then the same
  tilescope debug KERNELS.toml --port 3333       on that port
  tilescope debug KERNELS.toml --once            ends when the client has left
  (gdb) target remote | tilescope debug KERNELS.toml --stdio

In gdb: break kernel.cpp:12, continue, watch variable, reverse-continue, reverse-step, info threads,
monitor help. Nothing a debugger does changes the session.
";

/// Debug a session with gdb, forwards and backwards
///
/// Carries the session out once, then serves any part of it again: the five cores of each chosen tile
/// as threads, with breakpoints, watchpoints and steps in both directions. Any gdb that knows RISC-V will do,
/// such as Debian's gdb-multiarch. A host program is run to its end, or to the moment at which it hangs, before
/// anything is debugged: what it did cannot be changed from gdb.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct DebugArgs {
    /// A plan (a TOML file, see `tilescope launch --help`) or the tape or recording of a host program;
    /// without it only the boot of one tile is debugged
    #[arg(value_name = "SESSION", conflicts_with = "program")]
    pub plan: Option<PathBuf>,
    /// A host program and its arguments: it is run as `tilescope run` does, and its tape is debugged
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0, conflicts_with = "stdio")]
    pub port: u16,
    /// Speak on standard input and output, for gdb's `target remote | ...`
    #[arg(long)]
    pub stdio: bool,
    /// End when the first client has left
    #[arg(long)]
    pub once: bool,
    /// Start gdb here, connected, and end with it; without PROGRAM the first there is that knows RISC-V
    #[arg(long, value_name = "PROGRAM", num_args = 0..=1, require_equals = true)]
    #[arg(conflicts_with_all = ["stdio", "once"])]
    pub gdb: Option<Option<PathBuf>>,
    /// Begin at that cycle instead of at the first launch
    #[arg(long, value_name = "CYCLE")]
    pub at: Option<u64>,
    /// Write the ELF files and the script for gdb into this directory instead of a temporary one
    #[arg(long, value_name = "DIR")]
    pub script: Option<PathBuf>,
    /// Which tiles.
    #[command(flatten)]
    pub select: Select,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Names under which a gdb that knows RISC-V is installed, the likeliest first.
const GDBS: [&str; 3] = ["gdb-multiarch", "riscv64-unknown-elf-gdb", "riscv32-unknown-elf-gdb"];

/// Runs gdb until it ends. Its signals and the terminal are its own.
fn with_gdb(chosen: Option<&Path>, script: &Path) -> Result<Exit> {
    let names = match chosen {
        Some(path) => vec![path.to_owned()],
        None => GDBS.map(PathBuf::from).into(),
    };
    for name in &names {
        match supervise::run(Command::new(name).arg("-q").arg("-x").arg(script), &mut Unwatched) {
            Ok(ended) => return Ok(Exit::Program(ended.shell_status())),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot run {}", name.display()));
            }
        }
    }
    let names: Vec<_> = names.iter().map(|name| name.display().to_string()).collect();
    bail!("there is no {}: apt-get install gdb-multiarch, or --gdb=PROGRAM", names.join(" or "))
}

/// Writes what gdb needs to know into a directory, and returns the script to begin with.
fn tell(dir: &Path, programs: Vec<Program>, address: &str, out: &mut dyn Write) -> Result<PathBuf> {
    let (now, rest) = script::beside_each_other(programs);
    let script = script::write(dir, &now, address);
    let others = script::others(dir, rest);
    let (script, others) = script
        .and_then(|script| Ok((script, others?)))
        .with_context(|| format!("cannot write to {}", dir.display()))?;
    for (path, names) in others {
        let (path, names) = (path.display(), names.join(", "));
        writeln!(out, "other code at the same place: in gdb `source {path}` for {names}")?;
    }
    Ok(script)
}

/// Serves clients.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn run(args: &DebugArgs, out: &mut dyn Write) -> Result<Exit> {
    let DebugArgs { plan, program, machine, select, .. } = args;
    let said = &mut std::io::stderr();
    let recorded = Recorded::of(plan.as_deref(), program, machine, select, said)?;
    let at = args.at.map_or(recorded.first_launch(), Cycle);
    let summary = recorded.summary();
    let party = Party::new(recorded.machines()?, at);
    let Recorded { naming, programs, explain, .. } = recorded;
    let monitor = Monitor::new(naming, explain);

    if args.stdio {
        let pipe = Pipe::open().context("cannot read standard input")?;
        let (_, _, outcome) = server::serve(party, monitor, pipe);
        if let Err(error) = outcome {
            note(&error);
        }
        return Ok(Exit::Ok);
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .with_context(|| format!("cannot listen on port {}", args.port))?;
    let address = listener.local_addr()?;
    let temporary = match &args.script {
        Some(_) => None,
        None => Some(tempfile::tempdir()?),
    };
    let dir = args.script.as_deref().or(temporary.as_ref().map(tempfile::TempDir::path));
    let dir = dir.context("there is a directory in either case")?.to_owned();
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    writeln!(out, "session: {summary}")?;
    let script = tell(&dir, programs, &address.to_string(), out)?;
    if args.gdb.is_none() {
        writeln!(out, "connect: gdb-multiarch -x {}", script.display())?;
    }
    out.flush()?;
    if let Some(chosen) = &args.gdb {
        thread::spawn(move || server::listen(&listener, party, monitor, |_| true));
        return with_gdb(chosen.as_deref(), &script);
    }
    let is_temporary = temporary.is_some();
    end_at_interrupt(move || {
        if is_temporary {
            // What cannot be removed is left to the host.
            let _ = std::fs::remove_dir_all(&dir);
        }
    });
    server::listen(&listener, party, monitor, |outcome| {
        if let Err(error) = outcome {
            note(&format!("the client is gone: {error}"));
        }
        !args.once
    })?;
    Ok(Exit::Ok)
}
