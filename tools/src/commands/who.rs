//! `tilescope who`: who wrote something last, or writes it next.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use debugger::who::{What, last_before, next_after};
use debugger::{Machine, Moment};
use loader::names::LoadedNames;
use sim_core::Cycle;

use super::debug::{Recorded, record};
use super::machine::MachineArgs;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  tilescope who KERNELS.toml 0x1a000                 who stored to that word of L1 last
  tilescope who KERNELS.toml semaphore4 --at 20000   who changed it last before a cycle
  tilescope who KERNELS.toml cb0 --at 20000 --next   who pushes or pops next
  tilescope who KERNELS.toml TRISC1:0xffb00010       a word of a core's local RAM
  tilescope who KERNELS.toml BRISC:a0                a register of a core
";

/// Say who wrote something last
///
/// Carries the plan out, goes back to the last change, and says when it was, who did it and in which
/// line of the source.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct WhoArgs {
    /// The plan (a TOML file, see `tilescope launch --help`)
    #[arg(value_name = "KERNELS.toml")]
    pub plan: PathBuf,
    /// What: an address of L1, semaphoreN, cbN, configN, CORE:ADDRESS or CORE:REGISTER
    #[arg(value_name = "WHAT")]
    pub what: What,
    /// Before that cycle instead of at the end
    #[arg(long, value_name = "CYCLE")]
    pub at: Option<u64>,
    /// Who writes it next instead, from that cycle on
    #[arg(long, requires = "at")]
    pub next: bool,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Answers.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn run(args: &WhoArgs, out: &mut dyn Write) -> Result<Exit> {
    let Recorded { set, recording, .. } = record(Some(&args.plan), &args.machine, out)?;
    let machine = Machine::new(recording).context("no memory for a tile")?;
    let at = Moment::at(args.at.map_or(machine.end().cycle, Cycle));
    let ask = if args.next { next_after } else { last_before };
    match ask(&machine, args.what, at).context("no memory for a tile")? {
        Some(written) => {
            let names = LoadedNames::new(&set);
            names.set_kernels(&machine.recording().stage_at(written.cycle).kernels);
            writeln!(out, "{}", written.with_names(&names))?;
        }
        None => writeln!(out, "nobody")?,
    }
    Ok(Exit::Ok)
}
