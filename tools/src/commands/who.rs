//! `tilescope who`: who wrote something last, or writes it next.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use debugger::Moment;
use debugger::who::{What, last_before, next_after};
use session::selection::Selection;
use sim_core::Cycle;

use super::machine::MachineArgs;
use super::recorded::Recorded;
use super::views::Select;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  tilescope who KERNELS.toml 0x1a000                 who stored to that word of L1 last
  tilescope who KERNELS.toml semaphore4 --at 20000   who changed it last before a cycle
  tilescope who KERNELS.toml cb0 --at 20000 --next   who pushes or pops next
  tilescope who KERNELS.toml TRISC1:0xffb00010       a word of a core's local RAM
  tilescope who KERNELS.toml BRISC:a0                a register of a core
  tilescope who my.tstape 0x1a000 --tile 3,1         of a tile of a host program
";

/// Say who wrote something last
///
/// Carries the session out, goes back to the last change, and says when it was, who did it and in which
/// line of the source.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct WhoArgs {
    /// A plan (a TOML file, see `tilescope launch --help`) or the tape or recording of a host program
    #[arg(value_name = "SESSION")]
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

/// Answers.
///
/// # Errors
/// Host mistakes, each in one line.
pub fn run(args: &WhoArgs, out: &mut dyn Write) -> Result<Exit> {
    let select = Select { tiles: args.tile.clone(), elf: args.elf.clone(), threads: None };
    let none: &[OsString] = &[];
    let recorded = Recorded::of(Some(&args.plan), none, &args.machine, &select, out)?;
    let machine = recorded.machines()?.swap_remove(0);
    let at = Moment::at(args.at.map_or(machine.end().cycle, Cycle));
    let ask = if args.next { next_after } else { last_before };
    match ask(&machine, args.what, at).context("no memory for a tile")? {
        Some(written) => {
            let names = recorded.naming.at(machine.recording().stage_at(written.cycle));
            writeln!(out, "{}", written.with_names(&*names))?;
        }
        None => writeln!(out, "nobody")?,
    }
    Ok(Exit::Ok)
}
